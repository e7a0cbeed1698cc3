"""The planted faults: each breaks one rule of the engine at one place, which asks `planted.has(FAULT)`."""

from dataclasses import dataclass

from acidtest.model import Level, ViolationKind

RU, RC = Level.READ_UNCOMMITTED, Level.READ_COMMITTED
RR, SER = Level.REPEATABLE_READ, Level.SERIALIZABLE
EVERY = (RU, RC, RR, SER)
SNAPSHOTS = (RC, RR)

ROWS, COUNT = ViolationKind.WRONG_ROWS, ViolationKind.WRONG_AFFECTED_COUNT
ERROR, BLOCK = ViolationKind.WRONG_ERROR, ViolationKind.MISSING_BLOCK
STATE, SERIAL = ViolationKind.WRONG_FINAL_STATE, ViolationKind.NOT_SERIALIZABLE
STORED = (ROWS, COUNT, STATE)
"""Something wrong is in a table: the next statement that finds it shows it, or the end."""

LOCKING = "locking"
WAITS = ("recheck", "fail", "ssi")
KEEPS_SNAPSHOT = ("fail", "ssi", "one-writer", "refuse", "optimistic")
ALL = (LOCKING, "recheck", *KEEPS_SNAPSHOT)


_OF_THE_ORACLES = (
    SERIAL,
    ViolationKind.FORBIDDEN_PHENOMENON,
    ViolationKind.DIFFERENT_RUN,
    ViolationKind.UNTRANSACTED,
)


@dataclass(frozen=True, slots=True)
class Fault:
    """A rule that the engine breaks when the fault is planted, and as what kind of violation it shows.

    `engines` have the rule; `levels` are those of the locking engine at which it can show (the other engines
    have one level each).
    """

    name: str
    sentence: str
    kinds: tuple[ViolationKind, ...]
    levels: tuple[Level, ...] = EVERY
    engines: tuple[str, ...] = (LOCKING,)

    def shows_as(self, kind: ViolationKind | None) -> bool:
        """Whether a violation of this kind is the fault's. Who tries serial orders has one kind for all, and
        so have those who look for cycles and who compare runs."""
        return kind in (*self.kinds, *_OF_THE_ORACLES)


class Planted:
    """The one fault of an engine, or none. Set-up runs without it: every case starts from the truth."""

    def __init__(self) -> None:
        self.fault: Fault | None = None

    def has(self, fault: Fault) -> bool:
        """Whether the engine has to break this rule."""
        return self.fault is fault


# -- what plain reads see

DIRTY_READ = Fault(
    "dirty-read", "a plain read at READ COMMITTED sees what is not committed", (ROWS,), (RC,), engines=ALL
)
ABORTED_READ = Fault(
    "aborted-read",
    "a plain read sees what a transaction wrote that rolled back",
    (ROWS,),
    SNAPSHOTS,
    engines=ALL,
)
INTERMEDIATE_READ = Fault(
    "intermediate-read",
    "a snapshot shows the first of several versions that a transaction wrote",
    (ROWS,),
    SNAPSHOTS,
    engines=ALL,
)
OWN_WRITE_UNSEEN = Fault(
    "own-write-unseen",
    "a plain read does not see what its own transaction wrote",
    (ROWS,),
    SNAPSHOTS,
    engines=ALL,
)
OWN_DELETED_ROW_SEEN = Fault(
    "own-deleted-row-seen",
    "a plain read still sees rows that its own transaction deleted",
    (ROWS,),
    SNAPSHOTS,
    engines=ALL,
)
DELETED_ROW_SEEN = Fault(
    "deleted-row-seen",
    "a snapshot still shows rows that another transaction deleted and committed",
    (ROWS,),
    SNAPSHOTS,
    engines=ALL,
)
STALE_SNAPSHOT = Fault(
    "stale-snapshot", "statements at READ COMMITTED use the snapshot of the first one again", (ROWS,), (RC,)
)
NEW_SNAPSHOT_EACH_READ = Fault(
    "non-repeatable-read", "every plain read at REPEATABLE READ takes a new snapshot", (ROWS,), (RR,)
)
SNAPSHOT_AT_BEGIN = Fault(
    "snapshot-at-begin", "the snapshot is taken at BEGIN, not by the first read", (ROWS,), (RR,)
)
SNAPSHOT_TOO_OLD = Fault("snapshot-too-old", "a snapshot lacks the newest commit", (ROWS,), SNAPSHOTS)
TORN_COMMIT = Fault(
    "torn-commit",
    "a snapshot taken right after a commit shows half of its rows",
    (ROWS,),
    SNAPSHOTS,
    engines=ALL,
)

# -- what writes and locking reads see

LOST_UPDATE = Fault("lost-update", "an UPDATE computes new values from the snapshot's", STORED, (RR,))
WRITE_CHOOSES_BY_SNAPSHOT = Fault(
    "write-chooses-by-snapshot",
    "UPDATE and DELETE test their condition on the snapshot's values",
    (COUNT,),
    (RR,),
)
LOCKING_READ_OF_SNAPSHOT = Fault(
    "locking-read-of-snapshot", "a locking read locks the rows but shows the snapshot's", (ROWS,), (RR,)
)
WRITE_IGNORES_OWN_WRITES = Fault(
    "write-ignores-own-writes",
    "UPDATE and DELETE do not see what their own transaction wrote before",
    STORED,
    engines=ALL,
)

# -- locks

