"""The pytest plugin, in a pytest of its own."""

from __future__ import annotations

import re

import pytest

from dpsym import testing
from dpsym.kernel.certificate import verify
from tests.testing.running import run

pytest_plugins = ["pytester"]
LOADED = [getattr(testing, name) for name in testing.__all__]  # pytester unloads what is new

HEAD = """
import dpsym as dp
import pytest
from sympy import symbols
from dpsym.testing import assert_accountant, assert_private
from dpsym.testing.defaults import current

b, epsilon = symbols("b epsilon", positive=True)
laplace = dp.AdditiveNoise(dp.noise.Laplace(scale=b), 1)
"""


@pytest.fixture
def inside(pytester, monkeypatch):
    """Runs a test file with strict markers and nothing but the plugin."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for name in ("CI", "BUILD_NUMBER"):  # with these pytest repeats each failure in its summary
        monkeypatch.delenv(name, raising=False)

    def go(text, *options):
        pytester.makepyfile(test_it=HEAD + text)
        return pytester.runpytest_inprocess(
            "-p", "dpsym.testing.plugin", "--strict-markers", "-Werror", *options
        )

    return go


def test_a_failure_is_a_report_and_a_script(inside):
    result = inside("""
def test_half():
    assert_private(laplace, dp.PureDP(1 / (2 * b)))
""")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([
        "ClaimFails: AdditiveNoise(noise=Laplace(scale=b), sensitivity=1) does not have PureDP*",
        "  at the smallest parameters found: b = 1",
        "  certain: the largest loss is at least 1, and 0.5 is claimed: a gap of 0.5",
        "  in test_it.py::test_half, line 11",
        "*- dpsym: a script that reproduces it -*",
        "import dpsym as dp",
        "assert least <= claimed, *",
    ])  # fmt: skip
    result.stdout.no_fnmatch_line("*Traceback*")
    text = result.stdout.str()
    assert "dpsym/testing/private.py" not in text
    script = re.search(r'"""A mechanism that.*?claimed"\n', text, re.DOTALL)
    assert script is not None and run(script[0]).startswith("AssertionError")


def test_other_failures_are_shown_as_ever(inside):
    result = inside("""
def test_plain():
    assert 1 == 2
""")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*assert 1 == 2*"])


def test_the_marker_sets_examples_and_budget(inside):
    result = inside("""
pytestmark = pytest.mark.dpsym(examples=9, budget=3)

def test_here():
    assert (current().examples, current().budget) == (9, 3)

@pytest.mark.dpsym(examples=4)
def test_closer():
    assert (current().examples, current().budget) == (4, 3)

@pytest.mark.dpsym(examples=4)
def test_used():
    seen = []
    def loose(b):
        seen.append(b)
        return 2 / b
    assert_accountant(loose, laplace, dp.PureDP(epsilon))
    assert len(seen) <= 4

def test_afterwards():
    assert current().keeper is None
""")
    result.assert_outcomes(passed=4)


def test_the_marker_is_described_and_checked(inside):
    result = inside("""
@pytest.mark.dpsym(exmaples=9)
def test_here():
    pass
""")
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*the marker dpsym takes budget, examples*"])
    inside("", "--markers").stdout.fnmatch_lines(["@pytest.mark.dpsym(examples, budget): *"])
    inside("", "--help").stdout.fnmatch_lines(["*--dpsym-certificates=DIR*"])


def test_evidence_is_kept(inside, tmp_path):
    folder = tmp_path / "new" / "evidence"
    result = inside(
        """
@pytest.mark.parametrize("factor", [1, 2])
def test_proved(factor):
    assert_private(laplace, dp.PureDP(factor / b))

def test_half():
    assert_private(laplace, dp.PureDP(1 / b))
    assert_private(laplace, dp.PureDP(1 / (2 * b)))

def test_accountant():
    assert_accountant(lambda b: 2 / b, laplace, dp.PureDP(epsilon), examples=3)
""",
        "--dpsym-certificates",
        str(folder),
    )
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines([f"dpsym: what was proved and refuted is in {folder}"])
    assert sorted(path.name for path in folder.iterdir()) == [
        "test_it.py-test_accountant-1.txt",
        "test_it.py-test_half-1.json",
        "test_it.py-test_half-2.py",
        "test_it.py-test_half-2.txt",
        "test_it.py-test_proved-1-1.json",
        "test_it.py-test_proved-2-1.json",
    ]
    for path in folder.glob("*.json"):
        assert verify(path.read_text(encoding="utf-8"))
    assert run((folder / "test_it.py-test_half-2.py").read_text(encoding="utf-8"))
    text = (folder / "test_it.py-test_accountant-1.txt").read_text(encoding="utf-8")
    assert text.startswith("not refuted at ")


def test_a_folder_that_can_not_be_made(inside, tmp_path):
    path = tmp_path / "file"
    path.touch()
    result = inside("def test_it():\n    pass\n", "--dpsym-certificates", str(path))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--dpsym-certificates: *"])


def test_inside_a_property_test_of_the_users_own(inside):
    """Strategies and assertions in a ``given``; what fails is still a report."""
    result = inside("""
from hypothesis import given, settings
from dpsym.testing import guarantees

@settings(max_examples=5, deadline=None, database=None)
@given(guarantees("PureDP"))
def test_true(claim):
    assert_private(claim, dp.ApproxDP(claim.epsilon, 0))

@settings(max_examples=20, deadline=None, database=None)
@given(guarantees("PureDP"))
def test_false(claim):
    assert_private(claim, dp.PureDP(claim.epsilon / 2))
""")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.fnmatch_lines([
        "ClaimFails: PureDP(1) does not have PureDP(1/2).",
        "  in test_it.py::test_false, line *",
    ])  # fmt: skip
