from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from dpsym.errors import ScriptError
from dpsym.kernel.certificate import verify
from dpsym.scripts import (
    CertificateFolder,
    Outcome,
    ScriptTheorem,
    collect,
    processes,
    proved,
    refuted,
    run,
    run_all,
)
from dpsym.scripts.folder import read_results, write_whole
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


# --- executors -----------------------------------------------------------------------------------

MATHS = """
import os
import dpsym as dp
from sympy import Symbol, exp
from dpsym.scripts import proved, refuted
from dpsym.verdicts import Unknown, Vacuous
a = Symbol("a", positive=True)
"""
SEVERAL = """
@proved
def pure():
    return dp.check(dp.compose(dp.PureDP(a), dp.PureDP(a)), dp.PureDP(2 * a))

@proved
def inequality():
    return [dp.check_inequality(1 + a, exp(a)), dp.check(dp.ZCDP(a), dp.ZCDP(2 * a))]

@refuted
def halves():
    return dp.check(dp.PureDP(a), dp.PureDP(a / 2))

@refuted
def point():
    return dp.check_inequality(a, 2)

@proved
def open_one():
    return Unknown("u", ("x >= 0",), "no time")

@proved
def empty():
    return Vacuous("v", "a > 1 and a < 0")

@proved
def crash():
    return 1 / 0
"""


@pytest.fixture(scope="module")
def pool() -> Iterator[Executor]:
    with processes(2) as executor:
        yield executor


def told(outcome: Outcome) -> tuple[Any, ...]:
    """All of an outcome but the time that it took."""
    details = [
        getattr(verdict, "certificate", None)
        or (dict(verdict.witness.values) if isinstance(verdict, Refuted) else str(verdict))
        for verdict in outcome.verdicts
    ]
    return (
        *(outcome.theorem.name, outcome.verdict, outcome.as_expected, outcome.rules),
        *(outcome.certificate_bytes, outcome.postulates, outcome.error, outcome.recalled),
        [(str(verdict), verdict.statement, verdict.assumptions) for verdict in outcome.verdicts],
        details,
    )


def test_every_executor_gives_what_a_serial_run_gives(tmp_path: Path, pool: Executor) -> None:
    script(tmp_path, SEVERAL, head=MATHS)
    script(tmp_path, "def (:", "wrong.py", head="")
    theorems = collect(tmp_path)
    serial = [told(outcome) for outcome in run_all(theorems)]
    assert [one[0] for one in serial] == [theorem.name for theorem in theorems]
    assert [one[1] for one in serial[:4]] == ["Proved", "Proved", "Refuted", "Refuted"]
    with ThreadPoolExecutor(3) as threads:
        for executor in (pool, threads):
            found = {outcome.theorem.name: told(outcome) for outcome in run_all(theorems, executor)}
            assert [found[theorem.name] for theorem in theorems] == serial


def test_those_at_work_are_told(tmp_path: Path, pool: Executor) -> None:
    theorems = collect(script(tmp_path, SEVERAL, head=MATHS))
    for executor in (None, pool):
        seen: list[list[ScriptTheorem]] = []
        list(run_all(theorems, executor, working=lambda at, seen=seen: seen.append(list(at))))
        assert {one.name for some in seen for one in some} <= {one.name for one in theorems}
        if executor is None:
            assert seen == [[theorem] for theorem in theorems]


class Altering(Executor):
    """Runs at once, and gives something else back."""

    def __init__(self, change: Callable[[Any], Any]) -> None:
        self.change = change

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        task: Future[Any] = Future()
        task.set_result(self.change(fn(*args, **kwargs)))
        return task


def altered(**changes: Any) -> Callable[[Any], Any]:
    return lambda found: replace(
        found, verdicts=tuple(replace(verdict, **changes) for verdict in found.verdicts)
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda found: "Proved", "the executor returned str"),
        (lambda found: None, "the executor returned NoneType"),
        (altered(certificate="{}"), "Refusal: certificate"),
        (altered(certificate=""), "Refusal: certificate"),
        (altered(kind="Certain"), "a verdict of a new kind"),
    ],
)
def test_what_comes_back_is_not_taken_at_its_word(
    tmp_path: Path, change: Callable[[Any], Any], said: str
) -> None:
    theorems = collect(script(tmp_path, SEVERAL, head=MATHS))[:1]
    (outcome,) = run_all(theorems, Altering(change))
    assert said in outcome.error
    assert not outcome.as_expected


def test_a_proof_says_what_its_certificate_proves(tmp_path: Path) -> None:
    theorems = collect(script(tmp_path, SEVERAL, head=MATHS))[:1]
    (outcome,) = run_all(theorems, Altering(altered(statement="anything at all")))
    assert "anything" not in str(outcome.verdicts[0])
    assert "PureDP(2*a)" in outcome.verdicts[0].statement


