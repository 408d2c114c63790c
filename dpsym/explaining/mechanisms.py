"""What the rules for explicit mechanisms say in a proof, and headings for what they leave."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from dpsym.explaining.here import Headings, Here, Mark, Sentence, names, says
from dpsym.kernel.definitions import Moment, constraints
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules import Goal
from dpsym.kernel.rules_mechanisms import Limit, Mass, Piece, homogeneous
from dpsym.kernel.sequents import Sequent, context
from dpsym.kernel.statements import INTEGER, RATIO, Fact, Mechanism, Pair, Region
from dpsym.kernel.terms import ZERO, Term, derivative, substitute, var

__all__ = ["HEADINGS", "QUIET", "REASONS"]

QUIET = frozenset({"integral", "masses", "distributions"})
"""Rules whose evident premises are too many to tell."""


def _pair(here: Here) -> Pair:
    (stage,) = here.goal.stages
    assert isinstance(stage, Mechanism)
    return stage.pairs[0]


# -- structure


def _pairs(here: Here) -> str:
    many = len(here.premises) > 1
    return "Take the pairs one by one." if many else "Take any pair of the family."


def _pairs_headings(here: Here) -> Iterator[tuple[Mark, str]]:
    (stage,) = here.goal.stages
    for number, (pair, premise) in enumerate(zip(stage.pairs, here.premises, strict=True), 1):
        if len(stage.pairs) > 1:
            yield _is(premise), f"pair {number}" + f" ({pair.label})" * bool(pair.label)


def _is(goal: Goal) -> Callable[[Goal], bool]:
    return lambda premise: premise is goal


def _cases(here: Here) -> str:
    item = here["item"]
    return f"Take the cases {here.fact(item, '>=')} and {here.fact(-item, '>')}."


def _case_headings(here: Here) -> Iterator[tuple[Mark, str]]:
    for fact in (Fact(here["item"], ">="), Fact(-here["item"], ">")):
        yield fact, f"case {here.notation.show_fact(fact)}"


# -- integrals and sums


@dataclass(frozen=True)
class _Span:
    """A piece of a region and its ends; None is minus or plus infinity; ``number`` counts pieces
    of all regions."""

    number: int
    region: Region
    piece: Piece
    start: Term | None
    end: Term | None  # for integers, the first beyond


def _spans(here: Here, rows: tuple[tuple[Piece, ...], ...], first: int = 1) -> list[_Span]:
    out: list[_Span] = []
    for region, pieces in zip(_pair(here).regions, rows, strict=True):
        start, stop = _ends(here, region)
        for piece in pieces[:1] if region.output is None else pieces:
            end = stop if piece.until is None else piece.until
            out.append(_Span(first + len(out), region, piece, start, end))
            start = end
    return out


def _ends(here: Here, region: Region) -> tuple[Term | None, Term | None]:
    known = context(here.goal.facts)
    ends: dict[bool, Term] = {}
    for fact in region.facts:
        split = known.affine(fact.term, region.output or "")
        if split is not None:
            ends[split[0] > 0] = split[1]
    stop = ends.get(False)
    return ends.get(True), stop + 1 if stop is not None and region.kind == INTEGER else stop


def _told(here: Here, span: _Span, letters: tuple[Term, ...]) -> str:
    """Where the piece is, its antiderivative, and the values at its ends; ``letters`` are those
    for which it may have other terms."""
    name, item = span.region.output, span.piece.primitive
    if name is None:
        return f"Piece {span.number}: {_atoms(here, span.region)}."
    where = _where(here, span)
    what = "antidifference" if span.region.kind == INTEGER else "antiderivative"
    start = _at_end(here, span.piece.first, span.start, item, name, "at least")
    end = _at_end(here, span.piece.last, span.end, item, name, "at most")
    written = [
        f"{here.show(letter)} is {here.show(term)}"
        for letter, term in zip(letters, (span.piece.p, span.piece.q), strict=False)
        if term is not None
    ]
    given = f", where {' and '.join(written)}" if written else ""
    return (
        f"Piece {span.number}, {where}{given}: the {what} is {here.show(item)}, {start} at the "
        f"start and {end} at the end."
    )


def _atoms(here: Here, region: Region) -> str:
    weight = "an output" if region.weight is None else f"{here.show(region.weight)} outputs"
    if region.weight is not None and not region.weight.vars and here.show(region.weight) == "1":
        weight = "an output"
    each = " each" if weight != "an output" else ""
    return f"{weight} of masses {here.show(region.p)} and {here.show(region.q)}{each}"


def _where(here: Here, span: _Span) -> str:
    name = here.named(span.region.output or "")
    low = "minus infinity" if span.start is None else here.show(span.start)
    if span.region.kind == INTEGER and span.end is not None:
        return f"integers {name} from {low} to before {here.show(span.end)}"
    high = "infinity" if span.end is None else here.show(span.end)
    kind = "integers " if span.region.kind == INTEGER else ""
    return f"{kind}{name} from {low} to {high}"


def _at_end(
    here: Here, limit: Limit | None, end: Term | None, item: Term, name: str, side: str
) -> str:
    if limit is not None:
        return f"tending to {side} {here.show(limit.value)}"
    assert end is not None
    return here.show(context(()).canon.normal(substitute(item, {name: end})))


def _function(here: Here) -> Term:
    """The claim's function of the densities, in letters."""
    (claim,) = here.goal.claims
    forward = constraints(replace(claim, two_way=False, reverse=False))[0]
    assert isinstance(forward, Moment)
    p, q = var("p"), var("q")
    item = homogeneous(forward.form.f, *((q, p) if claim.reverse else (p, q)))
    if item.op not in ("max", "min"):
        return item
    canon = context((Fact(p, ">"), Fact(q, ">"))).canon
    return Term(item.op, tuple(map(canon.normal, item.args)))


