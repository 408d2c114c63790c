"""Everything in the library has a strategy, and what it shrinks to can be read at a glance."""

from __future__ import annotations

import pytest
import sympy as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dpsym as dp
from dpsym import testing
from dpsym.combinators import SUBJECTS, Composition
from dpsym.guarantees import NOTIONS, Both
from dpsym.mechanisms import MECHANISMS
from dpsym.mechanisms.noise import NOISES, Noise
from dpsym.mechanisms.values import POSITIVE
from dpsym.testing import register, simplest, strategy_for
from dpsym.testing.bounds import BOUNDED
from dpsym.testing.registry import COMBINATORS, STRATEGIES
from dpsym.testing.substituting import symbols_in

SIMPLEST = {
    "AdditiveNoise": "AdditiveNoise(noise=Laplace(scale=1), sensitivity=1)",
    "ApproxDP": "ApproxDP(0, 0)",
    "Binomial": "Binomial(trials=1, probability=0)",
    "BoundedRange": "BoundedRange(0)",
    "Cauchy": "Cauchy(scale=1)",
    "ClampedGeometric": "ClampedGeometric(scale=1, low=0, high=1, answer=0, sensitivity=1)",
    "Density": "Density(expr=exp(-Abs(x))/2, variable=x)",
    "DensityPair": "DensityPair(p=exp(-x), q=exp(-x), variable=x, support=Interval(0, oo))",
    "DiscreteGaussian": "DiscreteGaussian(sigma=1)",
    "Exponential": "Exponential(scale=1)",
    "ExponentialMechanism": "ExponentialMechanism(scores=((0, 0), (0, 0)), epsilon=0, "
    "sensitivity=1, monotone=False)",
    "GDP": "GDP(1)",
    "Gaussian": "Gaussian(sigma=1)",
    "GaussianPair": "GaussianPair(mean1=0, sigma1=1, mean2=0, sigma2=1)",
    "GeneralizedCauchy": "GeneralizedCauchy(exponent=2, scale=1)",
    "Geometric": "Geometric(scale=1)",
    "Gumbel": "Gumbel(scale=1)",
    "Laplace": "Laplace(scale=1)",
    "Logistic": "Logistic(scale=1)",
    "Masses": "Masses(expr=1/(3*2**Abs(k)), variable=k)",
    "Mixture": "Mixture(weights=(1, 0), components=(Laplace(scale=1), Laplace(scale=1)))",
    "MomentBound": "MomentBound(lambda L: L, 0)",
    "PMFPair": "PMFPair(p=1/(2*2**k), q=1/(2*2**k), variable=k, support=Interval(0, oo))",
    "PermuteAndFlip": "PermuteAndFlip(scores=((0, 0), (0, 0)), epsilon=0, sensitivity=1, "
    "monotone=False)",
    "Poisson": "Poisson(mean=1)",
    "ProbabilisticDP": "ProbabilisticDP(0, 0)",
    "PureDP": "PureDP(0)",
    "RandomizedResponse": "RandomizedResponse(epsilon=0, categories=2)",
    "RenyiDP": "RenyiDP(1, 0)",
    "ReportNoisyMax": "ReportNoisyMax(scores=((0, 0), (0, 0)), noise=Laplace(scale=1), "
    "sensitivity=1, monotone=False)",
    "RoundedLaplace": "RoundedLaplace(scale=1)",
    "Shifted": "Shifted(noise=Laplace(scale=1), by=0)",
    "Skellam": "Skellam(variance=1)",
    "Staircase": "Staircase(epsilon=1, gamma=0)",
    "StudentT": "StudentT(degrees=1, scale=1)",
    "TCDP": "TCDP(0, 2)",
    "Table": "Table([[0, 1], [0, 1]])",
    "Triangular": "Triangular(half_width=1)",
    "TruncatedGeometric": "TruncatedGeometric(scale=1, bound=1)",
    "TruncatedLaplace": "TruncatedLaplace(scale=1, bound=1)",
    "UnaryEncoding": "UnaryEncoding(keep=0, flip=0)",
    "Uniform": "Uniform(half_width=1)",
    "VectorGaussian": "VectorGaussian(sigma=1, l2_sensitivity=1)",
    "VectorLaplace": "VectorLaplace(scale=1, l1_sensitivity=1)",
    "ZCDP": "ZCDP(0)",
    "both": "both(PureDP(0), PureDP(0))",
    "compose": "compose(PureDP(0), PureDP(0))",
    "filtered": "filtered(PureDP(x), x, 1)",
    "group": "group(PureDP(0), 1)",
    "parallel": "parallel(PureDP(0))",
    "postprocess": "postprocess(PureDP(0))",
    "repeat": "repeat(PureDP(0), 1)",
    "subsample": "subsample(PureDP(0), 0, method='poisson')",
}
LIBRARY = {
    name
    for names in (NOTIONS, NOISES, MECHANISMS)
    for name, kind in names.items()
    if kind.__module__.startswith("dpsym.")
}


