"""Proofs told as steps: what a sentence says, how steps are numbered, and LaTeX that is sound."""

from __future__ import annotations

import re

import pytest
from sympy import erfc, exp, log, sqrt, symbols

import dpsym as dp
from dpsym.explaining.abbreviating import Abbreviated
from dpsym.explaining.here import Here
from dpsym.explaining.steps import REASONS
from dpsym.kernel import terms as tm
from dpsym.kernel.proofs import Proof, prove_lemma, step
from dpsym.kernel.rules_mechanisms import Limit, Mass, Piece, Slack
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import Fact, Guarantee, Mechanism, Pair, Region, Statement
from dpsym.kernel.terms import ONE, var
from dpsym.latex import LATEX
from dpsym.printing import TEXT
from dpsym.results import Result
from dpsym.search.leaf.entry import MEMORY
from tests.data import inequalities

x, y = var("x"), var("y")
POSITIVE = (Fact(x, ">"),)
CASES = ("adv_2e2", "geom_var", "group", "lap_cdf_ratio", "mills_lb", "sub_em1", "tanh_le")


def goal(item: tm.Term, *hypotheses: Fact, rel: str = ">=") -> Sequent:
    return Sequent(hypotheses, Fact(item, rel))


def sentence(about: Sequent, rule: str, **parameters: object) -> str:
    premises = step(about, rule, parameters)
    here = Here(about, parameters, premises, Abbreviated(TEXT, []), lambda item: "Lemma 1")
    return REASONS[rule](here)


def test_derivatives() -> None:
    given = {"name": "x", "start": tm.ZERO, "from_open": False}
    about = goal(x - tm.log(1 + x), *POSITIVE)
    assert sentence(about, "derive", direction=1, **given) == (
        "At x = 0 it holds, and the difference of the sides does not decrease as x grows from "
        "there, by its derivative."
    )
    below = goal(tm.exp(-x) - 1 + x, Fact(-x, ">="))
    assert "as x falls from there" in sentence(below, "derive", direction=-1, **given)


def test_substitutions_tell_the_range() -> None:
    about = goal(x + 1, Fact(x - 2, ">"), Fact(3 - x, ">="))
    shift = {"name": "x", "kind": "shift", "new": "u", "item": tm.num(2)}
    assert sentence(about, "change", **shift) == "Substitute x = u + 2, with u > 0, u <= 1."
    decay = {"name": "x", "kind": "decay", "new": "u", "item": tm.num(3)}
    assert sentence(about, "change", **decay) == (
        "Substitute x = 3*exp(-u), with log(3/2) > u, u >= log(3/3)."
    )


def test_sums_of_products_name_the_textbook_inequality_and_the_identity() -> None:
    facts = (("lemma", None, None, ("exp_taylor", (x, 1))), ("hypothesis", 0, None, None))
    parameters = {
        "facts": facts,
        "multiplier": ((ONE.value, (), None),),
        "terms": ((ONE.value, (0,), None), (ONE.value, (1,), None)),
        "contradiction": False,
    }
    about = goal(tm.exp(x) - 1 + y, Fact(x + y, ">"))
    assert sentence(about, "positivstellensatz", **parameters) == (
        "By the textbook inequality exp(u) >= 1 + u at u = x and the hypothesis x + y > 0: "
        "exp(x) - 1 + y = exp(x) - (1 + x) + x + y, which is nonnegative."
    )


def test_contradictions() -> None:
    facts = (("hypothesis", 0, None, None), ("hypothesis", 1, None, None))
    parameters = {
        "facts": facts,
        "multiplier": (),
        "terms": ((ONE.value, (0,), None), (ONE.value, (1,), None)),
        "contradiction": True,
    }
    about = goal(y, Fact(x - 2, ">"), Fact(1 - x, ">="))
    assert sentence(about, "positivstellensatz", **parameters) == (
        "By the hypotheses x > 2; x <= 1: these contradict each other, as x - 2 + 1 - x is -1."
    )