def _integral(here: Here) -> str:
    spans, letters = _spans(here, here["pieces"]), (var("p"), var("q"))
    letters = letters[::-1] if here.goal.claims[0].reverse else letters
    sums = {span.region.kind == INTEGER for span in spans if span.region.output is not None}
    what = {frozenset([True]): "Sum", frozenset[bool](): "Add"}.get(frozenset(sums), "Integrate")
    grows = " At every output, an antiderivative grows at least as fast as the function."
    return (
        f"{what} {here.show(_function(here))} over all outputs, piece by piece. "
        f"{' '.join(_told(here, span, letters) for span in spans)}{grows * bool(sums)} "
        "It remains that the total is at most what is claimed."
    )


def _integral_headings(here: Here) -> Iterator[tuple[Mark, str]]:
    yield (
        _about_the_ratio,
        "of one sign or bounded below, so that the integral is a limit over bounded pieces",
    )
    yield from _piece_headings(here, _spans(here, here["pieces"]))
    last = here.premises[-1]
    yield _is(last), "the total"


def _about_the_ratio(premise: Goal) -> bool:
    return isinstance(premise, Sequent) and RATIO in premise.vars


def _piece_headings(here: Here, spans: list[_Span]) -> Iterator[tuple[Mark, str]]:
    for span in spans:
        name, item, number = span.region.output, span.piece.primitive, span.number
        if name is None:
            continue
        x = var(name)
        for limit, end, way in ((span.piece.first, span.start, -1), (span.piece.last, span.end, 1)):
            if limit is not None:
                a = way * x if end is None else 1 / (way * (end - x))
                slacks = [slack.value(a) for slack in limit.slacks]
                gap = sum(slacks, way * (limit.value - item))
                yield gap, f"piece {number}, near its {'end' if way == 1 else 'start'}"
        whole = span.region.kind == INTEGER
        growth = substitute(item, {name: x + 1}) - item if whole else derivative(item, name)
        yield _grows(here, span, growth), f"piece {number}, the growth"


def _grows(here: Here, span: _Span, growth: Term) -> Callable[[Goal], bool]:
    """Whether a premise says that the antiderivative grows at least as fast as the function."""
    name, values = span.region.output, _values(here, span)

    def marked(premise: Goal) -> bool:
        if not isinstance(premise, Sequent) or name not in premise.vars:
            return False
        try:
            same = context(premise.hypotheses).same
            return any(same(premise.goal.term, growth - value) for value in values)
        except Refusal:
            return False

    return marked


def _values(here: Here, span: _Span) -> list[Term]:
    """What may be integrated over the piece."""
    (claim,) = here.goal.claims
    p, q = span.region.p, span.region.q
    if claim.name == "Distributions":
        return [p, -p, q, -q] if span.piece.p is None else [span.piece.p]
    forward = constraints(replace(claim, two_way=False, reverse=False))[0]
    assert isinstance(forward, Moment)
    first, second = (q, p) if claim.reverse else (p, q)
    first, second = span.piece.p or first, span.piece.q or second
    if ZERO not in (first, second):
        return [homogeneous(forward.form.f, first, second)]
    ray, left = (forward.form.at_q, second) if first is ZERO else (forward.form.at_p, first)
    return [] if ray is None else [ray * left]


