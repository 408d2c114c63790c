"""Refutations: exact values at which every hypothesis holds and a claim fails.

For assumed guarantees the witness is a pair of finite distributions per stage, for every outcome of
the earlier stages; for explicit mechanisms it is a pair of each, and an output or an event. Every
comparison is between enclosures, or exact.

This module is trusted for refutations, and for nothing else: no proof rests on it. Like the kernel
it uses the standard library and python-flint alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, product

from flint import arb, fmpq

from dpsym import events
from dpsym.events import Chosen, Event, Exceeded, Values
from dpsym.instances import explicit
from dpsym.kernel import terms as tm
from dpsym.kernel.balls import (
    POS,
    Box,
    Enclosure,
    Evaluator,
    Undefined,
    below,
    exact,
    plus,
    precision,
    rational,
    times,
)
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
from dpsym.kernel.refusal import Refusal, TooLarge, expect, require
from dpsym.kernel.rules_privacy import statement_obligations
from dpsym.kernel.sequents import context, obligations
from dpsym.kernel.statements import (
    INTEGER,
    Assumed,
    Blend,
    Choice,
    Fact,
    Filter,
    Group,
    Guarantee,
    Inner,
    Link,
    Mechanism,
    Pair,
    Processed,
    Repeated,
    Stage,
    Statement,
    opened,
    replaced,
    shapes,
)
from dpsym.kernel.terms import ONE, ZERO, Term, substitute

BITS = 256
MAX_CHOICES = 1000
MAX_ATOMS = events.MAX_ATOMS
MAX_COPIES = 10_000
Masses = list[tuple[fmpq, fmpq]]


@dataclass(frozen=True)
class Atom:
    """An outcome of one stage, its two probabilities, and the next stage given this outcome.

    In a post-processed stage, ``parts`` are the outcomes of the mechanism that become this one. In
    a group or a blend, ``under`` are the outcome's probabilities under each of the distributions.
    """

    p: fmpq
    q: fmpq
    then: tuple[Atom, ...] = ()
    parts: tuple[tuple[fmpq, fmpq], ...] = ()
    under: tuple[fmpq, ...] = ()


@dataclass(frozen=True)
class Output:
    """An outcome of an explicit mechanism: which pair and region, values of the pair's variables,
    and for a density an interval ``at`` of outputs on which the claim fails, for integers both ends
    included."""

    pair: int
    region: int
    values: Values
    at: tuple[fmpq, fmpq] | None = None


class Refutation(Sealed):
    """A statement that is false, with the witness that the kernel has checked.

    ``orders`` are the order at which a family in the claim fails (or nothing), and the grid of
    orders by which families among the hypotheses were checked. ``exceeded`` says by how much an
    event breaks the claim. ``stages`` are those of the statement at the values, each copy of a
    repeated one as a stage of its own, and explicit pairs of what is made of explicit mechanisms.
    """

    __slots__ = ("exceeded", "orders", "stages", "statement", "values", "witness")

    statement: Statement
    stages: tuple[Stage, ...]
    values: Values
    witness: tuple[Atom, ...] | Output | Event
    orders: tuple[fmpq, ...]
    exceeded: Exceeded | None


def refute(
    statement: Statement,
    values: Values,
    witness: tuple[Atom, ...] | Output | Event,
    order: fmpq | None = None,
    grid: tuple[fmpq, ...] = (),
) -> Refutation:
    """Check a witness; raises ``Refusal`` unless it refutes the statement.

    ``order`` is needed for a claim that is a family, ``grid`` for a hypothesis that is one.
    """
    statement_obligations(statement)  # refuses what is not well formed
    refused: Refusal | None = None
    for one in chosen(statement):
        try:
            stages, exceeded = _checked(one, values, witness, order, grid)
        except Refusal as refusal:
            refused = refused or refusal
            continue
        break
    else:
        raise refused or Refusal("witness", "a mechanism to choose", statement.stages)
    orders = (() if order is None else (order,)) + tuple(grid)
    return seal(
        Refutation,
        statement=statement,
        stages=stages,
        values=dict(values),
        witness=witness,
        orders=orders,
        exceeded=exceeded,
    )


def chosen(statement: Statement) -> Iterator[Statement]:
    """The statement, which is about each of the mechanisms in a choice, for one of them each."""
    options = [
        [opened(one) for one in stage.stages] if isinstance(stage, Choice) else [(stage,)]
        for stage in statement.stages
    ]
    for stages in islice(product(*options), MAX_CHOICES):
        yield replace(statement, stages=tuple(one for part in stages for one in part))


def _checked(
    statement: Statement,
    values: Values,
    witness: tuple[Atom, ...] | Output | Event,
    order: fmpq | None,
    grid: tuple[fmpq, ...],
) -> tuple[tuple[Stage, ...], Exceeded | None]:
    """The stages, and by how much an event exceeds the claim."""
    exceeded: Exceeded | None = None
    with precision(BITS):
        try:
            check = _Check(statement, dict(values))
            if isinstance(witness, Output):
                check.output(witness)
            elif isinstance(witness, Event):
                exceeded = check.event(witness, order)
            else:
                check.distributions(witness, order, grid)
        except (Undefined, ZeroDivisionError):
            raise Refusal("witness", "terms defined at the values", dict(values)) from None
        except RecursionError:
            raise TooLarge("witness", "terms that Python's stack can hold") from None
    return check.stages, exceeded


class _Check:
    def __init__(self, statement: Statement, values: dict[str, fmpq]) -> None:
        statement_obligations(statement)  # refuses what is not well formed
        self.statement = statement
        self.numbers: dict[str, Term] = {}
        self.assign(statement.variables, values)
        for fact in statement.facts:
            require(self.holds(fact), "witness", "values at which the facts hold", fact)
        self.stages = tuple(one for stage in statement.stages for one in self.copies(stage))

    def copies(self, stage: Stage) -> tuple[Stage, ...]:
        """A stage for each copy of a repeated one; for a filter, one that spends the budget."""
        if isinstance(stage, Filter):
            require(self.holds(Fact(stage.budget, ">=")), "witness", "a budget >= 0", stage.budget)
            return (replaced(stage.stage, {stage.name: stage.budget}),)
        if isinstance(stage, Repeated):
            each = (one for part in opened(stage.stage) for one in self.copies(part))
            return tuple(each) * self.count(stage)
        if isinstance(stage, (Group, Blend)):
            return (explicit(self.counted(stage)) or stage,)
        return (stage,)

    def counted(self, stage: Stage) -> Stage:
        """The stage with numbers for the variables in numbers of copies."""
        made = [one for one in shapes(stage) if isinstance(one, (Repeated, Group))]
        for one in made:
            self.count(one)
        names = {name for one in made for name in one.count.vars}
        found: Stage = replaced(stage, {name: self.numbers[name] for name in names})
        return found

    def count(self, stage: Repeated | Group) -> int:
        low, high = (exact(end) for end in self.value(stage.count))
        if low is None or low != high or low.q != 1 or not 1 <= low <= MAX_COPIES:
            raise Refusal("witness", f"1 to {MAX_COPIES} copies", stage.count)
        return int(low)

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
        claims = [self.one_member(claim, order) for claim in self.statement.claims]
        require(bool(self.stages), "witness", "stages", self.stages)
        joint = self.joint(atoms, grid)
        broken = any(self.breaks(joint, item) for claim in claims for item in constraints(claim))
        require(broken, "witness", "a claim that fails", claims)

    def one_member(self, claim: Guarantee, order: fmpq | None) -> Guarantee:
        require(all(self.holds(fact) for fact in conditions(claim)), "witness", "conditions", claim)
        found = None if order is None else member(claim, tm.num(order))
        if found is None:
            return claim
        require(all(self.holds(fact) for fact in found[0]), "witness", "an order", order)
        return found[1]

    def joint(self, atoms: tuple[Atom, ...], grid: tuple[fmpq, ...]) -> Masses:
        """The joint probabilities, outcomes of one ratio as one; checks each stage's distributions
        once. No claim tells such outcomes apart, as all are about homogeneous functions."""
        level: dict[int, tuple[tuple[Atom, ...], Masses]] = {id(atoms): (atoms, [(fmpq(1),) * 2])}
        for stage in self.stages:
            following: dict[int, tuple[tuple[Atom, ...], Masses]] = {}
            for outcomes, before in level.values():
                self.stage(outcomes, stage, grid)
                for atom in outcomes:
                    _, reached = following.setdefault(id(atom.then), (atom.then, []))
                    reached += [(p * atom.p, q * atom.q) for p, q in before]
            level = {key: (then, _merged(masses)) for key, (then, masses) in following.items()}
            count = sum(len(masses) for _, masses in level.values())
            require(count <= MAX_ATOMS, "witness", f"at most {MAX_ATOMS} atoms", count)
        last = [masses for then, masses in level.values() if not then]
        require(len(last) == len(level), "witness", "one level of outcomes per stage", len(level))
        return _merged([pair for masses in last for pair in masses])

    def stage(self, atoms: tuple[Atom, ...], stage: Stage, grid: tuple[fmpq, ...]) -> None:
        _require_distribution([atom.p for atom in atoms])
        _require_distribution([atom.q for atom in atoms])
        for pairs, single in self.pairs(atoms, stage):
            for guarantee in single.guarantees:
                meant = all(self.holds(fact) for fact in conditions(guarantee))
                require(meant, "witness", "conditions that hold", guarantee)
                if guarantee.name == "GDP":
                    require(self.gaussian(pairs, guarantee), "witness", "GDP", guarantee)
                    continue
                for item in self.enough(guarantee, grid):
                    require(self.meets(pairs, item), "witness", "a stage's guarantee", guarantee)

    def pairs(
        self, atoms: tuple[Atom, ...], stage: Stage
    ) -> Iterator[tuple[Masses, Assumed | Processed]]:
        """Pairs of distributions, and what they must have."""
        if isinstance(stage, Mechanism):
            raise Refusal("witness", "stages that are guarantees", stage)
        made = isinstance(stage, (Group, Blend))
        require(made or not any(a.under for a in atoms), "witness", "one pair", stage)
        if isinstance(stage, Blend) and apart(stage):
            self.chances(stage)
            for link in stage.links:
                yield from self.pairs(atoms, expect(Blend, link.stage, "witness", "a blend"))
        elif isinstance(stage, (Group, Blend)):
            for link in self.links(atoms, stage):
                masses = [(a.under[link.first], a.under[link.second]) for a in atoms]
                yield from self.linked(masses, link.stage)
        elif isinstance(stage, Processed):
            yield [pair for atom in atoms for pair in _inner(atom)], stage
            return
        elif isinstance(stage, Assumed):
            yield [(atom.p, atom.q) for atom in atoms], stage
        else:
            raise Refusal("witness", "stages that are guarantees", stage)
        require(not any(a.parts for a in atoms), "witness", "outcomes as they are", stage)

    def chances(self, stage: Blend) -> None:
        """Refuses weights that are no probabilities."""
        for weights in (stage.p, stage.q):
            known = all(self.holds(Fact(weight, ">=")) for weight in weights)
            require(known, "witness", "weights that are nonnegative", weights)
            total = substitute(tm.add(*weights) - 1, self.numbers)
            require(self.zero(total), "witness", "weights with the sum 1", weights)

    def linked(self, pairs: Masses, stage: Inner) -> Iterator[tuple[Masses, Assumed]]:
        """What a pair must have; of a chain it is the first pair, and the others are equal."""
        if isinstance(stage, Group):
            yield from self.linked(pairs, stage.stage)
            yield from self.linked([(q, q) for _, q in pairs], stage.stage)
        else:
            yield pairs, expect(Assumed, stage, "witness", "stages that are guarantees")

    def links(self, atoms: tuple[Atom, ...], stage: Group | Blend) -> tuple[Link, ...]:
        """The links of a stage's distributions, of which p and q are shown to be mixtures."""
        if isinstance(stage, Group):
            k = self.count(stage)
            weights = [tuple(ONE if i == j else ZERO for i in range(k + 1)) for j in (0, k)]
            links = tuple(Link(i, i + 1, stage.stage) for i in range(k))
        else:
            weights, links = [stage.p, stage.q], stage.links
            for weight in (*stage.p, *stage.q):
                known = self.holds(Fact(weight, ">="))
                require(known, "witness", "weights that are nonnegative", weight)
        for atom in atoms:
            require(len(atom.under) == len(weights[0]), "witness", "a probability each", atom)
            for row, mass in zip(weights, (atom.p, atom.q), strict=True):
                mixed = tm.add(*(w * tm.num(r) for w, r in zip(row, atom.under, strict=True)))
                gap = substitute(mixed - tm.num(mass), self.numbers)
                require(self.zero(gap), "witness", "a mixture of the distributions", atom)
        for i in range(len(weights[0])):
            _require_distribution([atom.under[i] for atom in atoms])
        return links

    def enough(self, guarantee: Guarantee, grid: tuple[fmpq, ...]) -> Iterator[Constraint]:
        """Constraints from which the guarantee follows.

        For zCDP: D at order a_(k+1) is at most rho a_k for orders 1 = a_0 < a_1 < ... < a_N, and
        D at infinity at most rho a_N; then every order's bound holds, as D grows with the order
        (van Erven and Harremoes 2014, Theorem 3). For tCDP, a_N >= omega.
        """
        if guarantee.name not in ("ZCDP", "TCDP"):
            found = constraints(guarantee)
            require(bool(found), "witness", "a guarantee that can be checked", guarantee)
            yield from found
            return
        rho, *ends = guarantee.args
        if rho is None or not self.holds(Fact(rho, ">=")) or not grid:
            raise Refusal("witness", "a grid of orders and rho >= 0", guarantee)
        last = fmpq(1)
        way = (guarantee.two_way, guarantee.reverse)
        for order in grid:
            require(bool(order > last), "witness", "orders above 1 that grow", grid)
            yield from constraints(Guarantee("RenyiDP", (tm.num(order), rho * tm.num(last)), *way))
            last = order
            if any(self.holds(Fact(tm.num(order) - end, ">=")) for end in ends if end is not None):
                return
        require(not ends, "witness", "orders up to omega", grid)
        yield from constraints(Guarantee("PureDP", (rho * tm.num(last),), *way))

    def gaussian(self, pairs: Masses, guarantee: Guarantee) -> bool:
        """Whether P(S) <= Phi(Phi^-1(Q(S)) + mu) for each set S of the outcomes of largest ratio.

        These S are the best tests, and the bound on all orders' hockey-stick divergences says that
        (Q(S), P(S)) is not above the concave curve of the two Gaussians' tests (Dong, Roth and Su
        2022, Proposition 2.12). Then the bound for (Q, P) holds too.
        """
        mu = expect(Term, guarantee.args[0], "witness", "GDP")
        ways = _oriented(pairs, guarantee.reverse and not guarantee.two_way)
        first = second = fmpq(0)
        for p, q in sorted(ways, key=lambda pair: (pair[1] / pair[0]) if pair[0] else fmpq(10**60)):
            first, second = first + p, second + q
            if second == 1 or not first:
                continue
            low = self.quantile(second)
            below = tm.erfc(-(tm.num(low) + mu) / tm.sqrt(tm.num(2))) / 2
            if not second or not self.holds(Fact(below - tm.num(first), ">=")):
                return False
        return True

    def quantile(self, mass: fmpq) -> fmpq:
        """A number z with Phi(z) <= mass, close to the largest."""
        low, high = fmpq(-40), fmpq(40)
        for _ in range(100):
            middle = (low + high) / 2
            phi = tm.erfc(-tm.num(middle) / tm.sqrt(tm.num(2))) / 2
            if self.holds(Fact(tm.num(mass) - phi, ">=")):
                low = middle
            else:
                high = middle
        return low

    def integral(self, pairs: Masses, form: Form) -> Enclosure | Term:
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

    def compare(self, pairs: Masses, item: Moment) -> Enclosure:
        """An enclosure of bound - integral, where the integral is finite."""
        total = self.integral(pairs, item.form)
        if not isinstance(total, Term):
            return arb.neg_inf(), arb.neg_inf()
        return self.value(item.bound - total)

    def meets(self, pairs: Masses, item: Constraint) -> bool:
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

    def breaks(self, pairs: Masses, item: Constraint) -> bool:
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
        (stage,) = self.stages if len(self.stages) == 1 else (None,)
        if not isinstance(stage, Mechanism):
            raise Refusal("witness", "one explicit mechanism", self.stages)
        pair = self.pair(stage, witness.pair, witness.values)
        require(0 <= witness.region < len(pair.regions), "witness", "a region", witness.region)
        region = pair.regions[witness.region]
        box: dict[str, Enclosure] = {}
        if region.output is not None:
            low, high = witness.at or (fmpq(0), fmpq(0))
            whole = region.kind == INTEGER
            fits = low.q == 1 and high.q == 1 and low <= high if whole else low < high
            given = witness.at is not None and bool(fits)
            require(given, "witness", "an interval of outputs", witness.at)
            box[region.output] = (rational(low)[0], rational(high)[1])
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
                    continue
                first, second = (region.q, region.p) if item.reverse else (region.p, region.q)
                gap = self.value(first - item.bound * second, box)
                broken = broken or bool(gap[0] > 0 and self.value(second, box)[0] >= 0)
        require(broken, "witness", "a claim that fails", self.statement.claims)

    def pair(self, stage: Mechanism, place: int, values: Values) -> Pair:
        """A pair of the mechanism; its variables get their values."""
        require(0 <= place < len(stage.pairs), "witness", "a pair", place)
        pair = stage.pairs[place]
        self.assign(pair.variables, values)
        for fact in pair.facts:
            require(self.holds(fact), "witness", "values at which the facts hold", fact)
        return pair

    def event(self, witness: Event, order: fmpq | None) -> Exceeded:
        """The first claim that fails by the event."""
        stages = self.stages
        fits = bool(stages) and len(witness.stages) == len(stages)
        require(fits, "witness", "outputs of every stage", len(stages))
        chosen: list[tuple[Pair, Chosen]] = []
        for stage, part in zip(stages, witness.stages, strict=True):
            if not isinstance(stage, Mechanism):
                raise Refusal("witness", "explicit mechanisms", stage)
            given = dict(self.numbers)
            pair = self.pair(stage, part.pair, part.values)
            for region in pair.regions:
                if region.output is None:
                    for fact in region.facts:
                        require(self.holds(fact), "witness", "atoms of the pair", fact)
            chosen.append((events.at_values(pair, self.numbers), part))
            self.numbers = given  # the next stage may use the same names
        for claim in self.statement.claims:
            found = self.one_member(claim, order)
            for reverse in (False, True) if found.two_way else (found.reverse,):
                way = replace(found, two_way=False, reverse=reverse)
                exceeded = self.exceeded(way, chosen)
                if exceeded is not None:
                    return exceeded
        raise Refusal("witness", "a claim that fails", self.statement.claims)

    def exceeded(self, way: Guarantee, chosen: list[tuple[Pair, Chosen]]) -> Exceeded | None:
        """How the event breaks a claim in one direction, if it does for certain.

        The claim for (Q, P) is that for (P, Q) with the two exchanged."""
        args = tuple(None if arg is None else substitute(arg, self.numbers) for arg in way.args)
        found = constraints(Guarantee(way.name, args, two_way=False))
        if not found:
            return None
        (item,) = found
        if way.reverse:
            chosen = [(_exchanged(pair), part) for pair, part in chosen]
        if isinstance(item, Moment):
            low, limit = self.moment(way.name, args[0], item.form, chosen), item.bound
        else:
            stages = [events.losses(pair, part.parts) for pair, part in chosen]
            most, apart = events.joint_losses(stages)
            if isinstance(item, Support):
                low, limit = most, item.bound.args[0]
            else:
                low, limit = apart, item.length
        bound = exact(self.value(limit)[1])
        if bound is None or not low > bound:
            return None
        return Exceeded(way, exact(low), bound)

    def moment(
        self, name: str, first: Term | None, form: Form, chosen: list[tuple[Pair, Chosen]]
    ) -> arb:
        """A lower bound of a moment of the joint distributions."""
        finite = [events.masses(pair) for pair, _ in chosen]
        sure = [stage for stage in finite if stage is not None]
        if len(sure) == len(finite):
            require(not any(part.parts for _, part in chosen), "witness", "atoms alone", chosen)
            known = all(pair.normalised for pair, _ in chosen)
            require(known, "witness", "normalised probabilities", chosen)
            return events.enumerated(form, sure)[0]
        linear = events.minorant(name, form, first)
        if linear is None:
            raise Refusal("witness", "a form with a known minorant", name)
        if len(chosen) > 1 and name == "ApproxDP":
            return events.binned(form, self.bins(chosen))
        each = [self.alone(form, linear, pair, part) for pair, part in chosen]
        if len(each) == 1:
            return each[0][0]
        if name == "KLDP":
            return below(sum((low for low, _ in each), arb(0)))
        known = name in ("RenyiDP", "RenyiDPBelowOne")
        require(known, "witness", "one stage, or finitely many outcomes each", name)
        product: Enclosure = (arb(1), arb(1))
        below_one = name == "RenyiDPBelowOne"
        for low, _ in each:  # of e^((a - 1) D) for a > 1, of its negative for a < 1
            size = -low if below_one else low
            product = times(product, (size if size > 0 else arb(0),) * 2)
        return -product[1] if below_one else product[0]

    def bins(self, chosen: list[tuple[Pair, Chosen]]) -> list[tuple[events.Bin, ...]]:
        """The bins of each stage, the same for the same pair and outputs."""
        found: list[tuple[events.Bin, ...]] = []
        for i, (pair, part) in enumerate(chosen):
            require(pair.normalised, "witness", "densities that are normalised", pair.label)
            same = [j for j in range(i) if chosen[j] == chosen[i]]
            stage = found[same[0]] if same else events.bins(pair, part.parts)
            mass = sum((times(one.count, one.p)[0] for one in stage), arb(0))
            require(not mass > _MOST, "witness", "densities of mass 1", mass)
            found.append(stage)
        return found

    def alone(self, form: Form, linear: tuple[Term, Term], pair: Pair, part: Chosen) -> Enclosure:
        """A moment of one stage from below."""
        moments = events.Moments(form, linear)
        checks = [events.Moments(mass, (ZERO, ZERO)) for mass in (events.P_MASS, events.Q_MASS)]
        factor: Enclosure = (arb(1), arb(1))
        if not pair.normalised:
            factor = events.factor(pair, part.parts)
        total: Enclosure = (arb(0), arb(0))
        for region, within in events.pieces(pair, part.parts):
            if region.output is not None:
                total = plus(total, moments.over(region, within))
                continue
            weight = self.value(ONE if region.weight is None else region.weight)
            require(bool(weight[0] >= 0), "witness", "numbers of atoms", region.weight)
            total = plus(total, times(weight, moments.at(region.p, region.q)))
        for check in checks:
            mass = (arb(0), arb(0))
            for region, within in events.pieces(pair, part.parts):
                if region.output is not None:
                    mass = plus(mass, check.over(region, within))
            mass = times(mass, factor)
            require(not mass[0] > _MOST, "witness", "densities of mass 1", mass[0])
        return plus(plus(self.value(linear[0]), self.value(linear[1])), times(total, factor))


