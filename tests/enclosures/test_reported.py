"""Numbers that were computed independently, each for a mistake made with a privacy tool.

``tests/data/enclosures.json`` has them, with where the mistake was reported and how the number was
found; none of them was computed by this package.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
import sympy as sp

import dpsym as dp

DATA = {
    case["id"]: case
    for case in json.loads((Path(__file__).parents[1] / "data/enclosures.json").read_text())
}
R = sp.Rational
WIDTH = R(1, 10**22)
DELTA = sp.Symbol("delta", nonnegative=True)
EPSILON = sp.Symbol("epsilon", nonnegative=True)
SIGMA = sp.Symbol("sigma", positive=True)


def gaussian(sigma: object, sensitivity: object = 1) -> dp.AdditiveNoise:
    return dp.AdditiveNoise(dp.noise.Gaussian(sigma), sensitivity)


def delta_of(mechanism: dp.mechanisms.Mechanism, epsilon: object) -> dp.enclosures.Enclosure:
    return mechanism.enclose(dp.ApproxDP(epsilon, DELTA), DELTA, WIDTH)


def epsilon_of(mechanism: dp.mechanisms.Mechanism, delta: object) -> dp.enclosures.Enclosure:
    return mechanism.enclose(dp.ApproxDP(EPSILON, delta), EPSILON, WIDTH)


def pure(mechanism: dp.mechanisms.Mechanism) -> dp.enclosures.Enclosure:
    return mechanism.enclose(dp.PureDP(EPSILON), EPSILON, WIDTH)


def renyi(mechanism: dp.mechanisms.Mechanism, alpha: object) -> dp.enclosures.Enclosure:
    return mechanism.enclose(dp.RenyiDP(alpha, EPSILON), EPSILON, WIDTH)


def rho(mechanism: dp.mechanisms.Mechanism) -> dp.enclosures.Enclosure:
    symbol = sp.Symbol("rho", nonnegative=True)
    return mechanism.enclose(dp.ZCDP(symbol), symbol, R(1, 10**12))


def sigma_of(mechanism: dp.mechanisms.Mechanism, epsilon: object, delta: object) -> object:
    return mechanism.enclose(dp.ApproxDP(epsilon, delta), SIGMA, WIDTH)


def classical() -> object:
    """The textbook's sigma at delta = 1e-5, up to the largest epsilon for which it is enough."""
    textbook = 2000 * sp.sqrt(2 * sp.log(125000)) / EPSILON
    mechanism = gaussian(textbook, 2000)
    return mechanism.enclose(dp.ApproxDP(EPSILON, 1e-5), EPSILON, WIDTH)


def on_unit_interval() -> dp.DensityPair:
    y = sp.Symbol("y", real=True)
    p = sp.exp(-y) / (1 - sp.exp(-1))
    q = sp.exp(-sp.Abs(y - R(1, 2))) / (2 * (1 - sp.exp(-R(1, 2))))
    return dp.DensityPair(p, q, y, sp.Interval(0, 1))


def released(threshold: int) -> dp.PMFPair:
    """A count of 1 with discrete Laplace noise, released from a threshold on; against nothing."""
    k = sp.Symbol("k", integer=True)
    noisy = dp.noise.Geometric(1).at(k - 1)
    rest = 1 - sp.exp(-(threshold - 1)) / (1 + sp.exp(-1))
    p = sp.Piecewise((rest, sp.Eq(k, 0)), (noisy, k >= threshold), (0, True))
    return dp.PMFPair(p, sp.Piecewise((1, sp.Eq(k, 0)), (0, True)), k, sp.S.Naturals0)


def subsampled(sigma: object, rate: object) -> dp.DensityPair:
    base = dp.noise.Gaussian(sigma)
    mixture = dp.noise.Mixture([1 - rate, rate], [base, dp.noise.Shifted(base, 1)])
    return dp.DensityPair(mixture, base)


def table(*rows: list[sp.Expr]) -> dp.Table:
    return dp.Table(list(rows))


def laplace(scale: object, sensitivity: object) -> dp.AdditiveNoise:
    return dp.AdditiveNoise(dp.noise.Laplace(scale), sensitivity)


