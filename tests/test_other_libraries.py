"""Wrong results of SymPy and mpmath that people have reported: dpsym never has them.

``tests/data/library_reports.json`` has each case in words, its source, what was answered, and the
right number to many digits. Here dpsym gives the right one, or none.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import pytest
import sympy as sp
from sympy import Abs, Interval, Max, Rational, exp, log, pi, sqrt

import dpsym as dp
from dpsym import cli
from dpsym.audit import audit
from dpsym.enclosures import masses
from dpsym.errors import DpsymError, InputError, UnsupportedError
from dpsym.kernel.certificate import verify
from dpsym.kernel.refusal import Refusal
from dpsym.reader import read_expression, read_relation, read_subject

DATA = Path(__file__).parent / "data" / "library_reports.json"
VALUES = {case["id"]: case["values"] for case in json.loads(DATA.read_text(encoding="utf-8"))}
HALF = Rational(1, 2)
x = sp.Symbol("x", real=True)
n = sp.Symbol("n", integer=True)
delta, epsilon = sp.symbols("delta epsilon", positive=True)


def mass(p: sp.Expr, variable: sp.Symbol, domain: Any, width: float = 1e-15) -> dp.Enclosure | None:
    """The certified integral or sum of p over its support; None where there is none to be had."""
    q = HALF ** (n - domain.inf + 1) if variable == n else exp(-Abs(x))
    kind = dp.PMFPair if variable == n else dp.DensityPair
    try:
        return masses(kind(p, q, variable, domain, normalised=False), width=width)[0]
    except UnsupportedError:
        return None


def encloses(found: dp.Enclosure | None, value: str | Fraction, answered: bool = True) -> None:
    """The value is inside, within its last digit, and what was answered is not."""
    if not answered and found is None:
        return
    assert found is not None
    true = Fraction(value)
    digits = len(value.partition(".")[2]) if isinstance(value, str) else 0
    unit = Fraction(1, 10**digits) if digits else Fraction(0)
    low, high = (Fraction(int(end.p), int(end.q)) for end in found)
    assert low - unit <= true <= high + unit
    assert high - low <= abs(true) / 10**11


def printed(witness: Any) -> list[str]:
    """What the script of a witness prints."""
    said: list[str] = []
    exec(witness.script(), {"print": lambda *given: said.extend(map(str, given))})
    return said


SINES = Interval(0, 4 * pi)


@pytest.mark.parametrize(
    ("p", "domain", "value", "answered"),
    [
        (Abs(sp.sin(x) * sp.cos(x)), Interval(0, 2 * pi), VALUES["B070"]["a"], False),
        (Abs(sp.sin(x)), SINES, VALUES["B070"]["b"], False),
        (Max(0, sp.sin(x)), SINES, VALUES["B070"]["c"], False),
        (Abs(x**2 - 1), Interval(-2, 2), Fraction(4), True),
        (Max(0, x**2 - 1), Interval(-2, 2), Fraction(8, 3), True),
        (Abs(Abs(Abs(x) - 2) - 1), Interval(-4, 4), Fraction(4), True),  # four periods
        (sqrt(2 - x) * sqrt(1 / (2 - x)), Interval(0, 1), VALUES["B072"]["a"], True),
        (exp(-((x - 1) ** 2)) / sqrt(x), Interval(0, sp.oo), VALUES["B074"]["m1"], False),
        (2 * exp(-((x**2 - 1) ** 2)), Interval(0, sp.oo), VALUES["B074"]["m1"], True),  # sqrt(x)
        (2 * exp(-((x**2 + 1) ** 2)), Interval(0, sp.oo), VALUES["B074"]["p1"], True),
        (sp.sinc(pi * x) ** 2, sp.S.Reals, VALUES["B086"]["value"], False),
    ],
)
def test_integrals(p: sp.Expr, domain: sp.Set, value: str | Fraction, answered: bool) -> None:
    encloses(mass(p, x, domain, 1e-15 if answered else 1e-5), value, answered)


@pytest.mark.parametrize(
    ("p", "first", "value", "answered"),
    [
        (Rational(1, 10) ** n, 0, Fraction(VALUES["B076"]["a"]), True),
        (exp(-n / 2), 0, VALUES["B076"]["b"], True),
        (1 / (n * log(n) ** 2), 2, VALUES["B087"]["value"], False),
    ],
)
def test_sums(p: sp.Expr, first: int, value: str | Fraction, answered: bool) -> None:
    encloses(mass(p, n, sp.Range(first, sp.oo)), value, answered)


def test_a_constant_that_does_not_normalise() -> None:
    """What SymPy or mpmath answer is taken for the mass: no claim about that is proved."""
    bumps = 2 * exp(-((x**2 - 1) ** 2)) / Rational("0.411862330832381")
    sums = 1 / (n * log(n) ** 2) / Rational("1.91056295070081")
    geometric = HALF ** (n + 1)
    for make in (
        lambda: dp.DensityPair(bumps, exp(-x), x, Interval(0, sp.oo)),
        lambda: dp.DensityPair(-sqrt(2 - x) * sqrt(1 / (2 - x)), 1, x, Interval(0, 1)),
        lambda: dp.PMFPair(exp(-n / 2), geometric, n, sp.S.Naturals0),
        lambda: dp.PMFPair(sums, HALF ** (n - 1), n, sp.Range(2, sp.oo)),
    ):
        try:
            verdict = dp.check(make(), dp.ApproxDP(1, 1), budget=0.5)
        except InputError as error:
            assert "integrates to 1" in str(error) or "negative" in str(error)
        else:
            assert isinstance(verdict, dp.Unknown)


@pytest.mark.parametrize("width", [1000, 10**4])
def test_a_narrow_peak(width: int) -> None:
    """Half the noise is in a peak. delta at epsilon = 0 is a half, less an overlap that is at most
    the peak's height times what is outside of eight widths, or the other density inside."""
    peak = dp.noise.Shifted(dp.noise.Gaussian(Rational(1, width)), Rational(6, 10))
    density = width * exp(-((x - Rational(6, 10)) ** 2) * width**2 / 2) / sqrt(2 * pi)
    encloses(mass(density, x, Interval(-10, 10)), VALUES["B084"]["value"])
    wide = dp.noise.Gaussian(1)
    pair = dp.DensityPair(dp.noise.Mixture([HALF, HALF], [wide, peak]), wide)
    low, high = pair.enclose(dp.ApproxDP(0, delta), delta)
    assert HALF - Rational(16, width) < low <= high < HALF
    verdict = dp.check(pair, dp.ApproxDP(0, Rational(49, 100)), budget=5)
    assert isinstance(verdict, dp.Refuted)
    assert printed(verdict.witness)[-1] == "True"


