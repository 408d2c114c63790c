"""Random false statements about explicit mechanisms, with hostile parameters, for their rules.

An attack starts from a statement of which a rule is part of a proof, damages the statement until it
is clearly false at a point by ``densities``, and damages the rule's parameters. If the rule accepts
that, a premise must be false: a sequent at the point and at some output or likelihood ratio, or a
statement at the point and at some value of its new variables.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import islice, product
from typing import Any

import numpy as np
from flint import fmpq

from dpsym.kernel.proofs import Proof, step
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules_mechanisms import Limit, Mass, Piece, Slack
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import (
    INTEGER,
    RATIO,
    REAL,
    Fact,
    Guarantee,
    Mechanism,
    Pair,
    Region,
    Statement,
)
from dpsym.kernel.terms import (
    ONE,
    PI,
    ZERO,
    Term,
    atan,
    exp,
    lgamma,
    log,
    num,
    power,
    sqrt,
    substitute,
    subterms,
    var,
)
from tests.soundness.densities import array, is_false, is_mechanism, true
from tests.soundness.hostile_leaf import Source
from tests.soundness.values import Undefined, Unsure, fails, holds, value

RULES = ("pairs", "either", "named", "equal", "pointwise", "integral", "masses", "distributions")
RULES += ("series",)
Base = tuple[Statement, dict[str, Any]]
At = dict[str, Fraction]
OUTPUTS = [
    *(Fraction(k, 8) for k in range(-64, 65)),
    *(Fraction(k) for k in range(9, 40)),
    *(-Fraction(k) for k in range(9, 40)),
    *(Fraction(sign * 10**k) for sign in (1, -1) for k in range(2, 5)),
]
NEAR = [Fraction(sign, 10**k) for sign in (1, -1) for k in range(1, 7)]
RATIOS = [*(Fraction(k, 8) for k in range(1, 48)), *(Fraction(1, 10**k) for k in range(1, 9))]
RATIOS += [Fraction(10**k) for k in range(1, 9)]


@dataclass
class Attempt:
    goal: Statement
    at: At
    parameters: dict[str, Any]


# -- where attacks start


@lru_cache(maxsize=1)
def bases() -> dict[str, list[Base]]:
    """For each rule, goals with parameters that are part of a proof."""
    found: dict[str, list[Base]] = {rule: [] for rule in RULES}
    for goal, proof in (*_proofs(), *_by_hand()):
        todo = [(goal, proof)]
        while todo:
            goal, proof = todo.pop()
            if proof.rule in found:
                found[proof.rule].append((goal, dict(proof.parameters)))
            premises = step(goal, proof.rule, proof.parameters)
            for premise, inner in zip(premises, proof.premises, strict=False):
                if isinstance(premise, Statement):
                    todo.append((premise, inner))
    for rule, own in found.items():
        assert own, f"no attack starts from {rule}"
        found[rule] = [base for i, base in enumerate(own) if base not in own[:i]]
    return found


def _proofs() -> list[tuple[Statement, Proof]]:
    """Proofs of known divergences."""
    import sympy as sp

    import dpsym as dp

    b, size, a = sp.symbols("b Delta alpha", positive=True)
    e = sp.symbols("epsilon", nonnegative=True)
    k = sp.symbols("k", integer=True, positive=True)
    laplace = dp.AdditiveNoise(dp.noise.Laplace(scale=b), sensitivity=size)
    gaussian = dp.AdditiveNoise(dp.noise.Gaussian(sigma=b), sensitivity=size)
    response = dp.RandomizedResponse(e, categories=k)
    kept = sp.exp(e) + k - 1
    verdicts = [
        dp.check(laplace, dp.PureDP(size / b)),
        dp.check(laplace, dp.RenyiDP(1, size / b + sp.exp(-size / b) - 1)),
        dp.check(gaussian, dp.RenyiDP(a, a * size**2 / (2 * b**2)), where=[a > 1]),
        dp.check(gaussian, dp.ApproxDP(0, 1 - sp.erfc(size / (2 * sp.sqrt(2) * b)))),
        dp.check(response, dp.ApproxDP(0, (sp.exp(e) - 1) / kept), [k >= 2]),
    ]
    theorems = [v.theorem.proved for v in verdicts if isinstance(v, dp.Proved)]
    return [(theorem.statement, theorem.proof) for theorem in theorems]


def _by_hand() -> Iterator[tuple[Statement, Proof]]:
    """One rule each: its premises are true, but their proofs are left out."""
    x, b, n, t, half = var("x"), var("b"), var("n"), var(RATIO), num(1) / 2
    positive, beyond = (Fact(b, ">"),), (Fact(x, ">="),)
    unit = (Fact(x, ">="), Fact(1 - x, ">="))

    def about(
        claim: Guarantee,
        *regions: Region,
        variables: tuple[tuple[str, str], ...] = (("b", REAL),),
        facts: tuple[Fact, ...] = positive,
        **more: Any,
    ) -> Statement:
        return Statement(variables, facts, (Mechanism((Pair(regions, **more),)),), (claim,))

    def fading(rate: Term, power_: int = 0) -> Limit:
        return Limit(ZERO, tuple(Slack(num(9), "exp", i, rate, ZERO) for i in range(power_ + 1)))

    def moment(f: Term, bound: Term, ray: Term | None = None) -> Guarantee:
        return Guarantee("MomentBound", (f, ray, bound), False)

    fast = Region(b * exp(-b * x), 2 * b * exp(-2 * b * x), "x", beyond)
    slow = -(b * x + 1 - log(num(2))) * exp(-b * x)
    low = (ONE, num(-1))
    tail = Piece(slow, last=fading(b, 1))
    kl = Guarantee("KLDP", (1 - log(num(2)),), False)
    yield about(kl, fast), Proof("integral", {"low": low, "pieces": ((tail,),)})
    overlap = 2 * sqrt(num(2)) / 3  # of the square roots; the claim's function is negative
    affinity = Guarantee("RenyiDPBelowOne", (half, -2 * log(overlap)), False)
    rest = Piece(overlap * exp(-3 * b * x / 2), last=fading(b))
    signs = {"variables": (("b", REAL), ("c", REAL)), "facts": (*positive, Fact(-var("c"), ">"))}
    yield (
        about(affinity, fast, **signs),
        Proof("integral", {"low": (num(-1), num(-1)), "pieces": ((rest,),)}),
    )
    flat = Region(ONE, 2 * x, "x", unit)
    square = Region(2 * x, ONE, "x", unit)
    yield (
        about(Guarantee("RenyiDP", (num(2), log(num(4) / 3)), False), square),
        Proof("integral", {"low": (ZERO, ZERO), "pieces": ((Piece(4 * power(x, 3) / 3),),)}),
    )
    halves = (Piece(x - power(x, 2), until=half), Piece(num(1) / 4))
    yield (
        about(Guarantee("ApproxDP", (ZERO, num(1) / 4), False), flat),
        Proof("integral", {"low": (ZERO, ZERO), "pieces": (halves,)}),
    )
    cauchy = 1 / (PI * (1 + power(x, 2)))
    ends = (
        Limit(-half, (Slack(ONE, "inverse", -1, ONE, ZERO),)),
        Limit(half, (Slack(ONE, "inverse", -1, ONE, ZERO),)),
    )
    yield (
        about(moment(t, ONE), Region(cauchy, cauchy, "x")),
        Proof("integral", {"low": (ZERO, ZERO), "pieces": ((Piece(atan(x) / PI, None, *ends),),)}),
    )
    quarter = sqrt(sqrt(x))
    spike = num(3) / 4 / quarter
    near_zero = Region(spike, spike, "x", (Fact(x, ">"), Fact(1 - x, ">=")))
    start = Limit(ZERO, (Slack(ONE, "inverse", -1, ONE, ZERO),))
    grown = Piece(sqrt(x) * quarter, first=start)
    yield (
        about(moment(t, ONE), near_zero),
        Proof("integral", {"low": (ZERO, ZERO), "pieces": ((grown,),)}),
    )
    mass = (1 - exp(-b)) * exp(-b * x)
    ratio = Region(mass, mass, "x", beyond, kind=INTEGER)
    steps = (Piece(-exp(-b * x), last=fading(b)),)
    yield (
        about(moment(t, ONE), ratio),
        Proof("integral", {"low": (ZERO, ZERO), "pieces": (steps,)}),
    )
    down = (Piece(exp(-b * x), last=fading(b)),)
    yield (
        about(Guarantee("Distributions", ()), ratio),
        Proof("distributions", {"pieces": ((steps, down, steps, down),)}),
    )
    several = (Fact(x, ">="), Fact(n - 1 - x, ">="))
    whole = {"variables": (("b", REAL), ("n", INTEGER)), "facts": (*positive, Fact(n - 1, ">="))}
    uniform = Region(1 / n, 2 * (x + 1) / (n * (n + 1)), "x", several, kind=INTEGER)
    yield (
        about(moment(ONE, ONE, ZERO), uniform, **whole),
        Proof(
            "integral", {"low": (ZERO, ZERO), "pieces": ((Piece(x * (x + 1) / (n * (n + 1))),),)}
        ),
    )
    mixed = (
        Region(half, num(1) / 3, weight=ONE),
        Region(half * b * exp(-b * x), num(2) / 3 * b * exp(-b * x), "x", beyond),
    )
    atom, rest = (Piece(ZERO),), (Piece(ZERO, last=Limit(ZERO)),)
    yield (
        about(Guarantee("ApproxDP", (ZERO, num(1) / 6), False), *mixed),
        Proof("integral", {"low": (ZERO, ZERO), "pieces": (atom, rest)}),
    )
    bell = Region(exp(-power(x, 2)) / sqrt(PI), exp(-power(x - b, 2)) / sqrt(PI), "x")
    second = Guarantee("RenyiDP", (num(2), 2 * power(b, 2)), False)
    moved = Mass(exp(2 * power(b, 2)), "p", -b, ONE, ())
    yield about(second, bell), Proof("masses", {"masses": (moved,), "mirror": None})
    centred = {"masses": (Mass(power(b, 2), "p", ZERO, ONE, ()),), "mirror": (ZERO, low)}
    yield about(Guarantee("KLDP", (power(b, 2),), False), bell), Proof("masses", centred)
    other = Region(b * exp(-b * x), 2 * b * exp(-2 * b * x), "x", beyond)
    doubled = Guarantee("MomentBound", (power(t, -1), ZERO, num(4) / 3), False)
    yield (
        about(doubled, other),
        Proof(
            "masses",
            {"masses": (Mass(num(4) / 3, "p", ZERO, ONE, (("b", 3 * b),)),), "mirror": None},
        ),
    )
    unknown = replace(bell, p=3 * bell.p, q=3 * bell.q)
    yield (
        about(second, unknown, normalised=False),
        Proof("masses", {"masses": (moved,), "mirror": None}),
    )
    integer_bell = Region(exp(-power(x, 2)), exp(-power(x - n, 2)), "x", kind=INTEGER)
    yield (
        about(
            Guarantee("RenyiDP", (num(2), 2 * power(n, 2)), False),
            integer_bell,
            normalised=False,
            **whole,
        ),
        Proof(
            "masses", {"masses": (Mass(exp(2 * power(n, 2)), "p", -n, ONE, ()),), "mirror": None}
        ),
    )
    natural = {"variables": (("b", REAL), ("c", REAL)), "facts": (*positive, Fact(var("c"), ">"))}

    def poisson(mean: Term) -> Term:
        return exp(x * log(mean) - mean - lgamma(x + 1))

    counts = Region(poisson(b), poisson(var("c")), "x", beyond, kind=INTEGER)
    yield (
        about(Guarantee("Distributions", ()), counts, **natural),
        Proof("series", {"parameters": (b, var("c"))}),
    )
    change = log(b / var("c"))
    late = Mass(b * change, "p", ONE, ONE, ()), Mass(var("c") - b, "p", ZERO, ONE, ())
    yield (
        about(Guarantee("KLDP", (b * change + var("c") - b,), False), counts, **natural),
        Proof("masses", {"masses": late, "mirror": None}),
    )

    def binomial(chance: Term) -> Term:
        chosen = lgamma(n + 1) - lgamma(x + 1) - lgamma(n + 1 - x)
        return exp(chosen + x * log(chance) + (n - x) * log(1 - chance))

    trials = Region(binomial(b), binomial(half), "x", (*beyond, Fact(n - x, ">=")), kind=INTEGER)
    below = (*positive, Fact(1 - b, ">"), Fact(n, ">="))
    yield (
        about(Guarantee("Distributions", ()), trials, **{**whole, "facts": below}),
        Proof("series", {"parameters": (b, half)}),
    )
    for item in (b, b / 2, power(b, 2) + half):
        for kind in ("integer", "real"):
            yield about(kl, fast), Proof("named", {"name": "m", "value": item, "kind": kind})
    c = var("c")
    same = (*positive, Fact(c - b, ">="), Fact(b - c, ">="))
    both = about(kl, fast, variables=(("b", REAL), ("c", REAL)), facts=same)
    yield both, Proof("equal", {"name": "c", "value": b})


# -- damage to statements


def _swap(region: Region) -> Region:
    return replace(region, p=region.q, q=region.p)


def _new_goal(source: Source, goal: Statement) -> Statement:
    """The statement, changed in one way."""
    (claim,), stage = goal.claims[:1], goal.stages[0]
    assert isinstance(stage, Mechanism)
    change = source.randrange(11)
    if claim.name == "Distributions":
        change = source.choice((7, 8, 10, 10, 10))
    if change <= 3 and claim.args:
        index = source.randrange(len(claim.args))
        old = claim.args[index]
        new = None if old is None else _other_term(source, old, _names(goal))
        args = (*claim.args[:index], new, *claim.args[index + 1 :])
        return replace(goal, claims=(replace(claim, args=args), *goal.claims[1:]))
    if change == 4:
        turned = replace(claim, reverse=not claim.reverse)
        return replace(goal, claims=(turned, *goal.claims[1:]))
    if change == 5 and goal.facts:
        gone = source.randrange(len(goal.facts))
        return replace(goal, facts=(*goal.facts[:gone], *goal.facts[gone + 1 :]))
    return replace(goal, stages=(Mechanism(_new_pairs(source, goal, stage.pairs, change)),))


def _new_pairs(
    source: Source, goal: Statement, pairs: tuple[Pair, ...], change: int
) -> tuple[Pair, ...]:
    index = source.randrange(len(pairs))
    pair = pairs[index]
    regions, names = pair.regions, _names(goal)
    if change == 6:
        pair = replace(pair, regions=tuple(map(_swap, regions)))
    elif change == 7 and names:  # one density at other parameters
        name = source.choice(names)
        mapping = {name: _other_term(source, var(name), names)}
        side = source.choice(("p", "q", "pq"))

        def moved(region: Region) -> Region:
            p = substitute(region.p, mapping) if "p" in side else region.p
            q = substitute(region.q, mapping) if "q" in side else region.q
            return replace(region, p=p, q=q)

        pair = replace(pair, regions=tuple(map(moved, regions)))
    elif change == 8:  # a region that is empty, at least where a parameter is negative
        name = var(source.choice(names)) if names else num(-1)
        output = next((region.output for region in regions if region.output), "x")
        x = var(output)
        ends = (
            (x - 3 * sqrt(power(name, 2)), 2 * name - x),
            (x - name, -name - x),
            (x - 1, -x),
            (x, name - x),
        )
        facts = tuple(Fact(item, ">=") for item in source.choice(ends))
        p, q = source.choice(((ONE, ONE), (ONE, num(2)), (num(5), ONE)))
        kind = source.choice((REAL, INTEGER))
        pair = replace(pair, regions=(*regions, Region(p, q, output, facts, kind=kind)))
    elif change == 9:
        factor = source.choice((2, fmpq(1, 3)))
        scaled = tuple(replace(one, p=factor * one.p, q=factor * one.q) for one in regions)
        pair = replace(pair, regions=scaled, normalised=False)
    elif pair.facts and change < 10:
        gone = source.randrange(len(pair.facts))
        pair = replace(pair, facts=(*pair.facts[:gone], *pair.facts[gone + 1 :]))
    else:
        pair = replace(pair, regions=_new_regions(source, regions, names))
    return (*pairs[:index], pair, *pairs[index + 1 :])


def _with_empty_region(source: Source, goal: Statement) -> Statement:
    (stage,) = goal.stages
    assert isinstance(stage, Mechanism)
    return replace(goal, stages=(Mechanism(_new_pairs(source, goal, stage.pairs, 8)),))


def _new_regions(
    source: Source, regions: tuple[Region, ...], names: list[str]
) -> tuple[Region, ...]:
    """One of them with another density, another end, another kind, or gone."""
    index = source.randrange(len(regions))
    region = regions[index]
    what = source.choice(("p", "q", "facts", "kind", "weight", "gone"))
    if what == "gone" and len(regions) > 1:
        return (*regions[:index], *regions[index + 1 :])
    if what == "facts" and region.facts:
        end = source.randrange(len(region.facts))
        shift = source.choice(
            (num(fmpq(1, 2)), num(1), num(-1), var(source.choice(names or ["x"])))
        )
        moved = Fact(region.facts[end].term + shift, region.facts[end].rel)
        changed = replace(region, facts=(*region.facts[:end], moved, *region.facts[end + 1 :]))
    elif what == "kind":
        changed = replace(region, kind=INTEGER if region.kind == REAL else REAL)
    elif what == "weight":
        weight = source.choice((num(2), num(-1), num(fmpq(1, 2)), None))
        changed = replace(region, weight=None if region.output else weight)
    else:
        density = region.p if what == "q" else region.q
        other = _other_term(source, density, names)
        changed = replace(region, p=other) if what == "p" else replace(region, q=other)
    return (*regions[:index], changed, *regions[index + 1 :])


def _names(goal: Statement) -> list[str]:
    return [name for name, _ in goal.variables]


def _other_term(source: Source, item: Term, names: list[str]) -> Term:
    """A term near the old one, or quite another."""
    parts = [part for part in subterms(item) if part.size < max(item.size, 2)]
    factor = source.choice((fmpq(1, 2), fmpq(9, 10), 2, -1, 0, fmpq(11, 10), fmpq(3, 4)))
    fresh = var(source.choice([*names, "x", RATIO, "stranger"]) if names else "x")
    return source.choice(
        (
            factor * item,
            factor * item,
            item + source.choice((fmpq(-1, 2), fmpq(-1, 10), 1, fmpq(1, 10))),
            source.choice(parts) if parts else item,
            item * fresh,
            item - fresh,
            fresh,
            1 / item,
            power(item, 2),
            num(source.choice((0, 1, -1, 2, fmpq(1, 2)))),
        )
    )


# -- damage to parameters


def _other(source: Source, value: Any, names: list[str]) -> Any:
    """The parameter, changed in one place."""
    if isinstance(value, Term):
        return _other_term(source, value, names)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + source.choice((1, -1, 2, -2 * value))
    if isinstance(value, str):
        options = ("p", "q", "", "exp", "bell", "erfc", "inverse", *names, "x", "u", "m")
        return source.choice(options)
    if value is None:
        return source.choice(
            (
                None,
                num(source.choice((0, 1, -1, 5))),
                Limit(num(source.choice((0, 1, -1)))),
                Limit(ZERO, (Slack(ONE, "exp", 0, ONE, ZERO),)),
                (num(source.choice((0, 1))), source.choice((None, (num(-1), num(-1))))),
            )
        )
    if isinstance(value, tuple):
        return _other_list(source, value, names)
    if source.random() < 0.15 and isinstance(value, Limit):
        return None
    name = source.choice([part.name for part in dataclasses.fields(value)])
    return replace(value, **{name: _other(source, getattr(value, name), names)})


def _other_list(source: Source, value: tuple[Any, ...], names: list[str]) -> tuple[Any, ...]:
    if not value:
        return value
    index = source.randrange(len(value))
    kind = source.randrange(12)
    if kind == 0:
        return (*value[:index], *value[index + 1 :])
    if kind == 1:
        return (*value, value[index])
    if kind == 2:
        return value[::-1]
    return (*value[:index], _other(source, value[index], names), *value[index + 1 :])


# -- falsity


def _floats(at: At) -> dict[str, float]:
    return {name: float(number) for name, number in at.items()}


def _candidates(at: At) -> list[Fraction]:
    known = [*at.values()][::-1]  # the latest first
    more = [-number for number in known] + [Fraction(math.floor(number)) for number in known]
    sums = [a + b for a in known for b in known] + [a - b for a in known for b in known]
    common = [*map(Fraction, range(-3, 13)), Fraction(5, 4), Fraction(3, 2)]
    return list(dict.fromkeys([*known, *more, *common, *sums]))[:60]


def witness(goal: Statement, at: At) -> At | None:
    """Values of the pair's variables beside at which a claim is false; raises ``Unsure``."""
    kinds = dict(goal.variables)
    whole = all(at[name].denominator == 1 for name, kind in kinds.items() if kind == INTEGER)
    if not whole or not all(holds(fact, dict(at)) for fact in goal.facts):
        return None
    (stage,) = goal.stages
    assert isinstance(stage, Mechanism)
    for pair in stage.pairs:
        for inner in islice(_values(pair.variables, at), 80):
            here = {**at, **inner}
            if not all(holds(fact, dict(here)) for fact in pair.facts):
                continue
            if any(is_false(claim, pair, _floats(here)) for claim in goal.claims):
                return here
    return None


