"""Positivstellensatz certificates by linear programming.

The goal, times a positive multiplier, is sought as a nonnegative combination of products of facts,
squares, and monomials with an evident sign. Small programs are solved exactly; large ones by HiGHS,
and the support is then solved again exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from math import gcd, lcm
from typing import Any

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.canon import (
    NOTHING,
    UNIT,
    Monomial,
    Poly,
    constant,
    lone,
    mono_power,
    mono_term,
    plus,
    scaled,
    sorted_monos,
    times_mono,
    to_term,
)
from dpsym.kernel.lemmas import instance
from dpsym.kernel.refusal import Refusal, TooLarge
from dpsym.kernel.sequents import Sequent, context
from dpsym.kernel.terms import Term
from dpsym.search.leaf.simplex import Column, refine, solve
from dpsym.search.leaf.steps import HARD, atoms, coefficient, evident, exponentials

_MOST_TERMS = 60
_MOST_COLUMNS = 350
_MOST_SHIFTS = 250
_MOST_MATCHED = 12  # monomials of a goal with which its logs are compared
_SMALL = 2500
_MULTIPLIER = -1  # the row that says that the multipliers add up to one


@dataclass
class _Product:
    indices: tuple[int, ...]
    square: Term | None
    form: Poly
    strict: bool
    shift: Monomial = UNIT  # a monomial with an evident sign, already multiplied into the form


@dataclass
class Program:
    """The facts and columns for one sequent."""

    sequent: Sequent
    contradiction: bool = False
    facts: list[tuple[Any, ...]] = field(default_factory=list)
    forms: list[Poly] = field(default_factory=list)
    strict: list[bool] = field(default_factory=list)
    scales: list[Monomial] = field(default_factory=list)  # what cleared a fact's denominators
    columns: list[_Product] = field(default_factory=list)
    multipliers: list[_Product] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.known = context(self.sequent.hypotheses)
        self.canon = self.known.canon
        self.goal = constant(-1)
        self.common = UNIT  # the product of the goal's denominators
        if not self.contradiction:
            self.goal, below = self.canon.together(self.canon(self.sequent.goal.term))
            self.common = (frozenset(), frozenset(below.items()))
            if not all(self.canon.is_positive(item) for item in below):
                self.goal = {}
        for index, (form, rel) in enumerate(self.known.forms):
            if rel != "!=":
                self.add_cleared(("hypothesis", index, None, None), form, rel == ">")

    def add(self, fact: tuple[Any, ...], form: Poly, strict: bool, scale: Monomial = UNIT) -> None:
        if not form or len(form) >= 40:
            return
        if form not in self.forms:
            self.facts.append(fact)
            self.forms.append(form)
            self.strict.append(strict)
            self.scales.append(scale)
        elif strict and not self.strict[(i := self.forms.index(form))]:
            self.facts[i], self.strict[i], self.scales[i] = fact, True, scale

    def add_cleared(self, fact: tuple[Any, ...], form: Poly, strict: bool) -> None:
        """A fact without its denominators, which are multiplied into it where it is used."""
        whole, below = self.canon.together(form)
        if all(self.canon.is_positive(item) for item in below):
            self.add(fact, whole, strict, (frozenset(), frozenset(below.items())))
        elif fact[0] == "hypothesis":
            self.add(fact, form, strict)

    def add_lemma(self, name: str, *args: Any, sure: bool = True) -> None:
        """An instance of a lemma whose conditions are evident (or, unless ``sure``, plausible)."""
        try:
            conditions, fact = instance(name, args)
            if all(
                self.known.evident(condition)
                or not (sure or _fails(Sequent(self.known.hypotheses, condition)))
                for condition in conditions
            ):
                lemma = ("lemma", None, None, (name, args))
                self.add_cleared(lemma, self.canon(fact.term), fact.rel == ">")
        except (Refusal, ArithmeticError):
            return

    def products(self, degree: int, most: int = _MOST_COLUMNS) -> None:
        """Columns for products of at most so many facts."""
        unit = _Product((), None, constant(1), True)
        seen = {frozenset(unit.form.items())}
        layer = [unit]
        self.columns.append(unit)
        if self.common != UNIT:
            form = self.canon.times(unit.form, {self.common: fmpq(1)})
            self.columns.append(_Product((), None, form, True, self.common))
        for _ in range(degree):
            above: list[_Product] = []
            for old in layer:
                for i in range(old.indices[-1] if old.indices else 0, len(self.facts)):
                    if len(self.columns) + len(above) >= most:
                        break
                    try:
                        form = self.canon.times(old.form, self.forms[i])
                    except TooLarge:
                        continue
                    key = frozenset(form.items())
                    if len(form) <= _MOST_TERMS and key not in seen:
                        seen.add(key)
                        strict = old.strict and self.strict[i]
                        shift = times_mono(old.shift, self.scales[i])
                        above.append(_Product((*old.indices, i), None, form, strict, shift))
            self.columns += above
            layer = above

    def shifts(self, most: int, degree: int) -> None:
        """Columns times monomials of an evident sign that bring them to monomials of the goal."""
        seen = {frozenset(column.form.items()) for column in self.columns}
        targets = [(mono, self.goal[mono] > 0) for mono in sorted_monos(self.goal)]
        for scale in self._cleared()[:2]:
            form = self.canon.times(self.goal, {scale: fmpq(1)})
            targets += [(mono, form[mono] > 0) for mono in sorted_monos(form)]
        targets = list(dict.fromkeys(targets))
        above: list[_Product] = []
        allowed = {NOTHING, *exponentials(self.goal)}
        for form, _ in self.known.forms:
            allowed.update(exponentials(form))
        for column in self.columns:
            if not self._worth_shifting(column, degree):
                continue
            if self.common not in (UNIT, column.shift):
                form = self.canon.times(column.form, {self.common: fmpq(1)})
                shift = times_mono(column.shift, self.common)
                above.append(_Product(column.indices, None, form, column.strict, shift))
            for mono in self._leading(column):
                inverse = mono_power(mono, -1)
                for target, positive in targets:
                    if (column.form[mono] > 0) != positive or len(above) >= most:
                        continue
                    shift = times_mono(target, inverse)
                    if shift == UNIT or not self.canon.mono_sign(shift, False):
                        continue
                    if not self._known_exponents(column.form, shift, allowed):
                        continue
                    form = self.canon.times(column.form, {shift: fmpq(1)})
                    key = frozenset(form.items())
                    if key not in seen:
                        seen.add(key)
                        strict = column.strict and self.canon.mono_sign(shift, True)
                        shift = times_mono(shift, column.shift)
                        above.append(_Product(column.indices, None, form, strict, shift))
        self.columns += above

    def _known_exponents(self, form: Poly, shift: Monomial, allowed: set[Any]) -> bool:
        """Whether the shifted form has no exponential that occurs nowhere else."""
        found = {mono[0] for mono in form}
        return all(
            times_mono((inner, NOTHING), (shift[0], NOTHING))[0] in allowed for inner in found
        )

    def _worth_shifting(self, column: _Product, degree: int) -> bool:
        """Single facts, and one of the first lemmas times a hypothesis; short ones."""
        count = len(column.indices)
        if column.square is not None or not count or len(column.form) > 16:
            return False
        if count <= degree:
            return True
        lemmas = [i for i, fact in enumerate(self.facts) if fact[3] is not None][:12]
        return count == 2 and sum(i in lemmas for i in column.indices) == 1

    def _leading(self, column: _Product) -> list[Monomial]:
        """The monomials to bring to those of the goal; of a lemma, the transcendental ones."""
        monos = sorted_monos(column.form)
        if all(self.facts[i][3] is None for i in column.indices):
            return monos
        hard = [mono for mono in monos if mono[0] or any(a.op in HARD for a, _ in mono[1])]
        return hard or monos

    def squares(self, degree: int, count: int) -> None:
        """Columns for squares, alone and times one of the first facts."""
        for base in self._bases():
            form = self.canon.to_power(base, 2)
            item = to_term(base)
            self.columns.append(_Product((), item, form, False))
            for i in range(min(count, 3) if degree >= 2 else 0):
                product = self.canon.times(form, self.forms[i])
                if len(product) < 40:
                    self.columns.append(_Product((i,), item, product, False, self.scales[i]))

    def _bases(self) -> list[Poly]:
        """Sums of up to three monomials whose squares may occur in the goal."""
        halves: list[Poly] = [constant(1)]
        found = atoms(self.goal)
        roots = any(item.op == "sqrt" for item in found)
        for mono in self.goal:
            half = self._half(mono, roots)
            if half is not None and half not in halves:
                halves.append(half)
        for item in found:
            single: Poly = {(frozenset(), frozenset([(item, 1)])): fmpq(1)}
            if item.op in ("var", "log", "sqrt") and single not in halves and len(halves) < 9:
                halves.append(single)
        halves = halves[:12]
        out: list[Poly] = halves[1:]
        later: list[Poly] = []
        for first, second in combinations(halves, 2):
            ((cross, value),) = self.canon.times(first, second).items() or ((UNIT, fmpq(0)),)
            for sign in (-1, 1):
                wanted = self.goal.get(cross, fmpq(0)) * value * sign > 0
                (out if wanted else later).append(plus(first, second, sign))
        out += later
        if len(halves) <= 6:
            for first, second, third in combinations(halves, 3):
                for sign in (-1, 1):
                    pair = plus(first, second, sign)
                    out += [plus(pair, third, sign) for sign in (-1, 1)]
        return out[:45]

    def _half(self, mono: Monomial, roots: bool) -> Poly | None:
        powers: dict[Term, int] = {}
        for item, k in mono[1]:
            if k % 2 == 0:
                powers[item] = k // 2
            elif roots and item.op == "var" and self.canon.is_positive(item):
                powers[tm.sqrt(item)] = 1
                powers[item] = (k - 1) // 2
            else:
                return None
        inner = frozenset((part, value / 2) for part, value in mono[0])
        return {(inner, frozenset((item, k) for item, k in powers.items() if k)): fmpq(1)}

    def multiply(self) -> None:
        """Multipliers: one, and the first strict facts. For a contradiction they are summands, of
        which one at least is used."""
        self.multipliers = [_Product((), None, constant(1), True, self.common)]
        strict = [i for i, fact in enumerate(self.facts) if self.strict[i] and not fact[3]]
        for i in strict[:5]:
            shift = self.scales[i] if self.contradiction else self.common
            self.multipliers.append(_Product((i,), None, self.forms[i], True, shift))
        if not self.contradiction:
            for scale in self._cleared()[:4]:
                form = self.canon.times(constant(1), {scale: fmpq(1)})
                shift = times_mono(self.common, scale)
                self.multipliers.append(_Product((), None, form, True, shift))

    def _cleared(self) -> list[Monomial]:
        """The denominators of lemmas that the goal does not have."""
        count: dict[Monomial, int] = {}
        for scale in self.scales:
            if scale not in (UNIT, self.common):
                count[scale] = count.get(scale, 0) + 1
        return sorted(count, key=lambda scale: -count[scale])

    # -- solving

    def solve(self) -> dict[str, Any] | None:
        """The parameters of a proof by ``positivstellensatz``, or None."""
        if not self.goal or len(self.goal) > _MOST_TERMS:
            return None
        above = [self.canon.times(product.form, self.goal) for product in self.multipliers]
        self.columns = _cancelling(self.columns, above, self.free_monos)
        used = {mono for form in (*(c.form for c in self.columns), *above) for mono in form}
        rows = {mono: k for k, mono in enumerate(sorted_monos(used))}
        singles = [
            _Product((), None, {mono: fmpq(1)}, self.canon.mono_sign(mono, True))
            for mono in rows
            if mono != UNIT and self.canon.mono_sign(mono, False)
        ]
        products = [*self.columns, *singles]
        columns = [_column(rows, product.form) for product in products]
        columns += [{**_column(rows, scaled(form, -1)), _MULTIPLIER: fmpq(1)} for form in above]
        target: Column = {_MULTIPLIER: fmpq(1)}
        needs_strict = self.sequent.goal.rel == ">" and not self.contradiction
        if needs_strict and not any(product.strict for product in products):
            return None
        found = None
        if len(columns) * (len(used) + 1) <= _SMALL and not needs_strict:
            found = solve(columns, target)
        else:
            found = _by_floats(columns, target, products, self.multipliers, needs_strict)
        if found is None:
            return None
        return self._parameters(found, len(self.columns), singles)

    def free_monos(self, mono: Monomial) -> bool:
        return self.canon.mono_sign(mono, False)

    def _parameters(self, found: list[fmpq], count: int, singles: list[_Product]) -> dict[str, Any]:
        """Only the facts that are used; the monomials of an evident sign as one fact."""
        used = [(v, p) for v, p in zip(found, self.columns, strict=False) if v > 0]
        start = count + len(singles)
        multipliers = [
            (v, p) for v, p in zip(found[start:], self.multipliers, strict=True) if v > 0
        ]
        if self.contradiction:
            used += [(v, p) for v, p in multipliers if p.indices]
            multipliers = []
        rest: Poly = {}
        for value, product in zip(found[count:start], singles, strict=True):
            if value > 0:
                rest = plus(rest, product.form, value)
        order = sorted({i for _, p in (*used, *multipliers) for i in p.indices})
        facts = [self.facts[i] for i in order]
        place = {i: k for k, i in enumerate(order)}
        shifts: dict[Monomial, int] = {}
        for _, product in (*used, *multipliers):
            if product.shift != UNIT and product.shift not in shifts:
                shifts[product.shift] = len(facts)
                facts.append(self._sign({product.shift: fmpq(1)}))

        def row(value: fmpq, product: _Product) -> tuple[Any, ...]:
            indices = [place[i] for i in product.indices]
            indices += [shifts[product.shift]] if product.shift != UNIT else []
            return (value, tuple(indices), product.square)

        terms = [row(value, product) for value, product in used]
        if rest:
            terms.append((fmpq(1), (len(facts),), None))
            facts.append(self._sign(rest))
        rows = [row(value, product) for value, product in multipliers]
        return {
            "facts": tuple(facts),
            "multiplier": tuple(rows),
            "terms": tuple(terms),
            "contradiction": self.contradiction,
        }

    def _sign(self, form: Poly) -> tuple[Any, ...]:
        """A fact that says that the form is evidently positive or nonnegative."""
        sign = "positive" if self.canon.all_signs(form, True) else "nonnegative"
        return (sign, None, to_term(form), None)


def _cancelling(columns: list[_Product], above: list[Poly], free: Any) -> list[_Product]:
    """Without columns that have a monomial which nothing can cancel."""
    for _ in range(6):
        signs: dict[Monomial, set[bool]] = {}
        for form in (*(c.form for c in columns), *(scaled(form, -1) for form in above)):
            for mono, value in form.items():
                signs.setdefault(mono, set()).add(value > 0)
        lone = {mono for mono, found in signs.items() if len(found) == 1}
        lone = {mono for mono in lone if True in signs[mono] or not free(mono)}
        kept = [c for c in columns if lone.isdisjoint(c.form)]
        if len(kept) == len(columns):
            break
        columns = kept
    return columns


def _column(rows: dict[Monomial, int], form: Poly) -> Column:
    return dict(sorted((rows[mono], value) for mono, value in form.items()))


def _by_floats(
    columns: list[Column],
    target: Column,
    products: list[_Product],
    multipliers: list[_Product],
    needs_strict: bool,
) -> list[fmpq] | None:
    from dpsym.search.leaf.highs import support  # loads numpy and HiGHS

    cost = [1.0 + 0.1 * len(p.form) for p in products] + [
        1.0 + 3.0 * len(p.indices) for p in multipliers
    ]
    if needs_strict:
        for j, product in enumerate(products):
            if product.strict:
                cost[j] -= 0.9
    chosen = support(columns, target, cost)
    if chosen is None:
        return None
    exact = refine([columns[j] for j in chosen], target)
    if exact is None:
        return None
    found = [fmpq(0)] * len(columns)
    for j, value in zip(chosen, exact, strict=True):
        found[j] = value
    if needs_strict and not any(found[j] > 0 and p.strict for j, p in enumerate(products)):
        return None
    return found


def _fails(sequent: Sequent) -> bool:
    """Whether a sample refutes it."""
    from dpsym.search.leaf.numeric import plausible  # loads numpy

    return not plausible(sequent)


# -- programs


def prove(sequent: Sequent, degree: int, lemmas: bool = True) -> dict[str, Any] | None:
    """Parameters that prove the goal from products of at most ``degree`` facts, or None."""
    program = Program(sequent)
    if not program.goal:
        return None
    if lemmas:
        _add_signs(program)
        _add_lemmas(program)
    count = len(program.facts)
    if lemmas:
        _add_exponentials(program)
    program.products(degree)
    program.shifts(_MOST_SHIFTS, 2 if len(program.columns) <= 40 else 1)
    program.squares(degree, count)
    program.multiply()
    return program.solve()


def simple(sequent: Sequent, degree: int) -> dict[str, Any] | None:
    """The same with hypotheses alone; small enough for the exact method, or None."""
    program = Program(sequent)
    if not program.goal or len(program.goal) > 30 or len(program.facts) > 14:
        return None
    program.products(degree, 40)
    program.shifts(40, 2)
    program.multipliers = [_Product((), None, constant(1), True, program.common)]
    return program.solve()


def contradiction(sequent: Sequent, degree: int) -> dict[str, Any] | None:
    """Parameters that show that the hypotheses never hold together, or None."""
    program = Program(sequent, contradiction=True)
    if not program.facts:
        return None
    program.products(degree, 120)
    program.multiply()
    return program.solve()


def _add_signs(program: Program) -> None:
    for item in _all_atoms(program):
        if item.op in ("erfc", "pi", "sqrt") and program.canon.is_positive(item):
            single: Poly = {(frozenset(), frozenset([(item, 1)])): fmpq(1)}
            program.add(("positive", None, item, None), single, True)


def _all_atoms(program: Program) -> list[Term]:
    found = dict.fromkeys(atoms(program.goal))
    for form, _ in program.known.forms:
        found.update(dict.fromkeys(atoms(form)))
    return list(found)


def _all_exponents(program: Program) -> list[Any]:
    found = dict.fromkeys(exponentials(program.goal))
    for form, _ in program.known.forms:
        found.update(dict.fromkeys(exponentials(form)))
    return list(found)


def _add_exponentials(program: Program) -> None:
    for inner in _all_exponents(program)[:6]:
        form: Poly = {(inner, frozenset()): fmpq(1)}
        program.add(("positive", None, to_term(form), None), form, True)


def _add_lemmas(program: Program) -> None:
    """Lemmas at arguments that the goal suggests; the most specific ones first."""
    found = _all_atoms(program)
    logs = [item for item in found if item.op == "log"]
    for base, exponent in _power_ratios(program.goal) + powers(program.goal):
        for name in ("bernoulli", "bernoulli_above"):
            program.add_lemma(name, base, exponent)
    for item in _contacts(program):
        program.add_lemma("log_above", item)
    ratios = _log_groups(program.goal)
    for item in logs:
        ratios.append(item.args[0])
        ratios += [item.args[0] / other.args[0] for other in logs if other is not item]
    ratios += _scaled_logs(logs, program.goal)
    if any(item.op == "sqrt" and item.vars for item in found):
        ratios += [tm.sqrt(ratio) for ratio in ratios]
    for ratio in ratios:
        if ratio.vars:
            program.add_lemma("log_above", ratio)
            program.add_lemma("log_below", ratio)
    for item in found:
        if item.op == "pi":
            program.add_lemma("pi_below")
            program.add_lemma("pi_above")
        elif item.op == "atan":
            for arg in (item.args[0], -item.args[0]):
                program.add_lemma("atan_above", arg, sure=False)
                program.add_lemma("atan_below", arg, sure=False)
        elif item.op == "erfc":
            for arg in (item.args[0], -item.args[0]):
                program.add_lemma("erfc_chernoff", arg, sure=False)
                program.add_lemma("erfc_mills", arg, sure=False)
        elif item.op == "sqrt" and item.args[0].vars:
            program.add_lemma("sqrt_mean", item.args[0], tm.ONE)
    hypotheses = program.sequent.hypotheses
    for item in _exponents_and_differences(_all_exponents(program)):
        program.add_lemma("exp_taylor", item, 1)
        if evident(hypotheses, item):
            program.add_lemma("exp_taylor", item, 0)
            program.add_lemma("exp_taylor", item, 2)


def _contacts(program: Program) -> list[Term]:
    """Terms a for which both a and -log(a), times a common factor, are parts of the goal.

    A sum of logs with a common factor r is c r log(1/a), up to what is no log, if a monomial of
    the goal is c r a: then the tangent of log at 1 fits the goal where that touches zero."""
    canon = program.canon
    form = canon(program.sequent.goal.term)
    if len(form) > _MOST_MATCHED:
        return []
    groups: dict[Monomial, Poly] = {}
    for mono, value in form.items():
        for log in _logs_of({(NOTHING, frozenset([pair])): value for pair in mono[1]}):
            groups.setdefault(times_mono(mono, mono_power(log, -1)), {})[log] = value
    out: dict[Term, None] = {}
    for shared, group in groups.items():
        inverse = mono_power(shared, -1)
        for mono in sorted_monos(form):
            part = times_mono(mono, inverse)
            if form[mono] < 0 or not canon.mono_sign(part, True):
                continue
            logs = _logs_of(canon(tm.log(mono_term(part))))
            if logs.keys() == group.keys():
                share = {-group[log] / value for log, value in logs.items()}
                if len(share) == 1 and (c := share.pop()) > 0:
                    out[mono_term(part, form[mono] / c)] = None
    return list(out)[:4]


def _logs_of(form: Poly) -> Poly:
    """What is a logarithm that is not constant, with its coefficient."""
    logs = ((mono, lone(mono, "log")) for mono in form)
    return {mono: form[mono] for mono, log in logs if log is not None and log.vars}


def _log_groups(form: Poly) -> list[Term]:
    """Products A^k such that k log A are added up with a common factor in the form."""
    groups: dict[Monomial, dict[Term, fmpq]] = {}
    for mono, value in form.items():
        logs = [item for item, k in mono[1] if item.op == "log" and k == 1]
        if len(logs) == 1:
            rest = (mono[0], mono[1] - {(logs[0], 1)})
            groups.setdefault(rest, {})[logs[0]] = value
    found = [_product_of(group) for group in groups.values() if 2 <= len(group) <= 6]
    return [item for item in found if item is not None and item.vars][:4]


def _product_of(logs: dict[Term, fmpq]) -> Term | None:
    """The product of A^k over the logs of A, with k scaled to small whole numbers."""
    scale = fmpq(lcm(*(int(value.q) for value in logs.values())))
    counts = [(item, int(value * scale)) for item, value in logs.items()]
    common = gcd(*(count for _, count in counts))
    counts = sorted(((item, k // common) for item, k in counts), key=lambda pair: pair[0].key)
    if any(abs(k) > 4 for _, k in counts):
        return None
    return tm.mul(*(tm.power(item.args[0], k) for item, k in counts))


def _scaled_logs(logs: list[Term], form: Poly) -> list[Term]:
    """Arguments of logs, times exponentials of the form: for tangents at other points."""
    out: list[Term] = []
    for item in [log for log in logs if log.args[0].vars][:3]:
        for inner in exponentials(form)[:3]:
            if not (to_term(dict(inner)).vars or _has_log(inner)):
                out += [item.args[0] * tm.exp(to_term(scaled(dict(inner), k))) for k in (1, -1)]
    return out


def _has_log(inner: Any) -> bool:
    return any(item.op == "log" for mono, _ in inner for item, _ in mono[1])


def _power_ratios(form: Poly) -> list[tuple[Term, Term]]:
    """Bases w and exponents a such that two monomials of the form differ by a factor w^a."""
    out: dict[tuple[Term, Term], None] = {}
    inners = [dict(inner) for inner in exponentials(form)[:4] if _has_log(inner)]
    for first, second in _ordered_pairs([*inners, {}]):
        groups: dict[Monomial, dict[Term, fmpq]] = {}
        for mono, value in plus(first, second, -1).items():
            logs = [item for item, k in mono[1] if item.op == "log" and k == 1]
            if len(logs) == 1:
                rest = (mono[0], mono[1] - {(logs[0], 1)})
                groups.setdefault(rest, {})[logs[0]] = value
        for rest, group in groups.items():
            base = _product_of(group)
            if rest != UNIT and base is not None and base.vars:
                out[base, to_term({rest: fmpq(1)})] = None
    return list(out)[:10]


def _exponents_and_differences(found: list[Any]) -> list[Term]:
    out: dict[Term, None] = {}
    for inner in found[:6]:
        form = dict(inner)
        out[to_term(form)] = None
        out[to_term(scaled(form, -1))] = None
    for first, second in _ordered_pairs(found[:4]):
        out[to_term(plus(dict(first), dict(second), -1))] = None
    return list(out)


def _ordered_pairs(items: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    listed = list(items)
    for i, first in enumerate(listed):
        for j, second in enumerate(listed):
            if i != j:
                yield first, second


def powers(form: Poly) -> list[tuple[Term, Term]]:
    """Bases w and exponents a of powers w^a = exp(a log w) in the form."""
    out: dict[tuple[Term, Term], None] = {}
    for inner in exponentials(form):
        inside = dict(inner)
        for item in atoms(inside):
            if item.op == "log":
                out[item.args[0], to_term(coefficient(inside, item))] = None
    return list(out)
