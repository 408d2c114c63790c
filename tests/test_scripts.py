from __future__ import annotations

import sys
from pathlib import Path
from textwrap import dedent

import pytest

from dpsym.errors import ScriptError
from dpsym.scripts import Outcome, ScriptTheorem, collect, proved, refuted, run
from dpsym.verdicts import Proved, Refuted, Unknown, Vacuous

HEAD = """
from dpsym.scripts import proved, refuted
from dpsym.verdicts import Proved, Refuted, Unknown, Vacuous
from tests.fakes import FakeTheorem, FakeWitness
yes = Proved("yes", FakeTheorem())
no = Refuted("no", FakeWitness())
"""


def script(folder: Path, body: str, name: str = "topic.py", head: str = HEAD) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(head + dedent(body), encoding="utf-8")
    return file


def only(folder: Path, body: str) -> Outcome:
    (theorem,) = collect(script(folder, body))
    return run(theorem)


def test_records_claim_and_source_and_runs_nothing(tmp_path: Path) -> None:
    file = script(
        tmp_path,
        '''
        @proved(source="A paper, Theorem 1")
        def second_is_first():
            """What it says,
            in one sentence.

            And more.
            """
            raise SystemExit("run")

        @refuted
        def a_false_one():
            return no
        ''',
    )
    first, second = collect(file)
    assert (first.name, first.expected, first.source) == (
        "second_is_first",
        Proved,
        "A paper, Theorem 1",
    )
    assert first.summary == "What it says, in one sentence."
    assert first.script == file
    assert file.read_text(encoding="utf-8").splitlines()[first.line - 1].startswith("@proved")
    assert (second.name, second.expected, second.source) == ("a_false_one", Refuted, "")


def test_decorated_function_stays_a_function() -> None:
    @proved(source="s")
    def claim() -> str:
        return "called"

    @refuted
    def another() -> str:
        return "called"

    assert claim() == another() == "called"


@pytest.mark.parametrize("wrong", [lambda x: x, 3, "name", Proved])
def test_only_functions_without_parameters(wrong: object) -> None:
    with pytest.raises(ScriptError, match="function without parameters"):
        proved(wrong)  # type: ignore[call-overload]


def test_source_is_a_text() -> None:
    with pytest.raises(ScriptError, match="source is a text, not 3"):
        refuted(source=3)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("decorator", "returned", "right"),
    [
        ("proved", "yes", True),
        ("proved", "no", False),
        ("proved", "[yes, yes]", True),
        ("proved", "(yes, no)", False),
        ("proved", "Unknown('u')", False),
        ("proved", "Vacuous('v')", False),
        ("refuted", "no", True),
        ("refuted", "(no, no)", True),
        ("refuted", "yes", False),
        ("refuted", "[no, Unknown('u')]", False),
        ("refuted", "Vacuous('v')", False),
    ],
)
def test_every_verdict_has_to_come_out_as_declared(
    tmp_path: Path, decorator: str, returned: str, right: bool
) -> None:
    outcome = only(tmp_path, f"@{decorator}\ndef claim():\n    return {returned}\n")
    assert outcome.as_expected is right
    assert not outcome.error


@pytest.mark.parametrize(
    "returned", ["None", "True", "'Proved'", "[]", "[yes, None]", "FakeTheorem()"]
)
def test_what_is_no_verdict_is_an_error(tmp_path: Path, returned: str) -> None:
    outcome = only(tmp_path, f"@proved\ndef claim():\n    return {returned}\n")
    assert not outcome.as_expected
    assert outcome.verdict == "Error"
    assert "a theorem returns" in outcome.error


def test_counts_add_up_over_the_proofs(tmp_path: Path) -> None:
    outcome = only(
        tmp_path,
        """
        @proved
        def claim():
            first = FakeTheorem({"a": 2, "b": 1}, ("p", "q"), "12345")
            second = FakeTheorem({"a": 4}, ("q", "r"), "δ")
            return [Proved("1", first), Proved("2", second)]
        """,
    )
    assert outcome.rules == 7
    assert outcome.certificate_bytes == 5 + 2
    assert outcome.postulates == ("p", "q", "r")
    assert outcome.verdict == "Proved"
    assert outcome.seconds >= 0


