"""What a write does, as data, and a write that is ready to run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from acidtest.evaluator.api import CompiledExpression, Views
from acidtest.evaluator.errors import Unknown
from acidtest.model import ErrorKind, Row, Table
from acidtest.sql.shape import Verb

RowId = int

Work = Sequence[tuple[RowId, Row]]
"""Rows with their identity."""

NOTHING: Mapping[str, Work] = {}


@dataclass(frozen=True, slots=True)
class Change:
    """A new row (no identity yet), a new version of a row, or (no values) its end.

    `table` is empty for the statement's target; joins and foreign keys may change another one too.
    """

    row: RowId | None
    values: Row | None
    table: str = ""


@dataclass(frozen=True, slots=True)
class Effect:
    """What the statement does. If `errors` is not empty it fails with one of them and changes nothing."""

    changes: tuple[Change, ...] = ()
    worked_on: tuple[RowId, ...] = ()
    counts: frozenset[int] = frozenset()
    errors: frozenset[ErrorKind] = frozenset()
    may_fail: frozenset[ErrorKind] = frozenset()
    numbered: int = 0
    """How many automatic numbers it took or passed by."""
    met: tuple[RowId, ...] = ()
    """Living rows whose keys kept new rows out, or were updated instead: the statement depends on them."""
    meets_several: bool = False
    """A new row had keys of several others: which of them the DBMS came upon is not known."""
    returned: tuple[Row, ...] | None = None
    """The rows of RETURNING, in no certain order; None if it has none."""
    touched: tuple[tuple[str, RowId], ...] = ()
    """Rows of other tables that it wrote, also if they stay as they are."""
    referenced: tuple[tuple[str, RowId], ...] = ()
    """Rows that foreign keys of new rows refer to: the DBMS looked them up and locks them for share."""


@dataclass(frozen=True, slots=True)
class UniqueIndex:
    """A unique index: rows with equal keys cannot both live; without a key a row is not in it, or has a NULL
    that is equal to none."""

    name: str
    key: Callable[[Row], tuple[Any, ...] | None]
    deferrable: bool = False


@dataclass(slots=True)
class Run:
    """The rows that one run of a write works on."""

    work: Work
    existing: Work
    views: Views
    next_number: int | None = None
    seen: Mapping[str, Work] = field(default_factory=dict)
    related: Mapping[str, Work] = field(default_factory=dict)

    def joined(self, table: str) -> Work:
        """The rows of another table that the statement may change."""
        if table not in self.seen:
            raise Unknown(f"which rows of {table} are which")
        return self.seen[table]

    def referred(self, table: str) -> Work:
        """The living rows of a table that a foreign key connects with the target."""
        if table not in self.related:
            raise Unknown("foreign keys")
        return self.related[table]


@dataclass(frozen=True, slots=True)
class Write:
    """A compiled write. `unique` are the target's unique indexes; `predicate` tells matching rows."""

    table: Table
    verb: Verb
    unique: tuple[UniqueIndex, ...]
    predicate: CompiledExpression
    _run: Callable[[Run], Effect] = field(repr=False)
    related: tuple[str, ...] = ()
    """Tables that foreign keys connect with the target; the target itself may be one."""

    def run(
        self,
        work: Work,
        existing: Work,
        views: Views,
        next_number: int | None = None,
        *,
        seen: Mapping[str, Work] = NOTHING,
        related: Mapping[str, Work] = NOTHING,
    ) -> Effect:
        """The effect on `work`, the rows that it may change; `existing` are all that live, `views` what its
        subqueries read, `seen` the same with identities, for joins; `related`: all living rows of the tables
        that foreign keys connect with the target."""
        return self._run(Run(work, existing, views, next_number, seen, related))