def test_the_ends_of_exp_and_log() -> None:
    """Next to 53-bit numbers, where mpmath's intervals end on the wrong side."""
    at = Fraction(3893924827815215, 2**50)
    with mpmath.workprec(200):
        known = mpmath.exp(mpmath.mpf(at.numerator) / at.denominator)
        assert abs(known - mpmath.mpf(VALUES["B082"]["exp"])) < mpmath.mpf(10) ** -31
        logarithm = mpmath.log(mpmath.mpf(4596124535169283) / 2**51)
    cases: list[tuple[sp.Expr, Any]] = [
        (exp(Rational(at.numerator, at.denominator)), known),
        (log(Rational(4596124535169283, 2**51)), logarithm),
    ]
    for value, true in cases:
        for unit in (Fraction(1, 2**47), Fraction(1, 2**53), Fraction(1, 2**80)):
            with mpmath.workprec(200):
                below = int(mpmath.floor(true / unit.numerator * unit.denominator))
            low, high = (Rational(below + up, unit.denominator) for up in (0, 1))
            assert isinstance(dp.check_inequality(low, value), dp.Proved)
            assert isinstance(dp.check_inequality(value, high), dp.Proved)
            assert isinstance(dp.check_inequality(value, low), dp.Refuted)
            assert isinstance(dp.check_inequality(high, value), dp.Refuted)


