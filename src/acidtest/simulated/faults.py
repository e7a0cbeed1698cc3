"""The planted faults: each breaks one rule of the engine at one place, which asks `planted.has(FAULT)`."""

from dataclasses import dataclass
from pathlib import Path

from acidtest.model import Level

RU, RC = Level.READ_UNCOMMITTED, Level.READ_COMMITTED
RR, SER = Level.REPEATABLE_READ, Level.SERIALIZABLE
EVERY = (RU, RC, RR, SER)
SNAPSHOTS = (RC, RR)


@dataclass(frozen=True, slots=True)
class Fault:
    """A rule that the engine breaks when the fault is planted, and the levels at which it can show."""

    name: str
    sentence: str
    levels: tuple[Level, ...] = EVERY


class Planted:
    """The one fault of an engine, or none. Set-up runs without it: every case starts from the truth."""

    def __init__(self) -> None:
        self.fault: Fault | None = None

    def has(self, fault: Fault) -> bool:
        """Whether the engine has to break this rule."""
        return self.fault is fault


# -- what plain reads see

DIRTY_READ = Fault("dirty-read", "a plain read at READ COMMITTED sees what is not committed", (RC,))
ABORTED_READ = Fault("aborted-read", "a plain read sees what a transaction wrote that rolled back", SNAPSHOTS)
INTERMEDIATE_READ = Fault(
    "intermediate-read", "a snapshot shows the first of several versions that a transaction wrote", SNAPSHOTS
)
OWN_WRITE_UNSEEN = Fault(
    "own-write-unseen", "a plain read does not see what its own transaction wrote", SNAPSHOTS
)
OWN_DELETED_ROW_SEEN = Fault(
    "own-deleted-row-seen", "a plain read still sees rows that its own transaction deleted", SNAPSHOTS
)
DELETED_ROW_SEEN = Fault(
    "deleted-row-seen",
    "a snapshot still shows rows that another transaction deleted and committed",
    SNAPSHOTS,
)
STALE_SNAPSHOT = Fault(
    "stale-snapshot", "statements at READ COMMITTED use the snapshot of the first one again", (RC,)
)
NEW_SNAPSHOT_EACH_READ = Fault(
    "non-repeatable-read", "every plain read at REPEATABLE READ takes a new snapshot", (RR,)
)
SNAPSHOT_AT_BEGIN = Fault("snapshot-at-begin", "the snapshot is taken at BEGIN, not by the first read", (RR,))
SNAPSHOT_TOO_OLD = Fault("snapshot-too-old", "a snapshot lacks the newest commit", SNAPSHOTS)
TORN_COMMIT = Fault("torn-commit", "a snapshot taken right after a commit shows half of its rows", SNAPSHOTS)

# -- what writes and locking reads see

LOST_UPDATE = Fault("lost-update", "an UPDATE computes new values from the snapshot's", (RR,))
WRITE_CHOOSES_BY_SNAPSHOT = Fault(
    "write-chooses-by-snapshot", "UPDATE and DELETE test their condition on the snapshot's values", (RR,)
)
LOCKING_READ_OF_SNAPSHOT = Fault(
    "locking-read-of-snapshot", "a locking read locks the rows but shows the snapshot's", (RR,)
)
WRITE_IGNORES_OWN_WRITES = Fault(
    "write-ignores-own-writes", "UPDATE and DELETE do not see what their own transaction wrote before"
)

# -- locks

