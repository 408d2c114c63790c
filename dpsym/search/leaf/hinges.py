"""Parameters of the rule ``vertex``: goals that are piecewise concave in a variable."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from dpsym.kernel import terms as tm
from dpsym.kernel.canon import Canon, Poly, mono_term, to_term
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules_calculus import Bounded
from dpsym.kernel.sequents import Facts, Sequent, context, with_facts
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term, var
from dpsym.search.leaf.steps import evident, kinks, mono_of

Sign = Callable[[Facts, Term], int]


def evident_sign(hypotheses: Facts, item: Term) -> int:
    """1 or -1 if the kernel sees the sign, else 0."""
    if evident(hypotheses, item, ">"):
        return 1
    return -1 if evident(hypotheses, -item, ">") else 0


def candidates(sequent: Sequent, sign: Sign) -> Iterator[dict[str, Any]]:
    """Parameters for each variable with hinges and a bound; those with the most hinges first."""
    if sequent.goal.rel != ">=":
        return
    count: dict[str, int] = {}
    for item in kinks([sequent.goal.term]):
        for name in item.vars:
            count[name] = count.get(name, 0) + 1
    for name in sorted(count, key=lambda name: (-count[name], name)):
        try:
            yield from _of_variable(sequent, name, sign)
        except (Refusal, ArithmeticError):
            continue


def _of_variable(sequent: Sequent, name: str, sign: Sign) -> Iterator[dict[str, Any]]:
    about = Bounded(sequent, name)
    x = var(name)
    for lower, _ in about.lower[:2]:
        uppers: list[Term | None] = [end for end, _ in about.upper[:2]]
        for upper in uppers or [None]:
            reach = [Fact(x - lower, ">=")]
            base = about.rest
            if upper is not None:
                reach.append(Fact(upper - x, ">="))
                base = with_facts(base, Fact(upper - lower, ">="))
            canon = context(with_facts(about.rest, *reach)).canon
            found = decompose(canon, canon(sequent.goal.term), name)
            if found is None:
                continue
            smooth, hinges = found
            if not hinges or (upper is None and not _affine(smooth, name)):
                continue
            rows = [
                (to_term(c), to_term(u), to_term(v), sign(base, to_term(v))) for c, u, v in hinges
            ]
            if all(row[3] for row in rows):
                yield {
                    "name": name,
                    "lower": lower,
                    "upper": upper,
                    "smooth": to_term(smooth),
                    "hinges": tuple(rows),
                }


def decompose(
    canon: Canon, form: Poly, name: str
) -> tuple[Poly, list[tuple[Poly, Poly, Poly]]] | None:
    """The form as smooth + sum of c * max(u + v x, 0); None if it is not of that shape."""
    smooth: Poly = {}
    by_hinge: dict[Term, Poly] = {}
    for mono, value in form.items():
        kinked = [(item, k) for item, k in mono[1] if item.kinked and name in item.vars]
        rest = (mono[0], mono[1] - frozenset(kinked))
        if kinked:
            if len(kinked) > 1 or kinked[0][1] != 1 or name in mono_term(rest).vars:
                return None
            by_hinge.setdefault(kinked[0][0], {})[rest] = value
        else:
            smooth[mono] = value
    if any(_kinked_in(part, name) for mono in smooth for part, _ in mono[0]):
        return None
    hinges = []
    for item in sorted(by_hinge, key=lambda item: item.key):
        if item.op != "max" or item.args[1] is not tm.ZERO:
            return None
        pair = affine(canon(item.args[0]), name)
        if pair is None:
            return None
        hinges.append((by_hinge[item], *pair))
    return smooth, hinges


def _kinked_in(part: Any, name: str) -> bool:
    item = mono_term(part)
    return item.kinked and name in item.vars


def affine(form: Poly, name: str) -> tuple[Poly, Poly] | None:
    """u, v with form = u + v x, both free of x."""
    (single,) = mono_of(var(name))[1]
    u: Poly = {}
    v: Poly = {}
    for mono, value in form.items():
        rest = (mono[0], mono[1] - {single})
        if name in mono_term(rest).vars:
            return None
        (v if single in mono[1] else u)[rest] = value
    return u, v


def _affine(form: Poly, name: str) -> bool:
    return affine(form, name) is not None
