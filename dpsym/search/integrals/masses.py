"""Integrals by densities of known mass: the integrand is one density, moved and multiplied."""

from __future__ import annotations

from typing import Any

from dpsym.kernel import canon as cn
from dpsym.kernel import terms as tm
from dpsym.kernel.canon import Canon, Poly
from dpsym.kernel.definitions import Form
from dpsym.kernel.refusal import Refusal, TooLarge
from dpsym.kernel.rules_mechanisms import Mass, homogeneous
from dpsym.kernel.rules_privacy import is_integer
from dpsym.kernel.sequents import context, with_facts
from dpsym.kernel.statements import INTEGER, Fact, Pair, Region, Statement
from dpsym.kernel.terms import ONE, ZERO, Term, num, substitute, var
from dpsym.search.integrals.summands import coefficients, summands

__all__ = ["mass_plan", "series_plan"]

Plan = dict[str, Any]
_MOST_DELAY = 8


def mass_plan(
    goal: Statement,
    pair: Pair,
    form: Form,
    swap: bool,
    mirror: bool = False,
    below: tuple[Term, Term] | None = None,
) -> Plan | None:
    """One mass whose density, moved or at other parameters, is the integrand; or None.

    With ``mirror``, the mean of the integrand at both sides of the centre of p, a symmetric law."""
    if len(pair.regions) != 1 or form.f.kinked or pair.regions[0].output is None:
        return None
    (region,) = pair.regions
    p, q = (region.q, region.p) if swap else (region.p, region.q)
    canon = context(with_facts(goal.facts, *region.facts)).canon
    value = homogeneous(form.f, p, q)
    try:
        if mirror:
            return _mirrored(goal, region, canon, p, value, below)
        logs = canon(tm.log(value)), canon(tm.log(region.q))
        found = _moved(goal, region, canon, *logs) if not region.facts else None
        if found is None and pair.normalised:
            found = _at_other_parameters(goal, region, canon, *logs)
        sized = None if found is None else _sized(canon, region, value, found)
        if sized is None and region.kind == INTEGER and region.facts:
            sized = _delayed(goal, region, value)
        return None if sized is None else {"masses": sized, "mirror": None}
    except (Refusal, TooLarge):
        return None


def _mirrored(
    goal: Statement,
    region: Region,
    canon: Canon,
    p: Term,
    value: Term,
    below: tuple[Term, Term] | None,
) -> Plan | None:
    x = var(region.output or "")
    own = coefficients(canon, canon(tm.log(p)), x)
    if own is None or len(own) != 3 or region.facts:
        return None
    centre = canon.normal(-own[1] / own[2])
    if not _may_move(goal, region, centre):
        return None
    other = substitute(value, {str(x.value): centre - x})
    parts = summands(canon, canon((value + other) / 2), x)
    density, found = "p" if p is region.p else "q", []
    for part in parts or ():
        if part.power or len(part.exponent) != 2:
            return None
        shift = canon.normal((own[1] - part.exponent[0]) / (2 * own[2]))
        moved = substitute(p, {str(x.value): x - shift})
        size = canon.normal(part.term(x) / moved)
        if region.output in size.vars or not _may_move(goal, region, shift):
            return None
        found.append(Mass(size, density, shift, ONE, ()))
    return {"masses": tuple(found), "mirror": (centre, below)} if found else None


def _may_move(goal: Statement, region: Region, shift: Term) -> bool:
    return region.kind != INTEGER or is_integer(shift, dict(goal.variables))


def _sized(canon: Canon, region: Region, value: Term, mass: Mass) -> tuple[Mass, ...] | None:
    """The mass times the factor by which the integrand exceeds it, if that is a constant."""
    x = var(region.output or "")
    at = {**dict(mass.mapping), str(x.value): mass.scale * (x - mass.shift)}
    size = canon.normal(value / (mass.scale * substitute(region.q, at)))
    if region.output in size.vars:
        size = _without(canon, size, x)
    if region.output in size.vars:
        return None
    return (Mass(size, "q", mass.shift, mass.scale, mass.mapping),)


def _delayed(goal: Statement, region: Region, value: Term) -> tuple[Mass, ...] | None:
    """Masses that begin later: those of a law for which r(x - s)/r(x) is a polynomial of degree s,
    such as a Poisson law, if the integrand is r(x) times a polynomial."""
    x, ends = var(region.output or ""), _ends(goal, region)
    later = set(ends) == {True}
    beyond = [Fact(x - ends[True] - _MOST_DELAY, ">=")] if later else []
    canon = context(with_facts(goal.facts, *region.facts, *beyond)).canon
    for density, law in (("p", region.p), ("q", region.q)):
        left, found = coefficients(canon, canon(value / law), x), []
        if left is None or len(left) > (_MOST_DELAY if later else 1):
            continue
        rest = dict(enumerate(left))
        for shift in reversed(range(len(left))):
            moved = substitute(law, {str(x.value): x - shift})
            ratio = coefficients(canon, canon(moved / law), x)
            if ratio is None or len(ratio) != shift + 1:
                break
            size = canon.normal(rest[shift] / ratio[shift])
            rest = {i: rest[i] - size * ratio[i] for i in range(shift)}
            found.append(Mass(size, density, num(shift), ONE, ()))
        else:
            return tuple(mass for mass in found if mass.coefficient is not ZERO)
    return None


