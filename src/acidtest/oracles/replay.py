"""Walks a history along its observed order, with version chains and locks, and compares each step.

This is the part that Troc and Fucci share: which versions a statement may see (the claim's word), whether it
had to wait, and what it must have done; how a single statement is solved is the engine's business. Only the
order that really happened is judged, so any number of transactions will do.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from sqlglot import exp

from acidtest.casefile import format_row, format_rows
from acidtest.claims import Claim, Lock, OnConflict, Sees, SnapshotAt
from acidtest.model import (
    Affected,
    ErrorKind,
    Event,
    EventKind,
    Failed,
    History,
    Omitted,
    Overran,
    Record,
    Row,
    Rows,
    Table,
    TransactionState,
    Undone,
    ViolationKind,
    same_rows,
)
from acidtest.mvcc import Chains, Seen, Version, Visible
from acidtest.oracles.engine import Engine, UndecidedError, Views
from acidtest.oracles.locks import LockTable, PredicateLock, RowLock
from acidtest.sql import StatementKind, kind_of
from acidtest.sql.shape import Locking, Patience, Shape, Verb, shape_of
from acidtest.sql.writes import Effect

NOT_OF_THE_DATA = frozenset(
    {
        ErrorKind.SYNTAX,
        ErrorKind.NO_SUCH_OBJECT,
        ErrorKind.OBJECT_EXISTS,
        ErrorKind.UNSUPPORTED,
        ErrorKind.READ_ONLY,
        ErrorKind.TRANSACTION_STATE,
        ErrorKind.CANCELLED,
        ErrorKind.RESOURCES,
        ErrorKind.ACCESS,
        ErrorKind.OTHER,
    }
)
"""Errors about which isolation says nothing: the statement just did not happen."""

OF_THE_DATA = frozenset(
    {
        ErrorKind.DUPLICATE_KEY,
        ErrorKind.NOT_NULL,
        ErrorKind.FOREIGN_KEY,
        ErrorKind.CHECK,
        ErrorKind.CONSTRAINT,
        ErrorKind.OUT_OF_RANGE,
        ErrorKind.TRUNCATION,
        ErrorKind.DIVISION_BY_ZERO,
        ErrorKind.BAD_VALUE,
    }
)
"""Where several of these apply, which comes first is not laid down."""


NOT_IN_THE_SCHEMA = frozenset({ErrorKind.CHECK, ErrorKind.CONSTRAINT})
"""Errors of constraints that a schema as we read it does not list."""

_ROW_KINDS = (StatementKind.QUERY, StatementKind.WRITE)
_SUBQUERIES = (exp.Subquery, exp.Exists)
_REFERENCES = re.compile(r"\bREFERENCES\b", re.IGNORECASE)
_HAS_SEQUENCES = frozenset({"postgres", "duckdb"})
"""Where numbers come from a sequence, which rows with numbers of their own do not move forward:
https://www.postgresql.org/docs/current/datatype-numeric.html#DATATYPE-SERIAL"""
_OWN_GRAMMAR = frozenset({"postgres", "sqlite", "duckdb"})
"""DBMSs whose SQL sqlglot reads by a grammar of that name; all others speak MySQL's."""


class ViolationError(Exception):
    """The DBMS broke its promise: what, where, and the two sides."""

    def __init__(
        self,
        kind: ViolationKind,
        step: int | None,
        expected: str,
        observed: str,
        explanation: str,
        *,
        expected_rows: Sequence[Row] = (),
        table: str = "",
    ) -> None:
        super().__init__(explanation)
        self.kind, self.step = kind, step
        self.expected, self.observed, self.explanation = expected, observed, explanation
        self.expected_rows, self.table = expected_rows, table


@dataclass(slots=True)
class Standing:
    """Where a session stands."""

    name: str
    claim: Claim
    transaction: int | None = None
    failed: bool = False
    moments: tuple[int, ...] = ()
    """Clock readings at which its snapshot may have been taken; empty before it is."""
    opened_by: int | None = None
    """The step that took the snapshot, where the first statement does, whatever it is."""
    maybe_unopened: bool = False
    """A read may have opened no snapshot, so a later one may still do."""
    savepoints: list[tuple[str, int, int]] = field(default_factory=list)


