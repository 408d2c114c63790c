"""What the rules for inequalities say in a proof, and headings for what they leave to show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dpsym.explaining.here import Headings, Here, Mark, Sentence, earlier, names, says
from dpsym.explaining.textbook import in_letters
from dpsym.kernel import terms as tm
from dpsym.kernel.lemmas import instance
from dpsym.kernel.rules_logic import branches
from dpsym.kernel.sequents import context
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term, derivative, substitute, var

__all__ = ["HEADINGS", "LAST_MATTERS", "NONE_MATTERS", "REASONS"]

_LONGEST = 200  # characters of an identity that is written out


# -- logic


def _evident(here: Here) -> str:
    known = getattr(here.goal, "hypotheses", ())
    return "It is a hypothesis." if here.goal.goal in known else "Each summand has this sign."


def _nonzero(here: Here) -> str:
    return f"It is {'positive' if here['sign'] == 1 else 'negative'}."


def _cases(here: Here) -> str:
    condition, then, otherwise = branches(here["kinked"])
    return (
        f"Take two cases: {here.show(here['kinked'])} is {here.show(then)} where "
        f"{here.fact(condition, '>=')}, and {here.show(otherwise)} elsewhere."
    )


def _branch(here: Here) -> str:
    condition, then, otherwise = branches(here["kinked"])
    if here["sign"] == 1:
        value, why = then, Fact(condition, ">=")
    else:
        value, why = otherwise, Fact(-condition, ">" if here["kinked"].op == "ite" else ">=")
    kinked = here.show(here["kinked"])
    return f"Here {kinked} is {here.show(value)}, since {here.notation.show_fact(why)}."


def _split(here: Here) -> str:
    return f"Take the cases {here.fact(here['item'], '>=')} and {here.fact(-here['item'], '>')}."


def _two_cases(here: Here) -> Iterator[tuple[Mark, str]]:
    item = here.parameters.get("item")
    condition = branches(here["kinked"])[0] if item is None else item
    for fact in (Fact(condition, ">="), Fact(-condition, ">")):
        yield fact, f"case {here.notation.show_fact(fact)}"


# -- algebra


def _clear(here: Here) -> str:
    known = context(here.goal.hypotheses)
    _, below = known.canon.together(known.canon(here.goal.goal.term))
    factor = tm.mul(*(tm.power(item, k) for item, k in below.items()))
    sign = 1
    for item, own in here["signs"]:
        sign *= own if below.get(item, 0) % 2 else 1
    return f"Multiply by {here.show(sign * factor)}, which is positive."


def _monotone(here: Here) -> str:
    way = "decreasing" if here["function"] == "erfc" else "increasing"
    larger, smaller = here.show(here["larger"]), here.show(here["smaller"])
    return f"Since {here['function']} is {way}, compare {larger} and {smaller}."


def _factor(here: Here) -> str:
    product = tm.mul(here["coefficient"], *(tm.power(f, k) for f, k, _ in here["factors"]))
    return f"The difference of the sides is {here.show(product)}; look at each factor."


def _textbook(here: Here, lemma: tuple[str, tuple[Any, ...]]) -> str:
    """The inequality in letters, and what stands for them."""
    found = in_letters(*lemma)
    if found is None:
        return here.notation.show_fact(instance(*lemma)[1])
    _, fact, terms = found
    at = ", ".join(here.equal(letter, term) for letter, term in terms.items())
    return here.notation.show_fact(fact) + (f" at {at}" if at else "")


def _subtract(here: Here) -> str:
    times = here.fact(here["multiplier"], ">=")
    return f"Use the textbook inequality {_textbook(here, here['lemma'])}, multiplied by {times}."


def _positivstellensatz(here: Here) -> str:
    """The textbook inequalities and hypotheses that are used and, if short, the identity."""
    facts = [_stated(here, row) for row in here["facts"]]
    used = sorted({i for row in (*here["terms"], *here["multiplier"]) for i in row[1]})
    books = [_textbook(here, here["facts"][i][3]) for i in used if here["facts"][i][0] == "lemma"]
    given = [here.notation.show_fact(facts[i]) for i in used if here["facts"][i][0] == "hypothesis"]
    because = _plural("the textbook inequalit", "y", "ies", books)
    because += _plural("the hypothes", "is", "es", given)
    by = f"By {' and '.join(because)}: " if because else ""
    total, factor = (_combination(facts, here[key]) for key in ("terms", "multiplier"))
    if here["contradiction"]:
        value = here.show(context(here.goal.hypotheses).canon.normal(total))
        return f"{by}these contradict each other, as {here.show(total)} is {value}."
    goal = here.goal.goal
    identity = here.notation.show_equal(tm.mul(factor, goal.term), total)
    sign = "positive" if goal.rel == ">" else "nonnegative"
    if len(identity) <= _LONGEST:
        return f"{by}{identity}, which is {sign}."
    times = "" if factor is tm.ONE else f", times {here.show(factor)},"
    count = len(here["terms"])
    return f"{by}the difference of the sides{times} is a sum of {count} products of these."


def _plural(stem: str, one: str, many: str, items: list[str]) -> list[str]:
    return [f"{stem}{one if len(items) == 1 else many} {'; '.join(items)}"] if items else []


def _stated(here: Here, row: tuple[Any, ...]) -> Fact:
    kind, index, item, lemma = row
    if kind == "hypothesis":
        found: Fact = here.goal.hypotheses[index]
        return found
    return instance(*lemma)[1] if lemma else Fact(item, ">" if kind == "positive" else ">=")


def _combination(facts: Sequence[Fact], rows: Sequence[tuple[Any, ...]]) -> Term:
    parts = []
    for value, indices, square in rows:
        squares = [] if square is None else [tm.power(square, 2)]
        parts.append(tm.mul(value, *(facts[i].term for i in indices), *squares))
    return tm.add(*parts)


def _boxes(here: Here) -> str:
    kinds: list[str] = []
    stack = [here["tree"]]
    while stack:
        node = stack.pop()
        kinds.append(node[0])
        stack += node[3:]
    count = sum(kind not in ("split", "face") for kind in kinds)
    cover = "on the whole domain" if count == 1 else f"on {count} boxes that cover the domain"
    face = "; where the difference is monotone in a variable, at an end" if "face" in kinds else ""
    return f"By interval arithmetic {cover}{face}."


# -- calculus


def _derive(here: Here) -> str:
    name, up = here.named(here["name"]), here["direction"] == 1
    at = here.equal(here["name"], here["start"])
    way = f"does not decrease as {name} {'grows' if up else 'falls'} from there"
    if here["from_open"]:
        way = f"increases as {name} {'grows' if up else 'falls'} from there"
    return f"At {at} it holds, and the difference of the sides {way}, by its derivative."


def _derivative_headings(here: Here) -> Iterator[tuple[Mark, str]]:
    name, start = here["name"], here["start"]
    yield substitute(here.goal.goal.term, {name: start}), f"at {here.equal(name, start)}"
    yield from _slope_heading(here)


def _slope_heading(here: Here) -> Iterator[tuple[Mark, str]]:
    name, item, sign = here["name"], here.goal.goal.term, here["direction"]
    turned = "" if sign == 1 else ", with the sign changed"
    slope = sign * derivative(item, name)
    yield slope, f"the derivative in {here.named(name)}{turned}"


def _approach(here: Here) -> str:
    name, up, start = here.named(here["name"]), here["direction"] == 1, here["start"]
    end = here.show(start) if start is not None else "minus infinity" if up else "plus infinity"
    return (
        f"As {name} tends to {end}, the difference of the sides has no negative limit, since with "
        f"a slack that vanishes it is nonnegative; and it does not decrease as {name} "
        f"{'grows' if up else 'falls'} from there, by its derivative."
    )


def _approach_headings(here: Here) -> Iterator[tuple[Mark, str]]:
    x, start, direction = var(here["name"]), here["start"], here["direction"]
    slack = 1 / (-direction * x) if start is None else direction * (x - start)
    yield here.goal.goal.term + here["rate"] * slack, "near the limit, with the slack"
    yield from _slope_heading(here)


def _secant(here: Here) -> str:
    first, last = (here.equal(here["name"], here[key]) for key in ("before", "start"))
    return (
        f"The difference of the sides is convex, not positive at {first} and nonnegative at "
        f"{last}, so it is nonnegative beyond."
    )


def _secant_headings(here: Here) -> Iterator[tuple[Mark, str]]:
    name, item = here["name"], here.goal.goal.term
    yield -substitute(item, {name: here["before"]}), f"at {here.equal(name, here['before'])}"
    yield substitute(item, {name: here["start"]}), f"at {here.equal(name, here['start'])}"
    bend = derivative(derivative(item, name), name)
    yield bend, f"the second derivative in {here.named(name)}"


def _hump(here: Here) -> str:
    name = here.named(here["name"])
    first = here.equal(here["name"], here["lower"])
    last = (
        "in the limit" if here["upper"] is None else f"at {here.equal(here['name'], here['upper'])}"
    )
    return (
        f"The difference of the sides is nonnegative at {first} and {last}, and once its slope in "
        f"{name} is negative it stays so, so between it is nonnegative."
    )


def _hump_headings(here: Here) -> Iterator[tuple[Mark, str]]:
    name, item = here["name"], here.goal.goal.term
    yield substitute(item, {name: here["lower"]}), f"at {here.equal(name, here['lower'])}"
    if here["upper"] is None:
        yield item + here["tail"][1] / var(name), "near the limit, with the slack"
    else:
        yield substitute(item, {name: here["upper"]}), f"at {here.equal(name, here['upper'])}"
    slope = derivative(item, name) / here["weight"]
    earlier = substitute(slope, {name: var(here["new"])})
    yield earlier, f"the slope at an earlier {here.named(here['new'])}"


def _vertex(here: Here) -> str:
    name = here.named(here["name"])
    ends = [here["lower"], here["upper"]] if here["upper"] is not None else [here["lower"]]
    kinks = [here.equal(here["name"], node) for node in _kinks(here)]
    last = "" if here["upper"] is not None else " and does not fall in the end"
    bent = f"{'piecewise ' * bool(kinks)}concave in {name}{last}"
    at = f", or at the kink{'s' * (len(kinks) > 1)} {', '.join(kinks)}" if kinks else ""
    shown = " and ".join(here.equal(here["name"], end) for end in ends)
    return f"The difference of the sides is {bent}, so it is least at {shown}{at}."


def _kinks(here: Here) -> list[Term]:
    canon = context(()).canon
    return [canon.normal(-u / v) for _, u, v, _ in here["hinges"]]


def _vertex_headings(here: Here) -> Iterator[tuple[Mark, str]]:
    item = here.goal.goal.term
    for value in (here["lower"], here["upper"], *_kinks(here)):
        if value is not None:
            yield substitute(item, {here["name"]: value}), f"at {here.equal(here['name'], value)}"


_IMAGES: dict[str, Callable[[Term, Term], Term]] = {
    "shift": lambda u, a: u + a,
    "negate": lambda u, a: a - u,
    "scale": lambda u, a: a * u,
    "inverse": lambda u, a: a / u,
    "log": lambda u, a: a * tm.log(u),
    "decay": lambda u, a: a * tm.exp(-u),
    "square": lambda u, a: a * tm.power(u, 2),
}


def _change(here: Here) -> str:
    new = here["new"]
    image = here.equal(here["name"], _IMAGES[here["kind"]](var(new), here["item"]))
    given = here.premises[-1].hypotheses
    known = [fact for fact in given if new in fact.term.vars and fact not in here.goal.hypotheses]
    which = ", ".join(here.notation.show_fact(fact) for fact in known)
    return f"Substitute {image}{f', with {which}' if which else ''}."


REASONS: dict[str, Sentence] = {
    "evident": _evident,
    "tidy": says("Write it in normal form."),
    "nonzero": _nonzero,
    "cases": _cases,
    "branch": _branch,
    "split": _split,
    "have": says("Show a fact first, and use it."),
    "instance": earlier,
    "multiply": names("Multiply by {}, which is positive.", "factor"),
    "clear": _clear,
    "monotone": _monotone,
    "square": names(
        "As {} is nonnegative, compare its square with that of {}.", "larger", "smaller"
    ),
    "factor": _factor,
    "subtract": _subtract,
    "positivstellensatz": _positivstellensatz,
    "derive": _derive,
    "approach": _approach,
    "secant": _secant,
    "hump": _hump,
    "change": _change,
    "vertex": _vertex,
    "boxes": _boxes,
}
HEADINGS: dict[str, Headings] = {
    "cases": _two_cases,
    "split": _two_cases,
    "derive": _derivative_headings,
    "approach": _approach_headings,
    "secant": _secant_headings,
    "hump": _hump_headings,
    "vertex": _vertex_headings,
}
LAST_MATTERS = frozenset(
    {"multiply", "clear", "subtract", "monotone", "square", "change", *HEADINGS}
)
"""Rules whose last premise is what is left to show; the others make sure that they apply."""
NONE_MATTERS = frozenset({"positivstellensatz"})
"""Rules all of whose premises make sure that they apply."""
