"""Writing certificates. What is written is trusted only as far as the kernel verifies it again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, get_args

from flint import fmpq

from dpsym.kernel.certificate import FORMAT, VERSION, Result
from dpsym.kernel.proofs import Lemma, Proof
from dpsym.kernel.statements import Filter, Joint, Stage
from dpsym.kernel.terms import Term
from dpsym.kernel.theorems import Theorem

__all__ = ["earlier_results", "nodes", "write"]


def write(result: Result) -> str:
    """The certificate of a result, with the earlier results that it uses, as JSON text.

    >>> from dpsym.kernel.certificate import verify
    >>> from dpsym.kernel.proofs import Proof, prove_lemma
    >>> from dpsym.kernel.sequents import Sequent
    >>> from dpsym.kernel.statements import Fact
    >>> from dpsym.kernel.terms import exp, var
    >>> positive = Sequent((), Fact(exp(var("x")), ">"))
    >>> text = write(prove_lemma(positive, Proof("evident")))
    >>> text  # doctest: +ELLIPSIS
    '{"format":"dpsym certificate","version":1,"terms":[["var",[],"x"],["exp",[0]]],"results":[...
    >>> verify(text).sequent
     |- exp(x) > 0
    """
    return json.dumps(_Writer().document(result), separators=(",", ":"), ensure_ascii=True)


def nodes(proof: Proof) -> Iterator[Proof]:
    """Every distinct node of a proof, premises first."""
    seen: set[int] = set()
    stack: list[tuple[Proof, bool]] = [(proof, False)]
    while stack:
        node, done = stack.pop()
        if done:
            yield node
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((premise, False) for premise in reversed(node.premises))


def earlier_results(root: Result) -> list[Result]:
    """The result itself and every earlier one that its proofs use, earliest first."""
    order: dict[int, Result] = {}
    entered: set[int] = set()
    stack: list[tuple[Result, bool]] = [(root, False)]
    while stack:
        item, done = stack.pop()
        if done:
            order[id(item)] = item
        elif id(item) not in entered:
            entered.add(id(item))
            stack.append((item, True))
            for proof in (item.proof, *item.definedness):
                for node in nodes(proof):
                    used = node.parameters.get("lemma", node.parameters.get("theorem"))
                    if isinstance(used, (Lemma, Theorem)):
                        stack.append((used, False))
    return list(order.values())


class _Writer:
    """Gives each term and result its index when it is first met."""

    def __init__(self) -> None:
        self.terms: dict[Term, int] = {}
        self.table: list[list[Any]] = []
        self.results: dict[int, int] = {}

    def term(self, item: Term) -> int:
        if item not in self.terms:
            value = str(item.value) if isinstance(item.value, fmpq) else item.value
            row = [item.op, [self.term(arg) for arg in item.args]]
            self.table.append(row if value is None else [*row, value])
            self.terms[item] = len(self.table) - 1
        return self.terms[item]

    def value(self, item: Any) -> Any:
        """What the kernel's kinds read: see ``dpsym.kernel.kinds``."""
        if item is None or isinstance(item, (bool, int, str)):
            return item
        if isinstance(item, fmpq):
            return str(item)
        if isinstance(item, Term):
            return self.term(item)
        if isinstance(item, (Lemma, Theorem)):
            return self.results[id(item)]
        if isinstance(item, tuple):
            return [self.value(part) for part in item]
        row = [self.value(getattr(item, part.name)) for part in fields(item)]
        if isinstance(item, Filter):
            row[1] = row[1][1]  # no other stage can stand there, so its class is not named
        return [type(item).__name__, row] if isinstance(item, (*get_args(Stage), Joint)) else row

    def document(self, root: Result) -> dict[str, Any]:
        results = []
        for item in earlier_results(root):
            lemma = isinstance(item, Lemma)
            goal = self.value(item.sequent if isinstance(item, Lemma) else item.statement)
            index: dict[int, int] = {}
            rows: list[list[Any]] = []
            for proof in (item.proof, *item.definedness):
                for node in nodes(proof):
                    if id(node) not in index:
                        rows.append(self.node(node, index))
                        index[id(node)] = len(rows) - 1
            roots = [index[id(proof)] for proof in (item.proof, *item.definedness)]
            results.append(["sequent" if lemma else "statement", goal, rows, roots])
            self.results[id(item)] = len(results) - 1
        return {"format": FORMAT, "version": VERSION, "terms": self.table, "results": results}

    def node(self, node: Proof, index: dict[int, int]) -> list[Any]:
        given = {key: self.value(value) for key, value in node.parameters.items()}
        return [node.rule, given, [index[id(premise)] for premise in node.premises]]
