"""The campaign's short form, and that it would notice."""

from __future__ import annotations

import itertools
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
from tests.campaign import adaptive, certificates, claims, curves, inputs, nested
from tests.campaign import truth as tr
from tests.campaign.parts import PARTS, attempts

SHARES = {"claims": 0.06, "certificates": 0.1, "input": 0.6}


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


def test_curves_are_those_of_the_literature() -> None:
    with mpmath.workdps(tr.DIGITS):
        e, d = mpmath.mpf(1) / 2, mpmath.mpf(1) / 20
        two = curves.chained(tr.response(e, d), 2)
        # Dwork and Roth (2014), Theorem 2.2, and its delta (Vadhan 2017, Lemma 2.2)
        assert abs(tr.hockey(two, 2 * e) - (1 + mpmath.exp(e)) * d) < tr.CLOSE
        assert abs(tr.loss(curves.chained(tr.response(e), 3)) - 3 * e) < tr.CLOSE
        # Dong, Roth and Su (2022): the normal pair of the same total variation
        found = curves.bell(tr.response(mpmath.mpf(1)))
        assert abs(tr.gaussian(found).hockey(mpmath.mpf(0)) - mpmath.tanh(0.5)) < tr.CLOSE
        # Balle, Barthe and Gaboardi (2018), Theorems 8 and 9
        q = mpmath.mpf(1) / 3
        for atoms in (tr.response(e, d), curves.together([tr.response(e, d)] * 2)):
            assert atoms is not None
            sample = curves.mixed(atoms, q)
            for loss in (mpmath.mpf(0), e / 3):
                small = mpmath.log(1 + q * (mpmath.exp(loss) - 1))
                expected = q * tr.hockey(atoms, loss)
                for one in (sample, curves.both(sample), curves.both(sample)[::-1]):
                    assert abs(tr.hockey(one, small) - expected) < tr.CLOSE


def test_the_worst_chain_is_the_worst() -> None:
    """Of random chains of three pairs of numbers, each two next to each other as far apart as pure
    DP lets them be, none is worse; one is as bad."""
    source = random.Random(5)
    with mpmath.workdps(tr.DIGITS):
        e = mpmath.mpf(2) / 3
        odds = mpmath.exp(e)
        worst = curves.chained(tr.response(e), 2)
        at = (mpmath.mpf(0), e / 2, e)
        reached = [mpmath.mpf(0)] * len(at)
        for _ in range(200):
            p = mpmath.mpf(source.random())
            ends = [p]
            for _ in range(2):
                p = min(odds * p, 1 - (1 - p) / odds)
                ends.append(p)
            pair = [(ends[2], ends[0]), (1 - ends[2], 1 - ends[0])]
            for i, epsilon in enumerate(at):
                found = tr.hockey(pair, epsilon)
                assert found <= tr.hockey(worst, epsilon) + tr.CLOSE
                reached[i] = max(reached[i], found)
        for epsilon, found in zip(at, reached, strict=True):
            assert found > tr.hockey(worst, epsilon) * 0.97


def test_several_guarantees_are_as_bad_as_the_lower_curve() -> None:
    """How large P(S) can be where Q(S) = x: at most e^a x + b, and 1 - (1 - x - b)/e^a."""
    with mpmath.workdps(tr.DIGITS):
        known = [(mpmath.mpf(1), mpmath.mpf(0)), (mpmath.mpf(1) / 2, mpmath.mpf(1) / 20)]
        least = curves.lowest([tr.response(*each) for each in known])
        points = list(itertools.accumulate(least, lambda a, b: (a[0] + b[0], a[1] + b[1])))
        assert all(abs(total - 1) < tr.CLOSE for total in points[-1])
        assert len(points) == 4  # they cross, on both sides
        for y, x in points[:-1]:
            ends = [
                end
                for a, b in known
                for end in (mpmath.exp(a) * x + b, 1 - (1 - x - b) / mpmath.exp(a))
            ]
            assert abs(y - min(ends)) < tr.CLOSE


def test_choosing_by_an_earlier_output_is_worse() -> None:
    """Where e^epsilon is 3, after the first output of randomized response the worst is randomized
    response, with 3/4 - 1/4, after the second (0, 1/4)-DP: by hand, 3/4 (1/2) + 1/4 (1/4) = 7/16,
    and 3/8 for each of them alone."""
    with mpmath.workdps(tr.DIGITS):
        loss = mpmath.log(3)
        pure, other = nested.Tree("pure"), nested.Tree("approximate")  # with the pairs below
        part = nested.Tree("parallel", (pure, other))
        pairs = {pure: tr.response(loss), other: tr.response(mpmath.mpf(0), mpmath.mpf(1) / 4)}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(nested.Tree, "response", lambda one: pairs[one])
            found = adaptive.worst(nested.Tree("compose", (pure, part)), adaptive.hockey(loss))
            fixed = [
                adaptive.worst(nested.Tree("compose", (pure, one)), adaptive.hockey(loss))
                for one in (pure, other)
            ]
        assert found is not None
        assert abs(tr.hockey(found, loss) - mpmath.mpf(7) / 16) < tr.CLOSE
        assert max(tr.hockey(one, loss) for one in fixed if one) < 0.376


def test_truths_of_nested_subjects() -> None:
    """A sample of two stages, and two of samples, by hand."""
    half = claims.Fraction(1, 2)
    pure = nested.Tree("pure", value=claims.Fraction(1))
    two = nested.Tree("repeat", (pure,), 2)
    inside = nested.Tree("poisson", (two,), half)
    outside = nested.Tree("repeat", (nested.Tree("poisson", (pure,), half),), 2)
    with mpmath.workdps(tr.DIGITS):
        e = mpmath.e
        for one, value in ((inside, (1 + e**2) / 2), (outside, ((1 + e) / 2) ** 2)):
            known, worst = nested.loss(one), nested.high(one)
            assert known.attained
            assert worst is not None
            assert abs(mpmath.mpf(known.value.evalf(60)) - mpmath.log(value)) < tr.CLOSE
            assert abs(tr.loss(worst) - mpmath.log(value)) < tr.CLOSE
            assert all(tr.loss(atoms) <= mpmath.log(value) + tr.CLOSE for atoms in nested.low(one))
        # log E_Q (1/2 + p/(2 q))^2 of the two outcomes
        (atoms,) = nested.low(nested.Tree("poisson", (pure,), half))
        p = e / (1 + e)
        sums = (1 + p / (1 - p)) ** 2 * (1 - p) / 4 + (1 + (1 - p) / p) ** 2 * p / 4
        assert abs(tr.renyi(atoms, mpmath.mpf(2)) - mpmath.log(sums)) < tr.CLOSE


def test_a_kernel_that_proves_too_much_of_stages_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each kind of claim about stages has false ones, and would tell."""
    wrong = dp.check(dp.PureDP(1), dp.PureDP(2))
    monkeypatch.setattr(dp, "check", lambda *_, **__: wrong)
    for name in (
        "nested_subjects",
        "chosen_on_the_way",
        "ends_of_domains",
        "ends_of_rates",
        "with_replacement",
        "added_theorems",
        "samples_at_whole_orders",
        "ranges",
        "filters",
    ):
        outcomes = {claims.attempt(name, random.Random(number))[0] for number in range(14)}
        assert {"WRONG", "true, proved"} <= outcomes, name
