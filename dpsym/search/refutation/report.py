"""A refutation as lines that a reader can redo by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from itertools import accumulate, pairwise

from flint import fmpq

from dpsym.events import Event
from dpsym.kernel import terms as tm
from dpsym.kernel.canon import Canon, to_term
from dpsym.kernel.definitions import Constraint, Moment, Range, Support, constraints
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.statements import (
    INTEGER,
    Assumed,
    Blend,
    Group,
    Guarantee,
    Link,
    Mechanism,
    Pair,
    Processed,
    Stage,
    singles,
)
from dpsym.kernel.terms import Term, substitute
from dpsym.printing import show
from dpsym.refutations import Atom, Output, Refutation
from dpsym.search.refutation.exact import Values, at
from dpsym.search.refutation.measures import (
    Between,
    Outcomes,
    broken,
    compared,
    decimal,
    directions,
    divergence,
    exposed,
    joint,
    joint_masses,
    measured,
    path_count,
    point,
    region_of,
)
from dpsym.search.refutation.mixtures import same_pairs

_MOST_PATHS, _MOST_OUTCOMES, _MOST_TESTS = 4, 10_000, 4
_LONG = 40  # size of a term that is not shown


def describe(refutation: Refutation) -> str:
    """The values, the distributions or the output, how the hypotheses hold, and what fails.

    Decimals are rounded so that every inequality shown is true as it stands; an equation is exact.
    ``epsilon`` and so on in the text stand for the numbers in the guarantee's name.
    """
    witness = refutation.witness
    lines = [_assignment(refutation.values) or "(no parameters)"]
    if isinstance(witness, Output):
        lines += _output(refutation, witness)
    elif isinstance(witness, Event):
        lines += _event(refutation, witness)
    else:
        lines += _stages(refutation, witness)
        lines += _violation(refutation, witness)
    return "\n".join(lines)


def _assignment(values: Values) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def plain(item: Term, values: Values) -> Term:
    """The term at the values, tidied."""
    number = at(item, values)
    try:
        return to_term(Canon()(number))
    except (Refusal, ArithmeticError):
        return number


def named(guarantee: Guarantee, values: Values) -> str:
    """The guarantee with numbers, and its direction if it has one."""
    args = ("oo" if arg is None else show(plain(arg, values)) for arg in guarantee.args)
    return f"{guarantee.name}({', '.join(args)})"


def _way(guarantee: Guarantee) -> str:
    if guarantee.two_way:
        return ""
    return " for (Q, P)" if guarantee.reverse else " for (P, Q)"


def quantity(guarantee: Guarantee, item: Constraint) -> str:
    """What the guarantee bounds, over outcomes of probabilities p and q."""
    swap = guarantee.reverse and not guarantee.two_way
    p, q = ("q", "p") if swap else ("p", "q")
    if isinstance(item, Support):
        return f"the largest {p}/{q}"
    if not isinstance(item, Moment):
        return f"the largest {p}/{q} over the least"
    texts = {
        "ApproxDP": f"max({p} - e^epsilon {q}, 0)",
        "RenyiDP": f"{p}^alpha {q}^(1 - alpha)",
        "RenyiDPBelowOne": f"{p}^alpha {q}^(1 - alpha)",
        "KLDP": f"{p} log({p}/{q})",
        "ProbabilisticDP": f"{p} where {p} > e^epsilon {q}",
    }
    return f"the sum of {texts.get(guarantee.name, f'{q} f({p}/{q})')}"


def _line(guarantee: Guarantee, value: Between, relation: str, bound: Between) -> str:
    """The comparison; below order 1 the moment is bounded from below."""
    if guarantee.name == "RenyiDPBelowOne":
        turned = {"<=": ">=", ">": "<"}[relation]
        return compared(value.negative(), turned, bound.negative())
    return compared(value, relation, bound)


# -- distributions


def _stages(refutation: Refutation, atoms: tuple[Atom, ...]) -> Iterator[str]:
    blocks: list[tuple[int, str, list[str]]] = []  # first stage, after what, the other lines
    level: dict[int, tuple[tuple[Atom, ...], list[tuple[int, ...]]]] = {id(atoms): (atoms, [()])}
    for depth, stage in enumerate(refutation.stages, 1):
        following: dict[int, tuple[tuple[Atom, ...], list[tuple[int, ...]]]] = {}
        for outcomes, paths in level.values():
            after = "" if len(level) == 1 else f" after {_several(paths)}"
            shown = (f"{i}: ({atom.p}, {atom.q})" for i, atom in enumerate(outcomes, 1))
            lines = [f"outcomes (p, q) {', '.join(shown)}"]
            pairs = [(atom.p, atom.q) for atom in outcomes]
            if isinstance(stage, Processed):
                lines += _merged(outcomes)
                pairs = [pair for atom in outcomes for pair in atom.parts or ((atom.p, atom.q),)]
            if isinstance(stage, (Assumed, Processed)):
                for guarantee in stage.guarantees:
                    lines += _held(refutation, guarantee, pairs)
            lines += _made(refutation, stage, outcomes)
            blocks.append((depth, after, lines))
            for i, atom in enumerate(outcomes, 1):
                _, reached = following.setdefault(id(atom.then), (atom.then, []))
                reached += [(*path, i) for path in paths[:_MOST_PATHS]]
        level = following
    for first, last, after, lines in _grouped(blocks):
        which = f"stage {first}" if first == last else f"each of the stages {first} to {last}"
        yield f"{which}{after}: {lines[0]}"
        yield from (f"  {line}" for line in lines[1:])


def _made(refutation: Refutation, stage: Stage, outcomes: tuple[Atom, ...]) -> Iterator[str]:
    """The distributions of a group or a blend, and what each pair of them has."""
    if not isinstance(stage, (Group, Blend)):
        return
    count = len(outcomes[0].under)
    for i in range(count):
        yield f"R{i}: {', '.join(str(atom.under[i]) for atom in outcomes)}"
    links = [link for one in same_pairs(stage) for link in one.links]
    if isinstance(stage, Group):
        links = [Link(i, i + 1, stage.stage) for i in range(count - 1)]
    told = set[str]()
    for link in links:
        inner = link.stage.stage if isinstance(link.stage, Group) else link.stage
        if isinstance(inner, Assumed):
            pairs = [(atom.under[link.first], atom.under[link.second]) for atom in outcomes]
            for guarantee in inner.guarantees:
                for line in _held(refutation, guarantee, pairs):
                    shown = f"R{link.first}, R{link.second}: {line}"
                    if shown not in told:
                        told.add(shown)
                        yield shown


def _merged(outcomes: tuple[Atom, ...]) -> Iterator[str]:
    """Which outcomes of the mechanism the post-processing makes one."""
    for i, atom in enumerate(outcomes, 1):
        if atom.parts:
            parts = " and ".join(f"({p}, {q})" for p, q in atom.parts)
            yield f"outcome {i} is what the mechanism's outcomes {parts} become"


def _grouped(blocks: list[tuple[int, str, list[str]]]) -> Iterator[tuple[int, int, str, list[str]]]:
    """The blocks with runs of the same text as one."""
    start = 0
    for i in range(1, len(blocks) + 1):
        if i == len(blocks) or blocks[i][1:] != blocks[start][1:]:
            yield blocks[start][0], blocks[i - 1][0], blocks[start][1], blocks[start][2]
            start = i


def _several(paths: list[tuple[int, ...]]) -> str:
    shown = ", ".join(_path(path) for path in paths[:_MOST_PATHS])
    more = " and so on" if len(paths) > _MOST_PATHS else ""
    return f"outcome{'s' if len(paths) > 1 else ''} {shown}{more}"


def _held(refutation: Refutation, guarantee: Guarantee, pairs: Outcomes) -> Iterator[str]:
    values = refutation.values
    if not constraints(guarantee):
        yield from _family(refutation, guarantee, pairs)
        return
    shown: list[tuple[str, str, str]] = []
    for way in directions(guarantee):
        for item in constraints(way):
            value, bound = measured(pairs, item, values)
            shown.append((_way(way), quantity(way, item), _line(way, value, "<=", bound)))
    name = named(guarantee, values)
    if len({line for _, _, line in shown}) == 1 and len(shown) > 1:
        yield f"{name} both ways: {shown[0][1]} is {shown[0][2]}"
        return
    for way_text, text, line in shown:
        yield f"{name}{way_text}: {text} is {line}"


def _family(refutation: Refutation, guarantee: Guarantee, pairs: Outcomes) -> Iterator[str]:
    """A guarantee of all orders, from finitely many of them."""
    if guarantee.name == "GDP":
        yield from _gaussian(refutation, guarantee, pairs)
        return
    values, grid = refutation.values, grid_of(refutation)
    rho, *ends = guarantee.args
    name = named(guarantee, values)
    if rho is None or not grid:
        return
    if ends:  # the first order that is at least omega is the last one that matters
        most = Between.of([ends[0]], values).high
        beyond = [i for i, order in enumerate(grid) if most is not None and order >= most]
        grid = grid[: beyond[0] + 1] if beyond else grid
    yield (
        f"{name}, by orders 1 = a_0 < a_1 < ... < a_{len(grid)} = {grid[-1]}: "
        "the divergence of order a_(k+1) is at most rho a_k, as the sum of p^a q^(1 - a) shows;"
    )
    tightest: tuple[fmpq, str] | None = None
    for last, order in pairwise((fmpq(1), *grid)):
        one = Guarantee("RenyiDP", (tm.num(order), rho * tm.num(last)))
        for way in directions(replace(guarantee, name=one.name, args=one.args)):
            for item in constraints(way):
                value, bound = measured(pairs, item, values)
                if value.high is not None and bound.low is not None and bound.low > 0:
                    room = bound.low / value.high if value.high > 0 else fmpq(10**9)
                    if tightest is None or room < tightest[0]:
                        tightest = room, f"a = {order}{_way(way)}: {compared(value, '<=', bound)}"
    if tightest is not None:
        yield f"  the closest is {tightest[1]}"
    top = replace(guarantee, name="PureDP", args=(rho * tm.num(grid[-1]),))
    for way in () if ends else directions(top):
        for item in constraints(way):
            value, bound = measured(pairs, item, values)
            text = f"{quantity(way, item)} is {compared(value, '<=', bound)}"
            yield f"  beyond them{_way(way)}: {text}"


def _gaussian(refutation: Refutation, guarantee: Guarantee, pairs: Outcomes) -> Iterator[str]:
    """The tests of largest power, none of which is better than between two Gaussians."""
    swap = guarantee.reverse and not guarantee.two_way
    ways = [(q, p) for p, q in pairs] if swap else pairs
    ranked = sorted(ways, key=lambda pair: pair[1] / pair[0] if pair[0] else fmpq(10**60))
    sums = list(accumulate(ranked, lambda one, two: (one[0] + two[0], one[1] + two[1])))
    inner = [(q, p) for p, q in sums if p and q < 1]
    p, q = ("Q", "P") if swap else ("P", "Q")
    yield (
        f"{named(guarantee, refutation.values)}, by the sets S of outcomes of the largest "
        f"{p.lower()}/{q.lower()}: {p}(S) is at most Phi(Phi^-1({q}(S)) + mu), for"
    )
    shown = ", ".join(f"({q}, {p})" for q, p in inner[:_MOST_TESTS])
    more = f" and {len(inner) - _MOST_TESTS} more" if len(inner) > _MOST_TESTS else ""
    yield f"  ({q}(S), {p}(S)) = {shown}{more}"


def grid_of(refutation: Refutation) -> tuple[fmpq, ...]:
    """The orders by which families among the hypotheses were checked."""
    orders = refutation.orders
    return orders[1:] if any(not constraints(c) for c in refutation.statement.claims) else orders


def _violation(refutation: Refutation, atoms: tuple[Atom, ...]) -> Iterator[str]:
    values, statement = refutation.values, refutation.statement
    pairs = joint_masses(atoms)
    found = broken(statement, values, pairs, refutation.orders)
    if found is None:
        yield "a claim fails"
        return
    many = len(refutation.stages) > 1
    count = path_count(atoms)
    whose = f"the joint distributions ({count} outcomes)" if many else "these distributions"
    claim = f"{named(found.claim, values)}{_way(found.claim)}"
    if found.order is not None:
        claim += f", order {found.order}"
    text = quantity(found.claim, found.constraint)
    if many and not isinstance(found.constraint, Moment) and count <= _MOST_OUTCOMES:
        text += _where(found.constraint, list(joint(atoms, fmpq(1), fmpq(1), ())))
    line = _line(found.claim, found.value, ">", found.bound)
    yield f"{whose} break {claim}: {text} is {line}"


def _where(item: Support | Range, outcomes: list[tuple[tuple[int, ...], fmpq, fmpq]]) -> str:
    """Which joint outcomes have the extreme ratios."""
    pairs = [(path, (q, p) if item.reverse else (p, q)) for path, p, q in outcomes]
    infinite = [path for path, (p, q) in pairs if p and not q]
    if infinite:
        return f" (outcome {_path(infinite[0])})"
    ratios = {path: p / q for path, (p, q) in pairs if p}
    ends = [max(ratios, key=ratios.__getitem__), min(ratios, key=ratios.__getitem__)]
    shown = [f"{ratios[path]} at {_path(path)}" for path in ends]
    return f" ({shown[0] if isinstance(item, Support) else ' and '.join(shown)})"


def _path(path: tuple[int, ...]) -> str:
    return str(path[0]) if len(path) == 1 else f"({', '.join(map(str, path))})"


# -- explicit mechanisms


def _output(refutation: Refutation, witness: Output) -> Iterator[str]:
    stage = refutation.stages[0]
    if not isinstance(stage, Mechanism):
        return
    pair = stage.pairs[witness.pair]
    region, values = region_of(refutation, witness), point(refutation, witness)
    label = f" ({pair.label})" if pair.label else ""
    if len(stage.pairs) > 1 or label:
        yield f"pair {witness.pair + 1}{label}"
    if witness.values:
        yield _assignment(witness.values)
    if region.output is not None and witness.at is not None:
        low, high = witness.at
        name = region.output
        yield f"outputs {low} <= {name} <= {high}; at {name} = {values[name]}:"
    else:
        yield f"outcome {witness.region + 1}:"
    yield f"  p = {_about(region.p, values)}, q = {_about(region.q, values)}"
    found = exposed(refutation, witness)
    which = "log(q/p)" if found.claim.reverse else "log(p/q)"
    shown = compared(found.loss, ">", found.limit)
    if found.loss.low is None:
        shown = f"infinite, more than {decimal(found.limit.high, 6, True)}"
    yield f"the loss {which} is {shown}: {named(found.claim, values)} fails"


def _about(item: Term, values: Values) -> str:
    """The term at the values, and its size."""
    number, value = plain(item, values), Between.of([item], values)
    text = decimal(value.high, 6, True)
    if number.size > _LONG:
        return f"about {text}"
    return show(number) if number.op == "num" else f"{show(number)} (about {text})"


# -- events


def _event(refutation: Refutation, witness: Event) -> Iterator[str]:
    blocks: list[tuple[int, str, list[str]]] = []
    given = {one for stage in refutation.statement.stages for one in singles(stage)}
    for depth, (stage, chosen) in enumerate(zip(refutation.stages, witness.stages, strict=True), 1):
        if not isinstance(stage, Mechanism):
            continue
        pair = stage.pairs[chosen.pair]
        lines = [f"pair {chosen.pair + 1}" + (f" ({pair.label})" if pair.label else "")]
        if chosen.values:
            lines.append(_assignment(chosen.values))
        if stage not in given:
            lines += _distributions(pair, {**refutation.values, **chosen.values})
        atoms = sum(region.output is None for region in pair.regions)
        if atoms:
            lines.append(f"all {atoms} outcomes" if atoms > 1 else "the outcome that is an atom")
        for part in chosen.parts:
            name = pair.regions[part.region].output
            spans = [f"{low} <= {name} <= {high}" for low, high in part.within]
            more = f" and {len(spans) - _MOST_PATHS} more" if len(spans) > _MOST_PATHS else ""
            lines.append(f"outputs {' or '.join(spans[:_MOST_PATHS])}{more}")
        blocks.append((depth, "", lines))
    for first, last, _, lines in _grouped(blocks):
        if len(witness.stages) > 1:
            which = f"stage {first}" if first == last else f"each of the stages {first} to {last}"
            yield f"{which}: {lines[0]}"
            yield from (f"  {line}" for line in lines[1:])
        else:
            yield from lines
    found = divergence(refutation)
    what = _bounded(found.claim)
    if len(witness.stages) > 1 and found.claim.name == "ApproxDP" and not found.exact:
        what += ", of the joint masses of these outputs,"
    name = f"{named(found.claim, refutation.values)}{_way(found.claim)}"
    order = f", order {refutation.orders[0]}," if refutation.orders else ""
    if found.value.low is None or found.bound.high is None:
        yield f"{what} is infinite: {name}{order} fails"
        return
    least = "is" if found.exact else "is at least"
    gap = decimal(found.value.low - found.bound.high, 3, False)
    shown = f"{_lower(found.value.low, found.exact)} > {_upper(found.bound)}"
    yield f"{what} {least} {shown}, by {gap}: {name}{order} fails"


def _distributions(pair: Pair, values: Values) -> Iterator[str]:
    """P and Q of what is made of others, whose own are shown with the claim."""
    for region in pair.regions:
        sizes = f"p = {_shown(region.p, values)}, q = {_shown(region.q, values)}"
        if region.output is None:
            yield f"an atom with {sizes}"
        else:
            what = "masses" if region.kind == INTEGER else "densities"
            yield f"{what} {sizes} of {region.output}"


def _shown(item: Term, values: Values) -> str:
    return show(substitute(item, {name: tm.num(value) for name, value in values.items()}))


def _bounded(claim: Guarantee) -> str:
    """What the claim bounds, in words."""
    p, q = ("q", "p") if claim.reverse else ("p", "q")
    first, second = p.upper(), q.upper()
    return {
        "PureDP": f"the largest loss log({p}/{q})",
        "BoundedRange": f"the range of the loss log({p}/{q})",
        "ApproxDP": f"the integral of max({p} - e^epsilon {q}, 0)",
        "RenyiDP": f"the Renyi divergence of {first} from {second}",
        "RenyiDPBelowOne": f"the Renyi divergence of {first} from {second}",
        "KLDP": f"the Kullback-Leibler divergence of {first} from {second}",
        "ProbabilisticDP": f"the probability, under {first}, of {p} > e^epsilon {q}",
    }.get(claim.name, f"the integral of {q} f({p}/{q})")


_DIGITS = 20


def _lower(value: fmpq, is_exact: bool) -> str:
    """The number rounded down; where it is just below a short decimal, that with what is missing.

    >>> _lower(fmpq(1, 4) - fmpq(1, 10**30), False), _lower(fmpq(5, 8), True)
    ('0.25 - 1e-30', '5/8 = 0.625')
    """
    if is_exact and value.q != 1 and value.q < 10**6:
        return f"{value} = {decimal(value, _DIGITS, False)}"
    up = decimal(value, 12, True)
    above, below = Decimal(up).as_integer_ratio()
    missing = fmpq(above, below) - value
    if 0 < missing < abs(value) / 10**18:
        return f"{up} - {decimal(missing, 1, True)}"
    return decimal(value, _DIGITS, False)


def _upper(value: Between) -> str:
    return decimal(value.high, _DIGITS, True)
