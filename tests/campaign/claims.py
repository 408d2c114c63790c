"""Random claims of every kind, with their truth, and what dpsym says of them.

Numbers are close to where a claim turns from true to false, or simple, or at random. An attack
returns an outcome and the claim; the outcome is WRONG where a verdict contradicts the truth.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import sympy as sp
from mpmath import mpf

import dpsym as dp
from dpsym.errors import DpsymError
from dpsym.kernel.certificate import verify
from dpsym.kernel.refusal import Refusal
from tests.campaign import truth as tr
from tests.campaign.truth import Truth, at_most, number

Outcome = tuple[str, str]
Attack = Callable[[random.Random], Outcome]
BUDGET = 0.25
KINDS: dict[str, Attack] = {}
Subject = tuple[Any, Truth]


def kind(attack: Attack) -> Attack:
    KINDS[attack.__name__.strip("_")] = attack
    return attack


def settled(truth: bool | None, verdict: object, said: str) -> Outcome:
    """The outcome of a claim whose truth is known, or None."""
    name = type(verdict).__name__.lower()
    if isinstance(verdict, dp.Proved):
        try:
            verify(verdict.certificate)
        except Refusal as refusal:
            return "WRONG", f"{said}: its certificate is refused: {refusal}"
    if truth is None:
        return "skipped", said
    wrong = (name == "proved" and not truth) or (name == "refuted" and truth) or name == "vacuous"
    side = "true" if truth else "false"
    return ("WRONG", f"{said}: {side}, but {verdict}") if wrong else (f"{side}, {name}", said)


def sure(value: mpf) -> sp.Rational:
    return rational(Fraction(int(mpmath.nint(value * 10**12)), 10**12))


def rational(value: Fraction | int) -> sp.Rational:
    value = Fraction(value)
    return sp.Rational(value.numerator, value.denominator)


def small(source: random.Random) -> Fraction:
    """A positive number."""
    above = source.choice((1, 1, 2, 3, 5, 8, 13, source.randint(1, 60)))
    return Fraction(above, source.choice((2, 4, 5, 10, 20)))


def part(source: random.Random) -> Fraction:
    """A number between 0 and 1."""
    return Fraction(source.randint(1, 19), source.choice((20, 20, 100, 1000)))


def near(source: random.Random, value: mpf) -> tuple[sp.Rational, mpf]:
    """A rational that is close to the value, or not, and the same to 50 digits."""
    if not mpmath.isfinite(value):
        value = number(small(source))
    factor = 1 + source.choice((1, -1)) * mpf(10) ** -source.choice((1, 1, 2, 4, 8))
    found = sure(value * factor)
    return found, number(Fraction(int(found.p), int(found.q)))


# -- subjects


def pure(source: random.Random) -> tuple[Any, tr.Atoms, Fraction]:
    epsilon = small(source)
    return dp.PureDP(rational(epsilon)), tr.response(number(epsilon)), epsilon


def approximate(source: random.Random) -> tuple[Any, tr.Atoms, None]:
    epsilon, delta = small(source), part(source) / 4
    subject = dp.ApproxDP(rational(epsilon), rational(delta))
    return subject, tr.response(number(epsilon), number(delta)), None


def guarantee(source: random.Random) -> Subject:
    subject, atoms, loss = source.choice((pure, approximate))(source)
    return subject, tr.of_pairs([atoms], loss)


def composed(source: random.Random) -> Subject:
    makes = [source.choice((pure, pure, approximate)) for _ in range(source.randint(2, 3))]
    parts = [make(source) for make in makes]
    losses = [loss for _, _, loss in parts]
    total = None if None in losses else sum(losses, Fraction(0))
    pairs = tr.joint([atoms for _, atoms, _ in parts])
    return dp.compose(*(subject for subject, _, _ in parts)), tr.of_pairs([pairs], total)


def repeated(source: random.Random) -> Subject:
    subject, atoms, loss = source.choice((pure, approximate))(source)
    count = source.randint(2, 4)
    whole = None if loss is None else loss * count
    return dp.repeat(subject, count), tr.of_pairs([tr.joint([atoms] * count)], whole)


def subsampled(source: random.Random) -> Subject:
    subject, atoms, _ = source.choice((pure, approximate))(source)
    rate = part(source)
    return dp.subsample(subject, rational(rate)), tr.of_pairs([tr.sampled(atoms, number(rate))])


def normal(source: random.Random) -> Subject:
    means = [small(source) for _ in range(source.choice((1, 1, 2)))]
    subjects = [dp.GDP(rational(mu)) for mu in means]
    mu = mpmath.sqrt(sum(number(mu) ** 2 for mu in means))
    return (dp.compose(*subjects) if len(subjects) > 1 else subjects[0]), tr.gaussian(mu)


def response(source: random.Random) -> Subject:
    epsilon, k = small(source), source.choice((2, 2, 3, 5))
    e = mpmath.exp(number(epsilon))
    atoms = [(e, mpf(1)), (mpf(1), e), (mpf(k - 2), mpf(k - 2))]
    atoms = [(p / (e + k - 1), q / (e + k - 1)) for p, q in atoms if p]
    return dp.RandomizedResponse(rational(epsilon), categories=k), tr.of_pairs([atoms], epsilon)


def rows(source: random.Random) -> list[list[Fraction]]:
    width = source.randint(2, 3)
    out = []
    for _ in range(source.choice((2, 2, 3))):
        weights = [source.choice((1, 1, 2, 3, 7, 20)) for _ in range(width)]
        if source.random() < 0.15:
            weights[source.randrange(width)] = 0
        out.append([Fraction(weight, sum(weights)) for weight in weights])
    return out


def table(source: random.Random) -> Subject:
    found = rows(source)
    pairs = [
        [(number(p), number(q)) for p, q in zip(one, two, strict=True)]
        for i, one in enumerate(found)
        for two in found[i + 1 :]
    ]
    return dp.Table([[rational(x) for x in row] for row in found]), tr.of_pairs(pairs)


def laplace(source: random.Random) -> Subject:
    scale, size = small(source), small(source)
    noise = dp.noise.Laplace(scale=rational(scale))
    ratio = size / scale
    subject = dp.AdditiveNoise(noise, sensitivity=rational(size))
    return subject, tr.laplace(number(ratio), ratio)


def bell(source: random.Random) -> Subject:
    sigma, size = small(source), small(source)
    noise = dp.noise.Gaussian(sigma=rational(sigma))
    subject = dp.AdditiveNoise(noise, sensitivity=rational(size))
    return subject, tr.gaussian(number(size) / number(sigma))


# -- claims about them


def about(source: random.Random, subject: Subject) -> Outcome:
    what, known = subject
    name = source.choice(("pure", "approximate", "approximate", "renyi", "kl"))
    if name == "pure":
        claim, truth = _pure_claim(source, known)
    elif name == "approximate":
        epsilon = source.choice((small(source), small(source) / 4, Fraction(0)))
        best = known.hockey(number(epsilon))
        if best < mpf(10) ** -9:
            return "skipped", "a delta of almost 0"
        delta, same = near(source, best)
        claim, truth = dp.ApproxDP(rational(epsilon), delta), at_most(best, same)
    else:
        order = Fraction(1) if name == "kl" else source.choice(_ORDERS)
        best = known.renyi(number(order))
        bound, same = near(source, best)
        claim, truth = dp.RenyiDP(rational(order), bound), at_most(best, same)
    return settled(truth, dp.check(what, claim, budget=BUDGET), f"{what!r} has {claim!r}")


_ORDERS = (Fraction(2), Fraction(2), Fraction(3), Fraction(3, 2), Fraction(1, 2), Fraction(9, 8))


def _pure_claim(source: random.Random, known: Truth) -> tuple[Any, bool | None]:
    if known.exact_loss is not None and source.random() < 0.5:
        shift = source.choice((Fraction(0), Fraction(1, 10**9), -Fraction(1, 10**9)))
        claimed = known.exact_loss + shift
        return dp.PureDP(rational(claimed)), claimed >= known.exact_loss
    best = known.loss()
    bound, same = near(source, best)
    return dp.PureDP(bound), at_most(best, same)


def _of(name: str, make: Callable[[random.Random], Subject]) -> None:
    def attack(source: random.Random) -> Outcome:
        return about(source, make(source))

    KINDS[name] = attack


for _name, _make in {
    "a guarantee": guarantee,
    "a composition": composed,
    "a repetition": repeated,
    "a subsample": subsampled,
    "Gaussian DP": normal,
    "randomized response": response,
    "a table": table,
    "Laplace noise": laplace,
    "Gaussian noise": bell,
}.items():
    _of(_name, _make)


@kind
def orders(source: random.Random) -> Outcome:
    """Renyi DP at another order, and zCDP, which the normal pair attains."""
    order, epsilon = source.choice(_ORDERS[:4]), small(source)
    other = source.choice(_ORDERS[:4])
    shift = source.choice((Fraction(0), Fraction(1, 1000), Fraction(-1, 1000), epsilon))
    given: Any
    if source.random() < 0.5:
        given = dp.RenyiDP(rational(order), rational(epsilon))
        bound = epsilon + shift
        lower, higher = other <= order and shift >= 0, other >= order and shift < 0
        truth = True if lower else False if higher else None
    else:
        given, bound = dp.ZCDP(rational(epsilon)), epsilon * other + shift
        truth = shift >= 0
    claim = dp.RenyiDP(rational(other), rational(bound))
    return settled(truth, dp.check(given, claim, budget=BUDGET), f"{given!r} has {claim!r}")


@kind
def concentrated(source: random.Random) -> Outcome:
    """zCDP gives approximate DP: true by the bound of Canonne, Kamath and Steinke (2020),
    Proposition 7, at an order; false where the normal pair breaks it."""
    rho, epsilon = small(source) / 4, small(source)
    orders = [1 + mpf(k) / 16 for k in range(1, 400)]
    r, e = number(rho), number(epsilon)
    logs = [(a - 1) * (a * r - e) - mpmath.log(a - 1) + a * mpmath.log(1 - 1 / a) for a in orders]
    high, low = mpmath.exp(min(logs)), tr.gaussian(mpmath.sqrt(2 * r)).hockey(e)
    delta, same = near(source, source.choice((high, low)))
    if not 0 < delta < 1:
        return "skipped", "no delta"
    truth = None
    if same > high * (1 + tr.CLOSE) or same < low * (1 - tr.CLOSE):
        truth = bool(same > high)
    given, claim = dp.ZCDP(rational(rho)), dp.ApproxDP(rational(epsilon), delta)
    return settled(truth, dp.check(given, claim, budget=BUDGET), f"{given!r} has {claim!r}")


@kind
def other_notions(source: random.Random) -> Outcome:
    """Probabilistic DP, bounded ranges and zCDP of tables; groups; filters."""
    choice = source.randrange(5)
    epsilon, k = small(source), source.randint(2, 4)
    shift = source.choice((Fraction(0), Fraction(1, 10**6), -Fraction(1, 10**6), -epsilon / 2))
    what: Any
    claim: Any
    truth: bool | None
    if choice == 0:
        what = dp.group(dp.PureDP(rational(epsilon)), k)
        claim = dp.PureDP(rational(k * epsilon + shift))
        truth = shift >= 0
    elif choice == 1:
        e = sp.Symbol("e", nonnegative=True)
        what = dp.filtered(dp.PureDP(e), e, rational(epsilon))
        claim, truth = dp.PureDP(rational(epsilon + shift)), shift >= 0
    elif choice == 2:
        given = dp.ProbabilisticDP(rational(epsilon), rational(d := part(source)))
        what, claim = given, dp.ApproxDP(rational(epsilon), rational(d + shift * d))
        truth = shift >= 0
    else:
        found = rows(source)[:2]
        atoms = [(number(p), number(q)) for p, q in zip(*found, strict=True)]
        what = dp.Table([[rational(x) for x in row] for row in found])
        ways = [atoms, [(q, p) for p, q in atoms]]
        if choice == 3:
            best = max(map(tr.spread, ways))
            bound, same = near(source, best)
            claim, truth = dp.BoundedRange(bound), at_most(best, same)
        else:
            masses = [tr.above(way, number(epsilon)) for way in ways]
            if None in masses or max(masses) <= 0:
                return "skipped", "no loss above epsilon"
            bound, same = near(source, max(masses))
            claim, truth = dp.ProbabilisticDP(rational(epsilon), bound), at_most(max(masses), same)
    return settled(truth, dp.check(what, claim, budget=BUDGET), f"{what!r} has {claim!r}")


B, SIZE = sp.symbols("b Delta", positive=True)
N = sp.Symbol("n", integer=True)


@kind
def parameters(source: random.Random) -> Outcome:
    """Noise and compositions with symbols: a known formula times a number below 1 or at least 1."""
    e, f, d = sp.symbols("e f d", nonnegative=True)
    a = sp.Symbol("a", positive=True)
    low = source.choice((N > 0, N >= 1, sp.Rational(1, 2) < N))
    factor = source.choice(
        (Fraction(1), Fraction(1), Fraction(3, 2), Fraction(9, 10), Fraction(1, 2))
    )
    c = rational(factor)
    laplace, bell = dp.noise.Laplace(scale=B), dp.noise.Gaussian(sigma=B)
    geometric = dp.noise.Geometric(scale=B)
    what, claim, where = source.choice(
        (
            (dp.AdditiveNoise(laplace, SIZE), dp.PureDP(c * SIZE / B), []),
            (dp.AdditiveNoise(geometric, N), dp.PureDP(c * N / B), [low]),
            (dp.AdditiveNoise(bell, SIZE), dp.RenyiDP(a, c * a * SIZE**2 / (2 * B**2)), [a > 1]),
            (dp.AdditiveNoise(bell, SIZE), dp.ZCDP(c * SIZE**2 / (2 * B**2)), []),
            (dp.RandomizedResponse(e, categories=N), dp.PureDP(c * e), [low, N >= 2]),
            (dp.compose(dp.PureDP(e), dp.PureDP(f)), dp.PureDP(c * (e + f)), []),
            (dp.compose(dp.ApproxDP(e, d), dp.PureDP(f)), dp.ApproxDP(e + f, c * d), []),
            (dp.repeat(dp.RenyiDP(a, e), N), dp.RenyiDP(a, c * N * e), [low, a > 1]),
            (dp.repeat(dp.ZCDP(e), N), dp.ZCDP(c * N * e), [low]),
            (dp.group(dp.PureDP(e), N), dp.PureDP(c * N * e), [low]),
            (dp.PureDP(e), dp.ZCDP(c * e**2 / 2), []),
            (dp.compose(dp.GDP(B), dp.GDP(SIZE)), dp.GDP(c * sp.sqrt(B**2 + SIZE**2)), []),
        )
    )
    if factor < 1 and isinstance(claim, dp.ZCDP) and isinstance(what, dp.PureDP):
        return "skipped", "less than e^2/2 may be enough"
    verdict = dp.check(what, claim, where=where, budget=2)
    return settled(factor >= 1, verdict, f"{what!r} has {claim!r} where {where}")


# -- best values, and enclosures

DELTA = sp.Symbol("delta", positive=True)


@kind
def bounds(source: random.Random) -> Outcome:
    """dp.bound encloses the best delta."""
    make = source.choice((guarantee, guarantee, composed, repeated))
    what, known = make(source)
    epsilon = small(source) / 4
    best = known.hockey(number(epsilon))
    if best < mpf(10) ** -6:
        return "skipped", "a delta of almost 0"
    found = dp.bound(what, dp.ApproxDP(rational(epsilon), DELTA), DELTA, budget=1)
    said = f"bound({what!r}, ApproxDP({epsilon}, delta))"
    if isinstance(found, dp.Unknown):
        return "no bound", said
    low, high = (None if end is None else mpf(sp.N(end, 50)) for end in (found.lower, found.upper))
    if (low is not None and low > best + tr.CLOSE) or (high is not None and high < best - tr.CLOSE):
        return "WRONG", f"{said}: {low} .. {high} without {mpmath.nstr(best, 30)}"
    return ("no bound" if low is None or high is None else "encloses"), said


@kind
def enclosures(source: random.Random) -> Outcome:
    """Certified numbers contain the value."""
    what, known = source.choice((response, laplace, bell, bell, table))(source)
    if source.random() < 0.6:
        epsilon = small(source) / 2
        best, claim = known.hockey(number(epsilon)), dp.ApproxDP(rational(epsilon), DELTA)
    else:
        order = source.choice(_ORDERS[:4])
        best, claim = known.renyi(number(order)), dp.RenyiDP(rational(order), DELTA)
    said = f"{what!r}.enclose({claim!r})"
    if not mpmath.isfinite(best) or best < mpf(10) ** -9:
        return "skipped", said
    found = what.enclose(claim, solve_for=DELTA)
    low, high = (mpf(end.numerator) / end.denominator for end in map(Fraction, _ends(found)))
    inside = low - tr.CLOSE <= best <= high + tr.CLOSE
    return ("encloses", said) if inside else ("WRONG", f"{said}: {found}, not {best}")


def _ends(found: Any) -> tuple[str, str]:
    return str(sp.Rational(found.lower)), str(sp.Rational(found.upper))


# -- inequalities

X, Y = sp.symbols("x y", real=True)
U, V = sp.symbols("u v", positive=True)


_FUNCTIONS = ("add", "mul", "div", "exp", "log", "sqrt", "pow", "erfc", "max", "abs", "pi")


def constant(source: random.Random, depth: int) -> tuple[sp.Expr, Callable[[], mpf]]:
    """An expression without symbols, and its value by mpmath from the same tree."""
    if depth == 0 or source.random() < 0.15:
        value = Fraction(source.randint(-12, 24), source.choice((1, 2, 3, 5, 8)))
        return rational(value), lambda: number(value)
    name = source.choice(_FUNCTIONS)
    if name == "pi":
        return sp.pi, lambda: +mpmath.pi
    one, a = constant(source, depth - 1)
    two, b = constant(source, depth - 1)
    if name == "add":
        return one + two, lambda: a() + b()
    if name == "mul":
        return one * two, lambda: a() * b()
    if name == "div":
        return one / (1 + two**2), lambda: a() / (1 + b() ** 2)
    if name == "exp":
        return sp.exp(one / 4), lambda: mpmath.exp(a() / 4)
    if name == "log":
        return sp.log(1 + one**2), lambda: mpmath.log(1 + a() ** 2)
    if name == "sqrt":
        return sp.sqrt(sp.Abs(one)), lambda: mpmath.sqrt(abs(a()))
    if name == "pow":
        return (1 + one**2) ** rational(Fraction(1, 3)), lambda: mpmath.cbrt(1 + a() ** 2)
    if name == "erfc":
        return sp.erfc(one / 3), lambda: mpmath.erfc(a() / 3)
    if name == "max":
        return sp.Max(one, two), lambda: max(a(), b())
    return sp.Abs(one), lambda: abs(a())


@kind
def constants(source: random.Random) -> Outcome:
    left, a = constant(source, 3)
    right, b = constant(source, 3)
    if source.random() < 0.4:  # close to each other
        close = sure(a() - b())
        right, b = right + close, (lambda b=b, c=close: b() + number(Fraction(int(c.p), int(c.q))))
    truth = at_most(a(), b())
    if not mpmath.isfinite(a() - b()):
        return "skipped", "too large"
    verdict = dp.check_inequality(left, right, budget=BUDGET)
    return settled(truth, verdict, f"{left} <= {right}")


def _nonnegative(source: random.Random) -> sp.Expr:
    """Something that is known to be at least 0, with its own zeros."""
    c = rational(small(source))
    return source.choice(
        (
            sp.exp(X) - 1 - X,
            (X - c) ** 2,
            (X - Y) ** 2,
            U - 1 - sp.log(U),
            U / c - 1 - sp.log(U / c),
            sp.exp(c * Y) - 1 - c * Y,
            (U + V) / 2 - sp.sqrt(U * V),
            U * sp.log(U) - U + 1,
            sp.exp(-U) - 1 + U,
            U - sp.log(1 + U),
            c * U - c * sp.log(1 + U),
            sp.Abs(X) + sp.Abs(Y) - sp.Abs(X + Y),
            sp.Max(X, 0) - X,
            U**2 + V**2 - 2 * U * V,
            sp.exp(-(U**2)) - sp.erfc(U),
            sp.sqrt(1 + U) - 1 - U / 2 + U**2 / 8,
        )
    )


def _sides(source: random.Random, gap: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Two sides whose difference it is."""
    gap = sp.expand(gap) if source.random() < 0.4 else gap
    terms = list(sp.Add.make_args(gap))
    moved = [term for term in terms if source.random() < 0.4]
    extra = source.choice((sp.Integer(0), X, sp.exp(Y), U * V, sp.Integer(1)))
    return extra - sp.Add(*moved), gap - sp.Add(*moved) + extra


