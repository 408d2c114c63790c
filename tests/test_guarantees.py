"""Each notion three times, over the loss, over the densities, in the kernel, and they agree."""

import inspect

import pytest
import sympy as sp
from sympy.stats import Expectation, Normal

import dpsym
import dpsym.guarantees as notions
from dpsym.errors import InputError, UnsupportedError
from dpsym.guarantees import (
    GDP,
    NOTIONS,
    TCDP,
    ZCDP,
    ApproxDP,
    BoundedRange,
    MomentBound,
    ProbabilisticDP,
    PureDP,
    RenyiDP,
    both,
    limit_at_infinity,
)
from dpsym.kernel import definitions
from dpsym.kernel import terms as k
from dpsym.kernel.statements import RATIO, Guarantee
from dpsym.losses import PrivacyLoss
from dpsym.scope import Scope
from dpsym.translate import to_sympy

L = PrivacyLoss()
a, e, d = sp.symbols("alpha epsilon delta", positive=True)
HALF = sp.Rational(1, 2)
UNSETTLED = "^alpha: .*alpha > 1 to where"


def no_idea(_term):
    return None


def kernel(guarantee, decide=no_idea, where=()):
    return guarantee.to_kernel(Scope(where), decide)


EXAMPLES = {
    "PureDP": PureDP(e),
    "ApproxDP": ApproxDP(e, d),
    "RenyiDP": RenyiDP(a + 1, e),
    "ZCDP": ZCDP(e),
    "TCDP": TCDP(e, 2),
    "GDP": GDP(e),
    "ProbabilisticDP": ProbabilisticDP(e, d),
    "BoundedRange": BoundedRange(e),
    "MomentBound": MomentBound(lambda loss: sp.exp(a * loss), d),
}
MOMENTS = [
    ApproxDP(HALF, d),
    RenyiDP(3, e),
    RenyiDP(1, e),
    RenyiDP(HALF, e),
    ProbabilisticDP(HALF, d),
    MomentBound(lambda loss: loss**2 + sp.exp(loss), d),
]


def test_every_notion_has_an_example_an_export_and_a_definition():
    assert set(NOTIONS) == set(EXAMPLES)
    assert set(NOTIONS) <= set(notions.__all__)
    assert set(NOTIONS) <= set(dpsym.__all__)
    assert set(NOTIONS) <= set(definitions.DEFINITIONS)


@pytest.mark.parametrize("guarantee", EXAMPLES.values(), ids=EXAMPLES)
def test_a_notion_is_documented_and_shown(guarantee):
    cls = type(guarantee)
    assert "Raises:" in inspect.getdoc(cls) and ">>>" in inspect.getdoc(cls)
    assert guarantee.text() and guarantee._repr_latex_().startswith("$")
    assert guarantee.expression(L).has(L)
    assert str(guarantee).startswith(cls.__name__)


@pytest.mark.parametrize("guarantee", EXAMPLES.values(), ids=EXAMPLES)
def test_a_notion_is_an_immutable_value(guarantee):
    again = type(guarantee)(*(getattr(guarantee, name) for name in guarantee.fields[:2]))
    assert guarantee == again and hash(guarantee) == hash(again)
    one_way = type(guarantee)(*(getattr(guarantee, n) for n in guarantee.fields[:2]), one_way=True)
    assert guarantee != one_way and "one_way=True" in repr(one_way)
    assert "from P to Q only" in one_way.text()
    with pytest.raises(AttributeError, match="immutable"):
        guarantee.epsilon = 1
    with pytest.raises(AttributeError, match="immutable"):
        del guarantee.one_way
    assert guarantee != 1


@pytest.mark.parametrize("guarantee", EXAMPLES.values(), ids=EXAMPLES)
def test_the_kernel_accepts_its_name_and_arity(guarantee):
    scope = Scope()
    for statement in guarantee.to_kernel(scope, up):
        definitions.definition(statement)
        assert statement.two_way and not statement.reverse


def up(_term):
    return ">"


@pytest.mark.parametrize("guarantee", MOMENTS, ids=repr)
def test_loss_form_and_density_form_agree_on_a_pair(guarantee):
    pair = [(sp.Rational(3, 5), sp.Rational(1, 4)), (sp.Rational(2, 5), sp.Rational(3, 4))]

    def mean(node):
        return sum(p * node.args[0].xreplace({L: sp.log(p / q)}) for p, q in pair)

    relation = guarantee.expression(L)
    form = guarantee.homogeneous()
    total = sum(q * form.f.subs(form.ratio, p / q) for p, q in pair)
    if isinstance(guarantee, ProbabilisticDP):  # log(12/5) > 1/2 > log(8/15)
        assert total == sp.Rational(3, 5)
        return
    expected = relation.lhs.replace(lambda node: isinstance(node, Expectation), mean)
    if isinstance(guarantee, RenyiDP) and guarantee.alpha != 1:  # from the divergence to its moment
        expected = sp.exp((guarantee.alpha - 1) * expected) * sp.sign(guarantee.alpha - 1)
    assert abs((total - expected).evalf()) < 1e-12


