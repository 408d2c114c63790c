"""The guarantees by way of which a claim is proved, with the sources of the theorems between."""

from __future__ import annotations

from collections.abc import Iterator

from dpsym.goals import guarantee_text
from dpsym.kernel.proofs import Proof
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules import step
from dpsym.kernel.statements import (
    Assumed,
    Blend,
    Choice,
    Filter,
    Group,
    Guarantee,
    Inner,
    Joint,
    Mechanism,
    Repeated,
    Stage,
    Statement,
    parts,
)
from dpsym.kernel.theorems import Theorem
from dpsym.printing import TEXT
from dpsym.search.privacy.learned import THEOREMS
from dpsym.search.privacy.stages import is_either

__all__ = ["SOURCES", "route"]

_COMPOSED = {
    "PureDP": "Dwork and Roth (2014), Corollary 3.15",
    "ApproxDP": "Dwork and Roth (2014), Theorem 3.16",
    "RenyiDP": "Mironov (2017), Proposition 1",
    "RenyiDPBelowOne": "van Erven and Harremoës (2014), Theorem 28",
    "ZCDP": "Bun and Steinke (2016), Lemma 2.3",
    "TCDP": "Bun, Dwork, Rothblum and Steinke (2018), Lemma 2",
    "GDP": "Dong, Roth and Su (2022), Corollary 3.3",
}
SOURCES: dict[str, dict[str, str]] = {
    "composition": _COMPOSED,
    "Repeated": _COMPOSED,
    "Group": {
        "PureDP": "Dwork and Roth (2014), Theorem 2.2",
        "ApproxDP": "Vadhan (2017), Lemma 2.2",
        "RenyiDP": "Mironov (2017), Proposition 2",
        "ZCDP": "Bun and Steinke (2016), Proposition 1.9",
        "GDP": "Dong, Roth and Su (2022), Theorem 2.14",
    },
    "Blend": {
        "PureDP": "Balle, Barthe and Gaboardi (2018), Theorems 8 and 9",
        "ApproxDP": "Balle, Barthe and Gaboardi (2018), Theorems 8 and 9",
        "RenyiDP": "Mironov, Talwar and Zhang (2019), Section 3.3",
    },
    "either": {
        "PureDP": "Balle, Barthe and Gaboardi (2018), Theorem 10",
        "ApproxDP": "Balle, Barthe and Gaboardi (2018), Theorem 10",
    },
    "Filter": {
        "PureDP": "Rogers, Roth, Ullman and Vadhan (2016)",
        "RenyiDP": "Feldman and Zrnic (2021), Theorem 3.1",
        "ZCDP": "Feldman and Zrnic (2021), Theorem 3.1",
    },
    "Choice": {"PureDP": "McSherry (2009), Theorem 4"},
    "PureDP": {
        "ZCDP": "Bun and Steinke (2016), Proposition 1.4",
        "BoundedRange": "Durfee and Rogers (2019)",
    },
    "BoundedRange": {
        "PureDP": "Durfee and Rogers (2019)",
        "ZCDP": "Cesar and Rogers (2021), Lemma 3.4",
    },
    "RenyiDP": {
        "RenyiDP": "van Erven and Harremoës (2014), Theorem 3",
        "ApproxDP": "Mironov (2017), Proposition 3",
    },
    "ZCDP": {
        "RenyiDP": "Bun and Steinke (2016), Definition 1.1",
        "ApproxDP": "Bun and Steinke (2016), Lemma 3.5",
    },
    "TCDP": {"ApproxDP": "Bun, Dwork, Rothblum and Steinke (2018), Lemma 6"},
    "GDP": {
        "ApproxDP": "Dong, Roth and Su (2022), Corollary 2.13",
        "ZCDP": "Dong, Roth and Su (2022), Corollary B.6",
    },
}
"""Where a theorem is found: by the notion, or what several guarantees are made into, and the notion
that follows."""

_THROUGH = frozenset(
    {"certain", "claims", "directions", "either", "every", "forward", "integers", "postprocess"}
)


