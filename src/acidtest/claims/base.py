"""What a DBMS promises at an isolation level, as data. Oracles read it; no oracle knows a DBMS by name."""

from dataclasses import dataclass, field
from enum import StrEnum

from acidtest.claims.locks import Lock
from acidtest.model import ErrorKind, Level, Phenomenon

__all__ = ["Claim", "Lock", "OnConflict", "Sees", "SnapshotAt"]


class Sees(StrEnum):
    """Which version of a row a statement works on; its own transaction's writes always come first."""

    NEWEST = "the newest version, committed or not"
    COMMITTED = "the newest committed version at that moment"
    SNAPSHOT = "the newest version in the snapshot"


class SnapshotAt(StrEnum):
    """When the snapshot is taken."""

    STATEMENT = "at each statement"
    FIRST_READ = "at the first plain read of the transaction"
    FIRST_STATEMENT = "at the first statement after BEGIN"
    BEGIN = "at BEGIN"


class OnConflict(StrEnum):
    """What happens to a write or locking read that meets a row which another transaction wrote."""

    WAIT = "waits for the other to end, then works on the newest committed version"
    RECHECK = "waits, then tests its condition again on the new version of the rows it had found"
    FAIL = "waits, then fails if the other committed; fails at once if the row is newer than the snapshot"
    REFUSE = "fails at once"
    AT_COMMIT = "goes on, and fails at COMMIT if the other committed first"


@dataclass(frozen=True, slots=True)
class Claim:
    """The promise of one DBMS at one level.

    Locks say what is surely held, so that a statement which had to wait and did not is surely wrong; a
    server that locks more is not. `may_fail` are errors with which the DBMS may break off a transaction
    whenever another one is active; `conflict_errors` those of a lost conflict.
    """

    dbms: str
    level: Level
    link: str
    plain_read: Sees
    locking_read: Sees
    write: Sees
    snapshot: SnapshotAt
    on_conflict: OnConflict
    plain_read_lock: Lock = Lock.NONE
    share_lock: Lock = Lock.SHARE
    alone_locks: bool = True
    """Whether a locking read that commits by itself waits for others at all."""
    key_locks: bool = False
    """An UPDATE that leaves the keys of a row alone takes NO_KEY_UPDATE on it, not EXCLUSIVE."""
    writes_unchanged: bool = False
    """A write that leaves a row as it is makes a new version of it, with which others are in conflict."""
    exact_locks: bool = False
    """A statement that did not wait has locked the rows it worked on, and no others."""
    table_locks: bool = False
    """Every statement also locks its tables, in PostgreSQL's modes."""
    upserts_in_snapshot: bool = False
    """ON CONFLICT fails with a conflict at a row whose newest version the snapshot does not show."""
    moved_errors: frozenset[ErrorKind] = frozenset()
    """Errors with which a statement on a partitioned table may end, because a row moved to another part."""
    predicate_locks: bool = False
    rows_are_keys: bool = False
    """A row that is inserted under the primary key of a deleted one is a new version of it, not a new row."""
    keys_repeat_unless_clustered: bool = False
    """That holds only if rows are kept by the key: else a transaction sees the old row beside its own."""
    index_only_locks: bool = False
    """A shared lock may stand on an entry of a secondary index alone, if that has all that is read; it then
    stops only those that change the entry."""
    insert_select_reads: Sees | None = None
    """What INSERT .. SELECT and subqueries of writes read; None: as the write itself."""
    one_writer: bool = False
    """One transaction writes at a time; who writes before it has ended is refused."""
    subqueries_read_either: bool = False
    """Subqueries of a write may read the snapshot or the newest versions: nobody lays down which."""
    may_fail: frozenset[ErrorKind] = frozenset({ErrorKind.DEADLOCK})
    conflict_errors: frozenset[ErrorKind] = frozenset()
    first_statement_retries: bool = False
    """A first statement that waited starts over with a new snapshot, because nothing was read before."""
    grammar: str = "mysql"
    """The name by which sqlglot knows the DBMS's SQL."""
    begin_commits: bool = True
    """BEGIN inside a transaction commits it; else it is ignored."""
    savepoints_stack: bool = False
    """A savepoint whose name is used again hides the old one; else it replaces it."""
    numbers_from_sequence: bool = False
    """Automatic numbers come from a sequence, which rows with numbers of their own do not move forward."""
    late_snapshot: bool = False
    """The first statement may wait until it finds a snapshot that is safe (READ ONLY DEFERRABLE)."""
    serializable: bool = False
    excludes: frozenset[Phenomenon] = field(default_factory=frozenset)
    """Phenomena that cannot happen."""
    in_real_time: bool = False
    """They cannot happen either if the orders of sessions and of time count as dependencies."""

    # -- what only deviations turn on (claims/deviations.py); no DBMS promises any of it

    passes_by_unmatched: bool = False
    """An UPDATE tests a row that another has locked on its last committed version, and passes it by without
    waiting if that does not match, though the newest version may."""
    passes_by_dirty: bool = False
    """An UPDATE tests a row that another has locked on its newest version, committed or not, and passes it by
    without waiting if that does not match or is deleted."""
    unchanged_is_unwritten: bool = False
    """A write that leaves a row as it is makes no new version, so the row stays another's."""
    unchanged_read_is_unwritten: bool = False
    """The same, if the statement reads all columns that it sets."""
    moved_is_new_row: bool = False
    """An UPDATE of the key that rows are kept by deletes the row and inserts another."""
    indexed_update_is_new_row: bool = False
    """An UPDATE of a column that some index has deletes the row and inserts another."""
    savepoint_loses_snapshot: bool = False
    """Going back to a savepoint that was set before the transaction touched a table gives up the snapshot."""
    repeats_row_after_wait: bool = False
    """A read that waited for somebody who rolled back may return one row a second time."""
    repeats_locked_row: bool = False
    """A read over a unique index returns a row twice that its transaction locked by the key, and left as it
    was, unless rows are kept by the index."""
    misses_conflict_over_index: bool = False
    """A shared locking read that an index answers alone does not notice rows newer than its snapshot."""
    misses_gone_over_index: bool = False
    """A statement that locks rows by way of a secondary index does not notice that a row of its snapshot has
    left that index, because it was deleted or got another key there."""
    updates_and_deletes_agree: bool = False
    """An UPDATE and a DELETE of one row by two transactions do not conflict, and the DELETE wins."""
    updates_merge_columns: bool = False
    """Two transactions may update different columns of one row; what they commit is put together."""
    upsert_reads_nothing: bool = False
    """That an upsert came upon an existing row is not a read to whoever looks for cycles."""