@pytest.mark.parametrize("guarantee", MOMENTS, ids=repr)
def test_density_form_and_kernel_definition_agree(guarantee):
    form = guarantee.homogeneous()
    (statement,) = kernel(guarantee)
    moment = definitions.constraints(statement)[0]
    t = sp.Symbol(RATIO, positive=True)
    theirs = to_sympy(moment.form.f, {RATIO: t, "epsilon": e, "delta": d})
    for at in (sp.Rational(1, 3), 1, 2, 5):
        assert abs((theirs.subs(t, at) - form.f.subs(form.ratio, at)).evalf()) < 1e-12
    assert (moment.form.at_p is None) == (form.at_q_zero is sp.oo)
    assert moment.form.at_q is k.ZERO and form.at_p_zero == 0
    bound = to_sympy(moment.bound, {"epsilon": e, "delta": d})
    assert sp.simplify(bound - form.bound) == 0


def test_renyi_orders():
    epsilon = k.var("epsilon")
    assert kernel(RenyiDP(2, e)) == (Guarantee("RenyiDP", (k.num(2), epsilon)),)
    assert kernel(RenyiDP(1, e)) == (Guarantee("KLDP", (epsilon,)),)
    assert kernel(RenyiDP(HALF, e))[0].name == "RenyiDPBelowOne"
    assert kernel(RenyiDP(sp.oo, e)) == kernel(PureDP(e))
    assert kernel(RenyiDP(float("inf"), e)) == kernel(PureDP(e))
    assert kernel(RenyiDP(a, e), up)[0].name == "RenyiDP"
    assert kernel(RenyiDP(a, e), lambda _: "=")[0].name == "KLDP"
    with pytest.raises(InputError, match=UNSETTLED):
        kernel(RenyiDP(a, e))
    with pytest.raises(InputError, match=UNSETTLED):
        kernel(RenyiDP(a, e), lambda _: "<")  # alpha itself is not positive then
    below = kernel(RenyiDP(a, e), lambda term: ">" if term is k.var("alpha") else "<")
    assert below[0].name == "RenyiDPBelowOne"


def test_zcdp_form_is_that_of_its_orders():  # Bun and Steinke (2016), Definition 1.1
    form = ZCDP(e).homogeneous()
    order = form.f.as_base_exp()[1]
    assert form.bound == sp.exp((order - 1) * order * e)