def _values(variables: tuple[tuple[str, str], ...], at: At) -> Iterator[At]:
    options = [
        [number for number in _candidates(at) if kind == REAL or number.denominator == 1]
        for _, kind in variables
    ]
    for chosen in product(*options):
        yield dict(zip((name for name, _ in variables), chosen, strict=True))


def _everywhere(source: Source, goal: Statement, at: At) -> bool:
    """Whether the pairs are distributions at a few other values of the parameters as well, as a
    rule may use their mass there."""
    (stage,) = goal.stages
    assert isinstance(stage, Mechanism)
    if goal.claims[0].name == "Distributions":
        return True
    for _ in range(3):
        sizes = (1, 2, Fraction(1, 2), 3, -1)
        other = {name: number * source.choice(sizes) for name, number in at.items()}
        if not _facts_hold(goal.facts, other):
            continue
        for pair in stage.pairs:
            if not pair.variables and not is_mechanism(pair, _floats(other)):
                return False
    return True


def _facts_hold(facts: tuple[Fact, ...], at: At) -> bool:
    try:
        return all(holds(fact, dict(at)) for fact in facts)
    except (Undefined, Unsure):
        return False


def _is_false_premise(premise: Any, at: At) -> bool:
    if isinstance(premise, Sequent):
        return _is_false_sequent(premise, at)
    new = tuple(pair for pair in premise.variables if pair[0] not in at)
    unsure = False
    for inner in islice(_values(new, at), 200):
        try:
            names = _names(premise)
            here = {name: n for name, n in {**at, **inner}.items() if name in names}
            if witness(premise, _kept(here, at)) is not None:
                return True
        except (Undefined, Unsure):
            unsure = True
    if unsure:
        raise Unsure
    return False


