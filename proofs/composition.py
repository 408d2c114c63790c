"""Composition: what several mechanisms, run one after the other on the same data, have together.

A mechanism is run on one of two neighbouring inputs. P and Q are its two output distributions, p
and q their densities with respect to a common measure, and L = log(p/q), under P, is the privacy
loss. A guarantee bounds L or one of its moments:

* pure, PureDP(eps): L <= eps almost surely, that is p <= e^eps q;
* approximate, ApproxDP(eps, delta): E[(1 - e^(eps - L))_+] <= delta, the integral of the positive
  part (p - e^eps q)_+, which is the hockey-stick divergence;
* Renyi, RenyiDP(alpha, eps): E[e^((alpha - 1) L)] <= e^((alpha - 1) eps), the integral of
  p^alpha q^(1 - alpha); at order 1, E[L] <= eps;
* zero-concentrated, ZCDP(rho): Renyi's bound with eps = rho alpha at every order alpha > 1;
  truncated, TCDP(rho, omega): for 1 < alpha < omega only;
* Gaussian, GDP(mu): no hockey-stick divergence, at any real eps, is larger than that of N(mu, 1)
  from N(0, 1);
* bounded range, BoundedRange(eps): L lies in an interval of length eps, which may lie anywhere.

Each is meant for (P, Q) and for (Q, P). All losses are in nats.

A composition is adaptive. Which mechanism is the second one may depend on the first one's output;
all that is known is that it has its guarantee for every fixed value of that output, with fresh
randomness. So the joint densities are products p1 p2 and q1 q2, where p2 and q2 depend on the first
output, and a proof has two steps: hold the first output fixed and integrate over the second one by
the second guarantee, then integrate what is left by the first. Everything that remains to be shown
is an inequality between the four numbers p1, q1, p2, q2.

dp.compose runs mechanisms of one's choice, dp.repeat k of one kind, where k may be a symbol, and
dp.filtered as many as a budget allows, with parameters that are chosen on the way.
"""

from sympy import Max, Min, Rational, exp, oo, sqrt, symbols

import dpsym as dp
from dpsym.scripts import proved, refuted

epsilon, epsilon1, epsilon2 = symbols("epsilon epsilon1 epsilon2", nonnegative=True)
delta, delta1, delta2 = symbols("delta delta1 delta2", nonnegative=True)
rho, rho1, rho2 = symbols("rho rho1 rho2", nonnegative=True)
alpha, omega, mu, mu1, mu2 = symbols("alpha omega mu mu1 mu2", positive=True)
c, c1, c2 = symbols("c c1 c2", positive=True)
k = symbols("k", integer=True, positive=True)

STAGES = (2, 3, 5)


def numbered(name, count):
    """The symbols name1, ..., name<count>, nonnegative."""
    return symbols(f"{name}1:{count + 1}", nonnegative=True)


# -- 1. Pure differential privacy


@proved(source="Dwork and Roth (2014), Corollary 3.15")
def pure_dp_composes():
    """PureDP(eps1), ..., PureDP(epsn) together are PureDP(eps1 + ... + epsn); n = 2, 3, 5.

    Idea: losses add. p1 <= e^eps1 q1 and p2 <= e^eps2 q2 give p1 p2 <= e^(eps1 + eps2) q1 q2,
    output by output, with no expectation to take. Exact: independent randomized responses attain
    it.
    """
    verdicts = []
    for count in STAGES:
        eps = numbered("epsilon", count)
        total = dp.compose(*(dp.PureDP(e) for e in eps))
        verdicts.append(dp.check(total, dp.PureDP(sum(eps))))
    return verdicts


@proved(source="Dwork and Roth (2014), Corollary 3.15")
def pure_dp_composes_k_times():
    """k mechanisms with PureDP(eps) are PureDP(k eps), for every k >= 1.

    Idea: induction. Two guarantees of one notion give a third by an associative operation, here
    eps1 + eps2, so k of them give its k-fold power, which is k eps. Exact: k randomized responses
    attain it.
    """
    return dp.check(dp.repeat(dp.PureDP(epsilon), k), dp.PureDP(k * epsilon))


