"""For all parameters at which the hypotheses hold: a term is nonnegative. Proof or counterexample.

>>> from dpsym.kernel.sequents import Sequent
>>> from dpsym.kernel.statements import Fact
>>> from dpsym.kernel.terms import exp, var
>>> x = var("x")
>>> found = decide(Sequent((), Fact(exp(x) - 1 - x, ">=")), 5)
>>> type(found).__name__
'Lemma'
>>> decide(Sequent((), Fact(exp(x) - 1 - 2 * x, ">=")), 5).values.keys()
dict_keys(['x'])
"""

from dpsym.search.leaf.budget import Budget, OutOfBudget
from dpsym.search.leaf.entry import TRIED, Open, Point, decide, easy, follow, prove, refute

__all__ = [
    "TRIED",
    "Budget",
    "Open",
    "OutOfBudget",
    "Point",
    "decide",
    "easy",
    "follow",
    "prove",
    "refute",
]
