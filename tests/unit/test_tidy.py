"""The code base keeps its own rules: who imports whom, no sleeps, nothing of one machine in it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src" / "acidtest").rglob("*.py"))

# What a package may import of acidtest besides itself, `errors` and `model`.
ALLOWED: dict[str, set[str]] = {
    "model": set(),
    "sql": set(),
    "evaluator": {"sql"},
    "casefile": {"sql"},
    "servers": set(),
    "targets": {"sql", "servers", "simulated"},
    "simulated": {"evaluator", "sql"},
    "execute": {"sql", "targets"},
    "claims": set(),
    "graph": set(),
    "generate": {"evaluator", "sql"},
    "oracles": {"casefile", "claims", "evaluator", "execute", "graph", "sql", "targets"},
    "reduce": {"casefile", "sql"},
    "report": {"casefile", "sql"},
    "corpus": {"casefile", "execute", "oracles", "targets"},
    "findings": {
        "casefile",
        "claims",
        "corpus",
        "examine",
        "oracles",
        "reduce",
        "report",
        "signatures",
        "sql",
        "targets",
    },
    "campaign": {
        "casefile",
        "examine",
        "findings",
        "generate",
        "oracles",
        "pipeline",
        "report",
        "signatures",
        "targets",
    },
    "examine": {"claims", "execute", "oracles", "targets"},
    "pipeline": {"examine", "execute", "findings", "generate", "targets"},
    "signatures": {"sql"},
    "specs": {"casefile", "examine", "execute"},
    "doctor": {"servers", "targets"},
    "bench": {
        "campaign",
        "casefile",
        "examine",
        "execute",
        "findings",
        "generate",
        "oracles",
        "pipeline",
        "reduce",
        "signatures",
        "sql",
        "targets",
    },
}

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
    if package not in ALLOWED:
        return
    allowed = ALLOWED[package] | {package, "errors", "model"}
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
