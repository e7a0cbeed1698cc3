"""Who is in which transaction: BEGIN, COMMIT, ROLLBACK, savepoints, and transactions that an error ended."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from acidtest.claims import Claim, SnapshotAt
from acidtest.model import Failed, Record, TransactionState, Undone
from acidtest.mvcc import Chains, Version
from acidtest.oracles.engine import UndecidedError
from acidtest.oracles.locks import LockTable
from acidtest.sql.shape import Shape, shape_of


@dataclass(frozen=True, slots=True)
class Savepoint:
    """A point to go back to: how much was written by then, and the step that set it."""

    name: str
    mark: int
    step: int


_START = Savepoint("", 0, -1)


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
    savepoints: list[Savepoint] = field(default_factory=list)

    def shape(self, record: Record) -> Shape | None:
        """The shape of one of the session's statements."""
        return shape_of(record.sql, self.claim.grammar)


class Transactions:
    """The transactions of all sessions, with what they wrote and locked."""

    def __init__(self, chains: Chains, claims: Mapping[str, Claim]) -> None:
        self.chains = chains
        self.locks = LockTable()
        self.sessions = {name: Standing(name, claim) for name, claim in claims.items()}
        self.owners: dict[int, str] = {}
        """The session of each transaction."""

    def owner(self, transaction: int) -> str:
        """The session of a transaction, for texts."""
        return self.owners.get(transaction, "another transaction")

    def is_foreign(self, standing: Standing, version: Version) -> bool:
        """Written by another transaction that has not ended."""
        return version.writer != standing.transaction and not self.chains.is_committed(version.writer)

    # -- begin and end

    def begin(self, standing: Standing, record: Record) -> None:
        """BEGIN, with the snapshot if it is taken then."""
        if isinstance(record.outcome, Failed):
            return
        if "ISOLATION" in record.sql.upper():
            raise UndecidedError("BEGIN with a level of its own")
        if standing.transaction is not None:
            self.end(standing, commit=True)  # MySQL: BEGIN commits what is open
        self.open(standing)
        consistent = "CONSISTENT SNAPSHOT" in " ".join(record.sql.upper().split())
        if standing.claim.snapshot is SnapshotAt.BEGIN or consistent:
            standing.moments = (self.chains.clock,)

    def open(self, standing: Standing) -> None:
        """A new transaction of the session."""
        standing.transaction = len(self.owners) + 1
        standing.moments, standing.maybe_unopened, standing.failed = (), False, False
        standing.savepoints.clear()
        self.owners[standing.transaction] = standing.name

    def end(self, standing: Standing, commit: bool) -> None:
        """The end of the session's transaction, if it has one."""
        if standing.transaction is not None:
            if commit:
                self.chains.commit(standing.transaction)
            else:
                self.chains.undo(standing.transaction)
            self.locks.release(standing.transaction)
        standing.transaction, standing.moments, standing.failed = None, (), False
        standing.savepoints.clear()

    # -- savepoints

    def savepoint(self, standing: Standing, record: Record) -> None:
        """SAVEPOINT, ROLLBACK TO or RELEASE."""
        if isinstance(record.outcome, Failed) or standing.transaction is None:
            return
        words = record.sql.upper().replace("WORK", " ").replace("TRANSACTION", " ").split()
        name = words[-1].strip('`"')
        if words[0] == "SAVEPOINT":
            self._set_savepoint(standing, standing.transaction, name, record.step)
            return
        position = max((i for i, one in enumerate(standing.savepoints) if one.name == name), default=None)
        if position is None:
            raise UndecidedError(f"savepoint {name} is not known")
        if words[0] == "ROLLBACK":
            self._go_back(standing.transaction, standing.savepoints[position])
            del standing.savepoints[position + 1 :]
            standing.failed = False
        else:
            del standing.savepoints[position:]

    def _set_savepoint(self, standing: Standing, transaction: int, name: str, step: int) -> None:
        if not standing.claim.savepoints_stack:
            standing.savepoints = [one for one in standing.savepoints if one.name != name]
        standing.savepoints.append(Savepoint(name, self.chains.mark(transaction), step))

    def _go_back(self, transaction: int, savepoint: Savepoint) -> None:
        self.chains.undo(transaction, savepoint.mark)
        self.locks.release(transaction, since_step=savepoint.step)

    # -- errors

    def undo(self, standing: Standing, record: Record, outcome: Failed) -> None:
        """Take back what an error took back besides its own statement."""
        if outcome.undone not in (Undone.TRANSACTION, Undone.CONNECTION) or standing.transaction is None:
            return
        if record.after is TransactionState.FAILED:
            # PostgreSQL and DuckDB give up what was done at once, back to the last savepoint, and then wait
            # for ROLLBACK.
            standing.failed = True
            self._go_back(standing.transaction, standing.savepoints[-1] if standing.savepoints else _START)
        else:
            self.end(standing, commit=False)