def test_noise_that_is_almost_none() -> None:
    """Of scale 1e-155: the two means are 1e155 scales apart, and all is lost."""
    noise = dp.AdditiveNoise(dp.noise.Gaussian(Rational(1, 10**155)), 1)
    low, high = noise.enclose(dp.ApproxDP(1, delta), delta)
    assert 1 - Rational(1, 10**10) < low <= 1 <= high
    low, high = noise.enclose(dp.RenyiDP(2, epsilon), epsilon)
    assert low <= 10**310 <= high <= 10**310 * (1 + Rational(1, 10**10))
    tail = sp.erfc(10**155 / sqrt(2)) / 2
    assert isinstance(dp.check_inequality(0, tail, strict=True), dp.Proved)
    assert isinstance(dp.check_inequality(tail, Rational(1, 10**1000)), dp.Proved)
    assert isinstance(dp.check_inequality(tail, 0), dp.Refuted)
    # what is left of 1 is far below this, and nothing else can be told from the claim that it is 0
    for claimed, wrong in ((1, dp.Refuted), (1 - Rational(1, 10**1000), dp.Proved)):
        verdict = dp.check(noise, dp.ApproxDP(1, claimed), budget=0.2)
        assert not isinstance(verdict, wrong)


def test_a_symbol_of_the_same_name() -> None:
    """It is another symbol; values given for it are not dropped."""
    b, other = sp.Symbol("b", positive=True), sp.Symbol("b")
    noise = dp.AdditiveNoise(dp.noise.Laplace(b), 1)
    assert noise.enclose(dp.PureDP(epsilon), epsilon, where={b: 2}).upper == HALF
    for wrong in ({other: 2}, {"b": 2}, {sp.Dummy("b", positive=True): 2}):
        with pytest.raises(InputError, match="b"):
            noise.enclose(dp.PureDP(epsilon), epsilon, where=wrong)
    for ask in (
        lambda: dp.check_inequality(exp(-b) * other, 1),
        lambda: dp.check(noise, dp.PureDP(1), where=[other >= 1]),
        lambda: dp.check(dp.compose(dp.PureDP(b), dp.PureDP(other)), dp.PureDP(2 * b)),
        lambda: dp.bound(dp.PureDP(b), dp.ApproxDP(other, delta), delta),
    ):
        with pytest.raises(InputError, match=r"two different ones|declare it"):
            ask()


