"""Refutations: exact values at which every hypothesis holds and a claim fails.

For assumed guarantees the witness is a pair of finite distributions per stage, for every outcome of
the earlier stages; for an explicit mechanism it is a pair and an output. Every comparison is
between enclosures, or exact.

This module is trusted for refutations, and for nothing else: no proof rests on it. Like the kernel
it uses the standard library and python-flint alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from flint import arb, fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.balls import POS, Box, Enclosure, Evaluator, Undefined, precision, rational
from dpsym.kernel.definitions import (
    Constraint,
    Form,
    Moment,
    Support,
    conditions,
    constraints,
    member,
)
from dpsym.kernel.proofs import Sealed, seal
from dpsym.kernel.refusal import Refusal, TooLarge, require
from dpsym.kernel.rules_privacy import statement_obligations
from dpsym.kernel.sequents import context, obligations
from dpsym.kernel.statements import (
    INTEGER,
    Assumed,
    Fact,
    Guarantee,
    Mechanism,
    Processed,
    Statement,
)
from dpsym.kernel.terms import Term, substitute

BITS = 256
MAX_ATOMS = 20_000
Values = Mapping[str, fmpq]


@dataclass(frozen=True)
class Atom:
    """An outcome of one stage, its two probabilities, and the next stage given this outcome.

    In a post-processed stage, ``parts`` are the outcomes of the mechanism that become this one."""

    p: fmpq
    q: fmpq
    then: tuple[Atom, ...] = ()
    parts: tuple[tuple[fmpq, fmpq], ...] = ()


@dataclass(frozen=True)
class Output:
    """An outcome of an explicit mechanism: which pair and region, values of the pair's variables,
    and for a density an interval of outputs around ``at`` on which the claim fails."""

    pair: int
    region: int
    values: Values
    at: tuple[fmpq, fmpq] | None = None


class Refutation(Sealed):
    """A statement that is false, with the witness that the kernel has checked.

    ``orders`` are the order at which a family in the claim fails (or nothing), and the grid of
    orders by which families among the hypotheses were checked.
    """

    __slots__ = ("orders", "statement", "values", "witness")

    statement: Statement
    values: Values
    witness: tuple[Atom, ...] | Output
    orders: tuple[fmpq, ...]


def refute(
    statement: Statement,
    values: Values,
    witness: tuple[Atom, ...] | Output,
    order: fmpq | None = None,
    grid: tuple[fmpq, ...] = (),
) -> Refutation:
    """Check a witness; raises ``Refusal`` unless it refutes the statement.

    ``order`` is needed for a claim that is a family, ``grid`` for a hypothesis that is one.
    """
    with precision(BITS):
        try:
            check = _Check(statement, dict(values))
            if isinstance(witness, Output):
                check.output(witness)
            else:
                check.distributions(witness, order, grid)
        except (Undefined, ZeroDivisionError):
            raise Refusal("witness", "terms defined at the values", dict(values)) from None
        except RecursionError:
            raise TooLarge("witness", "terms that Python's stack can hold") from None
    orders = (() if order is None else (order,)) + tuple(grid)
    return seal(
        Refutation, statement=statement, values=dict(values), witness=witness, orders=orders
    )


class _Check:
    def __init__(self, statement: Statement, values: dict[str, fmpq]) -> None:
        statement_obligations(statement)  # refuses what is not well formed
        self.statement = statement
        self.numbers: dict[str, Term] = {}
        self.assign(statement.variables, values)
        for fact in statement.facts:
            require(self.holds(fact), "witness", "values at which the facts hold", fact)

    def assign(self, variables: tuple[tuple[str, str], ...], values: Values) -> None:
        require(set(values) == {name for name, _ in variables}, "witness", "a value each", values)
        for name, kind in variables:
            value = values[name]
            whole = isinstance(value, fmpq) and (kind != INTEGER or value.q == 1)
            require(whole, "witness", f"a rational ({kind}) value of {name}", value)
            self.numbers[name] = tm.num(value)

    def value(self, item: Term, box: Box | None = None) -> Enclosure:
        return Evaluator(box or {}, True)(substitute(item, self.numbers))

    def holds(self, fact: Fact) -> bool:
        """Whether the fact holds for certain at the values."""
        item = substitute(fact.term, self.numbers)
        if item.vars:
            raise Refusal("witness", "no free variables", sorted(item.vars))
        lo, hi = Evaluator({}, True)(item)
        if fact.rel == "!=":
            return bool(lo > 0 or hi < 0)
        if lo > 0 or (fact.rel == ">=" and lo >= 0):
            return True
        return bool(fact.rel == ">=" and hi >= 0 and self.zero(item))

    def zero(self, item: Term) -> bool:
        canon = context(()).canon
        return not obligations((), item) and canon.is_zero(canon(_settled(item)))

    # -- assumed guarantees

    def distributions(
        self, atoms: tuple[Atom, ...], order: fmpq | None, grid: tuple[fmpq, ...]
    ) -> None:
        stages = self.statement.stages
        claims = [self.one_member(claim, order) for claim in self.statement.claims]
        seen: set[tuple[int, int]] = set()
        every = self.joint(atoms, 0, fmpq(1), fmpq(1), seen, grid)
        joint = list(islice(every, MAX_ATOMS + 1))
        require(len(joint) <= MAX_ATOMS, "witness", f"at most {MAX_ATOMS} atoms", len(joint))
        require(bool(stages), "witness", "stages", stages)
        broken = any(self.breaks(joint, item) for claim in claims for item in constraints(claim))
        require(broken, "witness", "a claim that fails", claims)

    def one_member(self, claim: Guarantee, order: fmpq | None) -> Guarantee:
        require(all(self.holds(fact) for fact in conditions(claim)), "witness", "conditions", claim)
        found = None if order is None else member(claim, tm.num(order))
        if found is None:
            return claim
        require(all(self.holds(fact) for fact in found[0]), "witness", "an order", order)
        return found[1]

    def joint(
        self,
        atoms: tuple[Atom, ...],
        depth: int,
        p: fmpq,
        q: fmpq,
        seen: set[tuple[int, int]],
        grid: tuple[fmpq, ...],
    ) -> Iterator[tuple[fmpq, fmpq]]:
        """The joint probabilities; checks each stage's distributions once."""
        stages = self.statement.stages
        if depth == len(stages):
            require(not atoms, "witness", "one level of outcomes per stage", depth)
            yield p, q
            return
        if (id(atoms), depth) not in seen:
            seen.add((id(atoms), depth))
            self.stage(atoms, depth, grid)
        for atom in atoms:
            if atom.p * p or atom.q * q:
                yield from self.joint(atom.then, depth + 1, p * atom.p, q * atom.q, seen, grid)

    def stage(self, atoms: tuple[Atom, ...], depth: int, grid: tuple[fmpq, ...]) -> None:
        stage = self.statement.stages[depth]
        pairs = [(atom.p, atom.q) for atom in atoms]
        for weights in zip(*pairs, strict=True):
            exact = all(isinstance(weight, fmpq) and weight >= 0 for weight in weights)
            require(exact, "witness", "probabilities", weights)
        sums = sum((p for p, _ in pairs), fmpq(0)), sum((q for _, q in pairs), fmpq(0))
        require(all(total == 1 for total in sums), "witness", "probabilities that sum to 1", *sums)
        if not isinstance(stage, (Assumed, Processed)):
            raise Refusal("witness", "stages that are guarantees", stage)
        if isinstance(stage, Processed):
            pairs = [pair for atom in atoms for pair in _inner(atom)]
        else:
            require(not any(atom.parts for atom in atoms), "witness", "outcomes as they are", stage)
        for guarantee in stage.guarantees:
            meant = all(self.holds(fact) for fact in conditions(guarantee))
            require(meant, "witness", "conditions that hold", guarantee)
            for item in self.enough(guarantee, grid):
                require(self.meets(pairs, item), "witness", "a stage's guarantee", guarantee)

    def enough(self, guarantee: Guarantee, grid: tuple[fmpq, ...]) -> Iterator[Constraint]:
        """Constraints from which the guarantee follows.

        For zCDP: D at order a_(k+1) is at most rho a_k for orders 1 = a_0 < a_1 < ... < a_N, and
        D at infinity at most rho a_N; then every order's bound holds, as D grows with the order
        (van Erven and Harremoes 2014, Theorem 3).
        """
        if guarantee.name != "ZCDP":
            found = constraints(guarantee)
            require(bool(found), "witness", "a guarantee that can be checked", guarantee)
            yield from found
            return
        (rho,) = guarantee.args
        if rho is None or not self.holds(Fact(rho, ">=")) or not grid:
            raise Refusal("witness", "a grid of orders and rho >= 0", guarantee)
        last = fmpq(1)
        way = (guarantee.two_way, guarantee.reverse)
        for order in grid:
            require(bool(order > last), "witness", "orders above 1 that grow", grid)
            yield from constraints(Guarantee("RenyiDP", (tm.num(order), rho * tm.num(last)), *way))
            last = order
        yield from constraints(Guarantee("PureDP", (rho * tm.num(last),), *way))

    def integral(self, pairs: list[tuple[fmpq, fmpq]], form: Form) -> Enclosure | Term:
        """The term of the integral over the atoms, or its enclosure if it is infinite."""
        parts: list[Term] = []
        infinite = False
        for p, q in pairs:
            if p and q:
                parts.append(tm.num(q) * form.at(tm.num(p / q)))
            elif p or q:
                value = form.at_p if p else form.at_q
                infinite = infinite or value is None
                if value is not None:
                    parts.append(tm.num(p or q) * value)
        return (POS, POS) if infinite else tm.add(*parts)

    def compare(self, pairs: list[tuple[fmpq, fmpq]], item: Moment) -> Enclosure:
        """An enclosure of bound - integral, where the integral is finite."""
        total = self.integral(pairs, item.form)
        if not isinstance(total, Term):
            return arb.neg_inf(), arb.neg_inf()
        return self.value(item.bound - total)

    def meets(self, pairs: list[tuple[fmpq, fmpq]], item: Constraint) -> bool:
        if isinstance(item, Moment):
            total = self.integral(pairs, item.form)
            return isinstance(total, Term) and self.holds(Fact(item.bound - total, ">="))
        if isinstance(item, Support):
            for first, second in _oriented(pairs, item.reverse):
                if first and not second:
                    return False
                gap = item.bound * tm.num(second) - tm.num(first)
                if first and not self.holds(Fact(gap, ">=")):
                    return False
            return True
        spread = _spread(pairs, item.reverse)
        return spread is not None and self.holds(Fact(tm.exp(item.length) - tm.num(spread), ">="))

    def breaks(self, pairs: list[tuple[fmpq, fmpq]], item: Constraint) -> bool:
        """Whether the constraint fails for certain."""
        if isinstance(item, Moment):
            return bool(self.compare(pairs, item)[1] < 0)
        if isinstance(item, Support):
            return any(
                first and self.holds(Fact(tm.num(first) - item.bound * tm.num(second), ">"))
                for first, second in _oriented(pairs, item.reverse)
            )
        spread = _spread(pairs, item.reverse)
        return spread is None or self.holds(Fact(tm.num(spread) - tm.exp(item.length), ">"))

    # -- explicit mechanisms

    def output(self, witness: Output) -> None:
        (stage,) = self.statement.stages if len(self.statement.stages) == 1 else (None,)
        if not isinstance(stage, Mechanism):
            raise Refusal("witness", "one explicit mechanism", self.statement.stages)
        require(0 <= witness.pair < len(stage.pairs), "witness", "a pair", witness.pair)
        pair = stage.pairs[witness.pair]
        require(0 <= witness.region < len(pair.regions), "witness", "a region", witness.region)
        region = pair.regions[witness.region]
        self.assign(pair.variables, witness.values)
        for fact in pair.facts:
            require(self.holds(fact), "witness", "values at which the facts hold", fact)
        box: dict[str, Enclosure] = {}
        if region.output is not None:
            if witness.at is None or not witness.at[0] < witness.at[1]:
                raise Refusal("witness", "an interval of outputs", witness.at)
            box[region.output] = (rational(witness.at[0])[0], rational(witness.at[1])[1])
        elif region.weight is not None:
            require(self.holds(Fact(region.weight, ">")), "witness", "atoms", region.weight)
        for fact in region.facts:
            lo, _ = self.value(fact.term, box)
            inside = lo > 0 or (fact.rel == ">=" and lo >= 0)
            require(bool(inside and fact.rel != "!="), "witness", "outputs in the region", fact)
        broken = False
        for claim in self.statement.claims:
            for item in constraints(claim):
                if not isinstance(item, Support):
                    raise Refusal("witness", "a claim of pure DP", claim)
                first, second = (region.q, region.p) if item.reverse else (region.p, region.q)
                gap = self.value(first - item.bound * second, box)
                broken = broken or bool(gap[0] > 0 and self.value(second, box)[0] >= 0)
        require(broken, "witness", "a claim that fails", self.statement.claims)