@refuted(source="a slip: how standard deviations add, applied to what adds in the worst case")
def pure_epsilons_add_in_squares():
    """False: PureDP(eps1) and PureDP(eps2) are PureDP(sqrt(eps1^2 + eps2^2)).

    Idea: two randomized responses that both give their likelier answer have the loss eps1 + eps2.
    """
    total = dp.compose(dp.PureDP(epsilon1), dp.PureDP(epsilon2))
    return dp.check(total, dp.PureDP(sqrt(epsilon1**2 + epsilon2**2)))


# -- 2. Approximate differential privacy


@proved(source="Dwork and Roth (2014), Theorem 3.16")
def approximate_dp_composes():
    """The epsilons add and the deltas add, for 2, 3 and 5 stages with parameters of their own.

    Idea: with a = p1, b = e^eps1 q1, c = p2, d = e^eps2 q2 all at least 0, (a c - b d)_+ <= (a -
    b)_+ c + min(a, b) (c - d)_+. Over the second output, c integrates to 1 and (c - d)_+ to at most
    delta2; then (a - b)_+ integrates to at most delta1, and min(a, b) to at most 1. Loose: by
    delta1 delta2 for two stages, as the next theorem shows.
    """
    verdicts = []
    for count in STAGES:
        eps, deltas = numbered("epsilon", count), numbered("delta", count)
        stages = [dp.ApproxDP(e, d) for e, d in zip(eps, deltas, strict=True)]
        verdicts.append(dp.check(dp.compose(*stages), dp.ApproxDP(sum(eps), sum(deltas))))
    return verdicts


@proved(source="Kairouz, Oh and Viswanath (2015), section 3, for the optimal composition")
def approximate_dp_composes_sharply():
    """The delta of two stages is 1 - (1 - delta1) (1 - delta2) = delta1 + delta2 - delta1 delta2.

    Idea: min(a, b) above is a - (a - b)_+, which integrates to 1 minus the first stage's
    divergence and not merely to at most 1. Exact: if each mechanism gives its input away with
    probability delta, one of them does with this probability.
    """
    total = dp.compose(dp.ApproxDP(epsilon1, delta1), dp.ApproxDP(epsilon2, delta2))
    claim = dp.ApproxDP(epsilon1 + epsilon2, delta1 + delta2 - delta1 * delta2)
    return dp.check(total, claim)


@proved(source="Dwork and Roth (2014), Theorem 3.16")
def approximate_dp_composes_k_times():
    """k mechanisms with ApproxDP(eps, delta) are ApproxDP(k eps, k delta), for every k >= 1.

    Idea: induction; both sums are associative. Loose: 1 - (1 - delta)^k is enough.
    """
    claim = dp.ApproxDP(k * epsilon, k * delta)
    return dp.check(dp.repeat(dp.ApproxDP(epsilon, delta), k), claim)


@proved(source="Dwork and Roth (2014), Theorem 3.16, with one delta 0")
def pure_and_approximate_dp_compose():
    """A pure stage, first or last, adds its epsilon and leaves delta as it is.

    Idea: PureDP(eps1) is ApproxDP(eps1, 0). Exact: as approximate_dp_composes_sharply, with delta1
    = 0.
    """
    pure, approximate = dp.PureDP(epsilon1), dp.ApproxDP(epsilon2, delta)
    claim = dp.ApproxDP(epsilon1 + epsilon2, delta)
    return [
        dp.check(dp.compose(pure, approximate), claim),
        dp.check(dp.compose(approximate, pure), claim),
    ]


@refuted(source="a slip: what holds for mechanisms on disjoint parts of the data")
def approximate_dp_composes_to_the_larger():
    """False: two stages are (max(eps1, eps2), max(delta1, delta2))-private.

    Idea: both mechanisms look at the same record, and two answers say more than one.
    """
    total = dp.compose(dp.ApproxDP(epsilon1, delta1), dp.ApproxDP(epsilon2, delta2))
    return dp.check(total, dp.ApproxDP(Max(epsilon1, epsilon2), Max(delta1, delta2)))


