"""The goal of a certificate as text, from the kernel's own terms.

What a reader of ``dpsym verify`` believes is this text, so nothing is left out of it: inner parts
of a deep or huge term are named ``$1``, ``$2``, ... and given after it. A name that could be taken
for something else (``"0"``, a line break) is shown in quotes.
"""

from __future__ import annotations

from collections.abc import Callable

from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import (
    PREFIX,
    RATIO,
    REAL,
    Assumed,
    Fact,
    Guarantee,
    Mechanism,
    Pair,
    Processed,
    Region,
    Stage,
    Statement,
)
from dpsym.kernel.terms import ONE, Term, substitute, subterms, var
from dpsym.printing import show, show_fact

_DEEPEST, _LARGEST = 30, 2000  # what is shown in one piece
_SPECIAL = frozenset(
    {"pi", "exp", "log", "sqrt", "erfc", "Abs", "Max", "Min", "Ite", "and", "for", "with"}
)


def goal_text(goal: Statement | Sequent) -> str:
    """What the statement, or the inequality, says, in a few lines.

    >>> from dpsym.kernel.terms import var
    >>> e, f = var("e"), var("f")
    >>> stages = tuple(Assumed((Guarantee("PureDP", (x,)),)) for x in (e, f))
    >>> claim = Guarantee("PureDP", (e + f,))
    >>> facts = (Fact(e, ">="), Fact(f, ">="))
    >>> names = (("e", "real"), ("f", "real"))
    >>> print(goal_text(Statement(names, facts, stages, (claim,))))
    the adaptive composition of
      1. any mechanism with PureDP(e)
      2. any mechanism with PureDP(f)
    has PureDP(e + f)
    for all real e, f with e >= 0, f >= 0
    """
    if isinstance(goal, Sequent):
        return _inequality(goal)
    statement = goal
    stages = [_stage(stage) for stage in statement.stages]
    lines = []
    if len(stages) == 1:
        lines.append(stages[0])
    elif stages:
        lines.append("the adaptive composition of")
        lines += [
            f"  {number}. {stage}".replace("\n", "\n   ") for number, stage in enumerate(stages, 1)
        ]
    lines.append("has " + " and ".join(guarantee_text(claim) for claim in statement.claims))
    if statement.variables or statement.facts:
        lines.append(f"for all {_domain(statement.variables, statement.facts)}")
    return "\n".join(lines)


def _inequality(sequent: Sequent) -> str:
    names = tuple((name, REAL) for name in sorted(sequent.vars))
    domain = _domain(names, sequent.hypotheses)
    return _fact(sequent.goal) + (f"\nfor all {domain}" if domain else "")


def _stage(stage: Stage) -> str:
    if isinstance(stage, (Assumed, Processed)):
        having = " and ".join(guarantee_text(item) for item in stage.guarantees)
        some = f"any mechanism with {having}" if having else "any mechanism"
        return f"a post-processing of {some}" if isinstance(stage, Processed) else some
    return _mechanism(stage)


def _mechanism(mechanism: Mechanism) -> str:
    lines = ["the mechanism with the neighbouring pairs"]
    for pair in mechanism.pairs:
        lines.append(f"  {_pair_head(pair)}")
        lines += [f"    {_region(region)}" for region in pair.regions]
    return "\n".join(lines)


def _pair_head(pair: Pair) -> str:
    label = f"({pair.label!r}) " if pair.label else ""
    scope = f"for all {_domain(pair.variables, pair.facts)}" if pair.variables or pair.facts else ""
    return f"{label}{scope or 'one pair'}:"


def _region(region: Region) -> str:
    sizes = f"p = {_term(region.p)}, q = {_term(region.q)}"
    if region.output is None:
        times = "" if region.weight in (None, ONE) else f"{_term(region.weight or ONE)} times "
        return f"{times}an atom with {sizes}"
    inside = f" where {_facts(region.facts)}" if region.facts else ""
    times = "" if region.weight is None else f", times {_term(region.weight)}"
    return f"densities {sizes}{times} of {_name(region.output)}{inside}"


def guarantee_text(guarantee: Guarantee) -> str:
    shown = ", ".join("+oo" if arg is None else _term(arg) for arg in guarantee.args)
    way = "one way, (Q, P)" if guarantee.reverse else "one way, (P, Q)"
    return f"{guarantee.name}({shown})" + ("" if guarantee.two_way else f" {way}")


def _domain(variables: tuple[tuple[str, str], ...], facts: tuple[Fact, ...]) -> str:
    kinds: dict[str, list[str]] = {}
    for name, kind in variables:
        kinds.setdefault(kind, []).append(_name(name))
    names = " and ".join(f"{kind} {', '.join(names)}" for kind, names in kinds.items())
    return " with ".join(part for part in (names, _facts(facts)) if part)


def _facts(facts: tuple[Fact, ...]) -> str:
    return ", ".join(map(_fact, facts))


def _fact(fact: Fact) -> str:
    return _with_pieces(fact.term, lambda term: show_fact(Fact(term, fact.rel)))


def _name(name: str) -> str:
    plain = name.isidentifier() and name.isascii() and name not in _SPECIAL
    return name if plain or name in (RATIO, PREFIX) else ascii(name)


def _term(node: Term) -> str:
    return _with_pieces(node, show)


def _with_pieces(node: Term, showing: Callable[[Term], str]) -> str:
    unclear = {name: var(_name(name)) for name in node.vars if _name(name) != name}
    shown, pieces = _in_pieces(substitute(node, unclear))
    where = "; ".join(f"{name} = {show(piece)}" for name, piece in pieces)
    return f"{showing(shown)} [where {where}]" if where else showing(shown)


def _in_pieces(node: Term) -> tuple[Term, list[tuple[str, Term]]]:
    """The term with its inner parts replaced by names, and these parts, each shallow and small."""
    pieces: list[tuple[str, Term]] = []
    if node.depth <= _DEEPEST and node.size <= _LARGEST:
        return node, pieces
    done: dict[Term, Term] = {}
    for part in subterms(node):
        built = Term(part.op, tuple(done[arg] for arg in part.args), part.value)
        if part is not node and (built.depth >= _DEEPEST or built.size > _LARGEST):
            pieces.append((f"${len(pieces) + 1}", built))
            built = var(pieces[-1][0])
        done[part] = built
    return done[node], pieces
