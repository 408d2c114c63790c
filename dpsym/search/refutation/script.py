"""A few lines of Python, with mpmath alone, that recompute what a refutation says fails."""

from __future__ import annotations

from flint import fmpq

from dpsym.events import Event
from dpsym.kernel.definitions import Moment, Support
from dpsym.refutations import Atom, Output, Refutation
from dpsym.search.refutation.measures import broken, exposed, joint, joint_masses, path_count, point
from dpsym.search.refutation.python import Names, plain

_IMPORT = "from mpmath import atan, erfc, exp, inf, log, loggamma, mp, mpf, pi, sqrt"
_OWN = frozenset(("a", "b", "bound", "f", "joint", "p", "q", "ratios", "stage", "t", "value"))
_OWN |= {"before", "found", "ratio"}
_MANY = 2000  # joint outcomes, from which on those of one ratio are taken together


def script(refutation: Refutation) -> str:
    """Lines of plain Python that print the violated inequality and whether it is violated.

    They share no code with the search or the kernel. Raises ValueError for terms that are too
    large to be written out.
    """
    witness = refutation.witness
    if isinstance(witness, Output):
        body = _output(refutation, witness)
    elif isinstance(witness, Event):
        from dpsym.search.refutation.recomputing import event_lines

        return "\n".join(event_lines(refutation, witness))
    else:
        values = Names(refutation.values, _OWN)
        body = [*values.lines(), *_distributions(refutation, witness, values)]
    return "\n".join([_IMPORT, "mp.dps = 50", *body])


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
    if path_count(atoms) > _MANY:
        lines.insert(0, "from mpmath import nstr")
        lines += ["    found = {}", "    for p, q in joint:"]
        lines += ["        ratio = nstr(p / q, 30) if q else inf"]
        lines += ["        before = found.get(ratio, (0, 0))"]
        lines += ["        found[ratio] = (before[0] + p, before[1] + q)"]
        lines += ["    joint = list(found.values())"]
    return lines


def _distributions(refutation: Refutation, atoms: tuple[Atom, ...], names: Names) -> list[str]:
    values = refutation.values
    pairs = joint_masses(atoms)
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
