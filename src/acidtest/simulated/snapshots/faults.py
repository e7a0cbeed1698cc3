"""Planted faults of the engines on snapshots, but for those that the locking engine has, too."""

from acidtest.simulated.faults import COUNT, ERROR, KEEPS_SNAPSHOT, ROWS, SERIAL, STATE, Fault

# -- snapshots

SNAPSHOT_MOVES = Fault(
    "snapshot-moves",
    "every statement of a transaction takes a new snapshot",
    (ROWS,),
    engines=KEEPS_SNAPSHOT,
)
SNAPSHOT_MOVES_WITH_WRITES = Fault(
    "snapshot-moves-with-writes",
    "once a transaction has written, every statement takes a new snapshot",
    (ROWS,),
    engines=("fail", "ssi", "refuse", "optimistic"),
)
SNAPSHOT_LOST_AT_SAVEPOINT = Fault(
    "snapshot-lost-at-savepoint",
    "ROLLBACK TO SAVEPOINT makes the next statement take a new snapshot",
    (ROWS,),
    engines=KEEPS_SNAPSHOT,
)
SNAPSHOT_AT_BEGIN = Fault(
    "snapshot-of-begin",
    "the snapshot is taken at BEGIN, not by the first statement",
    (ROWS,),
    engines=("fail", "ssi", "one-writer", "refuse"),
)
SNAPSHOT_AFTER_BEGIN = Fault(
    "snapshot-after-begin",
    "the snapshot is taken by the first statement, not at BEGIN",
    (ROWS,),
    engines=("optimistic",),
)
STATEMENT_SNAPSHOT_KEPT = Fault(
    "statement-snapshot-kept",
    "statements use the snapshot of the transaction's first one again",
    (ROWS,),
    engines=("recheck",),
)

# -- rows tested again after a wait

RECHECK_SKIPPED = Fault(
    "recheck-skipped",
    "a write or locking read that waited works on rows that no longer match",
    (COUNT, ROWS),
    engines=("recheck",),
)
RECHECK_OF_OLD_VERSION = Fault(
    "recheck-of-old-version",
    "a write or locking read that waited works on the versions from before the wait",
    (STATE, COUNT, ROWS),
    engines=("recheck",),
)
RECHECK_REVIVES_ROW = Fault(
    "recheck-revives-row",
    "a write that waited for a DELETE works on the deleted row",
    (COUNT,),
    engines=("recheck",),
)
RECHECK_FINDS_NEW_ROWS = Fault(
    "recheck-finds-new-rows",
    "a write that waited looks for its rows again with a new snapshot",
    (COUNT, ROWS),
    engines=("recheck",),
)
RECHECK_LOSES_ROW = Fault(
    "recheck-loses-row",
    "a write or locking read that waited passes by all rows that were changed meanwhile",
    (COUNT, ROWS),
    engines=("recheck",),
)
RECHECK_OF_UNDONE_VERSION = Fault(
    "recheck-of-undone-version",
    "a write that waited for a transaction that rolled back works on what that one had written",
    (STATE,),
    engines=("recheck",),
)
READ_NOT_RECHECKED = Fault(
    "read-not-rechecked",
    "a locking read that waited shows the rows from before the wait",
    (ROWS,),
    engines=("recheck",),
)

# -- writes of rows that are newer than the snapshot

NEWER_ROW_WRITTEN = Fault(
    "newer-row-written",
    "a write of a row that was changed after the snapshot does not fail if it need not wait",
    (ERROR,),
    engines=("fail",),
)
WAITER_GOES_ON = Fault(
    "waiter-goes-on",
    "a write that waited for a transaction that committed does not fail",
    (ERROR,),
    engines=("fail",),
)
DELETED_ROW_SKIPPED = Fault(
    "deleted-row-skipped",
    "a write passes by rows that were deleted after the snapshot, instead of failing",
    (ERROR,),
    engines=("fail", "ssi"),
)
DELETE_OF_NEWER_ROW = Fault(
    "delete-of-newer-row",
    "a DELETE of a row that was changed after the snapshot does not fail",
    (ERROR,),
    engines=("fail",),
)
NEWER_ROW_LOCKED = Fault(
    "newer-row-locked",
    "a locking read of a row that was changed after the snapshot does not fail",
    (ERROR,),
    engines=("fail", "ssi"),
)

UPSERT_OF_NEWER_ROW = Fault(
    "upsert-of-newer-row",
    "an INSERT IGNORE or ON DUPLICATE KEY UPDATE that meets a row which the snapshot lacks does not fail",
    (ERROR,),
    engines=("fail",),
)

# -- dangerous structures

