"""Conversions: what one guarantee says in the terms of another.

P and Q are the output distributions on two neighbouring inputs, p and q their densities, t = p/q
and L = log t the privacy loss. The notions (see composition.py for each of them in words) are

* PureDP(eps): L <= eps;
* ApproxDP(eps, delta): E[(1 - e^(eps - L))_+] <= delta, the hockey-stick divergence at eps; at
  eps = 0 it is the total variation distance, the largest P(S) - Q(S);
* ProbabilisticDP(eps, delta): P(L > eps) <= delta;
* RenyiDP(alpha, eps): the Renyi divergence D_alpha = log(E[e^((alpha - 1) L)])/(alpha - 1) is at
  most eps; at order 1 it is E[L], the Kullback-Leibler divergence;
* ZCDP(rho): D_alpha <= rho alpha for every alpha > 1;
* GDP(mu): the hockey-stick divergence is at most that of N(mu, 1) from N(0, 1), at every real eps;
* BoundedRange(eps): L lies in an interval of length eps.

Each is meant for (P, Q) and for (Q, P), unless it says one_way=True.

All of them are integrals of q f(t), and t has the mean 1 under Q wherever Q has mass. So a
conversion is an inequality between functions of one variable: if f(t) <= a + b t + lambda g(t) for
every t >= 0 with lambda >= 0, then the integral of q f is at most a + b + lambda times that of q g.
The best conversion has the best such line, a tangent or a chord; that is the idea of nearly
every proof here, and the docstrings say which. "Exact" means that some mechanism attains the bound
at every value of the parameters; others say by how much they can be loose.
"""

from sympy import Min, Rational, cosh, erfc, exp, log, oo, sqrt, symbols, tanh

import dpsym as dp
from dpsym.scripts import proved, refuted

epsilon, delta0, D = symbols("epsilon delta D", nonnegative=True)
alpha, beta, mu, e, t = symbols("alpha beta mu e t", positive=True)
rho, delta = symbols("rho delta", positive=True)
real_epsilon = symbols("epsilon", real=True)

ABOVE_ONE = [alpha > 1]
SMALL = [delta < 1]
HALF = Rational(1, 2)


def phi(x):
    """The distribution function of the standard normal law."""
    return erfc(-x / sqrt(2)) / 2


def gaussian_profile(shift, at):
    """The hockey-stick divergence of N(shift, 1) from N(0, 1) at a real epsilon."""
    return phi(shift / 2 - at / shift) - exp(at) * phi(-shift / 2 - at / shift)


# -- 1. From pure differential privacy


@proved(source="Bun and Steinke (2016), proof of Proposition 3.3; Mironov (2017), Proposition 5")
def pure_dp_is_renyi_dp_as_randomized_response():
    """PureDP(eps) has D_alpha <= log(cosh((alpha - 1/2) eps)/cosh(eps/2))/(alpha - 1), at every
    order above and below 1.

    Idea: t lies in [e^-eps, e^eps], where t^alpha is below its chord for alpha > 1 and above it
    for alpha < 1, and the chord's integral is known since t has mean 1. Exact: randomized response
    takes the two ends of the interval only, and has this divergence.
    """
    form = log(cosh((alpha - HALF) * epsilon) / cosh(epsilon / 2)) / (alpha - 1)
    pure = dp.PureDP(epsilon)
    return [
        dp.check(pure, dp.RenyiDP(alpha, form), where=ABOVE_ONE),
        dp.check(pure, dp.RenyiDP(alpha, form), where=[alpha < 1]),
    ]


@proved(source="Bun and Steinke (2016), Proposition 3.3")
def pure_dp_is_renyi_dp():
    """PureDP(eps) is RenyiDP(alpha, alpha eps^2/2), and RenyiDP(alpha, min(eps, alpha eps^2/2)).

    Idea: the chord's value, by cosh x <= e^(x^2/2). Loose: the exact value is alpha eps^2/2 up to
    a factor 1 + O(eps^2) for a small eps and a fixed order.
    """
    pure = dp.PureDP(epsilon)
    half = alpha * epsilon**2 / 2
    return [
        dp.check(pure, dp.RenyiDP(alpha, half), where=ABOVE_ONE),
        dp.check(pure, dp.RenyiDP(alpha, Min(epsilon, half)), where=ABOVE_ONE),
    ]


