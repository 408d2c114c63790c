"""Certificates: results with their proofs as JSON text, written and checked.

A certificate is a table of terms and a list of results; a result is a goal, the nodes of its proofs,
and which nodes prove it and that it is defined. Everything refers back to something earlier, so
there are no cycles. Reading evaluates nothing and assumes nothing: it builds terms of the kernel's
grammar, and every result is proved again by ``step``. The last result is what the certificate shows.
"""

from __future__ import annotations

import json
from typing import Any, TypeVar

from flint import fmpq

from dpsym.kernel.kinds import FACT, FACTS, STATEMENT, RecordKind, read_list, read_rational
from dpsym.kernel.proofs import Lemma, Proof, prove_lemma
from dpsym.kernel.refusal import Refusal, TooLarge
from dpsym.kernel.rules import RULES
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.terms import ARITY, Term
from dpsym.kernel.theorems import Theorem, earlier_results, prove

FORMAT, VERSION = "dpsym certificate", 1
MAX_CHARACTERS = 2**25
MAX_NODES = 1_000_000
SEQUENT = RecordKind(Sequent, (FACTS, FACT))
Result = Lemma | Theorem
Item = TypeVar("Item")


def write(result: Result) -> str:
    """The certificate of a result, with the earlier results that it uses."""
    return json.dumps(_Writer().document(result), separators=(",", ":"), ensure_ascii=True)


class _Writer:
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

    def earlier(self, item: object) -> int:
        return self.results[id(item)]

    def document(self, root: Result) -> dict[str, Any]:
        results = []
        for item in earlier_results(root):
            lemma = isinstance(item, Lemma)
            goal = (
                SEQUENT.write(item.sequent, self)
                if lemma
                else STATEMENT.write(item.statement, self)
            )
            nodes: dict[int, int] = {}
            rows: list[list[Any]] = []
            for proof in (item.proof, *item.definedness):
                for node in proof.nodes():
                    if id(node) not in nodes:
                        rows.append(self.node(node, nodes))
                        nodes[id(node)] = len(rows) - 1
            roots = [nodes[id(proof)] for proof in (item.proof, *item.definedness)]
            results.append(["sequent" if lemma else "statement", goal, rows, roots])
            self.results[id(item)] = len(results) - 1
        return {"format": FORMAT, "version": VERSION, "terms": self.table, "results": results}

    def node(self, node: Proof, nodes: dict[int, int]) -> list[Any]:
        kinds = RULES[node.rule].kinds
        given = {key: kinds[key].write(value, self) for key, value in node.parameters.items()}
        return [node.rule, given, [nodes[id(premise)] for premise in node.premises]]


def verify(text: str) -> Result:
    """Check a certificate; returns the result that it shows. Raises ``Refusal`` with the reason."""
    try:
        return _Reader(_parsed(text)).result()
    except RecursionError:
        raise TooLarge("certificate", "nesting that Python's stack can hold") from None


def _parsed(text: str) -> dict[str, Any]:
    if len(text) > MAX_CHARACTERS:
        raise TooLarge("certificate", f"at most {MAX_CHARACTERS} characters", len(text))
    try:
        data = json.loads(
            text, object_pairs_hook=_once, parse_float=_no_float, parse_constant=_no_float
        )
    except ValueError as error:
        raise Refusal("certificate", "well-formed JSON", error) from None
    wanted = {"format", "version", "terms", "results"}
    if type(data) is not dict or set(data) != wanted:
        raise Refusal("certificate", f"an object with {sorted(wanted)}", type(data).__name__)
    if data["format"] != FORMAT or type(data["version"]) is not int or data["version"] != VERSION:
        raise Refusal(
            "certificate", f"{FORMAT}, version {VERSION}", data["format"], data["version"]
        )
    return data


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Refusal("certificate", "each key once", [key for key, _ in pairs][:20])
    return found


def _no_float(text: str) -> Any:
    raise Refusal("certificate", "whole numbers and strings only", text)


class _Reader:
    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.table: list[Term] = []
        self.results: list[Result] = []
        for row in _rows(data["terms"]):
            self.table.append(self._term(row))

    def _term(self, row: Any) -> Term:
        if type(row) is not list or len(row) not in (2, 3) or type(row[0]) is not str:
            raise Refusal("certificate", "a term is an operation, arguments and a value", row)
        args = tuple(self.term(index) for index in read_list(row[1]))
        value = row[2] if len(row) == 3 else None
        if row[0] not in ARITY or type(value) not in (str, int, type(None)):
            raise Refusal("certificate", "an operation of the grammar and its value", row[0], value)
        return Term(row[0], args, read_rational(value) if row[0] == "num" else value)

    def term(self, index: object) -> Term:
        return _at(self.table, index, "term")

    def earlier(self, index: object) -> Result:
        return _at(self.results, index, "result")

    def result(self) -> Result:
        for row in _rows(self.data["results"]):
            sort, goal, nodes, roots = read_list(row, 4)
            proofs: list[Proof] = []
            for node in _rows(nodes):
                proofs.append(self._node(node, proofs))
            found = [_at(proofs, index, "proof") for index in read_list(roots)]
            if not found:
                raise Refusal("certificate", "a proof of each result", row[0])
            if sort == "sequent":
                sequent = SEQUENT.read(goal, self)
                self.results.append(prove_lemma(sequent, found[0], tuple(found[1:])))
            elif sort == "statement":
                statement = STATEMENT.read(goal, self)
                self.results.append(prove(statement, found[0], tuple(found[1:])))
            else:
                raise Refusal("certificate", "a sequent or a statement", sort)
        if not self.results:
            raise Refusal("certificate", "at least one result")
        return self.results[-1]

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


def _rows(data: Any) -> list[Any]:
    if type(data) is not list or len(data) > MAX_NODES:
        raise Refusal("certificate", f"a list of at most {MAX_NODES} items", type(data).__name__)
    return data


def _at(items: list[Item], index: object, what: str) -> Item:
    if type(index) is not int or not 0 <= index < len(items):
        raise Refusal("certificate", f"the index of an earlier {what}", index)
    return items[index]
