"""Foreign keys as links between rows of two tables."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from acidtest.evaluator.dialect import Dialect
from acidtest.evaluator.errors import Unknown
from acidtest.evaluator.writes.effect import Change, RowId
from acidtest.model import ErrorKind, ForeignKey, Row, Schema, Table

Key = tuple[Any, ...]
Rows = dict[RowId, Row]


@dataclass(frozen=True, slots=True)
class Move:
    """A row of a table before and after; None where it was not there, or is not any more."""

    table: str
    row: RowId
    old: Row | None
    new: Row | None


@dataclass(frozen=True, slots=True)
class Link:
    """A foreign key with its keys as functions of rows; a key with a NULL refers to nothing."""

    child: Table
    parent: Table
    rule: ForeignKey
    child_key: Callable[[Row], Key | None]
    parent_key: Callable[[Row], Key | None]
    columns: tuple[int, ...]
    parent_columns: tuple[int, ...]

    @property
    def is_own(self) -> bool:
        """Whether a table refers to itself."""
        return self.child.name == self.parent.name


@dataclass(slots=True)
class Consequences:
    """What foreign keys make of the changes of a statement."""

    changes: list[Change] = field(default_factory=list)
    touched: list[tuple[str, RowId]] = field(default_factory=list)
    referenced: list[tuple[str, RowId]] = field(default_factory=list)
    errors: set[ErrorKind] = field(default_factory=set)


def links_around(table: Table, schema: Schema, dialect: Dialect) -> list[Link]:
    """The foreign keys of a table, those that refer to it, and those of tables that a cascade may change."""
    links: list[Link] = []
    names, open_names = {table.name}, [table.name]
    while open_names:
        name = open_names.pop()
        for child in schema.tables:
            for rule in child.foreign_keys:
                if name not in (rule.table, child.name):
                    continue
                if not any(link.rule is rule and link.child is child for link in links):
                    links.append(_link(child, rule, schema, dialect))
                if rule.table == name and child.name not in names:
                    names.add(child.name)
                    open_names.append(child.name)
    return links


def _link(child: Table, rule: ForeignKey, schema: Schema, dialect: Dialect) -> Link:
    try:
        parent = schema.table(rule.table)
    except KeyError:
        raise Unknown("a foreign key to a table that is not one of the case") from None
    own, other = _positions(child, rule.columns), _positions(parent, rule.references)
    to_keys = [dialect.key(dialect.column_type(parent.columns[at]), ordering=False) for at in other]

    def key_of(positions: tuple[int, ...]) -> Callable[[Row], Key | None]:
        def key(row: Row) -> Key | None:
            values = [row[at] for at in positions]
            if any(value is None for value in values):
                return None
            return tuple(to_key(value) for to_key, value in zip(to_keys, values, strict=True))

        return key

    return Link(child, parent, rule, key_of(own), key_of(other), own, other)


def _positions(table: Table, names: Sequence[str]) -> tuple[int, ...]:
    at = {column.name: position for position, column in enumerate(table.columns)}
    if any(name not in at for name in names):
        raise Unknown("a foreign key over columns that are not told")
    return tuple(at[name] for name in names)