@proved(source="van Erven and Harremoes (2014), Theorems 3 and 6")
def pure_dp_is_renyi_dp_of_every_order():
    """PureDP(eps) is RenyiDP(alpha, eps) at every order, and order oo is pure DP itself.

    Idea: the average of losses that are at most eps is at most eps. Exact in the limit
    alpha -> oo.
    """
    pure = dp.PureDP(epsilon)
    return [
        dp.check(pure, dp.RenyiDP(alpha, epsilon), where=ABOVE_ONE),
        dp.check(pure, dp.RenyiDP(1, epsilon)),
        dp.check(pure, dp.RenyiDP(alpha, epsilon), where=[alpha < 1]),
        dp.check(pure, dp.RenyiDP(oo, epsilon)),
        dp.check(dp.RenyiDP(oo, epsilon), pure),
    ]


@proved(source="Bun and Steinke (2016), Proposition 1.4")
def pure_dp_is_zcdp():
    """PureDP(eps) is ZCDP(eps^2/2).

    Idea: the bound before, at every order. Loose: by a factor 1 + O(eps^2), see the next theorem.
    """
    return dp.check(dp.PureDP(epsilon), dp.ZCDP(epsilon**2 / 2))


@proved(source="Desfontaines, Converters between differential privacy variants (2024)")
def pure_dp_is_zcdp_exactly():
    """PureDP(eps) is ZCDP(eps tanh(eps/2)).

    Idea: log cosh(sqrt(s)) is concave in s since tanh(v)/v decreases, so it is below its tangent
    at the s of order 1. Exact: at order 1 randomized response has this divergence.
    """
    return dp.check(dp.PureDP(epsilon), dp.ZCDP(epsilon * tanh(epsilon / 2)))


@refuted(source="the next smaller constant after pure_dp_is_zcdp")
def pure_dp_is_zcdp_with_two_fifths():
    """False: PureDP(eps) is ZCDP(2/5 eps^2); here for eps = 1.

    Idea: for a small eps the exact value eps tanh(eps/2) is nearly eps^2/2.
    """
    return dp.check(dp.PureDP(1), dp.ZCDP(Rational(2, 5)))


@proved(source="Bun and Steinke (2016), Proposition 3.3, at order 1")
def pure_dp_bounds_kullback_leibler():
    """PureDP(eps) has a Kullback-Leibler divergence of at most eps tanh(eps/2), and of eps^2/2.

    Idea: t log t is below its chord on [e^-eps, e^eps]. Exact: randomized response has it.
    """
    pure = dp.PureDP(epsilon)
    return [
        dp.check(pure, dp.RenyiDP(1, epsilon * tanh(epsilon / 2))),
        dp.check(pure, dp.RenyiDP(1, epsilon**2 / 2)),
    ]


@proved(source="Kairouz, Oh and Viswanath (2015), section 3, with delta = 0")
def pure_dp_bounds_total_variation():
    """PureDP(eps) has a total variation distance of at most tanh(eps/2).

    Idea: (t - 1)_+ is below its chord on [e^-eps, e^eps]. Exact: randomized response has it.
    """
    return dp.check(dp.PureDP(epsilon), dp.ApproxDP(0, tanh(epsilon / 2)))


@proved(source="Kairouz, Oh and Viswanath (2015), Theorem 3.3, for one stage")
def pure_dp_is_approximate_dp_at_a_smaller_epsilon():
    """PureDP(eps) is ApproxDP(w, (e^eps - e^w)/(1 + e^eps)) for 0 <= w < eps.

    Idea: the chord of (t - e^w)_+ on [e^-eps, e^eps]. Exact: randomized response has it.
    """
    w = symbols("w", nonnegative=True)
    claim = dp.ApproxDP(w, (exp(epsilon) - exp(w)) / (1 + exp(epsilon)))
    return dp.check(dp.PureDP(epsilon), claim, where=[w < epsilon])


@proved(source="Dong, Roth and Su (2022), by comparing two trade-off functions")
def pure_dp_is_gaussian_dp():
    """PureDP(eps) has no more hockey-stick divergence at any w >= 0 than the Gaussian pair with
    mu = 2 Phi^-1(e^eps/(1 + e^eps)); so eps = log(Phi(mu/2)/Phi(-mu/2)).

    Idea: at w = 0 both are equal; from there on the divergence of randomized response falls along
    a line in e^w, and the other one is convex. Exact at w = 0.
    """
    w = symbols("w", nonnegative=True)
    pure = dp.PureDP(log(erfc(-mu / (2 * sqrt(2))) / erfc(mu / (2 * sqrt(2)))))
    return dp.check(pure, dp.ApproxDP(w, gaussian_profile(mu, w)))


