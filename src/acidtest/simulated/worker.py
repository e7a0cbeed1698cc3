"""What runs statements on rows: the part of the engine in which behaviours differ."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from acidtest.evaluator import EvaluationError
from acidtest.evaluator.writes import Change, Effect
from acidtest.model import Affected, ErrorKind, Row, Rows
from acidtest.simulated import faults
from acidtest.simulated.faults import Planted
from acidtest.simulated.locks import LockTable
from acidtest.simulated.plans import ReadPlan, WritePart, WritePlan, read_plan, write_plan
from acidtest.simulated.problems import MustWait, StatementFailed
from acidtest.simulated.storage import Database, Heap, StoredRow, Transaction
from acidtest.simulated.visibility import Visibility
from acidtest.sql.shape import Shape, Verb

Views = dict[str, Sequence[Row]]
Chosen = dict[StoredRow, Row]
Test = Callable[[Row], Any]


@dataclass(slots=True)
class Attempt:
    """A statement under way: first tried when it is launched, and again each time it may go on.

    `waited`: whether it had to wait. `point`: the last commit that its snapshot shows, where statements work
    on snapshots; `opens`: whether it took that snapshot for its transaction. Only faults use what it found at
    the first try: `first_choice` and `first_views`.
    """

    transaction: Transaction
    sql: str
    shape: Shape
    waited: bool = False
    point: int = 0
    opens: bool = False
    first_choice: Chosen = field(default_factory=dict)
    first_views: Views = field(default_factory=dict)


class Worker(ABC):
    """Runs statements on rows as one behaviour wants it, and has a word at the ends of transactions."""

    rows_are_keys = False
    """Whether a row that is inserted under the key of a deleted one is that row again."""

    def __init__(self, database: Database, locks: LockTable, planted: Planted) -> None:
        self._database = database
        self._locks = locks
        self._planted = planted
        self._visibility = Visibility(database, planted)

    # -- the life of a transaction

    def begin(self, transaction: Transaction, consistent_snapshot: bool) -> None:
        """A transaction begins with BEGIN."""
        del transaction, consistent_snapshot

    def launch(self, transaction: Transaction) -> int:
        """A statement on rows begins; the last commit that its snapshot shows."""
        del transaction
        return self._database.clock

    def before_commit(self, transaction: Transaction) -> None:
        """The last moment to refuse a COMMIT: raises `StatementFailed`."""
        del transaction

    def ended(self, transaction: Transaction, committed: bool) -> None:
        """A transaction is over."""
        del transaction, committed

    def went_back(self, transaction: Transaction) -> None:
        """A transaction went back to a savepoint."""
        del transaction

    # -- statements

    def run(self, attempt: Attempt) -> Rows | Affected:
        """Run the statement, or raise `MustWait` or `StatementFailed`; then it has written nothing."""
        self._check_tables(attempt.shape)
        mark = len(attempt.transaction.log)
        try:
            return self._run(attempt)
        except MustWait:
            self._database.undo(attempt.transaction, mark)
            raise
        except (StatementFailed, EvaluationError):
            if not self._planted.has(faults.FAILED_STATEMENT_KEPT):
                self._database.undo(attempt.transaction, mark)
            raise

    def _run(self, attempt: Attempt) -> Rows | Affected:
        if attempt.shape.verb is Verb.READ:
            return self._read(attempt, read_plan(attempt.sql, self._database.schema))
        if attempt.transaction.read_only:
            raise StatementFailed(ErrorKind.READ_ONLY, "the transaction is READ ONLY")
        return self._write(attempt, write_plan(attempt.sql, self._database.schema))

    def _check_tables(self, shape: Shape) -> None:
        for name in shape.reads:
            if name not in self._database.heaps:
                raise StatementFailed(ErrorKind.NO_SUCH_OBJECT, f"there is no table {name}")

    def _row_for(self, heap: Heap, part: WritePart, change: Change) -> StoredRow:
        """Where a change is written: in the row that it names, else in a new one; where rows are kept by
        their key, in the one that had the same key and was deleted."""
        if change.row is not None:
            return heap.rows[change.row]
        kept_by = heap.kept_by if self.rows_are_keys else None
        for index in part.checked.unique:
            if index.name == kept_by and change.values is not None:
                key = index.key(change.values)
                found = (row for row in heap.rows.values() if (old := row.buried()) and index.key(old) == key)
                return next(found, None) or heap.new_row()
        return heap.new_row()

    @abstractmethod
    def _read(self, attempt: Attempt, plan: ReadPlan) -> Rows:
        """Run a query."""

    @abstractmethod
    def _write(self, attempt: Attempt, plan: WritePlan) -> Affected:
        """Run an INSERT, UPDATE or DELETE."""


def every_row(row: Row) -> bool:  # noqa: ARG001 - a condition
    """The condition of a statement without one."""
    return True


def matches(test: Test, values: Row) -> bool:
    """Whether a row matches; one on which the condition fails counts, because it is looked at."""
    try:
        return bool(test(values))
    except EvaluationError:
        return True


def raise_first_error(plan: WritePlan, chosen: Chosen, views: Views) -> None:
    """A condition that fails on a row fails the statement, once its locks are there."""
    if plan.chooses is not None:
        test = plan.chooses.bind(views)
        for values in chosen.values():
            test(values)


def affected(attempt: Attempt, count: int, worked_on: Chosen) -> Affected:
    """What a write tells; of an UPDATE also how many rows it found, as MariaDB does."""
    return Affected(count, len(worked_on) if attempt.shape.verb is Verb.UPDATE else None)


def succeeded(effect: Effect) -> Effect:
    """The effect of a write, unless it is an error."""
    if effect.errors:
        raise StatementFailed(min(effect.errors))
    return effect
