"""Theorems about guarantees with variables for arguments: found once, then used at other terms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from dpsym.kernel.definitions import conditions
from dpsym.kernel.statements import REAL, Assumed, Blend, Fact, Guarantee, Link, Stage, Statement
from dpsym.kernel.terms import ONE, ZERO, Term, exp, power, sqrt, substitute, var
from dpsym.kernel.theorems import Theorem
from dpsym.search.privacy.families import Sum, conversions, sums, weakening

Prove = Callable[[Statement], Theorem | None]
Mapping = tuple[tuple[str, Term], ...]
Use = tuple[Theorem, Mapping]

_found: dict[Statement, Theorem | None] = {}


class Abstraction:
    """A variable for each distinct argument."""

    def __init__(self) -> None:
        self.names: dict[Term, str] = {}

    def __call__(self, guarantee: Guarantee) -> Guarantee:
        args = tuple(None if arg is None else self.variable(arg) for arg in guarantee.args)
        return Guarantee(guarantee.name, args, guarantee.two_way, guarantee.reverse)

    def variable(self, arg: Term) -> Term:
        return var(self.names.setdefault(arg, f"x{len(self.names) + 1}"))

    def fresh(self) -> Term:
        """A variable of its own for an argument that may equal another one."""
        marker = var(f"argument {len(self.names)}")
        return self.variable(marker)

    def forget(self, variable: Term | None) -> None:
        """Leave out a variable that is not used."""
        self.names = {arg: name for arg, name in self.names.items() if var(name) is not variable}

    @property
    def mapping(self) -> Mapping:
        return tuple((name, term) for term, name in self.names.items())

    @property
    def variables(self) -> tuple[tuple[str, str], ...]:
        return tuple((name, REAL) for name in self.names.values())


def composition(
    first: Guarantee, second: Guarantee, family: str, index: int, prove: Prove
) -> Use | None:
    """The theorem behind one of ``sums``, and what to use it at."""
    rename = Abstraction()
    one, two = rename(first), rename(second)
    found = sums(one, two, family)
    if index >= len(found):
        return None
    proposal = found[index]
    if proposal.total.name == "GDP":
        proposal = _by_total(rename, proposal)
    stages = (Assumed((proposal.first,)), Assumed((proposal.second,)))
    theorem = _theorem(rename, proposal.facts, stages, proposal.total, prove)
    return None if theorem is None else (theorem, rename.mapping)


def _by_total(rename: Abstraction, found: Sum) -> Sum:
    """With a variable for the total sqrt(x^2 + y^2), and y written by it and x."""
    (x,), (total,) = found.first.args, found.total.args
    if x is None or total is None:
        return found
    whole = rename.variable(substitute(total, dict(rename.mapping)))
    rest = power(whole, 2) - power(x, 2)
    if found.second.args[0] is not x:
        rename.forget(found.second.args[0])
    facts = Fact(x, ">"), Fact(whole, ">"), Fact(rest, ">")
    second = replace(found.second, args=(sqrt(rest),))
    return Sum(found.first, second, replace(found.total, args=(whole,)), facts)


def sample(
    stage: Blend,
    claim: Guarantee,
    totals: Callable[[Blend, Guarantee], Iterator[Guarantee]],
    prove: Prove,
) -> Use | None:
    """The theorem about a sample, or one of two pairs, with a variable for the rate."""
    rename = Abstraction()
    first = stage.p[0]
    rate = rename.variable(first)
    known = {ZERO: ZERO, ONE: ONE, first: rate}
    p, q = (tuple(known.get(w, 1 - rate) for w in side) for side in (stage.p, stage.q))
    links, facts = list[Link](), [Fact(rate, ">="), Fact(1 - rate, ">=")]
    for link in stage.links:
        given = link.stage.guarantees if isinstance(link.stage, Assumed) else ()
        found = next((one for one in given if one.name == claim.name and one.two_way), None)
        if found is None:
            return None
        one = rename(found)
        links.append(replace(link, stage=Assumed((one,))))
        facts += [Fact(arg, ">=") for arg in one.args if arg is not None]
    made = Blend(p, q, tuple(links))
    for total in totals(made, claim):
        theorem = _theorem(rename, tuple(dict.fromkeys(facts)), (made,), total, prove)
        return None if theorem is None else (theorem, rename.mapping)
    return None


def chain(stage: Blend, claim: Guarantee, prove: Prove) -> Use | None:
    """The theorem that a chain of two Gaussian guarantees has the sum, with a variable for that and
    the second written by it."""
    given = [link.stage.guarantees for link in stage.links if isinstance(link.stage, Assumed)]
    means = [one.args[0] for own in given for one in own if one.name == "GDP" and one.two_way]
    if len(means) != len(stage.links) or None in (*means, *claim.args):
        return None
    rename = Abstraction()
    x, whole = (rename.variable(arg) for arg in (means[0], claim.args[0]) if arg is not None)
    pairs = zip(stage.links, (x, whole - x), strict=True)
    links = (replace(link, stage=Assumed((Guarantee("GDP", (m,)),))) for link, m in pairs)
    facts = Fact(x, ">"), Fact(whole, ">"), Fact(whole - x, ">")
    made = replace(stage, links=tuple(links))
    theorem = _theorem(rename, facts, (made,), Guarantee("GDP", (whole,)), prove)
    return None if theorem is None else (theorem, rename.mapping)


def conversion(first: Guarantee, claim: Guarantee, prove: Prove) -> Use | None:
    """The theorem that ``first`` gives ``claim`` under conditions on the arguments."""
    rename = Abstraction()
    one = rename(first)
    args = tuple(_argument(rename, first, arg) for arg in claim.args)
    facts = weakening(one, claim.name, args)
    if facts is None:
        return None
    weaker = Guarantee(claim.name, args, claim.two_way, claim.reverse)
    theorem = _theorem(rename, tuple(facts), (Assumed((one,)),), weaker, prove)
    if theorem is None:
        return None
    actual = dict(zip((str(arg.value) for arg in args), claim.args, strict=True))
    mapping = tuple((name, actual.get(name) or term) for name, term in rename.mapping)
    return theorem, mapping


def naturals(
    first: Guarantee, claim: Guarantee, prove: Prove, enough: Callable[[Guarantee], bool]
) -> Iterator[tuple[Use, Guarantee]]:
    """For each of ``conversions`` that is enough: the theorem behind it, what to use it at, and
    what it says there."""
    if None in first.args or None in claim.args:
        return
    rename = Abstraction()

    def named(guarantee: Guarantee) -> tuple[Term, ...]:
        """Variables for all arguments, but orders that are numbers, and 0, before the last one."""
        *before, last = (arg for arg in guarantee.args if arg is not None)
        order = guarantee.name.startswith("RenyiDP")
        kept = (
            arg if arg is ZERO or (order and arg.op == "num") else rename.variable(arg)
            for arg in before
        )
        return (*kept, rename.variable(last))

    one = replace(first, args=named(first))
    args = named(claim)
    for found in conversions(one, claim.name, args):
        total = found.total.substitute(dict(rename.mapping))
        if not enough(total):
            continue
        theorem = _theorem(rename, found.facts, (Assumed((one,)),), found.total, prove)
        if theorem is not None:
            yield (theorem, rename.mapping), total


def markov(first: Guarantee, claim: Guarantee, prove: Prove) -> Use | None:
    """The theorem that a Rényi guarantee bounds a tail of the loss: Mironov (2017), Proposition
    3."""
    if None in first.args or None in claim.args or first.name != "RenyiDP":
        return None
    rename = Abstraction()
    order, total, loss = (
        rename.variable(arg) for arg in (*first.args, claim.args[0]) if arg is not None
    )
    mass = exp((order - 1) * (total - loss))
    one, weaker = replace(first, args=(order, total)), replace(claim, args=(loss, mass))
    facts = (*conditions(one), *conditions(weaker))
    theorem = _theorem(rename, facts, (Assumed((one,)),), weaker, prove)
    return None if theorem is None else (theorem, rename.mapping)


def _argument(rename: Abstraction, first: Guarantee, arg: Term | None) -> Term:
    """The order of a Renyi guarantee is shared; every other argument may grow."""
    if first.name.startswith("RenyiDP") and arg is first.args[0] and arg is not None:
        return rename.variable(arg)
    return rename.fresh()


def _theorem(
    rename: Abstraction,
    facts: tuple[Fact, ...],
    stages: tuple[Stage, ...],
    claim: Guarantee,
    prove: Prove,
) -> Theorem | None:
    statement = Statement(rename.variables, facts, stages, (claim,))
    if statement not in _found:
        _found[statement] = None  # while it is proved
        try:
            _found[statement] = prove(statement)
        except BaseException:
            del _found[statement]
            raise
    return _found[statement]