# -- 2. From Renyi differential privacy to approximate differential privacy


@proved(source="Mironov (2017), Proposition 3")
def renyi_dp_is_approximate_dp():
    """RenyiDP(alpha, D) is ApproxDP(D + log(1/delta)/(alpha - 1), delta).

    Idea: Markov's inequality for e^((alpha - 1) L). Loose: the next theorem is smaller by
    (log alpha)/(alpha - 1) + log(alpha/(alpha - 1)).
    """
    claim = dp.ApproxDP(D + log(1 / delta) / (alpha - 1), delta)
    return dp.check(dp.RenyiDP(alpha, D), claim, where=[*ABOVE_ONE, *SMALL])


@proved(
    source="Canonne, Kamath and Steinke (2020), Proposition 12; Balle, Barthe, Gaboardi, Hsu and "
    "Sato (2020), Theorem 21; Asoodeh et al. (2020)"
)
def renyi_dp_is_approximate_dp_with_a_tangent():
    """RenyiDP(alpha, D) is ApproxDP(eps, e^((alpha - 1) (D - eps)) (1 - 1/alpha)^(alpha - 1)/alpha)
    for every real eps; solved for epsilon,
    eps = D + log((alpha - 1)/alpha) - (log delta + log alpha)/(alpha - 1).

    Idea: (1 - e^(eps - L))_+ <= c e^((alpha - 1) L) with the smallest possible c, where the two
    sides touch: at e^(L - eps) = alpha/(alpha - 1). The best with a multiple of the moment alone.
    Loose: for alpha = 2, D = 1 and eps = 1.5 delta is 0.1516, and the best is 0.1193 (dp.bound
    finds it).
    """
    known = dp.RenyiDP(alpha, D)
    least = exp((alpha - 1) * (D - real_epsilon)) * (1 - 1 / alpha) ** (alpha - 1) / alpha
    total = D + log((alpha - 1) / alpha) - (log(delta) + log(alpha)) / (alpha - 1)
    return [
        dp.check(known, dp.ApproxDP(real_epsilon, least), where=ABOVE_ONE),
        dp.check(known, dp.ApproxDP(total, delta), where=ABOVE_ONE),
    ]


@proved(source="Asoodeh, Liao, Calmon, Kosut and Sankar (2021), one branch of their bound")
def renyi_dp_is_approximate_dp_with_a_tangent_and_a_line():
    """RenyiDP(alpha, D) is ApproxDP(e, delta) with
    delta = (e^((alpha - 1) D) - 1)/(alpha (e^((alpha - 1) e) - 1)), for e > 0.

    Idea: t^alpha >= 1 + alpha (t - 1) + alpha (e^((alpha - 1) e) - 1) (t - e^e)_+ for t >= 0, a
    tangent at 1 that is bent up at e^e; and t has mean 1. Smaller than the tangent's bound for a
    small D, larger for a large one. Loose: for alpha = 2, D = 1 and eps = 1.5 delta is 0.2468, and
    the best is 0.1193.
    """
    known = dp.RenyiDP(alpha, D)
    bound = (exp((alpha - 1) * D) - 1) / (alpha * (exp((alpha - 1) * e) - 1))
    total = log(1 + (exp((alpha - 1) * D) - 1) / (alpha * delta)) / (alpha - 1)
    return [
        dp.check(known, dp.ApproxDP(e, bound), where=ABOVE_ONE),
        dp.check(known, dp.ApproxDP(total, delta), where=ABOVE_ONE),
    ]


@proved(source="the Cauchy-Schwarz inequality, for the chi-square divergence")
def renyi_dp_of_order_two_bounds_total_variation():
    """RenyiDP(2, eps) has a total variation distance of at most sqrt(e^eps - 1)/2.

    Idea: |t - 1| <= ((t - 1)^2/s + s)/2 with s the root of the chi-square divergence e^eps - 1.
    Loose: by a factor 1 + O(eps), as randomized response shows.
    """
    claim = dp.ApproxDP(0, sqrt(exp(epsilon) - 1) / 2)
    return dp.check(dp.RenyiDP(2, epsilon), claim)


