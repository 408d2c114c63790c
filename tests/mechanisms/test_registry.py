"""What is defined is registered, exported, readable as text, described and translatable."""

import inspect

import pytest
import sympy as sp

import dpsym
from dpsym import mechanisms
from dpsym.mechanisms import MECHANISMS, AdditiveNoise, Mechanism, noise
from dpsym.mechanisms.noise import NOISES, Noise
from dpsym.reader import _CONSTRUCTORS, read_subject
from tests.mechanisms.numbers import pairs
from tests.repo.source import fresh

KINDS = [*MECHANISMS.values(), *NOISES.values()]


def test_registries_are_exports():
    assert set(MECHANISMS) <= set(dpsym.__all__)
    assert set(MECHANISMS) <= set(mechanisms.__all__)
    assert set(NOISES) == set(noise.__all__) - {"NOISES", "Noise", "noise_of"}
    assert all(getattr(dpsym, name) is kind for name, kind in MECHANISMS.items())
    assert all(getattr(noise, name) is kind for name, kind in NOISES.items())
    assert not set(MECHANISMS) & set(NOISES)


def test_every_one_can_be_written_as_text():
    for name, kind in (*MECHANISMS.items(), *NOISES.items()):
        assert _CONSTRUCTORS[name] is kind
    subject = read_subject("AdditiveNoise(Gaussian(noise_multiplier=2), 3, relation='zero-out')")
    assert subject == AdditiveNoise(noise.Gaussian(sigma=6), 3, "zero-out")
    assert read_subject("ExponentialMechanism(2, 1)").scores[0][0].name == "u1"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_one_is_described(kind):
    assert kind.title and kind.source
    text = inspect.getdoc(kind)
    assert "Args:" in text and ">>> " in text
    for name in inspect.signature(kind).parameters:
        assert name in text.split("Args:")[1], name
    assert set(kind.domains) <= set(kind.fields)


@pytest.mark.parametrize(
    "kind", [kind for kind in NOISES.values() if kind.symbolic()], ids=lambda kind: kind.__name__
)
def test_all_noise_of_parameters_is_in_the_kernels_language(kind):
    one = kind.symbolic()
    mechanism = (
        AdditiveNoise(one, sp.Symbol("Delta", integer=True, positive=True))
        if (kind is not noise.Staircase)
        else AdditiveNoise(
            noise.Staircase(one.epsilon, one.gamma), sp.Symbol("Delta", positive=True)
        )
    )
    if kind is noise.Skellam:
        with pytest.raises(dpsym.UnsupportedError, match="besseli"):
            pairs(mechanism)
        return
    (pair,) = pairs(mechanism)
    assert pair.normalised is kind.normalised
    assert len(pair.variables) == 1 and len(pair.facts) == 2


def test_a_class_without_its_parts_is_refused():
    with pytest.raises(TypeError, match="a mechanism needs title: Bare"):

        class Bare(Mechanism):
            fields = ()

    with pytest.raises(TypeError, match="a mechanism needs neighbours: Alone"):

        class Alone(Mechanism):
            fields, title, source = (), "a", "b"

    with pytest.raises(TypeError, match="noise needs at: Silent"):

        class Silent(Noise):
            fields, title, source = (), "a", "b"

    assert not {"Bare", "Alone"} & set(MECHANISMS) and "Silent" not in NOISES


def test_random_symbols_load_only_when_they_are_used():
    code = (
        "import sys, sympy as sp, dpsym as dp; from dpsym import mechanisms\n"
        "dp.AdditiveNoise(dp.noise.Laplace(1), 1).neighbours()\n"
        "print(any(name.startswith('sympy.stats') for name in sys.modules))"
    )
    assert fresh(code).strip() == "False"
