"""Kernel terms in LaTeX, for amsmath or MathJax. Not read back by anything."""

from __future__ import annotations

import re
import unicodedata

from flint import fmpq

from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term
from dpsym.printing import ATOM, POWER, PRODUCT, SUM, Notation, Written, sides

__all__ = ["LATEX"]

# fmt: off
_GREEK = frozenset((
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda",
    "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega", "Gamma",
    "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega",
))
# fmt: on
_SHORT = {"eps": "varepsilon", "epsilon": "varepsilon"}
_RELATIONS = {">=": r"\ge", "<=": r"\le", "!=": r"\ne", ">": ">", "<": "<"}
_FUNCTIONS = {
    "log": r"\log",
    "erfc": r"\operatorname{erfc}",
    "atan": r"\arctan",
    "lgamma": r"\log\Gamma",
    "Phi": r"\Phi",
    "max": r"\max",
    "min": r"\min",
}
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    **{char: "\\" + char for char in "#$%&_{}"},
}
_NAME = re.compile(r"([^\W\d_]+)_?(\d*)('*)")


class _Latex(Notation):
    """Within a sentence, every formula stands between dollar signs."""

    phi = r"\Phi\left("
    normal_law = r"$\Phi(x) = \operatorname{erfc}(-x/\sqrt{2})/2$"

    def show(self, node: Term) -> str:
        """The term as LaTeX.

        >>> from dpsym.kernel.terms import exp, log, var
        >>> a, x = var("alpha_1"), var("x")
        >>> print(LATEX.show(exp(a * log(x)) / (2 * x)))
        $\\frac{x^{\\alpha_{1}}}{2 x}$
        """
        return f"${self.written(node, SUM)}$"

    def show_fact(self, fact: Fact) -> str:
        left, rel, right = sides(fact)
        return f"${self.written(left, SUM)} {_RELATIONS[rel]} {self.written(right, SUM)}$"

    def show_equal(self, left: Term, right: Term) -> str:
        return f"${self.written(left, SUM)} = {self.written(right, SUM)}$"

    def show_call(self, name: str, args: list[Term | None]) -> str:
        shown = (r"\infty" if arg is None else self.written(arg, SUM) for arg in args)
        return rf"$\mathrm{{{name}}}({', '.join(shown)})$"

    def words(self, text: str) -> str:
        return "".join(_SPECIAL.get(char, char) for char in text)

    def number(self, value: fmpq) -> Written:
        text, level = super().number(value)
        if value.q == 1:
            return text, level
        sign = "-" if value < 0 else ""
        return rf"{sign}\frac{{{abs(value.p)}}}{{{value.q}}}", level

    def name(self, name: str) -> str:
        if name.startswith("$"):  # the calculus's own ratios
            return rf"\mathsf{{{self.name(name[1:])}}}" if len(name) > 1 else r"\text{\$}"
        found = _NAME.fullmatch(name)
        if found is None:
            return rf"\text{{{self.words(name)}}}"
        letters, digits, primes = found.groups()
        letters = "".join(_greek(char) for char in letters)
        if letters in _GREEK or letters in _SHORT:
            letters = "\\" + _SHORT.get(letters, letters)
        elif len(letters) > 1:
            letters = rf"\mathrm{{{letters}}}"
        return letters + (f"_{{{digits}}}" if digits else "") + primes

    def pi(self) -> str:
        return r"\pi"

    def brackets(self, text: str) -> str:
        return rf"\left({text}\right)"

    def exponent(self, node: Term) -> str:
        return self.written(node, SUM)

    def power(self, base: Term, exponent: str) -> str:
        return f"{self.written(base, ATOM)}^{{{exponent}}}"

    def quotient(self, above: list[Written], below: list[Written]) -> str:
        text = self.factors(above, alone=bool(below)) or "1"
        return rf"\frac{{{text}}}{{{self.factors(below, alone=True)}}}" if below else text

    def factors(self, parts: list[Written], alone: bool) -> str:
        least = SUM if alone and len(parts) == 1 else PRODUCT
        shown = [self.bracketed(part, least) for part in parts]
        out = ""
        for text in shown:
            digits = out[-1:].isdigit() and text[:1].isdigit()
            out += (r" \cdot " if digits else " ") * bool(out) + text
        return out

    def call(self, op: str, args: tuple[Term, ...]) -> Written:
        shown = [self.written(arg, SUM) for arg in args]
        if op == "exp":
            return f"e^{{{shown[0]}}}", POWER
        if op == "sqrt":
            return rf"\sqrt{{{shown[0]}}}", ATOM
        if op == "abs":
            return rf"\left|{shown[0]}\right|", ATOM
        if op == "ite":
            rows = rf"{shown[1]} & \text{{if }} {shown[0]} \ge 0 \\ {shown[2]} & \text{{else}}"
            return rf"\begin{{cases}}{rows}\end{{cases}}", PRODUCT
        return _FUNCTIONS[op] + self.brackets(", ".join(shown)), ATOM


def _greek(char: str) -> str:
    """The English name of a Greek letter; other letters as they are."""
    words = unicodedata.name(char, "").split()
    if words[:1] == ["GREEK"] and words[2:3] == ["LETTER"] and len(words) == 4:
        name = words[3].lower().replace("lamda", "lambda")
        return name.capitalize() if words[1] == "CAPITAL" else name
    return char


LATEX: Notation = _Latex()
