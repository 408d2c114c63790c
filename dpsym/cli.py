"""The command line: ``dpsym prove``, ``verify``, ``audit``, ``check`` and ``inequality``.

Every command imports what it needs when it runs: ``dpsym verify`` loads the kernel and nothing
that the kernel does not load, in particular not SymPy.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dpsym.version import VERSION

if TYPE_CHECKING:
    from dpsym.scripts import CertificateFolder, Outcome, ScriptTheorem
    from dpsym.verdicts import Verdict

Made = TypeVar("Made")
MAX_CERTIFICATE_BYTES = 32 * 2**20
OK, FAILED, USAGE, UNDECIDED, INTERRUPTED = 0, 1, 2, 3, 130
_VERDICT_CODES = {"Proved": OK, "Refuted": FAILED, "Unknown": UNDECIDED, "Vacuous": UNDECIDED}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; never raises for anything a user can do."""
    try:
        code = cli.main(arguments, prog_name="dpsym", standalone_mode=False)
        return code if isinstance(code, int) else OK
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return USAGE
    except click.ClickException as error:
        click.echo(f"dpsym: {_printable(error.format_message())}", err=True)
        if isinstance(error, click.UsageError) and error.ctx is not None:
            click.echo(f"Try '{error.ctx.command_path} --help'.", err=True)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("\ndpsym: stopped", err=True)
        return INTERRUPTED
    except Exception as error:
        click.echo(f"dpsym: {_printable(_describe(error))}", err=True)
        return FAILED


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(VERSION, message="dpsym %(version)s")
def cli() -> None:
    """Check proofs of differential-privacy guarantees, for all parameters.

    \b
    Examples:
      dpsym prove proofs
      dpsym prove proofs --certificates certificates
      dpsym verify certificates/*.json
      dpsym audit certificates/*.json
      dpsym check "compose(PureDP(a), PureDP(b))" "PureDP(a + b)"
    """


# --- prove ---------------------------------------------------------------------------------------


@cli.command()
@click.argument(
    "paths", nargs=-1, type=click.Path(exists=True, path_type=Path), metavar="[PATH]..."
)
@click.option(
    "--certificates",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write the certificate of every proof into this folder.",
)
@click.option(
    "--json",
    "results",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    metavar="FILE",
    help="Write the results as JSON ('-': standard output, in place of the report).",
)
@click.option("--only", multiple=True, metavar="NAME", help="Only this theorem (repeatable).")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Run in this many processes (default: one for each core).",
)
def prove(
    paths: tuple[Path, ...],
    certificates: Path | None,
    results: Path | None,
    only: tuple[str, ...],
    jobs: int | None,
) -> int:
    """Run proof scripts, files or folders of them (default: the folder 'proofs').

    With --certificates, proofs that are finished are not searched for again: those of which the
    folder has a certificate that the kernel accepts, of the very goal that the script's claim is
    read as now.

    Exit code 0 if every theorem came out as its script says, 1 if not, 2 for wrong usage, 130 if
    stopped by Ctrl-C.

    \b
    Examples:
      dpsym prove
      dpsym prove proofs/composition.py --only pure_dp_composes
      dpsym prove proofs --certificates certificates --json results.json --jobs 2
    """
    from dpsym.scripts import CertificateFolder, cores

    theorems = _collect(paths or (Path("proofs"),), only)
    folder = None if certificates is None else CertificateFolder(certificates)
    jobs = min(jobs or cores(), len(theorems))
    report = _Report(len(theorems), jobs, quiet=str(results) == "-")
    outcomes: list[Outcome] = []
    stopped = False
    try:
        with closing(_outcomes(theorems, jobs, folder, report)) as coming:
            for outcome in coming:
                outcomes.append(outcome)
                report.end(outcome)
    except KeyboardInterrupt:
        stopped = True
    place = {id(theorem): index for index, theorem in enumerate(theorems)}
    outcomes.sort(key=lambda outcome: place[id(outcome.theorem)])
    report.close(outcomes, stopped)
    right = not stopped and all(outcome.as_expected for outcome in outcomes)
    if results is not None:
        files = [[] if folder is None else folder.kept(item.theorem) for item in outcomes]
        text = json.dumps(_results(outcomes, files, right), indent=2, ensure_ascii=False) + "\n"
        with click.open_file(str(results), "w", encoding="utf-8") as stream:
            stream.write(text)
    return INTERRUPTED if stopped else OK if right else FAILED


