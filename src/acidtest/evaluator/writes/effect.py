"""What a write does, as data, and a write that is ready to run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from acidtest.evaluator.api import (
    CompiledExpression,
    Views,
)
from acidtest.model import ErrorKind, Row, Table
from acidtest.sql.shape import Verb

RowId = int


Work = Sequence[tuple[RowId, Row]]
"""Rows with their identity."""


@dataclass(frozen=True, slots=True)
class Change:
    """A new row (no identity yet), a new version of a row, or (no values) its end.

    `table` is empty for the statement's target; statements over several tables may change another one too.
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


@dataclass(frozen=True, slots=True)
class UniqueIndex:
    """A unique index: rows with equal keys cannot both live; a key with a NULL is equal to none."""

    name: str
    key: Callable[[Row], tuple[Any, ...] | None]


@dataclass(frozen=True, slots=True)
class Write:
    """A compiled write. `unique` are the target's unique indexes; `predicate` tells matching rows."""

    table: Table
    verb: Verb
    unique: tuple[UniqueIndex, ...]
    predicate: CompiledExpression
    _run: Callable[["Run"], Effect] = field(repr=False)

    def run(self, work: Work, existing: Work, views: Views, next_number: int | None = None) -> Effect:
        """The effect on `work`, the rows that it may change; `existing` are all that live, `views` what its
        subqueries read."""
        return self._run(Run(work, existing, views, next_number))


@dataclass(slots=True)
class Run:
    work: Work
    existing: Work
    views: Views
    next_number: int | None