def _kept(here: At, at: At) -> At:
    """With the values of the pairs' variables that made the goal false, as candidates."""
    return {**at, **here}


def _is_false_sequent(premise: Sequent, at: At) -> bool:
    new = sorted(premise.vars - set(at))
    if len(new) > 1:
        raise Unsure
    if not new:
        return fails(premise, dict(at))
    places = _places(new[0], at)
    env = {**_floats(at), new[0]: np.array([float(place) for place in places])}
    with np.errstate(all="ignore"):
        held = np.broadcast_to(true(premise.hypotheses, env), (len(places),))
        number = np.broadcast_to(array(premise.goal.term, env), (len(places),))
        scale = 1e-11 * (1 + np.abs(number))
        low = np.abs(number) < 1e-9 if premise.goal.rel == "!=" else number < scale
    first = [places[i] for i in np.nonzero(held & low)[0]]
    first.sort(key=lambda place: abs(place))
    wide = sorted(first, key=lambda place: number[places.index(place)])
    unsure = False
    for place in dict.fromkeys([*wide[:4], *first[:8], *first[-4:]]):
        try:
            if fails(premise, {**at, new[0]: place}):
                return True
        except Unsure:
            unsure = True
    if unsure:
        raise Unsure
    return False


def _places(name: str, at: At) -> list[Fraction]:
    special = _candidates(at)
    if name == RATIO:
        return [*RATIOS, *(number for number in special if number > 0)]
    halves = [number / 2 for number in special]
    close = [place + step for place in special[:14] for step in NEAR]
    return list(dict.fromkeys([*special, *halves, *OUTPUTS, *close]))


