"""The search for a kernel proof: closing steps, simplifications, then ranked choices.

Depth first with a growing allowance ("fuel") for steps that are choices. Premises that fail at a
sampled point cut a branch at once.
"""

from __future__ import annotations

from typing import Any

from dpsym.kernel.balls import EVERYTHING
from dpsym.kernel.canon import Poly
from dpsym.kernel.proofs import Proof
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules_logic import branches
from dpsym.kernel.sequents import Facts, Sequent, context
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import var
from dpsym.search.leaf import arguments, boxes, hinges, linear, logs, moves, quick
from dpsym.search.leaf.budget import Budget, OutOfBudget
from dpsym.search.leaf.moves import Move
from dpsym.search.leaf.numeric import domain, least_ratio, plausible
from dpsym.search.leaf.steps import EVIDENT, evident, form_of, kinks, premises

# (fuel, whether to change variables first, choices of a kind to try, share of the time left)
_ALL = 100
_ROUNDS = (
    (0, True, _ALL, 1.0),
    (1, False, _ALL, 1.0),
    (2, True, _ALL, 1.0),
    (6, False, 1, 0.1),
    (6, True, 1, 0.1),
    (3, False, _ALL, 1.0),
    (6, False, 2, 0.2),
    (4, True, _ALL, 1.0),
    (6, True, 2, 0.3),
    (5, False, _ALL, 1.0),
    (8, False, _ALL, 1.0),
)
_DEPTH = 100
_FEW_BOXES, _SOME_BOXES, _MANY_BOXES = 12, 75, 300
_MOST_STEPS = 12  # remembered of one sequent, for what is left open
_LAST_MATTERS = frozenset({"derive", "approach", "secant", "hump", "clear", "subtract", "multiply"})


