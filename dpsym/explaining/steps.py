"""A checked proof as numbered steps that a mathematician can follow, as text or in LaTeX.

Inferences that leave one thing to show follow each other; where one leaves several, each has its
own steps below it. What is evident is told in the line of the step that needs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dpsym.certificates import earlier_results
from dpsym.explaining import leaf, mechanisms, privacy, stages
from dpsym.explaining.abbreviating import Abbreviated, abbreviations
from dpsym.explaining.here import Here, Mark
from dpsym.explaining.leaf import LAST_MATTERS, NONE_MATTERS
from dpsym.goals import goal_text, guarantee_text
from dpsym.kernel.canon import to_term
from dpsym.kernel.proofs import Lemma, Proof, step, top_obligations
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules import Goal
from dpsym.kernel.rules_privacy import statement_obligations
from dpsym.kernel.sequents import Sequent, context
from dpsym.kernel.statements import Fact, Statement
from dpsym.kernel.terms import Term
from dpsym.kernel.theorems import Theorem
from dpsym.latex import LATEX
from dpsym.printing import TEXT, Notation

__all__ = ["REASONS", "explain"]

REASONS = {**leaf.REASONS, **privacy.REASONS, **mechanisms.REASONS, **stages.REASONS}
_HEADINGS = {**leaf.HEADINGS, **mechanisms.HEADINGS, **stages.HEADINGS}
_CLOSED = "evident"
_QUIET = (
    frozenset({"tower", "support", "use"}) | mechanisms.QUIET | stages.QUIET
)  # whose evident premises are too many to tell
_MAX_LINES = 4000
Line = tuple[str, str]  # its number or heading, and the rest


def explain(root: Lemma | Theorem, latex: bool = False) -> str:
    """The proof, with the earlier results that it uses as lemmas of their own.

    In LaTeX, each step is a paragraph, for a document that loads amsmath.

    >>> import dpsym as dp
    >>> from sympy import exp, symbols
    >>> x = symbols("x", real=True)
    >>> proved = dp.check_inequality(exp(x), 1 + x * exp(x)).theorem.proved
    >>> print(explain(proved))  # doctest: +NORMALIZE_WHITESPACE
    Claim. For all real x: 1 + x*exp(x) >= exp(x).
    Proof.
    1. To show, in normal form: 1 + exp(x)*x >= exp(x). By the textbook inequality
    exp(u) >= 1 + u at u = -x: 1 - exp(x) + exp(x)*x = (exp(-x) - (1 - x))*exp(x), which is
    nonnegative.
    >>> print(explain(proved, latex=True).splitlines()[0])
    \\noindent \\textbf{Claim.} For all real $x$: $1 + x e^{x} \\ge e^{x}$.
    """
    results = earlier_results(root)
    names = {id(item): f"Lemma {number}" for number, item in enumerate(results[:-1], 1)}
    names[id(root)] = "Claim"
    lines: list[Line] = []
    for item in results:
        lines += _Explanation(names, item, LATEX if latex else TEXT).lines()
        if len(lines) > _MAX_LINES:
            lines = [*lines[:_MAX_LINES], ("", "...")]
            break
    if latex:
        heads = [rf"\textbf{{{head}.}} " if head else "" for head, _ in lines]
        texts = (rf"\noindent {head}{text}" for head, (_, text) in zip(heads, lines, strict=True))
        return "\n\n".join(texts)
    return "\n".join(f"{head}. {text}" if head else text for head, text in lines)


@dataclass
class _Step:
    """A sentence or more, and the steps below it."""

    text: str
    below: list[_Step] = field(default_factory=list)


def _folded(before: list[str], steps: Sequence[_Step]) -> _Step:
    """Steps that follow each other, as the first one with the others below it."""
    first, *rest = steps
    return _Step(" ".join([*before, first.text]), [*first.below, *rest])


def _sentence(text: str) -> list[str]:
    return [f"{text[:1].upper()}{text[1:]}."] if text else []


def _numbered(steps: Sequence[_Step], prefix: str = "") -> Iterator[Line]:
    for number, item in enumerate(steps, 1):
        yield f"{prefix}{number}", item.text
        yield from _numbered(item.below, f"{prefix}{number}.")


class _Explanation:
    """The proof of one result, in one notation."""

    def __init__(self, names: dict[int, str], item: Lemma | Theorem, notation: Notation) -> None:
        self.names, self.item, self.plain = names, item, notation
        self.goal: Goal = item.sequent if isinstance(item, Lemma) else item.statement
        self.letters: list[tuple[Term, Term]] = []
        if isinstance(self.goal, Sequent):
            self.letters = abbreviations(_goals(self.goal, item.proof))
        self.notation = Abbreviated(notation, self.letters)

    def lines(self) -> list[Line]:
        if isinstance(self.goal, Sequent):
            needed = top_obligations(self.goal.hypotheses, self.goal.goal)
            known = frozenset(self.goal.hypotheses)
        else:
            needed, known = statement_obligations(self.goal), frozenset(self.goal.facts)
        steps: list[_Step] = []
        shown: set[Fact] = set()
        for premise, proof in zip(needed, self.item.definedness, strict=True):
            if proof.rule != _CLOSED and premise.goal not in shown:
                why = ", so that everything is defined"
                steps.append(self.first(premise, proof, known, why))
                shown.add(premise.goal)
        steps += self.chain(self.goal, self.item.proof, known, shown=frozenset(shown))
        body = list(_numbered(steps))
        head = (self.names[id(self.item)], self.claim())
        return [head, ("", "Proof."), *self.notes(head, *body), *body]

    def claim(self) -> str:
        """The goal in one sentence, an inequality's domain first."""
        lines = [line.strip() for line in goal_text(self.goal, self.plain).splitlines()]
        if isinstance(self.goal, Sequent) and len(lines) > 1:
            lines = [f"{lines[1]}:", lines[0]]
        text = " ".join(lines)
        return f"{text[:1].upper()}{text[1:]}."

    def notes(self, *lines: Line) -> list[Line]:
        """What the letters stand for, and Phi, where they are used."""
        parts = [self.plain.show_equal(letter, part) for part, letter in self.letters]
        if any(self.plain.phi in text for _, text in lines):
            law = "the distribution function of the standard normal law"
            parts.append(f"{self.plain.normal_law} is {law}")
        return [("", f"Here {'; '.join(parts)}.")] if parts else []

    def first(self, premise: Sequent, proof: Proof, known: frozenset[Fact], why: str = "") -> _Step:
        """A fact that is shown on the way."""
        steps = self.chain(premise, proof, known, premise)
        return _folded([f"First, {self.notation.show_fact(premise.goal)}{why}."], steps)

    def chain(
        self,
        goal: Goal,
        proof: Proof,
        known: frozenset[Fact],
        above: Goal | None = None,
        shown: frozenset[Fact] = frozenset(),
    ) -> list[_Step]:
        """Steps that follow each other, until one leaves nothing or several things to show.

        ``known`` are hypotheses that need not be told, ``above`` the goal that was told last, and
        ``shown`` are facts already proved."""
        out: list[_Step] = []
        heading = ""
        while True:
            tidied = proof.rule == "tidy"
            while proof.rule == "tidy":
                (goal,), (proof,) = step(goal, "tidy", {}), proof.premises
            premises = step(goal, proof.rule, proof.parameters)
            pairs = list(zip(premises, proof.premises, strict=True))
            if proof.rule == "have":
                *before, (goal, rest) = pairs
                for premise, inner in before:
                    assert isinstance(premise, Sequent)
                    if inner.rule != _CLOSED and premise.goal not in shown:
                        out.append(self.first(premise, inner, known))
                known |= {proof.parameters["fact"]}
                proof = rest
                continue
            here = Here(goal, proof.parameters, premises, self.notation, self.name)
            left = [(premise, inner) for premise, inner in pairs if inner.rule != _CLOSED]
            told = [premise for premise, inner in pairs if inner.rule == _CLOSED]
            aim = self.aim(goal, known, above, tidied)
            why = [REASONS[proof.rule](here), *self.evident(proof.rule, here, told)]
            out.append(_Step(" ".join([*_sentence(heading), *aim, *why])))
            known |= frozenset(_hypotheses(goal))
            if len(left) != 1:
                for premise, inner in left:
                    heading, more = self.heading(proof.rule, here, premise)
                    steps = self.chain(premise, inner, known | more, goal)
                    out[-1].below.append(_folded(_sentence(heading), steps))
                return out
            heading, more = self.heading(proof.rule, here, left[0][0])
            above, ((goal, proof),), known = goal, left, known | more

    def aim(
        self, goal: Goal, known: frozenset[Fact], above: Goal | None, tidied: bool
    ) -> list[str]:
        """What is to be shown, unless it has just been told."""
        if isinstance(goal, Statement):
            stages = f", for {len(goal.stages)} stages" if len(goal.stages) > 1 else ""
            claims = " and ".join(guarantee_text(claim, self.plain) for claim in goal.claims)
            return [f"To show: {claims}{stages}."]
        new = [fact for fact in goal.hypotheses if fact not in known and fact.term.vars]
        given = f" when {', '.join(map(self.notation.show_fact, new))}" if new else ""
        if isinstance(above, Sequent) and goal.goal == above.goal:
            return [f"To show{given}: the same."] if given or above is not goal else []
        form = ", in normal form" if tidied else ""
        return [f"To show{given}{form}: {self.notation.show_fact(goal.goal)}."]

    def evident(self, rule: str, here: Here, told: Sequence[Goal]) -> list[str]:
        """A sentence on the premises that are evident, unless there is nothing to say."""
        parts = []
        for premise in told:
            if not isinstance(premise, Sequent) or rule in _QUIET:
                continue
            heading, more = self.heading(rule, here, premise)
            fact = _without_denominators(premise)
            if heading in ("", "side condition"):
                parts += [self.notation.show_fact(fact)] * bool(fact.term.vars)
            elif more:
                parts.append(heading)
            elif fact.term.vars:
                parts.append(f"{heading}: {self.notation.show_fact(fact)}")
        return [f"Evident: {'; '.join(dict.fromkeys(parts))}."] if parts else []

    def heading(self, rule: str, here: Here, premise: Goal) -> tuple[str, frozenset[Fact]]:
        """What the premise is to the rule, and the hypotheses that this tells."""
        for mark, text in _HEADINGS[rule](here) if rule in _HEADINGS else ():
            if _marked(premise, mark, _hypotheses(here.goal)):
                return text, frozenset([mark] if isinstance(mark, Fact) else [])
        if not isinstance(premise, Sequent) or not isinstance(here.goal, Sequent):
            return "", frozenset()
        last = rule in LAST_MATTERS and premise is here.premises[-1]
        if rule in NONE_MATTERS or (rule in LAST_MATTERS and not last):
            return "side condition", frozenset()
        return "", frozenset(premise.hypotheses if rule == "change" else [])

    def name(self, item: object) -> str:
        return self.names.get(id(item), "a lemma")


