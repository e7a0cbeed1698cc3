"""The tables of the private database, read from information_schema in one round trip."""

from collections.abc import Iterable, Sequence

from acidtest.model import Column, Index, Row, Schema, Table

MARKER_TABLE = "acidtest_marker"
"""Its presence says that acidtest made the database; it belongs to no case."""


def quote_name(name: str) -> str:
    """An identifier in the family's quotes."""
    return "`" + name.replace("`", "``") + "`"


def quote_text(text: str) -> str:
    """A string literal. Only for names that acidtest makes or read from the catalog."""
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def schema_question(database: str, index_expression: str) -> str:
    """Tables, columns and indexes. `index_expression` is NULL where no index can be on one."""
    own = f"TABLE_SCHEMA = {quote_text(database)} AND TABLE_NAME <> {quote_text(MARKER_TABLE)}"
    return (
        # not as a subquery of the next question: MySQL 5.6 then finds no columns
        f"SELECT TABLE_NAME FROM information_schema.TABLES WHERE {own} AND TABLE_TYPE LIKE '%TABLE';"
        "SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, EXTRA, COLLATION_NAME "
        f"FROM information_schema.COLUMNS WHERE {own} ORDER BY TABLE_NAME, ORDINAL_POSITION;"
        f"SELECT TABLE_NAME, INDEX_NAME, NON_UNIQUE, COLUMN_NAME, SUB_PART, {index_expression} "
        f"FROM information_schema.STATISTICS WHERE {own} ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX"
    )


def read_schema(tables: Iterable[Row], columns: Iterable[Row], indexes: Iterable[Row]) -> Schema:
    """The schema from the three answers; the columns are those of views too."""
    by_table: dict[str, list[Column]] = {str(name): [] for (name,) in tables}
    for table, *rest in columns:
        if str(table) in by_table:
            by_table[str(table)].append(_read_column(rest))
    own_indexes = _read_indexes(indexes)
    return Schema(
        tuple(
            Table(name, tuple(own), tuple(own_indexes.get(name, ())))
            for name, own in sorted(by_table.items())
        )
    )


def _read_column(cells: Sequence[object]) -> Column:
    name, type_, nullable, default, extra, collation = cells
    extras = str(extra).upper()
    return Column(
        name=str(name),
        type=_text(type_),
        nullable=nullable == "YES",
        # MariaDB writes the expression NULL where the others write nothing
        default=None if default is None or default == "NULL" else _text(default),
        generated="VIRTUAL" in extras or "STORED" in extras or "PERSISTENT" in extras,
        auto_increment="AUTO_INCREMENT" in extras,
        collation=None if collation is None else str(collation),
    )


def _read_indexes(rows: Iterable[Row]) -> dict[str, list[Index]]:
    parts: dict[tuple[str, str, bool], list[str]] = {}
    for table, name, non_unique, column, prefix, expression in rows:
        part = f"({_text(expression)})" if column is None else str(column)
        if prefix is not None:
            part += f"({_text(prefix)})"
        parts.setdefault((str(table), str(name), str(non_unique) == "0"), []).append(part)
    found: dict[str, list[Index]] = {}
    for (table, name, unique), columns in parts.items():
        found.setdefault(table, []).append(Index(name, tuple(columns), unique, name == "PRIMARY"))
    return found


def _text(value: object) -> str:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
