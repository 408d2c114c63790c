"""Things as Python code: what the code makes is what it was made from."""

from __future__ import annotations

import math

import pytest
import sympy as sp
from hypothesis import HealthCheck, given, settings

import dpsym as dp
from dpsym import testing
from dpsym.guarantees import MomentBound
from dpsym.mechanisms import MECHANISMS, Neighbours, Part
from dpsym.testing.scripts import Code, source_of
from dpsym.testing.substituting import at, symbols_in

x = sp.Symbol("x", real=True)
b, Delta = sp.symbols("b Delta", positive=True)
FACTOR = 2


def made(item):
    """The thing that the code makes, by itself."""
    code = Code()
    text = code.of(item)
    session = {}
    exec(compile(f"{code.head()}\nmade = {text}", "made.py", "exec"), session)
    return session["made"]


@given(testing.subjects())
@settings(max_examples=80, suppress_health_check=list(HealthCheck))
def test_subjects_survive(subject):
    assert repr(made(subject)) == repr(subject)
    if not any(isinstance(part, MomentBound) for part in getattr(subject, "parts", (subject,))):
        assert made(subject) == subject


@pytest.mark.parametrize(
    "item",
    [
        dp.AdditiveNoise(dp.noise.Laplace(scale=b), Delta, relation="replace-one"),
        dp.ApproxDP(b / 3, sp.Rational(1, 3), one_way=True),
        dp.RenyiDP(sp.oo, sp.sqrt(b)),
        dp.PureDP(2 ** sp.Rational(1, 3) + sp.exp(-b / 7)),
        dp.DensityPair(sp.exp(-x / b) / b, 2 * sp.exp(-2 * x), x, sp.Interval.Lopen(0, sp.oo)),
        dp.both(dp.GDP(b), dp.TCDP(b, 3)),
        dp.subsample([dp.PureDP(b), dp.PureDP(2 * b)], 1 / b, "with_replacement", draws=2),
        dp.AdditiveNoise(dp.noise.Density(1 / (sp.pi * (1 + x**2)), x, normalised=False), 1),
    ],
)
def test_symbols_and_exact_numbers_survive(item):
    assert made(item) == item


NAMES = (
    "x y",
    "lambda",
    "exp",
    "dp",
    "Symbol",
    "print",
    'a"b',
    "a\\",
    "b_",
    "b.",
    "1",
    "",
    "\n",
    "ε",
    "K",
    "\u212a",
)


def test_symbols_with_any_name_survive(tmp_path):
    file = tmp_path / "run"
    code = f"__import__('pathlib').Path({str(file)!r}).touch()"
    symbols = [sp.Symbol(name, positive=True) for name in (*NAMES, code, f'"{code}"')]
    item = dp.compose(*(dp.PureDP(s + sp.exp(s)) for s in symbols))
    assert made(item) == item
    assert not file.exists()
    pair = dp.DensityPair(
        sp.exp(-symbols[-1]), sp.exp(-symbols[-1]), symbols[-1], sp.Interval(0, sp.oo)
    )
    assert made(pair) == pair
    assert not file.exists()


def test_random_symbols_survive():
    from sympy.stats import Normal

    noise = dp.AdditiveNoise(Normal("X", 0, 2), 1)
    again = made(noise)
    ((part,),) = (family.parts for family in again.neighbours())
    ((old,),) = (family.parts for family in noise.neighbours())
    assert sp.simplify(part.p.subs(part.variable, 1) - old.p.subs(old.variable, 1)) == 0


# --- functions ------------------------------------------------------------------------------------


def uses_others(b, Delta):
    return FACTOR * _inner(Delta) / b + math.sqrt(0)


def _inner(Delta: float) -> float:  # its own Delta, not that of this file
    return Delta


def test_functions_of_a_test_are_copied_with_what_they_use():
    imports, text = source_of(uses_others)
    session = {}
    exec(compile("\n".join((*imports, text)), "copied.py", "exec"), session)
    assert session["uses_others"](2.0, 3.0) == 3.0
    assert imports == ["from __future__ import annotations", "import math"]
    assert "Symbol" not in text and "FACTOR = 2" in text


def test_functions_of_modules_are_imported():
    assert source_of(math.sqrt) is None
    assert source_of(dp.prove) == (["from dpsym.checking import prove"], "")


def test_what_can_not_be_copied():
    value = 3

    def closes_over(b):
        return value * b

    assert source_of(closes_over) is None
    assert source_of(lambda b: b) is None
    assert source_of(uses_a_symbol) is None


def uses_a_symbol():
    return b


# --- numbers for symbols --------------------------------------------------------------------------


class Coin(dp.mechanisms.Mechanism):
    """A mechanism of one's own, with a constructor that is not its fields."""

    fields = ("bias",)
    title, source = "A coin", "none"

    def __init__(self, odds):
        self._set(bias=odds / (1 + odds))

    def parameters(self):
        yield "bias", self.bias

    def hypotheses(self):
        return ()

    def neighbours(self):
        return (Neighbours((Part(self.bias, 1 - self.bias), Part(1 - self.bias, self.bias))),)


MECHANISMS.pop("Coin")


def test_numbers_in_mechanisms_of_ones_own():
    coin = Coin(b)
    assert symbols_in(coin) == (b,)
    assert at(coin, {b: sp.Integer(3)}).bias == sp.Rational(3, 4)
    outcome = testing.assert_accountant(
        lambda b: abs(math.log(b)), coin, dp.PureDP(sp.Symbol("e", positive=True)), slack=1e-9,
        examples=20, absolute=1e-12,
    )  # fmt: skip
    assert outcome.undecided == 0
