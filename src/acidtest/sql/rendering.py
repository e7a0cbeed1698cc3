"""Rows as SQL text: what puts given rows into a table, and takes them out again, in a DBMS's own dialect."""

from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from acidtest.model import Row, Table, Value


def quote_name(name: str, dialect: str) -> str:
    """An identifier that means just this name."""
    mark = "`" if dialect == "mysql" else '"'
    return mark + name.replace(mark, mark * 2) + mark


def literal(value: Value, dialect: str) -> str:
    """A literal that gives this value when it is stored in a column of its own type."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Decimal):
        return format(value, "f") if value.is_finite() else f"'{value}'"
    if isinstance(value, float):
        return repr(value) if abs(value) < float("inf") else f"'{value}'"
    if isinstance(value, bytes):
        return _BYTES.get(dialect, _hex_literal)(value)
    return _text(_spelled(value), dialect)


def insert_rows(table: Table, rows: Sequence[Row], dialect: str) -> str:
    """One INSERT of all these rows, numbers that the table would give by itself included."""
    stored = [i for i, column in enumerate(table.columns) if not column.generated]
    names = ", ".join(quote_name(table.columns[i].name, dialect) for i in stored)
    values = ", ".join("(" + ", ".join(literal(row[i], dialect) for i in stored) + ")" for row in rows)
    # An identity column GENERATED ALWAYS takes a value only so; it shows as a counter without a default.
    identity = dialect == "postgres" and any(c.auto_increment and c.default is None for c in table.columns)
    overriding = " OVERRIDING SYSTEM VALUE" if identity else ""
    return f"INSERT INTO {quote_name(table.name, dialect)} ({names}){overriding} VALUES {values}"


def delete_rows(table: Table, rows: Sequence[Row], dialect: str) -> str | None:
    """One DELETE of every row equal to one of these, or None where equality in SQL might mean more or less.

    Only integers and NULL are compared: text compares by collations, and numbers with a fraction may show
    fewer digits than they have. A primary key of integers is enough to know a row by.
    """
    positions = _known_by(table, rows)
    if positions is None:
        return None
    conditions = " OR ".join("(" + _is_row(table, row, positions, dialect) + ")" for row in rows)
    return f"DELETE FROM {quote_name(table.name, dialect)} WHERE {conditions}"


def _known_by(table: Table, rows: Sequence[Row]) -> Sequence[int] | None:
    names = [column.name for column in table.columns]
    keys = [index.columns for index in table.indexes if index.primary]
    for columns in (*keys, tuple(names)):
        if all(name in names for name in columns):
            positions = [names.index(name) for name in columns]
            if all(type(row[i]) in (int, type(None)) for row in rows for i in positions):
                return positions
    return None


def _is_row(table: Table, row: Row, positions: Sequence[int], dialect: str) -> str:
    return " AND ".join(
        f"{quote_name(table.columns[i].name, dialect)} "
        + ("IS NULL" if row[i] is None else f"= {literal(row[i], dialect)}")
        for i in positions
    )


def _spelled(value: str | date | datetime | time | timedelta) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, timedelta):
        sign, span = ("-", -value) if value < timedelta(0) else ("", value)
        minutes, seconds = divmod(span.days * 86400 + span.seconds, 60)
        return f"{sign}{minutes // 60:02d}:{minutes % 60:02d}:{seconds:02d}.{span.microseconds:06d}"
    return value.isoformat()


def _text(text: str, dialect: str) -> str:
    if dialect == "mysql":
        text = text.replace("\\", "\\\\")
    return "'" + text.replace("'", "''") + "'"


def _hex_literal(value: bytes) -> str:
    return f"x'{value.hex()}'"


def _bytea_literal(value: bytes) -> str:
    return rf"'\x{value.hex()}'"


def _blob_literal(value: bytes) -> str:
    return "'" + "".join(rf"\x{byte:02X}" for byte in value) + "'::BLOB"


_BYTES: dict[str, Callable[[bytes], str]] = {"postgres": _bytea_literal, "duckdb": _blob_literal}