def route(theorem: Theorem) -> tuple[str, ...]:
    """What the proof shows on the way, a line each, and last the claim; nothing for a proof in one
    step.

    >>> import dpsym as dp
    >>> from sympy import symbols
    >>> rho, k = symbols("rho", positive=True), symbols("k", integer=True, positive=True)
    >>> for line in route(dp.prove(dp.repeat(dp.ZCDP(rho), k), dp.RenyiDP(3, 3 * k * rho)).proved):
    ...     print(line)
    k copies: ZCDP(k*rho), by Bun and Steinke (2016), Lemma 2.3
    the claim, by Bun and Steinke (2016), Definition 1.1
    """
    found = list(dict.fromkeys(_walked(theorem.statement, theorem.proof)))
    if not found:
        return ()
    return (*found, f"the claim{_last(theorem.statement, theorem.proof)}")


def _walked(goal: Statement, proof: Proof) -> Iterator[str]:
    for premise, below in _premises(goal, proof):
        if proof.rule in ("cut", "inner"):
            guarantees = proof.parameters["guarantees"]
            if premise.claims == guarantees and premise.facts == goal.facts:
                yield from _walked(premise, below)
                own = below.rule == "use" and below.parameters["theorem"] in THEOREMS
                source = ", by a theorem that was added" if own else None
                yield from (_shown(goal, proof, one, source) for one in guarantees)
            else:
                yield from _walked(premise, below)
        elif proof.rule in _THROUGH:
            yield from _walked(premise, below)


def _last(goal: Statement, proof: Proof) -> str:
    """The source of the last theorem: of what is left when all else is shown."""
    if proof.rule in (*_THROUGH, "cut", "inner"):
        for premise, below in reversed([*_premises(goal, proof)]):
            if proof.rule in _THROUGH or premise.claims == goal.claims:
                return _last(premise, below)
    return _source(goal.stages, goal.claims[0])


def _premises(goal: Statement, proof: Proof) -> Iterator[tuple[Statement, Proof]]:
    try:
        premises = step(goal, proof.rule, proof.parameters)
    except Refusal:  # not a proof that the kernel has accepted
        return
    for premise, below in zip(premises, proof.premises, strict=True):
        if isinstance(premise, Statement):
            yield premise, below


def _shown(goal: Statement, proof: Proof, guarantee: Guarantee, source: str | None) -> str:
    """One guarantee on the way: of which stages, and by what, if not by what is known of them."""
    said = guarantee_text(guarantee)
    if proof.rule == "inner":
        stage = goal.stages[proof.parameters["stage"]]
        inner = parts(stage)[proof.parameters["part"]]
        which = f"{_name(stage)}: each"
        if isinstance(stage, Blend) and is_either(stage):
            which = f"{_name(stage)}: part {proof.parameters['part'] + 1}"
        by = _source(_opened(inner), guarantee) if source is None else source
        return f"{which} has {said}{by}"
    first, last = proof.parameters["first"], proof.parameters["last"]
    stages = goal.stages[first : last + 1]
    if len(goal.stages) == 1:
        which = _name(stages[0])
    else:
        which = f"stage {first + 1}" if first == last else f"stages {first + 1} to {last + 1}"
    return f"{which}: {said}{_source(stages, guarantee) if source is None else source}"


def _opened(inner: Inner) -> tuple[Stage | Inner, ...]:
    return inner.stages if isinstance(inner, Joint) else (inner,)


def _name(stage: Stage) -> str:
    if isinstance(stage, Repeated):
        return f"{TEXT.show(stage.count)} copies"
    names = {Group: "the group", Blend: "the mixture", Filter: "the filter", Choice: "the choice"}
    return names.get(type(stage), "the mechanism")  # type: ignore[call-overload, no-any-return]


def _source(stages: tuple[Stage | Inner, ...], claim: Guarantee) -> str:
    """ ", by ..." if the theorem from these stages to the claim is a known one."""
    if len(stages) > 1:
        found = SOURCES["composition"].get(claim.name)
    elif isinstance(stages[0], (Assumed, Mechanism)):
        given = stages[0].guarantees if isinstance(stages[0], Assumed) else ()
        known = (SOURCES.get(one.name, {}).get(claim.name) for one in given)
        found = next((source for source in known if source is not None), None)
    else:
        mixed = isinstance(stages[0], Blend) and is_either(stages[0])
        found = SOURCES.get("either" if mixed else type(stages[0]).__name__, {}).get(claim.name)
    return f", by {found}" if found else ""
