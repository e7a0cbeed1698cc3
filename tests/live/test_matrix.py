"""The first table of docs/lab/matrix.md, held against every server of it that is installed."""

import re
from pathlib import Path

import pytest

from acidtest import corpus, servers
from acidtest.bugs.cells import Found, observe
from acidtest.execute import Executor
from acidtest.targets.resolve import open_target

DOCUMENT = Path(__file__).parents[2] / "docs" / "lab" / "matrix.md"
WORDS = {Found.SHOWS: "shows", Found.HIDDEN: "no", Found.UNKNOWN: "unknown", Found.NOT_FOR: "-"}


def documented() -> dict[str, dict[tuple[str, str], str]]:
    """By target, what each bug does at its level."""
    table = re.search(r"^\| bug \| level .*\n(?:\|.*\n)+", DOCUMENT.read_text(), re.MULTILINE)
    assert table is not None
    head, _rule, *lines = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table[0].splitlines()
    ]
    return {
        target: {(bug, level): cells[column] for bug, level, *cells in lines}
        for column, target in enumerate(head[2:])
    }


@pytest.mark.parametrize("target", documented())
def test_the_document_says_what_the_server_does(target: str) -> None:
    spec = target.partition("?")[0]
    if servers.find_installed(spec) is None:
        pytest.skip(f"{spec} is not installed; acidtest server install {spec}")
    with open_target(target) as opened, Executor(opened) as executor:
        cells = [observe(executor, case, None) for case in corpus.bugs()]
    seen = {(cell.case, cell.level): WORDS.get(cell.found, cell.detail) for cell in cells}
    assert seen == documented()[target]
