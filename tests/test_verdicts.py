from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from dpsym.verdicts import Proved, Refuted, Unknown, Vacuous, Verdict
from tests.fakes import FakeTheorem, FakeWitness
from tests.repo.source import fresh

EVERY = [
    Proved("s", FakeTheorem()),
    Refuted("s", FakeWitness()),
    Unknown("s", ("x >= 0",), "out of time"),
    Vacuous("s", "x > 1 and x < 0"),
]
each = pytest.mark.parametrize("verdict", EVERY, ids=lambda verdict: type(verdict).__name__)


@each
def test_has_no_truth_value(verdict: Verdict) -> None:
    with pytest.raises(TypeError, match=rf"this one is {type(verdict).__name__}.*dpsym\.prove"):
        bool(verdict)
    with pytest.raises(TypeError):
        assert verdict
    with pytest.raises(TypeError):
        _ = not verdict


@each
def test_is_frozen_and_hashable(verdict: Verdict) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        verdict.statement = "another"  # type: ignore[misc]
    assert verdict in {verdict}


@each
def test_shows_its_name_and_statement(verdict: Verdict) -> None:
    assert str(verdict).startswith(f"{type(verdict).__name__}: s")
    assert repr(verdict) == str(verdict)
    assert verdict._repr_latex_().startswith(r"$\displaystyle \text{" + type(verdict).__name__)


@pytest.mark.parametrize("kind", [Proved, Refuted, Unknown, Vacuous])
def test_each_answer_is_none_of_the_others(kind: type[Verdict]) -> None:
    assert [isinstance(verdict, kind) for verdict in EVERY].count(True) == 1


def test_proved_says_what_it_rests_on() -> None:
    verdict = Proved("the claim", FakeTheorem(), assumptions=("a density", "a bound"))
    assert str(verdict) == (
        "Proved: the claim\n"
        "  taken for granted: a density, a bound\n"
        "  by 3 steps of 2 rules that the kernel checked, on no postulate"
    )


def test_proved_names_postulates() -> None:
    theorem = FakeTheorem({"dual": 1}, postulates=("Gauss integral", "another"))
    assert "by 1 step of 1 rule" in str(Proved("c", theorem))
    assert "postulates: Gauss integral, another" in str(Proved("c", theorem))


def test_certificate_is_made_when_asked_for_and_once(tmp_path: Path) -> None:
    theorem = FakeTheorem(text='{"ε": 1}')
    verdict = Proved("c", theorem)
    str(verdict)
    assert theorem.asked == 0
    file = tmp_path / "c.json"
    verdict.save(file)
    verdict.save(str(file))
    assert file.read_bytes() == '{"ε": 1}'.encode()
    assert verdict.certificate == theorem.text
    assert theorem.asked == 1


def test_refuted_shows_every_line_of_its_witness() -> None:
    assert str(Refuted("c", FakeWitness("b = 1\nloss 1 > 1/2"))) == (
        "Refuted: c\n  by the witness: b = 1\n  loss 1 > 1/2"
    )


def test_unknown_shows_reason_and_what_is_left() -> None:
    assert str(Unknown("c", ("a >= 0", "b > 0"), "out of time")) == (
        "Unknown: c\n  out of time\n  left to prove: a >= 0\n  left to prove: b > 0"
    )
    assert str(Unknown("c")) == "Unknown: c"


def test_unknown_does_not_print_the_claim_twice() -> None:
    found = Unknown("c\nfor all x", ("c for all x", "x >= 0 for all x"), "out of time")
    assert str(found) == (
        "Unknown: c\n  for all x\n  out of time\n  left to prove: x >= 0 for all x"
    )


def test_vacuous_gives_the_reason() -> None:
    assert "no values satisfy the conditions: x > 1 and x < 0" in str(EVERY[3])


def test_matches_by_position_and_by_name() -> None:
    seen = []
    for verdict in EVERY:
        match verdict:
            case Proved(statement, theorem):
                seen.append((statement, theorem))
            case Refuted(witness=witness):
                seen.append(witness)
            case Unknown(_, remaining, reason):
                seen.append((remaining, reason))
            case Vacuous(reason=reason):
                seen.append(reason)
    assert seen == [
        ("s", EVERY[0].theorem),
        EVERY[1].witness,
        (("x >= 0",), "out of time"),
        "x > 1 and x < 0",
    ]


def test_latex_is_the_given_one_or_the_plain_text() -> None:
    assert r"\varepsilon" in Unknown("c", latex=r"\varepsilon")._repr_latex_()
    assert r"\verb!e_1 | x!" in Unknown("e_1 | x")._repr_latex_()
    assert r"\verb|a b|" in Unknown("a\n b")._repr_latex_()


def test_verdicts_load_no_sympy() -> None:
    loaded = fresh("import dpsym.verdicts, sys; print(*sys.modules, sep='\\n')").split()
    assert "sympy" not in loaded
