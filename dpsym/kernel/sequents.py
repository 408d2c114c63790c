"""Sequents, and what is evident about them.

``hypotheses |- goal`` says: at every point where all hypotheses hold, the goal holds. Each is a
``Fact``: a term compared with zero.

Invariant: at every point where the hypotheses before it hold, a hypothesis is defined; at every
point where all hold, so is the goal. ``obligations`` lists what is needed for that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from flint import fmpq

from dpsym.kernel import canon as cn
from dpsym.kernel import terms as tm
from dpsym.kernel.balls import EVERYTHING, Enclosure, Undefined, enclose
from dpsym.kernel.canon import Canon, Poly
from dpsym.kernel.refusal import TooLarge
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term

Facts = tuple[Fact, ...]
MAX_HYPOTHESES = 200
_BOUND_BITS = 96
_CONTEXTS = 3000
_NEEDED = {"pow": "!=", "log": ">", "sqrt": ">="}  # of the argument; pow if the exponent is < 0


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


@dataclass(slots=True)
class Bounds:
    """Rational bounds of a variable that its hypotheses state; ``None`` where there is none."""

    lower: fmpq | None = None
    lower_open: bool = False
    upper: fmpq | None = None
    upper_open: bool = False

    def raise_lower(self, end: fmpq, is_open: bool) -> None:
        if self.lower is None or (end, is_open) > (self.lower, self.lower_open):
            self.lower, self.lower_open = end, is_open

    def reduce_upper(self, end: fmpq, is_open: bool) -> None:
        if self.upper is None or (-end, is_open) > (-self.upper, self.upper_open):
            self.upper, self.upper_open = end, is_open


class Context:
    """The hypotheses of a sequent with the canonical forms, signs and bounds that they give."""

    def __init__(self, hypotheses: Facts) -> None:
        self.hypotheses, self.canon = hypotheses, Canon()
        self.bounds: dict[str, Bounds] = {}
        self.box: dict[str, Enclosure] = {}
        for fact in hypotheses:
            if fact.rel != "!=":
                self._learn_sign(self.canon(fact.term), fact.rel == ">")
        orders = [(form, rel == ">") for form, rel in self._forms() if rel != "!="]
        for form, strict in orders:
            self._learn_bound(form, strict)
        for name, (low, _) in self.box.items():
            limits = self.bounds.get(name, Bounds())
            if low > 0 or limits.lower == 0:
                self._know(tm.var(name), bool(low > 0) or limits.lower_open)
        for form, strict in orders * 3:  # a bound may have an evident sign through another one
            for name in sorted(cn.to_term(form).vars):
                split = affine_form(form, name)
                if split is not None and split[0] > 0 and self.canon.all_signs(split[1], False):
                    self._know(tm.var(name), strict or self.canon.all_signs(split[1], True))
        self.forms = self._forms()

    def _forms(self) -> list[tuple[Poly, str]]:
        return [(self.canon(fact.term), fact.rel) for fact in self.hypotheses]

    def _know(self, item: Term, strict: bool) -> None:
        """The term is positive (``strict``) or nonnegative."""
        known = [self.canon.nonnegative, self.canon.positive]
        if item not in known[strict]:
            known[strict] |= {item}
            self.canon = Canon(positive=known[True], nonnegative=known[False])

    def _learn_sign(self, form: Poly, strict: bool) -> None:
        """From c * m * r > 0: the sign of r, or of an atom of m, if the rest has known signs."""
        if not form:
            return
        value, (exponent, atoms), rest = cn.content(form)
        if len(rest) > 1:
            value, rest = abs(value), cn.scaled(rest, 1 if value > 0 else -1)
        unknown = {(a, k) for a, k in atoms if k % 2 and not self.canon.is_positive(a)}
        if rest != cn.constant(1):
            unknown.add((cn.to_term(rest), 1))
        if value > 0 and len(unknown) == 1:
            ((item, count),) = unknown
            others = (exponent, atoms - unknown)  # not zero if the product is not
            if strict or (count == 1 and self.canon.mono_sign(others, True)):
                self._know(item, strict)

    def _learn_bound(self, form: Poly, strict: bool) -> None:
        names = cn.to_term(form).vars
        split = affine_form(form, *names) if len(names) == 1 else None
        if split is None:
            return
        (name,), (slope, end) = names, split
        limit = cn.to_term(end)
        if limit.op == "num":
            known = self.bounds.setdefault(name, Bounds())
            (known.raise_lower if slope > 0 else known.reduce_upper)(limit.value, strict)
        try:
            lo, hi = enclose(limit, {}, _BOUND_BITS, False)
        except Undefined:
            return
        low, high = self.box.get(name, EVERYTHING)
        self.box[name] = (max(low, lo), high) if slope > 0 else (low, min(high, hi))

    # -- what is evident

    def evident(self, fact: Fact) -> bool:
        """Whether the fact follows from signs of monomials, or is one of the hypotheses."""
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
        atoms = cn.content(form)[1][1]
        positive = frozenset((item, k) for item, k in atoms if self.canon.is_positive(item))
        shared = frozenset.intersection(*(mono[0] for mono in form))
        factor = cn.mono_power((shared, positive), -1)
        return Fact(cn.to_term(self.canon.times(form, {factor: fmpq(1)})), fact.rel)

    def affine(self, item: Term, name: str) -> tuple[fmpq, Term] | None:
        """``k, e`` with item = k * (name - e), k a nonzero rational, e free of the variable."""
        split = affine_form(self.canon(item), name)
        return None if split is None else (split[0], cn.to_term(split[1]))

    def same(self, first: Term, second: Term) -> bool:
        """Whether the terms are seen to be the same function, where both are defined."""
        return self.canon.is_zero(self.canon(first - second))


def affine_form(form: Poly, name: str) -> tuple[fmpq, Poly] | None:
    (mono,) = cn.atom(tm.var(name))
    slope = form.get(mono)
    others = form.keys() - {mono}
    if not slope or any(name in cn.mono_term(other).vars for other in others):
        return None
    return slope, {other: -form[other] / slope for other in others}


@lru_cache(maxsize=_CONTEXTS)
def context(hypotheses: Facts) -> Context:
    """The context of these hypotheses, remembered."""
    if len(hypotheses) > MAX_HYPOTHESES:
        raise TooLarge("sequent", f"at most {MAX_HYPOTHESES} hypotheses")
    return Context(hypotheses)


def definedness(item: Term) -> list[tuple[Facts, Fact]]:
    """What makes the term defined, inner sub-terms first; some facts only under their branch."""
    out: dict[tuple[Facts, Fact], None] = {}
    seen: set[tuple[Term, Facts]] = set()

    def walk(node: Term, under: Facts) -> None:
        if (node, under) in seen:
            return
        seen.add((node, under))
        if node.op == "ite":
            condition, then, otherwise = node.args
            walk(condition, under)
            walk(then, (*under, Fact(condition, ">=")))
            walk(otherwise, (*under, Fact(-condition, ">")))
            return
        for arg in node.args:
            walk(arg, under)
        if node.op in _NEEDED and (node.op != "pow" or node.value < 0):
            out[under, Fact(node.args[0], _NEEDED[node.op])] = None

    walk(item, ())
    return list(out)


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
