"""Accountants' numbers that have been reported as wrong: the right ones, computed independently.

``tests/data/accounting_reports.json`` has each case in words with its source. What is claimed there
is settled in section R of the catalogue; here are the numbers behind it.
"""

from __future__ import annotations

import json
from pathlib import Path

import mpmath as mp
import pytest
from sympy import Rational, Symbol, log

import dpsym as dp
from dpsym import noise
from dpsym.kernel.certificate import verify

DATA = Path(__file__).parents[1] / "data" / "accounting_reports.json"
VALUES = {case["id"]: case["values"] for case in json.loads(DATA.read_text(encoding="utf-8"))}
EPSILON = Symbol("epsilon", nonnegative=True)
HALF, SMALL = Rational(1, 2), Rational(1, 10**5)


def subsampled(rate, sigma):
    base = noise.Gaussian(sigma=sigma)
    return dp.DensityPair(noise.Mixture([1 - rate, rate], [base, noise.Shifted(base, 1)]), base)


def last_digit(text: str) -> Rational:
    return Rational(1, 10 ** len(text.partition(".")[2]))


def agrees(enclosure, text: str) -> None:
    low, high = enclosure
    unit = last_digit(text)
    assert low - unit <= Rational(text) <= high + unit
    assert high - low < unit


def test_orders_of_a_sampled_gaussian():
    """1464 steps at order 11, and both conversions of their total (Mironov 2017, Proposition 3;
    Canonne, Kamath and Steinke 2020, Proposition 12)."""
    step = subsampled(Rational(1024, 50000), Rational("1.54"))
    found = step.enclose(dp.RenyiDP(11, EPSILON), EPSILON, Rational(1, 10**24))
    total = [1464 * end for end in found]
    agrees(total, "2.0061097368285514312")
    old = [end + log(10**5) / 10 for end in total]
    agrees([end.n(30) for end in old], VALUES["B063"]["old"])
    agrees(
        [(end + log(Rational(10, 11)) - log(11) / 10).n(30) for end in old], VALUES["B063"]["new"]
    )


@pytest.mark.parametrize("name", ["B037", "B064"])
def test_best_order_of_a_formula(name):
    """The conversion of Canonne, Kamath and Steinke (2020), Corollary 13, at its best order: dpsym
    proves what it gives there, and that no more than the last digit of it is lost."""
    with mp.workdps(40):
        if name == "B037":

            def formula(a):
                return mp.exp((a - 1) * (a / 2 - 1)) * (1 - 1 / a) ** a / (a - 1)

            text, start = VALUES[name]["delta"], 2
        else:

            def formula(a):
                return a / 2 + mp.log(1 - 1 / a) + (mp.log(10**5) - mp.log(a)) / (a - 1)

            text, start = VALUES[name]["new"], 5
        order = mp.findroot(lambda a: mp.diff(formula, a), start)
        value, unit = formula(order), mp.mpf(10) ** -len(text.partition(".")[2])
        assert abs(value - mp.mpf(text)) <= unit
    above = Rational(text) + last_digit(text)
    claim = dp.ApproxDP(1, above) if name == "B037" else dp.ApproxDP(above, SMALL)
    proved = dp.prove(dp.ZCDP(HALF), claim)
    assert verify(proved.certificate()).statement.claims


@pytest.mark.parametrize(
    ("subject", "claim"),
    [
        (dp.RenyiDP(2, 1), dp.ApproxDP(Rational(3, 2), Rational("0.11929"))),
        (dp.repeat(dp.RenyiDP(2, HALF), 2), dp.ApproxDP(Rational(3, 2), Rational("0.11929"))),
        (subsampled(HALF, 1), dp.RenyiDP(3, Rational("0.5"))),
        (dp.compose(subsampled(HALF, 1), dp.ZCDP(HALF)), dp.RenyiDP(2, Rational("1.2"))),
    ],
)
def test_less_than_the_truth_is_not_proved(subject, claim):
    assert not isinstance(dp.check(subject, claim, budget=5), dp.Proved)


MANY = {
    "B050": (dp.RandomizedResponse(Rational(1, 10)), 100, VALUES["B050"]["eps"], SMALL / 10),
    "B055": (subsampled(Rational(1, 5), 3), 50, VALUES["B055"]["eps"], Rational(1, 48000)),
    "B057": (subsampled(Rational(1, 60), Rational("1.3")), 900, VALUES["B057"]["eps"], SMALL),
    "B059": (subsampled(Rational(1, 100), 4), 10_000, VALUES["B059"]["e100"], SMALL),
    "B062": (subsampled(Rational(1, 5), 1), 10, VALUES["B062"]["eps"], SMALL),
    "B063": (
        subsampled(Rational(1024, 50000), Rational("1.54")),
        1464,
        VALUES["B063"]["tight"],
        SMALL,
    ),
    "B069": (subsampled(Rational(1, 100), 1), 100, VALUES["B069"]["poisson"], SMALL),
}


@pytest.mark.parametrize("name", MANY)
def test_no_less_than_the_tight_number_of_many_steps(name):
    """Numerical accountants found the least epsilon; less by any amount is false, more is true."""
    step, count, tight, delta = MANY[name]
    for factor, wrong in ((1 - SMALL, dp.Proved), (1 + SMALL, dp.Refuted)):
        claim = dp.ApproxDP(Rational(tight) * factor, delta)
        verdict = dp.check(dp.repeat(step, count), claim, budget=0.1)
        assert not isinstance(verdict, wrong)
