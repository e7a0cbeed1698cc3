"""Two runs of one case beside each other, a line for each step and for each table of the final state."""

from collections.abc import Iterator

from acidtest.casefile import format_rows
from acidtest.model import ComparisonWitness, History, Verdict
from acidtest.report.document import Grid, grid
from acidtest.report.timeline import EntryKind, timeline

MARK = "<>"
"""Stands where the two differ."""

CELL_MAX = 60


def compared_runs(history: History, verdict: Verdict) -> Grid | None:
    """The judged run and the one that it was compared with; None if it was compared with none."""
    witness = verdict.violation.witness if verdict.violation is not None else None
    return side_by_side(history, witness) if isinstance(witness, ComparisonWitness) else None


def side_by_side(history: History, witness: ComparisonWitness) -> Grid:
    """A row for each step: the statement, and what became of it in either run."""
    heads = ("step", "statement", history.target, "", witness.other.target)
    return grid(heads, [*_steps(history, witness), *_states(history, witness)])


def as_lines(runs: Grid) -> list[str]:
    """The same as text in columns; long cells are cut."""
    rows = [[_cut(cell) for cell in row] for row in (runs.head, *runs.rows)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(runs.head))]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows]


def _steps(history: History, witness: ComparisonWitness) -> Iterator[tuple[str, ...]]:
    here, there = _told(history), _told(witness.other)
    differing = {one.step for one in witness.differences}
    for record in history.records:
        step, statement = record.step, f"{record.session}: {' '.join(record.sql.split())}"
        mark = MARK if step in differing else ""
        yield str(step), statement, here.get(step, ""), mark, there.get(step, "")


def _states(history: History, witness: ComparisonWitness) -> Iterator[tuple[str, ...]]:
    differing = {one.table for one in witness.differences if one.step is None}
    for table in history.final or {}:
        mark = MARK if table in differing else ""
        yield "", f"final {table}", _state(history, table), mark, _state(witness.other, table)


def _state(history: History, table: str) -> str:
    return "" if history.final is None else format_rows(history.final.get(table, ()))


def _told(history: History) -> dict[int, str]:
    """What became of each step."""
    texts: dict[int, list[str]] = {}
    for entry in timeline(history).entries:
        if entry.kind is not EntryKind.SENT:
            texts.setdefault(entry.step, []).append(entry.text)
    return {step: "; ".join(said) for step, said in texts.items()}


def _cut(cell: str) -> str:
    return cell if len(cell) <= CELL_MAX else f"{cell[: CELL_MAX - 3]}..."