# --- code ----------------------------------------------------------------------------------------


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A file that is there once code has run."""
    return tmp_path / "run"


def codes(trap: Path) -> list[str]:
    touch = f"__import__('pathlib').Path({str(trap)!r}).touch()"
    return [touch, f"[{touch}]", f"({touch}, 1)[1]", f"exec({touch!r})"]


def test_the_trap_works(trap: Path) -> None:
    for code in codes(trap):
        for run in (eval, sp.sympify):
            with suppress(sp.SympifyError):  # of what has been run
                run(code)
            assert trap.exists()
            trap.unlink()


Ask = Callable[[Any], object]
ASKS: dict[str, Ask] = {
    "a guarantee": lambda code: dp.check(dp.PureDP(code), dp.PureDP(1)),
    "a claim": lambda code: dp.check(dp.PureDP(1), dp.ApproxDP(1, code)),
    "a subject": lambda code: dp.check(code, dp.PureDP(1)),
    "an inequality": lambda code: dp.check_inequality(0, code),
    "a condition": lambda code: dp.check_inequality(0, x, where=[code]),
    "conditions": lambda code: dp.check(dp.PureDP(x), dp.PureDP(x), where=code),
    "a density": lambda code: dp.DensityPair(code, exp(-x), x, Interval(0, sp.oo)),
    "a variable": lambda code: dp.DensityPair(exp(-x), exp(-x), code, Interval(0, sp.oo)),
    "a support": lambda code: dp.DensityPair(exp(-x), exp(-x), x, code),
    "masses": lambda code: dp.PMFPair(code, HALF**n, n, sp.S.Naturals),
    "a table": lambda code: dp.Table([[HALF, HALF], [code, HALF]]),
    "a scale": lambda code: dp.noise.Laplace(scale=code),
    "noise": lambda code: dp.AdditiveNoise(code, 1),
    "a sensitivity": lambda code: dp.AdditiveNoise(dp.noise.Laplace(1), code),
    "a relation": lambda code: dp.AdditiveNoise(dp.noise.Laplace(1), 1, relation=code),
    "a count": lambda code: dp.repeat(dp.PureDP(1), code),
    "a rate": lambda code: dp.subsample(dp.PureDP(1), code),
    "a method": lambda code: dp.subsample(dp.PureDP(1), HALF, method=code),
    "scores": lambda code: dp.ExponentialMechanism([[0, code], [1, 0]], 1),
    "a bound": lambda code: dp.bound(dp.PureDP(1), dp.ApproxDP(1, delta), code),
    "a value": lambda code: dp.RandomizedResponse(x).enclose(
        dp.PureDP(epsilon), epsilon, where={x: code}
    ),
    "an expression": read_expression,
    "a condition as text": read_relation,
    "a subject as text": read_subject,
    "a certificate": verify,
    "an audit": audit,
}


@pytest.mark.parametrize("name", ASKS)
def test_text_is_not_run(name: str, trap: Path) -> None:
    for code in codes(trap):
        with pytest.raises((DpsymError, Refusal)):
            ASKS[name](code)
        assert not trap.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "{}", "PureDP(1)"],
        ["check", "PureDP(1)", "PureDP({})"],
        ["check", "PureDP(e)", "PureDP(e)", "--where", "{}"],
        ["check", "PureDP(1)", "PureDP(2)", "--integer", "{}"],
        ["inequality", "0", "{}"],
        ["verify", "{}"],
    ],
)
def test_the_command_line_runs_no_text(
    arguments: list[str], trap: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for code in codes(trap):
        status = cli.main([part.replace("{}", code) for part in arguments])
        assert status == (0 if "--integer" in arguments else 2)  # any name is one of no symbol
        assert not trap.exists()


def test_strings_of_a_certificate_are_not_run(trap: Path) -> None:
    """Each in turn is code: refused, or a name that proves what it did before."""
    b = sp.Symbol("b", positive=True)
    text = dp.prove(dp.PureDP(b), dp.PureDP(2 * b)).certificate()
    strings = sorted({part for part in text.split('"')[1::2] if part})
    accepted = 0
    for string in strings:
        for code in codes(trap)[:2]:
            hostile = text.replace(json.dumps(string), json.dumps(code))
            for ask in (verify, audit):
                try:
                    ask(hostile)
                    accepted += 1
                except Refusal:
                    pass
                assert not trap.exists()
    assert accepted == 2 * 2 * len({"b", "x1", "x2"} & set(strings))


def test_names_that_are_code_are_not_run(trap: Path) -> None:
    """Symbols may have any name; scripts that reproduce what was found do not run it."""
    for code in codes(trap):
        s = sp.Symbol(code, positive=True)
        proved = dp.check(dp.PureDP(s), dp.PureDP(2 * s))
        assert isinstance(proved, dp.Proved)
        assert verify(proved.certificate)
        refuted = dp.check(dp.PureDP(s), dp.PureDP(s / 2))
        assert isinstance(refuted, dp.Refuted)
        assert all((str(proved), proved.explain(), proved.explain(latex=True)))
        assert printed(refuted.witness)[-1] == "True"
        assert not trap.exists()
