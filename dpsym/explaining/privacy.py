"""What the rules of the privacy calculus say in a proof."""

from __future__ import annotations

from dpsym.explaining.here import Here, Sentence, earlier, names, says
from dpsym.goals import guarantee_text
from dpsym.kernel import terms as tm
from dpsym.kernel.sequents import context
from dpsym.kernel.statements import PREFIX, RATIO
from dpsym.kernel.terms import substitute, var

__all__ = ["REASONS"]


def _cut(here: Here) -> str:
    first, last = here["first"] + 1, here["last"] + 1
    which = f"stage {first} has" if first == last else f"stages {first} to {last} together have"
    shown = " and ".join(
        guarantee_text(item, here.notation.notation) for item in here["guarantees"]
    )
    return f"Show that {which} {shown}, and then take them for one stage that has it."


def _tower(here: Here) -> str:
    """The multipliers, as functions of the ratio of the earlier stages."""
    name, canon = here.named, context(()).canon
    stages = []
    for number, row in enumerate(here["multipliers"], 1):
        parts = []
        moments = [(form, f"g{index}") for index, form in enumerate(row.moments, 1)]
        for form, what in ((row.p, "p"), (row.q, "q"), *moments):
            ratio = var(PREFIX) if number > 1 else tm.ONE
            factor = canon.normal(substitute(form.f, {RATIO: ratio}))
            if factor is not tm.ZERO:
                parts.append(f"({here.show(factor)}) {name(what)}")
        stages.append(f"{' + '.join(parts) or '0'} for stage {number}")
    return (
        "Bound the claim's function at every output, with the earlier outputs held fixed, and "
        f"integrate. The bounds, where {name('g1')}, {name('g2')}, ... are the functions of the "
        f"stage's guarantees, {name(PREFIX)} the likelihood ratio of the earlier stages and "
        f"{name(RATIO)} that of the stage: {'; '.join(stages)}."
    )


def _specialise(here: Here) -> str:
    return f"Use the family of stage {here['stage'] + 1} at {here.show(here['value'])}."


def _integers(here: Here) -> str:
    name = here.named(here["name"])
    return f"Since {name} is an integer above {here['bound']}, it is at least {here['bound'] + 1}."


REASONS: dict[str, Sentence] = {
    "claims": says("Show one claim after the other."),
    "forward": says("By symmetry, it is enough to show it for (P, Q)."),
    "directions": says("Show it for (P, Q) and for (Q, P)."),
    "integers": _integers,
    "every": names("Let {} be any order.", "name"),
    "specialise": _specialise,
    "cut": _cut,
    "use": earlier,
    "support": says("The likelihood ratios of the stages are bounded, and multiply."),
    "spanned": says(
        "The first loss lies in an interval of fixed length, which the later ones move: they are "
        "bounded on both sides."
    ),
    "tower": _tower,
    "limit": names("Let {} decrease to {}.", "name", "start"),
    "postprocess": says("The guarantee's function is convex, so Jensen's inequality applies."),
}