def test_a_process_that_ends_is_an_error_and_no_wait(tmp_path: Path) -> None:
    theorems = collect(script(tmp_path, "@proved\ndef ends():\n    os._exit(3)\n", head=MATHS))
    with processes(1) as executor:
        (outcome,) = run_all(theorems, executor)
    assert "BrokenProcessPool" in outcome.error


def test_processes_end_with_the_block(tmp_path: Path) -> None:
    start = time.monotonic()
    with pytest.raises(KeyError), processes(1) as executor:
        task = executor.submit(time.sleep, 60)
        while not task.running():
            time.sleep(0.01)
        raise KeyError
    assert time.monotonic() - start < 30


def test_a_task_of_another_script_is_an_error(tmp_path: Path) -> None:
    theorem = collect(script(tmp_path, SEVERAL, head=MATHS))[0]
    theorem.script.write_text(MATHS + SEVERAL.replace("def pure", "def other"), encoding="utf-8")
    moved = tmp_path / "copy.py"
    theorem.script.rename(moved)
    with ThreadPoolExecutor(1) as threads:
        (outcome,) = run_all([replace(theorem, script=moved)], threads)
    assert "declares no theorem pure" in outcome.error


# --- certificates in a folder --------------------------------------------------------------------

LAPLACE = """
@proved
def claim():
    noise = dp.AdditiveNoise(dp.noise.Laplace(scale=a), sensitivity=1)
    return [{0}]
"""
CLAIMS = (
    "dp.check(dp.PureDP(a), dp.RenyiDP(2, a))",
    "dp.check(noise, dp.PureDP(1 / a))",
    "dp.check_inequality(1 + a, exp(a))",
)


