"""Known statements come out as they are; ``python -m tests.catalogue`` has those that take long."""

from __future__ import annotations

import mpmath
import pytest
import sympy as sp

import dpsym as dp
from dpsym import noise
from tests.catalogue import entries
from tests.catalogue.report import ENTRIES, best, chosen, judged, statements

# A pair of numbers alone, of which the largest integral is asked at a sample without its output.
FAST = [name for name, entry in ENTRIES.items() if not entry.slow]


def test_every_statement_has_an_entry() -> None:
    assert len(statements()) > 100
    assert set(ENTRIES) == set(statements())


def test_what_is_expected_is_the_truth() -> None:
    for name, entry in ENTRIES.items():
        assert entry.expected in (best(entry), entries.UNKNOWN, entries.ENCLOSED), name
        assert bool(entry.why) == (entry.expected != best(entry)), name


@pytest.mark.parametrize("name", FAST)
def test_entry(name: str) -> None:
    outcome = judged(ENTRIES[name])
    welcome = {ENTRIES[name].expected, best(ENTRIES[name])}
    assert outcome.verdict in welcome, outcome.reason


def test_a_false_entry_is_not_taken_for_true() -> None:
    b, d = sp.symbols("b d", positive=True)
    laplace = dp.AdditiveNoise(noise.Laplace(b), d)

    def half() -> entries.Answer:
        return entries.is_formula(laplace.max_divergence(), d / (2 * b))

    assert entries.run(entries.Entry("half", half)).verdict == entries.REFUTED

    def enclosed() -> entries.Answer:
        claim = dp.ApproxDP(0, sp.Symbol("delta"))
        value = 1 - sp.exp(-d / (2 * b)) + sp.Rational(1, 10**9)
        return entries.encloses(laplace, claim, sp.Symbol("delta"), value, [{b: 1, d: 1}])

    assert entries.run(entries.Entry("enclosed", enclosed)).verdict == entries.WRONG


def test_assumed_masses_do_not_count() -> None:
    x = sp.Symbol("x", real=True)
    density = sp.exp(-(x**4)) / (2 * sp.gamma(sp.Rational(5, 4)))
    found = entries.run(
        entries.Entry("mass", lambda: entries.integral_is(density, x, sp.S.Reals, sp.S.One))
    )
    assert found.verdict == entries.UNKNOWN


def test_judged_by_the_truth() -> None:
    entry = entries.Entry("E-false-pure-tv-slip", lambda: entries.below(0, 1))
    assert judged(entry).verdict == entries.WRONG


def test_chosen() -> None:
    assert [entry.name for entry in chosen(("A-gauss-kl",))] == ["A-gauss-kl"]
    with pytest.raises(SystemExit, match="no entry"):
        chosen(("Z-",))


def test_an_enclosure_and_a_value() -> None:
    half = dp.AdditiveNoise(noise.Laplace(1), 1).enclose(dp.ApproxDP(0, sp.Symbol("d")))
    with mpmath.workdps(entries.DIGITS):
        value = 1 - mpmath.exp(mpmath.mpf(-1) / 2)
        near = value + mpmath.mpf(10) ** -9
    assert entries.Enclosed(half, value).holds()
    assert not entries.Enclosed(half, near).holds()
    assert entries.Enclosed(half, near, sign=-1).holds()
    assert not entries.Enclosed(half, near, sign=1).holds()