@refuted(source="a slip: as if both had to fail for the whole to fail")
def deltas_multiply():
    """False: two stages are (eps1 + eps2, delta1 delta2)-private.

    Idea: it is enough that one of them fails.
    """
    total = dp.compose(dp.ApproxDP(epsilon1, delta1), dp.ApproxDP(epsilon2, delta2))
    return dp.check(total, dp.ApproxDP(epsilon1 + epsilon2, delta1 * delta2))


@refuted(source="a slip: as if the failures were one event")
def the_larger_delta_is_enough():
    """False: two stages are (eps1 + eps2, max(delta1, delta2))-private.

    Idea: the stages fail independently of each other, so the probabilities nearly add.
    """
    total = dp.compose(dp.ApproxDP(epsilon1, delta1), dp.ApproxDP(epsilon2, delta2))
    return dp.check(total, dp.ApproxDP(epsilon1 + epsilon2, Max(delta1, delta2)))


@refuted(source="the next smaller bound after approximate_dp_composes_sharply")
def twice_the_product_of_deltas_is_saved():
    """False: two stages are (eps1 + eps2, delta1 + delta2 - 2 delta1 delta2)-private.

    Idea: the product is counted twice in delta1 + delta2, so once is what can be saved.
    """
    total = dp.compose(dp.ApproxDP(epsilon1, delta1), dp.ApproxDP(epsilon2, delta2))
    claim = dp.ApproxDP(epsilon1 + epsilon2, delta1 + delta2 - 2 * delta1 * delta2)
    return dp.check(total, claim)


# -- 3. Renyi differential privacy


@proved(source="Mironov (2017), Proposition 1")
def renyi_dp_composes():
    """At one order alpha > 1 the epsilons add, for 2, 3 and 5 stages.

    Idea: (p1 p2)^alpha (q1 q2)^(1 - alpha) is a product. Over the second output its second factor
    integrates to at most e^((alpha - 1) eps2), whatever the first output is; then the first one
    does to e^((alpha - 1) eps1). Moments multiply, so their logarithms add. Exact: independent
    stages attain it.
    """
    verdicts = []
    for count in STAGES:
        eps = numbered("epsilon", count)
        total = dp.compose(*(dp.RenyiDP(alpha, e) for e in eps))
        verdicts.append(dp.check(total, dp.RenyiDP(alpha, sum(eps)), where=[alpha > 1]))
    return verdicts


@proved(source="van Erven and Harremoes (2014), Theorem 28, for independent stages")
def renyi_dp_composes_at_and_below_order_one():
    """The same at order 1, where the expected losses add, and at orders below 1.

    Idea: at order 1, log(p1 p2/(q1 q2)) is a sum. Below order 1 the moment has a lower bound in
    place of an upper one, and 1/(alpha - 1) < 0 turns it around again. Exact: independent stages
    attain it.
    """
    at_one = dp.compose(dp.RenyiDP(1, epsilon1), dp.RenyiDP(1, epsilon2))
    below = dp.compose(dp.RenyiDP(alpha, epsilon1), dp.RenyiDP(alpha, epsilon2))
    return [
        dp.check(at_one, dp.RenyiDP(1, epsilon1 + epsilon2)),
        dp.check(below, dp.RenyiDP(alpha, epsilon1 + epsilon2), where=[alpha < 1]),
    ]


@proved(source="Mironov (2017), Proposition 1, by induction")
def renyi_dp_composes_k_times():
    """k mechanisms with RenyiDP(alpha, eps) are RenyiDP(alpha, k eps): alpha > 1, = 1, < 1.

    Idea: induction, as for pure differential privacy. Exact: independent stages attain it.
    """
    many = dp.repeat(dp.RenyiDP(alpha, epsilon), k)
    at_one = dp.repeat(dp.RenyiDP(1, epsilon), k)
    return [
        dp.check(many, dp.RenyiDP(alpha, k * epsilon), where=[alpha > 1]),
        dp.check(at_one, dp.RenyiDP(1, k * epsilon)),
        dp.check(many, dp.RenyiDP(alpha, k * epsilon), where=[alpha < 1]),
    ]


