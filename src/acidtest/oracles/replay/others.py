"""Statements that work on no single rows: settings, locks of tables, advisory locks, indexes, TRUNCATE."""

import re
from collections.abc import Iterable, Mapping

from acidtest.claims import OnConflict, SnapshotAt, TableLock
from acidtest.model import Failed, Record, TransactionState, Undone
from acidtest.oracles.engines.base import UndecidedError
from acidtest.oracles.replay.advisory import AdvisoryLocks
from acidtest.oracles.replay.context import Context
from acidtest.oracles.replay.defining import Defining
from acidtest.oracles.replay.definitions import LockOnly, definition_of, idle_functions
from acidtest.oracles.replay.natures import (
    Nature,
    Phase,
    calls_reading_procedure,
    locked_tables,
    nature_of,
    says_who_may,
    two_phase_of,
)
from acidtest.oracles.replay.transactions import SessionState
from acidtest.oracles.replay.waits import Waits
from acidtest.sql import kind_of

_CONCURRENTLY = re.compile(r"\bCONCURRENTLY\b", re.IGNORECASE)
_INDEX_NAME = re.compile(
    r"\s*DROP\s+INDEX\s+(?:CONCURRENTLY\s+)?(?:IF\s+EXISTS\s+)?[`\"]?(\w+)", re.IGNORECASE
)
_ON_TABLE = re.compile(r"\bON\s+(?:ONLY\s+)?[`\"]?(\w+)|ALTER\s+TABLE\s+[`\"]?(\w+)", re.IGNORECASE)
_TRUNCATED = re.compile(
    r"\s*TRUNCATE\s+(?:TABLE\s+)?([`\"\w\s,]+?)\s*(?:CONTINUE\s+IDENTITY|RESTRICT)?\s*", re.IGNORECASE
)


