"""The code base keeps its own rules: who imports whom, no sleeps, nothing of one machine in it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src" / "acidtest").rglob("*.py"))

ARCHITECTURE = ROOT / "docs" / "ARCHITECTURE.md"


def _table() -> dict[str, set[str]]:
    """What a package may import of acidtest besides itself, `errors` and `model`, as the page says."""
    allowed: dict[str, set[str]] = {}
    for line in ARCHITECTURE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        name = re.fullmatch(r"`(\w+)(?:/|\.py)`", cells[0]) if len(cells) == 3 else None
        if name is not None:
            allowed[name[1]] = set(re.findall(r"`(\w+)`", cells[2])) if cells[2] != "everything" else {"*"}
    return allowed


ALLOWED = _table()

UNBOUND = {"__init__", "__main__", "errors"}

DRIVERS = {"pymysql", "psycopg", "duckdb", "sqlite3"}
STORE = ROOT / "src" / "acidtest" / "campaign" / "store.py"  # SQLite is where a campaign is kept, no target


def package_of(path: Path) -> str:
    parts = path.relative_to(ROOT / "src" / "acidtest").parts
    return parts[0].removesuffix(".py")


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_one_way(path: Path) -> None:
    package = package_of(path)
    if package in UNBOUND:
        return
    allowed = ALLOWED[package] | {package, "errors", "model"}
    if "*" in allowed:
        return
    for name in imports_of(path):
        parts = name.split(".")
        if parts[0] == "acidtest" and len(parts) > 1:
            assert parts[1] in allowed, f"{package} must not import {name}"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_drivers_are_imported_in_targets_only(path: Path) -> None:
    if package_of(path) != "targets" and path != STORE:
        assert not DRIVERS & {name.split(".")[0] for name in imports_of(path)}


SLEEPER = ROOT / "src" / "acidtest" / "targets" / "base.py"
"""Waits for a server that others start again; nobody tells us when it is there."""


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_sleeps(path: Path) -> None:
    found = re.findall(r"\bsleep\(", path.read_text(encoding="utf-8"))
    assert len(found) == (1 if path == SLEEPER else 0)


def test_every_oracle_file_is_registered() -> None:
    registry = ROOT / "src" / "acidtest" / "oracles" / "registry.py"
    if not registry.exists():
        pytest.skip("no oracles yet")
    text = registry.read_text(encoding="utf-8")
    for name in ("solver", "graph", "views", "serial", "crash"):
        assert f'"{name}"' in text
