"""Advanced composition: k mechanisms cost about sqrt(k) epsilon, not k epsilon.

The losses L1, ..., Lk of k mechanisms with PureDP(eps) add. Each is at most eps, so their sum is at
most k eps; but a loss that is sometimes +eps must often be -eps, since both distributions have mass
1. Three facts make the theorem:

1. on average a loss is small: E[L] <= eps tanh(eps/2), which is at most eps^2/2;
2. it lies in [-eps, eps], so it deviates from its mean like a normal variable of variance eps^2:
   E[e^((alpha - 1) L)] <= e^((alpha - 1) alpha eps^2/2), which is to say that pure differential
   privacy is eps^2/2-zCDP. Moments multiply, so k mechanisms are k eps^2/2-zCDP;
3. if E[e^((alpha - 1) L)] is bounded for every alpha then P(L > s) is, by Markov's inequality at
   the best alpha.

Together: (k eps^2/2 + eps sqrt(2 k log(1/delta)), delta)-differential privacy. The forms below
differ in the first summand. All hold for adaptive compositions: each mechanism may be chosen after
the outputs of the earlier ones have been seen, as its guarantee holds for every value of them. The
number k of mechanisms is a symbol, which stands for every whole number of at least 1.

ApproxDP(eps, delta) says that E[(1 - e^(eps - L))_+] <= delta, ZCDP(rho) that the Renyi divergence
of every order alpha > 1 is at most rho alpha, BoundedRange(eps) that L lies in an interval of
length eps; see composition.py. All losses are in nats.
"""

from sympy import Rational, exp, log, sqrt, symbols

import dpsym as dp
from dpsym.scripts import proved, refuted

epsilon, epsilon1, epsilon2, epsilon3 = symbols(
    "epsilon epsilon1 epsilon2 epsilon3", nonnegative=True
)
delta0 = symbols("delta0", nonnegative=True)
delta, rho, mu, alpha, b = symbols("delta rho mu alpha b", positive=True)
k = symbols("k", integer=True, positive=True)

SMALL = [delta < 1]
DEVIATION = epsilon * sqrt(2 * k * log(1 / delta))
many = dp.repeat(dp.PureDP(epsilon), k)


# -- 1. The steps


@proved(source="Bun and Steinke (2016), Proposition 1.4 and Lemma 1.7")
def k_pure_mechanisms_are_concentrated():
    """k mechanisms with PureDP(eps) are ZCDP(k eps^2/2).

    Idea: facts 1 and 2. One mechanism is eps^2/2-zCDP, and zCDP adds. Loose: k eps tanh(eps/2) is
    the exact value.
    """
    return dp.check(many, dp.ZCDP(k * epsilon**2 / 2))


@proved(source="Bun and Steinke (2016), Proposition 1.3")
def concentration_gives_a_small_epsilon():
    """k mechanisms with ZCDP(rho) are ApproxDP(k rho + 2 sqrt(k rho log(1/delta)), delta).

    Idea: fact 3, at alpha = 1 + sqrt(log(1/delta)/(k rho)). Loose: as for one mechanism, see
    zcdp_is_approximate_dp.
    """
    total = k * rho + 2 * sqrt(k * rho * log(1 / delta))
    return dp.check(dp.repeat(dp.ZCDP(rho), k), dp.ApproxDP(total, delta), where=SMALL)


# -- 2. The theorem, in the forms in which it is published


@proved(source="Bun and Steinke (2016), Propositions 1.3 and 1.4 with Lemma 1.7")
def advanced_composition_by_concentration():
    """k of PureDP(eps) are ApproxDP(k eps^2/2 + eps sqrt(2 k log(1/delta)), delta).

    Idea: the two steps above, with rho = eps^2/2. Loose: for k = 100, eps = 0.1 and delta = 1/10^6
    the total is 5.757; the optimal composition has 4.775.
    """
    return dp.check(many, dp.ApproxDP(k * epsilon**2 / 2 + DEVIATION, delta), where=SMALL)


@proved(source="Dwork, Rothblum and Vadhan (2010), Theorem III.3; Dwork and Roth (2014), 3.20")
def advanced_composition():
    """k of PureDP(eps) are ApproxDP(eps sqrt(2 k log(1/delta)) + k eps (e^eps - 1), delta).

    Idea: the sharper mean of the next theorem, and eps tanh(eps/2) <= eps (e^eps - 1). The
    published proof bounds the mean loss by eps (e^eps - 1), about twice what it is. Loose: for k =
    100, eps = 0.1 and delta = 1/10^6 the total is 6.308.
    """
    total = DEVIATION + k * epsilon * (exp(epsilon) - 1)
    return dp.check(many, dp.ApproxDP(total, delta), where=SMALL)


