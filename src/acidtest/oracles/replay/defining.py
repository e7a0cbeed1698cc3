"""Judges statements that change definitions: what they wait for, and what holds when they are over."""

from dataclasses import replace

from acidtest.claims import TableLock
from acidtest.model import ErrorKind, ErrorWitness, ForeignKey, Record
from acidtest.oracles.engines.base import UndecidedError
from acidtest.oracles.replay.context import Context
from acidtest.oracles.replay.definitions import (
    Defined,
    Definition,
    LockOnly,
    NewColumn,
    NewKey,
    ValidKey,
    definition_of,
    is_number,
)
from acidtest.oracles.replay.transactions import SessionState
from acidtest.oracles.replay.violations import ViolationError
from acidtest.oracles.replay.waits import Waits


class Defining:
    """The definitions of a walk."""

    def __init__(self, context: Context, waits: Waits) -> None:
        self._schema = context.history.schema
        self._chains = context.chains
        self._transactions = context.transactions
        self._visibility = context.visibility
        self._waits = waits

    def judge(self, state: SessionState, record: Record) -> None:
        """A statement is over; alone it is a transaction by itself."""
        found = definition_of(record.sql)
        assert found is not None
        alone = state.transaction is None
        if alone:
            self._transactions.open(state)
        self._carry_out(state, record, replace(found, table=self._named(found.table)))
        if alone:
            self._transactions.end(state, commit=True)

    def _carry_out(self, state: SessionState, record: Record, found: Definition) -> None:
        assert state.transaction is not None
        match found:
            case NewColumn(table):
                self._take(state, record, {table: TableLock.ACCESS_EXCLUSIVE})
                self._add_column(state, record, found)
            case NewKey(table, key):
                folded = self._folded(key)
                locks = dict.fromkeys((table, folded.table), TableLock.SHARE_ROW_EXCLUSIVE)
                self._take(state, record, locks)
                what = NewKey(table, folded)
                self._transactions.defined.append(Defined(state.transaction, record.step, what))
            case ValidKey(table, name):
                key = self._key(table, name)
                self._take(
                    state,
                    record,
                    {table: TableLock.SHARE_UPDATE_EXCLUSIVE, key.table: TableLock.ROW_SHARE},
                )
                self._require_valid(state, record, table, key)
            case LockOnly(table, mode):
                self._take(state, record, {table: mode})

    def _take(self, state: SessionState, record: Record, modes: dict[str, TableLock]) -> None:
        self._waits.require_for_tables(state, record, modes)
        self._waits.take_tables(state, record, modes)

    def _named(self, name: str) -> str:
        found = name.lower() if self._schema.folds_names == "lower" else name
        if found not in self._chains.tables():
            raise UndecidedError("a definition of what is not a table of the case")
        return found

    # -- columns

    def _add_column(self, state: SessionState, record: Record, found: NewColumn) -> None:
        column = found.column
        if not state.claim.table_locks and not is_number(column):
            raise UndecidedError("a new column whose character set is not told")
        if not column.nullable and column.default is None:
            raise UndecidedError("a new column without a value for the rows that are there")
        assert state.transaction is not None
        folded = replace(column, name=column.name.lower()) if self._schema.folds_names else column
        what = NewColumn(found.table, folded)
        self._transactions.defined.append(Defined(state.transaction, record.step, what))
        if column.default is not None or not state.claim.table_locks:
            # The table may be written anew, and who has an older snapshot finds it empty or is refused.
            self._transactions.emptied.append((state.transaction, found.table))

    # -- foreign keys

    def _folded(self, key: ForeignKey) -> ForeignKey:
        return ForeignKey(
            key.name.lower(),
            tuple(name.lower() for name in key.columns),
            self._named(key.table),
            tuple(name.lower() for name in key.references),
        )

    def _key(self, table: str, name: str) -> ForeignKey:
        for key in self._schema.table(table).foreign_keys:
            if key.name.lower() == name.lower():
                return key
        raise UndecidedError("a constraint that is not known")

    def _require_valid(self, state: SessionState, record: Record, table: str, key: ForeignKey) -> None:
        """All rows that are there must have what they refer to."""
        visible = self._visibility.committed(state)
        own, other = self._schema.table(table), self._schema.table(key.table)
        at = [next(i for i, column in enumerate(own.columns) if column.name == one) for one in key.columns]
        there = [
            next(i for i, column in enumerate(other.columns) if column.name == one) for one in key.references
        ]
        parents = {tuple(seen.values[i] for i in there) for seen in self._chains.view(key.table, visible)}
        for seen in self._chains.view(table, visible):
            refers = tuple(seen.values[i] for i in at)
            if None not in refers and refers not in parents:
                raise ViolationError(
                    record.step,
                    ErrorWitness(frozenset({ErrorKind.FOREIGN_KEY}), None),
                    f"a row of {table} refers to nothing",
                    table,
                )
