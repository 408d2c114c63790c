"""What the kernel has proved about privacy: the sealed ``Theorem``."""

from __future__ import annotations

from dpsym.kernel import rules_mechanisms, rules_privacy, rules_stages
from dpsym.kernel.proofs import Proof, Sealed, check, check_all, seal
from dpsym.kernel.statements import Statement


class Theorem(Sealed):
    """A statement with a checked proof, and proofs that it is defined."""

    __slots__ = ("definedness", "proof", "statement")

    statement: Statement
    proof: Proof
    definedness: tuple[Proof, ...]


rules_privacy.THEOREM.sealed.append(Theorem)
_REGISTERED = (rules_mechanisms, rules_privacy, rules_stages)  # importing registers the rules


def prove(statement: Statement, proof: Proof, definedness: tuple[Proof, ...] = ()) -> Theorem:
    """Check a proof of the statement, and proofs that it is defined, one per obligation."""
    check_all(rules_privacy.statement_obligations(statement), definedness)
    check(statement, proof)
    return seal(Theorem, statement=statement, proof=proof, definedness=definedness)
