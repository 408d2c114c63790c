"""What the rules for repetitions, groups and blends say in a proof."""

from __future__ import annotations

from collections.abc import Iterator

from dpsym.explaining.here import Headings, Here, Mark, Sentence, says
from dpsym.goals import guarantee_text
from dpsym.kernel import terms as tm
from dpsym.kernel.definitions import Support, constraints
from dpsym.kernel.rules import Goal
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import Blend, Group
from dpsym.kernel.terms import ONE, ZERO, Term, var

__all__ = ["HEADINGS", "QUIET", "REASONS"]


def _inner(here: Here) -> str:
    stage = here.goal.stages[here["stage"]]
    shown = " and ".join(
        guarantee_text(item, here.notation.notation) for item in here["guarantees"]
    )
    if isinstance(stage, Blend):
        link = stage.links[here["part"]]
        which = f"the pair ({_name(here, link.first)}, {_name(here, link.second)}) has"
    else:
        which = "each pair of the chain has" if isinstance(stage, Group) else "each copy has"
    return f"Show that {which} {shown}, and then take for it any mechanism that has it."


def _unroll(here: Here) -> str:
    (stage,) = here.goal.stages
    if isinstance(stage, Group):
        return "A chain of one pair is that pair."
    if stage.count is ONE:
        return "One copy is the mechanism itself."
    return f"{here.show(stage.count)} copies are so many stages."


def _induct(here: Here) -> str:
    (stage,) = here.goal.stages
    k = here.show(stage.count)
    if isinstance(stage, Group):
        return (
            f"By induction on {k}: in a chain of {here.show(stage.count + 1)} pairs, the first {k} "
            f"make a pair that has what is claimed for {k}, and one more pair follows."
        )
    return (
        f"By induction on {k}: {here.show(stage.count + 1)} copies are {k} copies, which together "
        f"have what is claimed for {k}, and one more."
    )


def _induct_headings(here: Here) -> Iterator[tuple[Mark, str]]:
    (stage,) = here.goal.stages
    *_, base, more = here.premises
    yield _is(base), f"for {here.equal(stage.count.value, ONE)}"
    yield _is(more), f"from {here.show(stage.count)} to {here.show(stage.count + 1)}"


def _is(goal: Goal) -> Mark:
    return lambda premise: premise is goal


def _parted(here: Here) -> str:
    (stage,) = here.goal.stages
    first, count = here["first"], int(stage.count.value.p)
    what = "pairs of the chain" if isinstance(stage, Group) else "copies"
    each = [
        " and ".join(guarantee_text(item, here.notation.notation) for item in here[key])
        for key in ("before", "after")
    ]
    return (
        f"Show that the first {first} {what} together have {each[0]} and the other "
        f"{count - first} {each[1]}, and then put these two together."
    )


def _parted_headings(here: Here) -> Iterator[tuple[Mark, str]]:
    *_, first, second, both = here.premises
    yield _is(first), "the first part"
    yield _is(second), "the other part"
    yield _is(both), "both together"


def _spent(here: Here) -> str:
    (stage,) = here.goal.stages
    b, x = here.show(stage.budget), here.named(stage.name)
    left = here.show(stage.budget - var(stage.name))
    return (
        f"By induction on the number of mechanisms: the first one takes {x} from the budget {b}, "
        f"and what follows is a filter with the budget {left}, which has what is claimed for that."
    )


def _spent_headings(here: Here) -> Iterator[tuple[Mark, str]]:
    *_, base, more = here.premises
    yield _is(base), "for no mechanism, where the distributions are the same"
    yield _is(more), "for the first mechanism and what follows"


def _ranged(here: Here) -> str:
    (stage,) = here.goal.stages
    least, length = var(here["name"]), stage.guarantees[here["guarantee"]].args[0]
    return (
        f"Let {here.show(least)} be the least loss, so that the others are at most "
        f"{here.show(least + length)}; as both distributions have mass 1, 0 lies between these."
    )


