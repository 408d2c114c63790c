"""Composition as data."""

import pytest
import sympy as sp

from dpsym.combinators import compose, parts_of, postprocess, stage
from dpsym.errors import InputError
from dpsym.guarantees import ZCDP, ApproxDP, PureDP, both
from dpsym.kernel.statements import Assumed, Mechanism, Processed
from dpsym.mechanisms import RandomizedResponse
from dpsym.scope import Scope


def test_compositions_flatten_and_are_values():
    nested = compose(PureDP(1), compose(ZCDP(2), RandomizedResponse(1)))
    assert nested == compose(PureDP(1), ZCDP(2), RandomizedResponse(1))
    assert hash(nested) == hash(compose(*nested.parts))
    assert nested != compose(ZCDP(2), PureDP(1), RandomizedResponse(1))
    with pytest.raises(AttributeError, match="immutable"):
        nested.parts = ()


@pytest.mark.parametrize("bad", [3, "PureDP(1)", None, sp.Symbol("x"), PureDP, [PureDP(1)]])
def test_a_subject_must_be_one(bad):
    with pytest.raises(InputError, match=r"^compose: expected a guarantee such as"):
        compose(PureDP(1), bad)
    with pytest.raises(InputError, match=r"^subject: "):
        list(parts_of(bad, "subject"))


def test_no_subjects():
    with pytest.raises(InputError, match=r"^compose: expected one or more.*got none$"):
        compose()


def test_stages():
    def kernel(part):
        return stage(part, Scope(), lambda _: None)

    assert len(kernel(both(PureDP(1), ApproxDP(0, 0))).guarantees) == 2
    assert isinstance(kernel(PureDP(1)), Assumed)
    assert isinstance(kernel(postprocess(PureDP(1))), Processed)
    assert isinstance(kernel(RandomizedResponse(1)), Mechanism)


def test_postprocess_takes_guarantees():
    assert postprocess(PureDP(1)) == postprocess(PureDP(1))
    with pytest.raises(InputError, match=r"^postprocess: "):
        postprocess(RandomizedResponse(1))
