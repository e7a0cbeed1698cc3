"""The recipe in docs/add-a-dbms.md holds: its files exist, and its target passes the suite."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
RECIPE = (ROOT / "docs" / "add-a-dbms.md").read_text()

PLUGIN = """
import sys
from dataclasses import replace
from types import ModuleType

import pytest

from acidtest.targets.resolve import DBMSS, Dbms

module = sys.modules["acidtest.targets.toy"] = ModuleType("acidtest.targets.toy")
exec({target!r}, module.__dict__)
exec({name!r})


def pytest_collection(session):
    from tests.conformance.profiles import PROFILES, SQLITE, Sample

    exec({profile!r}, dict(PROFILES=PROFILES, SQLITE=SQLITE, Sample=Sample, replace=replace))
"""


def test_every_file_that_the_recipe_names_exists() -> None:
    named = set(re.findall(r"`((?:src|tests|docs)/[\w./-]+)`", RECIPE))
    assert len(named) > 8
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_the_target_of_the_recipe_passes_the_suite(tmp_path: Path) -> None:
    target, name, profile = re.findall(r"```python\n(.*?)```", RECIPE, re.DOTALL)
    (tmp_path / "toy_plugin.py").write_text(PLUGIN.format(target=target, name=name, profile=profile))
    parts = [f"tests/conformance/test_{part}.py" for part in ("replies", "sessions", "levels")]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "toy_plugin", "--target", "toy", *parts]
    search = os.pathsep.join([str(tmp_path), str(ROOT / "tests")])
    ran = subprocess.run(
        [*command, "-p", "no:cacheprovider"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": search},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert " passed" in ran.stdout
    assert "failed" not in ran.stdout
