"""Certificates: results with their proofs as JSON text, and the check of one.

A certificate is a table of terms and a list of results; a result is a goal, the nodes of its
proofs, and which nodes prove it and that it is defined. Everything refers back to something
earlier, so there are no cycles. Reading evaluates nothing and assumes nothing: it builds terms of
the kernel's grammar, and every result is proved again by ``step``. The last result is what the
certificate shows.
"""

from __future__ import annotations

import json
from typing import Any, TypeVar

from dpsym.kernel.kinds import STATEMENT, read_list, read_rational
from dpsym.kernel.proofs import SEQUENT, Lemma, Proof, prove_lemma
from dpsym.kernel.refusal import Refusal, TooLarge, require
from dpsym.kernel.rules import RULES
from dpsym.kernel.terms import Term
from dpsym.kernel.theorems import Theorem, prove

FORMAT, VERSION = "dpsym certificate", 1
MAX_CHARACTERS, MAX_NODES = 2**25, 1_000_000
Result = Lemma | Theorem
Item = TypeVar("Item")


def verify(text: str) -> Result:
    """Check a certificate; returns the result that it shows. Raises ``Refusal`` with the reason."""
    try:
        results = _Reader(_parsed(text)).results
    except RecursionError:
        raise TooLarge("certificate", "nesting that Python's stack can hold") from None
    require(bool(results), "certificate", "at least one result")
    return results[-1]


def _parsed(text: str) -> dict[str, Any]:
    if len(text) > MAX_CHARACTERS:
        raise TooLarge("certificate", f"at most {MAX_CHARACTERS} characters", len(text))
    try:
        data = _DECODER.decode(text)
    except ValueError as error:
        raise Refusal("certificate", "well-formed JSON", error) from None
    wanted = {"format", "version", "terms", "results"}
    if type(data) is not dict or set(data) != wanted:
        raise Refusal("certificate", f"an object with {sorted(wanted)}", type(data).__name__)
    known = data["format"] == FORMAT and type(data["version"]) is int and data["version"] == VERSION
    require(known, "certificate", f"{FORMAT}, version {VERSION}", data["format"], data["version"])
    return data


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    require(len(found) == len(pairs), "certificate", "each key once", sorted(found)[:20])
    return found


def _refuse(text: str) -> Any:
    raise Refusal("certificate", "whole numbers and strings only", text)


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_float=_refuse, parse_constant=_refuse)


class _Reader:
    """Reads what refers back to earlier terms and results; proves each result as it comes."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.terms: list[Term] = []
        self.results: list[Result] = []
        for row in read_list(data["terms"], most=MAX_NODES):
            self.terms.append(self._term(row))
        for row in read_list(data["results"], most=MAX_NODES):
            self.results.append(self._result(*read_list(row, 4)))

    def term(self, index: object) -> Term:
        return _at(self.terms, index, "term")

    def earlier(self, index: object) -> Result:
        return _at(self.results, index, "result")

    def _term(self, row: Any) -> Term:
        shape = type(row) is list and len(row) in (2, 3) and type(row[0]) is str
        require(shape, "certificate", "a term is an operation, arguments and a value", row)
        value = row[2] if len(row) == 3 else None
        require(type(value) in (str, int, type(None)), "certificate", "a term's value", value)
        args = tuple(map(self.term, read_list(row[1])))
        return Term(row[0], args, read_rational(value) if row[0] == "num" else value)

    def _result(self, sort: object, goal: object, nodes: object, roots: object) -> Result:
        proofs: list[Proof] = []
        for node in read_list(nodes, most=MAX_NODES):
            proofs.append(self._node(node, proofs))
        found = tuple(_at(proofs, index, "proof") for index in read_list(roots))
        require(bool(found), "certificate", "a proof of each result", sort)
        require(sort in ("sequent", "statement"), "certificate", "a sequent or a statement", sort)
        if sort == "sequent":
            return prove_lemma(SEQUENT.read(goal, self), found[0], found[1:])
        return prove(STATEMENT.read(goal, self), found[0], found[1:])

    def _node(self, row: Any, proofs: list[Proof]) -> Proof:
        name, given, premises = read_list(row, 3)
        rule = RULES.get(name) if type(name) is str else None
        if rule is None:
            raise Refusal("certificate", "the name of a rule", name)
        if type(given) is not dict or set(given) != set(rule.kinds):
            raise Refusal(rule.name, f"the parameters {sorted(rule.kinds)}", given)
        parameters = {key: kind.read(given[key], self) for key, kind in rule.kinds.items()}
        inner = tuple(_at(proofs, index, "proof") for index in read_list(premises))
        return Proof(rule.name, parameters, inner)


def _at(items: list[Item], index: object, what: str) -> Item:
    if type(index) is not int or not 0 <= index < len(items):
        raise Refusal("certificate", f"the index of an earlier {what}", index)
    return items[index]
