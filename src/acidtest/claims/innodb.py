"""InnoDB, in MySQL and in MariaDB."""

from dataclasses import replace

from acidtest.claims.base import (
    Claim,
    Lock,
    OnConflict,
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
)
_READ_COMMITTED = replace(
    _READ_UNCOMMITTED,
    level=Level.READ_COMMITTED,
    plain_read=Sees.SNAPSHOT,
    insert_select_reads=Sees.SNAPSHOT,
    excludes=phenomenon.MONOTONIC_VIEW,  # each statement has a newer snapshot than the one before
)
_REPEATABLE_READ = replace(
    _READ_COMMITTED,
    level=Level.REPEATABLE_READ,
    snapshot=SnapshotAt.FIRST_READ,
    insert_select_reads=Sees.COMMITTED,
    predicate_locks=True,
    # A write sees what is newer than the snapshot, and the next plain read does not: no monotonic view. A row
    # whose key another moved stays in the snapshot though the transaction deletes it: not even own writes.
    # https://jepsen.io/analyses/mysql-8.0.34
    excludes=phenomenon.READ_COMMITTED - {Phenomenon.INTERNAL},
)
_SERIALIZABLE = replace(
    _REPEATABLE_READ,
    level=Level.SERIALIZABLE,
    plain_read=Sees.COMMITTED,
    plain_read_lock=Lock.SHARE,
    serializable=True,
    excludes=phenomenon.SERIALIZABLE,
    in_real_time=True,  # it locks whatever it reads until it ends
)

_CLAIMS = {
    claim.level: claim for claim in (_READ_UNCOMMITTED, _READ_COMMITTED, _REPEATABLE_READ, _SERIALIZABLE)
}


def innodb(dbms: str, level: Level, snapshot_isolation: bool) -> Claim:
    """The claim of an InnoDB server; `snapshot_isolation` is MariaDB's variable of that name."""
    claim = replace(_CLAIMS[level], dbms=dbms)
    if snapshot_isolation and level is Level.REPEATABLE_READ:
        return replace(
            claim,
            link=SNAPSHOT_ISOLATION,
            on_conflict=OnConflict.FAIL,
            conflict_errors=frozenset({ErrorKind.RECORD_CHANGED}),
            excludes=phenomenon.SNAPSHOT,
        )
    if snapshot_isolation:
        # At the other levels the error may come too, where a statement has a snapshot (a subquery at READ
        # UNCOMMITTED opens one). MariaDB calls that right: https://jira.mariadb.org/browse/MDEV-39778
        return replace(claim, may_fail=claim.may_fail | {ErrorKind.RECORD_CHANGED})
    return claim