def _masses(here: Here) -> str:
    region = _pair(here).regions[0]
    parts = [_mass(here, one, region) for one in here["masses"]]
    what = here.show(_function(here))
    if here["mirror"] is not None:
        other = here.show(here["mirror"][0] - var(region.output or ""))
        what = f"the mean of {what} there and at {other}, which has the same integral,"
    late = any(one.shift is not ZERO for one in here["masses"]) and region.facts
    begins = " A law that is moved has mass from its own first integer on." if late else ""
    return (
        f"At every output, {what} is at most a sum of multiples of "
        f"densities: {'; '.join(parts)}.{begins} Each density has mass 1, so the integral is at "
        "most the sum of the factors."
    )


def _mass(here: Here, one: Mass, region: Region) -> str:
    name = region.output or ""
    at = one.scale * (var(name) - one.shift)
    where = "" if context(()).same(at, var(name)) else f" at {here.show(at)}"
    given = ", ".join(here.equal(key, item) for key, item in one.mapping)
    values = f" with {given}" if given else ""
    scaled = "" if context(()).same(one.scale, var(name) / var(name)) else here.show(one.scale)
    times = f", scaled by {scaled}" if scaled else ""
    return f"{here.show(one.coefficient)} times {here.named(one.density)}{where}{values}{times}"


def _mass_headings(here: Here) -> Iterator[tuple[Mark, str]]:
    output = _pair(here).regions[0].output

    def inside(premise: Goal) -> bool:
        return isinstance(premise, Sequent) and output in premise.goal.term.vars

    yield inside, "at every output"
    yield _is(here.premises[-1]), "the sum of the factors"


_SIDES = ("p", "-p", "q", "-q")


def _negatives(some: list[_Span], others: list[_Span]) -> bool:
    """Whether the antiderivatives and limits of the one are the negatives of those of the other."""

    def terms(span: _Span) -> list[Term | None]:
        piece = span.piece
        ends = (piece.first, piece.last)
        return [piece.primitive, *(None if end is None else end.value for end in ends)]

    if [span.piece.until for span in some] != [span.piece.until for span in others]:
        return False
    pairs = zip(some, others, strict=True)
    rows = [row for a, b in pairs for row in zip(terms(a), terms(b), strict=True)]
    same = context(()).same
    return all(a is b or (a is not None and b is not None and same(-a, b)) for a, b in rows)


def _distributions(here: Here) -> str:
    parts, first = [], 1
    before: list[_Span] = []
    for index, side in enumerate(_SIDES):
        spans = _spans(here, tuple(rows[index] for rows in here["pieces"]), first)
        first += len(spans)
        letter = -var(side[1:]) if side.startswith("-") else var(side)
        told = " ".join(_told(here, span, (letter,)) for span in spans)
        if side.startswith("-") and _negatives(before, spans):
            last = f" to {spans[-1].number}" if len(spans) > 1 else ""
            what = f"piece{'s' * bool(last)} {spans[0].number}{last}"
            told = f"the negatives of these, as {what}."
        parts.append(f"For {side}: {told}")
        before = spans
    return (
        "The densities are nonnegative, and each has mass 1: at most 1, and at least 1 as its "
        f"negative has at most -1. Integrate piece by piece. {' '.join(parts)}"
    )


def _distribution_headings(here: Here) -> Iterator[tuple[Mark, str]]:
    first = 1
    for index in range(len(_SIDES)):
        spans = _spans(here, tuple(rows[index] for rows in here["pieces"]), first)
        first += len(spans)
        yield from _piece_headings(here, spans)


def _series(here: Here) -> str:
    names = [here.show(item) for item in here["parameters"]]
    if len(_pair(here).regions[0].facts) == 1:
        return (
            f"The masses are those of the Poisson laws of means {names[0]} and {names[1]}, which "
            "the exponential series adds up to 1."
        )
    return (
        f"The masses are those of the binomial laws with probabilities {names[0]} and {names[1]}, "
        "which the binomial theorem adds up to 1."
    )


def _named(here: Here) -> str:
    name, value = here.named(here["name"]), here.show(here["value"])
    largest = "the largest integer that is at most " if here["kind"] == INTEGER else ""
    return f"Let {name} be {largest}{value}."


REASONS: dict[str, Sentence] = {
    "pairs": _pairs,
    "either": _cases,
    "named": _named,
    "equal": names("Here {} is {}, which takes its place.", "name", "value"),
    "pointwise": says("Compare the densities at every output."),
    "spread": says("Compare the likelihood ratios at any two outputs."),
    "integral": _integral,
    "masses": _masses,
    "distributions": _distributions,
    "series": _series,
}
HEADINGS: dict[str, Headings] = {
    "pairs": _pairs_headings,
    "either": _case_headings,
    "integral": _integral_headings,
    "masses": _mass_headings,
    "distributions": _distribution_headings,
}
