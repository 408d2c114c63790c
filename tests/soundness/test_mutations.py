"""A fixed sample of damaged certificates; ``mutations.py`` runs more."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

from dpsym.kernel.certificate import verify
from dpsym.kernel.statements import Mechanism
from dpsym.kernel.theorems import Theorem
from tests.soundness.mutations import certificates, false_of_mechanism, run


def test_there_is_a_certificate_of_every_claim():
    assert len(certificates()) == 23


def test_a_false_statement_about_a_mechanism_is_seen():
    for text in certificates():
        goal = verify(text)
        if isinstance(goal, Theorem) and isinstance(goal.statement.stages[0], Mechanism):
            (claim, *_), name = goal.statement.claims, goal.statement.claims[0].args[-1]
            less = replace(claim, args=(*claim.args[:-1], name / 2))
            assert not false_of_mechanism(goal.statement)
            assert false_of_mechanism(replace(goal.statement, claims=(less,)))


def test_damaged_certificates_prove_nothing_false():
    found = run(250, seed=5)
    assert found.total() == 250
    assert found["refused"] > 125


def test_the_kernel_does_the_same_without_assertions():
    command = "from tests.soundness.mutations import run; print(sorted(run(150, 5).items()))"
    plain, optimised = (
        subprocess.run(
            [sys.executable, *flags, "-c", command], capture_output=True, text=True, check=True
        ).stdout
        for flags in ([], ["-O"])
    )
    assert plain == optimised