def _outcomes(
    theorems: list[ScriptTheorem], jobs: int, folder: CertificateFolder | None, report: _Report
) -> Generator[Outcome, None, None]:
    """The outcomes as they come, from this process if it is for one job."""
    from dpsym.scripts import processes, run_all

    if jobs <= 1:
        yield from run_all(theorems, None, folder, report.working)
        return
    with processes(jobs) as executor:
        yield from run_all(theorems, executor, folder, report.working)


def _collect(paths: tuple[Path, ...], only: tuple[str, ...]) -> list[ScriptTheorem]:
    from dpsym.scripts import collect

    theorems: list[ScriptTheorem] = []
    for path in paths:
        if not path.exists():
            raise click.UsageError(f"there is no file or folder {str(path)!r}")
        known = {theorem.script.resolve() for theorem in theorems}
        theorems += [item for item in collect(path) if item.script.resolve() not in known]
    names = {theorem.name for theorem in theorems}
    for name in only:
        if name not in names:
            raise click.UsageError(f"no theorem is called {name!r}")
    if only:  # a script that cannot be read still fails
        theorems = [item for item in theorems if item.name in only or item.error]
    if not theorems:
        raise click.UsageError(f"no proof script in {', '.join(map(str, paths))}")
    return theorems


class _Report:
    """Progress and the final table. On a terminal the theorems at work are shown while they run."""

    def __init__(self, total: int, jobs: int, quiet: bool) -> None:
        self.total, self.done, self.jobs, self.quiet = total, 0, jobs, quiet
        self.live = not quiet and sys.stdout.isatty()
        self.start = time.perf_counter()

    def working(self, theorems: Sequence[ScriptTheorem]) -> None:
        if self.live and theorems:
            names = ", ".join(theorem.name for theorem in theorems[: self.jobs])
            line = f"[{self.done + 1}/{self.total}] {names} ..."
            click.echo(f"\r\x1b[K{line[: get_terminal_size().columns - 1]}", nl=False)
            sys.stdout.flush()

    def end(self, outcome: Outcome) -> None:
        self.done += 1
        if self.quiet:
            return
        mark = "ok  " if outcome.as_expected else "FAIL"
        kept = "  (certificate kept)" if outcome.recalled else ""
        click.echo(
            ("\r\x1b[K" if self.live else "")
            + f"[{self.done:>{len(str(self.total))}}/{self.total}] {mark} {outcome.verdict:<8} "
            f"{outcome.seconds:7.2f} s  {outcome.theorem.name}{kept}"
        )
        sys.stdout.flush()

    def close(self, outcomes: list[Outcome], stopped: bool) -> None:
        if self.quiet:
            return
        click.echo("\r\x1b[K" if self.live else "")
        for outcome in outcomes:
            if not outcome.as_expected:
                click.echo(f"{_failure(outcome)}\n")
        if outcomes:
            click.echo("\n".join(_table(outcomes)))
        click.echo(_summary(outcomes, self.total, stopped, time.perf_counter() - self.start))


def _failure(outcome: Outcome) -> str:
    theorem = outcome.theorem
    place = f"{theorem.script}:{theorem.line}" if theorem.line else str(theorem.script)
    if outcome.error:
        lines = [outcome.error]
    else:
        lines = [f"expected {theorem.expected.__name__}", *map(str, outcome.verdicts)]
    return _printable("\n".join([f"{place} {theorem.name}", *lines])).replace("\n", "\n    ")


