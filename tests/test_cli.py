from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dpsym
from dpsym import cli
from dpsym.cli import main
from dpsym.errors import InputError
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.statements import Assumed, Fact, Guarantee, Statement
from dpsym.kernel.terms import num, var
from dpsym.verdicts import Proved, Refuted, Unknown, Vacuous
from dpsym.version import VERSION
from tests.fakes import FakeTheorem, FakeWitness
from tests.repo.source import ROOT

HEAD = """
import dpsym
from dpsym.scripts import proved, refuted
from dpsym.verdicts import Proved, Refuted, Unknown, Vacuous
from tests.fakes import FakeTheorem, FakeWitness
"""
PROVED = "@proved(source='S')\ndef {0}():\n    return Proved('{0}', FakeTheorem())\n"
REFUTED = "@refuted\ndef {0}():\n    return Refuted('{0}', FakeWitness())\n"
WRONG = "@proved\ndef {0}():\n    return Refuted('{0}', FakeWitness())\n"
CRASH = "@proved\ndef {0}():\n    return 1 / 0\n"
INTERRUPT = "@proved\ndef {0}():\n    raise KeyboardInterrupt\n"

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a script below the current folder; bodies are filled with names t1, t2, ...

    ``prove`` runs them in this process, unless it is told --jobs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dpsym.scripts.cores", lambda: 1)

    def put(*bodies: str, name: str = "proofs/topic.py") -> Path:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        parts = (body.format(f"t{number}") for number, body in enumerate(bodies, 1))
        file.write_text(HEAD + "\n".join(parts), encoding="utf-8")
        return file

    return put


# --- the whole command line ----------------------------------------------------------------------


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"dpsym {VERSION}\n"


@pytest.mark.parametrize("command", [[], *([name] for name in cli.cli.commands)])
def test_help_has_examples(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, "--help"]) == 0
    out = capsys.readouterr().out
    assert "Examples:\n" in out
    assert f"  dpsym {' '.join(command)}" in out


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["unknown"],
        ["--unknown"],
        ["prove", "missing"],
        ["prove"],  # there is no folder proofs here
        ["prove", ".", "--only", "nothing"],
        ["prove", "."],  # no script in it
        ["verify"],
        ["verify", "missing.json"],
        ["verify", "."],
        ["check", "PureDP(1)"],
        ["check", "PureDP(1)", "PureDP(2)", "--budget", "-1"],
        ["check", "PureDP(1)", "PureDP(2)", "--budget", "soon"],
        ["inequality", "1"],
    ],
)
def test_wrong_usage_is_2(
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err
    assert captured.err.startswith(("dpsym: ", "Usage: "))


def test_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "dpsym", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stdout) == (0, f"dpsym {VERSION}\n")


def test_an_unforeseen_error_is_one_line(
    write: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*given: object) -> None:
        raise RuntimeError("a\x1b[31m fault\nof ours")

    write(PROVED)
    monkeypatch.setattr("dpsym.scripts.running.run", broken)
    assert main(["prove"]) == 1
    assert capsys.readouterr().err == "dpsym: RuntimeError: a\\x1b[31m fault of ours\n"


# --- prove ---------------------------------------------------------------------------------------


def table(out: str) -> list[list[str]]:
    """The cells of the final table."""
    lines = out.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("---"))
    return [line.split() for line in lines[start + 1 : -1]]


def test_all_as_declared_is_0(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write(PROVED, REFUTED)
    assert main(["prove"]) == 0
    out = capsys.readouterr().out
    first, second = table(out)
    assert first == ["t1", "Proved", "0.00", "3", "12", "B", "0"]
    assert second == ["t2", "Refuted", "0.00", "-", "-", "-"]
    assert "1 Proved, 1 Refuted; all as the scripts say; no postulate" in out.splitlines()[-1]
    assert "[1/2] ok   Proved" in out
    assert "\x1b" not in out


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (WRONG, "Refuted (not Proved)"),
        (CRASH, "ZeroDivisionError: division by zero (topic.py, line 8)"),
        ("@proved\ndef {0}():\n    return Unknown('u', ('x >= 0',))\n", "left to prove: x >= 0"),
        ("@proved\ndef {0}():\n    return Vacuous('u')\n", "Vacuous (not Proved)"),
        ("@proved\ndef {0}():\n    return None\n", "a theorem returns a verdict"),
        ("def {0}(:\n", "SyntaxError"),
        ("exit(0)\n", "SystemExit: 0"),
    ],
)
def test_one_that_is_not_as_declared_is_1(
    write: Write, capsys: pytest.CaptureFixture[str], body: str, said: str
) -> None:
    write(body)
    write(PROVED, name="proofs/a_good_one.py")
    assert main(["prove"]) == 1
    captured = capsys.readouterr()
    assert said in captured.out
    assert "1 of 2 NOT as the scripts say" in captured.out
    assert "Traceback" not in captured.out + captured.err