@pytest.fixture
def no_search(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Makes every search for a proof an error."""

    def searched(*given: object, **more: object) -> None:
        raise RuntimeError("a search")

    def install() -> None:
        monkeypatch.setattr("dpsym.checking.prove_statement", searched)
        monkeypatch.setattr("dpsym.wellformed.prove_statement", searched)
        monkeypatch.setattr("dpsym.checking.leaf.decide", searched)

    return install


def kept(folder: Path, *claims: str, only: bool = False) -> Outcome:
    """The outcome of these claims, run with certificates in the folder ``c``."""
    theorems = collect(script(folder, LAPLACE.format(", ".join(claims)), head=MATHS))
    certificates = CertificateFolder(folder / "c")
    (outcome,) = run_all(theorems, certificates=certificates)
    assert not outcome.error or "a search" in outcome.error
    return outcome


def test_finished_proofs_are_not_searched_for(
    tmp_path: Path, no_search: Callable[[], None]
) -> None:
    first = kept(tmp_path, *CLAIMS)
    assert first.as_expected
    assert first.recalled == 0
    no_search()
    again = kept(tmp_path, *CLAIMS)
    assert again.as_expected
    assert again.recalled == len(CLAIMS)
    assert told(again)[4:7] == told(first)[4:7]
    assert told(again)[-2:] == told(first)[-2:]
    assert kept(tmp_path, *reversed(CLAIMS)).as_expected  # their order is not what counts


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("dp.PureDP(a), dp.RenyiDP(2, a)", "dp.PureDP(a), dp.RenyiDP(2, 2 * a)"),  # weaker
        ("dp.PureDP(a), dp.RenyiDP(2, a)", "dp.PureDP(a), dp.RenyiDP(2, a / 4)"),  # false
        ("dp.PureDP(a), dp.RenyiDP(2, a)", "dp.PureDP(a), dp.RenyiDP(3, a)"),
        ("dp.RenyiDP(2, a)", "dp.RenyiDP(2, a, one_way=True)"),
        ("dp.RenyiDP(2, a))", "dp.RenyiDP(2, a), where=[a < 1])"),
        ("noise, dp.PureDP(1 / a)", "noise, dp.PureDP(2 / a)"),
        ("noise, dp.PureDP(1 / a)", "dp.compose(noise), dp.PureDP(1 / a + 1)"),
        ("1 + a, exp(a)", "1 + a, exp(a), strict=True"),
        ("1 + a, exp(a)", "1 + a, exp(2 * a)"),
    ],
)
def test_a_certificate_of_another_claim_does_not_count(
    tmp_path: Path, no_search: Callable[[], None], before: str, after: str
) -> None:
    (one,) = (claim for claim in CLAIMS if before in claim)
    assert kept(tmp_path, one).as_expected
    no_search()
    assert "a search" in kept(tmp_path, one.replace(before, after)).error


def test_only_whole_and_true_certificates_count(
    tmp_path: Path, no_search: Callable[[], None]
) -> None:
    assert kept(tmp_path, CLAIMS[0]).as_expected
    (file,) = (tmp_path / "c").iterdir()
    assert file.name == "topic.claim.json"
    text = file.read_text(encoding="utf-8")
    no_search()
    data = json.loads(text)
    data["results"][-1][2].pop()  # a step is missing
    for wrong in (text[:-1], "", "{}", json.dumps(data), "\0", text + text):
        file.write_text(wrong, encoding="utf-8")
        assert list(read_results([file])) == []
        assert "a search" in kept(tmp_path, CLAIMS[0]).error
        assert file.read_text(encoding="utf-8") == wrong  # nothing was proved, nothing is written
    file.write_bytes(b"\xff\xfe")
    assert "a search" in kept(tmp_path, CLAIMS[0]).error
    file.rename(file.with_name("topic.another.json"))
    (tmp_path / "c" / "topic.another.json").write_text(text, encoding="utf-8")
    assert "a search" in kept(tmp_path, CLAIMS[0]).error  # it is filed under another theorem
    (tmp_path / "c" / "topic.claim.7.json").write_text(text, encoding="utf-8")
    assert kept(tmp_path, CLAIMS[0]).recalled == 1


def test_a_claim_that_has_become_false_is_refuted(tmp_path: Path) -> None:
    assert kept(tmp_path, "dp.check(dp.PureDP(a), dp.PureDP(2 * a))").as_expected
    assert isinstance(
        kept(tmp_path, "dp.check(dp.PureDP(2 * a), dp.PureDP(a))").verdicts[0], Refuted
    )


def test_certificates_are_found_by_other_processes(tmp_path: Path, pool: Executor) -> None:
    theorems = collect(script(tmp_path, SEVERAL, "other.py", head=MATHS))[:2]
    for expected in (0, 0), (1, 2):
        certificates = CertificateFolder(tmp_path / "c")
        outcomes = list(run_all(theorems, pool, certificates))
        assert sorted(outcome.recalled for outcome in outcomes) == list(expected)
    names = {file.name for file in (tmp_path / "c").iterdir()}
    assert names == {"other.pure.json", "other.inequality.json", "other.inequality.2.json"}
    for file in (tmp_path / "c").iterdir():
        verify(file.read_text(encoding="utf-8"))


def test_a_file_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "c.json"
    write_whole(file, "first")
    for name in ("replace", "fsync"):

        def fails(*given: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(os, name, fails)
            with pytest.raises(KeyboardInterrupt):
                write_whole(file, "second" * 10_000)
        assert [entry.name for entry in tmp_path.iterdir()] == ["c.json"]
        assert file.read_text() == "first"
    write_whole(file, "second")
    assert file.read_text() == "second"
    (tmp_path / "plain").write_text("")
    assert file.stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_scripts_of_one_name_have_files_of_their_own(tmp_path: Path) -> None:
    one = "@proved\ndef claim():\n    return dp.check(dp.PureDP(a), dp.PureDP({} * a))\n"
    for number, folder in enumerate(("x/one", "y/one", "two"), 2):
        script(tmp_path, one.format(number), f"{folder}/topic.py", head=MATHS)
    certificates = CertificateFolder(tmp_path / "c")
    outcomes = list(run_all(collect(tmp_path), certificates=certificates))
    names = [Path(*certificates.kept(outcome.theorem)).name for outcome in outcomes]
    assert names == ["two.topic.claim.json", "x.one.topic.claim.json", "y.one.topic.claim.json"]
    for outcome, name in zip(outcomes, names, strict=True):
        (proof,) = outcome.verdicts
        assert isinstance(proof, Proved)
        assert (tmp_path / "c" / name).read_text() == proof.certificate


def test_a_name_that_two_scripts_would_share_is_given_once(tmp_path: Path) -> None:
    """``x.topic.py`` as it stands, and ``x/topic.py`` where its folder tells it from the others."""
    one = "@proved\ndef claim():\n    return dp.check(dp.PureDP(a), dp.PureDP({} * a))\n"
    names = ("x.topic.py", "x/topic.py", "y/topic.py")
    for number, name in enumerate(names, 2):
        script(tmp_path, one.format(number), name, head=MATHS)
    certificates = CertificateFolder(tmp_path / "c")
    list(run_all(collect(tmp_path), certificates=certificates))
    assert len(list((tmp_path / "c").iterdir())) == len(names)


def test_a_fault_of_the_checker_is_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "c.json"
    file.write_text("{}")

    def broken(text: str) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("dpsym.scripts.folder.verify", broken)
    assert list(read_results([file])) == []
