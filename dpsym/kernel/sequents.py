"""Sequents, and what is evident about them.

``hypotheses |- goal`` says: at every point where all hypotheses hold, the goal holds. Each is a
``Fact``: a term compared with zero.

Invariant: at every point where the hypotheses before it hold, a hypothesis is defined; at every
point where all hold, so is the goal. ``obligations`` lists what is needed for that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.balls import EVERYTHING, Enclosure, Evaluator, Undefined, precision, rational
from dpsym.kernel.canon import (
    UNIT,
    Canon,
    Monomial,
    Poly,
    atom,
    constant,
    content,
    mono_power,
    scaled,
    to_term,
)
from dpsym.kernel.refusal import Refusal, TooLarge
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term

Facts = tuple[Fact, ...]
_BOUND_BITS = 96
MAX_HYPOTHESES = 200


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

    def tighten(self, value: fmpq, is_open: bool, from_below: bool) -> None:
        if from_below:
            if self.lower is None or value > self.lower:
                self.lower, self.lower_open = value, is_open
            elif value == self.lower:
                self.lower_open = self.lower_open or is_open
        elif self.upper is None or value < self.upper:
            self.upper, self.upper_open = value, is_open
        elif value == self.upper:
            self.upper_open = self.upper_open or is_open


@dataclass(slots=True)
class Context:
    """The hypotheses of a sequent with the canonical forms and bounds that they give."""

    hypotheses: Facts
    canon: Canon = field(default_factory=Canon)
    forms: list[tuple[Poly, str]] = field(default_factory=list)
    bounds: dict[str, Bounds] = field(default_factory=dict)
    box: dict[str, Enclosure] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for fact in self.hypotheses:
            self._learn_sign(fact)
        for fact in self.hypotheses:
            self.forms.append((self.canon(fact.term), fact.rel))
        self._learn_bounds()
        for name, limits in self.bounds.items():
            if limits.lower is not None and limits.lower >= 0:
                strict = limits.lower > 0 or limits.lower_open
                self._know([tm.var(name)], strict)
        for name, (lo, _) in self.box.items():
            if lo > 0:
                self._know([tm.var(name)], True)
        for _ in range(3):  # as a bound may have an evident sign through another one
            before = self.canon
            for form, rel in self.forms:
                for name in sorted(to_term(form).vars) if rel != "!=" else ():
                    self._learn_from_bound(form, rel, name)
            if self.canon is before:
                break
        self.forms = [(self.canon(fact.term), fact.rel) for fact in self.hypotheses]

    def _know(self, items: Iterable[Term], strict: bool) -> None:
        positive, nonnegative = self.canon.positive, self.canon.nonnegative
        if strict:
            positive = positive | set(items)
        else:
            nonnegative = nonnegative | set(items)
        if positive != self.canon.positive or nonnegative != self.canon.nonnegative:
            self.canon = Canon(positive, nonnegative)

    def _learn_sign(self, fact: Fact) -> None:
        """From c * m * r > 0 with m positive: the sign of r."""
        form = self.canon(fact.term)
        if not form or fact.rel == "!=":
            return
        value, mono, rest = content(form)
        if len(rest) > 1:
            rest = scaled(rest, 1 if value > 0 else -1)
        elif value < 0:
            return
        odd = [item for item, k in mono[1] if k % 2 and not self.canon.is_positive(item)]
        strict = fact.rel == ">"
        if rest != constant(1):
            if not odd and (strict or self.canon.mono_sign(mono, True)):
                self._know([to_term(rest)], strict)
        elif len(odd) == 1:
            others = [item for item, _ in mono[1] if item is not odd[0]]
            if strict or (
                all(self.canon.is_positive(item) for item in others) and (odd[0], 1) in mono[1]
            ):
                self._know(odd, strict)

    def _learn_from_bound(self, form: Poly, rel: str, name: str) -> None:
        """From x >= e with e evidently nonnegative: the sign of x."""
        split = affine_form(form, name)
        if split is not None and split[0] > 0 and self.canon.all_signs(split[1], False):
            strict = rel == ">" or self.canon.all_signs(split[1], True)
            self._know([tm.var(name)], strict)

    def _learn_bounds(self) -> None:
        for form, rel in self.forms:
            names = set(to_term(form).vars)
            if rel == "!=" or len(names) != 1:
                continue
            (name,) = names
            split = affine_form(form, name)
            if split is None:
                continue
            slope, end = split
            value = _number(end)
            if value is not None:
                limits = self.bounds.setdefault(name, Bounds())
                limits.tighten(value, rel == ">", slope > 0)
                lo, hi = rational(value)
            else:
                try:
                    with precision(_BOUND_BITS):
                        lo, hi = Evaluator({}, False)(to_term(end))
                except Undefined:
                    continue
            low, high = self.box.get(name, EVERYTHING)
            if slope > 0 and lo > low:
                low = lo
            if slope < 0 and hi < high:
                high = hi
            self.box[name] = (low, high)

    # -- what is evident

    def evident(self, fact: Fact) -> bool:
        """Whether the fact follows from signs of monomials, or is one of the hypotheses."""
        try:
            form, denominators = self.canon.together(self.canon(fact.term))
        except TooLarge:
            return False
        odd = (item for item, k in denominators.items() if k % 2)
        if not all(self.canon.is_positive(item) for item in odd):
            return False
        opposite = scaled(form, -1)
        if fact.rel == "!=":
            return any(
                self.canon.all_signs(side, True) or self._assumed(side, ">")
                for side in (form, opposite)
            ) or any(self._assumed(side, "!=") for side in (form, opposite))
        return self.canon.all_signs(form, fact.rel == ">") or self._assumed(form, fact.rel)

    def _assumed(self, form: Poly, rel: str) -> bool:
        for known, known_rel in self.forms:
            if not known or len(known) != len(form):
                continue
            if rel != known_rel and not (rel == ">=" and known_rel == ">"):
                continue
            mono = next(iter(known))
            ratio = form.get(mono, fmpq(0)) / known[mono]
            if ratio > 0 and form == scaled(known, ratio):
                return True
        return False

    def tidy(self, fact: Fact) -> Fact:
        """An equivalent fact: canonical, without positive denominators and factors."""
        form, denominators = self.canon.together(self.canon(fact.term))
        if not all(self.canon.is_positive(item) for item in denominators):
            form = self.canon(fact.term)
        if not form:
            return Fact(tm.ZERO, fact.rel)
        _, mono, _ = content(form)
        positive = frozenset((item, k) for item, k in mono[1] if self.canon.is_positive(item))
        shared = frozenset.intersection(*(other[0] for other in form))
        factor = mono_power((shared, positive), -1)
        return Fact(to_term(self.canon.times(form, {factor: fmpq(1)})), fact.rel)

    def affine(self, item: Term, name: str) -> tuple[fmpq, Term] | None:
        """``k, e`` with item = k * (name - e), k a nonzero rational, e free of the variable."""
        split = affine_form(self.canon(item), name)
        return None if split is None else (split[0], to_term(split[1]))


def affine_form(form: Poly, name: str) -> tuple[fmpq, Poly] | None:
    mono: Monomial = next(iter(atom(tm.var(name))))
    slope = form.get(mono)
    if not slope:
        return None
    end = {other: -value / slope for other, value in form.items() if other != mono}
    if any(name in to_term({other: fmpq(1)}).vars for other in end):
        return None
    return slope, end


def _number(form: Poly) -> fmpq | None:
    if not form:
        return fmpq(0)
    return form[UNIT] if set(form) == {UNIT} else None


_contexts: dict[Facts, Context] = {}


def context(hypotheses: Facts) -> Context:
    """The context of these hypotheses, remembered."""
    found = _contexts.get(hypotheses)
    if found is None:
        if len(hypotheses) > MAX_HYPOTHESES:
            raise TooLarge("sequent", f"at most {MAX_HYPOTHESES} hypotheses")
        if len(_contexts) > 3000:
            _contexts.clear()
        found = _contexts[hypotheses] = Context(hypotheses)
    return found


def definedness(item: Term) -> list[tuple[Facts, Fact]]:
    """What makes the term defined, inner sub-terms first; some facts only under their branch."""
    out: dict[tuple[Facts, Fact], None] = {}
    seen: set[tuple[Term, Facts]] = set()

    def walk(node: Term, under: Facts) -> None:
        if (node, under) in seen or not node.args:
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
        if node.op == "pow" and int(str(node.value)) < 0:
            out[(under, Fact(node.args[0], "!="))] = None
        elif node.op == "log":
            out[(under, Fact(node.args[0], ">"))] = None
        elif node.op == "sqrt":
            out[(under, Fact(node.args[0], ">="))] = None

    walk(item, ())
    return list(out)


def obligations(hypotheses: Facts, *items: Term) -> list[Sequent]:
    """Sequents that make the terms defined where the hypotheses hold; evident ones left out."""
    out: dict[Sequent, None] = {}
    for item in items:
        for under, fact in definedness(item):
            given = with_facts(hypotheses, *under)
            if not context(given).evident(fact):
                out[Sequent(given, fact)] = None
    return list(out)


def hypothesis_obligations(hypotheses: Facts) -> list[Sequent]:
    """Sequents that make every hypothesis defined where the earlier ones hold."""
    return [
        premise
        for i, fact in enumerate(hypotheses)
        for premise in obligations(hypotheses[:i], fact.term)
    ]


def with_facts(hypotheses: Facts, *facts: Fact) -> Facts:
    """The hypotheses with more at the end, without repetitions."""
    return tuple(dict.fromkeys((*hypotheses, *facts)))


def opposite(fact: Fact) -> Fact:
    """What holds where the fact fails (for >= and >)."""
    if fact.rel == "!=":
        raise Refusal("opposite", "the fact is an order relation", fact)
    return Fact(-fact.term, ">" if fact.rel == ">=" else ">=")