PREDICATES_FORGOTTEN = Fault(
    "predicates-forgotten",
    "only rows that were found count as read, not the condition",
    (SERIAL,),
    engines=("ssi",),
)
WHOLE_READS_FORGOTTEN = Fault(
    "whole-reads-forgotten",
    "statements without a condition on one table do not count as reads",
    (SERIAL,),
    engines=("ssi",),
)
CONDITIONS_OF_WRITES_FORGOTTEN = Fault(
    "conditions-of-writes-forgotten",
    "what UPDATE, DELETE and their subqueries look for does not count as read",
    (SERIAL,),
    engines=("ssi",),
)
READ_ONLY_READS_FORGOTTEN = Fault(
    "read-only-reads-forgotten",
    "what a transaction reads before it writes anything does not count as read",
    (SERIAL,),
    engines=("ssi",),
)
TAKEN_KEYS_FORGOTTEN = Fault(
    "taken-keys-forgotten",
    "an INSERT IGNORE that finds its key taken does not count as a read of that row",
    (SERIAL,),
    engines=("ssi",),
)
READS_END_WITH_COMMIT = Fault(
    "reads-end-with-commit",
    "what a transaction read is forgotten when it commits",
    (SERIAL,),
    engines=("ssi",),
)
SAVEPOINT_FORGETS_READS = Fault(
    "savepoint-forgets-reads",
    "ROLLBACK TO SAVEPOINT forgets all that the transaction read",
    (SERIAL,),
    engines=("ssi",),
)
COMMITTED_PIVOT_FORGOTTEN = Fault(
    "committed-pivot-forgotten",
    "a transaction does not fail over a pivot that has committed already",
    (SERIAL,),
    engines=("ssi",),
)
CIRCLES_OF_TWO_FORGOTTEN = Fault(
    "circles-of-two-forgotten",
    "two transactions that read past each other both commit",
    (SERIAL,),
    engines=("ssi",),
)

# -- the end

COMMIT_UNCHECKED = Fault(
    "commit-unchecked",
    "COMMIT does not look for conflicts",
    (ERROR, SERIAL),
    engines=("ssi", "optimistic"),
)
DELETES_UNCHECKED = Fault(
    "deletes-unchecked",
    "deleted rows count for no conflict",
    (ERROR, SERIAL),
    engines=("ssi", "optimistic"),
)
FIRST_ROW_CHECKED_ONLY = Fault(
    "first-row-checked-only",
    "COMMIT looks for a conflict over the first row only that was written",
    (ERROR,),
    engines=("optimistic",),
)

KEYS_UNCHECKED = Fault(
    "keys-unchecked",
    "two concurrent transactions can insert rows with the same unique key",
    (ERROR, STATE),
    engines=("refuse", "optimistic"),
)

# -- one writer

STALE_WRITER = Fault(
    "stale-writer",
    "a transaction whose snapshot is not the newest may begin to write",
    (ERROR, SERIAL),
    engines=("one-writer",),
)
SECOND_WRITER = Fault(
    "second-writer",
    "an UPDATE does not mind that another transaction writes",
    (ERROR, SERIAL),
    engines=("one-writer",),
)
DELETE_NEEDS_NO_TURN = Fault(
    "delete-needs-no-turn",
    "a DELETE does not mind that another transaction writes",
    (ERROR, SERIAL),
    engines=("one-writer",),
)
WRITING_ENDS_WITH_STATEMENT = Fault(
    "writing-ends-with-statement",
    "another transaction may write as soon as the statement is over",
    (ERROR, SERIAL),
    engines=("one-writer",),
)
SAVEPOINT_ENDS_WRITING = Fault(
    "savepoint-ends-writing",
    "after ROLLBACK TO SAVEPOINT another transaction may write",
    (ERROR, SERIAL),
    engines=("one-writer",),
)

# -- rows that refuse a second writer

UPDATE_CONFLICTS_UNSEEN = Fault(
    "update-conflicts-unseen",
    "an UPDATE of a row that another transaction wrote is not refused",
    (ERROR,),
    engines=("refuse",),
)
DELETE_CONFLICTS_UNSEEN = Fault(
    "delete-conflicts-unseen",
    "a DELETE of a row that another transaction wrote is not refused",
    (ERROR,),
    engines=("refuse",),
)
OPEN_CONFLICTS_UNSEEN = Fault(
    "open-conflicts-unseen",
    "a write of a row that an open transaction wrote is not refused",
    (ERROR,),
    engines=("refuse",),
)
COMMITTED_CONFLICTS_UNSEEN = Fault(
    "committed-conflicts-unseen",
    "a write of a row that was changed and committed after the snapshot is not refused",
    (ERROR,),
    engines=("refuse",),
)
DELETED_ROWS_UNSEEN = Fault(
    "deleted-rows-unseen",
    "an UPDATE of a row that another transaction deleted is not refused",
    (ERROR,),
    engines=("refuse",),
)

FAULTS: tuple[Fault, ...] = tuple(one for one in list(globals().values()) if isinstance(one, Fault))
"""All of them, in the order of this file."""