@proved(source="Mironov (2017), Proposition 1, with order oo for the pure stage")
def pure_and_renyi_dp_compose():
    """A pure stage, first or last, adds its epsilon at every order.

    Idea: e^((alpha - 1) L1) <= e^((alpha - 1) eps1) for a loss of at most eps1. Loose: at a finite
    order the pure stage has less than eps1, by a factor of about alpha eps1/2 when this is small
    (conversions.py has the exact value).
    """
    pure, renyi = dp.PureDP(epsilon1), dp.RenyiDP(alpha, epsilon2)
    claim = dp.RenyiDP(alpha, epsilon1 + epsilon2)
    return [
        dp.check(dp.compose(pure, renyi), claim, where=[alpha > 1]),
        dp.check(dp.compose(renyi, pure), claim, where=[alpha > 1]),
    ]


@refuted(source="a slip: the larger of two, as for mechanisms on disjoint parts of the data")
def renyi_dp_composes_to_the_larger():
    """False: two stages have the larger epsilon at the same order.

    Idea: two independent copies have exactly twice the divergence of one.
    """
    total = dp.compose(dp.RenyiDP(alpha, epsilon1), dp.RenyiDP(alpha, epsilon2))
    return dp.check(total, dp.RenyiDP(alpha, Max(epsilon1, epsilon2)), where=[alpha > 1])


@refuted(source="a slip: an order that is not the one that is known")
def renyi_dp_composes_at_a_larger_order():
    """False: two stages at order alpha have eps1 + eps2 at order alpha + 1.

    Idea: a bound at one order says nothing of larger ones, not even with one stage.
    """
    total = dp.compose(dp.RenyiDP(alpha, epsilon1), dp.RenyiDP(alpha, epsilon2))
    return dp.check(total, dp.RenyiDP(alpha + 1, epsilon1 + epsilon2), where=[alpha > 1])


# -- 4. Bounds on a moment


def moment(bound):
    """E[e^((alpha - 1) L)] <= bound."""
    return dp.MomentBound(lambda L: exp((alpha - 1) * L), bound)


@proved(source="Abadi et al. (2016), Theorem 2.1, composability")
def moment_bounds_multiply():
    """Bounds c1 and c2 on E[e^((alpha - 1) L)] give c1 c2, at the same alpha.

    Idea: this is Renyi's composition before the logarithm is taken. Exact: independent stages
    attain it.
    """
    return dp.check(dp.compose(moment(c1), moment(c2)), moment(c1 * c2), where=[alpha > 1])


@proved(source="Abadi et al. (2016), Theorem 2.1, tail bound")
def a_moment_bound_gives_a_delta():
    """A bound c gives ApproxDP(eps, c e^(-(alpha - 1) eps)), for every eps >= 0.

    Idea: Markov's inequality, pointwise: (1 - e^(eps - L))_+ <= e^((alpha - 1) (L - eps)). Loose:
    by the factor (1 - 1/alpha)^(alpha - 1)/alpha, as a tangent in conversions.py shows.
    """
    claim = dp.ApproxDP(epsilon, c * exp(-(alpha - 1) * epsilon))
    return dp.check(moment(c), claim, where=[alpha > 1])


@proved(source="Abadi et al. (2016), Theorem 2.1, both parts together")
def a_second_stage_keeps_alpha_and_enlarges_delta():
    """A second stage with a bound c2 >= 1 leaves alpha as it is, and delta grows by the factor c2.

    Idea: at a fixed epsilon, delta is c1 e^(-(alpha - 1) eps) before and c1 c2 e^(-(alpha - 1) eps)
    after. Loose: by the same factor.
    """
    before = c1 * exp(-(alpha - 1) * epsilon)
    after = c1 * c2 * exp(-(alpha - 1) * epsilon)
    composed = dp.compose(moment(c1), moment(c2))
    return [
        dp.check(composed, dp.ApproxDP(epsilon, after), where=[alpha > 1]),
        dp.check_inequality(before, after, where=[alpha > 1, c2 >= 1]),
    ]


