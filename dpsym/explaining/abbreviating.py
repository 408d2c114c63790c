"""Letters for long parts of a claim that occur several times, so that its proof is readable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from string import ascii_uppercase

from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term, replace, var
from dpsym.printing import Notation

__all__ = ["Abbreviated", "abbreviations"]

_SMALLEST, _LEAST_GAIN, _MOST = 10, 20, 4
_LARGEST, _MOST_TERMS = 2000, 100


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


def abbreviations(terms: Iterable[Term]) -> list[tuple[Term, Term]]:
    """Long parts that occur often in the terms, and a letter for each, in the order of use.

    >>> from dpsym.kernel.terms import exp, log
    >>> x, y = var("x"), var("y")
    >>> part = exp(1 + 2 * x * y + 3 * log(y))
    >>> ((found, letter),) = abbreviations([part + 1 / (2 + part), part * x, log(part)])
    >>> found is part, letter
    (True, A)
    """
    left = [node for node in dict.fromkeys(terms) if node.size <= _LARGEST][:_MOST_TERMS]
    used = frozenset[str]().union(*(node.vars for node in left))
    free = [letter for letter in ascii_uppercase if letter not in used]
    out: list[tuple[Term, Term]] = []
    while len(out) < _MOST:
        counts = Counter(part for node in left for part in _occurrences(node))
        gains = {part: (count - 1) * (part.size - 1) for part, count in counts.items()}
        best = max(counts, key=lambda part: (gains[part], part.key), default=None)
        if best is None or gains[best] < _LEAST_GAIN:
            break
        letter = var(free[len(out)])
        out.append((best, letter))
        left = [replace(node, best, letter) for node in left]
    return out


def _occurrences(node: Term) -> Iterable[Term]:
    """Every part that is long enough, as often as it occurs."""
    stack = list(node.args)
    while stack:
        part = stack.pop()
        if part.size >= _SMALLEST:
            if part.op != "mul":  # which occurs with other factors, too
                yield part
            stack += part.args