def _named_value(item: Term, kind: str, at: At) -> Fraction:
    try:
        found = value(item, dict(at))
    except (Undefined, Unsure):
        return Fraction(0)
    exact = found if isinstance(found, Fraction) else Fraction(int(found.middle))
    return exact if kind == "real" else Fraction(math.floor(exact))


# -- one attack


def _attempt(rule: str, source: Source) -> Attempt | None:
    """A statement that is false at a point, and parameters of the rule."""
    start, parameters = source.choice(bases()[rule])
    for _ in range(source.choice((0, 0, 1, 1, 2))):
        if parameters:
            key = source.choice(sorted(parameters))
            parameters = {**parameters, key: _other(source, parameters[key], _names(start))}
    for _ in range(12):
        goal = start
        for _ in range(source.choice((1, 1, 2, 3))):
            goal = _new_goal(source, goal)
        if rule in ("integral", "distributions") and source.random() < 0.25:
            goal = _with_empty_region(source, goal)
        at = random_point(source, goal)
        try:
            found = witness(goal, at)
            if found is not None and _everywhere(source, goal, at):
                return Attempt(goal, found, _fitted(source, goal, parameters))
        except (Undefined, Unsure, OverflowError):
            continue
    return None


def _fitted(source: Source, goal: Statement, parameters: dict[str, Any]) -> dict[str, Any]:
    """With pieces for regions that the statement did not have."""
    (stage,) = goal.stages
    assert isinstance(stage, Mechanism)
    if "pieces" not in parameters or len(stage.pairs) != 1:
        return parameters
    rows, four = parameters["pieces"], goal.claims[0].name == "Distributions"
    for region in stage.pairs[0].regions[len(rows) :]:
        slopes = [num(source.choice((0, 1, -1, 2, 5, -2))) for _ in range(4)]
        own = [(Piece(slope * var(region.output or "x")),) for slope in slopes]
        rows = (*rows, tuple(own) if four else own[0])
    return {**parameters, "pieces": rows}


