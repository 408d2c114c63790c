"""Structural rules: what is evident, cases, cuts, and dropping hypotheses.

In the texts, H are the hypotheses, ``|-`` separates them from the goal, and D(e | H) stands for the
sequents that make e defined where H holds.
"""

from __future__ import annotations

from dpsym.kernel.kinds import FACT, NAME, SIGN, TERM, EarlierKind, ListKind, RowKind
from dpsym.kernel.refusal import require
from dpsym.kernel.rules import Goal, keep, leaf_rule
from dpsym.kernel.sequents import Sequent, context, defined, obligations, unless_evident, with_facts
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import KINKED, Term, replace, subterms

ANY = (">=", ">", "!=")
LEMMA = EarlierKind()


@leaf_rule(*ANY)
def evident(goal: Sequent) -> list[Goal]:
    """The goal is seen from its canonical form.

    ------- every monomial is evidently nonnegative (one positive, for >), or the goal is a
    H |- g  positive multiple of a hypothesis

    Fails when the form has another monomial.
    """
    seen = context(goal.hypotheses).evident(goal.goal)
    require(seen, "evident", "the goal is evident", goal.goal)
    return []


@leaf_rule(*ANY)
def tidy(goal: Sequent) -> list[Goal]:
    """Canonical form, without positive factors and denominators.

    H |- e' rel 0
    ------------- e = m e', m > 0
    H |- e rel 0

    Never fails.
    """
    return [Sequent(goal.hypotheses, context(goal.hypotheses).tidy(goal.goal))]


@leaf_rule("!=", sign=SIGN)
def nonzero(goal: Sequent, sign: int) -> list[Goal]:
    """H |- sign e > 0
    --------------
    H |- e != 0

    Fails when the goal is not of the form e != 0.
    """
    return [Sequent(goal.hypotheses, Fact(sign * goal.goal.term, ">"))]


@leaf_rule(*ANY, kinked=TERM)
def cases(goal: Sequent, kinked: Term) -> list[Goal]:
    """Both branches of one occurrence of abs, max, min or ite.

    D(c | H)   H, c >= 0 |- g[u]   H, -c > 0 |- g[v]
    ------------------------------------------------
    H |- g[kinked]

    where kinked is u for c >= 0 and v otherwise. Hypotheses with the kinked term change likewise;
    they go after the new one, and then everything must be shown defined again.
    Fails when the term is not kinked or does not occur.
    """
    condition, then, otherwise = branches(kinked)
    changed = [fact for fact in goal.hypotheses if kinked in subterms(fact.term)]
    occurs = bool(changed) or kinked in subterms(goal.goal.term)
    require(occurs, "cases", "the kinked term occurs", kinked)
    rest = tuple(fact for fact in goal.hypotheses if fact not in changed)
    out = obligations(goal.hypotheses, condition)  # another ite may hide it
    for case, value in ((Fact(condition, ">="), then), (Fact(-condition, ">"), otherwise)):
        new = [Fact(replace(fact.term, kinked, value), fact.rel) for fact in changed]
        given = with_facts(rest, case, *new)
        fact = Fact(replace(goal.goal.term, kinked, value), goal.goal.rel)
        if changed:
            out.extend(defined(given, fact.term))
        out.append(Sequent(given, fact))
    return keep(out)


def branches(kinked: Term) -> tuple[Term, Term, Term]:
    """``c, u, v``: the term is u where c >= 0, and v elsewhere."""
    require(kinked.op in KINKED, "cases", "a term abs, max, min or ite", kinked)
    if kinked.op == "ite":
        return kinked.args[0], kinked.args[1], kinked.args[2]
    first, second = kinked.args if len(kinked.args) == 2 else (kinked.args[0], -kinked.args[0])
    if kinked.op == "abs":
        return first, first, second
    return (first - second if kinked.op == "max" else second - first), first, second


@leaf_rule(*ANY, kinked=TERM, sign=SIGN)
def branch(goal: Sequent, kinked: Term, sign: int) -> list[Goal]:
    """One branch of abs, max, min or ite, with a proof that it is the one taken.

    H |- c >= 0 (sign 1) or -c >= 0 (sign -1; -c > 0 for ite)   H |- g[u or v]
    --------------------------------------------------------------------------
    H |- g[kinked]

    The branches of abs, max and min agree at c = 0. Fails when the term is not kinked or does not
    occur in the goal.
    """
    condition, then, otherwise = branches(kinked)
    require(kinked in subterms(goal.goal.term), "branch", "the kinked term occurs", kinked)
    weak = ">" if kinked.op == "ite" else ">="
    taken = Fact(condition, ">=") if sign == 1 else Fact(-condition, weak)
    value = replace(goal.goal.term, kinked, then if sign == 1 else otherwise)
    return [Sequent(goal.hypotheses, fact) for fact in (taken, Fact(value, goal.goal.rel))]


@leaf_rule(*ANY, item=TERM)
def split(goal: Sequent, item: Term) -> list[Goal]:
    """Two cases.

    D(e | H)   H, e >= 0 |- g   H, -e > 0 |- g
    ------------------------------------------
    H |- g

    Never fails.
    """
    sides = Fact(item, ">="), Fact(-item, ">")
    cases = [Sequent(with_facts(goal.hypotheses, side), goal.goal) for side in sides]
    return keep([*obligations(goal.hypotheses, item), *cases])


@leaf_rule(*ANY, fact=FACT)
def have(goal: Sequent, fact: Fact) -> list[Goal]:
    """A fact proved on the way.

    D(f | H)   H |- f   H, f |- g
    -----------------------------
    H |- g

    Never fails.
    """
    after = Sequent(with_facts(goal.hypotheses, fact), goal.goal)
    return keep([*obligations(goal.hypotheses, fact.term), Sequent(goal.hypotheses, fact), after])


@leaf_rule(*ANY, lemma=LEMMA, mapping=ListKind(RowKind((NAME, TERM))))
def instance(goal: Sequent, lemma: object, mapping: tuple[tuple[str, Term], ...]) -> list[Goal]:
    """A sequent proved earlier, at other terms.

    D(s | H)   H |- h[s] for each h of H'
    ------------------------------------- H' |- g' was proved, g = g'[s]
    H |- g

    Fails when the goals differ.
    """
    proved: Sequent = lemma.sequent  # type: ignore[attr-defined]
    names = dict(mapping)
    require(len(names) == len(mapping), "instance", "each variable once", mapping)
    fact, wanted, known = proved.goal.substitute(names), goal.goal, context(goal.hypotheses)
    same = fact == wanted or (fact.rel == wanted.rel and known.same(fact.term, wanted.term))
    require(same, "instance", "the goal is the lemma's", wanted, fact)
    needed = (given.substitute(names) for given in proved.hypotheses)
    new = [given for given in needed if given not in goal.hypotheses]
    shown = obligations(goal.hypotheses, *names.values())
    return keep([*shown, *unless_evident(goal.hypotheses, *new)])
