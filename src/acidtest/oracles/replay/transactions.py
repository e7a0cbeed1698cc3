"""Who is in which transaction: BEGIN, COMMIT, ROLLBACK, savepoints, and transactions that an error ended."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from acidtest.claims import Claim, SnapshotAt
from acidtest.model import Failed, Record, TransactionState, Undone
from acidtest.oracles.chains import Chains, Version
from acidtest.oracles.engines.base import UndecidedError
from acidtest.oracles.replay.definitions import Defined
from acidtest.oracles.replay.locks import LockTable
from acidtest.sql.shape import Shape, shape_of


@dataclass(frozen=True, slots=True)
class Savepoint:
    """A point to go back to: how much was written by then, and the step that set it."""

    name: str
    mark: int
    step: int
    joined: bool = True
    """Whether the transaction had touched a table by then."""


_START = Savepoint("", 0, -1)


@dataclass(frozen=True, slots=True)
class Pending:
    """A write of an optimistic transaction that broke a key of a table and succeeded: COMMIT must fail."""

    table: str
    step: int
    sure: bool = True
    """Nothing has been written to the table since that may have taken it back."""
    followed: bool = False
    """The chains show what the transaction itself sees of it."""


@dataclass(slots=True)
class SessionState:
    """Where a session stands."""

    name: str
    claim: Claim
    transaction: int | None = None
    began_at: int = 0
    """The clock when its transaction began."""
    failed: bool = False
    moments: tuple[int, ...] = ()
    """Clock readings at which its snapshot may have been taken; empty before it is."""
    opened_by: int | None = None
    """The step that took the snapshot, where the first statement does, whatever it is."""
    maybe_unopened: bool = False
    """A read may have opened no snapshot, so a later one may still do."""
    savepoints: list[Savepoint] = field(default_factory=list)
    pending: list[Pending] = field(default_factory=list)
    touched: bool = False
    """Whether the transaction has worked on a table."""
    locked_by_key: set[tuple[str, int]] = field(default_factory=set)
    """Rows that the transaction has locked by a unique key which they are not kept by."""

    def shape(self, record: Record) -> Shape | None:
        """The shape of one of the session's statements."""
        return shape_of(record.sql, self.claim.grammar)


