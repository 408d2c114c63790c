"""What the kernel has proved about privacy: the sealed ``Theorem``."""

from __future__ import annotations

from dpsym.kernel import rules_privacy
from dpsym.kernel.proofs import Lemma, Proof, Sealed, check, check_all, seal
from dpsym.kernel.statements import Statement


class Theorem(Sealed):
    """A statement with a checked proof, and proofs that it is defined."""

    __slots__ = ("definedness", "proof", "statement")

    statement: Statement
    proof: Proof
    definedness: tuple[Proof, ...]


rules_privacy.THEOREM.sealed.append(Theorem)


def prove(statement: Statement, proof: Proof, definedness: tuple[Proof, ...] = ()) -> Theorem:
    """Check a proof of the statement, and proofs that it is defined, one per obligation."""
    check_all(rules_privacy.statement_obligations(statement), definedness)
    check(statement, proof)
    made: Theorem = seal(Theorem, statement=statement, proof=proof, definedness=definedness)
    return made


def earlier_results(root: Lemma | Theorem) -> list[Lemma | Theorem]:
    """The result itself and every earlier one that its proofs use, earliest first."""
    order: dict[int, Lemma | Theorem] = {}
    entered: set[int] = set()
    stack: list[tuple[Lemma | Theorem, bool]] = [(root, False)]
    while stack:
        item, done = stack.pop()
        if done:
            order[id(item)] = item
        elif id(item) not in entered:
            entered.add(id(item))
            stack.append((item, True))
            for proof in (item.proof, *item.definedness):
                for node in proof.nodes():
                    used = node.parameters.get("lemma", node.parameters.get("theorem"))
                    if isinstance(used, (Lemma, Theorem)):
                        stack.append((used, False))
    return list(order.values())