def test_boxes_are_counted() -> None:
    half = tm.num(1).value / 2
    tree = ("split", "x", half, ("direct",), ("face", "x", -1, ("direct",)))
    about = goal(1 + x, Fact(x, ">="), Fact(1 - x, ">="))
    assert sentence(about, "boxes", tree=tree, bits=64) == (
        "By interval arithmetic on 2 boxes that cover the domain; where the difference is monotone "
        "in a variable, at an end."
    )
    assert sentence(about, "boxes", tree=("direct",), bits=64) == (
        "By interval arithmetic on the whole domain."
    )


def test_factors_denominators_and_powers() -> None:
    about = goal(tm.power(x, 2) * y - 2 * x * y + y, Fact(y, ">="))
    factors = ((x - 1, 2, 1), (y, 1, 1))
    assert sentence(about, "factor", coefficient=ONE.value, factors=factors) == (
        "The difference of the sides is (x - 1)**2*y; look at each factor."
    )
    fraction = goal(1 - x / (x - y), Fact(x - y, "!="))
    assert sentence(fraction, "clear", signs=((x - y, -1),)) == (
        "Multiply by -(x - y), which is positive."
    )
    assert sentence(
        goal(tm.log(x) - tm.log(y)), "monotone", function="log", larger=x, smaller=y
    ) == ("Since log is increasing, compare x and y.")


def test_kinks() -> None:
    about = goal(tm.maximum(x - y, 0) + y, Fact(x, ">="), Fact(y, ">="))
    kinked = tm.maximum(x - y, 0)
    assert sentence(about, "cases", kinked=kinked) == (
        "Take two cases: Max(x - y, 0) is x - y where x >= y, and 0 elsewhere."
    )
    assert (
        sentence(about, "branch", kinked=kinked, sign=-1)
        == "Here Max(x - y, 0) is 0, since y >= x."
    )
    hinges = ((ONE, -y, ONE, 1),)
    parameters = {"name": "x", "lower": tm.ZERO, "upper": None, "smooth": y, "hinges": hinges}
    assert sentence(about, "vertex", **parameters) == (
        "The difference of the sides is piecewise concave in x and does not fall in the end, so it "
        "is least at x = 0, or at the kink x = y."
    )


def test_a_fact_is_shown_first_and_its_proof_is_numbered_below_it() -> None:
    fact = Fact(1 + x, ">")
    split = Proof("split", {"item": x - 1}, (Proof("evident"), Proof("boxes", BOX)))
    proof = Proof("have", {"fact": fact}, (split, Proof("evident")))
    about = goal(x + 1, Fact(x + tm.num(1) / 2, ">="))
    lines = Result(prove_lemma(about, proof)).explain().splitlines()
    assert lines == [
        "Claim. For all real x with x + 1/2 >= 0: x + 1 >= 0.",
        "Proof.",
        "1. First, 1 + x > 0. Take the cases x >= 1 and x < 1. Evident: case x >= 1.",
        "1.1. Case x < 1. To show: the same. By interval arithmetic on the whole domain.",
        "2. To show: x + 1 >= 0. Each summand has this sign.",
    ]


BOX = {"tree": ("direct",), "bits": 64}


@pytest.mark.parametrize("latex", [False, True])
def test_definedness_is_part_of_the_proof(latex: bool) -> None:
    a = symbols("a", real=True)
    verdict = dp.check_inequality(0, a**2 / (a**2 + 1 - a))
    assert isinstance(verdict, dp.Proved)
    assert "so that everything is defined" in verdict.explain(latex)


def test_letters_stand_for_long_parts() -> None:
    part = tm.exp(x * y + 3 * x + tm.log(1 + y) * y)
    about = goal(part + part / (1 + part) + x, *POSITIVE, Fact(y, ">"))
    split = Proof("split", {"item": x - y}, (Proof("boxes", BOX), Proof("evident")))
    lines = Result(prove_lemma(about, split)).explain().splitlines()
    assert lines[2:4] == [
        "Here A = exp(x*y + 3*x)*(1 + y)**y.",
        "1. To show: A + A/(1 + A) + x >= 0. Take the cases x >= y and y > x. Evident: case y > x.",
    ]


