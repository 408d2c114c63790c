"""The goal of a certificate as text, from the kernel's own terms.

What a reader of ``dpsym verify`` believes is this text, so nothing is left out of it: inner parts
of a deep or huge term are named ``$1``, ``$2``, ... and given after it. A name that could be taken
for something else (``"0"``, a line break) is shown in quotes.
"""

from __future__ import annotations

import re

from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import (
    INTEGER,
    REAL,
    Assumed,
    Blend,
    Choice,
    Fact,
    Filter,
    Guarantee,
    Joint,
    Mechanism,
    Pair,
    Processed,
    Region,
    Repeated,
    Stage,
    Statement,
)
from dpsym.kernel.terms import ONE, ZERO, Term, substitute, subterms, var
from dpsym.printing import TEXT, Notation

_DEEPEST, _LARGEST = 30, 2000  # what is shown in one piece
_SPECIAL = frozenset(
    {"pi", "exp", "log", "sqrt", "erfc", "Phi", "Abs", "Max", "Min", "Ite", "and", "for", "with"}
    | {"atan", "gamma", "loggamma", "lgamma", "of", "each", "integer", "where", "times"}
)
_OWN = re.compile(r"\$(?:[tsw]|r[0-9]{1,2})")  # the calculus's own variables
_CHOICE = "whichever of these mechanisms sees the record that differs"
_NORMALISED = "nonnegative densities of mass 1"


def goal_text(goal: Statement | Sequent, notation: Notation = TEXT) -> str:
    """What the statement, or the inequality, says, in a few lines.

    >>> from dpsym.kernel.terms import var
    >>> e, f = var("e"), var("f")
    >>> stages = tuple(Assumed((Guarantee("PureDP", (x,)),)) for x in (e, f))
    >>> claim = Guarantee("PureDP", (e + f,))
    >>> facts = (Fact(e, ">="), Fact(f, ">="))
    >>> names = (("e", "real"), ("f", "real"))
    >>> print(goal_text(Statement(names, facts, stages, (claim,))))
    the adaptive composition of
      1. any mechanism with PureDP(e)
      2. any mechanism with PureDP(f)
    has PureDP(e + f)
    for all real e, f with e >= 0, f >= 0
    """
    writer = _Goal(notation)
    return writer.inequality(goal) if isinstance(goal, Sequent) else writer.statement(goal)


def guarantee_text(guarantee: Guarantee, notation: Notation = TEXT) -> str:
    """What the guarantee says, in one line."""
    return _Goal(notation).guarantee(guarantee)


