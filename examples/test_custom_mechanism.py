"""A property test of a mechanism of one's own: a survey in which one may decline to answer.

The code under test has the probabilities of its answers. The claim about it is proved in symbols,
and the code is held to it, at probabilities that are drawn.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, settings
from sympy import Rational, log, symbols

import dpsym as dp
from dpsym.testing import assert_private, parameters

ANSWERS = ("yes", "no", "declined")


def survey(truth: str, honesty: Fraction, silence: Fraction) -> dict[str, Fraction]:
    """The law of the answer: silent with one probability, honest with another, else a coin."""
    law = dict.fromkeys(ANSWERS, (1 - silence) * (1 - honesty) / 2)
    law[truth] += (1 - silence) * honesty
    law["declined"] = silence
    return law


h, s = symbols("honesty silence", positive=True)
INSIDE = [h < 1, s < 1]
EPSILON = log((1 + h) / (1 - h))


def test_the_idea():
    """Whatever the parameters are: as a table in symbols, with a proof."""
    honest, other = (1 - s) * (1 + h) / 2, (1 - s) * (1 - h) / 2
    table = dp.Table([[honest, other, s], [other, honest, s]])
    assert_private(table, dp.PureDP(EPSILON), where=INSIDE, require="proved")
    assert_private(table, dp.ApproxDP(0, (1 - s) * h), where=INSIDE)


@settings(max_examples=20, deadline=None)
@given(parameters(h, s, where=INSIDE))
def test_the_code(values):
    """What the code does has the privacy that was proved."""
    honesty, silence = (Fraction(int(values[x].p), int(values[x].q)) for x in (h, s))
    rows = [
        [Rational(p.numerator, p.denominator) for p in survey(truth, honesty, silence).values()]
        for truth in ("yes", "no")
    ]
    assert_private(dp.Table(rows), dp.PureDP(EPSILON.xreplace(values)))
