"""The matrix of bugs, versions and levels as Markdown, as a page, and as JSON."""

from collections.abc import Sequence
from html import escape
from typing import Any

from acidtest.bugs.cells import Cell, Found
from acidtest.model import Level

FORMAT = "acidtest-matrix/2"

_WORDS = {Found.SHOWS: "shows", Found.HIDDEN: "no", Found.UNKNOWN: "unknown", Found.NOT_FOR: "-"}

_STYLE = """\
:root { color-scheme: light dark; font: 15px/1.4 system-ui, sans-serif }
body { margin: 1.5rem }
table { border-collapse: collapse }
th, td { padding: .15rem .5rem; border-bottom: 1px solid #8884; text-align: left; white-space: nowrap }
thead th { position: sticky; top: 0; background: Canvas }
.shows { color: #c22; font-weight: 600 } .hidden, .error { color: #292 }
.unknown { color: #b80 } .not-for { opacity: .4 }
@media print { thead th { position: static } }
"""


def word_of(cell: Cell | None) -> str:
    """A cell in a word."""
    if cell is None:
        return _WORDS[Found.NOT_FOR]
    if cell.found is Found.ERROR:
        return cell.detail
    rate = f" ({cell.shown}/{cell.runs})" if cell.found is Found.SHOWS and cell.runs > 1 else ""
    return _WORDS[cell.found] + rate


def rows_of(cells: Sequence[Cell]) -> dict[tuple[str, str], dict[str, Cell]]:
    """Cells by case and level, in the order of cases and levels, then by target."""
    order = {level.short: position for position, level in enumerate(Level)}
    cases = {name: position for position, name in enumerate(dict.fromkeys(cell.case for cell in cells))}
    rows: dict[tuple[str, str], dict[str, Cell]] = {}
    for cell in sorted(cells, key=lambda cell: (cases[cell.case], order.get(cell.level, -1))):
        rows.setdefault((cell.case, cell.level), {})[cell.target] = cell
    return rows


def matrix_as_markdown(cells: Sequence[Cell]) -> str:
    """A row for every bug and level, a column for every target."""
    targets = _targets(cells)
    lines = [f"| bug | level | {' | '.join(targets)} |", "|---" * (len(targets) + 2) + "|"]
    for (case, level), row in rows_of(cells).items():
        lines.append(f"| {case} | {level} | {' | '.join(word_of(row.get(one)) for one in targets)} |")
    return "\n".join(lines)


def matrix_as_html(cells: Sequence[Cell]) -> str:
    """The same as a page that needs nothing else; why a cell is so shows under the pointer."""
    targets = _targets(cells)
    head = "".join(f"<th>{escape(one)}</th>" for one in ("bug", "level", *targets))
    body = []
    for (case, level), row in rows_of(cells).items():
        own = "".join(_td(row.get(one)) for one in targets)
        body.append(f"<tr><th>{escape(case)}</th><td>{escape(level)}</td>{own}</tr>")
    rows = "\n".join(body)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Which bug shows where</title>\n<style>\n{_STYLE}</style></head>\n"
        f"<body><h1>Which bug shows where</h1>\n<table><thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n"
        "</tbody></table></body></html>\n"
    )


def _td(cell: Cell | None) -> str:
    kind = (cell.found if cell else Found.NOT_FOR).name.lower().replace("_", "-")
    title = f' title="{escape(cell.detail)}"' if cell is not None and cell.detail else ""
    return f'<td class="{kind}"{title}>{escape(word_of(cell))}</td>'


def cells_to_json(cells: Sequence[Cell]) -> dict[str, Any]:
    """The cells as a document."""
    return {"format": FORMAT, "cells": [_to_json(cell) for cell in cells]}


def _to_json(cell: Cell) -> dict[str, Any]:
    return {
        "case": cell.case,
        "level": cell.level,
        "target": cell.target,
        "version": cell.version,
        "found": cell.found.value,
        "detail": cell.detail,
        "shown": cell.shown,
        "runs": cell.runs,
    }


def _targets(cells: Sequence[Cell]) -> list[str]:
    return list(dict.fromkeys(cell.target for cell in cells))