E2 = sp.exp(-2)
HALF = R(1, 2)
CASES: dict[tuple[str, str], Callable[[], object]] = {
    ("B001", "delta"): lambda: delta_of(
        gaussian(2000 * sp.sqrt(2 * sp.log(125000)) / 10, 2000), 10
    ),
    ("B001", "cross_eps"): classical,
    ("B003", "delta"): lambda: delta_of(gaussian(0.118), 1),
    ("B003", "sigma_min"): lambda: sigma_of(gaussian(SIGMA), 1, 1e-6),
    ("B004", "delta"): lambda: delta_of(gaussian(0.1785, 0.1), 1),
    ("B005", "delta"): lambda: delta_of(gaussian(4.2246789419396995), 1),
    ("B006", "delta"): lambda: delta_of(gaussian(0.9800489882550523), 5),
    ("B007", "sigma"): lambda: sigma_of(gaussian(SIGMA), 50, 1e-6),
    ("B008", "deltaA"): lambda: delta_of(gaussian(3.73), 1),
    ("B008", "deltaB"): lambda: delta_of(gaussian(3.731), 1),
    ("B008", "sigma"): lambda: sigma_of(gaussian(SIGMA), 1, 1e-5),
    ("B011", "delta"): lambda: delta_of(gaussian(500), 0.01),
    ("B011", "eps"): lambda: epsilon_of(gaussian(500), 1e-9),
    ("B012", "rdp2"): lambda: renyi(gaussian(4, 2), 2),
    ("B012", "delta"): lambda: delta_of(gaussian(4, 2), 1),
    ("B012", "eps"): lambda: epsilon_of(gaussian(4, 2), 1e-5),
    ("B013", "deltaA"): lambda: delta_of(gaussian(4.4, 4), 2),
    ("B013", "deltaB"): lambda: delta_of(gaussian(1.1, 4), 2),
    ("B014", "rdp3"): lambda: renyi(gaussian(2, sp.sqrt(2)), 3),
    ("B014", "delta"): lambda: delta_of(gaussian(2, sp.sqrt(2)), 1),
    ("B015", "eps1"): lambda: epsilon_of(gaussian(1), 1e-5),
    ("B015", "eps001"): lambda: epsilon_of(gaussian(0.01), 1e-5),
    ("B016", "deltaA"): lambda: delta_of(gaussian(1), 1),  # 100 times 1/10 squared
    ("B016", "deltaB"): lambda: delta_of(gaussian(0.1), 1),
    ("B017", "rho"): lambda: rho(gaussian(1.1, R(1, 250))),
    ("B017", "delta"): lambda: delta_of(gaussian(1.1, R(1, 250)), 0.01),
    ("B018", "eps"): lambda: pure(laplace(HALF, 2)),
    ("B023", "eps"): lambda: pure(on_unit_interval()),
    ("B023", "delta"): lambda: delta_of(on_unit_interval(), HALF),
    ("B025", "delta"): lambda: delta_of(released(14), 1),
    ("B025", "intended"): lambda: delta_of(released(15), 1),
    ("B026", "delta"): lambda: delta_of(released(5), 1),
    ("B029", "eps"): lambda: pure(laplace(0.01, HALF)),
    ("B031", "epsB"): lambda: pure(laplace(1, 100)),
    ("B034", "delta"): lambda: delta_of(
        table([R(1, 4)] * 4, [HALF, sp.S.Zero, HALF, sp.S.Zero]), 1
    ),
    ("B036", "delta0"): lambda: delta_of(gaussian(100), 0),
    ("B038", "eps"): lambda: pure(table([R(15, 16), R(1, 16)], [R(3, 16), R(13, 16)])),
    ("B038", "delta"): lambda: delta_of(
        table([R(15, 16), R(1, 16)], [R(3, 16), R(13, 16)]), sp.log(3)
    ),
    ("B042", "D2"): lambda: renyi(table([HALF, HALF], [1 - E2 / 2, E2 / 2]), 2),
    ("B042", "suprho"): lambda: rho(table([HALF, HALF], [1 - E2 / 2, E2 / 2])),
    ("B044", "eps"): lambda: pure(
        table([R(1, 10)] * 10, [weight / (1 + 9 * sp.E) for weight in [sp.S.One, *[sp.E] * 9]])
    ),
    ("B045", "eps"): lambda: pure(
        table([HALF, HALF], [sp.E / (sp.E + 1 / sp.E), 1 / sp.E / (sp.E + 1 / sp.E)])
    ),
    ("B046", "delta"): lambda: delta_of(
        table(
            [(1 - sp.exp(-HALF)) / 2, sp.exp(-HALF) / 2, HALF],
            [sp.S.Zero, sp.exp(-HALF) / 2, 1 - sp.exp(-HALF) / 2],
        ),
        3,
    ),
    ("B049", "rho"): lambda: rho(dp.RandomizedResponse(1)),
    ("B064", "tight"): lambda: epsilon_of(gaussian(1), 1e-5),
    ("B065", "rdp8"): lambda: renyi(gaussian(2), 8),
    ("B065", "delta"): lambda: delta_of(gaussian(2), 1),
    ("B067", "dA"): lambda: delta_of(subsampled(0.9366237019634324, R(1, 100)), 1),
    ("B067", "dB"): lambda: delta_of(subsampled(0.7764364060796696, R(1, 100)), 1),
    ("B067", "sigma"): lambda: sigma_of(subsampled(SIGMA, R(1, 100)), 1, 1e-6),
}


