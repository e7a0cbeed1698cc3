"""The tables of a case, as the target described them after the set-up."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from acidtest.model.value import Row


@dataclass(frozen=True, slots=True)
class Column:
    """A column in its position; `type` is the DBMS's own spelling."""

    name: str
    type: str
    nullable: bool
    default: str | None = None
    generated: bool = False
    auto_increment: bool = False
    collation: str | None = None
    expression: str | None = None
    """How a generated column is computed, in the DBMS's own words; None if that is not told."""


@dataclass(frozen=True, slots=True)
class Index:
    """An index by its key columns in order; an expression or a prefix keeps the DBMS's own text."""

    name: str
    columns: tuple[str, ...]
    unique: bool
    primary: bool = False
    where: str | None = None
    """The condition of a partial index."""
    nulls_distinct: bool = True
    """Whether two NULLs count as different keys."""
    deferrable: bool = False
    """A unique constraint that is checked after the statement, or at COMMIT if it was deferred."""
    included: tuple[str, ...] = ()
    """Columns that the index carries without being keyed by them."""
    clustered: bool | None = None
    """Whether the rows are kept by it; None if the DBMS does not tell."""


class Action(StrEnum):
    """What a foreign key does to the rows that refer to one which is deleted or gets another key."""

    NO_ACTION = "NO ACTION"
    RESTRICT = "RESTRICT"
    CASCADE = "CASCADE"
    SET_NULL = "SET NULL"
    SET_DEFAULT = "SET DEFAULT"


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """`columns` of the table it belongs to refer to `references` of another, or of the same."""

    name: str
    columns: tuple[str, ...]
    table: str
    references: tuple[str, ...]
    on_delete: Action = Action.NO_ACTION
    on_update: Action = Action.NO_ACTION
    deferrable: bool = False


@dataclass(frozen=True, slots=True)
class Check:
    """A CHECK constraint, in the DBMS's own words."""

    name: str
    expression: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table with what decides which rows may live in it, and what happens when they are written."""

    name: str
    columns: tuple[Column, ...]
    indexes: tuple[Index, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    checks: tuple[Check, ...] = ()
    triggers: tuple[str, ...] = ()
    """Names of the triggers and rewrite rules on it: statements do more there than they say."""
    children: tuple[str, ...] = ()
    """Partitions and inheriting tables, whose rows are among its own; they are not listed by themselves."""


@dataclass(frozen=True, slots=True)
class Schema:
    """All tables of the case, ordered by name; views and functions of the case by name alone."""

    tables: tuple[Table, ...] = ()
    views: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    folds_names: str = ""
    """How unquoted names are read: `lower` (PostgreSQL), or empty where tables keep the names as written."""

    def table(self, name: str) -> Table:
        """The table of that name; a KeyError is a bug of the caller."""
        for table in self.tables:
            if table.name == name:
                return table
        raise KeyError(name)


State = Mapping[str, tuple[Row, ...]]
"""Committed rows of each table, sorted."""


def freeze_state(tables: Mapping[str, tuple[Row, ...]]) -> State:
    """A state ordered by table name, to be read only; a plain dict, because workers send it to each other."""
    return dict(sorted(tables.items()))
