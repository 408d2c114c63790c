"""False claims about mechanisms that people have reported, with values computed independently.

``mechanism_reports.json`` has each case in words, its source, and numbers to many digits.
"""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
import sympy as sp
from sympy import Abs, E, Integer, Interval, Piecewise, Rational, exp, log, sqrt

import dpsym as dp
from dpsym import noise
from dpsym.verdicts import Refuted

DATA = Path(__file__).parent.parent / "data" / "mechanism_reports.json"
VALUES = {case["id"]: case["values"] for case in json.loads(DATA.read_text(encoding="utf-8"))}
MILLIONTH = Rational(1, 10**6)
x = sp.Symbol("x", real=True)
n = sp.Symbol("n", integer=True)


def gaussian(sigma: object, sensitivity: object = 1) -> dp.AdditiveNoise:
    return dp.AdditiveNoise(noise.Gaussian(sigma=sigma), sensitivity)


def laplace(scale: object, sensitivity: object) -> dp.AdditiveNoise:
    return dp.AdditiveNoise(noise.Laplace(scale=scale), sensitivity)


def released(threshold: int) -> dp.PMFPair:
    """A count of 1 with geometric noise of scale 1, released from a threshold on, against none."""
    tail = exp(1 - threshold) * exp(1) / (1 + exp(-1)) / exp(1)
    mass = (1 - exp(-1)) / (1 + exp(-1)) * exp(-Abs(n - 1))
    nothing = threshold - 1
    first = Piecewise((mass, n >= threshold), (1 - tail, n >= nothing), (0, True))
    second = Piecewise((0, n >= threshold), (1, n >= nothing), (0, True))
    return dp.PMFPair(first, second, n, sp.Range(nothing, sp.oo))


ANSWERS = dp.Table([[Rational(15, 16), Rational(1, 16)], [Rational(3, 16), Rational(13, 16)]])
DOUBLES = dp.Table([[Rational(1, 4)] * 4, [Rational(1, 2), 0, Rational(1, 2), 0]])
FLIPPED = dp.Table([[Rational(1, 2)] * 2, [1 - exp(-2) / 2, exp(-2) / 2]])
PATTERNS = dp.Table(
    [
        [(1 - exp(-Rational(1, 2))) / 2, exp(-Rational(1, 2)) / 2, Rational(1, 2)],
        [0, exp(-Rational(1, 2)) / 2, 1 - exp(-Rational(1, 2)) / 2],
    ]
)
TEACHERS = dp.Table([[Rational(99, 100), Rational(1, 100)], [1 - exp(-2) / 100, exp(-2) / 100]])
WEIGHTS = exp(Rational(-1, 2)) + 9 * exp(Rational(1, 2))
CANDIDATES = dp.Table(
    [[Rational(1, 10)] * 10, [exp(Rational(-1, 2)) / WEIGHTS] + [exp(Rational(1, 2)) / WEIGHTS] * 9]
)
ERRORS = dp.Table([[Rational(1, 2)] * 2, [E / (E + 1 / E), 1 / E / (E + 1 / E)]])
CLIPPED = dp.DensityPair(
    exp(-x) / (1 - exp(-1)),
    exp(-Abs(x - Rational(1, 2))) / (2 * (1 - exp(-Rational(1, 2)))),
    x,
    Interval(0, 1),
)
q = Rational(1, 100)
PATE = log((1 - q) * ((1 - q) / (1 - exp(2) * q)) ** 5 + q * exp(9)) / 5

