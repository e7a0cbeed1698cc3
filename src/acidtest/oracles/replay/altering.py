"""ALTER TABLE .. ADD COLUMN: from its words to the schema that holds from then on."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from acidtest.model import Column, Row, Schema, Value

_NAME = r"[`\"]?(\w+)[`\"]?"
_ADD = re.compile(
    rf"\s*ALTER\s+TABLE\s+{_NAME}\s+ADD\s+(?:COLUMN\s+)?(?!(?:CONSTRAINT|INDEX|KEY|UNIQUE|PRIMARY|FOREIGN"
    rf"|CHECK|PARTITION|FULLTEXT|SPATIAL|EXCLUDE|PERIOD|SYSTEM|COLUMN|IF)\b){_NAME}\s+"
    r"(int|integer|bigint|smallint|numeric\s*\(\d+,\s*\d+\)|decimal\s*\(\d+,\s*\d+\)|text|boolean"
    r"|varchar\s*\(\d+\))"
    r"((?:\s+NOT\s+NULL|\s+NULL|\s+DEFAULT\s+(?:-?\d+(?:\.\d+)?|'[^'\\]*'|NULL|TRUE|FALSE))*)\s*",
    re.IGNORECASE,
)
_DEFAULT = re.compile(r"\bDEFAULT\s+(-?[\d.]+|'[^'\\]*'|NULL|TRUE|FALSE)", re.IGNORECASE)
_NUMBERS = ("int", "bigint", "smallint", "numeric", "decimal")


@dataclass(frozen=True, slots=True)
class AddedColumn:
    """A column that a step of a transaction added to a table, as its last one."""

    transaction: int
    step: int
    table: str
    column: Column


@lru_cache(maxsize=1024)
def added_column(sql: str) -> tuple[str, Column] | None:
    """The table and the column, if a statement adds one and does nothing else."""
    match = _ADD.fullmatch(sql)
    if match is None:
        return None
    table, name, type_, rest = match.groups()
    default = _DEFAULT.search(rest)
    stated = default[1] if default and default[1].upper() != "NULL" else None
    nullable = re.search(r"\bNOT\s+NULL\b", rest, re.IGNORECASE) is None
    return table, Column(name, " ".join(type_.lower().split()), nullable, stated)


def is_number(column: Column) -> bool:
    """Whether its values mean the same without a character set and a collation."""
    return column.type.startswith(_NUMBERS)


def with_columns(schema: Schema, added: Iterable[AddedColumn]) -> Schema:
    """A schema with columns that were added to it."""
    for one in added:
        tables = [
            replace(table, columns=(*table.columns, one.column)) if table.name == one.table else table
            for table in schema.tables
        ]
        schema = replace(schema, tables=tuple(tables))
    return schema


def fitting(width: int, values: Sequence[Value]) -> Callable[[Row], Row]:
    """Makes rows so wide: with these values behind those they have, or without the last of them."""
    return lambda row: (*row, *values)[:width]
