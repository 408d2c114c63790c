"""The three composition theorems: pure, approximate and Renyi differential privacy.

A mechanism is run on one of two neighbouring inputs; P and Q are its output distributions, p and q
their densities, and L = log(p/q) under P is the privacy loss. A composition runs several mechanisms
one after the other. It is adaptive: each may depend on the outputs of the earlier ones, and has its
guarantee for every fixed value of them. All guarantees hold for (P, Q) and for (Q, P).

The proofs are pointwise. With the earlier outputs held fixed, the densities of a composition are
products p1 p2 and q1 q2, and

* pure:         p1 <= e^eps1 q1 and p2 <= e^eps2 q2 give p1 p2 <= e^(eps1 + eps2) q1 q2;
* approximate:  (p1 p2 - e^(eps1 + eps2) q1 q2)_+
                <= (p1 - e^eps1 q1)_+ p2 + min(p1, e^eps1 q1) (p2 - e^eps2 q2)_+,
                which integrates to delta1 + delta2 (1 - delta1), at most delta1 + delta2;
* Renyi:        (p1 p2)^alpha (q1 q2)^(1 - alpha) is a product, so its logarithm adds.

Sources: Dwork and Roth (2014), The Algorithmic Foundations of Differential Privacy, Theorem 3.16
and Corollary 3.15; Mironov (2017), Renyi Differential Privacy, Proposition 1; Bun and Steinke
(2016), Concentrated Differential Privacy, Lemma 2.3. The multipliers, and every step below these
lines, are found by dpsym and checked by its kernel.
"""

from sympy import Max, exp, oo, sqrt, symbols

import dpsym as dp
from dpsym.scripts import proved, refuted

epsilon, epsilon1, epsilon2 = symbols("epsilon epsilon1 epsilon2", nonnegative=True)
delta, delta1, delta2 = symbols("delta delta1 delta2", nonnegative=True)
alpha = symbols("alpha", positive=True)
rho1, rho2 = symbols("rho1 rho2", nonnegative=True)
c, c1, c2 = symbols("c c1 c2", positive=True)

STAGES = (2, 3, 5)


def numbered(name, count):
    """The symbols name1, ..., name<count>, nonnegative."""
    return symbols(f"{name}1:{count + 1}", nonnegative=True)


# -- 1. Pure differential privacy


@proved(source="Dwork and Roth (2014), Corollary 3.15")
def pure_dp_composes():
    """Epsilons add, for 2, 3 and 5 stages with parameters of their own."""
    verdicts = []
    for count in STAGES:
        eps = numbered("epsilon", count)
        total = dp.compose(*(dp.PureDP(e) for e in eps))
        verdicts.append(dp.check(total, dp.PureDP(sum(eps))))
    return verdicts


@refuted
def pure_epsilons_add_in_squares():
    """False: sqrt(epsilon1^2 + epsilon2^2) is too small."""
    total = dp.compose(dp.PureDP(epsilon1), dp.PureDP(epsilon2))
    return dp.check(total, dp.PureDP(sqrt(epsilon1**2 + epsilon2**2)))


# -- 2. Approximate differential privacy


@proved(source="Dwork and Roth (2014), Theorem 3.16")
def approximate_dp_composes():
    """Epsilons add and deltas add, for 2, 3 and 5 stages with parameters of their own."""
    verdicts = []
    for count in STAGES:
        eps, deltas = numbered("epsilon", count), numbered("delta", count)
        stages = [dp.ApproxDP(e, d) for e, d in zip(eps, deltas, strict=True)]
        verdicts.append(dp.check(dp.compose(*stages), dp.ApproxDP(sum(eps), sum(deltas))))
    return verdicts


@proved
def approximate_dp_composes_sharply():
    """The delta of two stages is delta1 + delta2 - delta1 delta2."""
    total = dp.compose(dp.ApproxDP(epsilon1, delta1), dp.ApproxDP(epsilon2, delta2))
    claim = dp.ApproxDP(epsilon1 + epsilon2, delta1 + delta2 - delta1 * delta2)
    return dp.check(total, claim)


@proved
def pure_and_approximate_dp_compose():
    """A pure stage, first or last, leaves delta as it is."""
    pure, approximate = dp.PureDP(epsilon1), dp.ApproxDP(epsilon2, delta)
    claim = dp.ApproxDP(epsilon1 + epsilon2, delta)
    return [
        dp.check(dp.compose(pure, approximate), claim),
        dp.check(dp.compose(approximate, pure), claim),
    ]


@refuted
def approximate_dp_composes_to_the_larger():
    """False: (max(epsilon1, epsilon2), max(delta1, delta2))."""
    total = dp.compose(dp.ApproxDP(epsilon1, delta1), dp.ApproxDP(epsilon2, delta2))
    return dp.check(total, dp.ApproxDP(Max(epsilon1, epsilon2), Max(delta1, delta2)))


@refuted
def deltas_multiply():
    """False: (epsilon1 + epsilon2, delta1 delta2)."""
    total = dp.compose(dp.ApproxDP(epsilon1, delta1), dp.ApproxDP(epsilon2, delta2))
    return dp.check(total, dp.ApproxDP(epsilon1 + epsilon2, delta1 * delta2))


@refuted
def the_larger_delta_is_enough():
    """False: (epsilon1 + epsilon2, max(delta1, delta2))."""
    total = dp.compose(dp.ApproxDP(epsilon1, delta1), dp.ApproxDP(epsilon2, delta2))
    return dp.check(total, dp.ApproxDP(epsilon1 + epsilon2, Max(delta1, delta2)))