_MOST = arb(fmpq(1000001, 1000000))


def _exchanged(pair: Pair) -> Pair:
    regions = tuple(replace(region, p=region.q, q=region.p) for region in pair.regions)
    return replace(pair, regions=regions)


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


def _require_distribution(masses: list[fmpq]) -> None:
    known = all(isinstance(mass, fmpq) and mass >= 0 for mass in masses)
    require(known, "witness", "probabilities", masses)
    total = sum(masses, fmpq(0))
    require(total == 1, "witness", "probabilities that sum to 1", total)


def _merged(pairs: Masses) -> Masses:
    """Outcomes of the same ratio as one; without those that never occur."""
    found: dict[fmpq | None, tuple[fmpq, fmpq]] = {}
    for p, q in pairs:
        if p or q:
            before = found.get(key := p / q if q else None, (fmpq(0), fmpq(0)))
            found[key] = before[0] + p, before[1] + q
    return list(found.values())


def _inner(atom: Atom) -> tuple[tuple[fmpq, fmpq], ...]:
    """The outcomes that a post-processing turns into this one."""
    if not atom.parts:
        return ((atom.p, atom.q),)
    for k, total in enumerate((atom.p, atom.q)):
        weights = [pair[k] for pair in atom.parts]
        exact = all(isinstance(weight, fmpq) and weight >= 0 for weight in weights)
        require(exact and sum(weights, fmpq(0)) == total, "witness", "parts that add up", atom)
    return atom.parts


def _oriented(pairs: Masses, reverse: bool) -> Masses:
    return [(q, p) for p, q in pairs] if reverse else pairs


def _spread(pairs: Masses, reverse: bool) -> fmpq | None:
    """The largest ratio over the smallest, among outcomes of positive p (q, if reverse)."""
    seen = [(p, q) for p, q in _oriented(pairs, reverse) if p]
    if any(not q for _, q in seen):
        return None
    ratios = [p / q for p, q in seen]
    return max(ratios) / min(ratios)


def apart(stage: Blend) -> bool:
    """Whether each of the blend's distributions is for P or for Q alone, and each link is a blend,
    from one for P to one for Q: then any pair that is in all links is in the blend."""
    first, second = (
        {i for i, weight in enumerate(weights) if weight is not ZERO}
        for weights in (stage.p, stage.q)
    )
    links = (
        isinstance(link.stage, Blend) and link.first in first and link.second in second
        for link in stage.links
    )
    return bool(stage.links) and not first & second and all(links)
