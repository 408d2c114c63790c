"""The examples, run as their reader would run them."""

from __future__ import annotations

import re

import pytest

from dpsym import testing
from tests.repo.source import ROOT

pytest_plugins = ["pytester"]
LOADED = [getattr(testing, name) for name in testing.__all__]  # pytester unloads what is new
EXAMPLES = ROOT / "examples"


@pytest.fixture
def examples(pytester, monkeypatch):
    """Runs a file of examples with the plugin."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for name in ("CI", "BUILD_NUMBER"):  # with these pytest repeats each failure in its summary
        monkeypatch.delenv(name, raising=False)
    monkeypatch.syspath_prepend(ROOT)

    def go(name):
        return pytester.runpytest_inprocess(
            "-p",
            "dpsym.testing.plugin",
            "--import-mode=importlib",
            "--override-ini=addopts=",
            EXAMPLES / name,
        )

    return go


@pytest.mark.parametrize("name", ["test_accountants.py", "test_custom_mechanism.py"])
def test_what_is_right_passes(examples, name):
    tests = len(re.findall("^def test_", (EXAMPLES / name).read_text(encoding="utf-8"), re.M))
    examples(name).assert_outcomes(passed=tests)


def test_every_planted_bug_is_reported_with_its_place(examples):
    result = examples("test_planted_bugs.py")
    result.assert_outcomes(failed=5)
    text = result.stdout.str()
    assert text.count("promises more privacy than is true.\n") == 5
    assert text.count("dpsym: a script that reproduces it") == 5
    assert re.findall("smallest parameters found: (.*)", text) == [
        "sigma = 1, Delta = 2, k = 3, delta = 1/2",
        "sigma = 1, Delta = 2, k = 1, delta = 1/4",
        "epsilon = 1, q = 1/2",
        "a = 1, b = 2",
        "b = 1, k = 1",
    ]