def _settled(item: Term) -> Term:
    """A term of the same value, each kink with a certain branch replaced by it; no variables."""
    if not item.kinked:
        return item
    value = Evaluator({}, True)
    if item.op == "ite":
        lo, hi = value(item.args[0])
        return _settled(item.args[1] if lo >= 0 else item.args[2]) if lo >= 0 or hi < 0 else item
    args = tuple(_settled(arg) for arg in item.args)
    if item.op in ("max", "min"):
        first, second = args
        lo, hi = value(first - second if item.op == "max" else second - first)
        if lo >= 0 or hi <= 0:
            return first if lo >= 0 else second
    if item.op == "abs":
        lo, hi = value(args[0])
        if lo >= 0 or hi <= 0:
            return args[0] if lo >= 0 else -args[0]
    return Term(item.op, args, item.value)


def _inner(atom: Atom) -> tuple[tuple[fmpq, fmpq], ...]:
    """The outcomes that a post-processing turns into this one."""
    if not atom.parts:
        return ((atom.p, atom.q),)
    for k, total in enumerate((atom.p, atom.q)):
        weights = [pair[k] for pair in atom.parts]
        exact = all(isinstance(weight, fmpq) and weight >= 0 for weight in weights)
        require(exact and sum(weights, fmpq(0)) == total, "witness", "parts that add up", atom)
    return atom.parts


def _oriented(pairs: list[tuple[fmpq, fmpq]], reverse: bool) -> list[tuple[fmpq, fmpq]]:
    return [(q, p) for p, q in pairs] if reverse else pairs


def _spread(pairs: list[tuple[fmpq, fmpq]], reverse: bool) -> fmpq | None:
    """The largest ratio over the smallest, among outcomes of positive p (q, if reverse)."""
    seen = [(p, q) for p, q in _oriented(pairs, reverse) if p]
    if any(not q for _, q in seen):
        return None
    ratios = [p / q for p, q in seen]
    return max(ratios) / min(ratios)
