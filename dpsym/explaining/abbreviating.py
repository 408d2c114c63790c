"""Letters for long parts of a claim that occur several times, so that its proof is readable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from string import ascii_uppercase

from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term, replace, var
from dpsym.printing import Notation

__all__ = ["Abbreviated", "abbreviations"]

_SMALLEST, _MOST, _LARGEST = 8, 3, 2000


class Abbreviated:
    """A notation that writes a letter for each of the terms."""

    def __init__(self, notation: Notation, letters: Iterable[tuple[Term, Term]]) -> None:
        self.notation, self.letters = notation, tuple(letters)

    def show(self, node: Term) -> str:
        return self.notation.show(self._short(node))

    def show_fact(self, fact: Fact) -> str:
        return self.notation.show_fact(Fact(self._short(fact.term), fact.rel))

    def show_equal(self, left: Term, right: Term) -> str:
        return self.notation.show_equal(self._short(left), self._short(right))

    def show_call(self, name: str, args: list[Term | None]) -> str:
        short = [arg if arg is None else self._short(arg) for arg in args]
        return self.notation.show_call(name, short)

    def _short(self, node: Term) -> Term:
        for whole, letter in self.letters:
            node = replace(node, whole, letter)
        return node


def abbreviations(node: Term, used: frozenset[str]) -> list[tuple[Term, Term]]:
    """Parts of the term that occur several times, and a letter for each, in the order of use.

    >>> from dpsym.kernel.terms import exp, log, num
    >>> x, y = var("x"), var("y")
    >>> part = exp(1 + 2 * x + log(y))
    >>> abbreviations(part + 1 / (2 + part), frozenset({"x", "y"}))
    [(exp(1 + 2*x + log(y)), A)]
    """
    out: list[tuple[Term, Term]] = []
    free = [letter for letter in ascii_uppercase if letter not in used]
    while len(out) < _MOST and node.size <= _LARGEST:
        counts = Counter(_occurrences(node))
        gains = {part: (count - 1) * (part.size - 1) for part, count in counts.items()}
        best = max(counts, key=lambda part: (gains[part], part.key), default=None)
        if best is None or counts[best] < 2:
            break
        out.append((best, var(free[len(out)])))
        node = replace(node, *out[-1])
    return out


def _occurrences(node: Term) -> Iterable[Term]:
    """Every part that is long enough, as often as it occurs."""
    stack = [node]
    while stack:
        part = stack.pop()
        if part.size >= _SMALLEST:
            yield part
            stack += part.args