def test_hypotheses_of_a_subject():
    def facts(guarantee):
        scope = Scope()
        scope.assume(guarantee.hypotheses(), "subject")
        return set(map(str, scope.facts)) - {"epsilon > 0", "delta > 0", "alpha > 0"}

    x = sp.Symbol("x", real=True)
    assert facts(PureDP(x)) == facts(BoundedRange(x)) == facts(ZCDP(x)) == {"x >= 0"}
    assert (
        facts(ApproxDP(x, x))
        == facts(ProbabilisticDP(x, x))
        == {"x >= 0", "add(1, mul(-1, x)) >= 0"}
    )
    assert facts(RenyiDP(x, 1)) == {"x > 0"}
    assert facts(RenyiDP(sp.oo, x)) == {"x >= 0"}
    assert facts(MomentBound(lambda loss: loss, x)) == set()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: ApproxDP(1, sp.Rational(3, 2)),
            r"^delta: expected a number in \[0, 1\], got 3/2$",
        ),
        (lambda: ApproxDP(1, -0.1), "^delta: .*got -0.1$"),
        (lambda: ApproxDP(-1, 0), "^epsilon: expected a number >= 0, got -1$"),
        (lambda: ApproxDP(1, sp.pi / 3), "^delta: "),
        (lambda: PureDP(1 - sp.sqrt(2)), "^epsilon: expected a number >= 0"),
        (lambda: PureDP(1 - sp.exp(sp.exp(9))), "^epsilon: expected a number >= 0"),
        (lambda: PureDP(sp.oo), "^epsilon: "),
        (lambda: PureDP(float("nan")), "^epsilon: "),
        (lambda: PureDP("1"), "^epsilon: "),
        (lambda: PureDP(True), "^epsilon: "),
        (lambda: PureDP(L), "^epsilon: expected a parameter, not a random symbol"),
        (lambda: PureDP(Normal("X", 0, 1) + 1), "^epsilon: expected a parameter"),
        (lambda: RenyiDP(0, 1), "^alpha: expected a number > 0, got 0$"),
        (lambda: RenyiDP(-sp.oo, 1), "^alpha: "),
        (lambda: RenyiDP(2, -1), "^epsilon: "),
        (lambda: ZCDP(-1), "^rho: expected a number >= 0, got -1$"),
        (lambda: ZCDP(sp.oo), "^rho: "),
        (lambda: ProbabilisticDP(1, 2), "^delta: "),
        (lambda: BoundedRange(-1), "^epsilon: "),
        (lambda: PureDP(1, one_way=1), "^one_way: expected True or False, got 1$"),
        (lambda: MomentBound(3, 1), "^h: expected a function of the loss"),
        (lambda: MomentBound(e, 1), "^h: expected a function of the loss"),
        (lambda: MomentBound(L + PrivacyLoss("K"), 1), "^h: expected a function of the loss"),
        (lambda: MomentBound(sp.Lambda((e, d), e), 1), "^h: expected a function of the loss"),
        (lambda: MomentBound(lambda loss: "x", 1), "^h: "),
        (lambda: MomentBound(lambda loss: loss, sp.oo), "^c: "),
        (lambda: MomentBound(lambda loss: loss, 1, at_infinity=-sp.oo), "^at_infinity: "),
        (lambda: both(PureDP(1)), "^both: expected two or more"),
        (lambda: both(PureDP(1), 1), "^both: expected guarantees"),
    ],
)
def test_what_has_no_meaning_is_refused_at_once(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_a_function_outside_the_language_is_refused_at_once():
    with pytest.raises(UnsupportedError, match=r"^epsilon: floor is not in the language"):
        PureDP(sp.floor(e))


def test_a_number_beyond_all_bounds_takes_no_time():
    tower = sp.exp(sp.exp(sp.exp(100)))
    assert repr(PureDP(1 - tower)) == "PureDP(1 - exp(exp(exp(100))))"


def test_floats_are_shown_exactly():
    assert repr(ApproxDP(0.1, 1e-6)) == "ApproxDP(1/10, 1/1000000)"


def test_moments_are_equal_however_they_are_written():
    z = sp.Symbol("z")
    by_function = MomentBound(lambda loss: sp.exp(2 * loss), d)
    assert (
        by_function == MomentBound(sp.exp(2 * L), d) == MomentBound(sp.Lambda(z, sp.exp(2 * z)), d)
    )
    (statement,) = kernel(by_function)
    t = k.var(RATIO)
    assert statement.args == (t * k.exp(2 * k.log(t)), None, k.var("delta"))


x = sp.Symbol("x", real=True)


def by_assumption(expr):
    return "=" if expr.is_zero else ">" if expr.is_positive else "<" if expr.is_negative else None


@pytest.mark.parametrize(
    ("expr", "limit"),
    [
        (a, a), (x, sp.oo), (-x, -sp.oo), (a * x - x, None), (sp.exp(a * x), sp.oo),
        (sp.exp(-a * x), 0), (x * sp.exp(-a * x), 0), (x**2 + x, sp.oo), (x**2 - x, None),
        (3 - sp.exp(-x), 3), (sp.Max(0, 1 - sp.exp(e - x)), 1), (sp.Abs(-x), sp.oo),
        (-2 * sp.exp(x), -sp.oo), (sp.exp(-x) * sp.exp(-2 * x), 0), (sp.Min(x, e), e),
        (a * x + x**2 * sp.exp(x), sp.oo), (1 / x, None), (sp.log(x), None), (d * x, sp.oo),
        (sp.exp(-(x**2)), 0), (x * sp.exp(-(x**2)), None), (x * sp.exp(x) * sp.exp(-a), sp.oo),
        (sp.exp(1 - a * x) * a + d, d), (sp.erf(x), None),
    ],
)  # fmt: skip
def test_limits(expr, limit):
    assert limit_at_infinity(expr, x, by_assumption) == limit


def test_a_step_is_not_taken_for_a_line():
    step = sp.Piecewise((1, x < 5), (2, True)) + a * x
    assert limit_at_infinity(step, x, lambda _: "=") is None
    assert limit_at_infinity(1 + a * x, x, lambda _: "=") == 1


def test_a_moment_needs_its_value_at_infinity():
    moment = MomentBound(lambda loss: sp.exp((a - 1) * loss), d)
    assert kernel(moment, up)[0].args[1] is None
    assert kernel(moment, lambda _: "<")[0].args[1] is k.ZERO
    with pytest.raises(InputError, match=r"^at_infinity: expected the value of h\(L\)"):
        kernel(moment)
    with pytest.raises(InputError, match=r"^at_infinity: "):
        kernel(MomentBound(lambda loss: -loss, d))
    given_oo = MomentBound(lambda loss: sp.exp((a - 1) * loss), d, at_infinity=sp.oo)
    assert kernel(given_oo)[0].args[1] is None and "at_infinity=oo" in repr(given_oo)
    finite = MomentBound(lambda loss: sp.erf(loss), d, at_infinity=1)
    assert kernel(finite)[0].args[1] is k.ONE


def test_both_holds_all_of_them_flat():
    three = both(PureDP(1), both(ZCDP(e), ApproxDP(e, d)))
    assert len(three.guarantees) == 3 and three == both(*three.guarantees)
    assert hash(three) == hash(both(*three.guarantees))
    assert [item.name for item in kernel(three)] == ["PureDP", "ZCDP", "ApproxDP"]
    assert " and " in three.text() and three._repr_latex_().startswith("$")
    assert len(three.hypotheses()) == 5


def test_a_notion_that_leaves_something_out_can_not_be_defined():
    with pytest.raises(TypeError, match="needs title"):

        class Incomplete(notions.Guarantee):
            fields = ()

    assert "Incomplete" not in NOTIONS
