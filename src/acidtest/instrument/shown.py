"""Which versions the rows of an answer show, by the columns that were added to it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from acidtest.instrument.columns import ROW, VERSION, whole
from acidtest.instrument.sources import shown_tables
from acidtest.model import Record, Row, Rows, Table
from acidtest.model.trace import ObjectId
from acidtest.sql.shape import Shape

_NUMBERED = re.compile(rf"{ROW}_(\d+)")


@dataclass(frozen=True, slots=True)
class Shown:
    """Objects of one table with the numbers of their versions."""

    table: str
    versions: tuple[tuple[ObjectId, int], ...]


def shown_by(record: Record, shape: Shape, grammar: str) -> Iterator[Shown]:
    """The versions of each table whose rows an answer shows."""
    if not isinstance(record.outcome, Rows):
        return
    names = [name.lower() for name in record.outcome.columns]
    tables = [one.table for one in shown_tables(shape.tree, grammar)]
    if ROW in names and len(tables) == 1:
        yield _versions(tables[0], record.outcome.rows, names.index(ROW), names.index(VERSION))
        return
    for place, name in enumerate(names):
        if (match := _NUMBERED.fullmatch(name)) and 0 < int(match[1]) <= len(tables):
            other = names.index(f"{VERSION}_{match[1]}")
            yield _versions(tables[int(match[1]) - 1], record.outcome.rows, place, other)


def _versions(table: str, rows: Sequence[Row], row: int, version: int) -> Shown:
    pairs = ((whole(one[row]), whole(one[version])) for one in rows)
    found = [
        (ObjectId(table, identity), number)
        for identity, number in pairs
        if identity is not None and number is not None  # an outer join may find none
    ]
    return Shown(table, tuple(dict.fromkeys(found)))


def rows_of(record: Record, table: Table) -> Iterator[Row]:
    """Whole rows of a table out of an answer, in the order of its columns."""
    assert isinstance(record.outcome, Rows)
    names = [name.lower() for name in record.outcome.columns]
    wanted = [column.name.lower() for column in table.columns]
    if set(wanted) <= set(names):
        places = [names.index(name) for name in wanted]
        yield from (tuple(row[place] for place in places) for row in record.outcome.rows)