class Replay:
    """One walk along one history. `run` raises `ViolationError` or `UndecidedError`, or returns."""

    def __init__(self, history: History, claims: Mapping[str, Claim], engine: Engine) -> None:
        self.history = history
        self.chains = Chains.of(history.initial)
        self.locks = LockTable()
        self.sessions = {name: Standing(name, claim) for name, claim in claims.items()}
        self.owners: dict[int, str] = {}
        self.doubted = False
        """A statement that waited may have passed rows by; which, was guessed from what it reported."""
        self.undecided: list[str] = []
        """Reads that could not be judged; the walk goes on without them."""
        self._engine = engine
        self._dialect = history.dbms if history.dbms in _OWN_GRAMMAR else "mysql"
        self._launched_at: dict[int, int] = {}
        self._dirty_at: dict[int, frozenset[tuple[str, int]]] = {}
        """Rows whose newest version was not committed when a step was launched."""
        self._in_flight: dict[str, int] = {}
        self._numbers = _first_numbers(history)
        self._next_transaction = 1

    def run(self) -> None:
        """Judge every step in the order of completion, then the final state."""
        if self.history.final is None:
            raise UndecidedError("the server died")
        if any(_REFERENCES.search(statement.sql) for statement in self.history.case.setup):
            raise UndecidedError("foreign keys")  # their checks lock and read other rows than the statement
        for event in _in_order_of_effect(self.history):
            if event.kind is EventKind.LAUNCHED:
                self._launched_at[event.step] = self.chains.clock
                self._dirty_at[event.step] = self._dirty_rows()
                self._in_flight[event.session] = event.step
                self._first_statement(self.sessions[event.session], event.step)
            elif event.kind is EventKind.COMPLETED:
                self._in_flight.pop(event.session, None)
                self._complete(self.history.records[event.step])
        if any(isinstance(record.outcome, Overran) for record in self.history.records):
            raise UndecidedError("a statement ran over the limit")
        self._judge_final_state()

    # -- transactions

    def _first_statement(self, standing: Standing, step: int) -> None:
        """The snapshot of engines that take it with the first statement, whatever that is."""
        if standing.claim.snapshot is not SnapshotAt.FIRST_STATEMENT or standing.transaction is None:
            return
        if not standing.moments and kind_of(self.history.records[step].sql) in _ROW_KINDS:
            standing.moments = (self.chains.clock,)
            standing.opened_by = step

    def _complete(self, record: Record) -> None:
        standing = self.sessions[record.session]
        kind = kind_of(record.sql)
        match kind:
            case StatementKind.BEGIN:
                self._begin(standing, record)
            case StatementKind.COMMIT:
                self._commit(standing, record)
            case StatementKind.ROLLBACK:
                self._abort(standing)
            case StatementKind.SAVEPOINT:
                self._savepoint(standing, record)
            case StatementKind.QUERY | StatementKind.WRITE:
                self._statement(standing, record)
            case _:
                if not isinstance(record.outcome, Failed):
                    raise UndecidedError(f"{kind.value} statements inside the schedule")

    def _begin(self, standing: Standing, record: Record) -> None:
        if isinstance(record.outcome, Failed):
            return
        if "ISOLATION" in record.sql.upper():
            raise UndecidedError("BEGIN with a level of its own")
        if standing.transaction is not None:
            self._end(standing, commit=True)  # MySQL: BEGIN commits what is open
        self._open(standing)
        consistent = "CONSISTENT SNAPSHOT" in " ".join(record.sql.upper().split())
        if standing.claim.snapshot is SnapshotAt.BEGIN or consistent:
            standing.moments = (self.chains.clock,)

    def _open(self, standing: Standing) -> int:
        standing.transaction = self._next_transaction
        standing.moments, standing.maybe_unopened, standing.failed = (), False, False
        standing.savepoints.clear()
        self.owners[self._next_transaction] = standing.name
        self._next_transaction += 1
        return standing.transaction

    def _commit(self, standing: Standing, record: Record) -> None:
        if standing.failed or isinstance(record.outcome, Failed):
            if isinstance(record.outcome, Failed) and not standing.failed:
                self._judge_conflict_error(standing, record, record.outcome, frozenset(), frozenset())
            if record.after is TransactionState.NONE:  # SQLite's COMMIT can fail and be tried again
                self._abort(standing)
        else:
            if standing.claim.on_conflict is OnConflict.AT_COMMIT:
                self._require_conflict_error(standing, record, self._lost_at_commit(standing))
            self._end(standing, commit=True)

    def _lost_at_commit(self, standing: Standing) -> str:
        """Why an optimistic transaction must not commit: a row that it changed has been changed since."""
        if standing.transaction is None or not standing.moments:
            return ""
        moment = max(standing.moments)
        for table in self.chains.tables():
            for row, versions in self.chains.rows(table):
                own = [one for one in versions if one.writer == standing.transaction]
                then = self._values_at(table, row, moment)
                if not own or own[-1].values == then:  # what leaves a row as it was may not count as a write
                    continue
                for one in versions:
                    later = self.chains.is_committed(one.writer) and not self.chains.committed_by(
                        one.writer, moment
                    )
                    if later and one.values != then:
                        who = self.owners.get(one.writer, "another transaction")
                        return f"{who} changed a row of {table} after the snapshot and committed first"
        return ""

    def _abort(self, standing: Standing) -> None:
        self._end(standing, commit=False)

    def _end(self, standing: Standing, commit: bool) -> None:
        if standing.transaction is not None:
            if commit:
                self.chains.commit(standing.transaction)
            else:
                self.chains.undo(standing.transaction)
            self.locks.release(standing.transaction)
        standing.transaction, standing.moments, standing.failed = None, (), False
        standing.savepoints.clear()

    def _savepoint(self, standing: Standing, record: Record) -> None:
        if isinstance(record.outcome, Failed):
            return
        if standing.transaction is None:
            return
        words = record.sql.upper().replace("WORK", " ").replace("TRANSACTION", " ").split()
        name = words[-1].strip('`"')
        if words[0] == "SAVEPOINT":
            if standing.claim.dbms != "postgres":  # a name used again hides the old one, or replaces it
                standing.savepoints = [one for one in standing.savepoints if one[0] != name]
            mark = self.chains.mark(standing.transaction)
            standing.savepoints.append((name, mark, record.step))
            return
        position = max((i for i, one in enumerate(standing.savepoints) if one[0] == name), default=None)
        if position is None:
            raise UndecidedError(f"savepoint {name} is not known")
        if words[0] == "ROLLBACK":
            _, mark, step = standing.savepoints[position]
            self.chains.undo(standing.transaction, mark)
            self.locks.release(standing.transaction, since_step=step)
            del standing.savepoints[position + 1 :]
            standing.failed = False
        else:
            del standing.savepoints[position:]

    # -- statements

    def _statement(self, standing: Standing, record: Record) -> None:
        if standing.failed:
            return  # refused until ROLLBACK; nothing happens
        if record.before is TransactionState.NONE and standing.transaction is not None:
            raise UndecidedError("the server says that the transaction is over, the statements do not")
        alone = standing.transaction is None
        if alone:
            self._open(standing)
            if standing.claim.snapshot is SnapshotAt.FIRST_STATEMENT:
                standing.moments = (self._launched_at[record.step],)
                standing.opened_by = record.step
        if standing.claim.first_statement_retries and record.waited and standing.opened_by == record.step:
            self._launched_at[record.step] = self.chains.clock
            standing.moments = (self.chains.clock,)
        try:
            self._judge_statement(standing, record, alone)
            failed_first = isinstance(record.outcome, Failed) and standing.opened_by == record.step
            if standing.claim.first_statement_retries and failed_first:
                standing.moments = ()  # what failed has read nothing that counts
        finally:
            if alone:
                self._end(standing, commit=not isinstance(record.outcome, Failed))

    def _judge_statement(self, standing: Standing, record: Record, alone: bool) -> None:
        shape = shape_of(record.sql, self._dialect)
        if shape is None:
            if isinstance(record.outcome, Failed):
                self._judge_error(standing, record, record.outcome, frozenset(), OF_THE_DATA)
                return
            raise UndecidedError("a statement that sqlglot cannot read")
        if not all(name in self.chains.tables() for name in shape.reads):
            if isinstance(record.outcome, Failed):
                return
            raise UndecidedError("a table that is not one of the case")
        if shape.verb is not Verb.READ:
            self._write(standing, record, shape)
        elif self._takes_no_locks(standing.claim, shape, alone):
            self._plain_read(standing, record, shape, alone)
        else:
            self._locking_read(standing, record, shape)

    def _takes_no_locks(self, claim: Claim, shape: Shape, alone: bool) -> bool:
        if shape.locking is not Locking.NONE:
            return alone and not claim.alone_locks
        return alone or claim.plain_read_lock is Lock.NONE

    def _plain_read(self, standing: Standing, record: Record, shape: Shape, alone: bool) -> None:
        moments = self._moments(standing, record, alone)
        sees = (
            Sees.SNAPSHOT
            if alone and standing.claim.plain_read is not Sees.NEWEST
            else standing.claim.plain_read
        )
        try:
            self._read(
                standing, record, shape, [self._visible(standing, sees, one) for one in moments], moments
            )
        except UndecidedError as undecided:
            # What is read changes nothing, so the rest can still be judged.
            self.undecided.append(undecided.reason)
            if standing.claim.snapshot is SnapshotAt.FIRST_READ and not alone:
                standing.moments, standing.maybe_unopened = moments, True

    def _read(
        self,
        standing: Standing,
        record: Record,
        shape: Shape,
        visibles: Sequence[Visible],
        moments: Sequence[int],
    ) -> None:
        """A read that passes if its answer is right for one of the views it may have had."""
        outcome = record.outcome
        all_views = [self._views(shape.reads, visible) for visible in visibles]
        if not isinstance(outcome, Rows):
            answer = self._engine.answer(record.sql, shape, all_views[0])
            self._judge_no_rows(standing, record, answer.errors)
            return
        fitting = [
            moment
            for moment, views in zip(moments, all_views, strict=True)
            if self._engine.admits(record.sql, shape, views, outcome.rows)
        ]
        if not fitting:
            if standing.claim.plain_read is Sees.NEWEST and self._half_done(record, shape):
                raise UndecidedError("a dirty read of what a waiting write has done so far")
            answer = self._engine.answer(record.sql, shape, all_views[0])
            expected = _error_text(answer.errors) if answer.errors else format_rows(answer.rows)
            kind = ViolationKind.WRONG_ERROR if answer.errors else ViolationKind.WRONG_ROWS
            raise ViolationError(
                kind,
                record.step,
                expected,
                format_rows(outcome.rows),
                f"{record.session} must see {standing.claim.plain_read.value} (taken "
                f"{standing.claim.snapshot.value}), and what it wrote itself",
                expected_rows=answer.rows,
                table=shape.target or "",
            )
        chosen = moments.index(fitting[0])
        self.saw(standing, record, shape, all_views[chosen], visibles[chosen])
        if standing.claim.snapshot is SnapshotAt.FIRST_READ and shape.locking is Locking.NONE:
            standing.moments = tuple(fitting)
            # An impossible WHERE opens no snapshot; that rows came shows that a table was read.
            opened = bool(outcome.rows) and shape.plain
            standing.maybe_unopened = (
                standing.maybe_unopened and not opened if standing.moments else not opened
            )

    def saw(self, standing: Standing, record: Record, shape: Shape, views: Views, visible: Visible) -> None:
        """A statement was right on these views. Nothing to do here; for those who keep book of reads."""

    def _half_done(self, record: Record, shape: Shape) -> bool:
        """Whether a write of another session on one of the tables has begun and not ended."""
        for session, step in self._in_flight.items():
            other = shape_of(self.history.records[step].sql, self._dialect)
            writes = other is not None and other.verb is not Verb.READ
            if session != record.session and other is not None and writes and other.target in shape.reads:
                return True
        return False

    def _moments(self, standing: Standing, record: Record, alone: bool) -> tuple[int, ...]:
        """Clock readings at which the snapshot of a plain read may have been taken."""
        launched = self._launched_at[record.step]
        if alone or standing.claim.snapshot is SnapshotAt.STATEMENT:
            return (launched,)
        if not standing.moments:
            standing.maybe_unopened = True
            return (launched,)
        if standing.maybe_unopened and launched not in standing.moments:
            return (*standing.moments, launched)
        return standing.moments

    def _judge_no_rows(self, standing: Standing, record: Record, errors: frozenset[ErrorKind]) -> None:
        if isinstance(record.outcome, Failed):
            self._judge_error(standing, record, record.outcome, errors, frozenset())
        else:
            raise UndecidedError("a query without a result set")

    def _locking_read(self, standing: Standing, record: Record, shape: Shape) -> None:
        if not shape.plain and shape.tree.find(*_SUBQUERIES) is not None:
            self._require_one_view(standing, record, shape)
        if shape.patience is Patience.SKIP:
            self._skipping_read(standing, record, shape)
            return
        mode = Lock.EXCLUSIVE if shape.locking is Locking.UPDATE else standing.claim.share_lock
        work, conflict = self._work(standing, record, shape)
        if isinstance(record.outcome, Failed):
            errors = (
                self._engine.answer(record.sql, shape, {shape.target: work}).errors
                if shape.plain and shape.target is not None
                else OF_THE_DATA
            )
            self._judge_conflict_error(standing, record, record.outcome, frozenset(), errors)
            return
        self._require_conflict_error(standing, record, conflict)
        worked_on = self._engine.matching(record.sql, shape, work) if shape.plain else []
        self._require_wait(standing, record, shape, worked_on, mode)
        if shape.plain and shape.target is not None:
            views: Views = {shape.target: work}
        else:
            if standing.claim.write is Sees.SNAPSHOT and record.waited:
                raise UndecidedError("a locking read of several tables that waited")
            visible = self._visible(standing, standing.claim.locking_read, self._snapshot(standing, record))
            views = self._views(shape.reads, visible)
        doubtful = self._doubtful(standing, record, shape, worked_on)
        if doubtful and shape.target is not None and isinstance(record.outcome, Rows):
            for chosen in _without_some(work, doubtful):
                if self._engine.admits(record.sql, shape, {shape.target: chosen}, record.outcome.rows):
                    views = {shape.target: chosen}
        self._compare_locking_read(standing, record, shape, views)
        self.saw(standing, record, shape, views, self._visible(standing, Sees.COMMITTED, 0))
        self._take_locks(standing, record, shape, [row for row in worked_on if row not in doubtful], mode)

    def _skipping_read(self, standing: Standing, record: Record, shape: Shape) -> None:
        """SKIP LOCKED may leave out any row, because servers lock more than is sure; what it gives must be
        right, and nothing that others have surely locked."""
        if not shape.plain or shape.target is None or standing.claim.write is not Sees.COMMITTED:
            raise UndecidedError("SKIP LOCKED where it is not known for sure which rows are locked")
        if not isinstance(record.outcome, Rows):
            return
        assert standing.transaction is not None
        mode = Lock.EXCLUSIVE if shape.locking is Locking.UPDATE else standing.claim.share_lock
        work, _ = self._work(standing, record, shape)
        free = [
            seen
            for seen in work
            if self.locks.conflict(standing.transaction, shape.target, seen.row, mode) is None
            and not self._is_foreign(standing, self.chains.newest(shape.target, seen.row))
        ]
        answer = self._engine.answer(record.sql, shape, {shape.target: free})
        if Counter(record.outcome.rows) - Counter(answer.rows):
            raise ViolationError(
                ViolationKind.WRONG_ROWS,
                record.step,
                f"some of {format_rows(answer.rows)}",
                format_rows(record.outcome.rows),
                "SKIP LOCKED gave a row that another transaction has locked, or that is not there",
                expected_rows=answer.rows,
                table=shape.target,
            )

    def _require_one_view(self, standing: Standing, record: Record, shape: Shape) -> None:
        """A locking read locks and looks at the newest rows, its subqueries need not:
        https://dev.mysql.com/doc/refman/8.4/en/innodb-locking-reads.html"""
        snapshot = self._visible(standing, Sees.SNAPSHOT, self._snapshot(standing, record))
        newest = self._visible(standing, Sees.COMMITTED, 0)
        if record.waited or self._views(shape.reads, snapshot) != self._views(shape.reads, newest):
            raise UndecidedError("a locking read with a subquery that may see other versions")

    def _compare_locking_read(self, standing: Standing, record: Record, shape: Shape, views: Views) -> None:
        outcome = record.outcome
        if not isinstance(outcome, Rows):
            raise UndecidedError("a query without a result set")
        if not self._engine.admits(record.sql, shape, views, outcome.rows):
            answer = self._engine.answer(record.sql, shape, views)
            raise ViolationError(
                ViolationKind.WRONG_ROWS,
                record.step,
                format_rows(answer.rows),
                format_rows(outcome.rows),
                f"a locking read of {record.session} must see {standing.claim.locking_read.value}",
                expected_rows=answer.rows,
                table=shape.target or "",
            )

    def _write(self, standing: Standing, record: Record, shape: Shape) -> None:
        assert shape.target is not None
        assert standing.transaction is not None
        if record.waited and shape.tree.args.get("limit"):
            raise UndecidedError("a write with LIMIT that waited: it may have chosen its rows before")
        work, conflict = self._work(standing, record, shape)
        existing = self.chains.view(shape.target, self._visible(standing, Sees.COMMITTED, 0))
        reads = standing.claim.insert_select_reads or standing.claim.write
        visible = self._visible(standing, reads, self._snapshot(standing, record))
        views = self._views(shape.reads, visible)
        if record.waited and not shape.plain:
            now = self._views(shape.reads, self._visible(standing, Sees.COMMITTED, 0))
            if now != views:
                raise UndecidedError(
                    "a write that waited, and whose subqueries may have read before or after"
                )
        number = self._numbers.get(shape.target)
        effect = self._engine.effect(record.sql, shape, work, existing, views, number)
        doubtful = self._doubtful(standing, record, shape, effect.worked_on)
        if doubtful and isinstance(record.outcome, Affected):
            effects = [
                self._engine.effect(record.sql, shape, chosen, existing, views, number)
                for chosen in _without_some(work, doubtful)
            ]
            effect = _only_one(effects, record.outcome.count, work) or effect
            self.doubted = True
        if number is not None:
            self._numbers[shape.target] = self._number_after(shape.target, number, effect)
        if isinstance(record.outcome, Failed):
            self._judge_conflict_error(standing, record, record.outcome, effect.errors, effect.may_fail)
            return
        if effect.errors and standing.claim.on_conflict is OnConflict.AT_COMMIT:
            raise UndecidedError("an optimistic write that breaks a constraint: that may show at COMMIT")
        self._require_conflict_error(standing, record, conflict)
        self._require_wait(standing, record, shape, effect.worked_on, Lock.EXCLUSIVE)
        self._require_key_wait(standing, record, shape, effect)
        self._compare_effect(record, effect)
        if record.waited and any(change.table for change in effect.changes):
            raise UndecidedError("a write of several tables that waited")
        newest = self._visible(standing, Sees.COMMITTED, 0)
        self.saw(standing, record, shape, {**views, shape.target: work}, newest)
        self._apply(standing, record, shape, effect, work)
        self._take_locks(standing, record, shape, effect.worked_on, Lock.EXCLUSIVE)

    def _apply(
        self, standing: Standing, record: Record, shape: Shape, effect: Effect, work: Sequence[Seen]
    ) -> None:
        """Put what the statement changed onto the chains."""
        assert shape.target is not None
        assert standing.transaction is not None
        # Optimistic transactions do not write what they leave as it is, so it cannot hide another's version.
        optimistic = standing.claim.on_conflict is OnConflict.AT_COMMIT
        unwritten = {(seen.row, seen.values) for seen in work} if optimistic else set()
        for change in effect.changes:
            table = change.table or shape.target
            row = change.row
            if (row, change.values) in unwritten:
                continue
            if row is None and change.values is not None:
                row = self._revived(standing, record, shape, change.values)
            if row is None:
                assert change.values is not None
                self.chains.insert(table, change.values, standing.transaction, record.step)
            else:
                self.chains.write(table, row, change.values, standing.transaction, record.step)

    def _revived(self, standing: Standing, record: Record, shape: Shape, values: Row) -> int | None:
        """The deleted row that a new one takes the place of, where the primary key is what a row is."""
        assert shape.target is not None
        name = _clustered_index(self.history.schema.table(shape.target))
        if not standing.claim.rows_are_keys or name is None:
            return None
        indexes = [one for one in self._engine.unique_indexes(record.sql, shape) if one.name == name]
        for row, versions in self.chains.rows(shape.target) if indexes else ():
            last = next((one.values for one in reversed(versions) if one.values is not None), None)
            if versions[-1].deleted and last is not None and indexes[0].key(last) == indexes[0].key(values):
                return row
        return None

    def _compare_effect(self, record: Record, effect: Effect) -> None:
        outcome = record.outcome
        if not isinstance(outcome, Affected):
            raise UndecidedError("a write with a result set")
        if effect.errors:
            raise ViolationError(
                ViolationKind.WRONG_ERROR,
                record.step,
                _error_text(effect.errors),
                f"affected {outcome.count}",
                "the statement succeeded although it breaks a constraint of its table",
            )
        if outcome.count not in effect.counts:
            counts = " or ".join(map(str, sorted(effect.counts)))
            raise ViolationError(
                ViolationKind.WRONG_AFFECTED_COUNT,
                record.step,
                f"affected {counts}",
                f"affected {outcome.count}",
                "the statement worked on other rows than those it had to see",
            )

    def _number_after(self, table: str, number: int, effect: Effect) -> int:
        """The automatic counter never goes back, whatever becomes of the rows."""
        position = _counter_position(self.history, table)
        explicit = [
            value + 1
            for change in effect.changes
            if change.values is not None
            and not change.table
            and isinstance(value := change.values[position], int)
        ]
        return max([number + effect.numbered, *explicit])

    # -- what a write or a locking read works on

    def _work(self, standing: Standing, record: Record, shape: Shape) -> tuple[list[Seen], str]:
        """The rows that the statement may work on, and why it must fail with a conflict, if it must."""
        table = shape.target
        if table is None or shape.verb is Verb.INSERT:
            return [], ""
        now = self.chains.view(table, self._visible(standing, Sees.COMMITTED, 0))
        claim = standing.claim
        if claim.write is Sees.COMMITTED:
            newer = self._newer_than_snapshot(standing, record, shape, now)
            return now, newer if claim.on_conflict is OnConflict.FAIL else ""
        moment = self._snapshot(standing, record)
        then = self.chains.view(table, self._visible(standing, Sees.SNAPSHOT, moment))
        if not shape.plain:
            if record.waited:
                raise UndecidedError("a write over several tables that waited")
            return then, ""
        found = set(self._engine.matching(record.sql, shape, then))
        if claim.on_conflict is OnConflict.RECHECK:
            return [seen for seen in now if seen.row in found], ""
        return then, self._changed_since(standing, table, found, moment)

    def _changed_since(self, standing: Standing, table: str, rows: set[int], moment: int) -> str:
        """Why rows that were found in the snapshot cannot be written any more."""
        if standing.claim.on_conflict is OnConflict.AT_COMMIT:
            return ""  # that shows at COMMIT
        for row in sorted(rows):
            newest = self.chains.newest(table, row)
            if newest.writer == standing.transaction or self.chains.committed_by(newest.writer, moment):
                continue
            if newest.values is not None and newest.values == self._values_at(table, row, moment):
                continue  # not every engine takes note of a write that leaves a row as it was
            who = self.owners.get(newest.writer, "another transaction")
            if self.chains.is_committed(newest.writer):
                return f"{who} changed a row of {table} after the snapshot and committed"
            if standing.claim.on_conflict is OnConflict.REFUSE:
                return f"{who} has changed a row of {table} and not committed yet"
        return ""

    def _values_at(self, table: str, row: int, moment: int) -> Row | None:
        """What a row held when the clock stood at a moment."""
        versions = [
            one for one in self.chains.versions(table, row) if self.chains.committed_by(one.writer, moment)
        ]
        return versions[-1].values if versions else None

    def _newer_than_snapshot(
        self, standing: Standing, record: Record, shape: Shape, now: Sequence[Seen]
    ) -> str:
        if standing.claim.on_conflict is not OnConflict.FAIL or not standing.moments or not shape.plain:
            return ""
        if standing.maybe_unopened or shape.target is None:
            return ""
        found = set(self._engine.matching(record.sql, shape, now))
        return self._changed_since(standing, shape.target, found, max(standing.moments))

    def _doubtful(
        self, standing: Standing, record: Record, shape: Shape, worked_on: Sequence[int]
    ) -> frozenset[int]:
        """Rows that match now, but that a statement which waited may have passed by, because they did not
        match or were not there when it came along, and no lock kept others from changing that."""
        claim = standing.claim
        if not record.waited or claim.predicate_locks or claim.on_conflict is not OnConflict.WAIT:
            return frozenset()
        if not shape.plain or shape.target is None or shape.verb is Verb.INSERT:
            return frozenset()
        launched = self._launched_at[record.step]
        doubtful = set()
        for row in worked_on:
            versions = self.chains.versions(shape.target, row)
            then = [one for one in versions if self.chains.committed_by(one.writer, launched)]
            if any(one.writer == standing.transaction for one in versions) or then[-1:] == [versions[-1]]:
                continue
            if not then:
                doubtful.add(row)
            elif (shape.target, row) not in self._dirty_at[record.step]:
                old = [Seen(row, then[-1].values)] if then[-1].values is not None else []
                if not self._engine.matching(record.sql, shape, old):
                    doubtful.add(row)
        return frozenset(doubtful)

    def _dirty_rows(self) -> frozenset[tuple[str, int]]:
        return frozenset(
            (table, row)
            for table in self.chains.tables()
            for row, versions in self.chains.rows(table)
            if not self.chains.is_committed(versions[-1].writer)
        )

    # -- waiting

    def _require_wait(
        self, standing: Standing, record: Record, shape: Shape, worked_on: Sequence[int], mode: Lock
    ) -> None:
        """Nobody else may hold the rows that the statement has worked on."""
        if shape.target is None or standing.transaction is None or mode is Lock.NONE:
            return
        if standing.claim.on_conflict in (OnConflict.REFUSE, OnConflict.AT_COMMIT):
            return
        if mode is Lock.SHARE and self._may_lock_index_only(standing, shape):
            return
        suspects = []
        for row in worked_on:
            lock = self.locks.conflict(standing.transaction, shape.target, row, mode)
            if lock is not None:
                raise self._missing_wait(record, lock.holder, lock.step, f"row {self._text(shape, row)}")
            newest = self.chains.newest(shape.target, row)
            if self._is_foreign(standing, newest):
                if newest.deleted:
                    raise self._missing_wait(
                        record, newest.writer, newest.step, f"row {self._text(shape, row)}"
                    )
                suspects.append(newest)
        if standing.claim.predicate_locks and shape.plain and shape.verb is not Verb.INSERT:
            suspects += self._pending(standing, shape.target, set(worked_on))
        if suspects and shape.plain:
            rows = [Seen(one.row, one.values) for one in suspects if one.values is not None]
            sure = set(self._engine.matching(record.sql, shape, rows))
            for one in suspects:
                if one.row in sure:
                    raise self._missing_wait(
                        record, one.writer, one.step, f"row {self._text(shape, one.row)}"
                    )

    def _pending(self, standing: Standing, table: str, known: set[int]) -> list[Version]:
        """Rows that others have inserted or changed and not committed: a statement whose condition they come
        under finds them in whatever index it uses, locked."""
        newest = [versions[-1] for row, versions in self.chains.rows(table) if row not in known]
        return [one for one in newest if not one.deleted and self._is_foreign(standing, one)]

    def _may_lock_index_only(self, standing: Standing, shape: Shape) -> bool:
        """Whether a secondary index has all columns that the statement names."""
        if not standing.claim.index_only_locks or shape.target is None:
            return False
        table = self.history.schema.table(shape.target)
        if shape.tree.find(exp.Star) is not None:
            named = {column.name.lower() for column in table.columns}
        else:
            named = {column.name.lower() for column in shape.tree.find_all(exp.Column)}
        primary = {name.lower() for index in table.indexes if index.primary for name in index.columns}
        return any(
            named <= primary | {name.lower() for name in index.columns}
            for index in table.indexes
            if not index.primary
        )

    def _is_foreign(self, standing: Standing, version: Version) -> bool:
        """Written by another transaction that has not ended."""
        return version.writer != standing.transaction and not self.chains.is_committed(version.writer)

    def _require_key_wait(self, standing: Standing, record: Record, shape: Shape, effect: Effect) -> None:
        """Nobody else may have a hand on a unique key, or hold a condition, that a new row comes under."""
        if standing.claim.on_conflict in (OnConflict.REFUSE, OnConflict.AT_COMMIT):
            return
        assert shape.target is not None
        new_rows = [change for change in effect.changes if change.values is not None and not change.table]
        for index in self._engine.unique_indexes(record.sql, shape):
            keys = {index.key(change.values): change.row for change in new_rows if change.values is not None}
            keys.pop(None, None)
            if not keys:
                continue
            for row, versions in self.chains.rows(shape.target):
                newest = versions[-1]
                if not self._is_foreign(standing, newest):
                    continue
                held = {
                    index.key(one.values)
                    for one in versions
                    if one.values is not None and (one is newest or self._is_newest_committed(versions, one))
                }
                for key, own in keys.items():
                    if key in held and own != row:
                        raise self._missing_wait(
                            record, newest.writer, newest.step, f"key {key} of index {index.name}"
                        )
        if shape.verb is Verb.INSERT:
            self._require_predicate_wait(standing, record, [change.values for change in new_rows])

    def _is_newest_committed(self, versions: Sequence[Version], one: Version) -> bool:
        committed = [version for version in versions if self.chains.is_committed(version.writer)]
        return bool(committed) and committed[-1] is one

    def _require_predicate_wait(self, standing: Standing, record: Record, rows: Sequence[object]) -> None:
        shape = shape_of(record.sql, self._dialect)
        assert shape is not None
        for lock in self.locks.predicates:
            if lock.holder == standing.transaction or lock.table != shape.target:
                continue
            new = [Seen(i, values) for i, values in enumerate(rows) if isinstance(values, tuple)]
            if self._engine.matching(lock.sql, lock.shape, new):
                raise self._missing_wait(record, lock.holder, lock.step, "the condition of a statement")

    def _missing_wait(self, record: Record, holder: int, step: int | None, what: str) -> ViolationError:
        who = self.owners.get(holder, "another transaction")
        if self._is_victim(who):
            raise UndecidedError("a deadlock victim may have let go before it was told")
        since = "" if step is None else f" since step {step}"
        return ViolationError(
            ViolationKind.MISSING_BLOCK,
            record.step,
            f"blocked by {who}",
            "not blocked" if not record.waited else "resumed too early",
            f"{who} holds {what}{since} and has not ended",
        )

    def _is_victim(self, session: str) -> bool:
        """Whether the statement that the session has in flight, or its next one, ends in a deadlock."""
        done = self._in_flight.get(session, max(self._launched_at, default=0))
        for record in self.history.records:
            if record.session == session and record.step >= done and not isinstance(record.outcome, Omitted):
                return isinstance(record.outcome, Failed) and record.outcome.kind is ErrorKind.DEADLOCK
        return False

    def _text(self, shape: Shape, row: int) -> str:
        assert shape.target is not None
        values = next(
            one.values for one in reversed(self.chains.versions(shape.target, row)) if one.values is not None
        )
        return f"{format_row(values)} of {shape.target}"

    def _take_locks(
        self, standing: Standing, record: Record, shape: Shape, worked_on: Sequence[int], mode: Lock
    ) -> None:
        if standing.transaction is None or shape.target is None or mode is Lock.NONE:
            return
        sure = mode is Lock.EXCLUSIVE or not self._may_lock_index_only(standing, shape)
        for row in worked_on if sure else ():
            self.locks.rows.append(RowLock(standing.transaction, shape.target, row, mode, record.step))
        if standing.claim.predicate_locks and shape.plain and shape.verb is not Verb.INSERT:
            self.locks.predicates.append(
                PredicateLock(standing.transaction, shape.target, record.sql, shape, record.step)
            )

    # -- errors

    def _require_conflict_error(self, standing: Standing, record: Record, conflict: str) -> None:
        if conflict:
            raise ViolationError(
                ViolationKind.WRONG_ERROR,
                record.step,
                _error_text(standing.claim.conflict_errors),
                "success",
                conflict,
            )

    def _judge_conflict_error(
        self,
        standing: Standing,
        record: Record,
        outcome: Failed,
        errors: frozenset[ErrorKind],
        may_fail: frozenset[ErrorKind],
    ) -> None:
        """A lost conflict is always a reason to fail; the DBMS may see one where we are not sure of it."""
        if outcome.kind in standing.claim.conflict_errors:
            if standing.claim.on_conflict is OnConflict.REFUSE and standing.opened_by == record.step:
                # A first statement that SQLite refuses leaves no read transaction behind:
                # https://www.sqlite.org/lang_transaction.html (measured on 3.40)
                standing.moments, standing.opened_by = (), None
            self._undo(standing, record, outcome)
        else:
            self._judge_error(standing, record, outcome, errors, may_fail)

    def _judge_error(
        self,
        standing: Standing,
        record: Record,
        outcome: Failed,
        errors: frozenset[ErrorKind],
        may_fail: frozenset[ErrorKind],
    ) -> None:
        if outcome.kind in (ErrorKind.CONNECTION_LOST, ErrorKind.INTERNAL, ErrorKind.SCHEMA_CHANGED):
            raise UndecidedError(f"an error of kind {outcome.kind.value}")
        allowed = errors | may_fail | NOT_OF_THE_DATA | standing.claim.may_fail
        if record.waited:
            allowed |= {ErrorKind.LOCK_TIMEOUT}
        shape = shape_of(record.sql, self._dialect)
        if shape is not None and shape.patience is Patience.NOWAIT:
            allowed |= {ErrorKind.LOCK_NOT_AVAILABLE, ErrorKind.LOCK_TIMEOUT}
        data_error_expected = bool(errors & OF_THE_DATA) and outcome.kind in OF_THE_DATA
        if outcome.kind not in allowed and not data_error_expected:
            if outcome.kind in NOT_IN_THE_SCHEMA and not self._engine.knows_all_constraints:
                raise UndecidedError(f"an error of kind {outcome.kind.value}: the schema tells nothing of it")
            raise ViolationError(
                ViolationKind.WRONG_ERROR,
                record.step,
                _error_text(errors) if errors else "success",
                f"error {outcome.kind.value} {outcome.code}",
                "nothing that the statement may see makes it fail like that",
            )
        self._undo(standing, record, outcome)

    def _undo(self, standing: Standing, record: Record, outcome: Failed) -> None:
        if outcome.undone in (Undone.TRANSACTION, Undone.CONNECTION) and standing.transaction is not None:
            if record.after is TransactionState.FAILED:
                self._fail(standing, standing.transaction)
            else:
                self._abort(standing)

    def _fail(self, standing: Standing, transaction: int) -> None:
        """PostgreSQL and DuckDB give up what was done at once, back to the last savepoint, and then wait for
        ROLLBACK."""
        standing.failed = True
        _, mark, step = standing.savepoints[-1] if standing.savepoints else ("", 0, -1)
        self.chains.undo(transaction, mark)
        self.locks.release(transaction, since_step=step)

    # -- views

    def _snapshot(self, standing: Standing, record: Record) -> int:
        if standing.claim.snapshot is SnapshotAt.STATEMENT or not standing.moments:
            return self._launched_at[record.step]
        return standing.moments[0]

    def _visible(self, standing: Standing, sees: Sees, moment: int) -> Visible:
        own, chains = standing.transaction, self.chains
        match sees:
            case Sees.NEWEST:
                return lambda _version: True
            case Sees.COMMITTED:
                return lambda version: version.writer == own or chains.is_committed(version.writer)
            case Sees.SNAPSHOT:
                return lambda version: version.writer == own or chains.committed_by(version.writer, moment)

    def _views(self, tables: Sequence[str], visible: Visible) -> dict[str, list[Seen]]:
        return {table: self.chains.view(table, visible) for table in tables}

    # -- the end

    def _judge_final_state(self) -> None:
        for standing in self.sessions.values():
            self._abort(standing)
        assert self.history.final is not None
        for table, rows in self.history.final.items():
            expected = self.chains.view(table, lambda version: self.chains.is_committed(version.writer))
            if not same_rows([seen.values for seen in expected], rows):
                raise ViolationError(
                    ViolationKind.WRONG_FINAL_STATE,
                    None,
                    f"{table}: {format_rows([seen.values for seen in expected])}",
                    f"{table}: {format_rows(rows)}",
                    f"the committed transactions leave other rows in {table}",
                    expected_rows=[seen.values for seen in expected],
                    table=table,
                )