class Transactions:
    """The transactions of all sessions, with what they wrote and locked."""

    def __init__(self, chains: Chains, claims: Mapping[str, Claim]) -> None:
        self.chains = chains
        self.locks = LockTable()
        self.sessions = {name: SessionState(name, claim) for name, claim in claims.items()}
        self.owners: dict[int, str] = {}
        """The session of each transaction."""
        self.emptied: list[tuple[int, str]] = []
        """Transactions and the tables that they emptied at once, which no snapshot outlives."""
        self.defined: list[Defined] = []
        """Changes of definitions that were not taken back, in this order."""
        self._prepared: dict[str, int] = {}
        """Transactions that were prepared and not ended yet, by the names they got."""

    def owner(self, transaction: int) -> str:
        """The session of a transaction, for texts."""
        return self.owners.get(transaction, "another transaction")

    def is_foreign(self, state: SessionState, version: Version) -> bool:
        """Written by another transaction that has not ended."""
        return version.writer != state.transaction and not self.chains.is_committed(version.writer)

    def is_alone(self, state: SessionState) -> bool:
        """Whether no other transaction has been open since the session's own began."""
        others = [one for one in self.sessions.values() if one is not state]
        if self._prepared or any(one.transaction is not None for one in others):
            return False
        ended = (self.chains.committed_at(number) for number in self.owners if number != state.transaction)
        return not any(moment is not None and moment > state.began_at for moment in ended)

    # -- begin and end

    def begin(self, state: SessionState, record: Record) -> None:
        """BEGIN, with the snapshot if it is taken then."""
        if isinstance(record.outcome, Failed):
            return
        if state.transaction is not None:
            if not state.claim.begin_commits:
                return
            self.end(state, commit=True)
        self.open(state)
        consistent = "CONSISTENT SNAPSHOT" in " ".join(record.sql.upper().split())
        if state.claim.snapshot is SnapshotAt.BEGIN or consistent:
            state.moments = (self.chains.clock,)

    def open(self, state: SessionState) -> None:
        """A new transaction of the session."""
        state.transaction, state.began_at = len(self.owners) + 1, self.chains.clock
        state.moments, state.maybe_unopened, state.failed, state.touched = (), False, False, False
        state.savepoints.clear()
        state.locked_by_key.clear()
        self.owners[state.transaction] = state.name

    def prepare(self, state: SessionState, name: str) -> None:
        """Two-phase commit: the transaction leaves its session and keeps what it holds."""
        if state.transaction is not None:
            self._prepared[name] = state.transaction
        state.transaction = None
        self.end(state, commit=False)

    def end_prepared(self, name: str, commit: bool) -> None:
        """The end of a transaction that was prepared."""
        if name not in self._prepared:
            raise UndecidedError(f"the prepared transaction {name} is not known")
        self._end(self._prepared.pop(name), commit)

    def _end(self, transaction: int, commit: bool) -> None:
        if commit:
            self.chains.commit(transaction)
        else:
            self.chains.undo(transaction)
            self._take_back_definitions(transaction, -1)
        self.locks.release(transaction)

    def _take_back_definitions(self, transaction: int, since_step: int) -> None:
        self.defined = [
            one for one in self.defined if one.transaction != transaction or one.step <= since_step
        ]

    def end(self, state: SessionState, commit: bool) -> None:
        """The end of the session's transaction, if it has one."""
        if state.transaction is not None:
            self._end(state.transaction, commit)
        state.transaction, state.moments, state.failed = None, (), False
        state.savepoints.clear()
        state.pending.clear()

    # -- savepoints

    def savepoint(self, state: SessionState, record: Record) -> None:
        """SAVEPOINT, ROLLBACK TO or RELEASE."""
        if isinstance(record.outcome, Failed) or state.transaction is None:
            return
        words = record.sql.upper().replace("WORK", " ").replace("TRANSACTION", " ").split()
        name = words[-1].strip('`"')
        if words[0] == "SAVEPOINT":
            self._set_savepoint(state, state.transaction, name, record.step)
            return
        position = max((i for i, one in enumerate(state.savepoints) if one.name == name), default=None)
        if position is None:
            raise UndecidedError(f"savepoint {name} is not known")
        if words[0] == "ROLLBACK":
            self._go_back(state.transaction, state.savepoints[position])
            state.pending = [one for one in state.pending if one.step <= state.savepoints[position].step]
            del state.savepoints[position + 1 :]
            if state.claim.savepoint_loses_snapshot and not state.savepoints[position].joined:
                self._begin_anew(state)
            state.failed = False
        else:
            del state.savepoints[position:]

    def _begin_anew(self, state: SessionState) -> None:
        """The engine ends the transaction and begins another, and the session does not notice."""
        savepoints = list(state.savepoints)
        self.end(state, commit=False)
        self.open(state)
        state.savepoints = savepoints

    def _set_savepoint(self, state: SessionState, transaction: int, name: str, step: int) -> None:
        if not state.claim.savepoints_stack:
            state.savepoints = [one for one in state.savepoints if one.name != name]
        state.savepoints.append(Savepoint(name, self.chains.mark(transaction), step, state.touched))

    def _go_back(self, transaction: int, savepoint: Savepoint) -> None:
        self.chains.undo(transaction, savepoint.mark)
        self._take_back_definitions(transaction, savepoint.step)
        self.locks.release(transaction, since_step=savepoint.step)

    # -- errors

    def undo(self, state: SessionState, record: Record, outcome: Failed) -> None:
        """Take back what an error took back besides its own statement."""
        if outcome.undone not in (Undone.TRANSACTION, Undone.CONNECTION) or state.transaction is None:
            return
        if record.after is TransactionState.FAILED:
            # PostgreSQL and DuckDB give up what was done at once, back to the last savepoint, and then wait
            # for ROLLBACK.
            state.failed = True
            self._go_back(state.transaction, state.savepoints[-1] if state.savepoints else _START)
        else:
            self.end(state, commit=False)
