"""The recipe in docs/add-a-dbms.md holds: its files exist, and its target passes the suite."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from acidtest.targets.resolve import DBMSS, dialect_of, make_target

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
    target, name, _elsewhere, profile = re.findall(r"```python\n(.*?)```", RECIPE, re.DOTALL)
    (tmp_path / "toy_plugin.py").write_text(PLUGIN.format(target=target, name=name, profile=profile))
    parts = [f"tests/conformance/test_{part}.py" for part in ("replies", "sessions", "levels")]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "toy_plugin", "--target", "toy", *parts]
    search = os.pathsep.join([str(tmp_path), str(ROOT / "src"), str(ROOT / "tests")])
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


def test_a_package_of_its_own_registers_by_its_entry_point(tmp_path: Path) -> None:
    target, _here, elsewhere, _profile = re.findall(r"```python\n(.*?)```", RECIPE, re.DOTALL)
    (entry_points,) = re.findall(r"```toml\n\[project.entry-points.\"(.*?)\"\]\n(.*?)```", RECIPE, re.DOTALL)
    (tmp_path / "toy_acidtest.py").write_text(target + elsewhere)
    installed = tmp_path / "toy_acidtest-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-acidtest\nVersion: 1.0\n")
    group, lines = entry_points
    text = lines.replace('"', "") + "broken = no_such_module:NOTHING\nsqlite = toy_acidtest:TOY\n"
    (installed / "entry_points.txt").write_text(f"[{group}]\n{text}")
    case = tmp_path / "case.sql"
    case.write_text(
        "-- id: toy\n-- setup\nCREATE TABLE t (a INT);\n-- schedule\n"
        "/* tx1 */ INSERT INTO t VALUES (1);\n/* tx1 */ SELECT * FROM t; -- expect: (1)\n"
    )
    search = os.pathsep.join([str(tmp_path), str(ROOT / "src")])

    def run(spec: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "acidtest", "run", str(case), "-t", spec, "--oracle", "crash"],
            env={**os.environ, "PYTHONPATH": search},
            capture_output=True,
            text=True,
            check=False,
        )

    ran = run("toy")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "-- t: (1)" in ran.stdout
    assert run("sqlite").returncode == 0  # what is acidtest's own stays so
    broken = run("broken")
    assert broken.returncode == 2
    assert "no_such_module" in broken.stderr
    assert "Traceback" not in broken.stderr


def test_each_dbms_has_one_dialect() -> None:
    for name, dbms in DBMSS.items():
        if dbms.driver is None or find_spec(dbms.driver) is not None:
            assert make_target(dbms).dialect == dialect_of(name)  # type: ignore[attr-defined]