@proved(source="Le Cam (1973), by the Hellinger distance")
def renyi_dp_of_order_one_half_bounds_total_variation():
    """RenyiDP(1/2, eps) has a total variation distance of at most sqrt(1 - e^-eps).

    Idea: |t - 1| = |sqrt(t) - 1| (sqrt(t) + 1), and the Cauchy-Schwarz inequality. Exact:
    randomized response attains it.
    """
    claim = dp.ApproxDP(0, sqrt(1 - exp(-epsilon)))
    return dp.check(dp.RenyiDP(HALF, epsilon), claim)


# -- 3. Between orders


@proved(source="van Erven and Harremoes (2014), Theorem 3; Mironov (2017), Proposition 9")
def renyi_divergence_grows_with_its_order():
    """RenyiDP(beta, eps) is RenyiDP(alpha, eps) for alpha <= beta, both orders above 1, both below
    1, and through order 1.

    Idea: Jensen's inequality for the power (alpha - 1)/(beta - 1), as a tangent where e^((beta - 1)
    L) is as large as its mean may be. Exact: from P to Q alone a constant loss attains it, where P
    is Q given an event.
    """

    def lower(order, to, *where):
        return dp.check(dp.RenyiDP(order, epsilon), dp.RenyiDP(to, epsilon), where=where)

    return [
        lower(beta, alpha, alpha > 1, beta >= alpha),
        lower(beta, 1, beta > 1),
        lower(beta, alpha, alpha < 1, beta > 1),
        lower(1, alpha, alpha < 1),
        lower(beta, alpha, beta < 1, beta >= alpha),
    ]


@proved(source="van Erven and Harremoes (2014), Proposition 2")
def renyi_divergence_is_skew_symmetric():
    """RenyiDP(alpha, alpha c) is RenyiDP(1 - alpha, (1 - alpha) c) for 0 < alpha < 1.

    Idea: (1 - alpha) D_alpha(P, Q) = alpha D_(1 - alpha)(Q, P), and a guarantee has both
    directions. Exact: it is an equality.
    """
    scale = symbols("c", nonnegative=True)
    known = dp.RenyiDP(alpha, alpha * scale)
    return dp.check(known, dp.RenyiDP(1 - alpha, (1 - alpha) * scale), where=[alpha < 1])


# -- 4. From concentrated differential privacy


@proved(source="Bun and Steinke (2016), Definition 1.1")
def zcdp_is_renyi_dp():
    """ZCDP(rho) is RenyiDP(alpha, rho alpha) at every order above 1; TCDP(rho, omega) below omega.

    Idea: it is the definition. Exact: the Gaussian mechanism attains it.
    """
    omega = symbols("omega", positive=True)
    inside = [*ABOVE_ONE, alpha < omega]
    return [
        dp.check(dp.ZCDP(rho), dp.RenyiDP(alpha, rho * alpha), where=ABOVE_ONE),
        dp.check(dp.TCDP(rho, omega), dp.RenyiDP(alpha, rho * alpha), where=inside),
    ]


@proved(source="Bun and Steinke (2016), proof of Proposition 1.3")
def zcdp_bounds_the_tail_of_the_loss():
    """ZCDP(rho) has P(L > rho + s) <= e^(-s^2/(4 rho)) for s >= 0.

    Idea: Markov's inequality for e^((alpha - 1) L) at the best order, alpha = 1 + s/(2 rho). Loose:
    for a Gaussian mechanism the probability is Phi(-s/sqrt(2 rho)), at most half as large.
    """
    s = symbols("s", nonnegative=True)
    return dp.check(dp.ZCDP(rho), dp.ProbabilisticDP(rho + s, exp(-(s**2) / (4 * rho))))


@proved(source="Bun and Steinke (2016), Proposition 1.3")
def zcdp_is_approximate_dp():
    """ZCDP(rho) is ApproxDP(rho + 2 sqrt(rho log(1/delta)), delta), for 0 < delta < 1.

    Idea: the tail bound, with s = 2 sqrt(rho log(1/delta)). Loose: at rho = 1/2 and delta = 1/10^6
    it has epsilon = 5.76, and a Gaussian mechanism with this rho has 4.89.
    """
    total = rho + 2 * sqrt(rho * log(1 / delta))
    return dp.check(dp.ZCDP(rho), dp.ApproxDP(total, delta), where=SMALL)