def _table(outcomes: list[Outcome]) -> list[str]:
    head = ("theorem", "verdict", "seconds", "rules", "certificate", "postulates")
    rows: list[tuple[str, ...]] = []
    for outcome in outcomes:
        wrong = "" if outcome.as_expected else f" (not {outcome.theorem.expected.__name__})"
        if outcome.error:
            wrong = ""
        has_proof = outcome.certificate_bytes > 0
        rows.append(
            (
                outcome.theorem.name,
                outcome.verdict + wrong,
                f"{outcome.seconds:.2f}",
                str(outcome.rules) if has_proof else "-",
                _size(outcome.certificate_bytes) if has_proof else "-",
                str(len(outcome.postulates)) if has_proof else "-",
            )
        )
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]

    def line(cells: Iterable[str]) -> str:
        aligned = [
            cell.ljust(width) if index < 2 else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return "  ".join(aligned).rstrip()

    return [line(head), "  ".join("-" * width for width in widths), *map(line, rows)]


def _summary(outcomes: list[Outcome], total: int, stopped: bool, seconds: float) -> str:
    wrong = sum(not outcome.as_expected for outcome in outcomes)
    names = [outcome.verdict for outcome in outcomes]
    counts = ", ".join(f"{names.count(name)} {name}" for name in dict.fromkeys(names))
    postulates = list(dict.fromkeys(item for outcome in outcomes for item in outcome.postulates))
    assumed = f"postulates: {'; '.join(postulates)}" if postulates else "no postulate"
    if stopped:
        end = f"STOPPED after {len(outcomes)} of {total} theorems"
    elif wrong:
        end = f"{wrong} of {total} NOT as the scripts say"
    else:
        end = "all as the scripts say"
    return _printable(
        "; ".join(part for part in (counts, end, assumed, f"{seconds:.1f} s") if part)
    )


def _results(outcomes: list[Outcome], files: list[list[str]], right: bool) -> dict[str, Any]:
    return {
        "dpsym": VERSION,
        "all_as_expected": right,
        "theorems": [
            {
                "name": outcome.theorem.name,
                "script": str(outcome.theorem.script),
                "line": outcome.theorem.line,
                "source": outcome.theorem.source,
                "expected": outcome.theorem.expected.__name__,
                "verdict": outcome.verdict,
                "as_expected": outcome.as_expected,
                "seconds": round(outcome.seconds, 4),
                "rules": outcome.rules,
                "certificate_bytes": outcome.certificate_bytes,
                "certificates": written,
                "recalled": outcome.recalled,
                "postulates": list(outcome.postulates),
                "verdicts": [str(verdict) for verdict in outcome.verdicts],
                "error": outcome.error,
            }
            for outcome, written in zip(outcomes, files, strict=True)
        ],
    }


# --- verify --------------------------------------------------------------------------------------


@cli.command()
@click.argument(
    "files",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    metavar="FILE...",
)
@click.option("--quiet", "-q", is_flag=True, help="Leave out the goals.")
def verify(files: tuple[str, ...], quiet: bool) -> int:
    """Re-check certificates ('-': standard input) with the kernel alone; SymPy is not imported.

    Prints the goal of each, which is what has been proved. Exit code 0 if all are accepted, 1 if
    one is refused, 2 for wrong usage.

    \b
    Examples:
      dpsym verify certificates/*.json
      dpsym verify - < certificate.json
    """
    refused = 0
    for file in files:
        start = time.perf_counter()
        shown = _printable("standard input" if file == "-" else file)
        try:
            goal, postulates = _verify(file)
        except _Refused as refusal:
            refused += 1
            click.echo(f"REFUSED  {shown}\n    {_printable(str(refusal))}")
            continue
        click.echo(f"OK  {shown}  ({(time.perf_counter() - start) * 1000:.0f} ms)")
        if not quiet:
            click.echo("    " + _printable(goal).replace("\n", "\n    "))
        for postulate in postulates:
            click.echo(f"    assumes, without proof: {_printable(postulate)}")
    if len(files) > 1:
        click.echo(f"{len(files) - refused} of {len(files)} accepted")
    return FAILED if refused else OK


class _Refused(Exception):
    """A certificate that is not accepted, and why."""


def _verify(file: str) -> tuple[str, tuple[str, ...]]:
    """The goal and postulates of a certificate. Whatever goes wrong, it is refused."""
    from dpsym.kernel.certificate import verify as verify_text
    from dpsym.results import Result

    def shown(text: str) -> tuple[str, tuple[str, ...]]:
        result = Result(verify_text(text))
        return result.statement, result.postulates

    return _checked(file, shown)


def _checked(file: str, check: Callable[[str], Made]) -> Made:
    """What ``check`` makes of a certificate's text. Whatever goes wrong, it is refused."""
    from dpsym.kernel.refusal import Refusal

    try:
        with click.open_file(file, "rb") as stream:
            data = stream.read(MAX_CERTIFICATE_BYTES + 1)
    except OSError as error:
        raise _Refused(f"cannot be read: {error.strerror}") from None
    if len(data) > MAX_CERTIFICATE_BYTES:
        raise _Refused(f"longer than {_size(MAX_CERTIFICATE_BYTES)}")
    try:
        return check(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise _Refused("not UTF-8 text") from None
    except Refusal as refusal:
        raise _Refused(str(refusal)) from None
    except Exception as error:  # a fault of the checker is never an acceptance
        raise _Refused(f"the checker failed: {_describe(error)}") from None


# --- audit ---------------------------------------------------------------------------------------


@cli.command()
@click.argument(
    "files",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    metavar="FILE...",
)
@click.option("--seed", type=int, default=0, help="Of the random points (default: 0).")
@click.option(
    "--points",
    type=click.IntRange(min=1),
    metavar="NUMBER",
    help="At how many points each inequality is evaluated (default: 6).",
)
@click.option(
    "--rules", is_flag=True, help="Say for each rule how often its conclusions are tried."
)
def audit(files: tuple[str, ...], seed: int, points: int | None, rules: bool) -> int:
    """Try every step of certificates ('-': standard input) with arithmetic of its own.

    Inequalities are evaluated at random points with many digits, statements about mechanisms on
    random distributions. A step that is false although the kernel accepts it is a fault of the
    kernel; the rule is named. Exit code 0 if nothing is found, 1 if a certificate is refused or a
    step is false, 2 for wrong usage.

    \b
    Examples:
      dpsym audit certificates/*.json
      dpsym audit --points 100 --seed 7 certificate.json
    """
    from dpsym.audit import POINTS, Coverage
    from dpsym.audit import audit as audit_text

    wrong, coverage = 0, Coverage()
    for file in files:
        start = time.perf_counter()
        shown = _printable("standard input" if file == "-" else file)
        try:
            found = _checked(file, lambda text: audit_text(text, seed, points or POINTS))
        except _Refused as refusal:
            wrong += 1
            click.echo(f"REFUSED  {shown}\n    {_printable(str(refusal))}")
            continue
        coverage.add(found)
        wrong += bool(found.faults)
        took = f"({(time.perf_counter() - start) * 1000:.0f} ms)"
        click.echo(f"{'FAULT' if found.faults else 'OK'}  {shown}  {took}")
        for text in [found.text(), *(fault.text() for fault in found.faults)]:
            click.echo("    " + _printable(text).replace("\n", "\n    "))
    if len(files) > 1:
        click.echo(f"{len(files) - wrong} of {len(files)} without a fault")
    if rules:
        click.echo(coverage.text())
    return FAILED if wrong else OK


# --- check and inequality ------------------------------------------------------------------------


def _question(command: Callable[..., int]) -> Callable[..., int]:
    """The options that ``check`` and ``inequality`` share."""
    for option in (
        click.option(
            "--certificate",
            type=click.Path(dir_okay=False, path_type=Path),
            metavar="FILE",
            help="Write the proof's certificate to this file.",
        ),
        click.option(
            "--budget",
            type=click.FloatRange(min=0, min_open=True),
            metavar="SECONDS",
            help="How long to search at most.",
        ),
        click.option(
            "--where",
            multiple=True,
            metavar="RELATION",
            help="A condition on the parameters, such as 'delta < 1' (repeatable).",
        ),
        click.option(
            "--integer",
            multiple=True,
            metavar="NAME",
            help="A parameter that is an integer; the others are real (repeatable).",
        ),
        click.option("--explain", is_flag=True, help="Print the proof as numbered steps."),
    ):
        command = option(command)
    return command


@cli.command(
    epilog="Exit code: 0 proved, 1 refuted, 2 wrong input, 3 undecided (unknown or vacuous)."
)
@click.argument("subject")
@click.argument("claim")
@_question
def check(
    subject: str,
    claim: str,
    where: tuple[str, ...],
    integer: tuple[str, ...],
    budget: float | None,
    certificate: Path | None,
    explain: bool,
) -> int:
    """Check that SUBJECT has the guarantee CLAIM, for all parameters.

    \b
    Examples:
      dpsym check "compose(PureDP(a), PureDP(b))" "PureDP(a + b)"
      dpsym check "PureDP(e)" "ApproxDP(e, d)" --where "d >= 0"
      dpsym check "RandomizedResponse(e, k)" "PureDP(e)" --integer k --where "k >= 2"
    """
    import dpsym
    from dpsym.reader import read_relation, read_subject

    with _bad_input():
        symbols = _integers(integer)
        verdict = dpsym.check(
            read_subject(subject, symbols),
            read_subject(claim, symbols),
            where=[read_relation(text, symbols) for text in where],
            **_limits(budget),
        )
    return _answer(verdict, certificate, explain)


@cli.command(
    epilog="Exit code: 0 proved, 1 refuted, 2 wrong input, 3 undecided (unknown or vacuous)."
)
@click.argument("lhs")
@click.argument("rhs")
@click.option("--strict", is_flag=True, help="Ask for LHS < RHS in place of LHS <= RHS.")
@_question
def inequality(
    lhs: str,
    rhs: str,
    strict: bool,
    where: tuple[str, ...],
    integer: tuple[str, ...],
    budget: float | None,
    certificate: Path | None,
    explain: bool,
) -> int:
    """Check that LHS <= RHS for all values of the symbols in them.

    \b
    Examples:
      dpsym inequality "log(1 + x)" "x" --where "x >= 0"
      dpsym inequality "x" "exp(x)" --strict
    """
    import dpsym
    from dpsym.reader import read_expression, read_relation

    with _bad_input():
        symbols = _integers(integer)
        verdict = dpsym.check_inequality(
            read_expression(lhs, symbols),
            read_expression(rhs, symbols),
            where=[read_relation(text, symbols) for text in where],
            strict=strict,
            **_limits(budget),
        )
    return _answer(verdict, certificate, explain)


@contextmanager
def _bad_input() -> Iterator[None]:
    """What is wrong with the user's own text is an error of usage."""
    from dpsym.errors import DpsymError

    try:
        yield
    except DpsymError as error:
        raise click.UsageError(str(error)) from None


def _integers(names: tuple[str, ...]) -> dict[str, Any]:
    """The symbols that texts share, to begin with."""
    from sympy import Symbol

    return {name: Symbol(name, integer=True) for name in names}


def _limits(budget: float | None) -> dict[str, Any]:
    return {} if budget is None else {"budget": budget}


def _answer(verdict: Verdict, certificate: Path | None, explain: bool) -> int:
    """Print the verdict, keep the certificate."""
    from dpsym.verdicts import Proved

    click.echo(_printable(str(verdict)))
    if explain and isinstance(verdict, Proved):
        click.echo(f"\n{_printable(verdict.explain())}")
    if certificate is not None:
        if isinstance(verdict, Proved):
            verdict.save(certificate)
            click.echo(f"certificate: {certificate}")
        else:
            click.echo("no certificate is written: the claim is not proved", err=True)
    return _VERDICT_CODES[type(verdict).__name__]


# --- text ----------------------------------------------------------------------------------------


def _size(size: int) -> str:
    if size < 1000:
        return f"{size} B"
    return f"{size / 1000:.1f} kB" if size < 10**6 else f"{size / 10**6:.1f} MB"


def _describe(error: BaseException) -> str:
    """An error that is not the user's own, on one line."""
    said = " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror:
        where = f": {error.filename}" if error.filename else ""
        return f"{error.strerror}{where}"
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _printable(text: str) -> str:
    """The text with control characters escaped: a certificate can not drive the terminal."""
    return "".join(
        char if char == "\n" or char.isprintable() else ascii(char)[1:-1] for char in text
    )
