"""Budgets: parts, and calls at set times."""

from __future__ import annotations

import pytest

from dpsym.kernel.limits import tick
from dpsym.kernel.proofs import Lemma
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import exp, var
from dpsym.search.leaf import Budget, OutOfBudget, entry, prove


def spend(budget: Budget) -> None:
    while True:
        budget.check()


def test_calls_come_in_order_and_once_each() -> None:
    calls: list[str] = []
    budget = Budget(0.2).interrupted(
        (0.02, lambda: calls.append("first")), (0.04, lambda: calls.append("second"))
    )
    with pytest.raises(OutOfBudget):
        spend(budget)
    assert calls == ["first", "second"]


def test_a_part_calls_what_the_whole_would_call() -> None:
    def stop() -> None:
        raise LookupError

    with pytest.raises(LookupError):
        spend(Budget(5).interrupted((0.02, stop)).part(2))


def test_no_call_before_its_time_or_out_of_budget() -> None:
    with pytest.raises(OutOfBudget):
        spend(Budget(0.02).interrupted((60, lambda: pytest.fail("too early"))))


def test_a_call_is_not_interrupted_by_the_budget_that_makes_it() -> None:
    done: list[bool] = []

    def long() -> None:
        own = Budget(0.1)
        while own.left() > 0:
            tick()
        done.append(True)

    budget = Budget(0.05).interrupted((0.01, long))
    with pytest.raises(OutOfBudget), budget.enforced():
        while True:
            tick()
    assert done == [True]


def test_a_sign_that_is_found_at_the_last_moment_is_no_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = var("x")
    given = (Fact(x, ">"),)
    item = exp(x) - 1 - x
    positive = prove(Sequent(given, Fact(item, ">")), 5)
    assert isinstance(positive, Lemma)
    nonzero = Sequent(given, Fact(item, "!="))
    monkeypatch.setattr(entry, "_quickly", lambda *_, **__: None)
    monkeypatch.setattr(entry, "_known", lambda *_: positive)
    assert entry._by_sign(nonzero, Budget(5)) is not None
    assert entry._by_sign(nonzero, Budget(-1)) is None