def _without(canon: Canon, size: Term, x: Term) -> Term:
    """The same without the output, if its logarithm is free of that as a rational function."""
    form = canon(tm.log(size))
    moving = {mono: value for mono, value in form.items() if x.value in cn.mono_term(mono).vars}
    if not canon.is_zero(moving):
        return size
    return canon.normal(tm.exp(cn.to_term(cn.plus(form, moving, -1))))


def _moved(
    goal: Statement, region: Region, canon: Canon, value: Poly, density: Poly
) -> Mass | None:
    """A normal law, shifted and scaled."""
    x = var(region.output or "")
    target, own = coefficients(canon, value, x), coefficients(canon, density, x)
    if target is None or own is None or len(target) != 3 or len(own) != 3:
        return None
    scale: Term = ONE
    if canon.normal(target[2] - own[2]) is not ZERO:
        if region.kind == INTEGER:
            return None
        scale = canon.normal(tm.sqrt(target[2] / own[2]))
    shift = canon.normal((scale * own[1] - target[1]) / (2 * target[2]))
    return Mass(ONE, "q", shift, scale, ()) if _may_move(goal, region, shift) else None


def _at_other_parameters(
    goal: Statement, region: Region, canon: Canon, value: Poly, density: Poly
) -> Mass | None:
    """A member of an exponential family: one parameter such that the logarithms are the same
    functions of the output."""
    target, own = _parts(value, region), _parts(density, region)
    if target is None or own is None or set(target) != set(own):
        return None
    different = [m for m in own if not canon.is_zero(cn.plus(target[m], own[m], -1))]
    mapping: tuple[tuple[str, Term], ...] = ()
    for part in different:
        solved = _solved(canon, own[part], target[part], dict(goal.variables))
        if solved is None or solved[0] in dict(mapping):
            return None
        mapping = (*mapping, solved)
    return Mass(ONE, "q", ZERO, ONE, mapping) if mapping else None


def _parts(form: Poly, region: Region) -> dict[cn.Monomial, Poly] | None:
    """The coefficients of the functions of the output that are added up, without the constant."""
    name = region.output or ""
    out: dict[cn.Monomial, Poly] = {}
    for (exponent, atoms), value in form.items():
        moving = frozenset((item, k) for item, k in atoms if name in item.vars)
        if any(name in cn.mono_term((frozenset([pair]), frozenset())).vars for pair in exponent):
            return None
        if moving:
            rest = (exponent, atoms - moving)
            out.setdefault((frozenset(), moving), {})[rest] = value
    return out


def _solved(
    canon: Canon, own: Poly, target: Poly, kinds: dict[str, str]
) -> tuple[str, Term] | None:
    """The parameter a, and its value, for which log(a) + c or log(1 - a) + c is the target."""
    for mono, value in own.items():
        item = cn.lone(mono, "log")
        if item is None or value != 1:
            continue
        inner, rest = item.args[0], cn.to_term(cn.plus(own, {mono: value}, -1))
        wanted = canon.normal(tm.exp(cn.to_term(target) - rest))
        for name in inner.vars - rest.vars:
            if kinds.get(name) == INTEGER:
                continue
            if inner is var(name):
                return name, wanted
            if canon.is_zero(canon(inner - (1 - var(name)))):
                return name, 1 - wanted
    return None


def series_plan(goal: Statement, pair: Pair) -> Plan | None:
    """The parameters of two Poisson laws, or of two binomial laws, from the ratio of the masses at
    one and at zero."""
    (region, *others) = pair.regions
    if others or region.kind != INTEGER or not region.facts:
        return None
    name, ends, found = region.output or "", _ends(goal, region), []
    for law in (region.p, region.q):
        first, second = (substitute(law, {name: num(i)}) for i in (0, 1))
        ratio = second / first
        found.append(ratio if False not in ends else ratio / (ratio + ends[False]))
    canon = context(goal.facts).canon
    return {"parameters": tuple(canon.normal(item) for item in found)}


def _ends(goal: Statement, region: Region) -> dict[bool, Term]:
    """The bounds of the output: from below (True), from above (False)."""
    known = context(with_facts(goal.facts, *region.facts))
    split = [known.affine(fact.term, region.output or "") for fact in region.facts]
    return {item[0] > 0: item[1] for item in split if item is not None}
