"""False claims about moments of explicit mechanisms get events, also near misses.

The exact values are closed forms: Mironov 2017 (Renyi of Gaussian, Laplace and randomised
response), Balle and Wang 2018 (Gaussian hockey stick), and plain sums.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable

import pytest
import sympy as sp
from mpmath import mp, mpf
from sympy import Abs, Piecewise, Rational, cosh, erfc, exp, log, pi, sqrt

import dpsym as dp
from dpsym import noise
from dpsym.claims import read_claim
from dpsym.events import Event
from dpsym.kernel.sequents import context
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term
from dpsym.refutations import Refutation
from dpsym.search.refutation import describe, refute_statement, script
from dpsym.search.refutation.measures import exceeded

BUDGET = 25.0
LESS = 1 - Rational(1, 10**6)
x = sp.Symbol("x", real=True)
alpha, b, delta, Delta, epsilon, sigma = sp.symbols(
    "alpha b delta Delta epsilon sigma", positive=True
)
k = sp.Symbol("k", integer=True, positive=True)


def gaussian(scale: object = sigma, sensitivity: object = Delta) -> dp.AdditiveNoise:
    return dp.AdditiveNoise(noise.Gaussian(sigma=scale), sensitivity)


def laplace(scale: object = b, sensitivity: object = Delta) -> dp.AdditiveNoise:
    return dp.AdditiveNoise(noise.Laplace(scale=scale), sensitivity)


def upper(t: sp.Expr) -> sp.Expr:
    """P(Z > t) of a standard normal variable."""
    return erfc(t / sqrt(2)) / 2


def stick(mu: sp.Expr, eps: sp.Expr) -> sp.Expr:
    return upper(eps / mu - mu / 2) - exp(eps) * upper(eps / mu + mu / 2)


def positive(term: Term, facts: tuple[Fact, ...]) -> str | None:
    return ">" if context(facts).evident(Fact(term, ">")) else None


def find(subject, claim, where=(), seconds: float = BUDGET) -> Refutation | None:
    goal = read_claim(subject, claim, where, positive)
    return refute_statement(goal.statement, seconds)


def refuted(subject, claim, where=()) -> tuple[Refutation, str]:
    """The refutation, recomputed by its script, and its text."""
    found = find(subject, claim, where)
    assert found is not None
    text = describe(found)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(script(found), {})
    assert printed.getvalue().strip().endswith("True"), printed.getvalue()
    return found, text


def lower(found: Refutation) -> mpf:
    value, _ = exceeded(found)
    assert value.low is not None
    return mpf(int(value.low.p)) / int(value.low.q)


uniform = noise.Uniform(half_width=b)
RENYI_LAPLACE = log(
    alpha / (2 * alpha - 1) * exp((alpha - 1) * Delta / b)
    + (alpha - 1) / (2 * alpha - 1) * exp(-alpha * Delta / b)
) / (alpha - 1)
RESPONSE = log(
    (exp(2 * epsilon) + exp(-epsilon) + k - 2) / (exp(epsilon) + k - 1)
)  # order 2: p^2/q over all outcomes

# subject, the least true claim by its tightest argument, what is assumed
TIGHT: dict[str, tuple[object, Callable[[sp.Expr], object], sp.Expr, list]] = {
    "gaussian renyi": (
        gaussian(),
        lambda c: dp.RenyiDP(alpha, c),
        alpha * Delta**2 / (2 * sigma**2),
        [alpha > 1],
    ),
    "gaussian below one": (
        gaussian(),
        lambda c: dp.RenyiDP(Rational(1, 2), c),
        Delta**2 / (4 * sigma**2),
        [],
    ),
    "gaussian kl": (gaussian(), lambda c: dp.RenyiDP(1, c), Delta**2 / (2 * sigma**2), []),
    "gaussian zcdp": (gaussian(), dp.ZCDP, Delta**2 / (2 * sigma**2), []),
    "gaussian delta": (
        gaussian(),
        lambda c: dp.ApproxDP(epsilon, c),
        stick(Delta / sigma, epsilon),
        [epsilon < 20],
    ),
    "gaussian probability": (
        gaussian(),
        lambda c: dp.ProbabilisticDP(epsilon, c),
        upper(epsilon * sigma / Delta - Delta / (2 * sigma)),
        [epsilon < 20],
    ),
    "laplace delta": (
        laplace(),
        lambda c: dp.ApproxDP(epsilon, c),
        1 - exp((epsilon - Delta / b) / 2),
        [epsilon < Delta / b],
    ),
    "laplace renyi": (laplace(), lambda c: dp.RenyiDP(alpha, c), RENYI_LAPLACE, [alpha > 1]),
    "laplace range": (laplace(), dp.BoundedRange, 2 * Delta / b, []),
    "uniform": (
        dp.AdditiveNoise(uniform, Delta),
        lambda c: dp.ApproxDP(epsilon, c),
        Delta / (2 * b),
        [Delta <= b],
    ),
    "geometric delta": (
        dp.AdditiveNoise(noise.Geometric(b), 1),
        lambda c: dp.ApproxDP(epsilon, c),
        (1 - exp(epsilon - 1 / b)) / (1 + exp(-1 / b)),
        [epsilon < 1 / b],
    ),
    "discrete gaussian": (
        dp.AdditiveNoise(noise.DiscreteGaussian(sigma), 1),
        lambda c: dp.RenyiDP(2, c),
        1 / sigma**2,
        [],
    ),
    "responses": (
        dp.RandomizedResponse(epsilon, categories=k),
        lambda c: dp.RenyiDP(2, c),
        RESPONSE,
        [k >= 2],
    ),
    "two laplace outputs": (dp.compose(laplace(), laplace()), dp.PureDP, 2 * Delta / b, []),
    "two gaussians": (
        dp.compose(gaussian(), gaussian()),
        lambda c: dp.RenyiDP(alpha, c),
        alpha * Delta**2 / sigma**2,
        [alpha > 1],
    ),
    "two gaussians, kl": (
        dp.compose(gaussian(1, 1), gaussian(2, 1)),
        lambda c: dp.RenyiDP(1, c),
        Rational(5, 8),
        [],
    ),
}


@pytest.mark.parametrize(("subject", "claim", "tight", "where"), TIGHT.values(), ids=TIGHT)
def test_near_misses(subject, claim, tight: sp.Expr, where: list) -> None:
    _, text = refuted(subject, claim(tight * LESS), where)
    assert " > " in text


@pytest.mark.parametrize(("subject", "claim", "tight", "where"), TIGHT.values(), ids=TIGHT)
def test_tight_claims_stand(subject, claim, tight: sp.Expr, where: list) -> None:
    assert find(subject, claim(tight), where, 1.0) is None


def test_large_epsilon_and_small_delta() -> None:
    mp.dps = 40

    def true(mu: mpf, eps: int) -> mpf:
        return mp.ncdf(mu / 2 - eps / mu) - mp.exp(eps) * mp.ncdf(-mu / 2 - eps / mu)

    for mu, eps, claimed in ((1, 6, 1e-10), (2, 10, 1e-6), (Rational(1, 3), 3, 1e-30)):
        found, _ = refuted(gaussian(1 / sp.Rational(mu), 1), dp.ApproxDP(eps, claimed))
        exact = true(mpf(mu.p) / mu.q if isinstance(mu, Rational) else mpf(mu), eps)
        assert abs(lower(found) / exact - 1) < mpf(10) ** -18


@pytest.mark.parametrize(
    ("constant", "where"),
    [
        (Rational(5, 4), []),  # Dwork and Roth 2014, Theorem A.1, for every epsilon
        (1, [epsilon <= 1]),  # without the 5/4: fails for delta near 1 alone
        (2, []),
        (2, [delta <= Rational(1, 10**5)]),  # then epsilon has to be above 10
        (Rational(5, 4), [delta <= Rational(1, 10**5), epsilon <= 9]),  # above 8.41
    ],
)
def test_classical_gaussian_formulas(constant: object, where: list) -> None:
    scale = sqrt(2 * log(constant / delta)) * Delta / epsilon
    refuted(gaussian(scale), dp.ApproxDP(epsilon, delta), [delta < 1, *where])


@pytest.mark.parametrize("limit", [1, Rational(9, 5)])
def test_the_classical_formula_stands_where_it_is_true(limit: object) -> None:
    scale = sqrt(2 * log(Rational(5, 4) / delta)) * Delta / epsilon
    where = [delta < 1, epsilon <= limit]
    assert find(gaussian(scale), dp.ApproxDP(epsilon, delta), where, 4.0) is None


def test_truncated_laplace() -> None:
    """At 1/scale times log(1/delta): fails where epsilon is large or delta is not small."""
    cut = noise.TruncatedLaplace(Delta / epsilon, Delta / epsilon * log(1 / delta))
    claim = dp.ApproxDP(epsilon, delta)
    refuted(dp.AdditiveNoise(cut, Delta), claim, [delta < Rational(1, 2)])


def test_infinite_divergences() -> None:
    _, text = refuted(dp.AdditiveNoise(uniform, Delta), dp.RenyiDP(2, epsilon), [Delta <= b])
    assert "is infinite" in text
    one_sided = noise.Density(Piecewise((exp(-x), x >= 0), (0, True)), x)
    found, _ = refuted(dp.AdditiveNoise(one_sided, 1), dp.ApproxDP(3, Rational(63, 100)))
    assert abs(lower(found) - (1 - mp.exp(-1))) < mpf(10) ** -15
    _, text = refuted(dp.AdditiveNoise(one_sided, 1), dp.BoundedRange(100))
    assert "is infinite" in text


def test_divergent_integrals() -> None:
    """Gaussians of standard deviations 1 and 1/2: infinite from order 4/3 on."""
    pair = dp.GaussianPair(0, 1, 0, Rational(1, 2))
    refuted(pair, dp.RenyiDP(2, 50))
    assert find(pair, dp.RenyiDP(30, 50)) is not None
    gumbel = dp.AdditiveNoise(noise.Gumbel(1), 1)
    assert find(gumbel, dp.RenyiDP(2, 1000)) is not None


def test_moments_of_the_users_own() -> None:
    found, _ = refuted(gaussian(1, 1), dp.MomentBound(lambda loss: exp(2 * loss), 20))
    assert abs(lower(found) - mp.exp(3)) < mpf(10) ** -15
    found, _ = refuted(laplace(1, 1), dp.MomentBound(lambda loss: loss**2, Rational(79, 100)))
    middle = mp.quad(lambda u: (1 - 2 * u) ** 2 * mp.exp(-u) / 2, [0, mpf(1) / 2, 1])
    atoms = mpf(1) / 2 + mp.exp(-1) / 2  # of the losses 1 and -1
    assert abs(lower(found) - (atoms + middle)) < mpf(10) ** -15


def test_a_bump_of_the_users_own() -> None:
    """Two normal bumps far from 0 and from each other."""
    bump = (exp(-((x - 100) ** 2) / 2) + 3 * exp(-((x + 50) ** 2) / 2)) / (4 * sqrt(2 * pi))
    found, _ = refuted(dp.AdditiveNoise(noise.Density(bump, x), 1), dp.RenyiDP(2, 1 * LESS))
    assert abs(lower(found) - 1) < mpf(10) ** -18
    assert find(dp.AdditiveNoise(noise.Density(bump, x), 1), dp.RenyiDP(2, 1), (), 1.0) is None


def test_a_density_that_is_none_refutes_nothing() -> None:
    double = noise.Density(exp(-Abs(x)), x)
    assert find(dp.AdditiveNoise(double, 1), dp.ApproxDP(0, Rational(1, 2)), (), 1.0) is None


def test_smaller_shifts() -> None:
    """Tents at -2 and 2 on a floor: moved by the whole sensitivity 4, one covers the other."""
    wave = 1 + sp.Max(0, 1 - Abs(Abs(x) - 2)) * 4
    density = Piecewise((wave / 18, Abs(x) <= 5), (0, True))
    found, text = refuted(
        dp.AdditiveNoise(noise.Density(density, x), 4), dp.ApproxDP(1, Rational(3, 10))
    )
    assert isinstance(found.witness, Event)
    assert "t = " in text


def test_compositions_of_tables() -> None:
    response = dp.RandomizedResponse(1)
    found, text = refuted(dp.compose(response, response), dp.ApproxDP(1, Rational(1, 10)))
    p = 1 / (1 + mp.exp(-1))
    assert abs(lower(found) - (p**2 - mp.e * (1 - p) ** 2)) < mpf(10) ** -30
    assert "each of the stages 1 to 2" in text
    many = dp.compose(*[dp.RandomizedResponse(Rational(11, 20))] * 100)
    found, _ = refuted(many, dp.ApproxDP(10, Rational(1, 2)))
    keep = 1 / (1 + mp.exp(-mpf(11) / 20))
    exact = sum(
        mp.binomial(100, i)
        * max(
            keep**i * (1 - keep) ** (100 - i) - mp.exp(10) * keep ** (100 - i) * (1 - keep) ** i, 0
        )
        for i in range(101)
    )
    assert abs(lower(found) / exact - 1) < mpf(10) ** -25
    refuted(many, dp.PureDP(Rational(54)))
    refuted(many, dp.BoundedRange(Rational(109)))
    refuted(many, dp.ZCDP(Rational(14)))


def test_compositions_of_densities() -> None:
    """Gaussian shifts add up to one by a root; the intervals lose little of it."""
    for stages, share in ((2, Rational(99, 100)), (3, Rational(95, 100))):
        mechanism = dp.compose(*[gaussian(1, 1)] * stages)
        exact = stick(sqrt(stages), sp.Integer(1))
        found, text = refuted(mechanism, dp.ApproxDP(1, exact * share))
        assert lower(found) < mpf(str(sp.N(exact, 30)))
        assert "of the joint masses of these outputs" in text
        assert find(mechanism, dp.ApproxDP(1, exact), (), 2.0) is None
    mixed = dp.compose(
        laplace(1, 1), dp.RandomizedResponse(1), dp.AdditiveNoise(noise.Geometric(1), 1)
    )
    refuted(mixed, dp.ApproxDP(1, Rational(3, 10)))


def test_exact_values_of_tables_are_shown() -> None:
    table = dp.Table([[Rational(15, 16), Rational(1, 16)], [Rational(3, 16), Rational(13, 16)]])
    _, text = refuted(table, dp.ApproxDP(log(3), Rational(3, 5)))
    assert "5/8 = 0.625 > 0.6" in text
    _, text = refuted(table, dp.ProbabilisticDP(log(4), Rational(3, 5)))
    assert "15/16" in text or "13/16" in text


def test_wrong_formulas() -> None:
    """A slip in each: sigma for its square, a factor in the Laplace profile, the sensitivity."""
    refuted(gaussian(), dp.RenyiDP(alpha, alpha * Delta**2 / (2 * sigma)), [alpha > 1])
    profile = (1 - exp(epsilon - Delta / b)) / 2
    refuted(laplace(), dp.ApproxDP(epsilon, profile), [epsilon < Delta / b])
    slip = log(cosh(Delta / b)) / 2
    refuted(laplace(), dp.RenyiDP(2, slip), [])


def test_a_family_is_refuted_for_a_table_with_a_zero() -> None:
    """All is lost in one direction, so that no normal pair is as bad."""
    table = dp.Table([[1, 0], [sp.Rational(1, 2), sp.Rational(1, 2)]])
    for claim in (dp.GDP(sp.Rational(11, 10)), dp.GDP(2), dp.ZCDP(1)):
        assert isinstance(dp.check(table, claim, budget=5), dp.Refuted)
