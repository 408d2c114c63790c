"""Group privacy: what a guarantee for one record says of data sets that differ in k records.

Between data sets that differ in k records there are k steps, each between neighbours. Let P_0, P_1,
..., P_k be the output distributions along the way. A guarantee holds for each pair of P_(i-1) and
P_i, in both directions; what is asked for is a bound between P_0 and P_k. It is an inequality
between the k + 1 densities at one output; k may be a symbol, which stands for every whole number of
at least 1.

PureDP(eps) says p <= e^eps q, ApproxDP(eps, delta) that (p - e^eps q)_+ integrates to at most
delta, RenyiDP(alpha, eps) that p^alpha q^(1 - alpha) integrates to at most e^((alpha - 1) eps),
ZCDP(rho) that it does with eps = rho alpha for every alpha > 1, GDP(mu) that the pair is no easier
to tell apart than N(0, 1) and N(mu, 1). See composition.py for the notions.
"""

from sympy import Rational, exp, sqrt, symbols

import dpsym as dp
from dpsym.scripts import proved, refuted

epsilon, epsilon1, epsilon2 = symbols("epsilon epsilon1 epsilon2", nonnegative=True)
delta, rho = symbols("delta rho", nonnegative=True)
alpha, mu, b, e = symbols("alpha mu b e", positive=True)
k = symbols("k", integer=True, positive=True)


@proved(source="Dwork and Roth (2014), Theorem 2.2")
def pure_dp_for_groups():
    """PureDP(eps) is PureDP(k eps) for groups of k.

    Idea: p_0 <= e^eps p_1 <= e^(2 eps) p_2 <= ... Exact: Laplace noise and a sum over the records.
    """
    return dp.check(dp.group(dp.PureDP(epsilon), k), dp.PureDP(k * epsilon))


@proved(source="Vadhan (2017), Lemma 2.2, with the sum in place of its k e^(k eps)")
def approximate_dp_for_groups():
    """ApproxDP(e, delta) is ApproxDP(k e, (e^(k e) - 1)/(e^e - 1) delta) for groups of k; for two,
    the factor is 1 + e^e.

    Idea: (p_0 - e^(2 e) p_2)_+ <= (p_0 - e^e p_1)_+ + e^e (p_1 - e^e p_2)_+, and so on: the delta
    of a later step counts e^e times as much, and 1 + e^e + ... + e^((k - 1) e) is the quotient.
    Exact: an output with the probabilities 0, delta, delta + e^e delta, and so on, attains it.
    """
    two = dp.group(dp.ApproxDP(epsilon, delta), 2)
    many = dp.group(dp.ApproxDP(e, delta), k)
    factor = (exp(k * e) - 1) / (exp(e) - 1)
    return [
        dp.check(two, dp.ApproxDP(2 * epsilon, (1 + exp(epsilon)) * delta)),
        dp.check(many, dp.ApproxDP(k * e, factor * delta)),
    ]


@proved(source="Dwork and Roth (2014), after Theorem 2.2; Vadhan (2017), Lemma 2.2")
def approximate_dp_for_groups_as_in_textbooks():
    """ApproxDP(e, delta) is ApproxDP(k e, k e^((k - 1) e) delta) for groups of k.

    Idea: each of the k terms of 1 + e^e + ... + e^((k - 1) e) is at most the last one. Loose: by
    the sum above, which for small e is about k.
    """
    claim = dp.ApproxDP(k * e, k * exp((k - 1) * e) * delta)
    return dp.check(dp.group(dp.ApproxDP(e, delta), k), claim)


@proved(source="Mironov (2017), Proposition 11 and Corollary 4, the weak triangle inequality")
def renyi_divergences_along_two_steps():
    """RenyiDP(2 alpha, eps1) and RenyiDP(2 alpha - 1, eps2) at once are, for groups of 2,
    RenyiDP(alpha, (alpha - 1/2)/(alpha - 1) eps1 + eps2), for alpha > 1.

    Idea: the Cauchy-Schwarz inequality for p_0^alpha p_2^(1 - alpha) = (p_0^alpha p_1^(1/2 -
    alpha)) (p_1^(alpha - 1/2) p_2^(1 - alpha)), as 2 x y <= x^2/s + s y^2 with the best constant s.
    Loose: for Gaussian noise, with the divergence m alpha, it is 4 m alpha + m/(alpha - 1) in place
    of 4 m alpha.
    """
    both = dp.both(dp.RenyiDP(2 * alpha, epsilon1), dp.RenyiDP(2 * alpha - 1, epsilon2))
    bound = (alpha - Rational(1, 2)) / (alpha - 1) * epsilon1 + epsilon2
    return dp.check(dp.group(both, 2), dp.RenyiDP(alpha, bound), where=[alpha > 1])


