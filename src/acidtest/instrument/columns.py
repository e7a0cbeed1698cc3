"""The columns that every table of an instrumented case has besides its own, and how probes are known."""

from acidtest.model import Schema, Value

ROW = "acid_row"
"""The identity of a row, which never changes."""
VERSION = "acid_version"
"""The number of the write that made the version; the set-up has 0."""
PREVIOUS = "acid_prev"
"""The number of the version that the write replaced; NULL if the row is new."""
COLUMNS = (ROW, VERSION, PREVIOUS)

INITIAL_VERSION = 0

PROBE = "/* probe */"
"""Stands behind SELECT in statements that only look at versions."""
PROBE_BEFORE = "/* probe before */"
"""The same, where the statement that it belongs to comes next."""


def is_instrumented(schema: Schema) -> bool:
    """Whether all tables have the columns."""
    return bool(schema.tables) and all(
        {column.name for column in table.columns} >= set(COLUMNS) for table in schema.tables
    )


def whole(value: Value) -> int | None:
    """A number of one of the columns. SQLite 3.40 returns it as a real number from a table with others."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) else None


def is_probe(sql: str) -> bool:
    """Whether a statement was added to look at versions."""
    return PROBE in sql or PROBE_BEFORE in sql
