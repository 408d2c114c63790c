"""A few lines of Python, with mpmath alone, that recompute what a refutation says fails."""

from __future__ import annotations

from keyword import iskeyword

from flint import fmpq

from dpsym.kernel.definitions import Moment, Support
from dpsym.kernel.terms import Term
from dpsym.refutations import Atom, Output, Refutation
from dpsym.search.refutation.exact import Values
from dpsym.search.refutation.measures import broken, exposed, joint, point

_IMPORT = "from mpmath import erfc, exp, inf, log, mp, mpf, pi, sqrt"
_FUNCTIONS = frozenset(
    ("abs", "erfc", "exp", "inf", "log", "max", "min", "mp", "mpf", "pi", "print", "sqrt", "sum")
)
_OWN = frozenset(("a", "b", "bound", "f", "joint", "p", "q", "ratios", "stage", "t", "value"))
_LARGEST = 5000  # size of a term that is written out


def script(refutation: Refutation) -> str:
    """Lines of plain Python that print the violated inequality and whether it is violated.

    They share no code with the search or the kernel. Raises ValueError for terms that are too
    large to be written out.
    """
    witness = refutation.witness
    if isinstance(witness, Output):
        body = _output(refutation, witness)
    else:
        values = Names(refutation.values, _OWN)
        body = [*values.lines(), *_distributions(refutation, witness, values)]
    return "\n".join([_IMPORT, "mp.dps = 50", *body])


class Names:
    """Python names for the variables."""

    def __init__(self, values: Values, taken: frozenset[str]) -> None:
        self.values = values
        self.names = {
            name: name if fits(name, taken) else f"x{i}" for i, name in enumerate(values, 1)
        }

    def lines(self) -> list[str]:
        """The assignments."""
        if not self.names:
            return []
        numbers = ", ".join(
            f"mpf({v.p})" + (f"/{v.q}" if v.q != 1 else "") for v in self.values.values()
        )
        return [f"{', '.join(self.names.values())} = {numbers}"]

    def code(self, item: Term) -> str:
        """The term as Python over mpmath."""
        if item.size > _LARGEST:
            raise ValueError("the term is too large to be written out")
        op, args = item.op, [self.code(arg) for arg in item.args]
        if isinstance(item.value, fmpq):
            return fraction(item.value)
        if op == "var":
            return self.names.get(str(item.value), "t")
        if op == "add":
            return f"({' + '.join(args)})".replace("+ -", "- ")
        if op == "mul":
            return "*".join(args) if args[0] != "(-1)" else f"-{'*'.join(args[1:])}"
        if op == "pow":
            count = int(str(item.value))
            if count >= 0:
                return f"({args[0]})**{count}"
            return f"(1/mpf({args[0]}){'' if count == -1 else f'**{-count}'})"
        if op == "ite":
            return f"({args[1]} if {args[0]} >= 0 else {args[2]})"
        return "pi" if op == "pi" else f"{op}({', '.join(args)})"


def fits(name: str, taken: frozenset[str]) -> bool:
    """Whether a variable can keep its name in a script."""
    usual = name.isidentifier() and name.isascii() and not iskeyword(name)
    numbered = name[0] == "x" and name[1:].isdigit()
    return usual and not numbered and name not in taken | _FUNCTIONS


def fraction(value: fmpq) -> str:
    """An exact quotient in mpmath."""
    if value.q == 1:
        return str(value.p) if value.p >= 0 else f"({value.p})"
    return f"(mpf({value.p})/{value.q})"


def plain(value: fmpq) -> str:
    """The same where no brackets are needed."""
    return str(value.p) if value.q == 1 else f"mpf({value.p})/{value.q}"


def _table(atoms: tuple[Atom, ...]) -> str:
    return f"[{', '.join(f'({plain(a.p)}, {plain(a.q)})' for a in atoms)}]"


def _joint(atoms: tuple[Atom, ...]) -> list[str]:
    """Lines that define ``joint``, the list of the joint probabilities."""
    stages: list[tuple[Atom, ...]] = []
    level = atoms
    while level:
        stages.append(level)
        following = {id(atom.then): atom.then for atom in level}
        if len(following) > 1:
            outcomes = joint(atoms, fmpq(1), fmpq(1), ())
            shown = ", ".join(f"({plain(p)}, {plain(q)})" for _, p, q in outcomes)
            return [f"joint = [{shown}]"]
        (level,) = following.values()
    lines = ["joint = [(mpf(1), mpf(1))]"]
    if len(set(map(_table, stages))) == 1 and len(stages) > 1:
        lines.append(f"for stage in [{_table(stages[0])}] * {len(stages)}:")
    else:
        lines.append(f"for stage in [{', '.join(map(_table, stages))}]:")
    lines.append("    joint = [(p * a, q * b) for p, q in joint for a, b in stage]")
    return lines


def _distributions(refutation: Refutation, atoms: tuple[Atom, ...], names: Names) -> list[str]:
    values = refutation.values
    pairs = [(p, q) for _, p, q in joint(atoms, fmpq(1), fmpq(1), ())]
    found = broken(refutation.statement, values, pairs, refutation.orders)
    if found is None:
        raise ValueError("not a refutation by distributions")
    lines = _joint(atoms)
    item = found.constraint
    if isinstance(item, Moment):
        form = item.form
        ends = ["inf" if end is None else names.code(end) for end in (form.at_p, form.at_q)]
        lines += [
            f"f = lambda t: {names.code(form.f)}",
            f"value = sum(q*f(p/q) if p and q else p*{ends[0]} if p else q*{ends[1]} if q else 0"
            " for p, q in joint)",
            f"bound = {names.code(item.bound)}",
        ]
    else:
        p, q = ("q", "p") if item.reverse else ("p", "q")
        lines.append(f"ratios = [{p}/{q} if {q} else inf for p, q in joint if {p}]")
        if isinstance(item, Support):
            lines += ["value = max(ratios)", f"bound = {names.code(item.bound)}"]
        else:
            length = names.code(item.length)
            lines += ["value = max(ratios) / min(ratios)", f"bound = exp({length})"]
    return [*lines, "print(value, '>', bound, value > bound)"]


def _output(refutation: Refutation, witness: Output) -> list[str]:
    found = exposed(refutation, witness)
    names = Names(point(refutation, witness), frozenset(("epsilon", "loss", "p", "q")))
    return [
        *names.lines(),
        f"p, q = {names.code(found.first)}, {names.code(found.second)}",
        f"loss, epsilon = log(mpf(p)/q) if q else inf, {names.code(found.epsilon)}",
        "print(loss, '>', epsilon, loss > epsilon)",
    ]