@proved(source="Mironov (2017), Proposition 2, for c = 1, 2 and 3")
def renyi_dp_for_groups_of_powers_of_two():
    """RenyiDP(alpha, eps) with alpha >= 2^(c + 1) is RenyiDP(alpha/2^c, 3^c eps) for groups of 2^c.

    Idea: the two steps above halve the order, and (alpha - 1/2)/(alpha - 1) + 1 <= 3 for alpha >=
    2. Groups of four are two steps between groups of two. Loose: for Gaussian noise by a factor of
    3/2 for each doubling.
    """
    verdicts = []
    for c in (1, 2, 3):
        claim = dp.RenyiDP(alpha / 2**c, 3**c * epsilon)
        group = dp.group(dp.RenyiDP(alpha, epsilon), 2**c)
        verdicts.append(dp.check(group, claim, where=[alpha >= 2 ** (c + 1)]))
    return verdicts


@proved(source="Bun and Steinke (2016), Proposition 1.9")
def zcdp_for_groups():
    """ZCDP(rho) is ZCDP(k^2 rho) for groups of k.

    Idea: by Hoelder's inequality the orders of the steps may be chosen; with all of them known, the
    best choice gives k^2 rho. Exact: Gaussian noise, where the shift is k times as large.
    """
    return dp.check(dp.group(dp.ZCDP(rho), k), dp.ZCDP(k**2 * rho))


@proved(source="Dong, Roth and Su (2022), Theorem 2.14")
def gdp_for_groups():
    """GDP(mu) is GDP(k mu) for groups of k.

    Idea: each step is dominated by a Gaussian one, and shifts of the same normal law add. Exact.
    """
    return dp.check(dp.group(dp.GDP(mu), k), dp.GDP(k * mu))


@proved(source="Dwork and Roth (2014), Theorems 2.2 and 3.6")
def the_laplace_mechanism_for_groups():
    """Laplace noise with scale b on an answer with sensitivity 1 is PureDP(k/b) for groups of k.

    Idea: it is PureDP(1/b) for one record. Exact: a sum over the records attains it.
    """
    laplace = dp.AdditiveNoise(dp.noise.Laplace(b), sensitivity=1)
    return dp.check(dp.group(laplace, k), dp.PureDP(k / b))


@refuted(source="a slip: composition's square root")
def pure_dp_for_groups_grows_as_the_root():
    """False: PureDP(eps) is PureDP(sqrt(k) eps) for groups of k.

    Idea: the steps may all push in one direction; nothing is random about them.
    """
    return dp.check(dp.group(dp.PureDP(epsilon), k), dp.PureDP(sqrt(k) * epsilon))


@refuted(source="a slip: the factor 1 + e^eps left out")
def deltas_add_for_groups():
    """False: ApproxDP(eps, delta) is ApproxDP(k eps, k delta) for groups of k.

    Idea: what the second step adds is measured against e^eps p_1 and not p_1.
    """
    claim = dp.ApproxDP(k * epsilon, k * delta)
    return dp.check(dp.group(dp.ApproxDP(epsilon, delta), k), claim)


@refuted(source="a slip: composition's sum")
def zcdp_for_groups_grows_linearly():
    """False: ZCDP(rho) is ZCDP(k rho) for groups of k; here for rho = 1 and k = 2.

    Idea: rho is a squared shift.
    """
    return dp.check(dp.group(dp.ZCDP(1), 2), dp.ZCDP(2))


@refuted(source="the next smaller factor after renyi_dp_for_groups_of_powers_of_two")
def renyi_dp_for_two_has_twice_epsilon():
    """False: RenyiDP(alpha, eps) with alpha >= 4 is RenyiDP(alpha/2, 2 eps) for groups of 2.

    Idea: for Gaussian noise it holds, with twice the shift at half the order. Divergences of other
    mechanisms grow less with the order, so half of it takes less back.
    """
    claim = dp.RenyiDP(alpha / 2, 2 * epsilon)
    return dp.check(dp.group(dp.RenyiDP(alpha, epsilon), 2), claim, where=[alpha >= 4])