@kind
def inequalities(source: random.Random) -> Outcome:
    """Sums of what is nonnegative; less more than that at a point, they are false."""
    parts = [_nonnegative(source) for _ in range(source.choice((1, 1, 2)))]
    gap = sp.Add(*(rational(small(source)) * one for one in parts))
    signs = {X: source.choice((1, -1)), Y: source.choice((1, -1)), U: 1, V: 1}
    at = {symbol: rational(small(source) * sign) for symbol, sign in signs.items()}
    truth: bool | None = True
    strict = False
    if source.random() < 0.5:
        value = mpf(sp.N(gap.subs(at), 50))
        factor, more = (mpf(10) ** -source.choice(sizes) for sizes in ((1, 2, 6), (2, 6, 11)))
        less = sure(value * (1 + factor) + more)
        if less <= 0 or number(Fraction(int(less.p), int(less.q))) <= value:
            return "skipped", "rounding"
        gap, truth = gap - less, False
    elif source.random() < 0.2:
        strict, truth = True, None  # true where no zero is in the domain: not decided here
        if all(one.subs({X: 0, Y: 0}) == 0 for one in parts):
            truth = False
    left, right = _sides(source, gap)
    verdict = dp.check_inequality(left, right, strict=strict, budget=BUDGET)
    return settled(truth, verdict, f"{left} {'<' if strict else '<='} {right}")