def _dominated(here: Here) -> str:
    (mean,) = here.goal.stages[here["stage"]].guarantees[here["guarantee"]].args
    return (
        "The claim's function is convex, so that among the pairs that stage "
        f"{here['stage'] + 1} can be, the normal laws of variance 1 and means {here.show(mean)} "
        "and 0 are the worst ones."
    )


def _dominated_headings(here: Here) -> Iterator[tuple[Mark, str]]:
    yield _about("$t"), "the claim's function is convex"


def _rotated(here: Here) -> str:
    first, second, mean = (here.show(here[key]) for key in ("first", "second", "mean"))
    return (
        f"The last two stages are normal, of means {first} and {second} against 0. Their "
        f"likelihood ratio is that of one such stage of mean {mean}, the root of the sum of "
        "squares."
    )


def _name(here: Here, index: int) -> str:
    """The name of a blend's distribution."""
    return here.named(f"R_{index}")


def _density(index: int) -> str:
    return f"$r{index}"


def _blended(here: Here) -> str:
    """The inequality between the densities that is integrated."""
    (stage,), (claim,) = here.goal.stages, here.goal.claims
    names = ", ".join(here.named(_density(i)) for i in range(len(stage.p)))
    p, q = (here.show(_mixture(weights)) for weights in (stage.p, stage.q))
    given = f"Here {names} are the densities of the distributions, those of P and Q are {p} and {q}"
    (claimed,) = constraints(claim)
    if isinstance(claimed, Support):
        return f"{given}. Compare these at every output."
    linear = tm.add(*(a * var(_density(i)) for i, a in enumerate(here["linear"]) if a is not ZERO))
    parts = [here.show(linear)] if linear is not ZERO else []
    for link, row in zip(stage.links, here["moments"], strict=True):
        ends = f"{_name(here, link.first)}, {_name(here, link.second)}"
        for number, weight in enumerate(row, 1):
            if weight is not ZERO:
                name = here.named(f"g{number}")
                parts.append(f"({here.show(weight)}) {name}({ends})")
    return (
        f"{given}. At every output, the claim's function of these is at most "
        f"{' + '.join(parts) or '0'}, where {here.named('g1')}, {here.named('g2')}, ... are the "
        "functions of the pair's guarantees. Integrate; as the claim's function is convex, hidden "
        "randomness is averaged over by Jensen's inequality. Outputs of density 0 under some of "
        "the distributions are looked at one by one."
    )


def _mixture(weights: tuple[Term, ...]) -> Term:
    parts = [w * var(_density(i)) for i, w in enumerate(weights) if w is not ZERO]
    return tm.add(*parts) if parts else ZERO


def _blended_headings(here: Here) -> Iterator[tuple[Mark, str]]:
    yield _about("$r"), "at every output"
    yield _about("$t"), "the claim's function is convex"


def _about(prefix: str) -> Mark:
    """Whether a premise is about such variables of the calculus."""
    return lambda premise: (
        isinstance(premise, Sequent) and any(name.startswith(prefix) for name in premise.vars)
    )


REASONS: dict[str, Sentence] = {
    "inner": _inner,
    "each": says("Show it for each of the mechanisms."),
    "certain": says(
        "Each side is one distribution, given what is hidden, which has the same law for both; the "
        "claim is convex."
    ),
    "unroll": _unroll,
    "induct": _induct,
    "blended": _blended,
    "parted": _parted,
    "spent": _spent,
    "ranged": _ranged,
    "dominated": _dominated,
    "rotated": _rotated,
}
HEADINGS: dict[str, Headings] = {
    "induct": _induct_headings,
    "blended": _blended_headings,
    "parted": _parted_headings,
    "spent": _spent_headings,
    "dominated": _dominated_headings,
}
QUIET = frozenset({"blended"})
"""Rules whose evident premises are too many to tell."""
