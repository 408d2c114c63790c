"""What loads when: nothing that is not needed, and one clear error without Hypothesis."""

from __future__ import annotations

import importlib

import pytest

import dpsym
from dpsym import testing
from tests.repo.source import fresh

WITHOUT = "import sys; sys.modules['hypothesis'] = None\n"


def test_the_plugin_loads_nothing():
    loaded = fresh("import dpsym.testing.plugin, sys; print(*sys.modules, sep='\\n')").split()
    assert "pytest" in loaded
    for name in ("sympy", "hypothesis", "flint", "numpy", "dpsym.checking", "dpsym.guarantees"):
        assert name not in loaded


def test_without_hypothesis_there_is_one_clear_error():
    code = WITHOUT + (
        "from dpsym import testing\n"
        "for name in ('assert_private', 'assert_accountant', 'guarantees', 'parameters'):\n"
        "    try:\n"
        "        getattr(testing, name)\n"
        "    except ImportError as error:\n"
        "        print(type(error).__name__, error)\n"
        "print(testing.lower_bound.__name__)\n"
    )
    *errors, last = fresh(code).splitlines()
    assert last == "lower_bound"
    assert set(errors) == {
        "MissingHypothesisError dpsym.testing draws its examples with Hypothesis, which is not "
        "installed: pip install 'dpsym[testing]'"
    }
    assert len(errors) == 4


def test_the_package_has_it_without_an_import_of_its_own():
    assert fresh("import dpsym; print(dpsym.testing.lower_bound.__name__)").strip() == "lower_bound"
    assert "testing" in dpsym.__all__


def test_every_name_loads_from_its_home():
    for name, home in testing._HOME.items():
        module = importlib.import_module(f"dpsym.testing.{home}")
        assert getattr(testing, name) is getattr(module, name)
        assert name in module.__all__
        assert getattr(testing, name).__doc__
    assert set(testing.__all__) == {*testing._HOME, "MissingHypothesisError"}
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        testing.nothing  # noqa: B018