# -- 5. Concentrated differential privacy


@proved(source="Bun and Steinke (2016), Lemma 1.7")
def zcdp_composes():
    """ZCDP(rho1) and ZCDP(rho2) are ZCDP(rho1 + rho2); k of ZCDP(rho) are ZCDP(k rho).

    Idea: at every order alpha the bounds rho1 alpha and rho2 alpha add. Exact: Gaussian mechanisms
    attain it.
    """
    return [
        dp.check(dp.compose(dp.ZCDP(rho1), dp.ZCDP(rho2)), dp.ZCDP(rho1 + rho2)),
        dp.check(dp.repeat(dp.ZCDP(rho), k), dp.ZCDP(k * rho)),
    ]


@proved(source="Bun, Dwork, Rothblum and Steinke (2018), section 2")
def tcdp_composes():
    """TCDP(rho1, omega) and TCDP(rho2, omega) are TCDP(rho1 + rho2, omega); k of one likewise.

    Idea: the same at every order below omega. Exact: Gaussian mechanisms attain it.
    """
    two = dp.compose(dp.TCDP(rho1, omega), dp.TCDP(rho2, omega))
    many = dp.repeat(dp.TCDP(rho, omega), k)
    return [
        dp.check(two, dp.TCDP(rho1 + rho2, omega), where=[omega > 1]),
        dp.check(many, dp.TCDP(k * rho, omega), where=[omega > 1]),
    ]


@proved(source="Bun, Dwork, Rothblum and Steinke (2018), Lemma 2")
def tcdp_composes_up_to_the_lower_end():
    """TCDP(rho1, omega1) and TCDP(rho2, omega2) are TCDP(rho1 + rho2, min(omega1, omega2)).

    Idea: at an order below both ends, both guarantees apply. Exact: Gaussian mechanisms attain it.
    """
    omega1, omega2 = symbols("omega1 omega2", positive=True)
    two = dp.compose(dp.TCDP(rho1, omega1), dp.TCDP(rho2, omega2))
    claim = dp.TCDP(rho1 + rho2, Min(omega1, omega2))
    return dp.check(two, claim, where=[omega1 > 1, omega2 > 1])


# -- 6. Gaussian differential privacy


@proved(source="Dong, Roth and Su (2022), Corollary 3.3")
def gdp_composes():
    """GDP(mu1) and GDP(mu2) are GDP(sqrt(mu1^2 + mu2^2)); k of GDP(mu) are GDP(sqrt(k) mu).

    Idea: inside a composition a pair of laws may be replaced by one whose hockey-stick divergence
    is at least as large at every real epsilon, so by the Gaussian pair. The loss of that pair is
    normal with mean mu^2/2 and variance mu^2; means and variances of independent losses add. Exact:
    Gaussian mechanisms attain it.
    """
    two = dp.compose(dp.GDP(mu1), dp.GDP(mu2))
    return [
        dp.check(two, dp.GDP(sqrt(mu1**2 + mu2**2))),
        dp.check(dp.repeat(dp.GDP(mu), k), dp.GDP(sqrt(k) * mu)),
    ]


@refuted(source="a slip: the mean in place of the root of the sum of squares")
def gdp_composes_to_the_mean():
    """False: GDP(mu1) and GDP(mu2) are GDP((mu1 + mu2)/2).

    Idea: two Gaussian mechanisms with mu1 = mu2 = mu are one with sqrt(2) mu.
    """
    return dp.check(dp.compose(dp.GDP(mu1), dp.GDP(mu2)), dp.GDP((mu1 + mu2) / 2))


# -- 7. Bounded range


