"""The campaign's short form, and that it would notice."""

from __future__ import annotations

import random

import mpmath
import pytest

import dpsym as dp
from dpsym.certificates import write
from dpsym.errors import InputError
from dpsym.kernel import rules_logic
from dpsym.kernel.proofs import Proof, prove_lemma
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import var
from tests.campaign import certificates, claims, inputs
from tests.campaign import truth as tr
from tests.campaign.parts import PARTS, attempts

SHARES = {"claims": 0.2, "certificates": 0.25, "input": 0.6}


@pytest.mark.parametrize("part", PARTS)
def test_no_fault(part: str) -> None:
    found, faults = attempts(part, seed=2026, start=0, share=SHARES[part])
    assert not faults, "\n".join(faults)
    outcomes = {outcome for kind in found.values() for outcome in kind}
    wanted = {
        "claims": {"true, proved", "false, refuted", "encloses"},
        "certificates": {"refused", "accepted, true"},
        "input": {"true, proved", "false, refuted", "error"},
    }
    assert wanted[part] <= outcomes


def test_wrong_verdicts_are_faults() -> None:
    proved = dp.check(dp.PureDP(1), dp.PureDP(2))
    refuted = dp.check(dp.PureDP(2), dp.PureDP(1))
    assert claims.settled(False, proved, "")[0] == "WRONG"
    assert claims.settled(True, refuted, "")[0] == "WRONG"
    assert claims.settled(True, proved, "")[0] == "true, proved"
    assert claims.settled(None, refuted, "")[0] == "skipped"


def test_other_errors_are_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    def own(*_: object, **__: object) -> None:
        raise InputError("x", "a number", "y")

    for function, outcome in ((wrong, "WRONG"), (own, "error")):
        monkeypatch.setattr(dp, "check_inequality", function)
        assert claims.attempt("polynomials", random.Random(1))[0] == outcome
        assert inputs.attempt("symbols", random.Random(1))[0] == outcome


def test_a_kernel_that_takes_everything_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules_logic, "require", lambda *_: None)  # all is evident
    false = prove_lemma(Sequent((), Fact(var("x"), ">=")), Proof("evident"))
    monkeypatch.setitem(certificates.KINDS, "damage", lambda _: write(false))
    assert certificates.attempt("damage", random.Random(1))[0] == "WRONG"


def test_what_is_run_is_noticed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pytest.TempPathFactory
) -> None:
    monkeypatch.chdir(tmp_path)  # type: ignore[arg-type]
    monkeypatch.setitem(inputs.KINDS, "names", lambda _: (inputs.TRAP.touch(), ("error", ""))[1])
    assert inputs.attempt("names", random.Random(1))[0] == "WRONG"
    assert not inputs.TRAP.exists()


def test_truths_are_those_of_the_literature() -> None:
    with mpmath.workdps(tr.DIGITS):
        # Balle and Wang (2018): delta of the Gaussian with sigma = 1 at epsilon = 1
        assert abs(tr.gaussian(mpmath.mpf(1)).hockey(mpmath.mpf(1)) - 0.12693673750664) < 1e-13
        # Kairouz, Oh and Viswanath (2015): delta at epsilon = 0 of one is (e^a - 1)/(e^a + 1)
        one = tr.of_pairs([tr.response(mpmath.mpf(1))])
        assert abs(one.hockey(mpmath.mpf(0)) - mpmath.tanh(mpmath.mpf(1) / 2)) < tr.CLOSE
        two = tr.of_pairs([tr.joint([tr.response(mpmath.mpf(1))] * 2)])
        assert abs(two.loss() - 2) < tr.CLOSE
        # Mironov (2017), Proposition 5, for order 2
        q = 1 / (1 + mpmath.e)
        known = mpmath.log((1 - q) ** 2 / q + q**2 / (1 - q))
        assert abs(one.renyi(mpmath.mpf(2)) - known) < tr.CLOSE
        noise = tr.laplace(mpmath.mpf(1), claims.Fraction(1))
        near = noise.renyi(mpmath.mpf(1) + mpmath.mpf(10) ** -20)
        assert abs(near - noise.renyi(mpmath.mpf(1))) < 1e-15
