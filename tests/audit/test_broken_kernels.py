"""A kernel with a fault accepts a false goal; the audit of the certificate names the rule."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dpsym.kernel.certificate import verify
from dpsym.kernel.refusal import Refusal
from tests.audit.broken import BROKEN
from tests.repo.source import PACKAGE, ROOT


@pytest.mark.parametrize("name", BROKEN)
def test_the_rule_is_named(name: str, tmp_path: Path) -> None:
    broken = BROKEN[name]
    shutil.copytree(PACKAGE, tmp_path / "dpsym", ignore=shutil.ignore_patterns("__pycache__"))
    for part in ("tests/__init__.py", "tests/audit/__init__.py", "tests/audit/broken.py"):
        (tmp_path / part).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / part, tmp_path / part)
    module = tmp_path / "dpsym" / "kernel" / f"{broken.module}.py"
    text = module.read_text(encoding="utf-8")
    assert text.count(broken.right) == 1
    module.write_text(text.replace(broken.right, broken.wrong), encoding="utf-8")

    certificate = tmp_path / "false.json"
    found = subprocess.run(
        [sys.executable, "-m", "tests.audit.broken", name, str(certificate)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 1, found.stdout + found.stderr
    assert found.stdout.startswith("FAULT  ")
    assert found.stdout.count("concludes what is false") == 1
    assert f"the rule {broken.rule} (result 1, step " in found.stdout

    with pytest.raises(Refusal):  # the kernel without the fault does not accept it
        verify(certificate.read_text(encoding="utf-8"))
