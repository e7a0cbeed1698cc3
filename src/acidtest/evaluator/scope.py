"""Names: which slot of the joined row a column stands in."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from acidtest.evaluator.errors import EvaluationError
from acidtest.evaluator.types import SqlType
from acidtest.model import ErrorKind


@dataclass(slots=True)
class Runtime:
    """What one run of a statement works on: the rows of each table, and answers of subqueries so far."""

    views: Mapping[str, Sequence[tuple[Any, ...]]]
    cache: dict[object, Any] = field(default_factory=dict)
    work: Mapping[str, Sequence[tuple[Any, ...]]] = field(default_factory=dict)
    """The rows of the sources that a write changes, by the name of the source."""


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a source in its slot."""

    name: str
    type: SqlType
    slot: int


@dataclass(frozen=True, slots=True)
class Source:
    """One item of a FROM clause. `identity` is the slot of the row's position in a base table's view."""

    name: str
    fields: tuple[Field, ...]
    table: str | None = None
    identity: int | None = None
    key_slots: frozenset[int] = frozenset()
    qualified: bool = False
    """Its columns are meant only where the source is named with them."""


@dataclass(slots=True)
class Scope:
    """The names that a query sees. `width` is the length of its joined row at the stage being compiled."""

    parent: "Scope | None" = None
    base: int = 1  # the length of the enclosing queries' joined row
    width: int = 1
    sources: list[Source] = field(default_factory=list)
    merged: dict[str, Field] = field(default_factory=dict)  # columns joined by USING
    aliases: dict[str, Any] = field(default_factory=dict)  # the select list, where a clause may name it
    outer_used: bool = False
    visit: Callable[[Field], None] | None = None  # told of every own column that is read

    def child(self) -> "Scope":
        """The scope of a subquery: its joined rows start with this query's."""
        return Scope(parent=self, base=self.width, width=self.width)

    def beside(self) -> "Scope":
        """The scope of a derived or common table: it sees what this query sees around itself."""
        return Scope(parent=self.parent, base=self.base, width=self.base)

    def find(self, name: str, table: str | None) -> Field:
        """The column of that name, in this query or an enclosing one."""
        own = self._own(name, table)
        if own is not None:
            if self.visit is not None:
                self.visit(own)
            return own
        if self.parent is None:
            raise EvaluationError(ErrorKind.NO_SUCH_OBJECT, f"column {name}")
        self.outer_used = True
        return self.parent.find(name, table)

    def has_source(self, name: str) -> bool:
        """Whether this query or an enclosing one reads something of that name."""
        own = any(source.name == name for source in self.sources)
        return own or (self.parent is not None and self.parent.has_source(name))

    def _own(self, name: str, table: str | None) -> Field | None:
        if table is None and name in self.merged:
            return self.merged[name]
        sources = [
            source
            for source in self.sources
            if (source.name == table if table is not None else not source.qualified)
        ]
        found = [item for source in sources for item in source.fields if item.name == name]
        if len(found) > 1:
            raise EvaluationError(ErrorKind.SYNTAX, f"column {name} is ambiguous")
        return found[0] if found else None
