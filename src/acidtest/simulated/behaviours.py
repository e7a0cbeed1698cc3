"""The engines that the simulated DBMS can be: how transactions meet, and what an error does to them."""

from collections.abc import Callable
from dataclasses import dataclass

from acidtest.model import Level
from acidtest.simulated.faults import Planted
from acidtest.simulated.locking import LockingWorker
from acidtest.simulated.locks import LockTable
from acidtest.simulated.snapshots.never_waiting import OneWriterWorker, OptimisticWorker, RefusingWorker
from acidtest.simulated.snapshots.serializable import SerializableWorker
from acidtest.simulated.snapshots.waiting import FailingWorker, RecheckingWorker
from acidtest.simulated.storage import Database
from acidtest.simulated.worker import Worker


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One engine: who it behaves like, its levels, weakest first, and what it makes of statements."""

    name: str
    sentence: str
    levels: tuple[Level, ...]
    worker: Callable[[Database, LockTable, Planted], Worker]
    errors_fail_transaction: bool = False
    """An error takes back what the transaction did, and all but its ROLLBACK is refused after that."""
    savepoints_stack: bool = False
    """A savepoint whose name is used again hides the old one; else it replaces it."""


LOCKING = Behaviour(
    "locking",
    "InnoDB: writes and locking reads wait, then work on what is committed",
    (Level.READ_UNCOMMITTED, Level.READ_COMMITTED, Level.REPEATABLE_READ, Level.SERIALIZABLE),
    LockingWorker,
)
RECHECK = Behaviour(
    "recheck",
    "PostgreSQL at READ COMMITTED: a write waits, then tests again the rows that it had found",
    (Level.READ_COMMITTED,),
    RecheckingWorker,
    errors_fail_transaction=True,
    savepoints_stack=True,
)
FAIL = Behaviour(
    "fail",
    "PostgreSQL at REPEATABLE READ: a write waits, then fails if the other transaction committed",
    (Level.REPEATABLE_READ,),
    FailingWorker,
    errors_fail_transaction=True,
    savepoints_stack=True,
)
SSI = Behaviour(
    "ssi",
    "PostgreSQL at SERIALIZABLE: as `fail`, and transactions fail whose conflicts may close a circle",
    (Level.SERIALIZABLE,),
    SerializableWorker,
    errors_fail_transaction=True,
    savepoints_stack=True,
)
ONE_WRITER = Behaviour(
    "one-writer",
    "SQLite: one transaction writes at a time, and only on the newest snapshot; others are refused",
    (Level.SERIALIZABLE,),
    OneWriterWorker,
    savepoints_stack=True,
)
REFUSE = Behaviour(
    "refuse",
    "DuckDB: a write of a row that another transaction wrote is refused at once",
    (Level.SNAPSHOT,),
    RefusingWorker,
    errors_fail_transaction=True,
)
OPTIMISTIC = Behaviour(
    "optimistic",
    "TiDB's optimistic transactions: conflicts are found at COMMIT",
    (Level.REPEATABLE_READ,),
    OptimisticWorker,
)

BEHAVIOURS = {one.name: one for one in (LOCKING, RECHECK, FAIL, SSI, ONE_WRITER, REFUSE, OPTIMISTIC)}
"""All of them by name."""