DOUBTFUL_ROWS_MAX = 4


def _in_order_of_effect(history: History) -> Iterator[Event]:
    """Events as observed, but of those that are heard of at the same time the ends of transactions first.

    COMMIT and ROLLBACK release others, then transactions that an error undid (to end a deadlock, or because
    they lost a conflict): they ended before the statement went on that waited for them.
    """
    batch: list[Event] = []
    for event in history.events:
        if event.kind is EventKind.LAUNCHED:
            yield from sorted(batch, key=lambda one: _rank(history, one))
            batch = []
            yield event
        else:
            batch.append(event)
    yield from sorted(batch, key=lambda one: _rank(history, one))


_ENDS = (StatementKind.COMMIT, StatementKind.ROLLBACK)


def _rank(history: History, event: Event) -> int:
    record = history.records[event.step]
    if event.kind is EventKind.COMPLETED and kind_of(record.sql) in _ENDS:
        return 0
    undone = isinstance(record.outcome, Failed) and record.outcome.undone
    return 1 if event.kind is EventKind.COMPLETED and undone in (Undone.TRANSACTION, Undone.CONNECTION) else 2


def _without_some(work: Sequence[Seen], doubtful: frozenset[int]) -> list[list[Seen]]:
    """The rows without any of the doubtful ones, with some, and with all."""
    if len(doubtful) > DOUBTFUL_ROWS_MAX:
        raise UndecidedError("a statement that waited while many rows came under its condition")
    return [
        [seen for seen in work if seen.row not in left_out]
        for size in range(len(doubtful) + 1)
        for left_out in combinations(sorted(doubtful), size)
    ]