@proved(source="Durfee and Rogers (2019)")
def bounded_ranges_compose_to_pure_dp():
    """BoundedRange(eps1) and BoundedRange(eps2) together are PureDP(eps1 + eps2).

    Idea: an interval of losses of length eps contains 0, or else one of P and Q would have more
    mass than the other everywhere. So the loss is at most eps, and pure guarantees compose. Exact:
    losses in the interval from almost 0 to eps come as close as one likes.
    """
    two = dp.compose(dp.BoundedRange(epsilon1), dp.BoundedRange(epsilon2))
    return [
        dp.check(dp.BoundedRange(epsilon), dp.PureDP(epsilon)),
        dp.check(two, dp.PureDP(epsilon1 + epsilon2)),
    ]


@proved(source="Cesar and Rogers (2021), by Hoeffding's lemma")
def bounded_ranges_compose_to_zcdp():
    """BoundedRange(eps1) and BoundedRange(eps2) are ZCDP((eps1^2 + eps2^2)/8); k of one likewise.

    Idea: a loss in an interval of length eps is centred up to a multiple of (eps/2)^2/2 = eps^2/8,
    by Hoeffding's lemma, and zCDP composes although ranges do not: where the interval lies may
    depend on earlier outputs, but the bound eps^2/8 does not. Loose: by a factor 1 + O(eps^2).
    """
    two = dp.compose(dp.BoundedRange(epsilon1), dp.BoundedRange(epsilon2))
    many = dp.repeat(dp.BoundedRange(epsilon), k)
    return [
        dp.check(two, dp.ZCDP((epsilon1**2 + epsilon2**2) / 8)),
        dp.check(many, dp.ZCDP(k * epsilon**2 / 8)),
    ]


@proved(source="Dong, Durfee and Rogers (2020), on adaptive composition")
def a_later_range_counts_twice():
    """BoundedRange(eps1) and then BoundedRange(eps2) are BoundedRange(eps1 + 2 eps2).

    Idea: the first loss lies in an interval of length eps1, whatever happens. Where the second
    interval lies may depend on the first output, but it contains 0, so the second loss is between
    -eps2 and eps2. Exact: a second stage that puts its interval as high or as low as it can.
    """
    total = dp.compose(dp.BoundedRange(epsilon1), dp.BoundedRange(epsilon2))
    return dp.check(total, dp.BoundedRange(epsilon1 + 2 * epsilon2))


@refuted(source="Dong, Durfee and Rogers (2020), who show that adaptivity costs here")
def bounded_ranges_add_adaptively():
    """False: BoundedRange(eps1) and BoundedRange(eps2) are BoundedRange(eps1 + eps2).

    Idea: after an output with a large loss the second stage puts its interval high, after one with
    a small loss low, so that the losses are further apart than the two lengths together.
    """
    total = dp.compose(dp.BoundedRange(epsilon1), dp.BoundedRange(epsilon2))
    return dp.check(total, dp.BoundedRange(epsilon1 + epsilon2))


# -- 8. Parts of the data without a record in common


@proved(source="McSherry (2009), Theorem 4")
def parallel_mechanisms_have_the_larger_epsilon():
    """PureDP(eps1) on one part of the data and PureDP(eps2) on another, where a record is added or
    removed, are PureDP(max(eps1, eps2)).

    Idea: the record is in one part at most, and the outputs about the other part have the same
    distribution. Exact: randomized response on the part with the larger epsilon.
    """
    parts = dp.parallel(dp.PureDP(epsilon1), dp.PureDP(epsilon2))
    return dp.check(parts, dp.PureDP(Max(epsilon1, epsilon2)))


# -- 9. Stages of different kinds


