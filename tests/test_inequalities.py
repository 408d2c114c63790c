"""Inequalities of privacy proofs, true and false, through the public verb."""

from __future__ import annotations

import pytest

import dpsym as dp
from benchmarks.inequalities import decide
from tests.data import inequalities

CASES = inequalities()
FALSE = [case for case in CASES if not case["truth"]]
TRUE = [case for case in CASES if case["truth"]]


@pytest.mark.parametrize("case", FALSE, ids=lambda case: case["id"])
def test_false_ones_are_refuted(case):
    assert isinstance(decide(case, 10), dp.Refuted)


def test_true_ones_are_never_refuted_and_mostly_proved():
    verdicts = [decide(case, 0.7) for case in TRUE]
    assert not any(isinstance(verdict, dp.Refuted) for verdict in verdicts)
    assert sum(isinstance(verdict, dp.Proved) for verdict in verdicts) >= 75