def test_different_verdicts_are_all_named(tmp_path: Path) -> None:
    assert only(tmp_path, "@proved\ndef c():\n    return [yes, no, yes]\n").verdict == (
        "Proved + Refuted"
    )


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("exit(3)", "SystemExit: 3"),
        ("(lambda f: f(f))(lambda f: f(f))", "RecursionError"),
        (r"int('a\nb')", "ValueError: invalid literal"),
    ],
)
def test_an_error_in_a_theorem_is_one_line(tmp_path: Path, raised: str, said: str) -> None:
    outcome = only(tmp_path, f"@proved\ndef claim():\n    return {raised}\n")
    assert said in outcome.error
    assert "(topic.py, line 9)" in outcome.error
    assert "\n" not in outcome.error
    assert len(outcome.error) < 500
    assert not outcome.as_expected


def test_ctrl_c_is_not_swallowed(tmp_path: Path) -> None:
    (theorem,) = collect(script(tmp_path, "@proved\ndef c():\n    raise KeyboardInterrupt\n"))
    with pytest.raises(KeyboardInterrupt):
        run(theorem)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def f(:\n", "SyntaxError"),
        ("import not_a_module\n", "ModuleNotFoundError: No module named 'not_a_module'"),
        ("exit(1)\n", "SystemExit: 1"),
        ("x = 1\n", "declares no theorem"),
        ("", "declares no theorem"),
        ("\0", "null bytes"),
        ("from dpsym.scripts import proved\n@proved\ndef f(x): ...\n", "without parameters"),
    ],
)
def test_a_script_that_cannot_be_read_is_one_failed_entry(
    tmp_path: Path, text: str, said: str
) -> None:
    (entry,) = collect(script(tmp_path, text, head=""))
    assert said in entry.error
    assert entry.name == "(topic.py)"
    outcome = run(entry)
    assert outcome.error == entry.error
    assert not outcome.as_expected


def test_a_script_that_fails_leaves_no_module(tmp_path: Path) -> None:
    before = set(sys.modules)
    collect(script(tmp_path, "1 / 0\n"))
    assert not [name for name in set(sys.modules) - before if name.startswith("dpsym_script")]


def test_a_name_declared_twice_is_not_lost(tmp_path: Path) -> None:
    twice = "@proved\ndef claim():\n    return no\n\n@proved\ndef claim():\n    return yes\n"
    (entry,) = collect(script(tmp_path, twice))
    assert entry.error == "declared more than once: claim"


def test_folder_is_read_in_order_without_hidden_files(tmp_path: Path) -> None:
    one = "@proved\ndef {}():\n    return yes\n"
    for name in ("b.py", "a.py", "sub/c.py", "_helper.py", ".hidden.py", "__pycache__/d.py"):
        script(tmp_path, one.format("claim"), name)
    (tmp_path / "notes.txt").write_text("not Python")
    scripts = [theorem.script.relative_to(tmp_path).as_posix() for theorem in collect(tmp_path)]
    assert scripts == ["a.py", "b.py", "sub/c.py"]


def test_scripts_of_one_name_do_not_meet(tmp_path: Path) -> None:
    for folder, value in (("one", "yes"), ("two", "no")):
        script(
            tmp_path,
            f"value = {value}\n@proved\ndef claim():\n    return value\n",
            f"{folder}/s.py",
        )
    first, second = (run(theorem) for theorem in collect(tmp_path))
    assert isinstance(first.verdicts[0], Proved)
    assert isinstance(second.verdicts[0], Refuted)


def test_an_imported_theorem_belongs_to_its_own_script(tmp_path: Path) -> None:
    """A script that brings in another module's theorems does not count them as its own."""
    (entry,) = collect(script(tmp_path, "from tests.test_scripts import a_theorem_elsewhere\n"))
    assert "declares no theorem" in entry.error


@proved
def a_theorem_elsewhere() -> None:
    """Imported by the test above."""


def test_missing_path_and_other_files(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no file or folder"):
        collect(tmp_path / "missing.py")
    other = tmp_path / "notes.txt"
    other.write_text("x")
    (entry,) = collect(other)
    assert "does not end in .py" in entry.error


def test_an_outcome_without_verdicts_is_never_right() -> None:
    theorem = ScriptTheorem("t", Path("s.py"))
    assert not Outcome(theorem).as_expected
    assert not Outcome(theorem, (Proved("c", None),), error="broken").as_expected  # type: ignore[arg-type]
    assert not Outcome(theorem, (Unknown("c"),)).as_expected
    assert not Outcome(theorem, (Vacuous("c"),)).as_expected