def test_the_normal_distribution_is_explained() -> None:
    z = symbols("z", real=True)
    verdict = dp.check_inequality(erfc(-z / sqrt(2)) / 2, 1 + exp(z))
    assert isinstance(verdict, dp.Proved)
    assert verdict.explain().splitlines()[2] == (
        "Here Phi(x) = erfc(-x/sqrt(2))/2 is the distribution function of the standard normal law."
    )
    assert r"Here $\Phi(x) = \operatorname{erfc}(-x/\sqrt{2})/2$ is" in verdict.explain(latex=True)


# --- every proof: numbers and LaTeX -------------------------------------------------------------


def numbers(lines: list[str]) -> list[tuple[int, ...]]:
    heads = (re.match(r"((?:\d+\.)+) ", line) for line in lines)
    return [tuple(map(int, head[1].split(".")[:-1])) for head in heads if head]


def assert_numbered(found: list[tuple[int, ...]]) -> None:
    """Each number follows the last one: it begins a row below it, or continues one above."""
    last: tuple[int, ...] = (0,)
    for number in found:
        continues = number[:-1] == last[: len(number) - 1] and len(number) <= len(last)
        if continues:
            assert number[-1] == last[len(number) - 1] + 1, (last, number)
        else:
            assert number == (*last, 1), (last, number)
        last = number


COMMANDS = frozenset(
    r"""
    noindent textbf textgreater textless text mathrm mathsf operatorname begin end left right frac
    sqrt max min log Phi le ge ne cdot infty alpha Delta delta varepsilon kappa mu rho omega sigma
    pi lambda
    """.split()  # noqa: SIM905 - a list to read
)


def assert_latex(text: str) -> None:
    """Braces, dollars and \\left ... \\right match; nothing special stands outside formulas."""
    plain = re.sub(r"\\[\\{}$_#%&]", "", text)
    assert set(re.findall(r"\\([A-Za-z]+|.)", plain)) <= COMMANDS
    outside = []
    for paragraph in plain.split("\n\n"):
        pieces = paragraph.split("$")
        assert len(pieces) % 2 == 1, paragraph
        outside += pieces[::2]
        for piece in pieces:
            depth = 0
            for char in piece:
                depth += (char == "{") - (char == "}")
                assert depth >= 0, piece
            assert depth == 0, piece
            assert piece.count(r"\left") == piece.count(r"\right"), piece
            assert piece.count(r"\begin{cases}") == piece.count(r"\end{cases}"), piece
            assert not re.search(r"\^(?!\{)|_(?!\{)|\}\^\{[^{}]*\}\^", piece), piece
    assert not re.search(r"[_^#%&~<>]", "".join(outside))


@pytest.mark.parametrize("name", CASES)
def test_cases(name: str) -> None:
    MEMORY.clear()  # or else lemmas of other tests are used, and told first
    case = inequalities()[name]
    lhs, rhs, where = case.read()
    verdict = dp.check_inequality(lhs, rhs, where=where, strict=case.strict, budget=20)
    assert isinstance(verdict, dp.Proved), verdict
    lines = verdict.explain().splitlines()
    assert lines[0].startswith("Claim. ")
    assert_numbered(numbers(lines))
    assert len(numbers(lines)) >= 1
    text = verdict.explain(latex=True)
    assert_latex(text)
    assert len(text.split("\n\n")) == len(lines)


def test_theorems_about_mechanisms() -> None:
    e, f = symbols("epsilon_1 epsilon_2", nonnegative=True)
    b, d = symbols("b delta", positive=True)
    laplace = dp.AdditiveNoise(dp.noise.Laplace(scale=b), sensitivity=1)
    gaussian = dp.AdditiveNoise(dp.noise.Gaussian(sigma=b), sensitivity=1)
    geometric = dp.AdditiveNoise(dp.noise.Geometric(scale=b), sensitivity=1)
    response = dp.RandomizedResponse(e, categories=3)
    for subject, claim, where in (
        (dp.compose(dp.ApproxDP(e, d), dp.ApproxDP(f, d)), dp.ApproxDP(e + f, 2 * d), []),
        (dp.postprocess(dp.RenyiDP(2, e)), dp.RenyiDP(2, e), []),
        (laplace, dp.PureDP(1 / b), []),
        (dp.compose(dp.ZCDP(e), dp.ZCDP(f)), dp.ZCDP(e + f), []),
        (gaussian, dp.RenyiDP(2, 1 / b**2), []),
        (laplace, dp.RenyiDP(1, 1 / b), []),
        (response, dp.ApproxDP(0, (exp(e) - 1) / (exp(e) + 2)), []),
        (geometric, dp.PureDP(1 / b), []),
    ):
        verdict = dp.check(subject, claim, where=where)
        assert isinstance(verdict, dp.Proved), verdict
        for result in re.split(r"^(?=Lemma|Claim)", verdict.explain(), flags=re.MULTILINE):
            assert_numbered(numbers(result.splitlines()))
        assert_latex(verdict.explain(latex=True))