@proved(source="Kairouz, Oh and Viswanath (2015), Theorem 3.4, one of its three bounds")
def advanced_composition_with_the_exact_mean():
    """k of PureDP(eps) are ApproxDP(eps sqrt(2 k log(1/delta)) + k eps (e^eps - 1)/(e^eps + 1),
    delta).

    Idea: (e^eps - 1)/(e^eps + 1) = tanh(eps/2), and eps tanh(eps/2) is the mean loss of randomized
    response, which is the largest (fact 1). The smallest of these three totals. Loose: for k = 100,
    eps = 0.1 and delta = 1/10^6 the total is 5.756, and the optimal composition of Theorem 3.3 has
    4.775.
    """
    total = DEVIATION + k * epsilon * (exp(epsilon) - 1) / (exp(epsilon) + 1)
    return dp.check(many, dp.ApproxDP(total, delta), where=SMALL)


@proved(source="Dwork and Roth (2014), Corollary 3.21, for delta <= e^(-1/8)")
def advanced_composition_with_one_term():
    """If 2 eps sqrt(2 k log(1/delta)) <= 1 and delta <= e^(-1/8), then k of PureDP(eps) are
    ApproxDP(2 eps sqrt(2 k log(1/delta)), delta).

    Idea: then k eps^2/2 is at most eps sqrt(2 k log(1/delta)). The corollary is stated for every
    delta below 1; near 1 it is false, see refuted_claims.py. Loose: by a factor of about 2 for a
    small eps.
    """
    total = 2 * DEVIATION
    where = [delta <= exp(-Rational(1, 8)), total <= 1]
    return dp.check(many, dp.ApproxDP(total, delta), where=where)


# -- 3. Different epsilons


@proved(source="Kairouz, Oh and Viswanath (2015), Theorem 3.5, with eps^2/2 for the means")
def advanced_composition_of_different_epsilons():
    """PureDP(eps1), PureDP(eps2), PureDP(eps3) together are ApproxDP((eps1^2 + eps2^2 + eps3^2)/2 +
    sqrt(2 log(1/delta) (eps1^2 + eps2^2 + eps3^2)), delta); so are two of them.

    Idea: they are zCDP with rho = (eps1^2 + eps2^2 + eps3^2)/2. Loose: as for equal epsilons.
    """
    verdicts = []
    for losses in ((epsilon1, epsilon2), (epsilon1, epsilon2, epsilon3)):
        squares = sum(loss**2 for loss in losses)
        claim = dp.ApproxDP(squares / 2 + sqrt(2 * log(1 / delta) * squares), delta)
        verdicts.append(dp.check(dp.compose(*map(dp.PureDP, losses)), claim, where=SMALL))
    return verdicts


# -- 4. Approximate stages


@proved(source="Dwork, Rothblum and Vadhan (2010), Theorem III.3, for two stages")
def advanced_composition_of_approximate_stages():
    """Two mechanisms with ApproxDP(eps, delta0) are
    ApproxDP(2 eps sqrt(log(1/delta)) + 2 eps (e^eps - 1), delta + 2 delta0).

    Idea: a mechanism with ApproxDP(eps, delta0) is one with PureDP(eps) up to a part of mass
    delta0, on which anything may happen; these parts add. Loose: as for pure stages, and 1 - (1 -
    delta) (1 - delta0)^2 is smaller than the sum.
    """
    stage = dp.ApproxDP(epsilon, delta0)
    total = epsilon * sqrt(4 * log(1 / delta)) + 2 * epsilon * (exp(epsilon) - 1)
    claim = dp.ApproxDP(total, delta + 2 * delta0)
    return dp.check(dp.compose(stage, stage), claim, where=SMALL)


# -- 5. Other stages


