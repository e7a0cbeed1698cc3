"""What a statement came to: one of a few frozen shapes."""

from dataclasses import dataclass
from enum import StrEnum

from acidtest.model.value import Row


class ErrorKind(StrEnum):
    """DBMS errors by meaning, so that oracles need not know any DBMS's numbers."""

    DEADLOCK = "deadlock"
    SERIALIZATION_FAILURE = "serialization-failure"
    LOCK_TIMEOUT = "lock-timeout"
    LOCK_NOT_AVAILABLE = "lock-not-available"  # NOWAIT, or an engine that never waits (SQLITE_BUSY)
    RECORD_CHANGED = "record-changed"  # MariaDB 1020: the row changed since the snapshot
    WRITE_CONFLICT = "write-conflict"  # optimistic engines: another transaction wrote first
    DUPLICATE_KEY = "duplicate-key"
    NOT_NULL = "not-null"
    FOREIGN_KEY = "foreign-key"
    CHECK = "check"
    CONSTRAINT = "constraint"  # any other
    OUT_OF_RANGE = "out-of-range"
    TRUNCATION = "truncation"
    DIVISION_BY_ZERO = "division-by-zero"
    BAD_VALUE = "bad-value"  # a conversion that the DBMS refuses
    SYNTAX = "syntax"
    NO_SUCH_OBJECT = "no-such-object"
    OBJECT_EXISTS = "object-exists"
    SCHEMA_CHANGED = "schema-changed"  # DDL of another transaction got in between
    UNSUPPORTED = "unsupported"
    READ_ONLY = "read-only"
    TRANSACTION_STATE = "transaction-state"  # e.g. a statement in a transaction that already failed
    CANCELLED = "cancelled"
    RESOURCES = "resources"  # memory, disk, connections
    ACCESS = "access"
    CONNECTION_LOST = "connection-lost"
    INTERNAL = "internal"
    OTHER = "other"


class Undone(StrEnum):
    """What an error took back."""

    NOTHING = "nothing"
    STATEMENT = "statement"
    TRANSACTION = "transaction"
    CONNECTION = "connection"  # the session is gone, and its transaction with it


class TransactionState(StrEnum):
    """Where a session stands, as the DBMS itself says."""

    NONE = "none"  # the next statement commits by itself
    OPEN = "open"
    FAILED = "failed"  # PostgreSQL: every statement but ROLLBACK is refused


@dataclass(frozen=True, slots=True)
class Warning:
    """A warning as the DBMS gave it."""

    level: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Rows:
    """A result set, in the order it came."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Affected:
    """Success without a result set. `matched` is told apart from `count` only where the DBMS does."""

    count: int
    matched: int | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """A DBMS error: its meaning, its errno or SQLSTATE, and what it undid."""

    kind: ErrorKind
    code: str
    message: str
    undone: Undone


@dataclass(frozen=True, slots=True)
class Indeterminate:
    """The connection was lost before the reply to a COMMIT, or to a statement that commits by itself: whether
    it took effect is not known. `code` is that of the lost connection."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Blocked:
    """Still waiting when the case had nothing left that could release it."""

    by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Overran:
    """Neither answered nor waited for a lock within the limit; it was cancelled. Says nothing of the DBMS."""

    limit_s: float


@dataclass(frozen=True, slots=True)
class Omitted:
    """Never sent, and why."""

    why: str


Outcome = Rows | Affected | Failed | Indeterminate | Blocked | Overran | Omitted


@dataclass(frozen=True, slots=True)
class Reply:
    """A session's answer to one statement. To a script it is the first error, else the last result; `parts`
    then holds what came of each of its statements, as far as they were run."""

    outcome: Rows | Affected | Failed
    transaction: TransactionState
    warnings: tuple[Warning, ...] = ()
    parts: tuple[Rows | Affected | Failed, ...] = ()