UPDATE_WITHOUT_LOCK = Fault("update-without-lock", "an UPDATE neither takes nor minds row locks")
DELETE_WITHOUT_LOCK = Fault("delete-without-lock", "a DELETE neither takes nor minds row locks")
INSERT_WITHOUT_LOCK = Fault("insert-without-lock", "an INSERT does not lock the row that it makes")
FOR_UPDATE_WITHOUT_LOCK = Fault("for-update-without-lock", "SELECT ... FOR UPDATE takes and minds no locks")
FOR_SHARE_WITHOUT_LOCK = Fault("for-share-without-lock", "a share-locking read takes and minds no locks")
SHARE_DOES_NOT_EXCLUDE = Fault("share-does-not-exclude", "a share lock does not keep writers away")
NO_UNIQUE_KEY_LOCK = Fault(
    "no-unique-key-lock", "a write does not wait for a unique key that an open transaction wrote"
)
NO_PREDICATE_LOCK_RR = Fault(
    "no-predicate-lock-rr", "locking reads and writes at REPEATABLE READ let others add matching rows", (RR,)
)
NO_PREDICATE_LOCK_SER = Fault(
    "no-predicate-lock-ser", "statements at SERIALIZABLE let others add matching rows", (SER,)
)
SERIALIZABLE_READ_WITHOUT_LOCK = Fault(
    "serializable-read-without-lock", "a plain read in a transaction at SERIALIZABLE takes no lock", (SER,)
)
LOCKS_END_WITH_STATEMENT = Fault("locks-end-with-statement", "locks are released when the statement ends")
SAVEPOINT_RELEASES_LOCKS = Fault(
    "savepoint-releases-locks", "ROLLBACK TO SAVEPOINT releases all locks of the transaction"
)
SKIP_LOCKED_SKIPS_NOTHING = Fault("skip-locked-skips-nothing", "SKIP LOCKED returns rows that others locked")

# -- statements that had to wait

RESUMED_MISSES_NEW_MATCHES = Fault(
    "resumed-misses-new-matches", "a write that waited misses rows that match only after the wait"
)
RESUMED_KEEPS_OLD_MATCHES = Fault(
    "resumed-keeps-old-matches", "a write that waited works on rows that matched only before the wait"
)
RESUMED_USES_OLD_VALUES = Fault(
    "resumed-uses-old-values", "an UPDATE that waited computes from the values before the wait"
)
RESUMED_READ_OF_OLD_ROWS = Fault(
    "resumed-read-of-old-rows", "a locking read that waited shows the rows from before the wait"
)
RESUMED_REVIVES_DELETED_ROW = Fault(
    "resumed-revives-deleted-row", "an UPDATE that waited for a DELETE brings the deleted row back"
)
RESUMED_INSERT_UNCHECKED = Fault(
    "resumed-insert-unchecked", "a write that waited for a unique key does not check it again"
)

# -- the ends of statements and transactions

ROLLBACK_KEEPS_ROW = Fault("rollback-keeps-row", "ROLLBACK keeps the first row that was written")
ROLLBACK_DUPLICATES_ROW = Fault("rollback-duplicates-row", "ROLLBACK of a DELETE brings the row back twice")
SAVEPOINT_TOO_DEEP = Fault(
    "savepoint-too-deep", "ROLLBACK TO SAVEPOINT undoes one row too many, from before the savepoint"
)
SAVEPOINT_TOO_SHALLOW = Fault(
    "savepoint-too-shallow", "ROLLBACK TO SAVEPOINT leaves the first row that was written after it"
)
DEADLOCK_VICTIM_KEPT = Fault("deadlock-victim-kept", "what the victim of a deadlock wrote is committed")
FAILED_STATEMENT_KEPT = Fault(
    "failed-statement-kept", "rows that an INSERT wrote before it failed stay in the table"
)
COMMIT_LOSES_ROW = Fault("commit-loses-row", "COMMIT loses the last of several rows that were written")
WRONG_AFFECTED_COUNT = Fault(
    "wrong-affected-count", "the affected count leaves out rows that the transaction had written before"
)

FAULTS: tuple[Fault, ...] = tuple(one for one in list(globals().values()) if isinstance(one, Fault))
"""All of them, in the order of this file."""


def fault_named(name: str) -> Fault | None:
    """The fault of that name."""
    return next((fault for fault in FAULTS if fault.name == name), None)


def case_file(fault: Fault) -> Path:
    """The file of the smallest case whose history differs when the fault is planted."""
    return Path(__file__).parent / "cases" / f"{fault.name}.sql"
