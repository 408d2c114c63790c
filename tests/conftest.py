"""Fixed Hypothesis profiles, so that a run does not depend on the machine or the day."""

import os
from collections.abc import Iterator

import mpmath
import pytest
from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None, database=None)
settings.register_profile("explore", parent=settings.get_profile("ci"), derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(autouse=True)
def _digits() -> Iterator[None]:
    """Scripts that reproduce a witness set mpmath's digits, for good; not for other tests."""
    with mpmath.workdps(mpmath.mp.dps):
        yield
