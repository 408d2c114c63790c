"""Hypotheses with denominators of no evident sign: what they say of the numerators."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from flint import fmpq

from dpsym.kernel.canon import scaled, to_term
from dpsym.kernel.proofs import Proof
from dpsym.kernel.sequents import Sequent, context
from dpsym.kernel.statements import Fact
from dpsym.search.leaf.numeric import plausible
from dpsym.search.leaf.steps import EVIDENT, premises

Prove = Callable[[Sequent], Proof | None]


def cleared(sequent: Sequent, prove: Prove) -> Iterator[tuple[Fact, Proof]]:
    """Facts that follow from hypotheses by multiplication with their denominators, with proofs."""
    hypotheses = sequent.hypotheses
    canon = context(hypotheses).canon
    for fact in hypotheses:
        if fact.rel == "!=":
            continue
        form, below = canon.together(canon(fact.term))
        if all(canon.is_positive(item) for item in below):
            continue
        factors, sign = [(fact.term, 1, 1)], 1
        for item, count in below.items():
            side = 1 if plausible(Sequent(hypotheses, Fact(item, ">"))) else -1
            factors.append((item, count, side))
            sign *= side if count % 2 else 1
        whole = Fact(to_term(scaled(form, sign)), fact.rel)
        if context(hypotheses).evident(whole):
            continue
        parameters = {"coefficient": fmpq(sign), "factors": tuple(factors)}
        left = premises(Sequent(hypotheses, whole), "factor", parameters)
        if left is None or not all(map(plausible, left)):
            continue
        known = Sequent(hypotheses, fact)
        proofs = [EVIDENT if premise == known else prove(premise) for premise in left]
        kept = tuple(proof for proof in proofs if proof is not None)
        if len(kept) == len(proofs):
            yield whole, Proof("factor", parameters, kept)
