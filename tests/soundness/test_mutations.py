"""A fixed sample of damaged certificates; ``mutations.py`` runs more."""

from __future__ import annotations

import subprocess
import sys

from tests.soundness.mutations import certificates, run


def test_there_is_a_certificate_of_every_claim():
    assert len(certificates()) == 17


def test_damaged_certificates_prove_nothing_false():
    found = run(400, seed=3)
    assert found.total() == 400
    assert found["refused"] > 200


def test_the_kernel_does_the_same_without_assertions():
    command = "from tests.soundness.mutations import run; print(sorted(run(150, 4).items()))"
    plain, optimised = (
        subprocess.run(
            [sys.executable, *flags, "-c", command], capture_output=True, text=True, check=True
        ).stdout
        for flags in ([], ["-O"])
    )
    assert plain == optimised
