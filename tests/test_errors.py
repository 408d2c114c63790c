"""Messages name the argument, its value and what was expected, and are always safe to make."""

from fractions import Fraction

import pytest
import sympy as sp

from dpsym.errors import DpsymError, InputError, ProofError, UnsupportedError, shown


def test_input_error_is_a_value_error_with_its_parts():
    error = InputError("delta", "a number in [0, 1]", Fraction(3, 2))
    assert isinstance(error, DpsymError) and isinstance(error, ValueError)
    assert str(error) == "delta: expected a number in [0, 1], got 3/2"
    assert (error.argument, error.value) == ("delta", Fraction(3, 2))


def test_unsupported_error_lists_what_is_supported():
    assert str(UnsupportedError("c", ["floor", "Mod"], "exp")) == (
        "c: floor, Mod are not in the language, which has exp"
    )


def test_proof_error_keeps_the_verdict():
    assert ProofError("a paragraph").verdict == "a paragraph"


@pytest.mark.parametrize(
    "value",
    [10**6000, sp.Integer(10) ** 6000, sp.exp(sp.exp(sp.exp(100))) - 1, [[[1] * 1000]], "x" * 5000],
    ids=["int", "Integer", "tower", "list", "text"],
)
def test_shown_is_short(value):
    assert 0 < len(shown(value)) <= 202


def test_shown_does_not_recurse_into_a_deep_expression():
    deep = sp.Symbol("x")
    for _ in range(50_000):
        deep = sp.Add(deep, 1, evaluate=False)
    assert shown(deep) == "an expression of type Add too long to print"