def _goals(goal: Sequent, proof: Proof) -> Iterator[Term]:
    """The terms of the goals that a proof tells."""
    todo: list[tuple[Goal, Proof]] = [(goal, proof)]
    while todo:
        goal_, proof = todo.pop()
        premises = step(goal_, proof.rule, proof.parameters)
        if isinstance(goal_, Sequent) and proof.rule not in (_CLOSED, "tidy"):
            yield goal_.goal.term
        todo += reversed(list(zip(premises, proof.premises, strict=True)))


def _hypotheses(goal: Goal) -> tuple[Fact, ...]:
    return goal.hypotheses if isinstance(goal, Sequent) else goal.facts


def _without_denominators(premise: Sequent) -> Fact:
    """The goal, which is evident, in the form in which it is."""
    canon = context(premise.hypotheses).canon
    return Fact(to_term(canon.together(canon(premise.goal.term))[0]), premise.goal.rel)


def _marked(premise: Goal, mark: Mark, before: tuple[Fact, ...]) -> bool:
    """Whether the premise has this new hypothesis, says that this term has a sign, or passes."""
    if isinstance(mark, Fact):
        return mark in _hypotheses(premise) and mark not in before
    if not isinstance(mark, Term):
        return mark(premise)
    if not isinstance(premise, Sequent):
        return False
    try:
        return context(premise.hypotheses).same(premise.goal.term, mark)
    except Refusal:
        return False
