"""Sequents, and what is evident about them.

``hypotheses |- goal`` says: at every point where all hypotheses hold, the goal holds. Each is a
``Fact``: a term compared with zero.

Invariant: at every point where the hypotheses before it hold, a hypothesis is defined; at every
point where all hold, so is the goal. ``obligations`` lists what is needed for that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce

from flint import fmpq

from dpsym.kernel import canon as cn
from dpsym.kernel import terms as tm
from dpsym.kernel.balls import EVERYTHING, Enclosure, Undefined, enclose
from dpsym.kernel.canon import NO_SIGNS, Canon, Poly
from dpsym.kernel.refusal import TooLarge
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term

Facts = tuple[Fact, ...]
Bound = tuple[Term, fmpq, Poly, bool]
MAX_HYPOTHESES = 200
_BOUND_BITS = 96
_CONTEXTS, _FACTS = 3000, 20_000
# of the argument; pow if the exponent is < 0
_NEEDED = {"pow": "!=", "log": ">", "sqrt": ">=", "lgamma": ">"}


@dataclass(frozen=True, slots=True)
class Sequent:
    """``hypotheses |- goal``."""

    hypotheses: Facts
    goal: Fact

    def __repr__(self) -> str:
        return f"{', '.join(map(repr, self.hypotheses))} |- {self.goal!r}"

    @property
    def vars(self) -> frozenset[str]:
        """Every variable that occurs."""
        return self.goal.term.vars.union(*(fact.term.vars for fact in self.hypotheses))


class Context:
    """The hypotheses of a sequent with the canonical forms, signs and bounds that they give."""

    def __init__(self, hypotheses: Facts) -> None:
        self.hypotheses = hypotheses
        self.canon = reduce(_learned, hypotheses, NO_SIGNS)
        self.bounds = [bound for fact in hypotheses for bound in _bounds(self.canon, fact)]
        for x, slope, end, strict in self.bounds * 3:  # one may have a sign through another
            if slope > 0 and not self.canon.is_positive(x):
                if self.canon.all_signs(end, False):
                    self.canon = self.canon.knowing(x, strict or self.canon.all_signs(end, True))
                elif self.box.get(x.value, EVERYTHING)[0] > 0:
                    self.canon = self.canon.knowing(x, True)

    @cached_property
    def forms(self) -> list[tuple[Poly, str]]:
        """The forms of the hypotheses."""
        return [(self.canon(fact.term), fact.rel) for fact in self.hypotheses]

    @cached_property
    def box(self) -> dict[str, Enclosure]:
        """Enclosures of the variables with constant bounds."""
        out: dict[str, Enclosure] = {}
        for x, slope, end, _ in self.bounds:
            try:
                lo, hi = enclose(cn.to_term(end), {}, _BOUND_BITS, False)
            except Undefined:
                continue
            low, high = out.get(x.value, EVERYTHING)
            out[x.value] = (max(low, lo), high) if slope > 0 else (low, min(high, hi))
        return {name: ends for name, ends in out.items() if ends != EVERYTHING}

    # -- what is evident

    def evident(self, fact: Fact) -> bool:
        """Whether the fact follows from signs of monomials, or is one of the hypotheses."""
        if fact in self.hypotheses:
            return True
        try:
            form, below = self.canon.together(self.canon(fact.term))
        except TooLarge:
            return False
        if not all(self.canon.is_positive(item) for item, k in below.items() if k % 2):
            return False
        if fact.rel != "!=":
            return self._holds(form, fact.rel)
        sides = (form, cn.scaled(form, -1))
        return any(self._holds(side, rel) for side in sides for rel in (">", "!="))

    def _holds(self, form: Poly, rel: str) -> bool:
        if rel != "!=":
            return self.canon.has_sign(form, rel == ">")
        if not form:
            return False
        _, mono, rest = cn.content(form)
        nonzero = self.canon.mono_sign(mono, True)
        facts = (cn.content(known) for known, stated in self.forms if stated == rel and known)
        return any(same == rest and (nonzero or mono == other) for _, other, same in facts)

    def tidy(self, fact: Fact) -> Fact:
        """An equivalent fact: canonical, without positive denominators and factors."""
        form, below = self.canon.together(self.canon(fact.term))
        if not all(self.canon.is_positive(item) for item in below):
            form = self.canon(fact.term)
        if not form:
            return Fact(tm.ZERO, fact.rel)
        common = cn.common_atoms(form)
        positive = frozenset([(item, k) for item, k in common if self.canon.is_positive(item)])
        shared = frozenset.intersection(*(mono[0] for mono in form))
        factor = cn.mono_power((shared, positive), -1)
        return Fact(cn.to_term(self.canon.times(form, {factor: fmpq(1)})), fact.rel)

    def affine(self, item: Term, name: str) -> tuple[fmpq, Term] | None:
        """``k, e`` with item = k * (name - e), k a nonzero rational, e free of the variable."""
        split = affine_form(self.canon(item), tm.var(name))
        return None if split is None else (split[0], cn.to_term(split[1]))

    def same(self, first: Term, second: Term) -> bool:
        """Whether the terms are seen to be the same function, where both are defined."""
        return self.canon.is_zero(cn.plus(self.canon(first), self.canon(second), -1))


def affine_form(form: Poly, x: Term) -> tuple[fmpq, Poly] | None:
    """``k, e`` with form = k * (x - e), k a nonzero rational, e free of the variable x."""
    mono = cn.mono_of(x)
    slope, others = form.get(mono), [other for other in form if other != mono]
    if slope is None or any(x.value in cn.mono_term(other).vars for other in others):
        return None
    return slope, {other: -form[other] / slope for other in others}


@lru_cache(maxsize=_FACTS)
def _learned(known: Canon, fact: Fact) -> Canon:
    """The forms that also know the sign that c * m * r > 0 states: that of r, or of an atom of m,
    if the rest has known signs."""
    form = known(fact.term)
    if fact.rel == "!=" or not form:
        return known
    value, (exponent, atoms), rest = cn.content(form)
    if len(rest) > 1:
        value, rest = abs(value), cn.scaled(rest, 1 if value > 0 else -1)
    unknown = {(a, k) for a, k in atoms if k % 2 and not known.is_positive(a)}
    if rest != cn.constant(1):
        unknown.add((cn.to_term(rest), 1))
    if value > 0 and len(unknown) == 1:
        ((item, count),) = unknown
        others = (exponent, atoms - unknown)  # not zero if the product is not
        if fact.rel == ">" or (count == 1 and known.mono_sign(others, True)):
            return known.knowing(item, fact.rel == ">")
    return known


@lru_cache(maxsize=_FACTS)
def _bounds(known: Canon, fact: Fact) -> list[Bound]:
    """A fact k * (x - e) >= 0, or > 0, as x, k, e, strict, for each variable x."""
    names = sorted(fact.term.vars) if fact.rel != "!=" else []
    found = [(x, affine_form(known(fact.term), x)) for x in map(tm.var, names)]
    return [(x, *split, fact.rel == ">") for x, split in found if split is not None]


@lru_cache(maxsize=_CONTEXTS)
def context(hypotheses: Facts) -> Context:
    """The context of these hypotheses, remembered."""
    if len(hypotheses) > MAX_HYPOTHESES:
        raise TooLarge("sequent", f"at most {MAX_HYPOTHESES} hypotheses")
    return Context(hypotheses)


@lru_cache(maxsize=_FACTS)
def definedness(item: Term) -> tuple[tuple[Facts, Fact], ...]:
    """What makes the term defined, inner sub-terms first; some facts only under their branch."""
    out = [pair for arg in item.args for pair in definedness(arg)]
    if item.op == "ite":
        condition, then, otherwise = item.args
        cases = (Fact(condition, ">="), then), (Fact(-condition, ">"), otherwise)
        inside = [((case, *under), fact) for case, arg in cases for under, fact in definedness(arg)]
        out = [*definedness(condition), *inside]
    if item.op in _NEEDED and (item.op != "pow" or item.value < 0):
        out.append(((), Fact(item.args[0], _NEEDED[item.op])))
    return tuple(dict.fromkeys(out))


def unless_evident(given: Facts, *facts: Fact) -> list[Sequent]:
    """Sequents for the facts that are not evident where ``given`` holds."""
    return [Sequent(given, fact) for fact in facts if not context(given).evident(fact)]


def obligations(hypotheses: Facts, *items: Term) -> list[Sequent]:
    """Sequents that make the terms defined where the hypotheses hold; evident ones left out."""
    out = [
        premise
        for item in items
        for under, fact in definedness(item)
        for premise in unless_evident(with_facts(hypotheses, *under), fact)
    ]
    return list(dict.fromkeys(out))


def defined(hypotheses: Facts, *items: Term) -> list[Sequent]:
    """Sequents that make every hypothesis defined where the earlier ones hold, and the terms
    where all do."""
    out = [obligations(hypotheses[:i], fact.term) for i, fact in enumerate(hypotheses)]
    return [*(premise for part in out for premise in part), *obligations(hypotheses, *items)]


def normal(given: Facts, item: Term, rel: str) -> Sequent:
    """``given |- item rel 0`` with the term in canonical form."""
    return Sequent(given, Fact(context(given).canon.normal(item), rel))


def with_facts(hypotheses: Facts, *facts: Fact) -> Facts:
    """The hypotheses with more at the end, without repetitions."""
    return tuple(dict.fromkeys((*hypotheses, *facts)))