@kind
def polynomials(source: random.Random) -> Outcome:
    """In one variable, on an interval; true or false by its roots, which are rational."""
    count = source.randint(1, 3)
    roots = [Fraction(source.randint(-8, 8), source.choice((1, 2, 3))) for _ in range(count)]
    powers = [source.choice((1, 1, 2)) for _ in roots]
    low = Fraction(source.randint(-6, 4))
    high = low + source.randint(1, 6)
    shape: sp.Expr = rational(source.choice((1, -1)) * small(source))
    for root, power in zip(roots, powers, strict=True):
        shape *= (X - rational(root)) ** power
    inner = sorted({low, high, *(root for root in roots if low < root < high)})
    places = [*inner, *((a + b) / 2 for a, b in pairwise(inner))]
    truth = all(shape.subs(X, rational(place)) >= 0 for place in places)
    left, right = _sides(source, sp.expand(shape))
    left, right = (side.subs({Y: 0, U: 1, V: 1}) for side in (left, right))
    where = [rational(low) <= X, rational(high) >= X]
    verdict = dp.check_inequality(left, right, where=where, budget=BUDGET)
    return settled(truth, verdict, f"{left} <= {right} for {low} <= x <= {high}")


def attempt(name: str, source: random.Random) -> Outcome:
    """One claim; what dpsym refuses with its own error is an outcome, another error is a fault."""
    with mpmath.workdps(tr.DIGITS):
        try:
            return KINDS[name](source)
        except DpsymError as error:
            return "error", str(error)[:200]
        except Exception as error:
            return "WRONG", f"{type(error).__name__}: {str(error)[:300]}"