def _only_one(effects: Sequence[Effect], count: int, work: Sequence[Seen]) -> Effect | None:
    """The one effect that fits the observed count; None if none does.

    Of those that leave the same rows behind, the one with the fewest locks: more are not sure to be held.
    """
    fitting = [effect for effect in effects if not effect.errors and count in effect.counts]
    old = dict(work)
    results = {
        frozenset((one.row, one.values) for one in effect.changes if old.get(one.row or 0) != one.values)
        for effect in fitting
    }
    if len(results) > 1:
        raise UndecidedError("which rows a statement that waited has found on its way")
    return min(fitting, key=lambda effect: len(effect.worked_on), default=None)


def _clustered_index(table: Table) -> str | None:
    """The index that InnoDB keeps rows by: https://dev.mysql.com/doc/refman/8.4/en/innodb-index-types.html"""
    nullable = {column.name for column in table.columns if column.nullable}
    primary = [index.name for index in table.indexes if index.primary]
    unique = [index.name for index in table.indexes if index.unique and not nullable & set(index.columns)]
    return next(iter(primary or (unique if len(unique) == 1 else [])), None)


def _error_text(errors: frozenset[ErrorKind]) -> str:
    return " or ".join(f"error {kind.value}" for kind in sorted(errors))


def _counter_position(history: History, table: str) -> int:
    """The position of the column that counts by itself."""
    columns = history.schema.table(table).columns
    return next(i for i, column in enumerate(columns) if column.auto_increment)


def _first_numbers(history: History) -> dict[str, int]:
    """The next automatic number of each table that has one, as the set-up left it."""
    numbers: dict[str, int] = {}
    if history.dbms in _HAS_SEQUENCES:
        return numbers
    for table in history.schema.tables:
        if any(column.auto_increment for column in table.columns):
            position = _counter_position(history, table.name)
            used = [row[position] for row in history.initial.get(table.name, ())]
            numbers[table.name] = max([value for value in used if isinstance(value, int)], default=0) + 1
    return numbers
