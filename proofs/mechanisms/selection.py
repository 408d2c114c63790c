"""Selection: which of several candidates is best, without showing their scores.

Each candidate has a score, which changes by at most Delta between neighbouring data sets. The
mechanism gives the name of a candidate, and a good one is likelier. On two neighbours the
probabilities p and q of a candidate are compared; p/q is largest where this candidate's score fell
by Delta and the others rose by Delta, so that a factor 2 comes in. There is none for scores that
all move in one direction.

PureDP(eps) says p <= e^eps q, BoundedRange(eps) that p/q varies by at most a factor e^eps over the
candidates.
"""

from sympy import exp, symbols

import dpsym as dp
from dpsym.scripts import proved, refuted

epsilon, Delta = symbols("epsilon Delta", positive=True)


@proved(source="McSherry and Talwar (2007), Theorem 6")
def exponential_mechanism_is_pure():
    """Choose candidate i with probability proportional to e^(epsilon u_i/(2 Delta)):
    PureDP(epsilon), for 2 candidates; the next theorem has it for 3.

    Idea: the numerator changes by a factor of at most e^(epsilon/2), and so does the sum in the
    denominator. Exact: candidates that are far behind come as close as one likes.
    """
    return dp.check(dp.ExponentialMechanism(2, epsilon, Delta), dp.PureDP(epsilon))


@proved(source="Durfee and Rogers (2019); Dong, Durfee and Rogers (2020)")
def exponential_mechanism_has_bounded_range():
    """The same mechanism has BoundedRange(epsilon), for 2 and 3 candidates.

    Idea: the denominators are the same for all candidates, so the quotient of two ratios p/q has
    the numerators only. In epsilon this is half of what PureDP(epsilon) gives. Exact: one score up,
    one down.
    """
    return [
        dp.check(dp.ExponentialMechanism(count, epsilon, Delta), dp.BoundedRange(epsilon))
        for count in (2, 3)
    ]


@proved(source="McKenna and Sheldon (2020), Theorem 1")
def permute_and_flip_is_pure():
    """Permute-and-flip, which goes through the candidates in random order and takes each with
    probability e^(epsilon (u_i - max u)/(2 Delta)), is PureDP(epsilon), for 2 candidates.

    Idea: it is the best of scores with exponential noise, whose tail falls by e^(-epsilon/2) over
    the distance Delta. Exact: a candidate that is behind attains it.
    """
    return dp.check(dp.PermuteAndFlip(2, epsilon, Delta), dp.PureDP(epsilon))


@refuted(source="a slip: the constant for scores that all move in one direction")
def exponential_mechanism_without_the_factor_two():
    """False: probabilities proportional to e^(epsilon u_i/Delta) are PureDP(epsilon).

    Idea: one score falls by Delta while the other rises by it.
    """
    return dp.check(dp.ExponentialMechanism(2, 2 * epsilon, Delta), dp.PureDP(epsilon))


@refuted(source="a slip: a difference of two parts of sensitivity 2 each taken to have 2")
def exponential_mechanism_with_a_difference_as_score():
    """False: with scores that move by 4, probabilities proportional to e^(epsilon u_i/(2 2)) are
    PureDP(epsilon).

    Idea: the sensitivity of a difference is the sum.
    """
    mechanism = dp.ExponentialMechanism(2, 2 * epsilon, sensitivity=4)
    return dp.check(mechanism, dp.PureDP(epsilon))


@refuted(source="hyper-parameters chosen for free; see Papernot and Steinke (2022)")
def the_best_of_two_runs_is_free():
    """False: the larger output of two runs of randomized response is PureDP(epsilon).

    Idea: both runs give the smaller output with the square of a probability, so with the square of
    a ratio.
    """
    both = [(odds / (1 + exp(epsilon))) ** 2 for odds in (exp(epsilon), 1)]
    return dp.check(dp.Table([[chance, 1 - chance] for chance in both]), dp.PureDP(epsilon))


@proved(source="composition and post-processing of two runs")
def the_best_of_two_runs_costs_twice():
    """The larger output of two runs of randomized response is PureDP(2 epsilon).

    Idea: it is a post-processing of both outputs. Exact: both runs give the smaller output.
    """
    both = [(odds / (1 + exp(epsilon))) ** 2 for odds in (exp(epsilon), 1)]
    return dp.check(dp.Table([[chance, 1 - chance] for chance in both]), dp.PureDP(2 * epsilon))
