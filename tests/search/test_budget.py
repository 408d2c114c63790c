"""Budgets: long work is interrupted in time, and what cannot be seen in time is not certain."""

from __future__ import annotations

import pytest
from flint import fmpq

from dpsym.kernel.canon import Canon
from dpsym.kernel.terms import exp, log, num, power, sqrt, var
from dpsym.search.leaf.budget import Budget, OutOfBudget
from dpsym.search.leaf.numeric import sign_at

a, b, c = var("a"), var("b"), var("c")


def test_long_work_is_interrupted() -> None:
    reached = 0
    with pytest.raises(OutOfBudget), Budget(0.2).enforced():
        for count in range(2, 400):  # minutes
            Canon()(power(1 + a + b + power(c, count), 12))
            reached = count
    assert reached < 399


def test_a_zero_that_takes_long_to_see_is_not_certain() -> None:
    base = 1 + exp(num(fmpq(1, 3))) + sqrt(num(2)) + exp(sqrt(num(3)))
    tall = exp(800 * log(base)) - power(exp(400 * log(base)), 2)  # is 0
    with Budget(30).enforced():  # a second on an idle machine; expanded, it is never done
        assert sign_at(tall, {}) in (None, 0)


def test_a_zero_that_is_easily_seen_is_certain() -> None:
    half = num(fmpq(1, 2))
    assert sign_at(exp(a) * exp(-a) - 1, {"a": fmpq(7, 3)}) == 0
    assert sign_at(power(sqrt(num(2)), 2) * half - 1, {}) == 0
    assert sign_at(exp(a) - a - 1, {"a": fmpq(1, 1000)}) == 1
