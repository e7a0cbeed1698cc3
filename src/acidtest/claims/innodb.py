"""InnoDB, in MySQL and in MariaDB."""

from dataclasses import replace

from acidtest.claims.base import (
    Claim,
    Lock,
    OnConflict,
    Quirk,
    Sees,
    SnapshotAt,
)
from acidtest.model import ErrorKind, Level, Phenomenon, phenomenon

LEVELS = "https://dev.mysql.com/doc/refman/8.4/en/innodb-transaction-isolation-levels.html"
CONSISTENT_READ = "https://dev.mysql.com/doc/refman/8.4/en/innodb-consistent-read.html"
SNAPSHOT_ISOLATION = (
    "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables"
    "#innodb_snapshot_isolation"
)

CURRENT_READ = Quirk(
    "current read at REPEATABLE READ",
    "UPDATE, DELETE and locking reads work on the newest committed version, not on the snapshot",
    CONSISTENT_READ,
)
SEMI_CONSISTENT_READ = Quirk(
    "semi-consistent read",
    "an UPDATE at READ COMMITTED or below tests its condition on the last committed version of a locked row, "
    "and passes rows by that do not match, without waiting",
    LEVELS,
)
SAME_VALUE_UPDATE = Quirk(
    "same-value update",
    "an UPDATE, upsert or REPLACE that leaves a row as it is writes no new version, so the row stays the "
    "other transaction's and an older snapshot does not show it (MDEV-26642)",
    "https://jira.mariadb.org/browse/MDEV-26642",
)
MOVED_ROW = Quirk(
    "row moved while the statement waited",
    "a row whose key another transaction changes is two records; a statement that waits at one of them, or "
    "has passed the place of the other, misses it (MDEV-27992)",
    "https://jira.mariadb.org/browse/MDEV-27992",
)
OLD_KEY_SEEN = Quirk(
    "old key of a moved row",
    "a row whose primary key another transaction has changed is two records: the snapshot still shows the "
    "old one after the own transaction has written the new one (MDEV-32898)",
    "https://jira.mariadb.org/browse/MDEV-32898",
)
DIRTY_UPDATE = Quirk(
    "update decides by what is not committed",
    "with innodb_snapshot_isolation an UPDATE at READ UNCOMMITTED tests its condition on the newest version "
    "of a locked row, committed or not, and passes by what does not match, without waiting (MDEV-39874)",
    "https://jira.mariadb.org/browse/MDEV-39874",
)
NO_ERROR_OVER_INDEX = Quirk(
    "no error 1020 over a secondary index",
    "with innodb_snapshot_isolation a locking read that finds its rows by a secondary index alone does not "
    "notice that they are newer than the snapshot (ACIDTEST-1; see also MDEV-40092)",
    "https://jira.mariadb.org/browse/MDEV-40092",
)
SAVEPOINT_LOSES_SNAPSHOT = Quirk(
    "ROLLBACK TO SAVEPOINT loses the snapshot",
    "going back to a savepoint that was set before the first read rolls back the whole transaction in "
    "InnoDB, and the next read takes a new snapshot (ACIDTEST-2)",
    "https://mariadb.com/docs/server/reference/sql-statements/transactions/savepoint",
)
REPEATED_ROW = Quirk(
    "row returned twice after a wait",
    "a read that waited finds its place in the index again one row too early, and returns a row a second "
    "time (MDEV-33802, fixed)",
    "https://jira.mariadb.org/browse/MDEV-33802",
)
NO_SNAPSHOT_YET = Quirk(
    "impossible WHERE opens no snapshot",
    "a read whose condition cannot be true touches no table, so the snapshot is taken by a later read",
    CONSISTENT_READ,
)

_READ_UNCOMMITTED = Claim(
    dbms="mysql",
    level=Level.READ_UNCOMMITTED,
    link=LEVELS,
    plain_read=Sees.NEWEST,
    locking_read=Sees.COMMITTED,
    write=Sees.COMMITTED,
    snapshot=SnapshotAt.STATEMENT,
    on_conflict=OnConflict.WAIT,
    insert_select_reads=Sees.NEWEST,  # measured: no locks and dirty, like a plain read
    rows_are_keys=True,  # measured: the delete-marked record of the clustered index is used again
    index_only_locks=True,  # innodb-locks-set.html: only exclusive locks also go to the clustered index
    excludes=frozenset({Phenomenon.G0}),
    quirks=(SEMI_CONSISTENT_READ, MOVED_ROW, REPEATED_ROW),
)
_READ_COMMITTED = replace(
    _READ_UNCOMMITTED,
    level=Level.READ_COMMITTED,
    plain_read=Sees.SNAPSHOT,
    insert_select_reads=Sees.SNAPSHOT,
    excludes=phenomenon.READ_COMMITTED,
)
_REPEATABLE_READ = replace(
    _READ_COMMITTED,
    level=Level.REPEATABLE_READ,
    snapshot=SnapshotAt.FIRST_READ,
    insert_select_reads=Sees.COMMITTED,
    predicate_locks=True,
    quirks=(
        CURRENT_READ,
        SAME_VALUE_UPDATE,
        OLD_KEY_SEEN,
        REPEATED_ROW,
        SAVEPOINT_LOSES_SNAPSHOT,
        NO_SNAPSHOT_YET,
    ),
)
_SERIALIZABLE = replace(
    _REPEATABLE_READ,
    level=Level.SERIALIZABLE,
    plain_read=Sees.COMMITTED,
    plain_read_lock=Lock.SHARE,
    serializable=True,
    excludes=phenomenon.SERIALIZABLE,
    quirks=(REPEATED_ROW,),
)

_CLAIMS = {
    claim.level: claim for claim in (_READ_UNCOMMITTED, _READ_COMMITTED, _REPEATABLE_READ, _SERIALIZABLE)
}


def innodb(dbms: str, level: Level, snapshot_isolation: bool) -> Claim:
    """The claim of an InnoDB server; `snapshot_isolation` is MariaDB's variable of that name."""
    claim = replace(_CLAIMS[level], dbms=dbms)
    if snapshot_isolation and level is Level.READ_UNCOMMITTED:
        return replace(claim, quirks=(DIRTY_UPDATE, MOVED_ROW))
    if snapshot_isolation and level is Level.REPEATABLE_READ:
        return replace(
            claim,
            link=SNAPSHOT_ISOLATION,
            on_conflict=OnConflict.FAIL,
            conflict_errors=frozenset({ErrorKind.RECORD_CHANGED}),
            excludes=phenomenon.SNAPSHOT,
            quirks=(NO_SNAPSHOT_YET, NO_ERROR_OVER_INDEX, SAVEPOINT_LOSES_SNAPSHOT),
        )
    if snapshot_isolation and level is Level.SERIALIZABLE:
        # There, too, the error may come, which MariaDB calls right: https://jira.mariadb.org/browse/MDEV-39778
        return replace(claim, may_fail=claim.may_fail | {ErrorKind.RECORD_CHANGED})
    return claim
