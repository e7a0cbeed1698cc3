"""The tables of a case, as the target described them after the set-up."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

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


@dataclass(frozen=True, slots=True)
class Index:
    """An index by its column names in order; an expression or a prefix keeps the DBMS's own text."""

    name: str
    columns: tuple[str, ...]
    unique: bool
    primary: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table with what decides which rows may live in it."""

    name: str
    columns: tuple[Column, ...]
    indexes: tuple[Index, ...] = ()


@dataclass(frozen=True, slots=True)
class Schema:
    """All tables of the case, ordered by name."""

    tables: tuple[Table, ...] = ()

    def table(self, name: str) -> Table:
        """The table of that name; a KeyError is a bug of the caller."""
        for table in self.tables:
            if table.name == name:
                return table
        raise KeyError(name)


State = Mapping[str, tuple[Row, ...]]
"""Committed rows of each table, sorted."""


def freeze_state(tables: Mapping[str, tuple[Row, ...]]) -> State:
    """A read-only state, ordered by table name."""
    return MappingProxyType(dict(sorted(tables.items())))