@proved(source="Canonne, Kamath and Steinke (2020), Corollary 13")
def zcdp_is_approximate_dp_at_any_order():
    """ZCDP(rho) is ApproxDP(eps, e^((alpha - 1) (alpha rho - eps)) (1 - 1/alpha)^alpha/(alpha - 1))
    for every real eps and every alpha > 1 that one likes.

    Idea: the tangent of section 2 with D = alpha rho. The best alpha has no closed form. Loose: at
    rho = 1/2 and delta = 1/10^6 the best order, 5.91, has epsilon = 5.22, and a Gaussian mechanism
    4.89.
    """
    bound = exp((alpha - 1) * (alpha * rho - real_epsilon)) / (alpha - 1)
    claim = dp.ApproxDP(real_epsilon, bound * (1 - 1 / alpha) ** alpha)
    return dp.check(dp.ZCDP(rho), claim, where=ABOVE_ONE)


@proved(source="Bun, Dwork, Rothblum and Steinke (2018), Lemma 6")
def tcdp_is_approximate_dp():
    """TCDP(rho, omega) is ApproxDP(rho omega + log(1/delta)/(omega - 1), delta), for 0 < delta < 1;
    where log(1/delta) <= (omega - 1)^2 rho, it is ApproxDP(rho + 2 sqrt(rho log(1/delta)), delta).

    Idea: the tail bound at orders that grow to omega, and at the best order, if it is below omega.
    Loose: as for zCDP.
    """
    omega = symbols("omega", positive=True)
    wide, near = log(1 / delta) / (omega - 1), log(1 / delta) <= (omega - 1) ** 2 * rho
    total = rho + 2 * sqrt(rho * log(1 / delta))
    return [
        dp.check(dp.TCDP(rho, omega), dp.ApproxDP(rho * omega + wide, delta), [*SMALL, omega > 1]),
        dp.check(dp.TCDP(rho, omega), dp.ApproxDP(total, delta), [*SMALL, omega > 1, near]),
    ]


# -- 5. From and to Gaussian differential privacy


@proved(source="Dong, Roth and Su (2022), Corollary 2.13; Balle and Wang (2018), Theorem 8")
def gdp_is_approximate_dp():
    """GDP(mu) is ApproxDP(eps, Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu)), for real eps.

    Idea: the definition, and the value of one integral: p > e^eps q is a half-line, on which two
    normal laws have the masses named. Exact: the Gaussian mechanism attains it.
    """
    return dp.check(dp.GDP(mu), dp.ApproxDP(real_epsilon, gaussian_profile(mu, real_epsilon)))


@proved(source="Dong, Roth and Su (2022), Corollary B.6")
def gdp_is_zcdp():
    """GDP(mu) is ZCDP(mu^2/2).

    Idea: t^alpha is an integral of hockey-sticks (t - e^s)_+ with positive weights, so a pair
    whose hockey-stick divergences are at most the Gaussian's has at most its Renyi divergence.
    Exact: the Gaussian mechanism has alpha mu^2/2 at every order.
    """
    return dp.check(dp.GDP(mu), dp.ZCDP(mu**2 / 2))


@proved(source="Dong, Roth and Su (2022), Theorem 2.7")
def the_gaussian_mechanism_is_gdp():
    """Noise N(0, 1) on an answer with sensitivity mu is GDP(mu).

    Idea: for a shift of exactly mu it is the definition; a smaller shift is less, as the
    divergence grows with the shift. Exact.
    """
    return dp.check(dp.AdditiveNoise(dp.noise.Gaussian(sigma=1), sensitivity=mu), dp.GDP(mu))


# -- 6. From approximate and probabilistic differential privacy


@proved(source="Kairouz, Oh and Viswanath (2015), section 3")
def approximate_dp_bounds_total_variation():
    """ApproxDP(eps, delta) has a total variation distance of at most
    (e^eps - 1 + 2 delta)/(e^eps + 1) = delta + (1 - delta) tanh(eps/2).

    Idea: |t - 1| <= tanh(eps/2) (t + 1) + 2/(e^eps + 1) ((t - e^eps)_+ + (1 - e^eps t)_+), which
    uses both directions. Exact: reveal the input with probability delta, else randomized response.
    """
    known = dp.ApproxDP(epsilon, delta0)
    bound = (exp(epsilon) - 1 + 2 * delta0) / (exp(epsilon) + 1)
    return [
        dp.check(known, dp.ApproxDP(0, bound)),
        dp.check(known, dp.ApproxDP(0, delta0 + (1 - delta0) * tanh(epsilon / 2))),
    ]


