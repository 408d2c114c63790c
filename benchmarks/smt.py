"""The leaf cases for SMT solvers: a translation to SMT-LIB with side facts, and z3 and cvc5 runs.

A solver is asked for a point where the conditions hold and the goal fails. Arithmetic, Abs, Max,
Min and Ite are native; exp, log, erfc and sqrt of an argument are a constant each, so that
procedures for polynomials apply. (cvc5 gets half of its time with its own exp.) What they mean is
stated for the terms that occur: exp of a sum as a product, log of a product as a sum,
exp(log u) = u, sqrt(u)^2 = u, erfc(-u) = 2 - erfc(u), signs, monotonicity between all pairs,
log u <= v if and only if u <= exp(v) for the two sides, enclosures of constants, where the sides
are defined, and every textbook inequality of ``dpsym.kernel.lemmas`` in one argument, at the
arguments that occur.

No proof object is asked for: "unsat" counts as proved. A model counts as a refutation if dpsym's
enclosures confirm it; if not, tangents and values at that point are added and the solver is asked
again.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from math import lcm

from flint import arb, fmpq

from dpsym.claims import read_inequality
from dpsym.kernel import terms as tm
from dpsym.kernel.balls import Undefined, enclose
from dpsym.kernel.lemmas import LEMMAS, instance
from dpsym.kernel.proofs import top_obligations
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term
from tests.data import Case

_MOST_ARGUMENTS, _LARGEST_POWER, _BITS, _ORDERS = 12, 12, 256, (1, 2, 3)
Values = dict[str, fmpq]
Check = Callable[[list[str], list[str], float], "Values | bool | None"]
"""Declarations, assertions, seconds: a model, False for unsatisfiable, None for not known."""


def solve(case: Case, seconds: float, check: Check, native_exp: bool) -> str:
    """ "true", "false" or "unknown"."""
    end = time.process_time() + seconds
    lhs, rhs, where = case.read()
    goal, scope = read_inequality(lhs, rhs, where)
    sequent = Sequent(tuple(scope.facts), Fact(goal, ">" if case.strict else ">="))
    sides = tuple(read_inequality(0, side, where)[0] for side in (lhs, rhs))
    problem = Problem(sequent, sides, native_exp)
    while time.process_time() < end:
        found = check(problem.declarations, problem.assertions, end - time.process_time())
        if found is False:
            return "true"
        if not isinstance(found, dict):
            return "unknown"
        point = {name: found.get(name, fmpq(0)) for name in sequent.vars}
        if fails_at(sequent, point):
            return "false"
        if not problem.refine(point):
            return "unknown"
    return "unknown"


def fails_at(sequent: Sequent, point: Values) -> bool:
    """Whether the conditions hold at the point and the goal does not, by enclosures."""
    try:
        if not all(_holds(fact, point) for fact in sequent.hypotheses):
            return False
        _, high = _enclosure(sequent.goal.term, point)
    except Undefined:
        return False
    return bool(high < 0) or (sequent.goal.rel == ">" and bool(high <= 0))


def _holds(fact: Fact, point: Values) -> bool:
    low, high = _enclosure(fact.term, point)
    if fact.rel == ">=":
        return bool(low >= 0)
    return bool(low > 0) or (fact.rel == "!=" and bool(high < 0))


def _enclosure(item: Term, point: Values) -> tuple[arb, arb]:
    names = {name: tm.num(value) for name, value in point.items()}
    return enclose(tm.substitute(item, names), {}, _BITS, True)


# --- translation --------------------------------------------------------------------------------


@dataclass
class Problem:
    """Declarations and assertions for one sequent."""

    sequent: Sequent
    sides: tuple[Term, ...]
    native_exp: bool
    points: list[Values] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._encode()

    def refine(self, point: Values) -> bool:
        """State what exp, log and erfc are near a point; False if there is nothing to state."""
        if self.points.count(point) > 1 or not self.encoder.arguments:
            return False
        self.points.append(point)
        self._encode()
        return True

    def _encode(self) -> None:
        draft = Encoder(1, self.native_exp)
        draft.run(self)  # finds the denominators in exponents
        self.encoder = Encoder(draft.denominator, self.native_exp)
        self.encoder.run(self)
        self.declarations = self.encoder.declarations
        self.assertions = self.encoder.assertions


Monomial = tuple[tuple[Term, int], ...]


class Encoder:
    """Terms to SMT-LIB text; every exp is a product of powers of exp(monomial/denominator)."""

    def __init__(self, denominator: int, native_exp: bool) -> None:
        self.scale, self.native_exp = denominator, native_exp
        self.denominator = 1
        self.declarations: list[str] = []
        self.assertions: list[str] = []
        self.arguments: dict[tuple[str, Term], str] = {}  # exp, log, ... and argument: its text
        self._memo: dict[Term, str] = {}
        self._constants: dict[object, str] = {}

    def run(self, problem: Problem) -> None:
        sequent = problem.sequent
        for name in sorted(sequent.vars):
            self.declarations.append(f"(declare-const |{name}| Real)")
        for fact in sequent.hypotheses:
            self.assertions.append(self.fact(fact))
        self.assertions.append(f"(not {self.fact(sequent.goal)})")
        for premise in top_obligations(sequent.hypotheses, sequent.goal):
            extra = [item for item in premise.hypotheses if item not in sequent.hypotheses]
            self.implies(extra, premise.goal)
        for side in problem.sides:
            if side.op == "log":
                bound = next(item for item in problem.sides if item is not side)
                for left, right, exp in (
                    (side, bound, (side.args[0], tm.exp(bound))),
                    (bound, side, (tm.exp(bound), side.args[0])),
                ):
                    same = f"(= {self.less(left, right)} {self.less(*exp)})"
                    self.assertions.append(f"(=> {self.positive(side.args[0])} {same})")
        done: set[tuple[str, Term]] = set()
        for _ in range(2):  # the facts of the second round are about terms of the first
            new = [key for key in self.arguments if key not in done]
            done.update(new)
            for op, arg in new:
                self.lemmas(op, arg)
        self.monotone(done)
        for index, point in enumerate(problem.points):
            exactly = point in problem.points[:index]
            for op, arg in sorted(done, key=lambda key: (key[0], key[1].key)):
                self.near(op, arg, point, exactly)

    # --- terms ---

    def text(self, item: Term) -> str:
        found = self._memo.get(item)
        if found is None:
            found = self._memo[item] = self._text(item)
        return found

    def _text(self, item: Term) -> str:
        op = item.op
        if op == "num":
            return _number(item.value)
        if op == "var":
            return f"|{item.value}|"
        if op == "pi":
            return self.constant("pi", tm.PI)
        if op in ("exp", "log", "sqrt", "erfc"):
            return getattr(self, f"_{op}")(item.args[0])
        args = [self.text(arg) for arg in item.args]
        if op in ("add", "mul"):
            return _joined("+" if op == "add" else "*", args)
        if op == "pow":
            return _power(args[0], item.value)
        first, second = args[0], args[-1]
        if op == "abs":
            return f"(ite (>= {first} 0.0) {first} (- {first}))"
        if op == "ite":
            return f"(ite (>= {first} 0.0) {args[1]} {second})"
        return f"(ite ({'>=' if op == 'max' else '<='} {first} {second}) {first} {second})"

    def fact(self, fact: Fact) -> str:
        text = f"({'>=' if fact.rel == '>=' else '>'} {self.text(fact.term)} 0.0)"
        return f"(not (= {self.text(fact.term)} 0.0))" if fact.rel == "!=" else text

    def less(self, left: Term, right: Term) -> str:
        return f"(<= {self.text(left)} {self.text(right)})"

    def positive(self, item: Term) -> str:
        return f"(> {self.text(item)} 0.0)"

    def implies(self, conditions: Iterable[Fact], fact: Fact) -> None:
        given = [self.fact(item) for item in conditions]
        self.assertions.append(f"(=> {_joined('and', ['true', *given])} {self.fact(fact)})")

    def new(self, key: object, native: str = "") -> str:
        name = f"t{len(self._constants)}"
        self._constants[key] = name
        self.declarations.append(
            f"(define-fun {name} () Real {native})" if native else f"(declare-const {name} Real)"
        )
        return name

    def constant(self, key: object, value: Term, native: str = "") -> str:
        """A number that is not rational, between its bounds."""
        if key not in self._constants:
            name = self.new(key, native)
            low, high = (_rational(end) for end in enclose(value, {}, 64, True))
            self.assertions.append(f"(and (<= {low} {name}) (<= {name} {high}))")
        return self._constants[key]

    # --- functions ---

    def _exp(self, arg: Term) -> str:
        factors = []
        for monomial, coefficient in _expanded(arg).items():
            count = coefficient * self.scale
            if count.q == 1 and abs(int(count.p)) <= _LARGEST_POWER:
                factors.append(_power(self._exp_of(monomial, fmpq(1, self.scale)), int(count.p)))
                continue
            common = lcm(self.denominator, int(coefficient.q))
            if abs(coefficient.p) * common <= _LARGEST_POWER * coefficient.q:
                self.denominator = common
            factors.append(self._exp_of(monomial, coefficient))
        text = _joined("*", factors or ["1.0"])
        self.arguments.setdefault(("exp", arg), text)
        return text

    def _exp_of(self, monomial: Monomial, coefficient: fmpq) -> str:
        key = ("exp", monomial, str(coefficient))
        if key in self._constants:
            return self._constants[key]
        item = tm.mul(tm.num(coefficient), *(tm.power(base, count) for base, count in monomial))
        native = f"(exp {self.text(item)})" if self.native_exp else ""
        if not monomial:
            return self.constant(key, tm.exp(item), native)
        name = self.new(key, native)
        self.assertions.append(f"(> {name} 0.0)")
        self.arguments.setdefault(("exp", item), name)
        base = monomial[0][0]
        if len(monomial) == 1 and monomial[0][1] == 1 and base.op == "log":
            whole, root = int(coefficient.p), int(coefficient.q)
            if max(abs(whole), root) <= _LARGEST_POWER:
                same = f"(= {_power(name, root)} {_power(self.text(base.args[0]), whole)})"
                self.assertions.append(f"(=> {self.positive(base.args[0])} {same})")
        return name

    def _log(self, arg: Term) -> str:
        key = ("log", arg)
        if key in self._constants:
            return self._constants[key]
        if not arg.vars:
            return self.constant(key, tm.log(arg))
        name = self._constants.get(key) or self.new(key)
        self.arguments[key] = name
        parts = _log_parts(arg)
        if parts is not None:
            given = ["true", *(self.positive(base) for _, base in parts if base.op != "exp")]
            terms = [tm.mul(tm.num(n), tm.log(base)) for n, base in parts if base.op != "exp"]
            terms += [tm.mul(tm.num(n), base.args[0]) for n, base in parts if base.op == "exp"]
            total = self.text(tm.add(*terms))
            self.assertions.append(f"(=> {_joined('and', given)} (= {name} {total}))")
        self.assertions.append(f"(= (>= {name} 0.0) (>= {self.text(arg)} 1.0))")
        return name

    def _sqrt(self, arg: Term) -> str:
        key = ("sqrt", arg)
        if key in self._constants:
            return self._constants[key]
        name = self.new(key)
        self.arguments[key] = name
        inner = self.text(arg)
        self.assertions.append(
            f"(=> (>= {inner} 0.0) (and (>= {name} 0.0) (= (* {name} {name}) {inner})))"
        )
        return name

    def _erfc(self, arg: Term) -> str:
        key = ("erfc", arg)
        if key in self._constants:
            return self._constants[key]
        if not arg.vars:
            return self.constant(key, tm.erfc(arg))
        name = self.new(key)
        self.arguments[key] = name
        inner = self.text(arg)
        self.assertions.append(f"(= (>= {inner} 0.0) (<= {name} 1.0))")
        self.assertions.append(f"(= (<= {inner} 0.0) (>= {name} 1.0))")
        return name

    # --- facts ---

    def lemmas(self, op: str, arg: Term) -> None:
        """The textbook inequalities for one occurrence."""
        for name, lemma in LEMMAS.items():
            if not name.startswith(f"{op}_") or not arg.vars:
                continue
            orders = [(n,) for n in _ORDERS] if len(lemma.kinds) == 2 else [()]
            for order in orders:
                with suppress(Refusal):  # an order that the lemma does not have
                    self.implies(*instance(name, (arg, *order)))

    def monotone(self, keys: Iterable[tuple[str, Term]]) -> None:
        """Order between each two occurrences of a function, and reflection of erfc."""
        groups: dict[str, list[Term]] = {}
        for op, arg in sorted(keys, key=lambda key: (key[0], key[1].key)):
            groups.setdefault(op, []).append(arg)
        for op, args in groups.items():
            for first, second in combinations(args[:_MOST_ARGUMENTS], 2):
                one, two = self.arguments[op, first], self.arguments[op, second]
                if op == "erfc":
                    opposite = f"(= (+ {self.text(first)} {self.text(second)}) 0.0)"
                    self.assertions.append(f"(=> {opposite} (= (+ {one} {two}) 2.0))")
                    one, two = two, one
                given = f"(= {self.less(first, second)} (<= {one} {two}))"
                if op in ("log", "sqrt"):
                    both = f"(and {self.positive(first)} {self.positive(second)})"
                    given = f"(=> {both} {given})"
                self.assertions.append(given)

    def near(self, op: str, arg: Term, point: Values, exactly: bool) -> None:
        """Bounds close to a point or at it, and the tangent there for exp and log."""
        if op == "sqrt":
            return
        try:
            low, high = _enclosure(arg, point)
            at = _middle(low, high, exactly)
            if abs(at) > 200 or (op == "log" and at <= 0):
                return
            value = {"exp": tm.exp, "log": tm.log, "erfc": tm.erfc}[op](tm.num(at))
            least, most = (_rational(end) for end in enclose(value, {}, _BITS, True))
        except (Undefined, ValueError, OverflowError):
            return
        name, inner, here = self.arguments[op, arg], self.text(arg), _number(at)
        below, above = f"(<= {inner} {here})", f"(>= {inner} {here})"
        if op == "erfc":
            below, above = above, below
        defined = "(> " + inner + " 0.0)" if op == "log" else "true"
        self.assertions.append(f"(=> (and {defined} {below}) (<= {name} {most}))")
        self.assertions.append(f"(=> (and {defined} {above}) (>= {name} {least}))")
        if op == "exp":
            self.assertions.append(f"(>= {name} (* {least} (+ 1.0 (- {inner} {here}))))")
        elif op == "log":
            tangent = f"(+ {most} (/ (- {inner} {here}) {here}))"
            self.assertions.append(f"(=> {defined} (<= {name} {tangent}))")


def _expanded(item: Term) -> dict[Monomial, fmpq]:
    """A term as a sum of multiples of monomials in whatever is not arithmetic."""
    one: Monomial = ()
    if item.op == "num":
        return {one: item.value} if item.value != 0 else {}
    if item.op == "add":
        total: dict[Monomial, fmpq] = {}
        for arg in item.args:
            for monomial, coefficient in _expanded(arg).items():
                total[monomial] = total.get(monomial, fmpq(0)) + coefficient
        return {monomial: value for monomial, value in total.items() if value != 0}
    factors: Iterable[Term] = item.args if item.op == "mul" else (item,)
    if item.op == "pow":
        base = _expanded(item.args[0])
        if len(base) == 1:
            ((monomial, coefficient),) = base.items()
            raised = tuple((atom, count * item.value) for atom, count in monomial)
            return {raised: coefficient**item.value}
        if 0 < item.value <= 4:
            factors = item.args * item.value
    product: dict[Monomial, fmpq] = {one: fmpq(1)}
    for factor in factors:
        parts = {((factor, 1),): fmpq(1)} if factor is item else _expanded(factor)
        product = _multiplied(product, parts)
    return product


def _multiplied(first: dict[Monomial, fmpq], second: dict[Monomial, fmpq]) -> dict[Monomial, fmpq]:
    found: dict[Monomial, fmpq] = {}
    for left, a in first.items():
        for right, b in second.items():
            counts: Counter[Term] = Counter()
            for atom, count in (*left, *right):
                counts[atom] += count
            kept = [(atom, count) for atom, count in counts.items() if count]
            key = tuple(sorted(kept, key=lambda pair: pair[0].key))
            found[key] = found.get(key, fmpq(0)) + a * b
    return {monomial: value for monomial, value in found.items() if value != 0}


def _log_parts(arg: Term) -> list[tuple[fmpq, Term]] | None:
    """Multiples and bases whose logs add up to that of a product, power, root or exponential."""
    if arg.op == "mul":
        parts = [_log_parts(factor) or [(fmpq(1), factor)] for factor in arg.args]
        return [part for each in parts for part in each]
    if arg.op == "exp":
        return [(fmpq(1), arg)]
    if arg.op in ("pow", "sqrt"):
        count = fmpq(1, 2) if arg.op == "sqrt" else fmpq(arg.value)
        inner = _log_parts(arg.args[0]) or [(fmpq(1), arg.args[0])]
        return [(count * n, base) for n, base in inner]
    return None


def _joined(operator: str, args: list[str]) -> str:
    return args[0] if len(args) == 1 else f"({operator} {' '.join(args)})"


def _power(base: str, count: int) -> str:
    text = _joined("*", [base] * abs(count)) if count else "1.0"
    return text if count >= 0 else f"(/ 1.0 {text})"


def _number(value: fmpq) -> str:
    text = f"{abs(int(value.p))}.0" if value.q == 1 else f"(/ {abs(int(value.p))}.0 {value.q}.0)"
    return text if value >= 0 else f"(- {text})"


def _rational(end: arb) -> str:
    """An exact endpoint."""
    mantissa, exponent = end.man_exp()
    return _number(fmpq(mantissa) * fmpq(2) ** int(exponent))


def _middle(low: arb, high: arb, exactly: bool) -> fmpq:
    """A rational in the middle, short unless it is to be exact."""
    mantissa, exponent = ((low + high) / 2).mid().man_exp()
    middle = fmpq(mantissa) * fmpq(2) ** int(exponent)
    if exactly:
        return middle
    near = Fraction(int(middle.p), int(middle.q)).limit_denominator(10**6)
    return fmpq(near.numerator, near.denominator)


# --- solvers ------------------------------------------------------------------------------------


def z3_solve(case: Case, seconds: float) -> str:
    import z3

    def check(declarations: list[str], assertions: list[str], left: float) -> Values | bool | None:
        solver = z3.SolverFor("QF_NRA")
        solver.set("timeout", max(1, int(left * 1000)))
        solver.from_string("\n".join((*declarations, *(f"(assert {a})" for a in assertions))))
        found = solver.check()
        if found == z3.unsat:
            return False
        if found != z3.sat:
            return None
        model = solver.model()
        values = {}
        for item in model.decls():
            value = model[item] if item.arity() == 0 else None
            if isinstance(value, z3.AlgebraicNumRef):
                value = value.approx(30)
            if isinstance(value, z3.RatNumRef):
                ratio = value.as_fraction()
                values[item.name()] = fmpq(ratio.numerator, ratio.denominator)
        return values

    return solve(case, seconds, check, native_exp=False)


def cvc5_solve(case: Case, seconds: float) -> str:
    import cvc5

    def check(declarations: list[str], assertions: list[str], left: float) -> Values | bool | None:
        solver = cvc5.Solver(cvc5.TermManager())
        options = {"produce-models": "true"}
        options["tlimit-per"] = str(max(1, int(left * 1000)))
        for name, value in options.items():
            solver.setOption(name, value)
        native = any("(exp " in line for line in declarations)
        solver.setLogic("QF_NRAT" if native else "QF_NRA")
        parser = cvc5.InputParser(solver)
        text = "\n".join((*declarations, *(f"(assert {a})" for a in assertions)))
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "case")
        symbols = parser.getSymbolManager()
        while not (command := parser.nextCommand()).isNull():
            command.invoke(solver, symbols)
        found = solver.checkSat()
        if found.isUnsat():
            return False
        if not found.isSat():
            return None
        values = {}
        for item in symbols.getDeclaredTerms():
            value = solver.getValue(item)
            if value.isRealValue():
                ratio = Fraction(value.getRealValue())
                values[str(item).strip("|")] = fmpq(ratio.numerator, ratio.denominator)
        return values

    first = solve(case, seconds / 2, check, native_exp=False)
    return first if first != "unknown" else solve(case, seconds / 2, check, native_exp=True)