def about(claim: Guarantee, *regions: Region) -> Statement:
    return Statement((("y", "real"),), (Fact(y, ">"),), (Mechanism((Pair(regions),)),), (claim,))


def told(about: Statement, rule: str, **parameters: object) -> str:
    premises = step(about, rule, parameters)
    return REASONS[rule](Here(about, parameters, premises, Abbreviated(TEXT, []), str))


def test_an_integral_tells_its_pieces_and_the_values_at_their_ends() -> None:
    total = Guarantee("ApproxDP", (tm.ZERO, tm.num(1) / 4), False)
    flat = Region(ONE, 2 * x, "x", (Fact(x, ">="), Fact(1 - x, ">=")))
    half = tm.num(1) / 2
    pieces = ((Piece(x - tm.power(x, 2), until=half), Piece(tm.num(1) / 4)),)
    assert told(about(total, flat), "integral", low=(tm.ZERO, tm.ZERO), pieces=pieces) == (
        "Integrate Max(p - q, 0) over all outputs, piece by piece. "
        "Piece 1, x from 0 to 1/2: the antiderivative is x - x**2, 0 at the start and 1/4 at the "
        "end. Piece 2, x from 1/2 to 1: the antiderivative is 1/4, 1/4 at the start and 1/4 at the "
        "end. At every output, an antiderivative grows at least as fast as the function. It "
        "remains that the total is at most what is claimed."
    )


def test_a_sum_tells_its_limits_and_what_the_masses_are() -> None:
    mass = (1 - tm.exp(-y)) * tm.exp(-x * y)
    steps = Region(mass, mass, "x", (Fact(x, ">="),), kind="integer")
    end = Limit(tm.ZERO, (Slack(ONE, "exp", 0, y, tm.ZERO),))
    pieces = ((Piece(tm.ZERO, last=end, p=2 * mass / 2, q=None),),)
    claim = Guarantee("ApproxDP", (tm.ZERO, tm.ZERO), False, True)
    text = told(about(claim, steps), "integral", low=(tm.ZERO, tm.ZERO), pieces=pieces)
    assert text.startswith("Sum Max(q - p, 0) over all outputs, piece by piece. Piece 1, integers ")
    assert "x from 0 to infinity, where q is 2*(1 - exp(-y))*exp(-x*y)/2: the antidiff" in text
    assert "0 at the start and tending to at most 0 at the end" in text


def test_known_masses_tell_where_the_densities_are_taken() -> None:
    p, q = (tm.exp(-tm.power(item, 2)) / tm.sqrt(tm.PI) for item in (x, x - y))
    second = Guarantee("RenyiDP", (tm.num(2), 2 * tm.power(y, 2)), False)
    moved = Mass(tm.exp(2 * tm.power(y, 2)), "p", -y, ONE, ())
    text = told(about(second, Region(p, q, "x")), "masses", masses=(moved,), mirror=None)
    assert "exp(2*y**2) times p at x + y. Each density has mass 1" in text
    even = told(about(second, Region(p, q, "x")), "masses", masses=(moved,), mirror=(y, None))
    assert "the mean of q*exp(2*log(p/q)) there and at y - x, which has the same" in even