def test_only_keeps_broken_scripts(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write(PROVED, WRONG)
    assert main(["prove", "--only", "t1"]) == 0
    assert main(["prove", "--only", "t1", "--only", "t2"]) == 1
    write("syntax error", name="proofs/broken.py")
    assert main(["prove", "--only", "t1"]) == 1
    assert "t2" not in capsys.readouterr().out.splitlines()[-1]


def test_the_same_script_twice_runs_once(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(PROVED)
    assert main(["prove", "proofs", str(file), "proofs"]) == 0
    assert len(table(capsys.readouterr().out)) == 1


def test_certificates(write: Write, tmp_path: Path) -> None:
    several = "@proved\ndef {0}():\n    return [Proved('a', FakeTheorem(text=x)) for x in 'ab']\n"
    write(PROVED, REFUTED, several)
    write(PROVED, name="proofs/sub/topic.py")
    assert main(["prove", "--certificates", "deep/folder"]) == 0
    written = {file.name: file.read_text() for file in (tmp_path / "deep/folder").iterdir()}
    assert written == {
        "proofs.topic.t1.json": '{"goal": []}',
        "sub.topic.t1.json": '{"goal": []}',
        "topic.t3.json": "a",
        "topic.t3.2.json": "b",
    }


def test_json(write: Write, tmp_path: Path) -> None:
    write(PROVED, WRONG)
    assert main(["prove", "--json", "results.json", "--certificates", "c"]) == 1
    results = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert results["dpsym"] == VERSION
    assert results["all_as_expected"] is False
    first, second = results["theorems"]
    assert first["name"] == "t1"
    assert first["source"] == "S"
    assert first["rules"] == 3
    assert first["certificates"] == [os.path.join("c", "topic.t1.json")]
    assert first["as_expected"] is True
    assert (second["expected"], second["verdict"]) == ("Proved", "Refuted")
    assert second["verdicts"][0].startswith("Refuted: t2\n  by the witness: ")
    assert second["certificates"] == []


def test_json_on_standard_output_is_all_of_it(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write(PROVED)
    assert main(["prove", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["all_as_expected"] is True


def test_what_cannot_be_written_is_1(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write(PROVED)
    Path("file").write_text("")
    assert main(["prove", "--certificates", "file"]) == 2
    assert main(["prove", "--certificates", "file/below"]) == 1
    assert main(["prove", "--json", "missing/results.json"]) == 1
    err = capsys.readouterr().err
    assert "No such file or directory: missing/results.json" in err
    assert "Traceback" not in err


def test_postulates_are_named(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    assumed = "FakeTheorem(postulates=('a textbook integral',))"
    write("@proved\ndef {0}():\n    return Proved('a', " + assumed + ")\n")
    assert main(["prove"]) == 0
    out = capsys.readouterr().out
    assert table(out)[0][-1] == "1"
    assert "postulates: a textbook integral" in out.splitlines()[-1]


def test_progress_on_a_terminal(
    write: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(PROVED, REFUTED)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert main(["prove"]) == 0
    out = capsys.readouterr().out
    assert "\r\x1b[K[1/2] t1 ...\r\x1b[K[1/2] ok   Proved" in out


def test_ctrl_c_ends_with_a_table(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write(PROVED, INTERRUPT, PROVED)
    assert main(["prove", "--json", "results.json"]) == 130
    out = capsys.readouterr().out
    assert len(table(out)) == 1
    assert "STOPPED after 1 of 3 theorems" in out.splitlines()[-1]
    results = json.loads(Path("results.json").read_text(encoding="utf-8"))
    assert results["all_as_expected"] is False


def test_ctrl_c_while_scripts_are_read(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("raise KeyboardInterrupt\n")
    assert main(["prove"]) == 130
    assert capsys.readouterr().err.endswith("dpsym: stopped\n")


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_real_ctrl_c(write: Write) -> None:
    write("import time\n@proved\ndef {0}():\n    print('ready', flush=True)\n    time.sleep(60)\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "dpsym", "prove"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 130
    assert time.monotonic() - start < 10
    assert "STOPPED after 0 of 1" in out
    assert "Traceback" not in out + err


REAL = "import dpsym as dp\n@proved\ndef {0}():\n    return dp.check(dp.PureDP(1), dp.PureDP(2))\n"
FALSE = (
    "import dpsym as dp\n@refuted\ndef {0}():\n    return dp.check(dp.PureDP(2), dp.PureDP(1))\n"
)


def test_jobs_change_nothing_but_the_time(
    write: Write, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    write(
        FALSE, REAL, CRASH, WRONG.replace("Refuted('{0}', FakeWitness())", "Unknown('u', ('x',))")
    )
    results = []
    for jobs in ("1", "2"):
        options = ["--jobs", jobs, "--json", f"{jobs}.json", "--certificates", jobs]
        assert main(["prove", *options]) == 1
        rows = table(capsys.readouterr().out)
        data = json.loads((tmp_path / f"{jobs}.json").read_text(encoding="utf-8"))
        for one in data["theorems"]:
            del one["seconds"]
            one["certificates"] = [Path(name).name for name in one["certificates"]]
        texts = {file.name: file.read_text() for file in (tmp_path / jobs).iterdir()}
        results.append(([[*row[:2], *row[3:]] for row in rows], data, texts))
    assert results[0] == results[1]
    assert [row[0] for row in results[0][0]] == ["t1", "t2", "t3", "t4"]
    assert list(results[0][2]) == ["topic.t2.json"]


def test_what_is_finished_is_kept(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write(REAL, REAL)
    command = ["prove", "--certificates", "c", "--json", "results.json"]
    assert main([*command, "--only", "t1"]) == 0
    before = os.stat("c/topic.t1.json")
    capsys.readouterr()
    assert main(command) == 0
    out = capsys.readouterr().out
    assert out.count("(certificate kept)") == 1
    assert re.search(r"t1  \(certificate kept\)$", out, flags=re.MULTILINE)
    assert os.stat("c/topic.t1.json") == before
    first, second = json.loads(Path("results.json").read_text(encoding="utf-8"))["theorems"]
    assert (first["recalled"], second["recalled"]) == (1, 0)
    assert first["certificates"] == ["c/topic.t1.json"]


@pytest.mark.parametrize("jobs", ["0", "-1", "two", "1.5"])
def test_a_number_of_jobs_is_at_least_one(
    write: Write, jobs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(PROVED)
    assert main(["prove", "--jobs", jobs]) == 2
    assert "--jobs" in capsys.readouterr().err


SLEEPS = (
    "import os, time\n@proved\ndef {0}():\n"
    "    open(f'{{os.getpid()}}.pid', 'w').close()\n    time.sleep(60)\n"
)


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("everyone", [True, False], ids=["all processes", "one process"])
def test_a_real_ctrl_c_with_several_processes(write: Write, tmp_path: Path, everyone: bool) -> None:
    """A terminal sends SIGINT to all processes, ``kill`` to one; both end all, without a word."""
    write(REAL, SLEEPS, SLEEPS, SLEEPS)
    process = subprocess.Popen(
        [sys.executable, "-m", "dpsym", "prove", "--jobs", "2", "--certificates", "c"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        assert "t1" in process.stdout.readline()
        deadline = time.monotonic() + 60
        while len(list(tmp_path.glob("*.pid"))) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        start = time.monotonic()
        os.killpg(process.pid, signal.SIGINT) if everyone else process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 130, err
    assert time.monotonic() - start < 20
    assert "STOPPED after 1 of 4 theorems" in out
    assert err == ""
    assert [file.name for file in (tmp_path / "c").iterdir()] == ["topic.t1.json"]
    for file in tmp_path.glob("*.pid"):
        with pytest.raises(ProcessLookupError):
            os.kill(int(file.stem), 0)


def test_a_reader_that_stops_reading(write: Write) -> None:
    write(*[PROVED] * 50)
    command = f"{sys.executable} -m dpsym prove | head -n 1"
    done = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert "Traceback" not in done.stderr


# --- verify --------------------------------------------------------------------------------------


def statement(name: str = "e") -> Statement:
    e = var(name)
    stage = Assumed((Guarantee("PureDP", (e,)),))
    claim = Guarantee("PureDP", (e * num(2),))
    return Statement(((name, "real"),), (Fact(e, ">="),), (stage, stage), (claim,))


@pytest.fixture
def checker(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[str], Any]], None]:
    """Puts a function in the place of the kernel's checker."""

    def install(function: Callable[[str], Any]) -> None:
        monkeypatch.setattr("dpsym.kernel.certificate.verify", function)

    return install


def accept(text: str) -> Any:
    return types.SimpleNamespace(statement=statement(), postulates=())


def file_with(folder: Path, data: bytes, name: str = "c.json") -> str:
    file = folder / name
    file.write_bytes(data)
    return str(file)


def test_accepted(tmp_path: Path, checker: Any, capsys: pytest.CaptureFixture[str]) -> None:
    checker(accept)
    assert main(["verify", file_with(tmp_path, b"{}")]) == 0
    head, *goal = capsys.readouterr().out.splitlines()
    assert head.startswith("OK  ")
    assert [line.strip() for line in goal] == [
        "the adaptive composition of",
        "1. any mechanism with PureDP(e)",
        "2. any mechanism with PureDP(e)",
        "has PureDP(2*e)",
        "for all real e with e >= 0",
    ]


def refuse(text: str) -> Any:
    raise Refusal("dual", "multipliers are >= 0", "-1\x1b[2J")


@pytest.mark.parametrize(
    ("check", "data", "said"),
    [
        (refuse, b"{}", "dual: multipliers are >= 0 (got -1\\x1b[2J)"),
        (accept, b"\xff\xfe", "not UTF-8 text"),
        (lambda text: 1 / 0, b"{}", "the checker failed: ZeroDivisionError"),
        (lambda text: (lambda f: f(f))(lambda f: f(f)), b"{}", "RecursionError"),
        (lambda text: None, b"{}", "the checker failed: AttributeError"),
    ],
    ids=["refusal", "bytes", "fault", "recursion", "nothing"],
)
def test_refused_with_a_reason(
    tmp_path: Path,
    checker: Any,
    capsys: pytest.CaptureFixture[str],
    check: Callable[[str], Any],
    data: bytes,
    said: str,
) -> None:
    checker(check)
    assert main(["verify", file_with(tmp_path, data)]) == 1
    captured = capsys.readouterr()
    assert captured.out.startswith("REFUSED  ")
    assert said in captured.out
    assert "OK" not in captured.out
    assert captured.err == ""


def test_one_refused_among_many(
    tmp_path: Path, checker: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    checker(lambda text: accept(text) if text == "good" else refuse(text))
    files = [
        file_with(tmp_path, data, f"{number}.json")
        for number, data in enumerate((b"good", b"bad", b"good"))
    ]
    assert main(["verify", *files]) == 1
    out = capsys.readouterr().out
    assert out.count("OK  ") == 2
    assert out.count("REFUSED  ") == 1
    assert out.endswith("2 of 3 accepted\n")


def test_size_is_bounded_before_anything_is_parsed(
    tmp_path: Path, checker: Any, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    monkeypatch.setattr(cli, "MAX_CERTIFICATE_BYTES", 10)
    checker(accept)
    assert main(["verify", file_with(tmp_path, b"x" * 10)]) == 0
    assert main(["verify", file_with(tmp_path, b"x" * 11)]) == 1
    assert "longer than 10 B" in capsys.readouterr().out


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no such device")
def test_an_endless_file_is_refused(
    checker: Any, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    monkeypatch.setattr(cli, "MAX_CERTIFICATE_BYTES", 10**6)
    checker(accept)
    assert main(["verify", "/dev/zero"]) == 1
    assert "longer than 1.0 MB" in capsys.readouterr().out


def test_standard_input(
    checker: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    checker(accept)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"{}")))
    assert main(["verify", "-"]) == 0
    assert capsys.readouterr().out.startswith("OK  standard input")


@pytest.mark.parametrize("name", ["0", "e >= 0, f", "pi", "", "é"])
def test_a_name_cannot_pass_for_something_else(
    name: str, tmp_path: Path, checker: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    if not name:
        with pytest.raises(Refusal):
            var(name)
        return
    checker(lambda text: types.SimpleNamespace(statement=statement(name), postulates=()))
    assert main(["verify", file_with(tmp_path, b"{}")]) == 0
    out = capsys.readouterr().out
    assert f"PureDP({name!a})".replace("\\", "") in out.replace("\\", "")
    assert out.isascii()


# --- check and inequality ------------------------------------------------------------------------


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Fakes of the reader and of both questions; records the calls, answers ``verdict``."""
    seen: dict[str, Any] = {"verdict": Proved("c", FakeTheorem())}

    def ask(*arguments: Any, **options: Any) -> Any:
        seen["call"] = (arguments, options)
        if isinstance(seen["verdict"], Exception):
            raise seen["verdict"]
        return seen["verdict"]

    reader = types.ModuleType("dpsym.reader")
    for name in ("subject", "relation", "expression"):
        setattr(reader, f"read_{name}", lambda text, symbols, name=name: (name, text))
    monkeypatch.setitem(sys.modules, "dpsym.reader", reader)
    monkeypatch.setattr(dpsym, "check", ask, raising=False)
    monkeypatch.setattr(dpsym, "check_inequality", ask, raising=False)
    return seen


def test_check_passes_everything_on(answers: dict[str, Any]) -> None:
    relations = ["--where", "d < 1", "--where", "e > 0"]
    assert main(["check", "S", "C", *relations, "--budget", "2.5"]) == 0
    arguments, options = answers["call"]
    assert arguments == (("subject", "S"), ("subject", "C"))
    assert options == {"where": [("relation", "d < 1"), ("relation", "e > 0")], "budget": 2.5}


def test_inequality_passes_everything_on(answers: dict[str, Any]) -> None:
    assert main(["inequality", "x", "exp(x)", "--strict"]) == 0
    arguments, options = answers["call"]
    assert arguments == (("expression", "x"), ("expression", "exp(x)"))
    assert options == {"where": [], "strict": True}


@pytest.mark.parametrize("command", ["check", "inequality"])
@pytest.mark.parametrize(
    ("verdict", "code"),
    [
        (Proved("c", FakeTheorem()), 0),
        (Refuted("c", FakeWitness()), 1),
        (Unknown("c", ("x >= 0",)), 3),
        (Vacuous("c"), 3),
    ],
)
def test_exit_code_says_the_verdict(
    command: str,
    verdict: Any,
    code: int,
    answers: dict[str, Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    answers["verdict"] = verdict
    assert main([command, "a", "b"]) == code
    assert capsys.readouterr().out == f"{verdict}\n"


@pytest.mark.parametrize("command", ["check", "inequality"])
def test_wrong_input_is_2(
    command: str, answers: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    answers["verdict"] = InputError("delta", "a number in [0, 1]", 2)
    assert main([command, "a", "b"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "dpsym: delta: expected a number in [0, 1], got 2" in captured.err


def test_certificate_is_written_for_a_proof_only(
    tmp_path: Path, answers: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "c.json"
    assert main(["check", "a", "b", "--certificate", str(file)]) == 0
    assert file.read_text() == '{"goal": []}'
    file.unlink()
    answers["verdict"] = Unknown("c")
    assert main(["check", "a", "b", "--certificate", str(file)]) == 3
    assert not file.exists()
    assert "no certificate is written" in capsys.readouterr().err


def test_a_name_that_starts_with_minus(answers: dict[str, Any]) -> None:
    assert main(["inequality", "--", "-x", "x"]) == 0
    assert answers["call"][0] == (("expression", "-x"), ("expression", "x"))
