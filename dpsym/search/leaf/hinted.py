"""Hints: first steps of a proof that a person proposes. They cost time, never soundness.

A hint is tried as a kernel step in every way that it leaves open (the bound to derive from, the
shift of a new variable); its premises are proved with the hints that follow it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Union

from flint import fmpq

from dpsym.kernel import canon as cn
from dpsym.kernel import terms as tm
from dpsym.kernel.proofs import Lemma, Proof
from dpsym.kernel.sequents import Sequent, context
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term
from dpsym.search.leaf.factoring import factors
from dpsym.search.leaf.quick import unsigned_denominators
from dpsym.search.leaf.steps import evident, form_of, premises


@dataclass(frozen=True)
class Derive:
    """Show the goal at a bound of the variable, this one if it is given, and that it grows from
    there."""

    name: str
    start: Term | None = None


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


@dataclass(frozen=True)
class Clear:
    """Show the signs of the denominators, multiply by them, and take factors out."""


@dataclass(frozen=True)
class Scale:
    """Multiply by the exponential after which the derivative by the variable is shortest."""

    name: str


Hint = Union[Derive, Change, Split, Have, Use, Clear, Scale]


def steps(sequent: Sequent, hint: Hint) -> Iterator[tuple[str, dict[str, Any]]]:
    """Kernel steps that the hint may mean for this sequent."""
    if isinstance(hint, Derive):
        yield from _derivations(sequent, hint)
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
    elif isinstance(hint, Use):
        yield "have", {"fact": hint.lemma.sequent.goal.substitute(dict(hint.mapping))}


def _derivations(sequent: Sequent, hint: Derive) -> Iterator[tuple[str, dict[str, Any]]]:
    name, known = hint.name, context(sequent.hypotheses)
    for fact in sequent.hypotheses:
        split = known.affine(fact.term, name) if fact.rel != "!=" else None
        if split is None:
            continue
        slope, start = split
        if hint.start is not None and not known.same(start, hint.start):
            continue
        given = {"name": name, "start": start, "direction": 1 if slope > 0 else -1}
        if fact.rel == ">" and sequent.goal.rel == ">":
            yield "derive", {**given, "from_open": True}
        yield "derive", {**given, "from_open": False}
        if fact.rel == ">":
            yield "approach", {**given, "near": tm.ONE, "rate": tm.ONE}
    if hint.start is not None:
        return
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
    if isinstance(hint, Clear):
        return _cleared(search, sequent, rest)
    if isinstance(hint, Scale):
        return _scaled(search, sequent, hint.name, rest)
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


def _cleared(search: Any, sequent: Sequent, rest: tuple[Hint, ...]) -> Proof | None:
    """First the sign of a denominator, as long as there are such; then the goal without them."""
    from dpsym.search.leaf.moves import sampled_sign  # loads numpy

    form = form_of(sequent)
    for item in unsigned_denominators(sequent, form):
        sign = sampled_sign(sequent.hypotheses, item)
        parameters = {"fact": Fact(sign * item, ">")}
        left = premises(sequent, "have", parameters) if sign else None
        if left is None:
            return None
        shown = [search.run(premise) for premise in left[:-1]]
        last = _cleared(search, left[-1], rest) if None not in shown else None
        return None if last is None else Proof("have", parameters, (*shown, last))
    (tidied,) = premises(sequent, "tidy", {}) or [sequent]
    found = _factored(search, tidied, rest)
    return found if found is None or tidied == sequent else Proof("tidy", {}, (found,))


def _factored(search: Any, sequent: Sequent, rest: tuple[Hint, ...]) -> Proof | None:
    """The signs of the sums that are factors; the hints are for the largest, with all else."""
    from dpsym.search.leaf.moves import sampled_sign  # loads numpy

    found = factors(form_of(sequent))
    sums = [(item, k) for item, k in found[1] if item.op == "add"] if found else []
    if not found or len(sums) < 2:
        return prove_with(search, sequent, rest)
    largest = max((item for item, k in sums if k == 1), key=lambda item: item.size, default=None)
    others = tuple(
        (item, k, sampled_sign(sequent.hypotheses, item)) for item, k in sums if item is not largest
    )
    if largest is None or not all(sign for _, _, sign in others):
        return prove_with(search, sequent, rest)
    monomial = tm.mul(
        tm.num(found[0]), *(tm.power(item, k) for item, k in found[1] if (item, k) not in sums)
    )
    sign = math.prod(sign for _, k, sign in others if k % 2)
    parameters = {
        "coefficient": fmpq(sign),
        "factors": (*others, (sign * monomial * largest, 1, 1)),
    }
    left = premises(sequent, "factor", parameters)
    if not left:
        return None
    proofs = [search.run(premise) for premise in left[:-1]]
    last = prove_with(search, left[-1], rest) if None not in proofs else None
    return None if last is None else Proof("factor", parameters, (*proofs, last))


def _scaled(search: Any, sequent: Sequent, name: str, rest: tuple[Hint, ...]) -> Proof | None:
    canon = context(sequent.hypotheses).canon

    def moving(part: cn.Monomial) -> bool:
        return name in cn.mono_term((frozenset([(part, fmpq(1))]), frozenset())).vars

    def length(item: Term) -> int:
        return len(canon(tm.derivative(item, name)))

    best, at = sequent, length(sequent.goal.term)
    factor = None
    for mono in form_of(sequent):
        inner = frozenset((part, -value) for part, value in mono[0] if moving(part))
        scale = cn.mono_term((inner, frozenset()))
        left = premises(sequent, "multiply", {"factor": scale}) or []
        if len(left) == 1 and length(left[0].goal.term) < at:
            best, at, factor = left[0], length(left[0].goal.term), scale
    found = prove_with(search, best, rest)
    if found is None or factor is None:
        return found
    return Proof("multiply", {"factor": factor}, (found,))


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