class Search:
    """One search; remembers what it has proved and what it has tried in vain."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.proved: dict[Sequent, Proof] = {}
        self.failed: dict[Sequent, float] = {}
        self.tried: dict[tuple[Sequent, str], None] = {}
        self.stuck: dict[Sequent, dict[tuple[Sequent, ...], None]] = {}
        self.active: set[Sequent] = set()
        self.limits: set[Facts] = set()  # where limits are shown: another limit shows nothing there
        self.prepare, self.width = True, _ALL

    def run(self, sequent: Sequent) -> Proof | None:
        """A proof, or None when the budget is spent or everything was tried."""
        whole = self.budget
        try:
            for fuel, self.prepare, self.width, share in _ROUNDS:
                self.failed.clear()
                self.budget = whole.part(share * whole.left())
                try:
                    with self.budget.enforced():
                        found = self.prove(sequent, fuel, 0)
                except OutOfBudget:
                    found = None
                    if self.tried:
                        self.tried.popitem()  # what was interrupted
                if found is not None or whole.left() <= 0:
                    return found
        finally:
            self.budget = whole
        return None

    # -- one sequent

    def prove(self, sequent: Sequent, fuel: float, depth: int) -> Proof | None:
        self.budget.check()
        if evident(sequent.hypotheses, sequent.goal.term, sequent.goal.rel):
            return EVIDENT
        done = self.proved.get(sequent)
        if done is not None:
            return done
        if fuel < 0 or depth > _DEPTH or self.failed.get(sequent, -1) >= fuel:
            return None
        if sequent in self.active:
            return None
        self.active.add(sequent)
        try:
            found = self.attempt(sequent, fuel, depth)
        except (Refusal, ArithmeticError, RecursionError):
            found = None
        finally:
            self.active.discard(sequent)
        if found is not None:
            self.proved[sequent] = found
        else:
            self.failed[sequent] = max(fuel, self.failed.get(sequent, -1))
        return found

    def by(self, sequent: Sequent, move: Move, fuel: float, depth: int) -> Proof | None:
        """A proof that starts with this move, if all premises can be proved."""
        if move.factor is not None:
            between = premises(sequent, "multiply", {"factor": move.factor})
            if between is None or len(between) != 1:
                return None
            inner = Move(move.rule, move.parameters)
            found = self.by(between[0], inner, fuel, depth + 1)
            if found is None:
                self.note(sequent, between)
            return found and Proof("multiply", {"factor": move.factor}, (found,))
        left = premises(sequent, move.rule, move.parameters)
        if left is None or not all(plausible(premise) for premise in left):
            return None
        if move.rule == "approach":
            self.limits.add(left[-2].hypotheses)
        proofs = []
        for index, premise in enumerate(left):
            last = index == len(left) - 1 or move.rule not in _LAST_MATTERS
            large = premise.goal.rel == ">=" and bool(premise.goal.term.args)
            allowed = fuel if last or large else min(fuel, 2) or 1
            if move.rule == "hump" and not last:
                allowed = min(allowed, 1)  # the ends are easy, or it is no hump
            found = self.prove(premise, allowed, depth + 1)
            if found is None:
                self.note(sequent, left[index:])
                return None
            proofs.append(found)
        return Proof(move.rule, move.parameters, tuple(proofs))

    def note(self, sequent: Sequent, left: list[Sequent]) -> None:
        """Remember what a step left open."""
        still = tuple(p for p in left if not evident(p.hypotheses, p.goal.term, p.goal.rel))
        known = self.stuck.setdefault(sequent, {})
        if len(known) < _MOST_STEPS:
            known[still] = None

    def closing(self, sequent: Sequent, rule: str, parameters: Any) -> Proof | None:
        """A proof by one step whose premises are evident at once."""
        if parameters is None:
            return None
        left = premises(sequent, rule, parameters)
        if left is None:
            return None
        proofs = [self.prove(premise, 1, _DEPTH - 10) for premise in left]
        if any(found is None for found in proofs):
            return None
        return Proof(rule, parameters, tuple(found for found in proofs if found is not None))

    def early(self, sequent: Sequent) -> list[Move]:
        found = moves.before_clearing(sequent, form_of(sequent), self.limited(sequent))
        return found[: self.width]

    def limited(self, sequent: Sequent) -> bool:
        return sequent.hypotheses in self.limits

    def once(self, sequent: Sequent, what: str) -> bool:
        """Whether this has not been tried for this sequent."""
        if (sequent, what) in self.tried:
            return False
        self.tried[sequent, what] = None
        return True

    def attempt(self, sequent: Sequent, fuel: float, depth: int) -> Proof | None:
        goal = sequent.goal
        if goal.rel == "!=":
            for sign in (1, -1):
                found = self.by(sequent, Move("nonzero", {"sign": sign}), fuel, depth)
                if found is not None:
                    return found
            return None
        if fuel >= 1 and not goal.term.kinked and self.once(sequent, "fractions"):
            found = self.fractions(sequent)
            if found is not None:
                return found
        if not plausible(sequent):
            return self.impossible(sequent)
        for squared in moves.two_roots(sequent, form_of(sequent)):
            if self.once(sequent, f"roots {fuel}"):
                found = self.by(sequent, squared, fuel, depth)
                if found is not None:
                    return found
        if not goal.term.kinked:
            simpler, found = arguments.simplified(
                sequent, form_of(sequent), lambda premise: self.prove(premise, fuel, depth + 1)
            )
            if simpler:
                return found
        if self.prepare and not goal.term.kinked:
            move = moves.unit(sequent)
            if move is not None:
                return self.by(sequent, move, fuel, depth)
        if fuel >= 1 and not goal.term.kinked:
            given = moves.logarithms(sequent, form_of(sequent))
            if given is not None:
                found = self.by(sequent, Move("monotone", given), fuel, depth)
                if found is not None:
                    return found
            for move in self.early(sequent):
                found = self.by(sequent, move, fuel - 1, depth)
                if found is not None:
                    return found
            if moves.fractional(form_of(sequent)):
                found = self.apart(sequent, fuel, depth)
                if found is not None:
                    return found
        tidied = context(sequent.hypotheses).tidy(goal)
        if tidied != goal:
            found = self.as_given(sequent, fuel)
            if found is not None:
                return found
            return self.by(sequent, Move("tidy", {}), fuel, depth)
        if goal.term.kinked or any(fact.term.kinked for fact in sequent.hypotheses):
            return self.kinked(sequent, fuel, depth)
        if not plausible(sequent):
            return self.impossible(sequent)
        form = form_of(sequent)
        move = moves.cleared(sequent, form)
        if move is not None:
            return self.by(sequent, move, fuel, depth)
        if not form:
            return None
        parameters = quick.comparison(sequent, form)
        if parameters is not None:
            found = self.by(sequent, Move("monotone", parameters), fuel, depth)
            if found is not None:
                return found
        if self.prepare:
            for move, commit in moves.preparation(sequent, form):
                found = self.by(sequent, move, fuel, depth)
                if found is not None or commit:
                    return found
        squares = moves.squares(sequent, form)
        for move in moves.without_tails(sequent, form) if squares and fuel >= 1 else ():
            found = self.by(sequent, move, fuel, depth)
            if found is not None:
                return found
        for move in squares[: self.width]:
            if self.once(sequent, f"squares {fuel}"):
                found = self.by(sequent, move, fuel, depth)
                if found is not None:
                    return found
        move = moves.factored(sequent, form)
        if move is not None:
            found = self.by(sequent, move, fuel, depth)
            if found is not None:
                return found
        return self.close(sequent, form, fuel, depth) or self.choose(sequent, form, fuel, depth)

    def fractions(self, sequent: Sequent) -> Proof | None:
        """A linear program before denominators are cleared, so that lemmas may have them."""
        canon = context(sequent.hypotheses).canon
        _, below = canon.together(form_of(sequent))
        if not below or not all(canon.is_positive(item) for item in below):
            return None
        if not plausible(sequent):
            return None
        return self.closing(sequent, "positivstellensatz", linear.prove(sequent, 2))

    def as_given(self, sequent: Sequent, fuel: float) -> Proof | None:
        """Boxes before denominators are cleared, which only widens enclosures."""
        if fuel < 1 or not 1 <= len(sequent.goal.term.vars) <= 2 or sequent.goal.term.kinked:
            return None
        if not least_ratio(sequent) > 1e-7 or not self.once(sequent, "as given"):
            return None
        return self.closing(sequent, "boxes", boxes.prove(sequent, _SOME_BOXES))

    def kinked(self, sequent: Sequent, fuel: float, depth: int) -> Proof | None:
        if self.once(sequent, "quick"):
            found = quick.prove(sequent, self.budget)
            if found is not None:
                return found
        if not plausible(sequent):
            return self.impossible(sequent)
        for item in quick.unsigned_denominators(sequent, form_of(sequent)):
            sign = moves.sampled_sign(sequent.hypotheses, item) or 1
            move = Move("have", {"fact": Fact(sign * item, ">")})
            return self.by(sequent, move, fuel, depth)
        for kinked in kinks([sequent.goal.term]):
            condition, _, _ = branches(kinked)
            sign = moves.sampled_sign(sequent.hypotheses, condition)
            if sign:
                move = Move("branch", {"kinked": kinked, "sign": sign})
                found = self.by(sequent, move, fuel, depth)
                if found is not None:
                    return found
        for parameters in hinges.candidates(sequent, moves.sampled_sign):
            found = self.by(sequent, Move("vertex", parameters), fuel, depth)
            if found is not None:
                return found
            break
        inner = kinks([sequent.goal.term]) or kinks(fact.term for fact in sequent.hypotheses)
        return self.by(sequent, Move("cases", {"kinked": inner[0]}), fuel, depth) if inner else None

    def impossible(self, sequent: Sequent) -> Proof | None:
        """A proof that the hypotheses never hold together, if no sample satisfies them."""
        here = domain(Sequent(sequent.hypotheses, Fact(var_sum(sequent), ">=")))
        if here.count or not self.once(sequent, "impossible"):
            return None
        for degree in (1, 2):
            found = linear.contradiction(sequent, degree)
            proof = self.closing(sequent, "positivstellensatz", found)
            if proof is not None:
                return proof
        return None

    def close(self, sequent: Sequent, form: Poly, fuel: float, depth: int) -> Proof | None:
        """Boxes and linear programs."""
        if self.once(sequent, "logs"):
            found = logs.prove(sequent)
            if found is not None:
                return found
        if self.once(sequent, "few boxes"):
            found = self.closing(sequent, "boxes", boxes.prove(sequent, _FEW_BOXES))
            if found is not None:
                return found
        if self.once(sequent, "degree 1"):
            found = self.closing(sequent, "positivstellensatz", linear.prove(sequent, 1))
            if found is not None:
                return found
        if fuel >= 2 and len(form) <= 25 and self.once(sequent, "degree 2"):
            found = self.closing(sequent, "positivstellensatz", linear.prove(sequent, 2))
            if found is not None:
                return found
        found = self.impossible(sequent)
        touches = fuel > 0 or least_ratio(sequent) < 1e-7  # then boxes rarely help
        if found is None and not touches and self.once(sequent, "some boxes"):
            found = self.closing(sequent, "boxes", boxes.prove(sequent, _SOME_BOXES))
        return found

    def choose(self, sequent: Sequent, form: Poly, fuel: float, depth: int) -> Proof | None:
        """Steps that may lead nowhere."""
        if fuel <= 0:
            return None
        for move in (*moves.weighted_means(sequent, form), *moves.tangents(sequent, form)):
            found = self.by(sequent, move, fuel - 1, depth)
            if found is not None:
                return found
        known = context(sequent.hypotheses)
        for name in sorted(sequent.goal.term.vars):
            bounded = name in known.box or any(
                known.affine(fact.term, name) for fact in sequent.hypotheses
            )
            if not bounded:
                return self.by(sequent, Move("split", {"item": var(name)}), fuel, depth)
        found = self.tail(sequent, fuel, depth) or self.apart(sequent, fuel, depth)
        if found is not None:
            return found
        for move in moves.options(sequent, form, self.limited(sequent), self.width):
            found = self.by(sequent, move, fuel - _cost(move, fuel), depth)
            if found is not None:
                return found
        few = len(sequent.goal.term.vars) <= 2
        if (few or least_ratio(sequent) > 1e-4) and self.once(sequent, "many boxes"):
            found = self.closing(sequent, "boxes", boxes.prove(sequent, _MANY_BOXES))
            if found is not None:
                return found
        if fuel >= 2 and len(sequent.hypotheses) < 8:
            for item in moves.cuts(sequent)[: self.width]:
                found = self.by(sequent, Move("split", {"item": item}), fuel - 2, depth)
                if found is not None:
                    return found
        return None

    def apart(self, sequent: Sequent, fuel: float, depth: int) -> Proof | None:
        """Both sides of where the goal is zero."""
        if fuel < 1 or len(sequent.hypotheses) > 8:
            return None
        for item in moves.touching(sequent)[: self.width]:
            found = self.by(sequent, Move("split", {"item": item}), fuel - 0.5, depth)
            if found is not None:
                return found
        return None

    def tail(self, sequent: Sequent, fuel: float, depth: int) -> Proof | None:
        """One variable without an upper bound: boxes beyond a point, the rest by other steps."""
        names = sorted(sequent.goal.term.vars)
        if len(names) != 1:
            return None
        lo, hi = context(sequent.hypotheses).box.get(names[0], EVERYTHING)
        if not lo.is_finite() or hi.is_finite():
            return None
        for end in (2, 4, 8):
            item = var(names[0]) - end
            left = premises(sequent, "split", {"item": item})
            if not lo < end or left is None or len(left) != 2:
                continue
            near = left[1]
            if least_ratio(near) < 1e-4 or not self.once(near, "tail"):
                continue
            inside = self.closing(near, "boxes", boxes.prove(near, 150))
            if inside is None:
                return None
            beyond = self.prove(left[0], fuel - 1, depth + 1)
            if beyond is not None:
                return Proof("split", {"item": item}, (beyond, inside))
        return None


def _cost(move: Move, fuel: float) -> float:
    """The fuel that a choice takes: less for steps that often come one after the other."""
    if move.parameters.get("lemma", ("",))[0] == "erfc_positive":
        return 0
    return 0.5 if move.rule == "hump" and fuel > 1 else 1


def var_sum(sequent: Sequent) -> Any:
    """A term with all variables of the hypotheses, so that samples satisfy every hypothesis."""
    total = var("0")
    for name in sorted(sequent.vars):
        total = total + var(name)
    return total
