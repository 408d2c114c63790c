"""Proof scripts: ordinary Python modules with one decorated function a theorem.

::

    @proved(source="Dwork & Roth 2014, Theorem 3.14")
    def pure_dp_composes():
        '''The epsilons of pure differential privacy add up.'''
        return dp.check(dp.compose(dp.PureDP(e1), dp.PureDP(e2)), dp.PureDP(e1 + e2))

    @refuted
    def pure_dp_composes_to_the_larger():
        return dp.check(dp.compose(dp.PureDP(e1), dp.PureDP(e2)), dp.PureDP(Max(e1, e2)))

The decorator records what is expected and does no work. The function returns a verdict, or several
in a list or tuple, all of which have to come out as the decorator says. ``collect`` reads scripts,
``run`` runs one theorem and ``run_all`` many, here or by any ``concurrent.futures.Executor``;
``dpsym prove`` does all of it. A script is code and is run as such: read a stranger's script before
running it, or re-check its certificates instead, which runs nothing::

    with processes(4) as executor:
        for outcome in run_all(collect("proofs"), executor, CertificateFolder("certificates")):
            ...
"""

from __future__ import annotations

from dpsym.scripts.declaring import ScriptTheorem, proved, refuted
from dpsym.scripts.folder import CertificateFolder
from dpsym.scripts.outcomes import Outcome
from dpsym.scripts.processes import cores, processes
from dpsym.scripts.reading import collect
from dpsym.scripts.running import run, run_all

__all__ = [
    "CertificateFolder",
    "Outcome",
    "ScriptTheorem",
    "collect",
    "cores",
    "processes",
    "proved",
    "refuted",
    "run",
    "run_all",
]
