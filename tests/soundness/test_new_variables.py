"""A variable that a rule brings in is new: else its facts would speak of something else."""

from __future__ import annotations

import pytest

from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules import step
from dpsym.kernel.statements import (
    REAL,
    Assumed,
    Fact,
    Guarantee,
    Mechanism,
    Pair,
    Processed,
    Region,
    Statement,
)
from dpsym.kernel.terms import ONE, ZERO, exp, var

D, U = var("D"), var("u")
VARIABLES, FACTS = (("D", REAL),), (Fact(D, ">"),)
SHIFTS = Mechanism(
    (
        Pair(
            (Region(exp(U), ONE), Region(ONE, ONE, output="x")),
            (("u", REAL),),
            (Fact(U, ">="), Fact(D - U, ">=")),
        ),
    )
)
PURE = Guarantee("PureDP", (ZERO,), two_way=False)
ZCDP = Guarantee("ZCDP", (D,), two_way=False)
NOT_CONVEX = Guarantee("MomentBound", (var("$t"), None, D), two_way=False)


@pytest.mark.parametrize("name", ["D", "u", "x", "$t", "$s", "$w", "$new"])
def test_limit_from_beyond_what_the_pair_allows(name: str) -> None:
    """With u > D beside the pair's u <= D, every claim about the pair would follow."""
    goal = Statement(VARIABLES, FACTS, (SHIFTS,), (PURE,))
    with pytest.raises(Refusal, match="a new variable"):
        step(goal, "limit", {"name": name, "start": D, "value": ZERO})
    assert step(goal, "limit", {"name": "v", "start": D, "value": ZERO})


@pytest.mark.parametrize("name", ["D", "$t", "$s", "$w"])
def test_limit_on_the_calculus_s_own_names(name: str) -> None:
    """With $w > 1 beside the mixing weight $w <= 1, everything would be convex."""
    goal = Statement(VARIABLES, FACTS, (Processed((NOT_CONVEX,)),), (NOT_CONVEX,))
    with pytest.raises(Refusal, match="a new variable"):
        step(goal, "limit", {"name": name, "start": ONE, "value": D})


@pytest.mark.parametrize("name", ["D", "u", "x", "$t", "$s", "$w"])
def test_order_of_a_family(name: str) -> None:
    goal = Statement(VARIABLES, FACTS, (SHIFTS, Assumed((ZCDP,))), (ZCDP,))
    with pytest.raises(Refusal, match="a new variable"):
        step(goal, "every", {"name": name})
    assert step(goal, "every", {"name": "v"})