class _Goal:
    """Goals in one notation."""

    def __init__(self, notation: Notation) -> None:
        self.notation = notation

    def statement(self, statement: Statement) -> str:
        stages = [self.stage(stage) for stage in statement.stages]
        lines = []
        if len(stages) == 1:
            lines.append(stages[0])
        elif stages:
            lines += self.numbered(statement.stages)
        lines += self.claimed(statement.claims)
        if statement.variables or statement.facts:
            lines.append(f"for all {self.domain(statement.variables, statement.facts)}")
        return "\n".join(lines)

    def numbered(self, stages: tuple[Stage | Joint, ...]) -> list[str]:
        return ["the adaptive composition of", *self.listed(stages)]

    def listed(self, stages: tuple[Stage | Joint, ...]) -> list[str]:
        return [
            f"  {number}. {self.stage(stage)}".replace("\n", "\n   ")
            for number, stage in enumerate(stages, 1)
        ]

    def claimed(self, claims: tuple[Guarantee, ...]) -> list[str]:
        said = [self.guarantee(claim) for claim in claims if claim.name != "Distributions"]
        lines = ["has " + " and ".join(said)] if said else []
        if len(said) < len(claims):
            lines.append(f"{'and ' if said else ''}has {_NORMALISED}")
        return lines

    def inequality(self, sequent: Sequent) -> str:
        names = tuple((name, REAL) for name in sorted(sequent.vars))
        domain = self.domain(names, sequent.hypotheses)
        return self.fact(sequent.goal) + (f"\nfor all {domain}" if domain else "")

    def stage(self, stage: Stage | Joint) -> str:
        if isinstance(stage, (Assumed, Processed)):
            having = " and ".join(map(self.guarantee, stage.guarantees))
            some = f"any mechanism with {having}" if having else "any mechanism"
            return f"a post-processing of {some}" if isinstance(stage, Processed) else some
        if isinstance(stage, Mechanism):
            return self.mechanism(stage)
        if isinstance(stage, Blend):
            return self.blend(stage)
        if isinstance(stage, Joint):
            return "\n".join(self.numbered(stage.stages))
        if isinstance(stage, Choice):
            return "\n".join([_CHOICE, *self.listed(stage.stages)])
        what = self.stage(stage.stage)
        if isinstance(stage, Filter):
            name, budget = self.name(stage.name), self.term(stage.budget)
            return (
                f"an adaptive composition of {what}, each at a {name} >= 0 that may depend on the "
                f"earlier outputs, where these add up to at most {budget},"
            )
        count = self.term(stage.count)
        if isinstance(stage, Repeated):
            return f"the adaptive composition of {count} copies of {what}"
        return f"the first and last distribution of a chain of {count} neighbouring pairs of {what}"

    def blend(self, blend: Blend) -> str:
        names = [self.name(f"R_{i}") for i in range(len(blend.p))]
        lines = ["given a random value that the data do not influence and the output may hide:"]
        for side, weights in (("P", blend.p), ("Q", blend.q)):
            used = [(w, r) for w, r in zip(weights, names, strict=True) if w is not ZERO]
            mixed = " and ".join(
                r if w is ONE else f"{r} with weight {self.term(w)}" for w, r in used
            )
            lines.append(f"  {side} is {mixed},")
        for link in blend.links:
            what = self.stage(link.stage).replace("\n", "\n  ")
            lines.append(f"  ({names[link.first]}, {names[link.second]}) is a pair of {what},")
        return "\n".join(lines).removesuffix(",")

    def mechanism(self, mechanism: Mechanism) -> str:
        lines = ["the mechanism with the neighbouring pairs"]
        for pair in mechanism.pairs:
            lines.append(f"  {self.pair_head(pair)}")
            lines += [f"    {self.region(region)}" for region in pair.regions]
        return "\n".join(lines)

    def pair_head(self, pair: Pair) -> str:
        label = f"({self.notation.words(repr(pair.label))}) " if pair.label else ""
        limited = bool(pair.variables or pair.facts)
        scope = f"for all {self.domain(pair.variables, pair.facts)}" if limited else ""
        factor = "" if pair.normalised else ", up to one positive factor of p and q"
        return f"{label}{scope or 'one pair'}{factor}:"

    def region(self, region: Region) -> str:
        sizes = f"{self.equal('p', region.p)}, {self.equal('q', region.q)}"
        if region.output is None:
            plain = region.weight in (None, ONE)
            times = "" if plain else f"{self.term(region.weight or ONE)} times "
            return f"{times}an atom with {sizes}"
        inside = f" where {self.facts(region.facts)}" if region.facts else ""
        times = "" if region.weight is None else f", times {self.term(region.weight)}"
        name = self.name(region.output)
        if region.kind == INTEGER:
            return f"masses {sizes}{times} of each integer {name}{inside}"
        return f"densities {sizes}{times} of {name}{inside}"

    def guarantee(self, guarantee: Guarantee) -> str:
        if guarantee.name == "Distributions":
            return _NORMALISED
        pieces: list[tuple[str, Term]] = []
        args = [arg if arg is None else _clear(arg, pieces) for arg in guarantee.args]
        shown = self.with_pieces(self.notation.show_call(guarantee.name, args), pieces)
        way = "one way, (Q, P)" if guarantee.reverse else "one way, (P, Q)"
        return shown + ("" if guarantee.two_way else f" {way}")

    def domain(self, variables: tuple[tuple[str, str], ...], facts: tuple[Fact, ...]) -> str:
        kinds: dict[str, list[str]] = {}
        for name, kind in variables:
            kinds.setdefault(kind, []).append(self.name(name))
        names = " and ".join(f"{kind} {', '.join(names)}" for kind, names in kinds.items())
        return " with ".join(part for part in (names, self.facts(facts)) if part)

    def facts(self, facts: tuple[Fact, ...]) -> str:
        return ", ".join(map(self.fact, facts))

    def name(self, name: str) -> str:
        return self.notation.show(var(_clear_name(name)))

    def fact(self, fact: Fact) -> str:
        pieces: list[tuple[str, Term]] = []
        term = _clear(fact.term, pieces)
        return self.with_pieces(self.notation.show_fact(Fact(term, fact.rel)), pieces)

    def term(self, node: Term) -> str:
        pieces: list[tuple[str, Term]] = []
        return self.with_pieces(self.notation.show(_clear(node, pieces)), pieces)

    def equal(self, name: str, node: Term) -> str:
        pieces: list[tuple[str, Term]] = []
        shown = self.notation.show_equal(var(name), _clear(node, pieces))
        return self.with_pieces(shown, pieces)

    def with_pieces(self, shown: str, pieces: list[tuple[str, Term]]) -> str:
        equations = [self.notation.show_equal(var(name), piece) for name, piece in pieces]
        return f"{shown} [where {'; '.join(equations)}]" if equations else shown


def _clear_name(name: str) -> str:
    plain = name.rstrip("'").isidentifier() and name.isascii() and name not in _SPECIAL
    return name if plain or _OWN.fullmatch(name) else ascii(name)


def _clear(node: Term, pieces: list[tuple[str, Term]]) -> Term:
    """The term without unclear names and, if it is deep or huge, its inner parts as ``pieces``."""
    names = {name: var(_clear_name(name)) for name in node.vars if _clear_name(name) != name}
    return _in_pieces(substitute(node, names), pieces)


def _in_pieces(node: Term, pieces: list[tuple[str, Term]]) -> Term:
    """The term with its inner parts replaced by names, and these parts, each shallow and small."""
    if node.depth <= _DEEPEST and node.size <= _LARGEST:
        return node
    done: dict[Term, Term] = {}
    for part in subterms(node):
        built = Term(part.op, tuple(done[arg] for arg in part.args), part.value)
        if part is not node and (built.depth >= _DEEPEST or built.size > _LARGEST):
            pieces.append((f"${len(pieces) + 1}", built))
            built = var(pieces[-1][0])
        done[part] = built
    return done[node]