def test_everything_has_a_strategy():
    assert set(SIMPLEST) == LIBRARY | set(COMBINATORS)
    for name in SIMPLEST:
        assert strategy_for(name) is not None
    assert set(STRATEGIES) <= set(SIMPLEST)


def test_every_notion_has_a_lower_bound_or_is_the_users_own():
    assert set(BOUNDED) == {name for name in NOTIONS if NOTIONS[name].__module__ != __name__} - {
        "MomentBound"
    }


def test_every_combinator_is_there():
    made = {kind.__name__ for kind in SUBJECTS} - {"Guarantee", "Both", "Mechanism"}
    assert len(made) + 1 == len(COMBINATORS)  # both makes a guarantee
    assert all(hasattr(dp, name) for name in COMBINATORS)


@pytest.mark.parametrize("name", sorted(SIMPLEST))
def test_what_it_shrinks_to(name):
    assert repr(simplest(strategy_for(name), examples=10)) == SIMPLEST[name]


@given(testing.subjects())
@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_subjects_are_subjects_at_exact_numbers(subject):
    assert isinstance(subject, SUBJECTS)
    assert all(name.name == "x" for name in symbols_in(subject))  # of a filter
    parts = subject.parts if isinstance(subject, Composition) else (subject,)
    assert parts
    assert not any(expr.atoms(sp.Float) for _, expr in subject.parameters())


@given(testing.tables(3, st.integers(2, 5)))
@settings(max_examples=30)
def test_tables_are_of_exact_probabilities(table):
    assert len(table.matrix) == 3
    for row in table.matrix:
        assert sum(row) == 1 and all(x.is_Rational and x >= 0 for x in row)


def test_false_claims_shrink_to_small_instances():
    """Composition is not the larger of two epsilons."""
    pairs = st.tuples(testing.guarantees("PureDP"), testing.guarantees("PureDP"))
    found = simplest(
        pairs,
        lambda pair: pair[0].epsilon + pair[1].epsilon > max(pair[0].epsilon, pair[1].epsilon),
    )
    assert repr(found) == "(PureDP(1), PureDP(1))"
    table = simplest(testing.tables(), lambda table: 0 not in table.matrix[0])
    assert repr(table) == "Table([[1/2, 1/2], [0, 1]])"


def test_a_kind_of_ones_own():
    class Secant(Noise):
        fields = ("scale",)
        domains = {"scale": POSITIVE}
        title, source = "Hyperbolic secant noise", "its density"

        def __init__(self, scale):
            self._take(scale=scale)

        def at(self, x):
            return 1 / (2 * self.scale * sp.cosh(sp.pi * x / (2 * self.scale)))

    try:
        assert repr(simplest(strategy_for(Secant))) == "Secant(scale=1)"  # from its domains
        register(Secant, lambda: st.just(Secant(7)))
        assert repr(simplest(strategy_for(Secant))) == "Secant(scale=7)"
        assert repr(simplest(testing.noises(Secant))) == "Secant(scale=7)"
    finally:
        del NOISES["Secant"]
        STRATEGIES.pop("Secant", None)


def test_unknown_kinds_are_refused():
    with pytest.raises(dp.InputError, match="a notion, noise, mechanism or combinator"):
        register("nothing")
    with pytest.raises(dp.InputError, match=r"kind: expected one of AdditiveNoise, "):
        strategy_for("nothing")
    with pytest.raises(dp.InputError, match="one that some of 20 examples satisfy"):
        simplest(testing.guarantees("PureDP"), lambda claim: claim.epsilon < 0, examples=20)


def test_both_has_several_guarantees():
    assert isinstance(simplest(strategy_for("both")), Both)
