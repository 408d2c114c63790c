"""Local mechanisms: each person randomizes the own answer.

Neighbouring inputs are any two answers of one person. A mechanism is a table of probabilities, one
row for each answer, and P and Q are any two of the rows. PureDP(eps) says p <= e^eps q at every
output, the other notions are those of composition.py; here they are sums over a few outputs.

Randomized response with k answers gives the true one with probability e^eps/(e^eps + k - 1), and
each other one with probability 1/(e^eps + k - 1). Of all mechanisms with PureDP(eps) the one with k
= 2 has the largest divergences, which is why it stands at the end of so many proofs in
conversions.py.
"""

from sympy import exp, log, symbols, tanh

import dpsym as dp
from dpsym.scripts import proved, refuted

alpha, epsilon, p = symbols("alpha epsilon p", positive=True)
delta0, w = symbols("delta0 w", nonnegative=True)
k = symbols("k", integer=True, positive=True)


@proved(source="Warner (1965); Dwork and Roth (2014), section 3.2")
def randomized_response_is_pure():
    """Randomized response with any number k >= 2 of answers is PureDP(epsilon).

    Idea: the true answer is e^epsilon times as likely as another one. Exact.
    """
    mechanism = dp.RandomizedResponse(epsilon, categories=k)
    return dp.check(mechanism, dp.PureDP(epsilon), where=[k >= 2])


@proved(source="Kairouz, Bonawitz and Ramage (2016), by direct summation")
def randomized_response_renyi():
    """With k answers the divergence of order alpha > 1 is at most log(m)/(alpha - 1) with
    m = (e^(alpha epsilon) + e^((1 - alpha) epsilon) + k - 2)/(e^epsilon + k - 1).

    Idea: two answers have the losses epsilon and -epsilon, the other k - 2 have none. Exact.
    """
    moment = (exp(alpha * epsilon) + exp((1 - alpha) * epsilon) + k - 2) / (exp(epsilon) + k - 1)
    claim = dp.RenyiDP(alpha, log(moment) / (alpha - 1))
    mechanism = dp.RandomizedResponse(epsilon, categories=k)
    return dp.check(mechanism, claim, where=[alpha > 1, k >= 2])


@proved(source="Bun and Steinke (2016), section 3, by direct summation")
def randomized_response_kl():
    """With two answers the Kullback-Leibler divergence is at most epsilon tanh(epsilon/2).

    Idea: the loss is epsilon with probability e^epsilon/(1 + e^epsilon), else -epsilon. Exact.
    """
    return dp.check(dp.RandomizedResponse(epsilon), dp.RenyiDP(1, epsilon * tanh(epsilon / 2)))


@proved(source="Kairouz, Oh and Viswanath (2015), the dominating mechanism of section 3")
def leaky_randomized_response():
    """Give the input away with probability delta0, else do randomized response with w:
    ApproxDP(w, delta0).

    Idea: what is given away is the only output with a loss above w. No mechanism with ApproxDP(w,
    delta0) has larger divergences. Exact.
    """
    keep = (1 - delta0) * exp(w) / (1 + exp(w))
    flip = (1 - delta0) / (1 + exp(w))
    table = dp.Table([[delta0, keep, flip, 0], [0, flip, keep, delta0]])
    return dp.check(table, dp.ApproxDP(w, delta0), where=[delta0 <= 1])


@proved(source="Erlingsson, Pihur and Korolova (2014); Wang, Blocki, Li and Jha (2017)")
def unary_encoding_is_pure():
    """Write the answer as one 1 among 0s, keep each bit with probability p >= 1/2, else flip it:
    PureDP(2 log(p/(1 - p))).

    Idea: between two answers two bits differ, and each has a loss of at most log(p/(1 - p)). Exact.
    """
    where = [2 * p >= 1, p < 1]
    return dp.check(dp.UnaryEncoding(p), dp.PureDP(2 * log(p / (1 - p))), where=where)


@refuted(source="a slip: one bit counted")
def unary_encoding_with_one_bit():
    """False: unary encoding is PureDP(log(p/(1 - p))).

    Idea: two bits differ.
    """
    where = [2 * p > 1, p < 1]
    return dp.check(dp.UnaryEncoding(p), dp.PureDP(log(p / (1 - p))), where=where)