# the case, the mechanism, the claim, and the number that the witness has to reach
CASES: list[tuple[str, Callable[[], object], object, str | Fraction | None]] = [
    ("B001", lambda: gaussian(200 * sqrt(2 * log(125000)), 2000), (10, MILLIONTH * 10), "delta"),
    ("B003", lambda: gaussian(Rational(118, 1000)), (1, MILLIONTH), "delta"),
    ("B004", lambda: gaussian(Rational(1785, 10**4), Rational(1, 10)), (1, MILLIONTH), "delta"),
    ("B006", lambda: gaussian(Rational("0.9800489882550523")), (5, MILLIONTH), "delta"),
    ("B008", lambda: gaussian(Rational("3.73")), (1, MILLIONTH * 10), "deltaA"),
    ("B012", lambda: gaussian(4, 2), dp.RenyiDP(2, Rational(1, 16)), "rdp2"),
    ("B012", lambda: gaussian(4, 2), (1, 3 * MILLIONTH), "delta"),
    ("B013", lambda: gaussian(Rational(11, 10), 4), (2, Rational(12, 1000)), "deltaB"),
    ("B014", lambda: gaussian(2, sqrt(2)), dp.RenyiDP(3, Rational(3, 8)), "rdp3"),
    ("B014", lambda: gaussian(2, sqrt(2)), (1, Rational(39, 1000)), "delta"),
    ("B018", lambda: laplace(Rational(1, 2), 2), dp.PureDP(1), None),
    ("B023", lambda: CLIPPED, dp.PureDP(Rational(1, 2)), None),
    ("B023", lambda: CLIPPED, (Rational(1, 2), Rational(17, 1000)), "delta"),
    ("B025", lambda: released(14), (1, Rational("6.0789620347788292232e-7")), "delta"),
    ("B026", lambda: released(5), (1, Rational("0.004925833956035741")), "delta"),
    ("B029", lambda: laplace(Rational(1, 100), Rational(1, 2)), dp.PureDP(1), None),
    ("B031", lambda: dp.Table([[1, 0], [0, 1]]), dp.PureDP(1), None),
    ("B031", lambda: laplace(1, 100), dp.PureDP(1), None),
    ("B034", lambda: DOUBLES, (3, Rational(49, 100)), Fraction(1, 2)),
    ("B038", lambda: ANSWERS, dp.PureDP(log(3)), "eps"),
    ("B038", lambda: ANSWERS, (log(3), Rational(6, 10)), Fraction(5, 8)),
    ("B042", lambda: FLIPPED, dp.ZCDP(Rational(1, 2)), "D2"),
    ("B044", lambda: CANDIDATES, dp.PureDP(Rational(1, 2)), "eps"),
    ("B045", lambda: ERRORS, dp.PureDP(1), "eps"),
    ("B046", lambda: PATTERNS, (1, Rational(19, 100)), "delta"),
    ("B048", lambda: TEACHERS, dp.RenyiDP(6, PATE), None),
    ("B049", lambda: dp.RandomizedResponse(1), dp.ZCDP(Rational(46, 100)), None),
]


@pytest.mark.parametrize(
    ("case", "mechanism", "claim", "known"), CASES, ids=[f"{c[0]}-{i}" for i, c in enumerate(CASES)]
)
def test_a_reported_claim_is_refuted(
    case: str, mechanism: Callable[[], object], claim: object, known: str | Fraction | None
) -> None:
    wanted = dp.ApproxDP(*claim) if isinstance(claim, tuple) else claim
    verdict = dp.check(mechanism(), wanted, budget=30)
    assert isinstance(verdict, Refuted), verdict
    value, bound = verdict.witness.exceeded
    assert value is None or value > bound
    assert " fails" in verdict.witness.text()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(verdict.witness.script(), {})
    assert printed.getvalue().strip().endswith("True")
    if known is not None:
        true = known if isinstance(known, Fraction) else Fraction(VALUES[case][known])
        assert value is not None
        found = Fraction(int(value.p), int(value.q))
        assert abs(found / true - 1) < Fraction(2, 10**19)


@pytest.mark.parametrize(
    ("mechanism", "claim"),
    [
        (lambda: gaussian(Rational("3.731")), dp.ApproxDP(1, MILLIONTH * 10)),
        (lambda: gaussian(Rational(44, 10), 4), dp.ApproxDP(2, Rational(12, 1000))),
        (lambda: ANSWERS, dp.ApproxDP(log(3), Rational(5, 8))),
        (lambda: FLIPPED, dp.PureDP(2)),
        (lambda: FLIPPED, dp.ZCDP(2)),
        (lambda: dp.RandomizedResponse(1), dp.ZCDP(Rational(1, 2))),
        (lambda: DOUBLES, dp.ApproxDP(Integer(3), Rational(1, 2))),
        (lambda: TEACHERS, dp.RenyiDP(6, Rational(10799, 10**4))),
    ],
)
def test_true_claims_are_not(mechanism: Callable[[], object], claim: object) -> None:
    assert not isinstance(dp.check(mechanism(), claim, budget=2), Refuted)
