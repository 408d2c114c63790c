"""Samples of everything or of nothing, which a symbolic rate includes, apart from the others.

A weight of a blend is to be a positive term or the number 0: where a weight can be 0, a variable in
it is replaced by the value that makes it 0, and the blend then is one pair.
"""

from __future__ import annotations

from dpsym.kernel import statements as st
from dpsym.kernel.proofs import Proof
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules import step
from dpsym.kernel.sequents import Sequent, context
from dpsym.kernel.statements import INTEGER, Blend, Fact, Statement
from dpsym.kernel.terms import ONE, ZERO, Term, substitute, var
from dpsym.search import leaf
from dpsym.search.privacy.stages import alone
from dpsym.search.privacy.steps import Steps, Stuck


class Rates(Steps):
    """Proofs about blends with weights that may be 0."""

    def at_rates(self, goal: Statement) -> Proof:
        """Each weight is 0 or positive from here on."""
        for weight in weights(goal):
            above = Fact(weight, ">")
            if context(goal.facts).evident(above) or leaf.easy(Sequent(goal.facts, above)):
                continue
            end = root(weight, goal)
            if end is None:
                continue
            name, value = end
            *shown, none, some = step(goal, "either", {"item": -weight})
            assert isinstance(none, Statement)
            assert isinstance(some, Statement)
            proofs = [self.sequent(one) for one in shown if isinstance(one, Sequent)]
            proofs += [self.replaced_by(none, name, value), self.at_rates(some)]
            return Proof("either", {"item": -weight}, tuple(proofs))
        return self.mechanisms(goal, 0)

    def replaced_by(self, goal: Statement, name: str, value: Term) -> Proof:
        """A variable that has one value."""
        parameters = {"name": name, "value": value}
        try:
            *shown, last = step(goal, "equal", parameters)
            assert isinstance(last, Statement)
            proofs = [self.sequent(one) for one in shown if isinstance(one, Sequent)]
            return Proof("equal", parameters, (*proofs, self.at_rates(last)))
        except Refusal as refusal:  # a division by 0, say
            raise Stuck(f"{name} = {value}: {refusal}") from None

    def one_pair(self, goal: Statement) -> Proof | None:
        """For a blend of one distribution against one, the pair of these."""
        for index, stage in enumerate(goal.stages):
            if isinstance(stage, Blend) and alone(stage) is not None:
                try:
                    return self.apply(goal, "certain", stage=index)
                except Stuck as stuck:
                    self.left()
                    if stuck.remaining:
                        raise
        return None


def weights(goal: Statement) -> list[Term]:
    """The weights with variables, of all blends however deep."""
    blends = (one for stage in goal.stages for one in st.shapes(stage) if isinstance(one, Blend))
    found = (weight for blend in blends for weight in (*blend.p, *blend.q))
    return [weight for weight in dict.fromkeys(found) if weight.vars]


def root(weight: Term, goal: Statement) -> tuple[str, Term] | None:
    """A variable in which the weight is linear, and its value where the weight is 0."""
    same = context(goal.facts).same
    normal = context(goal.facts).canon.normal
    for name, kind in goal.variables:
        if name not in weight.vars:
            continue
        try:
            at_zero, at_one = (substitute(weight, {name: one}) for one in (ZERO, ONE))
            slope = normal(at_one - at_zero)
            if slope is ZERO or not same(weight, at_zero + slope * var(name)):
                continue
            value = normal(-at_zero / slope)
        except Refusal:
            continue
        if kind != INTEGER or value.vars or is_whole(value):
            return name, value
    return None


def is_whole(term: Term) -> bool:
    return term.op == "num" and getattr(term.value, "q", 0) == 1