@proved(source="Mironov (2017), Propositions 1 and 3")
def k_renyi_mechanisms_at_one_order():
    """k mechanisms with RenyiDP(alpha, eps) are ApproxDP(k eps + log(1/delta)/(alpha - 1), delta).

    Idea: fact 3 at one order in place of the best one. Loose: as for one mechanism, see
    renyi_dp_is_approximate_dp.
    """
    stages = dp.repeat(dp.RenyiDP(alpha, epsilon), k)
    claim = dp.ApproxDP(k * epsilon + log(1 / delta) / (alpha - 1), delta)
    return dp.check(stages, claim, where=[*SMALL, alpha > 1])


@proved(source="Cesar and Rogers (2021), with Bun and Steinke (2016), Proposition 1.3")
def k_bounded_ranges():
    """k mechanisms with BoundedRange(eps) are
    ApproxDP(k eps^2/8 + eps sqrt(k log(1/delta)/2), delta).

    Idea: an interval of length eps in place of the 2 eps of a pure guarantee halves the deviation
    and quarters the mean. Exponential mechanisms with parameter eps have this range. Loose: as
    zcdp_is_approximate_dp.
    """
    total = k * epsilon**2 / 8 + epsilon * sqrt(k * log(1 / delta) / 2)
    stages = dp.repeat(dp.BoundedRange(epsilon), k)
    return dp.check(stages, dp.ApproxDP(total, delta), where=SMALL)


@proved(source="Dwork, McSherry, Nissim and Smith (2006), with the theorem above")
def k_laplace_mechanisms():
    """k runs of the Laplace mechanism with scale b and sensitivity 1 are
    ApproxDP(k/(2 b^2) + sqrt(2 k log(1/delta))/b, delta), and PureDP(k/b).

    Idea: each is PureDP(1/b). Loose: Laplace noise has less divergence than randomized response
    with the same epsilon; 1/(2 b^2) stands for 1/b - 1 + e^(-1/b). PureDP(k/b) is exact.
    """
    stages = dp.repeat(dp.AdditiveNoise(dp.noise.Laplace(b), sensitivity=1), k)
    total = k / (2 * b**2) + sqrt(2 * k * log(1 / delta)) / b
    return [
        dp.check(stages, dp.ApproxDP(total, delta), where=SMALL),
        dp.check(stages, dp.PureDP(k / b)),
    ]


@proved(source="Feldman and Zrnic (2021), Theorem 3.1; Whitehouse, Ramdas, Rogers and Wu (2023)")
def advanced_composition_with_parameters_chosen_on_the_way():
    """Run mechanisms with ZCDP(x), each x chosen after the earlier outputs, while the sum of the x
    is at most R: the whole is ApproxDP(R + 2 sqrt(R log(1/delta)), delta).

    Idea: the filter for zCDP (see composition.py), then fact 3. Loose: as zcdp_is_approximate_dp.
    """
    x, budget = symbols("x R", nonnegative=True)
    claim = dp.ApproxDP(budget + 2 * sqrt(budget * log(1 / delta)), delta)
    return dp.check(dp.filtered(dp.ZCDP(x), x, budget), claim, where=SMALL)


# -- 6. What can not be left out


@refuted(source="a slip: the deviation without log(1/delta), and no mean")
def root_of_k_is_enough():
    """False: k of PureDP(eps) are ApproxDP(sqrt(k) eps, delta) for every delta.

    Idea: as delta goes to 0 this would be pure, and the largest loss is k eps.
    """
    return dp.check(many, dp.ApproxDP(sqrt(k) * epsilon, delta), where=SMALL)


@refuted(source="a slip: the second term is of a smaller order, and forgotten")
def advanced_composition_without_the_mean():
    """False: k mechanisms with PureDP(eps) are ApproxDP(eps sqrt(2 k log(1/delta)), delta).

    Idea: as k or eps grows the mean, about k eps tanh(eps/2), overtakes any multiple of
    eps sqrt(k).
    """
    return dp.check(many, dp.ApproxDP(DEVIATION, delta), where=SMALL)


@refuted(source="the next smaller bound after the optimal one of Kairouz, Oh and Viswanath (2015)")
def two_mechanisms_have_less_than_the_optimal_delta():
    """False: two mechanisms with PureDP(eps) are
    ApproxDP(0, 99/100 (e^(2 eps) - 1)/(1 + e^eps)^2).

    Idea: two randomized responses have the total variation distance without the factor 99/100.
    """
    least = Rational(99, 100) * (exp(2 * epsilon) - 1) / (1 + exp(epsilon)) ** 2
    return dp.check(dp.repeat(dp.PureDP(epsilon), 2), dp.ApproxDP(0, least))