@proved(source="Bun and Steinke (2016), Proposition 1.4 and Lemma 1.7; Dong, Roth and Su (2022)")
def different_guarantees_compose():
    """PureDP(eps) and ZCDP(rho) are ZCDP(eps^2/2 + rho); PureDP(eps) and GDP(mu) are
    ZCDP(eps^2/2 + mu^2/2).

    Idea: each stage is first weakened to the notion of the total: eps-pure is eps^2/2-zCDP, and
    mu-Gaussian is mu^2/2-zCDP. Loose: eps tanh(eps/2) may stand for eps^2/2.
    """
    return [
        dp.check(dp.compose(dp.PureDP(epsilon), dp.ZCDP(rho)), dp.ZCDP(epsilon**2 / 2 + rho)),
        dp.check(dp.compose(dp.PureDP(epsilon), dp.GDP(mu)), dp.ZCDP(epsilon**2 / 2 + mu**2 / 2)),
    ]


@proved(source="Mironov (2017), Propositions 1 and 7, by induction")
def an_explicit_mechanism_composes_k_times():
    """k runs of the Gaussian mechanism with noise sigma = mu and sensitivity 1, the noise drawn
    anew each time, are RenyiDP(alpha, k alpha/(2 mu^2)) and ZCDP(k/(2 mu^2)).

    Idea: the guarantee of one run, which is an integral, and the composition of guarantees. Exact:
    the moments of independent runs multiply.
    """
    gaussian = dp.repeat(dp.AdditiveNoise(dp.noise.Gaussian(sigma=mu), sensitivity=1), k)
    return [
        dp.check(gaussian, dp.RenyiDP(alpha, k * alpha / (2 * mu**2)), where=[alpha > 1]),
        dp.check(gaussian, dp.ZCDP(k / (2 * mu**2))),
    ]


@proved(source="Mironov (2017), Proposition 1, at order oo, where it is pure privacy")
def order_infinity_composes_as_pure_dp():
    """RenyiDP(oo, eps1) and RenyiDP(oo, eps2) are RenyiDP(oo, eps1 + eps2).

    Idea: the divergence of order oo is the largest loss. Exact: independent randomized responses
    attain it.
    """
    two = dp.compose(dp.RenyiDP(oo, epsilon1), dp.RenyiDP(oo, epsilon2))
    return dp.check(two, dp.RenyiDP(oo, epsilon1 + epsilon2))


# -- 10. Filters: parameters that are chosen on the way

x, budget = symbols("x R", nonnegative=True)


@proved(source="Rogers, Roth, Ullman and Vadhan (2016), for pure privacy")
def a_filter_for_pure_dp():
    """Run mechanisms with PureDP(x), each x chosen after the earlier outputs have been seen, and
    stop before the sum of the x would exceed R: the whole is PureDP(R).

    Idea: along every path the losses add to at most the sum of its parameters. Exact: all of R may
    be spent on one mechanism.
    """
    return dp.check(dp.filtered(dp.PureDP(x), x, budget), dp.PureDP(budget))


@proved(source="Feldman and Zrnic (2021), Theorem 3.1")
def a_filter_for_renyi_dp():
    """The same for RenyiDP(alpha, x) at a fixed order alpha > 1: the whole is RenyiDP(alpha, R).

    Idea: e^((alpha - 1) (losses so far + budget that is left)) does not grow in expectation, so at
    the end it is at most what it is at the beginning, e^((alpha - 1) R). Exact: all of R may be
    spent on one mechanism.
    """
    claim = dp.RenyiDP(alpha, budget)
    return dp.check(dp.filtered(dp.RenyiDP(alpha, x), x, budget), claim, where=[alpha > 1])


@proved(source="Feldman and Zrnic (2021), Theorem 3.1, at every order")
def a_filter_for_zcdp():
    """The same for ZCDP(x): the whole is ZCDP(R).

    Idea: the filter for Renyi differential privacy, with x alpha and R alpha, at every order alpha.
    Exact: all of R may be spent on one mechanism.
    """
    return dp.check(dp.filtered(dp.ZCDP(x), x, budget), dp.ZCDP(budget))


@refuted(source="the next smaller budget")
def a_filter_saves_a_tenth():
    """False: the filter for pure privacy is PureDP(9/10 R).

    Idea: all of the budget may be spent on one mechanism.
    """
    claim = dp.PureDP(Rational(9, 10) * budget)
    return dp.check(dp.filtered(dp.PureDP(x), x, budget), claim)