def exactly(text: str) -> tuple[Fraction, Fraction]:
    """A decimal or a fraction, and half a unit of its last digit, rounded up to a whole one."""
    value = Fraction(text)
    if "/" in text or "." not in text:
        return value, Fraction(0)
    mantissa, _, exponent = text.lower().partition("e")
    digits = len(mantissa.partition(".")[2])
    if digits < 15:  # a short decimal is the exact value
        return value, Fraction(0)
    return value, Fraction(1, 10**digits) * Fraction(10) ** int(exponent or 0)


@pytest.mark.parametrize(("name", "key"), CASES, ids="-".join)
def test_encloses_the_reported_value(name: str, key: str) -> None:
    found = CASES[name, key]()
    value, unit = exactly(DATA[name]["values"][key])
    low, high = (Fraction(int(end.p), int(end.q)) for end in found)
    assert low <= value + unit
    assert high >= value - unit
    assert high - low <= max(Fraction(1, 10**12) * high, unit)


def one_order() -> dp.enclosures.Enclosure:
    """D_6 of a 2-DP pair, in the one direction in which it was reported."""
    k, share = sp.Symbol("k", integer=True), R(1, 100)
    p, q = ([1 - share * factor, share * factor] for factor in (1, E2))
    masses = (sp.Piecewise((row[0], sp.Eq(k, 0)), (row[1], True)) for row in (p, q))
    pair = dp.PMFPair(*masses, k, sp.Range(0, 2))
    return pair.enclose(dp.RenyiDP(6, EPSILON, one_way=True), EPSILON, WIDTH)


def test_one_order_of_a_table() -> None:
    """Five times the divergence; a wrong bound that was used is below it, the right one above."""
    found, values = one_order(), DATA["B048"]["values"]
    moment, unit = exactly(values["moment"])
    assert 5 * found.lower <= moment + unit
    assert 5 * found.upper >= moment - unit
    assert R(values["buggy"]) < 5 * found.lower
    assert 5 * found.upper < R(values["correct_bound"])


def test_infinite_for_every_finite_epsilon() -> None:
    pair = table([R(1, 4)] * 4, [HALF, sp.S.Zero, HALF, sp.S.Zero])
    assert list(pure(pair)) == [sp.oo, sp.oo]


def test_every_value_is_used() -> None:
    unused = {
        (name, key)
        for name, case in DATA.items()
        for key in case["values"]
        if (name, key) not in CASES
    }
    conversions = {("B064", "old"), ("B064", "new")}  # best bounds by formulas, not divergences
    assert unused == conversions | {("B048", key) for key in DATA["B048"]["values"]}