# -- 3. Renyi differential privacy


@proved(source="Mironov (2017), Proposition 1")
def renyi_dp_composes():
    """Epsilons add at the same order, for 2, 3 and 5 stages with parameters of their own."""
    verdicts = []
    for count in STAGES:
        eps = numbered("epsilon", count)
        total = dp.compose(*(dp.RenyiDP(alpha, e) for e in eps))
        verdicts.append(dp.check(total, dp.RenyiDP(alpha, sum(eps)), where=[alpha > 1]))
    return verdicts


@proved
def renyi_dp_composes_at_and_below_order_one():
    """The same at order 1, the expected loss, and at orders below 1."""
    at_one = dp.compose(dp.RenyiDP(1, epsilon1), dp.RenyiDP(1, epsilon2))
    below = dp.compose(dp.RenyiDP(alpha, epsilon1), dp.RenyiDP(alpha, epsilon2))
    return [
        dp.check(at_one, dp.RenyiDP(1, epsilon1 + epsilon2)),
        dp.check(below, dp.RenyiDP(alpha, epsilon1 + epsilon2), where=[alpha < 1]),
    ]


@proved
def pure_and_renyi_dp_compose():
    """A pure stage, first or last, adds its epsilon at every order."""
    pure, renyi = dp.PureDP(epsilon1), dp.RenyiDP(alpha, epsilon2)
    claim = dp.RenyiDP(alpha, epsilon1 + epsilon2)
    return [
        dp.check(dp.compose(pure, renyi), claim, where=[alpha > 1]),
        dp.check(dp.compose(renyi, pure), claim, where=[alpha > 1]),
    ]


@proved(source="Bun and Steinke (2016), Lemma 2.3")
def zcdp_composes():
    """Zero-concentrated differential privacy is Renyi's bound rho alpha at every order: it adds."""
    return dp.check(dp.compose(dp.ZCDP(rho1), dp.ZCDP(rho2)), dp.ZCDP(rho1 + rho2))


@proved
def pure_dp_is_renyi_dp_of_every_order():
    """With the same epsilon: above order 1, at it, and below; and order oo is pure DP itself."""
    pure = dp.PureDP(epsilon)
    return [
        dp.check(pure, dp.RenyiDP(alpha, epsilon), where=[alpha > 1]),
        dp.check(pure, dp.RenyiDP(1, epsilon)),
        dp.check(pure, dp.RenyiDP(alpha, epsilon), where=[alpha < 1]),
        dp.check(pure, dp.RenyiDP(oo, epsilon)),
        dp.check(dp.RenyiDP(oo, epsilon), pure),
    ]


@refuted
def renyi_dp_composes_to_the_larger():
    """False: the larger epsilon at the same order."""
    total = dp.compose(dp.RenyiDP(alpha, epsilon1), dp.RenyiDP(alpha, epsilon2))
    return dp.check(total, dp.RenyiDP(alpha, Max(epsilon1, epsilon2)), where=[alpha > 1])


# -- 4. What a bound on the moment says


def moment(bound):
    """E[e^((alpha - 1) L)] <= bound."""
    return dp.MomentBound(lambda L: exp((alpha - 1) * L), bound)


@proved
def moment_bounds_multiply():
    """Bounds c1 and c2 on E[e^((alpha - 1) L)] give c1 c2, at the same alpha."""
    return dp.check(dp.compose(moment(c1), moment(c2)), moment(c1 * c2), where=[alpha > 1])


@proved(source="Mironov (2017), Proposition 3, by Markov's inequality")
def a_moment_bound_gives_a_delta():
    """At a fixed epsilon, delta = c e^(-(alpha - 1) epsilon) ..."""
    claim = dp.ApproxDP(epsilon, c * exp(-(alpha - 1) * epsilon))
    return dp.check(moment(c), claim, where=[alpha > 1])


@proved
def alpha_stays_and_delta_grows():
    """... so that after a second stage with its c2 >= 1, alpha is the same and delta is larger."""
    before = c1 * exp(-(alpha - 1) * epsilon)
    after = c1 * c2 * exp(-(alpha - 1) * epsilon)
    composed = dp.compose(moment(c1), moment(c2))
    return [
        dp.check(composed, dp.ApproxDP(epsilon, after), where=[alpha > 1]),
        dp.check_inequality(before, after, where=[alpha > 1, c2 >= 1]),
    ]


# -- 5. What delta is not


@proved
def probabilistic_dp_is_approximate_dp():
    """If P(L > epsilon) <= delta then the hockey-stick divergence is at most delta."""
    return dp.check(dp.ProbabilisticDP(epsilon, delta), dp.ApproxDP(epsilon, delta))


@refuted
def delta_is_the_probability_that_epsilon_dp_fails():
    """False: the converse. P(L > epsilon) can be larger than the delta of approximate DP."""
    return dp.check(dp.ApproxDP(epsilon, delta), dp.ProbabilisticDP(epsilon, delta))


@refuted
def bounded_range_adds_adaptively():
    """False: the second stage can put its interval of losses where the first output wants it."""
    total = dp.compose(dp.BoundedRange(epsilon1), dp.BoundedRange(epsilon2))
    return dp.check(total, dp.BoundedRange(epsilon1 + epsilon2))
