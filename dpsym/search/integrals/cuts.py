"""Where the integrand of a pair changes its form, and in which order these points lie.

Points are terms in the parameters. What their order is may depend on the parameters; then ``Split``
says of which term the sign has to be settled first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import reduce
from itertools import combinations
from math import gcd, lcm

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from dpsym.kernel import canon as cn
from dpsym.kernel import terms as tm
from dpsym.kernel.canon import Canon, Poly
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.sequents import Facts, Sequent, context
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import ZERO, Term, subterms
from dpsym.search import leaf
from dpsym.search.integrals.radicals import root
from dpsym.search.integrals.sampling import numbers
from dpsym.search.integrals.substitutions import Z, in_exponential
from dpsym.search.integrals.summands import coefficients
from dpsym.search.leaf.factoring import factors, quotient
from dpsym.search.leaf.lowest import factored, product
from dpsym.search.leaf.numeric import Values
from dpsym.search.samples import sign

__all__ = [
    "Split",
    "choices",
    "chosen",
    "compared",
    "never_zero",
    "ordered",
    "plain",
    "resolved",
    "roots",
    "shorter",
    "switches",
    "vanishing",
]

Samples = Sequence[Mapping[str, float]]
_TOLERANCE, _TINY = 1e-9, 1e-250  # what is smaller has lost its digits
_SMALLEST, _LARGE = float(np.finfo(np.float64).tiny), 1e6


class Split(Exception):
    """The sign of this term over the parameters has to be settled first."""

    def __init__(self, item: Term) -> None:
        super().__init__(repr(item))
        self.item = item


def switches(item: Term, x: Term) -> Iterator[Term]:
    """Terms in x whose sign decides between branches of kinked sub-terms, inner ones first."""
    for part in subterms(item):
        if part.op in ("abs", "ite") and x.value in part.args[0].vars:
            yield part.args[0]
        elif part.op in ("max", "min"):
            gap = part.args[0] - part.args[1]
            if x.value in gap.vars:
                yield gap


def resolved(item: Term, point: Mapping[str, float]) -> Term:
    """The term with each kinked part replaced by the branch that it takes at the point."""
    if not item.kinked:
        return item
    at = Values({name: np.array([value]) for name, value in point.items()}, 1)
    return chosen(item, choices(item, at)[0][0])


def choices(item: Term, values: Values) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """For each point a row of the choices that the kinked parts make, in the order of the
    sub-terms, and whether all of that is clear in floating point."""
    rows, clear = [], np.ones(values.count, dtype=bool)
    for part in subterms(item):
        if part.op in tm.KINKED:
            of_two = part.op in ("max", "min")
            gap = part.args[0] - part.args[1] if of_two else part.args[0]
            with np.errstate(all="ignore"):
                over = values(part.args[0]) - (values(part.args[1]) if of_two else 0.0)
                scale = values.scale(gap)
                over[scale < _TINY] = 0.0
                small = np.abs(over) < _TOLERANCE * np.minimum(scale, 1.0)  # perhaps by rounding
                for i in np.flatnonzero((small | _underflown(gap, values)) & (scale >= _TINY)):
                    at = {name: float(column[i]) for name, column in values.points.items()}
                    over[i] = sign(gap, at)
                clear &= (over < 0) | (over > 0)  # not so for nan
                rows.append(over >= 0)
    return np.array(rows, dtype=bool).reshape(len(rows), values.count).T, clear


def _underflown(item: Term, values: Values) -> NDArray[np.bool_]:
    """Where a factor that is too small for its digits is multiplied by a large one."""
    found = np.zeros(values.count, dtype=bool)
    for part in subterms(item):
        if part.op == "mul":
            sizes = [np.abs(values(arg)) for arg in part.args if arg.vars]
            if len(sizes) > 1:
                found |= (reduce(np.fmin, sizes) < _SMALLEST) & (reduce(np.fmax, sizes) > _LARGE)
    return found


def chosen(item: Term, row: Sequence[bool]) -> Term:
    """The term with each kinked part replaced by the branch that the row chooses."""
    done: dict[Term, Term] = {}
    left = iter(row)
    for part in subterms(item):
        args = tuple(done[arg] for arg in part.args)
        if part.op not in tm.KINKED:
            done[part] = part if args == part.args else tm.Term(part.op, args, part.value)
            continue
        upper = bool(next(left))
        if part.op == "abs":
            done[part] = args[0] if upper else -args[0]
        elif part.op == "ite":
            done[part] = args[1] if upper else args[2]
        else:
            done[part] = args[0] if upper == (part.op == "max") else args[1]
    return done[item]


def roots(
    item: Term, x: Term, facts: Facts, samples: Samples, known: Sequence[Term] = ()
) -> list[Term]:
    """The points where a term without kinks changes its sign, as far as they are known here;
    written by the square roots that are ``known``, if that is possible.

    The difference of two positive products is compared by logarithms."""
    canon = context(facts).canon
    try:
        form, _ = canon.together(_rooted(canon, canon(item), x))
    except Refusal:
        return []
    lowest = min((dict(mono[1]).get(x, 0) for mono in form), default=0)
    at_zero = [ZERO] if lowest > 0 else []
    if lowest:
        form = canon.times(form, cn.atom(x, -lowest))
    coefs = coefficients(canon, form, x)
    if coefs is None and len(form) == 2:
        coefs = _of_logs(canon, form, x)
    if coefs is None:
        return _by_exponential(item, x, facts, samples, known)
    while len(coefs) > 1 and _is_zero(coefs[-1], facts, samples):
        coefs = coefs[:-1]
    if len(coefs) == 2:
        return [*at_zero, canon.normal(-coefs[0] / coefs[1])]
    if len(coefs) == 3:
        c, b, a = coefs
        inside = tm.power(b, 2) - 4 * a * c
        _settle(inside, facts, samples)
        if all(value <= 0 for value in numbers(inside, samples)):
            return []
        size = root(canon, inside / tm.power(2 * a, 2), known) or _root(canon, inside) / (2 * a)
        return [*at_zero, *(canon.normal(way * size - b / (2 * a)) for way in (-1, 1))]
    return at_zero


def _rooted(canon: Canon, form: Poly, x: Term) -> Poly:
    """For A^k - B^k with positive A and B: the form of A - B, which changes its sign there too."""
    gap = _logs(canon, form) if len(form) == 2 else None
    rest, powers = dict(gap or {}), {}
    for mono, value in rest.items():
        log = cn.lone(mono, "log")
        if log is not None and x.value in log.vars:
            powers[mono] = value
    if not powers or gap is None:
        return form
    shared = fmpq(
        gcd(*(int(k.p) for k in powers.values())), lcm(*(int(k.q) for k in powers.values()))
    )
    if shared == 1:
        return form
    sides = [cn.plus(gap, powers, -1), {}]
    for mono, value in powers.items():
        sides[value < 0][mono] = abs(value)
    one, two = (tm.exp(cn.to_term(cn.scaled(side, 1 / shared))) for side in sides)
    return canon(one - two)


def _by_exponential(
    item: Term, x: Term, facts: Facts, samples: Samples, known: Sequence[Term]
) -> list[Term]:
    """Zeros of a function of z = exp(k x), by those over z > 0."""
    found = in_exponential(context(facts).canon, item, x)
    if found is None:
        return []
    rate, inner = found
    z = tm.var(Z)
    over = roots(inner, z, (*facts, Fact(z, ">")), samples, known)
    good = []
    for z0 in over:
        signs = {value > 0 for value in numbers(z0, samples) if math.isfinite(value)}
        if signs == {True, False}:
            _split_factor(z0, facts, samples)
        if True in signs:
            good.append(_reduced(z0, facts))
            _settle_factors(good[-1], facts)
    normal = context(facts).canon.normal
    found_at = [tm.log(z0) / rate for z0 in good]
    return [min(item, normal(item), key=lambda one: one.size) for item in found_at]


def _settle_factors(item: Term, facts: Facts) -> None:
    """``Split`` unless no factor of a positive quotient is zero at the end of a range."""
    for part in item.args if item.op == "mul" else (item,):
        gap = plain(part.args[0] if part.op == "pow" else part, facts)
        known = context(facts)
        if _evidently_not_zero(gap, facts):
            continue
        sides = [side for side in (gap, -gap) if known.evident(Fact(side, ">="))]
        bent = [] if sides else [fact for fact in facts if fact.term.kinked]
        if bent:
            sides = [s for s in (gap, -gap) if leaf.easy(Sequent(facts, Fact(s, ">=")))]
        if len(sides) == 1:
            raise Split(-_summand(sides[0], facts))


def vanishing(item: Term, facts: Facts, names: Set[str]) -> Term | None:
    """A factor, in these variables, of which it is known that it is nonnegative (or that its
    negative is), but not that it is not zero; with the sign that makes it at most zero."""
    for part in _factors(item, facts):
        if part.vars <= names and not _not_zero(part, facts):
            for side in (part, -part):
                if _is_easy(Fact(side, ">="), facts):
                    return plain(-side, facts)
    return None


def never_zero(item: Term, facts: Facts) -> bool:
    """Whether it is easy that the term, or each of its factors, is not zero."""
    return _not_zero(item, facts) or all(_not_zero(part, facts) for part in _factors(item, facts))


def _factors(item: Term, facts: Facts) -> list[Term]:
    """Factors of the term over its denominators."""
    canon = context(facts).canon
    whole, _ = canon.together(canon(item))
    found = factors(whole)
    return [cn.to_term(whole)] if found is None else [part for part, _ in found[1]]


def _not_zero(item: Term, facts: Facts) -> bool:
    return _evidently_not_zero(item, facts) or any(
        _is_easy(Fact(side, ">"), facts) for side in (item, -item)
    )


def _is_easy(fact: Fact, facts: Facts) -> bool:
    return context(facts).evident(fact) or leaf.easy(Sequent(facts, fact))


def _summand(item: Term, facts: Facts) -> Term:
    """A variable that is zero where the term, which is nonnegative, is; or the term itself."""
    known = context(facts)
    parts = [cn.mono_term(mono, value) for mono, value in known.canon(item).items()]
    if not all(known.evident(Fact(part, ">=")) for part in parts):
        return item
    found = (name for part in parts for name in sorted(part.vars))
    open_signs = (tm.var(name) for name in found if not known.canon.is_positive(tm.var(name)))
    return next((x for x in open_signs if known.evident(Fact(x, ">="))), item)


def _reduced(item: Term, facts: Facts) -> Term:
    """A quotient without common factors."""
    return product(*factored(context(facts).canon, item))


def shorter(item: Term, facts: Facts) -> Term:
    """The normal form, without sums below the line that divide what is above it."""
    canon = context(facts).canon
    whole = canon(item)
    above, below = canon.together(whole)
    left = dict(below)
    for part, k in below.items():
        found = quotient(above, canon(part)) if k > 0 and part.op == "add" else None
        while found is not None:
            above, left[part] = found, left[part] - 1
            found = quotient(above, canon(part)) if left[part] else None
    if left == below:
        return cn.to_term(whole)
    return canon.normal(
        tm.mul(cn.to_term(above), *(tm.power(one, -k) for one, k in left.items() if k))
    )


def _split_factor(item: Term, facts: Facts, samples: Samples) -> None:
    """``Split`` by a factor of the term that changes its sign."""
    canon = context(facts).canon
    whole, below = canon.together(canon(item))
    found = factors(whole)
    parts = [cn.to_term(whole)] if found is None else [part for part, k in found[1] if k % 2]
    for part in (*parts, *(one for one, k in below.items() if k % 2)):
        values = numbers(part, samples)
        if min(values) < -_TOLERANCE and max(values) > _TOLERANCE:
            raise Split(plain(part, facts))


def _root(canon: Canon, inside: Term) -> Term:
    """The square root, or minus it, with squares of factors taken out."""
    found = factors(canon(inside))
    if found is None:
        return tm.sqrt(inside)
    scale, parts = found
    outer = tm.mul(*(tm.power(item, k // 2) for item, k in parts if k // 2))
    inner = tm.mul(tm.num(scale), *(item for item, k in parts if k % 2))
    return outer * tm.sqrt(inner)


def _of_logs(canon: Canon, form: Poly, x: Term) -> list[Term] | None:
    """The coefficients of log(A/B) for a form A - B of two positive products."""
    gap = _logs(canon, form)
    return None if gap is None else coefficients(canon, gap, x)


def _logs(canon: Canon, form: Poly) -> Poly | None:
    """log(A/B) for a form A - B of two positive products."""
    (one, first), (two, second) = form.items()
    if (first > 0) == (second > 0):
        return None
    try:
        return canon(tm.log(cn.mono_term(one, abs(first))) - tm.log(cn.mono_term(two, abs(second))))
    except Refusal:
        return None


def _evidently_not_zero(item: Term, facts: Facts) -> bool:
    """Whether the facts evidently, or for a number its digits, say so."""
    return context(facts).evident(Fact(item, "!=")) or (not item.vars and sign(item, {}) != 0)


def _is_zero(item: Term, facts: Facts, samples: Samples) -> bool:
    """Whether a leading coefficient is zero; ``Split`` if that depends."""
    if item is ZERO:
        return True
    known = context(facts)
    if _evidently_not_zero(item, facts):
        return False
    if known.evident(Fact(item, ">=")) and known.evident(Fact(-item, ">=")):
        return True
    values = numbers(item, samples)
    if not any(value < -_TOLERANCE for value in values) and known.evident(Fact(item, ">=")):
        raise Split(plain(-item, facts))
    if not any(value > _TOLERANCE for value in values) and known.evident(Fact(-item, ">=")):
        raise Split(plain(item, facts))
    if min(values) < 0 < max(values):
        raise Split(plain(item, facts))
    canon = known.canon
    for factor, _ in cn.content(canon(item))[1][1] if canon(item) else ():
        if canon.item_sign(factor, False) and not canon.is_positive(factor):
            raise Split(-factor)
    return False


def _settle(item: Term, facts: Facts, samples: Samples) -> None:
    """``Split`` unless the term has one sign at all samples."""
    values = numbers(item, samples)
    if any(value > _TOLERANCE for value in values) and any(value < -_TOLERANCE for value in values):
        raise Split(plain(item, facts))


def plain(item: Term, facts: Facts) -> Term:
    """A term of the same sign, without factors that are evidently positive."""
    known = context(facts)
    canon = known.canon
    form = canon(known.tidy(Fact(item, ">=")).term)
    if not form:
        return ZERO
    value, (_, atoms), rest = canon.content(form)
    if len(rest) == 1:  # square roots stay in the rest
        ((_, atoms),) = form
        rest = cn.constant(1)
    left = [(atom, k % 2) for atom, k in atoms if not canon.is_positive(atom)]
    if not all(k for _, k in left):
        return cn.to_term(form)
    kept = rest if not left else canon.times(rest, cn.product(dict(left)))
    return compared(canon, cn.scaled(kept, 1 if value > 0 else -1))


def compared(canon: Canon, form: Poly) -> Term:
    """A term of the same sign as a form: for two positive products, the difference of logs."""
    if len(form) == 2:
        (one, first), (two, second) = sorted(form.items(), key=lambda pair: -pair[1])
        if second < 0 < first and canon.mono_sign(one, True) and canon.mono_sign(two, True):
            gap = tm.log(cn.mono_term(one, first)) - tm.log(cn.mono_term(two, -second))
            logs = canon(gap)
            if not any(item.op == "log" and item.vars for mono in logs for item, _ in mono[1]):
                return cn.to_term(logs)
    return cn.to_term(form)


def ordered(
    found: Sequence[Term], start: Term | None, end: Term | None, facts: Facts, samples: Samples
) -> list[Term]:
    """The points strictly between start and end at some sample, in order; ``Split`` if the order
    depends on the sample."""
    points = list(dict.fromkeys(found))
    ends = [item for item in (start, end) if item is not None]
    rows = {item: numbers(item, samples) for item in (*ends, *points)}
    points = [item for item in points if 2 * sum(map(math.isfinite, rows[item])) > len(samples)]
    good = [i for i in range(len(samples)) if all(math.isfinite(rows[item][i]) for item in points)]
    values = {item: [row[i] for i in good] for item, row in rows.items()}
    for one, two in combinations([*ends, *points], 2):
        gaps = [a - b for a, b in zip(values[one], values[two], strict=True)]
        if gaps and min(gaps) < -_TOLERANCE and max(gaps) > _TOLERANCE:
            raise Split(plain(one - two, facts))

    def between(item: Term) -> bool:
        low, high = (values[side] if side is not None else None for side in (start, end))
        after = low is None or any(v > s for v, s in zip(values[item], low, strict=True))
        before = high is None or any(v < s for v, s in zip(values[item], high, strict=True))
        return after and before and item not in ends

    inside = [item for item in points if between(item)]
    inside.sort(key=lambda item: values[item])
    return inside