def random_point(source: Source, goal: Statement) -> At:
    """Values of the variables; the facts need not hold there."""
    sizes = [Fraction(n, 4) for n in (1, 2, 3, 4, 5, 6, 8, 10)]
    if source.random() < 0.3:
        sizes = [source.choice(sizes)]
    return {
        name: Fraction(source.choice((1, 2, 3, 0, -1)))
        if kind == INTEGER
        else source.choice(sizes) * source.choice((1, 1, 1, 1, -1, 0))
        for name, kind in goal.variables
    }


def attack(rule: str, source: Source) -> tuple[str, Attempt | None]:
    """As in ``hostile_leaf``."""
    try:
        made = _attempt(rule, source)
    except Refusal:  # a term that is too large, say
        return "skipped", None
    if made is None:
        return "skipped", None
    try:
        from dpsym.kernel.rules_privacy import statement_obligations

        statement_obligations(made.goal)  # is it well formed?
        premises = step(made.goal, rule, made.parameters)
    except Refusal:
        return "refused", made
    if rule == "named":  # a value of the new variable that one would not guess
        kind, item = made.parameters["kind"], made.parameters["value"]
        made.at["$named"] = _named_value(item, kind, made.at)
    unsure = False
    for premise in sorted(premises, key=lambda one: not isinstance(one, Sequent)):
        try:
            if _is_false_premise(premise, made.at):
                return "applied", made
        except (Unsure, Undefined, OverflowError):
            unsure = True
    return ("undecided" if unsure else "UNSOUND"), made


def agrees(goal: Statement, rule: str, parameters: dict[str, Any], at: At) -> bool:
    """Whether the facts hold at the point, where then no claim is false, and no sequent that is a
    premise; raises AssertionError."""
    if not _facts_hold(goal.facts, at):
        return False
    try:
        assert witness(goal, at) is None, f"a false goal: {goal} at {at}"
        for premise in step(goal, rule, parameters):
            false = isinstance(premise, Sequent) and _is_false_sequent(premise, at)
            assert not false, f"a false premise: {premise} at {at}"
    except (Undefined, Unsure):
        return False
    return True
