"""For whom a statement must wait: rows, unique keys and conditions that others hold."""

from collections.abc import Iterable, Mapping, Sequence

from acidtest.casefile import format_row
from acidtest.claims import Lock, OnConflict, TableLock
from acidtest.evaluator.writes import Effect
from acidtest.model import Hold, Record, WaitWitness
from acidtest.oracles.chains import Seen, Version
from acidtest.oracles.engines.base import UndecidedError
from acidtest.oracles.replay.clustered import is_covered
from acidtest.oracles.replay.context import Context
from acidtest.oracles.replay.locks import (
    HeldTable,
    PredicateLock,
    RowLock,
    UnknownLocks,
    Wanted,
    table_locks_of,
)
from acidtest.oracles.replay.transactions import SessionState
from acidtest.oracles.replay.violations import ViolationError
from acidtest.sql.shape import Shape, Verb

_NEVER_WAITS = (OnConflict.REFUSE, OnConflict.AT_COMMIT)


class Waits:
    """Judges statements that went on although they had to wait, and keeps book of what they lock."""

    def __init__(self, context: Context) -> None:
        self._schema = context.history.schema
        self._engine = context.engine
        self._chains = context.chains
        self._transactions = context.transactions
        self._locks = context.transactions.locks
        self._timeline = context.timeline

    # -- rows

    def require_for_rows(self, state: SessionState, record: Record, shape: Shape, wanted: Wanted) -> None:
        """Nobody else may hold the rows that the statement has worked on."""
        if state.transaction is None or not self._is_sure(state, shape, wanted.mode):
            return
        if state.claim.on_conflict in _NEVER_WAITS:
            return
        table, suspects = wanted.table, []
        for row, mode in wanted.rows.items():
            lock = self._locks.conflict(state.transaction, table, row, mode)
            newest = self._chains.newest(table, row)
            if lock is not None:
                hold = Hold.WRITTEN_ROW if newest.writer == lock.holder else Hold.LOCKED_ROW
                raise self._missing(record, lock.holder, lock.step, hold, self._text(table, row))
            if self._transactions.is_foreign(state, newest):
                if newest.deleted:
                    raise self._missing(
                        record, newest.writer, newest.step, Hold.WRITTEN_ROW, self._text(table, row)
                    )
                if mode is not Lock.KEY_SHARE:  # which goes together with most updates
                    suspects.append(newest)
        if table != shape.target or not shape.plain:
            return
        if state.claim.predicate_locks and shape.verb is not Verb.INSERT:
            suspects += self._pending(state, table, set(wanted.rows))
        if suspects:
            self._require_for_matching(record, shape, suspects)

    def _is_sure(self, state: SessionState, shape: Shape, mode: Lock) -> bool:
        """Whether the statement surely takes its locks on rows, not on entries of an index alone."""
        if mode is Lock.NONE:
            return False
        return mode is not Lock.SHARE or not self._may_lock_index_only(state, shape)

    def _require_for_matching(self, record: Record, shape: Shape, suspects: Sequence[Version]) -> None:
        """Of versions that are not committed, the statement must wait for those that meet its condition."""
        assert shape.target is not None
        rows = [Seen(one.row, one.values) for one in suspects if one.values is not None]
        sure = set(self._engine.matching(record.sql, shape, rows))
        for one in suspects:
            if one.row in sure:
                raise self._missing(
                    record, one.writer, one.step, Hold.WRITTEN_ROW, self._text(shape.target, one.row)
                )

    def _pending(self, state: SessionState, table: str, known: set[int]) -> list[Version]:
        """Rows that others have inserted or changed and not committed: a statement whose condition they come
        under finds them in whatever index it uses, locked."""
        newest = [versions[-1] for row, versions in self._chains.rows(table) if row not in known]
        return [one for one in newest if not one.deleted and self._transactions.is_foreign(state, one)]

    def _may_lock_index_only(self, state: SessionState, shape: Shape) -> bool:
        """Whether a secondary index has all columns that the statement names."""
        if not state.claim.index_only_locks or shape.target is None:
            return False
        return is_covered(self._schema.table(shape.target), shape)

    # -- keys and conditions

    def require_for_keys(self, state: SessionState, record: Record, shape: Shape, effect: Effect) -> None:
        """Nobody else may have a hand on a unique key, or hold a condition, that a new row comes under."""
        if state.claim.on_conflict in _NEVER_WAITS:
            return
        assert shape.target is not None
        new_rows = [change for change in effect.changes if change.values is not None and not change.table]
        for index in self._engine.unique_indexes(record.sql, shape):
            keys = {index.key(change.values): change.row for change in new_rows if change.values is not None}
            keys.pop(None, None)
            if not keys:
                continue
            for row, versions in self._chains.rows(shape.target):
                newest = versions[-1]
                if not self._transactions.is_foreign(state, newest):
                    continue
                held = {
                    index.key(one.values)
                    for one in versions
                    if one.values is not None and (one is newest or self._is_newest_committed(versions, one))
                }
                for key, own in keys.items():
                    if key in held and own != row:
                        what = f"key {key} of index {index.name}"
                        raise self._missing(record, newest.writer, newest.step, Hold.KEY, what)
        replaced = any(change.values is None for change in effect.changes)
        if shape.verb is Verb.INSERT and not replaced:
            # A row that takes the place of another may leave all as it is for those who hold a condition.
            rows = [Seen(i, one.values) for i, one in enumerate(new_rows) if one.row is None and one.values]
            self._require_for_conditions(state, record, shape.target, rows)

    def _is_newest_committed(self, versions: Sequence[Version], one: Version) -> bool:
        committed = [version for version in versions if self._chains.is_committed(version.writer)]
        return bool(committed) and committed[-1] is one

    def _require_for_conditions(
        self, state: SessionState, record: Record, table: str, rows: Sequence[Seen]
    ) -> None:
        for lock in self._transactions.locks.predicates:
            if lock.holder == state.transaction or lock.table != table:
                continue
            if self._engine.matching(lock.sql, lock.shape, rows):
                raise self._missing(record, lock.holder, lock.step, Hold.CONDITION, lock.sql)

    # -- the violation

    def _missing(
        self, record: Record, holder: int, step: int | None, hold: Hold, what: str
    ) -> ViolationError:
        return self.missing(record, self._transactions.owner(holder), step, hold, what)

    def missing(self, record: Record, who: str, step: int | None, hold: Hold, what: str) -> ViolationError:
        """The violation of a statement that had to wait for a session and did not."""
        if self._timeline.is_victim(who):
            raise UndecidedError("a deadlock victim may have let go before it was told")
        since = "" if step is None else f" since step {step}"
        return ViolationError(
            record.step,
            WaitWitness(who, hold, what, step, early=record.waited),
            f"{who} holds {what}{since} and has not ended",
        )

    def _text(self, table: str, row: int) -> str:
        versions = self._chains.versions(table, row)
        values = next(one.values for one in reversed(versions) if one.values is not None)
        return f"row {format_row(values)} of {table}"

    # -- locks

    def take_locks(self, state: SessionState, record: Record, shape: Shape, wanted: Wanted) -> None:
        """Book the locks that the statement surely holds now."""
        if state.transaction is None or wanted.mode is Lock.NONE:
            return
        for row, mode in wanted.rows.items() if self._is_sure(state, shape, wanted.mode) else ():
            self._locks.rows.append(RowLock(state.transaction, wanted.table, row, mode, record.step))
        if state.claim.predicate_locks and shape.plain and shape.verb is not Verb.INSERT:
            self._locks.predicates.append(
                PredicateLock(state.transaction, wanted.table, record.sql, shape, record.step)
            )

    def take_unknown(self, state: SessionState, record: Record, tables: Iterable[str]) -> None:
        """Note that the statement may hold more rows of these tables than are booked."""
        if state.transaction is not None:
            self._locks.unknown += [UnknownLocks(state.transaction, one, record.step) for one in tables]

    # -- tables

    def note_tables(self, state: SessionState, record: Record) -> None:
        """A statement begins: whether somebody keeps it away from its tables."""
        if not state.claim.table_locks or not record.waited or (shape := state.shape(record)) is None:
            return
        asker = state.transaction or 0
        modes = table_locks_of(shape)
        if any(self._locks.table_conflict(asker, table, mode) for table, mode in modes.items()):
            self._locks.waited_for_table.add(record.step)

    def waited_for_table(self, record: Record) -> bool:
        """Whether the statement may have waited before it could look at its tables."""
        return record.step in self._locks.waited_for_table

    def require_for_tables(self, state: SessionState, record: Record, modes: Mapping[str, TableLock]) -> None:
        """Nobody else may hold a lock on a table that keeps such statements out."""
        if state.transaction is None or not state.claim.table_locks:
            return
        for table, mode in modes.items():
            lock = self._locks.table_conflict(state.transaction, table, mode)
            if lock is not None:
                what = f"table {table} ({lock.mode.value})"
                raise self._missing(record, lock.holder, lock.step, Hold.TABLE, what)

    def take_tables(self, state: SessionState, record: Record, modes: Mapping[str, TableLock]) -> None:
        """Book the locks on tables that the statement holds now."""
        if state.transaction is None or not state.claim.table_locks:
            return
        held = {(one.table, one.mode) for one in self._locks.tables if one.holder == state.transaction}
        for table, mode in modes.items():
            if (table, mode) not in held:
                self._locks.tables.append(HeldTable(state.transaction, table, mode, record.step))