class Others:
    """Judges what such statements have to wait for, and books what they change."""

    def __init__(self, context: Context, advisory: AdvisoryLocks | None = None) -> None:
        self._context = context
        self._natures: dict[tuple[int, str], Nature] = {}
        self._schema = context.history.schema
        self._chains = context.chains
        self._transactions = context.transactions
        self._timeline = context.timeline
        self._visibility = context.visibility
        self._waits = Waits(context)
        self.advisory = advisory or AdvisoryLocks(context)

    def nature(self, state: SessionState, record: Record) -> Nature:
        """What a statement is to the walk."""
        found = self._natures.get((record.step, record.sql))
        if found is None:
            found = self._natures[record.step, record.sql] = self._nature(state, record)
        return found

    def _nature(self, state: SessionState, record: Record) -> Nature:
        history = self._context.history
        if record.parts:
            return Nature.SCRIPT
        nature = nature_of(record.sql, history.dbms, state.claim.table_locks)
        if nature is Nature.DEFINES and not self._is_idle(record):
            return Nature.UNKNOWN
        if nature is Nature.UNKNOWN and state.claim.table_locks and says_who_may(record.sql, history.case):
            return Nature.HARMLESS
        if nature is Nature.UNKNOWN and calls_reading_procedure(record.sql, history.case):
            return Nature.LOOKS
        return nature

    def _is_idle(self, record: Record) -> bool:
        """Whether a statement about a trigger is about one that does nothing."""
        found = definition_of(record.sql)
        if not isinstance(found, LockOnly) or not found.trigger:
            return True
        if found.function:
            return found.function.lower() in idle_functions(self._context.history.case)
        return not any(
            found.trigger.lower() == name.lower() for table in self._schema.tables for name in table.triggers
        )

    def require_newer_snapshot(self, state: SessionState, tables: Iterable[str]) -> None:
        """A snapshot that is older than a TRUNCATE finds the table empty, or is refused:
        https://www.postgresql.org/docs/current/mvcc-caveats.html"""
        for transaction, table in self._transactions.emptied:
            moment = self._chains.committed_at(transaction)
            if moment is not None and table in tables and any(one < moment for one in state.moments):
                raise UndecidedError(
                    "a snapshot that is older than a TRUNCATE or than a table that was rewritten"
                )

    # -- launch

    def launch(self, state: SessionState, record: Record) -> None:
        """A statement begins. What may change anything does so from now on, not when it completes."""
        nature = self.nature(state, record)
        failed = isinstance(record.outcome, Failed) and not _CONCURRENTLY.search(record.sql)
        if nature is Nature.UNKNOWN and not failed and not state.failed:
            raise UndecidedError(f"{kind_of(record.sql).value} statements inside the schedule")
        if nature in (Nature.LOOKS, Nature.ADVISORY, Nature.INDEX, Nature.TRUNCATE, Nature.DEFINES):
            self._visibility.opens_snapshot(state, record)

    # -- completion

    def complete(self, state: SessionState, record: Record, nature: Nature) -> None:
        """A statement ends."""
        if nature is Nature.TWO_PHASE and not isinstance(record.outcome, Failed):
            self._two_phase(state, record)
            return
        if state.failed:
            return
        if isinstance(record.outcome, Failed):
            self._fail(state, record, record.outcome)
            return
        if record.before is TransactionState.OPEN and record.after is TransactionState.NONE:
            self._transactions.end(state, commit=True)  # MySQL: it commits what is open
        match nature:
            case Nature.LOOKS:
                self._look(state, record)
            case Nature.TABLE_LOCK:
                self._lock_tables(state, record)
            case Nature.ADVISORY:
                self.advisory.judge(state, record)
            case Nature.INDEX:
                self._index(state, record)
            case Nature.TRUNCATE:
                self._truncate(state, record)
            case Nature.DEFINES:
                Defining(self._context, self._waits).judge(state, record)
            case _:
                pass

    def _fail(self, state: SessionState, record: Record, outcome: Failed) -> None:
        ended = record.before is TransactionState.OPEN and record.after is TransactionState.NONE
        if ended and outcome.undone not in (Undone.TRANSACTION, Undone.CONNECTION):
            self._transactions.end(state, commit=True)  # MySQL: before it fails it commits what is open
        else:
            self._transactions.undo(state, record, outcome)

    def _two_phase(self, state: SessionState, record: Record) -> None:
        """Preparing a transaction parts it from its session; one that has failed is rolled back instead."""
        found = two_phase_of(record.sql)
        assert found is not None
        phase, name = found
        if phase is not Phase.PREPARE:
            self._transactions.end_prepared(name, commit=phase is Phase.COMMIT)
        elif state.failed:
            self._transactions.end(state, commit=False)
        else:
            self._transactions.prepare(state, name)

    def _look(self, state: SessionState, record: Record) -> None:
        """What looks at tables may open a snapshot, or not."""
        if (
            state.claim.snapshot is SnapshotAt.FIRST_READ
            and state.transaction is not None
            and not state.moments
        ):
            state.moments = (self._timeline.launched_at[record.step],)
            state.maybe_unopened = True

    def _lock_tables(self, state: SessionState, record: Record) -> None:
        found = locked_tables(record.sql)
        if found is None or found[1] not in list(TableLock):
            raise UndecidedError("a lock of tables that is not understood")
        names, mode = found
        known = [name for name in names if name in self._chains.tables()]
        self._take(state, record, dict.fromkeys(known, TableLock(mode)))

    def _take(self, state: SessionState, record: Record, modes: Mapping[str, TableLock]) -> None:
        self._waits.require_for_tables(state, record, modes)
        self._waits.take_tables(state, record, modes)

    # -- definitions

    def _index(self, state: SessionState, record: Record) -> None:
        """An index that is not unique changes no result."""
        if dropped := _INDEX_NAME.match(record.sql):
            indexes = [index for table in self._schema.tables for index in table.indexes]
            if any(index.name.lower() == dropped[1].lower() and index.unique for index in indexes):
                raise UndecidedError("a unique index that is dropped")
        elif "DROP" in record.sql.upper().split():
            raise UndecidedError("an index that is dropped by ALTER TABLE")
        table = _ON_TABLE.search(record.sql)
        if table and not _CONCURRENTLY.search(record.sql) and not dropped:
            name = (table[1] or table[2]).lower()
            if name in self._chains.tables():
                self._take(state, record, {name: TableLock.SHARE})

    def _truncate(self, state: SessionState, record: Record) -> None:
        match = _TRUNCATED.fullmatch(record.sql)
        names = [name.strip().strip('`"') for name in match[1].split(",")] if match else []
        if not names or not all(name in self._chains.tables() for name in names):
            raise UndecidedError("TRUNCATE of what is not a table of the case, or with more than that")
        tables = [self._schema.table(name) for name in names]
        if state.claim.on_conflict in (OnConflict.REFUSE, OnConflict.AT_COMMIT) or any(
            table.children or table.triggers for table in tables
        ):
            raise UndecidedError("TRUNCATE where it is not known what it does")
        if any(key.table in names for table in self._schema.tables for key in table.foreign_keys):
            raise UndecidedError("TRUNCATE of a table that others refer to")
        numbers = any(column.auto_increment for table in tables for column in table.columns)
        if numbers and not state.claim.numbers_from_sequence:
            raise UndecidedError("which automatic numbers follow a TRUNCATE")
        alone = state.transaction is None
        if alone:
            self._transactions.open(state)
        self._take(state, record, dict.fromkeys(names, TableLock.ACCESS_EXCLUSIVE))
        assert state.transaction is not None
        for name in names:
            for seen in self._chains.view(name, self._visibility.committed(state)):
                self._chains.write(name, seen.row, None, state.transaction, record.step)
            self._transactions.emptied.append((state.transaction, name))
        if alone:
            self._transactions.end(state, commit=True)