def test_sums_of_known_laws_name_the_laws() -> None:
    def law(mean: tm.Term) -> tm.Term:
        return tm.exp(x * tm.log(mean) - mean - tm.lgamma(x + 1))

    counts = Region(law(ONE), law(y), "x", (Fact(x, ">="),), kind="integer")
    whole = Guarantee("Distributions", ())
    text = told(about(whole, counts), "series", parameters=(ONE, y))
    assert text.startswith("The masses are those of the Poisson laws of means 1 and y")
    mean = Guarantee("KLDP", (y - 1 - tm.log(y),), False)
    late = Mass(-tm.log(y), "p", ONE, ONE, ()), Mass(y - 1, "p", tm.ZERO, ONE, ())
    text = told(about(mean, counts), "masses", masses=late, mirror=None)
    assert "p at x - 1" in text and "mass from its own first integer on" in text


def test_the_check_of_latex_finds_faults() -> None:
    for text in ("$x", "a_1", r"$\left(x)$", r"$\sqrt{x$", r"$x^2$", r"$\unknown{x}$"):
        with pytest.raises(AssertionError):
            assert_latex(text)
    with pytest.raises(AssertionError):
        assert_numbered([(1,), (1, 2)])


def test_latex_names() -> None:
    names = ["alpha", "eps", "epsilon_1", "x2", "delta'", "foo_bar", "rate", "$t", "θ", "a^b"]
    assert [LATEX.show(var(name)) for name in names] == [
        r"$\alpha$",
        r"$\varepsilon$",
        r"$\varepsilon_{1}$",
        r"$x_{2}$",
        r"$\delta'$",
        r"$\text{foo\_bar}$",
        r"$\mathrm{rate}$",
        r"$\mathsf{t}$",
        r"$\theta$",
        r"$\text{a\textasciicircum{}b}$",
    ]


# -- stages that are made of others

count = symbols("k", integer=True)
loss, rate, mass = symbols("epsilon q delta", positive=True)
SAMPLED = log(1 + rate * (exp(loss) - 1))
MADE = [
    (
        dp.repeat(dp.PureDP(loss), count),
        dp.PureDP(count * loss),
        ["By induction on k: k + 1 copies are k copies", "For k = 1.", "From k to k + 1."],
    ),
    (dp.repeat(dp.PureDP(loss), 1), dp.PureDP(loss), ["One copy is the mechanism itself."]),
    (dp.group(dp.PureDP(loss), 1), dp.PureDP(loss), ["A chain of one pair is that pair."]),
    (
        dp.group(dp.PureDP(loss), count),
        dp.PureDP(count * loss),
        ["in a chain of k + 1 pairs, the first k make a pair", "Compare these at every output."],
    ),
    (
        dp.repeat(dp.RandomizedResponse(loss), count),
        dp.PureDP(count * loss),
        ["Show that each copy has PureDP(epsilon)"],
    ),
    (
        dp.group(dp.RandomizedResponse(loss), count),
        dp.PureDP(count * loss),
        ["Show that each pair of the chain has PureDP(epsilon)"],
    ),
    (
        dp.subsample(dp.RandomizedResponse(loss), rate),
        dp.PureDP(SAMPLED),
        [
            "P is R_0 with weight q and R_1 with weight 1 - q, Q is R_1, (R_0, R_1) is a pair of",
            "Show that the pair (R_0, R_1) has PureDP(epsilon)",
            "those of P and Q are q*$r0 + (1 - q)*$r1 and $r1",
        ],
    ),
    (
        dp.subsample(dp.ApproxDP(loss, mass), rate),
        dp.ApproxDP(SAMPLED, rate * mass),
        [
            "the claim's function of these is at most (q) g1(R_0, R_1)",
            "The claim's function is convex. To show",
            "At every output. To show",
        ],
    ),
    (
        dp.GDP(loss),
        dp.ZCDP(loss**2 / 2),
        ["the normal laws of variance 1 and means epsilon and 0 are the worst ones"],
    ),
]


@pytest.mark.parametrize(("subject", "claim", "sentences"), MADE)
def test_stages_that_are_made_of_others(
    subject: object, claim: object, sentences: list[str]
) -> None:
    verdict = dp.check(subject, claim, budget=30)
    assert isinstance(verdict, dp.Proved)
    text = verdict.explain()
    for one in sentences:
        assert one in text, one
    latex = verdict.explain(latex=True)
    outside = re.sub(r"\$[^$]*\$", "", latex)
    assert "_" not in outside and "^" not in outside
