"""Boxes of parameters: every value that mpmath finds for parameters inside is enclosed.

Divergences are integrated here between the kinks and the places where an integrand changes its
sign, or summed; nothing is shared with the package.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import mpmath as mp
import pytest
import sympy as sp

import dpsym as dp
from dpsym.mechanisms import noise
from tests.enclosures.test_enclosing import DELTA, EPSILON, RHO, R, number

x = sp.Symbol("x", real=True)
b, mu, nu, q, a = sp.symbols("b mu nu q alpha", positive=True)
e = sp.Symbol("e", nonnegative=True)
n = sp.Symbol("n", integer=True, positive=True)
DIGITS, SLACK = 30, mp.mpf(10) ** -12

Values = Mapping[str, mp.mpf]
Density = Callable[[mp.mpf], mp.mpf]


# --- divergences by mpmath ------------------------------------------------------------------------


def changes(f: Density, points: Sequence[mp.mpf]) -> list[mp.mpf]:
    """The points, and where f changes its sign between them."""
    grid = sorted({p + (r - p) * k / 40 for p, r in pairwise(points) for k in range(41)})
    out = list(points)
    for left, right in pairwise(grid):
        if f(left) * f(right) < 0:
            out.append(root(f, left, right))
    return sorted(out)


def root(f: Density, left: mp.mpf, right: mp.mpf) -> mp.mpf:
    """By halving."""
    below = f(left) < 0
    for _ in range(4 * DIGITS):
        middle = (left + right) / 2
        left, right = (middle, right) if (f(middle) < 0) == below else (left, middle)
    return left


def over(p: Density, r: Density, eps: mp.mpf, points: Sequence[mp.mpf]) -> mp.mpf:
    def gap(z: mp.mpf) -> mp.mpf:
        return p(z) - mp.exp(eps) * r(z)

    return mp.quad(lambda z: max(gap(z), 0), changes(gap, points))


def renyi(p: Density, r: Density, alpha: mp.mpf, points: Sequence[mp.mpf]) -> mp.mpf:
    if alpha == 1:
        return mp.quad(lambda z: p(z) * mp.log(p(z) / r(z)), points)
    return mp.log(mp.quad(lambda z: p(z) ** alpha * r(z) ** (1 - alpha), points)) / (alpha - 1)


def summed(p: Density, r: Density, eps: mp.mpf) -> mp.mpf:
    ks = range(-120, 121)
    return mp.fsum(max(p(mp.mpf(k)) - mp.exp(eps) * r(mp.mpf(k)), 0) for k in ks)


# --- densities ------------------------------------------------------------------------------------


def normal(z: mp.mpf, s: object = 1) -> mp.mpf:
    return mp.npdf(z, 0, s)


def laplace(z: mp.mpf, s: mp.mpf) -> mp.mpf:
    return mp.exp(-abs(z) / s) / (2 * s)


def logistic(z: mp.mpf, s: mp.mpf) -> mp.mpf:
    return mp.sech(z / (2 * s)) ** 2 / (4 * s)


def student(z: mp.mpf, df: mp.mpf, s: mp.mpf) -> mp.mpf:
    height = mp.gamma((df + 1) / 2) / (mp.gamma(df / 2) * mp.sqrt(df * mp.pi) * s)
    return height * (1 + (z / s) ** 2 / df) ** (-(df + 1) / 2)


def gumbel(z: mp.mpf, s: mp.mpf) -> mp.mpf:
    return mp.exp(-z / s - mp.exp(-z / s)) / s


def skellam(k: mp.mpf, variance: mp.mpf) -> mp.mpf:
    return mp.exp(-variance) * mp.besseli(abs(k), variance)


def geometric(k: mp.mpf, s: mp.mpf) -> mp.mpf:
    return mp.tanh(1 / (2 * s)) * mp.exp(-abs(k) / s)


def discrete(k: mp.mpf, s: mp.mpf) -> mp.mpf:
    return mp.exp(-(k**2) / (2 * s**2)) / mp.jtheta(3, 0, mp.exp(-1 / (2 * s**2)))


def hump(z: mp.mpf) -> mp.mpf:
    """Two Laplace humps."""
    return (mp.exp(-abs(z - 2)) + mp.exp(-abs(z + 2))) / 4


HUMPS = (sp.exp(-sp.Abs(x - 2)) + sp.exp(-sp.Abs(x + 2))) / 4
FAR = mp.mpf(60)


def between(*kinks: mp.mpf) -> list[mp.mpf]:
    inner = {mp.mpf(k) for k in (-20, -8, -3, 0, 3, 8, 20)} | set(kinks)
    return sorted({-FAR, FAR} | inner)


# --- cases ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    mechanism: dp.Mechanism
    claim: object
    value: Callable[[Values], mp.mpf]
    box: dict[sp.Symbol, tuple[object, object]]
    cells: int = 200


def location(kind: noise.Noise, shift: object = mu) -> dp.AdditiveNoise:
    return dp.AdditiveNoise(kind, shift)


def subsampled(rate: sp.Expr) -> dp.DensityPair:
    gauss = noise.Gaussian(sigma=1)
    return dp.DensityPair(noise.Mixture([1 - rate, rate], [gauss, noise.Shifted(gauss, 1)]), gauss)


def mixture(rate: mp.mpf) -> Density:
    return lambda z: (1 - rate) * normal(z) + rate * normal(z - 1)


CASES: dict[str, Case] = {
    "Gaussian, hockey-stick": Case(
        location(noise.Gaussian(sigma=b)),
        dp.ApproxDP(e, DELTA),
        lambda v: over(
            lambda z: normal(z, v["b"]), lambda z: normal(z - v["mu"], v["b"]), v["e"], between()
        ),
        {b: (1, 2), mu: (R(1, 2), 1), e: (0, 1)},
    ),
    "Gaussian, Rényi": Case(
        location(noise.Gaussian(sigma=b)),
        dp.RenyiDP(a, EPSILON),
        lambda v: v["alpha"] * v["mu"] ** 2 / (2 * v["b"] ** 2),
        {b: (1, 2), mu: (R(1, 2), 1), a: (R(1, 2), 3)},
    ),
    "Gaussian, rho": Case(
        location(noise.Gaussian(sigma=b)),
        dp.ZCDP(RHO),
        lambda v: v["mu"] ** 2 / (2 * v["b"] ** 2),
        {b: (1, 2), mu: (R(1, 2), 1)},
    ),
    "Laplace, hockey-stick": Case(
        location(noise.Laplace(b)),
        dp.ApproxDP(e, DELTA),
        lambda v: max(0, -mp.expm1((v["e"] - v["mu"] / v["b"]) / 2)),
        {b: (1, 2), mu: (R(1, 2), 2), e: (R(1, 4), R(1, 2))},
    ),
    "Laplace, pure": Case(
        location(noise.Laplace(b)),
        dp.PureDP(EPSILON),
        lambda v: v["mu"] / v["b"],
        {b: (1, 2), mu: (R(1, 2), 2)},
    ),
    "Laplace, KL": Case(
        location(noise.Laplace(b)),
        dp.RenyiDP(1, EPSILON),
        lambda v: v["mu"] / v["b"] + mp.expm1(-v["mu"] / v["b"]),
        {b: (1, 2), mu: (R(1, 2), 2)},
    ),
    "logistic, hockey-stick": Case(
        location(noise.Logistic(b)),
        dp.ApproxDP(e, DELTA),
        lambda v: over(
            lambda z: logistic(z, v["b"]),
            lambda z: logistic(z - v["mu"], v["b"]),
            v["e"],
            between(v["mu"]),
        ),
        {b: (1, 2), mu: (R(1, 2), 1), e: (0, R(1, 4))},
    ),
    "Student t, Rényi": Case(
        location(noise.StudentT(3, b)),
        dp.RenyiDP(2, EPSILON),
        lambda v: renyi(
            lambda z: student(z, mp.mpf(3), v["b"]),
            lambda z: student(z - v["mu"], mp.mpf(3), v["b"]),
            mp.mpf(2),
            [-mp.inf, *between(v["mu"])[1:-1], mp.inf],
        ),
        {b: (1, 2), mu: (R(1, 2), 1)},
    ),
    "Student t, degrees": Case(
        location(noise.StudentT(nu, 1), 1),
        dp.ApproxDP(R(1, 2), DELTA),
        lambda v: over(
            lambda z: student(z, v["nu"], mp.mpf(1)),
            lambda z: student(z - 1, v["nu"], mp.mpf(1)),
            mp.mpf("0.5"),
            between(mp.mpf(1)),
        ),
        {nu: (3, R(25, 8))},
        cells=8,
    ),
    "Gumbel, one way": Case(
        location(noise.Gumbel(b)),
        dp.ApproxDP(R(1, 4), DELTA, one_way=True),
        lambda v: max(
            over(
                lambda z: gumbel(z, v["b"]),
                lambda z, t=t: gumbel(z - t, v["b"]),
                mp.mpf("0.25"),
                sorted({*(k for k in between() if k > -6), mp.mpf(-6)}),
            )
            for t in (v["mu"], -v["mu"])
        ),
        {b: (1, R(5, 4)), mu: (R(1, 2), 1)},
    ),
    "scales of Gaussians": Case(
        dp.GaussianPair(0, b, 0, 2),
        dp.ApproxDP(R(1, 2), DELTA, one_way=True),
        lambda v: over(
            lambda z: normal(z, v["b"]), lambda z: normal(z, mp.mpf(2)), mp.mpf("0.5"), between()
        ),
        {b: (R(1, 2), 1)},
        cells=60,
    ),
    "scales of Gaussians, Rényi": Case(
        dp.GaussianPair(0, b, 0, 2),
        dp.RenyiDP(3, EPSILON, one_way=True),
        lambda v: renyi(
            lambda z: normal(z, v["b"]), lambda z: normal(z, mp.mpf(2)), mp.mpf(3), between()
        ),
        {b: (R(1, 2), 1)},
    ),
    "subsampled Gaussian": Case(
        subsampled(q),
        dp.ApproxDP(R(1, 10), DELTA, one_way=True),
        lambda v: over(mixture(v["q"]), normal, mp.mpf("0.1"), between()),
        {q: (R(1, 4), R(1, 2))},
        cells=60,
    ),
    "two humps": Case(
        location(noise.Density(HUMPS, x)),
        dp.ApproxDP(R(1, 2), DELTA),
        lambda v: max(
            over(
                hump,
                lambda z, t=t: hump(z - t),
                mp.mpf("0.5"),
                between(*(k + c for k in (mp.mpf(-2), mp.mpf(2)) for c in (0, t))),
            )
            for t in (v["mu"] / 2, v["mu"])
        ),
        {mu: (1, R(5, 4))},
        cells=6,
    ),
    "discrete Gaussian": Case(
        location(noise.DiscreteGaussian(b), n),
        dp.ApproxDP(R(1, 2), DELTA),
        lambda v: summed(
            lambda k: discrete(k, v["b"]), lambda k: discrete(k - v["n"], v["b"]), mp.mpf("0.5")
        ),
        {b: (1, R(3, 2)), n: (1, 3)},
        cells=60,
    ),
    "geometric": Case(
        location(noise.Geometric(b), n),
        dp.ApproxDP(e, DELTA),
        lambda v: summed(
            lambda k: geometric(k, v["b"]), lambda k: geometric(k - v["n"], v["b"]), v["e"]
        ),
        {b: (1, R(3, 2)), n: (1, 2), e: (0, R(1, 2))},
        cells=60,
    ),
    "Skellam": Case(
        location(noise.Skellam(b), 1),
        dp.ApproxDP(R(1, 2), DELTA),
        lambda v: summed(
            lambda k: skellam(k, v["b"]), lambda k: skellam(k - 1, v["b"]), mp.mpf("0.5")
        ),
        {b: (2, R(9, 4))},
        cells=10,
    ),
}


def some(draw: random.Random, low: sp.Rational, high: sp.Rational, whole: bool) -> sp.Rational:
    """A number in between, an end now and then."""
    if whole:
        return sp.Integer(draw.randint(int(low), int(high)))
    share = R(draw.choice([0, 7, *(draw.randint(1, 6) for _ in range(4))]), 7)
    return low + share * (high - low)


def enclosed(case: Case, box: Mapping[sp.Symbol, tuple[sp.Rational, sp.Rational]]) -> object:
    where = {symbol: sp.Interval(*span) for symbol, span in box.items()}
    unknown = {DELTA, EPSILON, RHO} & set().union(
        *(value.free_symbols for _, value in case.claim.parameters())  # type: ignore[attr-defined]
    )
    (symbol,) = unknown
    return case.mechanism.enclose(case.claim, solve_for=symbol, where=where, cells=case.cells)


SLOW = {"two humps", "subsampled Gaussian", "scales of Gaussians", "Student t, degrees"}


@pytest.mark.parametrize(
    ("name", "seed"),
    [(name, seed) for name in CASES for seed in (1, 2) if seed == 1 or name not in SLOW],
)
def test_every_value_is_inside(name: str, seed: int) -> None:
    case, draw = CASES[name], random.Random(f"{name} {seed}")
    box = {}
    for symbol, span in case.box.items():
        ends = [some(draw, *map(sp.sympify, span), bool(symbol.is_integer)) for _ in "ab"]
        box[symbol] = (min(ends), max(ends))
    if all(low == high for low, high in box.values()):
        box = {symbol: (R(low), R(high)) for symbol, (low, high) in case.box.items()}
    found = enclosed(case, box)
    with mp.workdps(DIGITS):
        low, high = map(number, found)  # type: ignore[call-overload]
        values = []
        for _ in range(4):
            at = {s.name: number(some(draw, *span, bool(s.is_integer))) for s, span in box.items()}
            values.append(case.value(at))
            assert low - SLACK <= values[-1] <= high + SLACK, (at, found)


MONOTONE = ["Gaussian, hockey-stick", "Gaussian, Rényi", "logistic, hockey-stick", "Laplace, KL"]


@pytest.mark.parametrize("name", MONOTONE)
def test_the_ends_are_values_at_corners(name: str) -> None:
    """A divergence grows with the shift and the order, and falls with the scale and epsilon."""
    case = CASES[name]
    found = enclosed(case, {s: (R(low), R(high)) for s, (low, high) in case.box.items()})
    best, worst = (
        {s.name: number(R(span[i if s in (mu, a) else 1 - i])) for s, span in case.box.items()}
        for i in (0, 1)
    )
    with mp.workdps(DIGITS):
        for end, at in zip(found, (best, worst), strict=True):  # type: ignore[call-overload]
            assert abs(number(end) - case.value(at)) <= mp.mpf("1e-4") * case.value(at)


def test_the_smallest_epsilon() -> None:
    """At delta = 1e-5: by bisection of the closed form of Balle and Wang."""
    tiny = R(1, 10**5)
    mechanism = location(noise.Gaussian(sigma=b), 1)
    found = mechanism.enclose(dp.ApproxDP(EPSILON, tiny), where={b: sp.Interval(1, 2)})
    with mp.workdps(DIGITS):
        for s, end in ((2, found.lower), (1, found.upper)):

            def margin(eps: mp.mpf, s: int = s) -> mp.mpf:
                first, second = mp.mpf(1) / (2 * s) - eps * s, -mp.mpf(1) / (2 * s) - eps * s
                return mp.ncdf(first) - mp.exp(eps) * mp.ncdf(second) - mp.mpf(10) ** -5

            true = root(margin, mp.mpf("0.5"), mp.mpf(8))
            assert abs(number(end) - true) < mp.mpf("0.01") * true
            assert number(found.lower) <= true <= number(found.upper)


# --- the worst shift --------------------------------------------------------------------------


def test_the_worst_shift_is_found_inside() -> None:
    """Humps 4 apart: a shift of 2 puts hump upon valley, one of 4 hump upon hump."""
    narrow = (sp.exp(-20 * sp.Abs(x - 2)) + sp.exp(-20 * sp.Abs(x + 2))) * 5

    def f(z: mp.mpf) -> mp.mpf:
        return 5 * (mp.exp(-20 * abs(z - 2)) + mp.exp(-20 * abs(z + 2)))

    mechanism = dp.AdditiveNoise(noise.Density(narrow, x), 4)
    found = mechanism.enclose(dp.ApproxDP(R(1, 2), DELTA), cells=12)
    with mp.workdps(DIGITS):
        at = {
            t: over(f, lambda z, t=t: f(z - t), mp.mpf("0.5"), [-8, -4, -2, 0, 2, 2 + t, 4, 6, 12])
            for t in (mp.mpf(2), mp.mpf(4))
        }
        assert at[4] < 0.6 < 0.99 < at[2]
        assert at[2] - SLACK <= number(found.upper)
        assert number(found.upper) - number(found.lower) < 0.01


@pytest.mark.parametrize(
    ("claim", "true"),
    [(dp.RenyiDP(2, EPSILON), "renyi"), (dp.PureDP(EPSILON), "pure")],
    ids=["Rényi", "pure"],
)
def test_other_notions_at_the_worst_shift(claim: object, true: str) -> None:
    found = location(noise.Density(HUMPS, x), 3).enclose(claim, cells=60)
    with mp.workdps(DIGITS):
        for t in map(mp.mpf, (1, 2, "2.5", 3)):
            points = between(*(k + c for k in (mp.mpf(-2), mp.mpf(2)) for c in (0, t)))
            shifted = lambda z, t=t: hump(z - t)  # noqa: E731
            value = (
                renyi(hump, shifted, mp.mpf(2), points)
                if true == "renyi"
                else max(mp.log(hump(z) / shifted(z)) for z in points)
            )
            assert value <= number(found.upper) + SLACK
        assert number(found.upper) - number(found.lower) < 0.05 * number(found.upper)
        if true == "pure":
            assert found.lower <= 3 <= found.upper


# --- yes or no ------------------------------------------------------------------------------------


def test_a_claim_that_holds_throughout() -> None:
    """delta(1/4) of logistic noise of scale >= 1 at sensitivity <= 1 is at most 0.1854."""
    box = {b: sp.Interval(1, 2), mu: sp.Interval(R(1, 4), 1)}
    with mp.workdps(DIGITS):
        one = mp.mpf(1)
        most = over(lambda z: logistic(z, one), lambda z: logistic(z - 1, one), one / 4, between())
        above, below = (R(int(most * 10**6) + k, 10**6) for k in (2, -1))
    mechanism = location(noise.Logistic(b))
    assert mechanism.holds(dp.ApproxDP(R(1, 4), above), box).holds is True
    failing = mechanism.holds(dp.ApproxDP(R(1, 4), below), box)
    assert failing.holds is False
    assert failing.where == {b: 1, mu: 1}


def test_a_claim_with_parameters_in_its_bound() -> None:
    """Gaussian Rényi is alpha mu^2/(2 b^2): 30 % more is enough, 30 % less is not."""
    box = {b: 1, mu: sp.Interval(1, 2), a: sp.Interval(2, 3)}
    bound = a * mu**2 / (2 * b**2)
    mechanism = location(noise.Gaussian(sigma=b))
    assert mechanism.holds(dp.RenyiDP(a, bound * R(13, 10)), box).holds is True
    failing = mechanism.holds(dp.RenyiDP(a, bound * R(7, 10)), box)
    assert failing.holds is False


def test_a_claim_that_fails_inside_only() -> None:
    """delta(0) of N(0, 1), N(mu, 1) is about 0.383 at mu = 1; the bound dips there."""
    box = {mu: sp.Interval(R(1, 2), 2)}
    bound = R(38, 100) + (mu - 1) ** 2 * 2
    found = location(noise.Gaussian(sigma=1)).holds(dp.ApproxDP(0, bound), box)
    assert found.holds is False
    assert 0.9 < found.where[mu] < 1.1


def test_equality_is_not_settled() -> None:
    box = {b: sp.Interval(1, 2)}
    found = location(noise.Laplace(b), 1).holds(dp.PureDP(1 / b), box, cells=30)
    assert found.holds is None
    assert "open for b in" in str(found)
    with pytest.raises(TypeError, match="holds"):
        bool(found)


def test_yes_or_no_with_integers_and_at_numbers() -> None:
    mechanism = location(noise.Geometric(b), n)
    claim = dp.PureDP(R(21, 10) / b)
    assert mechanism.holds(claim, {b: sp.Interval(1, 3), n: sp.Interval(1, 2)}).holds is True
    failing = mechanism.holds(claim, {b: sp.Interval(1, 3), n: sp.Interval(1, 3)})
    assert failing.holds is False
    assert failing.where[n] == 3
    assert mechanism.holds(claim, {b: 2, n: 2}).holds is True


def test_yes_or_no_when_the_worst_shift_is_not_known() -> None:
    mechanism = location(noise.Density(HUMPS, x))
    box = {mu: sp.Interval(1, R(3, 2))}
    assert mechanism.holds(dp.PureDP(R(16, 10)), box).holds is True
    failing = mechanism.holds(dp.PureDP(R(14, 10)), box)
    assert failing.holds is False
    assert set(failing.where) == {mu}
    assert failing.where[mu] > 1.4


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ({mu: sp.Interval(0, 1)}, "mu"),
        ({mu: sp.Interval(1, sp.oo)}, "got oo"),
        ({mu: sp.Interval(1, sp.sqrt(2))}, "finite rational ends"),
        ({mu: sp.FiniteSet(1, 2)}, "mu"),
        ({nu: sp.Interval(1, 2)}, "symbols among"),
        ({n: sp.Interval(R(5, 4), R(7, 4))}, "an integer in it"),
        ({}, "where"),
    ],
)
def test_bad_boxes(where: dict[sp.Symbol, object], words: str) -> None:
    shift = n if n in where else mu
    mechanism = location(noise.Geometric(1) if shift is n else noise.Laplace(1), shift)
    for ask in (
        lambda: mechanism.enclose(dp.ApproxDP(1, DELTA), solve_for=DELTA, where=where),
        lambda: mechanism.holds(dp.ApproxDP(1, R(1, 2)), where),
    ):
        with pytest.raises(dp.InputError, match=words):
            ask()


def test_a_nonzero_parameter_across_zero() -> None:
    t = sp.Symbol("t", real=True, nonzero=True)
    pair = dp.DensityPair(noise.Gaussian(sigma=1), noise.Shifted(noise.Gaussian(sigma=1), t))
    with pytest.raises(dp.InputError, match="t"):
        pair.enclose(dp.ApproxDP(0, DELTA), where={t: sp.Interval(-1, 1)})


def test_no_method() -> None:
    mechanism = location(noise.Gaussian(sigma=b))
    with pytest.raises(dp.UnsupportedError, match="numbers only"):
        mechanism.enclose(dp.ApproxDP(1, R(1, 10)), solve_for=b, where={mu: sp.Interval(1, 2)})
    with pytest.raises(dp.UnsupportedError):
        mechanism.holds(dp.BoundedRange(1), {b: 1, mu: sp.Interval(1, 2)})