@proved(source="the same inequality with one direction alone")
def one_direction_bounds_total_variation_less():
    """ApproxDP(eps, delta) from P to Q only has at most 1 - (1 - delta) e^-eps.

    Idea: (t - 1)_+ <= (1 - e^-eps) t + e^-eps (t - e^eps)_+. Exact: an output of mass delta under P
    alone, one of loss eps, one under Q alone.
    """
    known = dp.ApproxDP(epsilon, delta0, one_way=True)
    return dp.check(known, dp.ApproxDP(0, 1 - (1 - delta0) * exp(-epsilon)))


@refuted(source="a slip: the second direction assumed")
def one_direction_bounds_total_variation_as_two():
    """False: ApproxDP(eps, delta) from P to Q only has at most (e^eps - 1 + 2 delta)/(e^eps + 1).

    Idea: an output that has mass under Q alone has no loss from P to Q.
    """
    known = dp.ApproxDP(epsilon, delta0, one_way=True)
    return dp.check(known, dp.ApproxDP(0, (exp(epsilon) - 1 + 2 * delta0) / (exp(epsilon) + 1)))


@proved(source="Dwork and Roth (2014), Lemma 3.17, one direction; Meiser (2018)")
def probabilistic_dp_is_approximate_dp():
    """If P(L > eps) <= delta then the hockey-stick divergence is at most delta, so
    ProbabilisticDP(eps, delta) is ApproxDP(eps, delta).

    Idea: (1 - e^(eps - L))_+ is at most 1, and 0 unless L > eps. Exact: a loss that is infinite
    with probability delta.
    """
    return dp.check(dp.ProbabilisticDP(epsilon, delta0), dp.ApproxDP(epsilon, delta0))


@proved(source="Kasiviswanathan and Smith (2014), Lemma 3.3, with the constant 1/(1 - e^-t)")
def approximate_dp_is_probabilistic_dp_at_a_larger_epsilon():
    """ApproxDP(eps, delta) is ProbabilisticDP(eps + t, delta/(1 - e^-t)) for every t > 0.

    Idea: where L > eps + t, the positive part (1 - e^(eps - L))_+ is at least 1 - e^-t. Exact: a
    loss just above eps + t with this probability comes as close as one likes.
    """
    claim = dp.ProbabilisticDP(epsilon + t, delta0 / (1 - exp(-t)))
    return dp.check(dp.ApproxDP(epsilon, delta0), claim)


# -- 7. From bounded range


@proved(source="Cesar and Rogers (2021), by Hoeffding's lemma")
def bounded_range_is_zcdp():
    """BoundedRange(eps) is ZCDP(eps^2/8).

    Idea: with losses in [s, s + eps], t^alpha is below its chord. The worst s is found by
    calculus, and for all alpha the value is at most alpha eps^2/8, which is Hoeffding's lemma.
    Loose: by a factor 1 + O(eps^2).
    """
    return dp.check(dp.BoundedRange(e), dp.ZCDP(e**2 / 8))


@proved(source="Durfee and Rogers (2019)")
def bounded_range_bounds_kullback_leibler():
    """BoundedRange(eps) has a Kullback-Leibler divergence of at most m - 1 - log m, with
    m = eps/(1 - e^-eps), and so of eps^2/8.

    Idea: the chord of t log t on an interval [e^s, e^(s + eps)], at the worst s. Exact: the pair
    with two outputs at the ends attains it.
    """
    m = e / (1 - exp(-e))
    return [
        dp.check(dp.BoundedRange(e), dp.RenyiDP(1, m - 1 - log(m))),
        dp.check(dp.BoundedRange(e), dp.RenyiDP(1, e**2 / 8)),
    ]


@proved(source="Dong, Durfee and Rogers (2020)")
def bounded_range_bounds_total_variation():
    """BoundedRange(eps) has a total variation distance of at most tanh(eps/4), and is PureDP(eps).

    Idea: the chord of (t - 1)_+ on [e^s, e^(s + eps)] at the worst s, which is -eps/2: there it is
    a randomized response with eps/2. Exact. And the interval contains 0, so L <= eps.
    """
    return [
        dp.check(dp.BoundedRange(e), dp.ApproxDP(0, tanh(e / 4))),
        dp.check(dp.BoundedRange(epsilon), dp.PureDP(epsilon)),
    ]
