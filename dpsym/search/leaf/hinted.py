"""Hints: first steps of a proof that a person proposes. They cost time, never soundness.

A hint is tried as a kernel step in every way that it leaves open (the bound to derive from, the
shift of a new variable); its premises are proved with the hints that follow it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Union

from dpsym.kernel import terms as tm
from dpsym.kernel.proofs import Lemma, Proof
from dpsym.kernel.sequents import Sequent, context
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term
from dpsym.search.leaf.steps import evident, premises


@dataclass(frozen=True)
class Derive:
    """Show the goal at a bound of the variable, and that it grows from there."""

    name: str


@dataclass(frozen=True)
class Change:
    """Write the variable as ``kind`` of a new one, with ``item`` as in the kernel's rule."""

    name: str
    kind: str
    new: str
    item: Term


@dataclass(frozen=True)
class Split:
    """Take the cases item >= 0 and item < 0."""

    item: Term


@dataclass(frozen=True)
class Have:
    """Prove the fact first, and use it."""

    fact: Fact


@dataclass(frozen=True)
class Use:
    """A sequent proved earlier, at other terms, as a fact."""

    lemma: Lemma
    mapping: tuple[tuple[str, Term], ...]


Hint = Union[Derive, Change, Split, Have, Use]


def steps(sequent: Sequent, hint: Hint) -> Iterator[tuple[str, dict[str, Any]]]:
    """Kernel steps that the hint may mean for this sequent."""
    if isinstance(hint, Derive):
        yield from _derivations(sequent, hint.name)
    elif isinstance(hint, Change):
        new = hint.new
        while new in sequent.vars | hint.item.vars:
            new += "'"
        parameters = {"name": hint.name, "kind": hint.kind, "new": new, "item": hint.item}
        yield "change", parameters
    elif isinstance(hint, Split):
        yield "split", {"item": hint.item}
    elif isinstance(hint, Have):
        yield "have", {"fact": hint.fact}
    else:
        yield "have", {"fact": hint.lemma.sequent.goal.substitute(dict(hint.mapping))}


def _derivations(sequent: Sequent, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    known = context(sequent.hypotheses)
    for fact in sequent.hypotheses:
        split = known.affine(fact.term, name) if fact.rel != "!=" else None
        if split is None:
            continue
        slope, start = split
        given = {"name": name, "start": start, "direction": 1 if slope > 0 else -1}
        if fact.rel == ">" and sequent.goal.rel == ">":
            yield "derive", {**given, "from_open": True}
        yield "derive", {**given, "from_open": False}
        if fact.rel == ">":
            yield "approach", {**given, "near": tm.ONE, "rate": tm.ONE}
    for direction in (-1, 1):  # limits at plus and at minus infinity
        limit = {"name": name, "start": None, "direction": direction}
        yield "approach", {**limit, "near": tm.ONE, "rate": tm.ONE}


def prove_with(search: Any, sequent: Sequent, hints: tuple[Hint, ...]) -> Proof | None:
    """A proof that begins with the hints where they apply; ``search`` proves the rest."""
    if evident(sequent.hypotheses, sequent.goal.term, sequent.goal.rel):
        return Proof("evident")
    if not hints:
        found: Proof | None = search.run(sequent)
        return found
    hint, rest = hints[0], hints[1:]
    applied = False
    for rule, parameters in steps(sequent, hint):
        left = premises(sequent, rule, parameters)
        if left is None:
            continue
        applied = True
        proof = _all(search, rule, parameters, left, hint, rest)
        if proof is not None:
            return proof
    return None if applied else prove_with(search, sequent, rest)


def _all(
    search: Any,
    rule: str,
    parameters: dict[str, Any],
    left: list[Sequent],
    hint: Hint,
    rest: tuple[Hint, ...],
) -> Proof | None:
    proofs = []
    for premise in left:
        proof = None
        if isinstance(hint, Use) and premise.goal == parameters["fact"]:
            proof = _instance(search, premise, hint)
        proof = proof or prove_with(search, premise, rest)
        if proof is None:
            return None
        proofs.append(proof)
    return Proof(rule, parameters, tuple(proofs))


def _instance(search: Any, premise: Sequent, hint: Use) -> Proof | None:
    names = dict(hint.mapping)
    for name in hint.lemma.sequent.vars:
        names.setdefault(name, tm.var(name))
    parameters = {"lemma": hint.lemma, "mapping": tuple(sorted(names.items()))}
    left = premises(premise, "instance", parameters)
    if left is None:
        return None
    proofs = [search.run(item) for item in left]
    return None if None in proofs else Proof("instance", parameters, tuple(proofs))
