"""Statements that change definitions: from their words to what they do, and to the schema that holds then."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from acidtest.claims import TableLock
from acidtest.model import Case, Column, ForeignKey, Row, Schema, Table, Value

_NAME = r"[`\"]?(\w+)[`\"]?"
_ALTER = rf"\s*ALTER\s+TABLE\s+{_NAME}\s+"
_COLUMN = re.compile(
    rf"{_ALTER}ADD\s+(?:COLUMN\s+)?(?!(?:CONSTRAINT|INDEX|KEY|UNIQUE|PRIMARY|FOREIGN"
    rf"|CHECK|PARTITION|FULLTEXT|SPATIAL|EXCLUDE|PERIOD|SYSTEM|COLUMN|IF)\b){_NAME}\s+"
    r"(int|integer|bigint|smallint|numeric\s*\(\d+,\s*\d+\)|decimal\s*\(\d+,\s*\d+\)|text|boolean"
    r"|varchar\s*\(\d+\))"
    r"((?:\s+NOT\s+NULL|\s+NULL|\s+DEFAULT\s+(?:-?\d+(?:\.\d+)?|'[^'\\]*'|NULL|TRUE|FALSE))*)\s*",
    re.IGNORECASE,
)
_DEFAULT = re.compile(r"\bDEFAULT\s+(-?[\d.]+|'[^'\\]*'|NULL|TRUE|FALSE)", re.IGNORECASE)
_NUMBERS = ("int", "bigint", "smallint", "numeric", "decimal")
_KEY = re.compile(
    rf"{_ALTER}ADD\s+CONSTRAINT\s+{_NAME}\s+FOREIGN\s+KEY\s*\(([\w\s,]+)\)\s*"
    rf"REFERENCES\s+{_NAME}\s*\(([\w\s,]+)\)\s*NOT\s+VALID\s*",
    re.IGNORECASE,
)
_VALIDATE = re.compile(rf"{_ALTER}VALIDATE\s+CONSTRAINT\s+{_NAME}\s*", re.IGNORECASE)
_SWITCH = re.compile(rf"{_ALTER}(?:ENABLE|DISABLE)\s+TRIGGER\s+{_NAME}\s*", re.IGNORECASE)
_OWNER = re.compile(rf"{_ALTER}OWNER\s+TO\s+{_NAME}\s*", re.IGNORECASE)
_TRIGGER = re.compile(
    rf"\s*CREATE\s+TRIGGER\s+{_NAME}\s+AFTER\s+[\w\s]+?\s+ON\s+{_NAME}\s+"
    rf"(?:FOR\s+(?:EACH\s+)?(?:ROW|STATEMENT)\s+)?EXECUTE\s+(?:FUNCTION|PROCEDURE)\s+{_NAME}\s*\(\s*\)\s*",
    re.IGNORECASE,
)
_DOES_NOTHING = re.compile(
    rf"\s*CREATE\s+(?:OR\s+REPLACE\s+)?FUNCTION\s+{_NAME}\s*\(\s*\)\s+RETURNS\s+TRIGGER\s+"
    r"(?:LANGUAGE\s+plpgsql\s+)?AS\s+(?:'|\$\w*\$)\s*BEGIN\s+RETURN\s+(?:NULL|NEW|OLD)\s*;\s*END\s*;?\s*"
    r"(?:'|\$\w*\$)(?:\s+LANGUAGE\s+plpgsql)?\s*",
    re.IGNORECASE,
)


# -- what statements do


@dataclass(frozen=True, slots=True)
class NewColumn:
    """A column that a table gets, as its last one."""

    table: str
    column: Column


@dataclass(frozen=True, slots=True)
class NewKey:
    """A foreign key that a table gets and that holds for rows to come."""

    table: str
    key: ForeignKey


@dataclass(frozen=True, slots=True)
class ValidKey:
    """A foreign key that holds from now on for all rows."""

    table: str
    name: str


@dataclass(frozen=True, slots=True)
class LockOnly:
    """A change that shows in no result; it locks the table like others."""

    table: str
    mode: TableLock
    trigger: str = ""
    """The trigger that it is about."""
    function: str = ""
    """The function that the trigger calls, if it is a new one."""


Definition = NewColumn | NewKey | ValidKey | LockOnly


@lru_cache(maxsize=1024)
def definition_of(sql: str) -> Definition | None:
    """What a statement changes, if it is one of those that are known and does nothing else."""
    if match := _COLUMN.fullmatch(sql):
        return NewColumn(match[1], _column(match[2], match[3], match[4]))
    if match := _KEY.fullmatch(sql):
        own, other = (tuple(name.strip() for name in match[at].split(",")) for at in (3, 5))
        return NewKey(match[1], ForeignKey(match[2], own, match[4], other))
    if match := _VALIDATE.fullmatch(sql):
        return ValidKey(match[1], match[2])
    if match := _OWNER.fullmatch(sql):
        return LockOnly(match[1], TableLock.ACCESS_EXCLUSIVE)
    if (match := _SWITCH.fullmatch(sql)) and match[2].upper() not in ("ALL", "USER", "REPLICA", "ALWAYS"):
        return LockOnly(match[1], TableLock.SHARE_ROW_EXCLUSIVE, match[2])
    if match := _TRIGGER.fullmatch(sql):
        return LockOnly(match[2], TableLock.SHARE_ROW_EXCLUSIVE, match[1], match[3])
    return None


def _column(name: str, type_: str, rest: str) -> Column:
    default = _DEFAULT.search(rest)
    stated = default[1] if default and default[1].upper() != "NULL" else None
    nullable = re.search(r"\bNOT\s+NULL\b", rest, re.IGNORECASE) is None
    return Column(name, " ".join(type_.lower().split()), nullable, stated)


def is_number(column: Column) -> bool:
    """Whether its values mean the same without a character set and a collation."""
    return column.type.startswith(_NUMBERS)


# -- what holds then


@dataclass(frozen=True, slots=True)
class Defined:
    """A change of a schema by a step of a transaction."""

    transaction: int
    step: int
    what: NewColumn | NewKey


def with_definitions(schema: Schema, changes: Iterable[Defined]) -> Schema:
    """A schema with what was defined since."""
    for one in changes:
        tables = (
            _with_definition(table, one.what) if table.name == one.what.table else table
            for table in schema.tables
        )
        schema = replace(schema, tables=tuple(tables))
    return schema


def _with_definition(table: Table, what: NewColumn | NewKey) -> Table:
    if isinstance(what, NewColumn):
        return replace(table, columns=(*table.columns, what.column))
    return replace(table, foreign_keys=(*table.foreign_keys, what.key))


def fitting(width: int, values: Sequence[Value]) -> Callable[[Row], Row]:
    """Makes rows so wide: with these values behind those they have, or without the last of them."""
    return lambda row: (*row, *values)[:width]


# -- triggers that do nothing


def idle_functions(case: Case) -> frozenset[str]:
    """Functions of the set-up that do nothing when a trigger calls them after the fact."""
    found = (_DOES_NOTHING.fullmatch(one.sql) for one in case.setup)
    return frozenset(match[1].lower() for match in found if match)


def without_idle_triggers(schema: Schema, case: Case) -> Schema:
    """The schema without triggers of the set-up that do nothing."""
    if not any(table.triggers for table in schema.tables):
        return schema
    functions = idle_functions(case)
    made = [found for one in case.setup if isinstance(found := definition_of(one.sql), LockOnly)]
    idle = {(one.table.lower(), one.trigger.lower()) for one in made if one.function.lower() in functions}
    if not idle:
        return schema
    tables = [
        replace(
            table,
            triggers=tuple(name for name in table.triggers if (table.name.lower(), name.lower()) not in idle),
        )
        for table in schema.tables
    ]
    return replace(schema, tables=tuple(tables))
