"""The steps of a checked certificate: which rule concludes what from which premises."""

from __future__ import annotations

from dataclasses import dataclass, field

from dpsym.certificates import earlier_results, nodes
from dpsym.kernel.certificate import Result
from dpsym.kernel.proofs import Lemma, Proof, step, top_obligations
from dpsym.kernel.rules import Goal
from dpsym.kernel.rules_privacy import statement_obligations


@dataclass(eq=False, slots=True)
class Step:
    """One inference; ``result`` and ``number`` say where it stands, both from 1 on."""

    goal: Goal
    rule: str
    result: int
    number: int
    premises: list[Step] = field(default_factory=list)


def goals(result: Result) -> list[tuple[Goal, Proof]]:
    """What was proved, and what makes it defined, each with its proof."""
    if isinstance(result, Lemma):
        main: Goal = result.sequent
        needed = top_obligations(result.sequent.hypotheses, result.sequent.goal)
    else:
        main, needed = result.statement, statement_obligations(result.statement)
    proofs = (result.proof, *result.definedness)
    return list(zip([main, *needed], proofs, strict=True))


def replay(root: Result) -> list[Step]:
    """Every step of the result and of the earlier ones that it uses, conclusions first."""
    out: list[Step] = []
    for place, result in enumerate(earlier_results(root), 1):
        numbers: dict[int, int] = {}
        for proof in (result.proof, *result.definedness):
            for node in nodes(proof):
                numbers.setdefault(id(node), len(numbers) + 1)
        done: dict[tuple[Goal, int], Step] = {}
        todo: list[tuple[Goal, Proof, Step | None]] = [(g, p, None) for g, p in goals(result)]
        while todo:
            goal, proof, parent = todo.pop()
            found = done.get((goal, id(proof)))
            if found is None:
                found = Step(goal, proof.rule, place, numbers[id(proof)])
                done[(goal, id(proof))] = found
                out.append(found)
                premises = step(goal, proof.rule, proof.parameters)
                todo += [(g, p, found) for g, p in zip(premises, proof.premises, strict=True)]
            if parent is not None:
                parent.premises.append(found)
    return out
