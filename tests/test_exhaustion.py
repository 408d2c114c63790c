"""Where memory, time or Python's stack runs out the verdict is Unknown, never an error."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import pytest
from sympy import Rational, exp, symbols

import dpsym as dp
from dpsym import bounding, checking
from dpsym.cli import main
from dpsym.enclosures import enclosing
from dpsym.enclosures.failures import NoEnclosureError
from dpsym.search import leaf

delta, x = symbols("delta x", positive=True)
e = symbols("e0:6", positive=True)
ABOVE = sum(e) ** 7, sum(item**7 for item in e) * 6**6
MANY = dp.compose(*(dp.ApproxDP(Rational(i + 1, 97), Rational(1, 1000)) for i in range(30)))
ERRORS = {
    MemoryError: "the memory is used up",
    RecursionError: "a formula is too deep for Python's stack",
}


@pytest.mark.parametrize("error", ERRORS)
def test_what_runs_out_anywhere_in_a_search(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def exhausted(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr(leaf, "decide", exhausted)
    monkeypatch.setattr(checking, "prove_statement", exhausted)
    monkeypatch.setattr("dpsym.search.refutation.refute_statement", exhausted)
    monkeypatch.setattr(bounding, "best", exhausted)
    verdicts = (
        dp.check_inequality(x, exp(x)),
        dp.check(dp.PureDP(x), dp.PureDP(2 * x)),
        dp.bound(dp.PureDP(1), dp.ApproxDP(Rational(1, 2), delta), delta),
    )
    for verdict in verdicts:
        assert isinstance(verdict, dp.Unknown)
        assert verdict.reason == ERRORS[error]
    with pytest.raises(dp.ProofError, match=ERRORS[error]):
        dp.prove(dp.PureDP(x), dp.PureDP(2 * x))


def test_memory_that_runs_out_while_a_claim_is_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def exhausted(*_: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(checking, "read_claim", exhausted)
    monkeypatch.setattr(checking, "read_inequality", exhausted)
    assert isinstance(dp.check(dp.PureDP(1), dp.PureDP(2)), dp.Unknown)
    assert isinstance(dp.check_inequality(0, 1), dp.Unknown)
    assert main(["check", "PureDP(1)", "PureDP(2)"]) == 3
    assert "the memory is used up" in capsys.readouterr().out


def test_memory_that_runs_out_in_an_enclosure(monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_: Any, **__: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(enclosing, "worst_pairs", exhausted)
    noise = dp.AdditiveNoise(dp.noise.Laplace(scale=1), sensitivity=1)
    with pytest.raises(NoEnclosureError, match="the memory is used up"):
        noise.enclose(dp.ApproxDP(Rational(1, 2), delta), solve_for=delta)


SCRIPT = """
import os, resource
import dpsym as dp
from tests.test_exhaustion import ABOVE
dp.check(dp.PureDP(1), dp.PureDP(2)), dp.check(dp.PureDP(2), dp.PureDP(1))  # all is loaded
pages = int(open("/proc/self/statm").read().split()[0])
most = pages * os.sysconf("SC_PAGE_SIZE") + 12 * 2**20  # less than one product of sums needs
resource.setrlimit(resource.RLIMIT_AS, (most, most))
verdicts = [dp.check_inequality(*ABOVE), dp.check(*map(dp.PureDP, ABOVE))]
print([verdict.reason for verdict in verdicts])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_limit_of_the_memory() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False, timeout=120
    )
    if "Cannot recover from MemoryErrors" in done.stderr:  # Python itself gives up, aloud
        assert "Proved" not in done.stdout
    else:
        assert done.returncode == 0, done.stderr
    assert done.stdout == f"{['the memory is used up'] * 2}\n"


@pytest.mark.parametrize("budget", [0.001, 0.1])
def test_a_budget_of_time(budget: float) -> None:
    started = time.process_time()
    asked = (
        dp.check_inequality(*ABOVE, budget=budget),
        dp.check(MANY, dp.ApproxDP(2, Rational(1, 25)), budget=budget),
        dp.bound(MANY, dp.ApproxDP(1, delta), delta, budget=budget),
    )
    assert all(isinstance(verdict, (dp.Unknown, dp.Bound)) for verdict in asked)
    assert time.process_time() - started < 10
