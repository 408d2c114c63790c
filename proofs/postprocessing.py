"""Post-processing: what is done with an output, without looking at the data, costs nothing.

The output of a mechanism is sent through a map that may be random and does not see the data. P and
Q are the distributions before, P' and Q' those after. Each output of the second pair has a density
that is an average of densities of the first, p' = E[p] and q' = E[q], with the same weights for
both.

A guarantee that bounds an integral of a convex function phi(p, q) with phi(c p, c q) = c phi(p, q)
is kept: by Jensen's inequality phi(E[p], E[q]) <= E[phi(p, q)]. So all that has to be shown is that
phi is convex. Probabilistic differential privacy, P(L > eps) <= delta with L = log(p/q), bounds the
integral of a function that jumps, and is lost.

The notions are those of composition.py: PureDP(eps) is p <= e^eps q; ApproxDP(eps, delta) has phi =
(p - e^eps q)_+; RenyiDP(alpha, eps) has p^alpha q^(1 - alpha), above order 1, its negative below,
and p log(p/q) at order 1.
"""

from sympy import exp, oo, symbols

import dpsym as dp
from dpsym.scripts import proved, refuted

epsilon, epsilon1, epsilon2, delta = symbols("epsilon epsilon1 epsilon2 delta", nonnegative=True)
alpha, rho, c = symbols("alpha rho c", positive=True)


def keeps(guarantee, *where):
    """Post-processing keeps this guarantee."""
    return dp.check(dp.postprocess(guarantee), guarantee, where=where)


@proved(source="Dwork and Roth (2014), Proposition 2.1, with delta = 0")
def post_processing_keeps_pure_dp():
    """PureDP(eps) is kept.

    Idea: p <= e^eps q at every output before gives E[p] <= e^eps E[q]. Exact: the map may leave the
    output as it is.
    """
    return keeps(dp.PureDP(epsilon))


@proved(source="Dwork and Roth (2014), Proposition 2.1")
def post_processing_keeps_approximate_dp():
    """ApproxDP(eps, delta) is kept.

    Idea: (p - e^eps q)_+ is convex, as the larger of two linear functions. Exact: the map may leave
    the output as it is.
    """
    return keeps(dp.ApproxDP(epsilon, delta))


@proved(source="van Erven and Harremoes (2014), Theorem 9, the data processing inequality")
def post_processing_keeps_renyi_dp():
    """RenyiDP(alpha, eps) is kept, at orders above 1, below 1, at 1 and at oo.

    Idea: q f(p/q) is convex when f is, and t^alpha, -t^alpha for alpha < 1 and t log t are. Exact:
    the map may leave the output as it is.
    """
    known = dp.RenyiDP(alpha, epsilon)
    return [
        keeps(known, alpha > 1),
        keeps(known, alpha < 1),
        keeps(dp.RenyiDP(1, epsilon)),
        keeps(dp.RenyiDP(oo, epsilon)),
    ]


@proved(source="Bun and Steinke (2016), Lemma 1.7; Dong, Roth and Su (2022), Proposition 2.5")
def post_processing_keeps_families():
    """ZCDP(rho), TCDP(rho, omega) and GDP(mu) are kept.

    Idea: Renyi differential privacy at each order by itself, and for GDP, with the hockey-stick
    divergence of two Gaussians as delta, approximate differential privacy at each real epsilon.
    Exact: the map may leave the output as it is.
    """
    mu, omega = symbols("mu omega", positive=True)
    return [keeps(dp.ZCDP(rho)), keeps(dp.TCDP(rho, omega), omega > 1), keeps(dp.GDP(mu))]


@proved(source="Csiszar (1967), for every convex function of the likelihood ratio")
def post_processing_keeps_moments():
    """Bounds on E[e^L] and E[e^(2 L)] are kept.

    Idea: a moment E[h(L)] is the integral of q f(p/q) with f(t) = t h(log t), which is t^2 and t^3
    here: convex. Exact: the map may leave the output as it is.
    """
    return [
        keeps(dp.MomentBound(lambda L: exp(L), c)),
        keeps(dp.MomentBound(lambda L: exp(2 * L), c)),
    ]


@proved(source="Dwork and Roth (2014), Proposition 2.1 and Theorem 3.16")
def post_processed_stages_compose():
    """A stage whose output is post-processed counts as the stage itself: with PureDP(eps1), after
    post-processing, and PureDP(eps2), the whole is PureDP(eps1 + eps2).

    Idea: post-process first, then compose. Exact: the map may leave the output as it is.
    """
    total = dp.compose(dp.postprocess(dp.PureDP(epsilon1)), dp.PureDP(epsilon2))
    return dp.check(total, dp.PureDP(epsilon1 + epsilon2))


@proved(source="Dwork and Roth (2014), Proposition 2.1, with a weaker guarantee")
def post_processing_and_conversion():
    """After post-processing, PureDP(eps) is RenyiDP(alpha, eps) for alpha > 1.

    Idea: post-process, then convert. Loose: as the conversion; the exact value is that of
    randomized response.
    """
    claim = dp.RenyiDP(alpha, epsilon)
    return dp.check(dp.postprocess(dp.PureDP(epsilon)), claim, where=[alpha > 1])


@refuted(source="Meiser (2018), Approximate and Probabilistic Differential Privacy Definitions")
def post_processing_keeps_probabilistic_dp():
    """False: ProbabilisticDP(eps, delta) is kept.

    Idea: an output with a large loss and a small probability is merged with one whose loss is just
    below eps; together they have a loss above eps, and a probability far above delta.
    """
    return keeps(dp.ProbabilisticDP(epsilon, delta))


@refuted(source="a slip: as if averages made likelihood ratios smaller by a fixed amount")
def post_processing_improves_pure_dp():
    """False: after post-processing, PureDP(eps) is PureDP(eps/2).

    Idea: the map that leaves the output as it is.
    """
    return dp.check(dp.postprocess(dp.PureDP(epsilon)), dp.PureDP(epsilon / 2))
