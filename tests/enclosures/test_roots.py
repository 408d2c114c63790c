"""Signs over a range: each segment is checked at points, each root against its exact value."""

from __future__ import annotations

from itertools import pairwise

import flint
import pytest
import sympy as sp
from flint import arb, fmpq

from dpsym.enclosures.evaluate import function
from dpsym.enclosures.reading import read
from dpsym.enclosures.roots import signs

x = sp.Symbol("x", real=True)
CASES = {
    "line": (3 * x - 1, [1, -1]),
    "parabola": (x**2 - 2, [-1, 1, -1]),
    "none": (x**2 + 1, []),
    "cubic": (x * (x - 1) * (x + 2), [-1, 1, -1, 1]),
    "logarithms": (sp.log(1 + x**2) - sp.log(2), [-1, 1, -1]),
    "mixture": (sp.log(1 + sp.exp(x)) - 1, [1, -1]),
}


@pytest.mark.parametrize("name", CASES)
def test_signs(name: str) -> None:
    expr, changes = CASES[name]
    with flint.ctx.workprec(96):
        f = function(read(expr, x))
        found = signs(f, arb(-8), arb(8))
    assert found[0].start == -8
    assert found[-1].end == 8
    for left, right in pairwise(found):
        assert left.end.overlaps(right.start)
        assert left.sign != right.sign
    assert [part.sign for part in found if part.sign] == (
        [-change for change in changes]
        if name in ("parabola", "logarithms", "line", "mixture")
        else changes or [1]
    )
    for part in found:
        for share in (fmpq(1, 7), fmpq(1, 2), fmpq(6, 7)):
            point = (part.start + (part.end - part.start) * share).mid()
            value = f(point)
            assert part.sign == 0 or (value > 0 if part.sign > 0 else value < 0)


def test_roots_are_sharp() -> None:
    with flint.ctx.workprec(96):
        parts = signs(function(read(x**2 - 2, x)), arb(0), arb(8))
        root = parts[0].end
        assert root.contains(arb(2).sqrt().mid()) or root.overlaps(arb(2).sqrt())
        assert root.rad() < arb(2) ** -85


def test_flat_is_not_signed() -> None:
    """A double root, and a function that is 0, have no sign there."""
    with flint.ctx.workprec(96):
        double = signs(function(read((x - 1) ** 2, x)), arb(0), arb(2))
        assert [part.sign for part in double] == [1, 0, 1]
        assert double[1].end - double[1].start < arb(2) ** -30
        tiny = signs(lambda z: (z - z) * 1, arb(0), arb(2))
    assert {part.sign for part in tiny} == {0}
