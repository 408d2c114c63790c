"""Hostile certificates: from the grammar, damaged ones, bombs, wrong types, odd text and nesting.

Each must be refused with the kernel's own error, in bounded time and memory, or show a goal that is
true where the audit looks.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import sympy as sp

import dpsym as dp
from dpsym.audit import find
from dpsym.kernel import kinds as kd
from dpsym.kernel.certificate import FORMAT, VERSION, verify
from dpsym.kernel.lemmas import LEMMAS
from dpsym.kernel.proofs import SEQUENT, Lemma
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules import RULES
from dpsym.kernel.rules_algebra import InstanceKind
from dpsym.kernel.terms import ARITY
from tests.soundness.mutations import damaged

SLOW = 8.0  # seconds for one certificate, on a busy machine
Outcome = tuple[str, str]
Make = Callable[[random.Random], str]
KINDS: dict[str, Make] = {}
NAMES = ("x", "y", "e", "alpha", "$t", "$s", "$w", "", "x" * 201, "\u202e", "\x00", "é", "0", "a b")
NUMBERS = ("0", "1", "-1", "2", "1/2", "-3/7", "1/0", "01", "+1", "1e9", "9" * 4001, "1/3/5", " 1")
CHARACTERS = ('"', "[", "]", "{", "}", ",", "0", "9", "-", "\\", "\u0000", "\ud800", "é")
ODD = ("1e999", "-0", "1.0", "NaN", "Infinity", "9" * 5000, "1E400", "0x1", "00", "-" + "9" * 400)


def kind(make: Make) -> Make:
    KINDS[make.__name__.strip("_")] = make
    return make


@lru_cache(maxsize=1)
def valid() -> list[str]:
    """Certificates that are accepted, of many rules; stored with the tests."""
    from tests.audit.stored import read, scripts

    texts = [t for script in scripts() for ts in read(script).theorems.values() for t in ts]
    return sorted((text for text in texts if len(text) < 4000), key=len)


STAGE_RULES = {"each", "spanned", "unroll", "postprocess", "inner", "blended", "parted", "spent"}
STAGE_RULES |= {"ranged", "induct", "dominated", "rotated", "certain", "each"}
LONG = 9000


@lru_cache(maxsize=1)
def made() -> list[str]:
    """Certificates that are accepted, of the rules for stages that are made of others."""
    from tests.audit.stored import read, scripts

    stored = [t for script in scripts() for ts in read(script).theorems.values() for t in ts]
    texts = [text for text in stored if len(text) < LONG and _rules(text) & STAGE_RULES]
    return texts + [dp.prove(what, claim, budget=30).certificate() for what, claim in _more()]


def _rules(text: str) -> set[str]:
    return {node[0] for result in json.loads(text)["results"] for node in result[2]}


def _of_one_pair() -> list[tuple[Any, Any]]:
    """Samples of everything or of nothing, which are one pair, alone and beside others."""
    e, f, q = sp.symbols("e f q", nonnegative=True)
    pure, half = dp.PureDP, sp.Rational(1, 2)

    def loss(inside: sp.Expr, rate: sp.Expr) -> sp.Expr:
        return sp.log(1 + rate * (sp.exp(inside) - 1))

    ranged = dp.compose(dp.BoundedRange(1), dp.subsample(dp.BoundedRange(e), 1))
    squares = dp.RenyiDP(2, sp.log(1 + q**2 * (sp.exp(e) - 1)))
    return [
        (dp.subsample(pure(e), q), pure(loss(e, q))),
        (dp.compose(dp.subsample(pure(e), 1), pure(f)), pure(e + f)),
        (dp.compose(pure(f), dp.subsample(dp.compose(pure(e), pure(1)), 0)), pure(f)),
        (dp.subsample(pure(e), 1, "without_replacement"), pure(e)),
        (dp.compose(dp.subsample(pure(1), q), pure(f)), pure(loss(1, q) + f)),
        (dp.subsample(dp.ApproxDP(e, half), 1), dp.ApproxDP(e, half)),
        (dp.subsample(dp.RenyiDP(2, e), q), squares),
        (dp.repeat(dp.subsample(dp.subsample(pure(e), 1), half), 2), pure(2 * loss(e, half))),
        (ranged, pure(1 + e)),
        (dp.compose(dp.parallel(pure(1), pure(e)), pure(f)), pure(sp.Max(1, e) + f)),
    ]


@lru_cache(maxsize=1)
def of_one_pair() -> list[str]:
    return [dp.prove(what, claim, budget=30).certificate() for what, claim in _of_one_pair()]


def _more() -> list[tuple[Any, Any]]:
    e, f, x, r = sp.symbols("e f x r", nonnegative=True)
    k, half = sp.Symbol("k", integer=True, positive=True), sp.Rational(1, 2)
    pure, ranged = dp.PureDP, dp.BoundedRange
    sample = dp.subsample(pure(e), half)
    mixed = dp.parallel(pure(1), dp.ApproxDP(1, sp.Rational(1, 9)))
    return [
        (dp.parallel(pure(e), dp.compose(pure(f), pure(1))), pure(sp.Max(e, f + 1))),
        (dp.compose(mixed, pure(2)), dp.ApproxDP(3, sp.Rational(1, 9))),
        (dp.compose(ranged(e), pure(f)), ranged(e + 2 * f)),
        (dp.compose(ranged(1), ranged(e)), pure(1 + e)),
        (dp.repeat(dp.compose(pure(e), pure(1)), 3), pure(3 * e + 3)),
        (dp.repeat(sample, 2), pure(2 * sp.log((1 + sp.exp(e)) / 2))),
        (dp.group(dp.compose(pure(e), pure(f)), k), pure(k * (e + f))),
        (
            dp.subsample(dp.compose(pure(1), dp.repeat(pure(e), 2)), half),
            pure(sp.log(1 + (sp.exp(1 + 2 * e) - 1) / 2)),
        ),
        (dp.subsample(sample, half), pure(sp.log(1 + (sp.exp(e) - 1) / 4))),
        (dp.postprocess(dp.ZCDP(r)), dp.ZCDP(r)),
        (dp.postprocess(ranged(e)), ranged(e)),
        (dp.postprocess(dp.TCDP(r, 3)), dp.RenyiDP(2, 2 * r)),
        (dp.compose(dp.filtered(pure(x), x, r), pure(1)), pure(r + 1)),
        (
            dp.parallel(dp.RenyiDP(2, r), dp.subsample(dp.RenyiDP(2, 1), half)),
            dp.RenyiDP(2, sp.Max(r, 1)),
        ),
    ]


# -- the grammar


class Writer:
    """A random document: mostly right in its shape, so that it reaches the rules."""

    def __init__(self, source: random.Random, wrong: float) -> None:
        self.source, self.wrong = source, wrong
        self.terms: list[Any] = []
        self.nodes: list[Any] = []
        self.results: list[Any] = []

    def odd(self) -> Any:
        """Something of a wrong type."""
        return self.source.choice(
            (None, True, -1, 0, 10**30, "", "x", [], {}, [[]], [None], {"a": 1}, "1/2", -0, [0, 0])
        )

    def value(self, kind: kd.Kind) -> Any:
        """What a parameter of the kind may be, or now and then something else."""
        source = self.source
        if source.random() < self.wrong:
            return self.odd()
        if kind is kd.TERM:
            return self.index(self.terms)
        if isinstance(kind, kd.MaybeKind):
            return None if source.random() < 0.3 else self.value(kind.inner)
        if isinstance(kind, kd.ListKind):
            return [self.value(kind.inner) for _ in range(source.choice((0, 1, 1, 2, 3)))]
        if isinstance(kind, kd.RowKind):
            return [self.value(inner) for inner in kind.inner]
        if isinstance(kind, kd.OneOfKind):
            row = source.choice(kind.options)
            return [row.made.__name__, self.value(row)]
        if isinstance(kind, kd.EarlierKind):
            return self.index(self.results)
        if isinstance(kind, InstanceKind):
            name = source.choice(sorted(LEMMAS))
            return [name, [self.value(inner) for inner in LEMMAS[name].kinds]]
        return self.plain(kind)

    def plain(self, kind: kd.Kind) -> Any:
        """A small value that the kind takes, found by trying."""
        options: list[Any] = [1, -1, 0, 2, 7, 64, True, False, *RULES, ">=", ">", "!=", "real"]
        options += ["integer", "hypothesis", "positive", "lemma", "exp", "log", "shift", "inverse"]
        options += ["bell", "p", "q", "PureDP", "ApproxDP", "GDP", "1", "1/2", "-2", *NAMES[:4]]
        self.source.shuffle(options)
        for option in options:
            try:
                kind.check(option)
            except Refusal:
                continue
            return option
        if kind in (kd.RATIONAL, kd.POSITIVE):
            return self.source.choice(NUMBERS)
        return self.tree(3)

    def tree(self, depth: int) -> Any:
        name = self.source.choice(("direct", "mean", "zero", "empty", "split", "face"))
        if depth == 0 or name in ("direct", "mean", "zero"):
            return ["direct"]
        if name == "empty":
            return ["empty", self.source.randrange(3)]
        if name == "split":
            trees = [self.tree(depth - 1) for _ in range(2)]
            return ["split", self.source.choice(NAMES), self.source.choice(NUMBERS), *trees]
        end = self.source.choice((1, -1))
        return ["face", self.source.choice(NAMES), end, self.tree(depth - 1)]

    def index(self, items: list[Any]) -> Any:
        if self.source.random() < self.wrong or not items:
            return self.source.choice((0, -1, len(items), 10**9, True, "0", None))
        return self.source.randrange(len(items))

    def term(self) -> None:
        source = self.source
        op = source.choice((*ARITY, "num", "var", "add", "mul"))
        count = ARITY[op] if ARITY[op] >= 0 else source.choice((1, 2, 2, 3))
        if source.random() < self.wrong:
            count = source.randrange(4)
        row: list[Any] = [op, [self.index(self.terms) for _ in range(count if self.terms else 0)]]
        if op == "num":
            row.append(source.choice(NUMBERS[:6] if source.random() > self.wrong else NUMBERS))
        elif op == "var":
            row.append(source.choice(NAMES[:4] if source.random() > self.wrong else NAMES))
        elif op == "pow":
            row.append(source.choice((2, 3, -1, -2, 0, 4000, -4001, 10**9)))
        self.terms.append(row)

    def node(self) -> None:
        name = self.source.choice(sorted(RULES))
        given = {key: self.value(inner) for key, inner in RULES[name].kinds.items()}
        if self.source.random() < self.wrong:
            given[self.source.choice(("sign", "item", "extra"))] = self.odd()
        premises = [self.index(self.nodes) for _ in range(self.source.choice((0, 0, 1, 2, 3)))]
        self.nodes.append([name, given, premises if self.nodes else []])

    def document(self) -> dict[str, Any]:
        source = self.source
        for _ in range(source.randint(2, 25)):
            self.term()
        for _ in range(source.choice((1, 1, 2))):
            self.nodes = []
            for _ in range(source.randint(1, 8)):
                self.node()
            sort = source.choice(("sequent", "statement"))
            goal = self.value(SEQUENT if sort == "sequent" else kd.STATEMENT)
            roots = [self.index(self.nodes) for _ in range(source.choice((1, 1, 2, 3)))]
            self.results.append([sort, goal, self.nodes, roots])
        return {"format": FORMAT, "version": VERSION, "terms": self.terms, "results": self.results}


@kind
def grammar(source: random.Random) -> str:
    return json.dumps(Writer(source, source.choice((0.0, 0.02, 0.1))).document())


@kind
def damage(source: random.Random) -> str:
    return damaged(source.choice(valid()), source)


@kind
def stages(source: random.Random) -> str:
    """One of stages that are made of others, damaged."""
    return damaged(source.choice(made()), source)


@kind
def alike(source: random.Random) -> str:
    """The same in all places: another number, function, name or notion, so that the goal and its
    proof still fit each other in all else."""
    data = json.loads(source.choice(made()))
    terms = data["terms"]
    for _ in range(source.choice((1, 1, 2))):
        row = source.choice(terms)
        if row[0] == "num":
            row[2] = source.choice(
                ("0", "1", "2", "3", "-1", "1/2", "1/3", "9/10", "-1/4", "101/100")
            )
        elif row[0] == "var":
            row[2] = source.choice([other[2] for other in terms if other[0] == "var"])
        elif len(row[1]) == 1:
            row[0] = source.choice(("exp", "log", "abs", "erfc", row[0]))
        elif row[0] in ("add", "mul"):
            row[0] = source.choice(("add", "mul", "max", "min"))
        elif len(row[1]) > 1:
            row[1] = source.sample(row[1], len(row[1]))
    text = json.dumps(data, separators=(",", ":"))
    return _renamed(text, NOTIONS, source) if source.random() < 0.3 else text


NOTIONS = (
    "PureDP",
    "ApproxDP",
    "RenyiDP",
    "ZCDP",
    "TCDP",
    "GDP",
    "BoundedRange",
    "integer",
    "real",
)
STAGES = ("Assumed", "Processed", "Repeated", "Group", "Joint", "Choice", "Blend", "Filter")


def _renamed(text: str, names: tuple[str, ...], source: random.Random) -> str:
    known = [name for name in names if f'"{name}"' in text]
    if not known:
        return text
    return text.replace(f'"{source.choice(known)}"', f'"{source.choice(names)}"')


@kind
def other_stages(source: random.Random) -> str:
    """The stages are made of others in another way, in the goal or in all places: other kinds,
    another order, one direction for two, the other direction, other weights and links."""
    data = json.loads(source.choice(made()))
    goals = [result[1] for result in data["results"] if result[0] == "statement"]
    chosen = source.choice((goals, goals[-1:]))
    lists = [part for goal in chosen for part in _parts(goal[2:])]
    for _ in range(source.choice((1, 1, 2))):
        part = source.choice(lists)
        flags = [i for i, value in enumerate(part) if isinstance(value, bool)]
        numbers = [i for i, value in enumerate(part) if type(value) is int]
        if flags:
            part[source.choice(flags)] ^= True
        elif numbers:
            part[source.choice(numbers)] = source.randrange(len(data["terms"]))
        elif source.random() < 0.6:
            source.shuffle(part)
        else:
            part.append(json.loads(json.dumps(source.choice(part))))
    text = json.dumps(data, separators=(",", ":"))
    return _renamed(text, STAGES, source) if source.random() < 0.4 else text


@kind
def one_pair(source: random.Random) -> str:
    """Samples of everything or nothing with other weights and links, the rule for them at other
    stages, or another claim that what is hidden may break."""
    data = json.loads(source.choice(of_one_pair()))
    terms, results = data["terms"], data["results"]
    named = {row[2]: i for i, row in enumerate(terms) if row[0] == "num"}
    for text in ("0", "1", "1/2", "999/1000"):
        if text not in named:
            named[text] = len(terms)
            terms.append(["num", [], text])
    blends = [
        part
        for kind_, goal, *_ in results
        if kind_ == "statement"
        for part in _parts(goal[2])
        if part[0] == "Blend"
    ]
    rules = [node for _, _, nodes, *_ in results for node in nodes]
    for _ in range(source.choice((1, 1, 1, 2))):
        way = source.choice(("weights", "weights", "links", "ends", "rule", "notion", "more"))
        blend = source.choice(blends)[1] if blends else [[], [], []]
        if way == "weights" and blend[0]:
            side = source.choice(blend[:2])
            side[source.randrange(len(side))] = source.choice([*named.values()])
        elif way == "links" and blend[2]:
            link = source.choice(blend[2])
            link[source.randrange(2)] = source.randrange(len(blend[0]) + 1)
        elif way == "ends":
            blend[0], blend[1] = blend[1], blend[0]
        elif way == "rule":
            node = source.choice(rules)
            if "stage" in node[1]:
                node[1]["stage"] = source.choice((0, 1, 2))
            elif node[0] in ("each", "certain"):
                node[0] = source.choice(("each", "certain", "unroll", "inner"))
        elif way == "notion":
            text = json.dumps(data)
            old = source.choice([name for name in NOTIONS if f'"{name}"' in text])
            new = source.choice(("BoundedRange", "ProbabilisticDP", *NOTIONS))
            data = json.loads(text.replace(f'"{old}"', f'"{new}"'))
            return json.dumps(data, separators=(",", ":"))
        elif blend[2]:
            links = blend[2]
            links.append(json.loads(json.dumps(source.choice(links))))
            links[-1][:2] = source.sample(range(len(blend[0])), min(2, len(blend[0])))
            source.shuffle(links)
    return json.dumps(data, separators=(",", ":"))


def _parts(item: Any) -> list[list[Any]]:
    """All lists in a list that have anything in them."""
    if not isinstance(item, list) or not item:
        return []
    return [item, *(part for one in item for part in _parts(one))]


@kind
def wrong_types(source: random.Random) -> str:
    """A valid one with something of another type in one place."""
    data = json.loads(source.choice(valid()))
    writer = Writer(source, 1.0)
    node: Any = data
    while True:
        key = source.choice(list(node) if isinstance(node, dict) else range(len(node)))
        if not isinstance(node[key], (dict, list)) or not node[key] or source.random() < 0.15:
            node[key] = writer.odd()
            return json.dumps(data)
        node = node[key]


@kind
def characters(source: random.Random) -> str:
    """A valid one with characters exchanged, left out or put in."""
    text = source.choice(valid())
    for _ in range(source.choice((1, 1, 2, 5))):
        i = source.randrange(len(text))
        new = source.choice(CHARACTERS)
        text = text[:i] + source.choice(("", new, new + text[i])) + text[i + 1 :]
    return text[: source.randrange(len(text))] if source.random() < 0.1 else text


@kind
def keys_twice(source: random.Random) -> str:
    """A key of some object a second time, with the same or another value."""
    text = source.choice(valid())
    starts = [i for i, char in enumerate(text) if char == "{" and text[i + 1] == '"']
    i = source.choice(starts)
    key = text[i + 1 : text.index(":", i)]
    return f"{text[: i + 1]}{key}:{source.choice(('null', '[]', '0', key))},{text[i + 1 :]}"


@kind
def nesting(source: random.Random) -> str:
    depth = source.choice((100, 900, 5000, 100_000))
    pair = source.choice(("[]", "{}"))
    inner = pair[0] * depth if pair == "[]" else '{"a":' * depth
    inside = inner + ("0" if pair == "{}" else "") + pair[1] * depth
    if source.random() < 0.3:
        return inside
    data = json.loads(source.choice(valid()))
    data[source.choice(("terms", "results"))] = "@"
    return json.dumps(data).replace('"@"', inside)


@kind
def numbers(source: random.Random) -> str:
    """Huge and odd numbers in the place of others."""
    text = source.choice(valid())
    digits = [i for i, char in enumerate(text) if char.isdigit() and not text[i - 1].isdigit()]
    i = source.choice(digits)
    return text[:i] + source.choice(ODD) + text[i + 1 :]


@kind
def bombs(source: random.Random) -> str:
    """Terms that would be huge if they were expanded, in a goal that asks to be put in form."""
    depth = source.choice((20, 60, 140))
    terms: list[Any] = [["var", [], "x"], ["num", [], "1"], ["add", [0, 1]]]
    way = source.randrange(6)
    for _ in range(depth):
        last = len(terms) - 1
        if way == 0:
            terms.append(["mul", [last, last]])
        elif way == 1:
            terms.append(["pow", [last], source.choice((2, 3, 4000))])
        elif way == 2:
            terms.append(["exp", [last]])
        elif way == 3:
            terms += [["max", [last, 0]], ["add", [last + 1, last]]]
        elif way == 4:
            digits = "7" * source.choice((1, 10, 3900))
            terms += [["num", [], digits], ["add", [last, last + 1]], ["mul", [last, last + 2]]]
        else:
            terms.append(["ite", [last, last, 0]])
    top = len(terms) - 1
    rule, given = source.choice(
        (
            ("tidy", {}),
            ("evident", {}),
            ("clear", {"signs": []}),
            ("multiply", {"factor": top}),
            ("split", {"item": top}),
            ("square", {"larger": top, "smaller": 0}),
            ("derive", {"name": "x", "start": 1, "direction": 1, "from_open": False}),
            ("boxes", {"tree": ["direct"], "bits": 4096}),
        )
    )
    goal = [[[2, ">="]] if source.random() < 0.5 else [], [top, source.choice((">=", ">", "!="))]]
    nodes = [["evident", {}, []], [rule, given, [0] * source.randrange(4)]]
    results = [["sequent", goal, nodes, [1, *[0] * source.randrange(4)]]]
    return json.dumps({"format": FORMAT, "version": VERSION, "terms": terms, "results": results})


@kind
def trees(source: random.Random) -> str:
    """Deep or broad trees of boxes, and long lists."""
    tree: Any = ["direct"]
    for _ in range(source.choice((5, 59, 70, 200, 900))):
        tree = ["split", "x", source.choice(("1/2", "1/3", "0")), tree, ["direct"]]
    many = source.choice((1, 5001, 20_000))
    nodes = [["boxes", {"tree": tree, "bits": source.choice((32, 96, 4097))}, []]]
    nodes += [["tidy", {}, [i]] for i in range(source.choice((0, 10, 3000)))]
    goal = [[[0, ">="]] * many, [0, ">="]]
    results = [["sequent", goal, nodes, [len(nodes) - 1]]]
    return json.dumps(
        {"format": FORMAT, "version": VERSION, "terms": [["var", [], "x"]], "results": results}
    )


def attempt(name: str, source: random.Random) -> Outcome:
    """What becomes of one hostile certificate."""
    text = KINDS[name](source)
    start = time.process_time()
    try:
        found = verify(text)
    except Refusal:
        found = None
    except Exception as error:
        return "WRONG", f"{type(error).__name__}: {str(error)[:200]} from {text[:500]}"
    took = time.process_time() - start
    if took > SLOW:
        return "WRONG", f"{took:.1f} s for {text[:500]}"
    if found is None:
        return "refused", ""
    goal = found.sequent if isinstance(found, Lemma) else found.statement
    seen = find(goal, source.randrange(10**6), 8)
    if seen is not None:
        return "WRONG", f"a false goal was accepted: {goal}: {seen} from {text[:2000]}"
    return "accepted, true", ""