UPDATE_WITHOUT_LOCK = Fault(
    "update-without-lock", "an UPDATE neither takes nor minds row locks", (BLOCK,), engines=(LOCKING, *WAITS)
)
DELETE_WITHOUT_LOCK = Fault(
    "delete-without-lock", "a DELETE neither takes nor minds row locks", (BLOCK,), engines=(LOCKING, *WAITS)
)
INSERT_WITHOUT_LOCK = Fault("insert-without-lock", "an INSERT does not lock the row that it makes", (BLOCK,))
FOR_UPDATE_WITHOUT_LOCK = Fault(
    "for-update-without-lock",
    "SELECT ... FOR UPDATE takes and minds no locks",
    (BLOCK,),
    engines=(LOCKING, *WAITS),
)
FOR_SHARE_WITHOUT_LOCK = Fault(
    "for-share-without-lock", "a share-locking read takes and minds no locks", (BLOCK,)
)
SHARE_DOES_NOT_EXCLUDE = Fault(
    "share-does-not-exclude", "a share lock does not keep writers away", (BLOCK,), engines=(LOCKING, *WAITS)
)
NO_UNIQUE_KEY_LOCK = Fault(
    "no-unique-key-lock",
    "a write does not wait for a unique key that an open transaction wrote",
    (BLOCK,),
    engines=(LOCKING, *WAITS),
)
NO_PREDICATE_LOCK_RR = Fault(
    "no-predicate-lock-rr",
    "locking reads and writes at REPEATABLE READ let others add matching rows",
    (BLOCK,),
    (RR,),
)
NO_PREDICATE_LOCK_SER = Fault(
    "no-predicate-lock-ser", "statements at SERIALIZABLE let others add matching rows", (BLOCK,), (SER,)
)
SERIALIZABLE_READ_WITHOUT_LOCK = Fault(
    "serializable-read-without-lock",
    "a plain read in a transaction at SERIALIZABLE takes no lock",
    (BLOCK,),
    (SER,),
)
LOCKS_END_WITH_STATEMENT = Fault(
    "locks-end-with-statement",
    "locks are released when the statement ends",
    (BLOCK,),
    engines=(LOCKING, *WAITS),
)
SAVEPOINT_RELEASES_LOCKS = Fault(
    "savepoint-releases-locks",
    "ROLLBACK TO SAVEPOINT releases all locks of the transaction",
    (BLOCK,),
    engines=(LOCKING, *WAITS),
)
SKIP_LOCKED_SKIPS_NOTHING = Fault(
    "skip-locked-skips-nothing", "SKIP LOCKED returns rows that others locked", (ROWS,)
)

# -- statements that had to wait

RESUMED_MISSES_NEW_MATCHES = Fault(
    "resumed-misses-new-matches", "a write that waited misses rows that match only after the wait", (COUNT,)
)
RESUMED_KEEPS_OLD_MATCHES = Fault(
    "resumed-keeps-old-matches",
    "a write that waited works on rows that matched only before the wait",
    (COUNT,),
)
RESUMED_USES_OLD_VALUES = Fault(
    "resumed-uses-old-values", "an UPDATE that waited computes from the values before the wait", STORED
)
RESUMED_READ_OF_OLD_ROWS = Fault(
    "resumed-read-of-old-rows", "a locking read that waited shows the rows from before the wait", (ROWS,)
)
RESUMED_REVIVES_DELETED_ROW = Fault(
    "resumed-revives-deleted-row", "an UPDATE that waited for a DELETE brings the deleted row back", (COUNT,)
)
RESUMED_INSERT_UNCHECKED = Fault(
    "resumed-insert-unchecked", "a write that waited for a unique key does not check it again", (ERROR,)
)

# -- the ends of statements and transactions

ROLLBACK_KEEPS_ROW = Fault(
    "rollback-keeps-row", "ROLLBACK keeps the first row that was written", STORED, engines=ALL
)
ROLLBACK_DUPLICATES_ROW = Fault(
    "rollback-duplicates-row", "ROLLBACK of a DELETE brings the row back twice", STORED, engines=ALL
)
SAVEPOINT_TOO_DEEP = Fault(
    "savepoint-too-deep",
    "ROLLBACK TO SAVEPOINT undoes one row too many, from before the savepoint",
    STORED,
    engines=ALL,
)
SAVEPOINT_TOO_SHALLOW = Fault(
    "savepoint-too-shallow",
    "ROLLBACK TO SAVEPOINT leaves the first row that was written after it",
    STORED,
    engines=ALL,
)
DEADLOCK_VICTIM_KEPT = Fault(
    "deadlock-victim-kept", "what the victim of a deadlock wrote is committed", STORED
)
FAILED_STATEMENT_KEPT = Fault(
    "failed-statement-kept",
    "rows that an INSERT wrote before it failed stay in the table",
    STORED,
    engines=(LOCKING, "one-writer", "optimistic"),
)
FAILED_TRANSACTION_KEPT = Fault(
    "failed-transaction-kept",
    "what a transaction did before an error failed it is committed",
    STORED,
    engines=("recheck", "fail", "ssi", "refuse"),
)
REFUSED_COMMIT_KEPT = Fault(
    "refused-commit-kept",
    "a COMMIT that fails over a conflict commits all the same",
    STORED,
    engines=("ssi", "optimistic"),
)
COMMIT_LOSES_ROW = Fault(
    "commit-loses-row", "COMMIT loses the last of several rows that were written", STORED, engines=ALL
)
WRONG_AFFECTED_COUNT = Fault(
    "wrong-affected-count",
    "the affected count leaves out rows that the transaction had written before",
    (COUNT,),
)

FAULTS: tuple[Fault, ...] = tuple(one for one in list(globals().values()) if isinstance(one, Fault))
"""All of this file, in its order."""
