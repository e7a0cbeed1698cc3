"""The first two tables of docs/lab/matrix.md, held against every server of them that is installed."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from acidtest import corpus, servers
from acidtest.bugs.cells import Found, levels_for, observe
from acidtest.execute import Executor
from acidtest.model import Case
from acidtest.targets.resolve import open_target

DOCUMENT = Path(__file__).parents[2] / "docs" / "lab" / "matrix.md"
WORDS = {Found.SHOWS: "shows", Found.HIDDEN: "no", Found.UNKNOWN: "unknown", Found.NOT_FOR: "-"}


AS_REPORTED, ON_POSTGRES = 0, 1
"""Which table of the document: every bug at its own level; PostgreSQL's bugs at every level."""


def documented(which: int) -> dict[str, dict[tuple[str, str], str]]:
    """By target, what each bug does at each level."""
    tables = re.findall(r"^\| bug \| level .*\n(?:\|.*\n)+", DOCUMENT.read_text(), re.MULTILINE)
    head, _rule, *lines = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in tables[which].splitlines()
    ]
    return {
        target: {(bug, level): cells[column] for bug, level, *cells in lines}
        for column, target in enumerate(head[2:])
    }


def observed(target: str, cases: Sequence[Case], levels: str | None) -> dict[tuple[str, str], str]:
    spec = target.partition("?")[0]
    if servers.find_installed(spec) is None:
        pytest.skip(f"{spec} is not installed; acidtest server install {spec}")
    with open_target(target) as opened, Executor(opened) as executor:
        chosen = levels_for(levels, opened.levels)
        cells = [observe(executor, case, level) for case in cases for level in chosen]
    return {(cell.case, cell.level): WORDS.get(cell.found, cell.detail) for cell in cells}


@pytest.mark.parametrize("target", documented(AS_REPORTED))
def test_the_document_says_what_the_server_does(target: str) -> None:
    assert observed(target, corpus.bugs(), None) == documented(AS_REPORTED)[target]


@pytest.mark.parametrize("target", documented(ON_POSTGRES))
def test_the_document_says_what_postgres_does_at_every_level(target: str) -> None:
    expected = documented(ON_POSTGRES)[target]
    named = {bug for bug, _level in expected}
    assert observed(target, [case for case in corpus.bugs() if case.id in named], "all") == expected
