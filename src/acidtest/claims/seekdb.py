"""OceanBase seekdb: snapshots, and writes that wait; behaviour as OceanBase documents it for MySQL mode."""

from dataclasses import replace

from acidtest.claims.base import (
    Claim,
    OnConflict,
    Sees,
    SnapshotAt,
)
from acidtest.model import ErrorKind, Level, phenomenon

LINK = "https://en.oceanbase.com/docs/common-oceanbase-database-10000000001970956"

_READ_COMMITTED = Claim(
    dbms="seekdb",
    level=Level.READ_COMMITTED,
    link=LINK,
    plain_read=Sees.SNAPSHOT,
    locking_read=Sees.COMMITTED,
    write=Sees.COMMITTED,
    snapshot=SnapshotAt.STATEMENT,
    on_conflict=OnConflict.WAIT,
    insert_select_reads=Sees.SNAPSHOT,
    may_fail=frozenset({ErrorKind.DEADLOCK, ErrorKind.LOCK_TIMEOUT}),
    excludes=phenomenon.MONOTONIC_VIEW,
)
_REPEATABLE_READ = replace(
    _READ_COMMITTED,
    level=Level.REPEATABLE_READ,
    locking_read=Sees.SNAPSHOT,
    write=Sees.SNAPSHOT,
    snapshot=SnapshotAt.FIRST_STATEMENT,
    on_conflict=OnConflict.FAIL,
    first_statement_retries=True,  # measured on 1.4
    conflict_errors=frozenset({ErrorKind.SERIALIZATION_FAILURE}),
    excludes=phenomenon.SNAPSHOT,
)

CLAIMS = {
    Level.READ_COMMITTED: _READ_COMMITTED,
    Level.REPEATABLE_READ: _REPEATABLE_READ,
    # A snapshot too: write skew is possible, as in OceanBase and Oracle.
    Level.SERIALIZABLE: replace(_REPEATABLE_READ, level=Level.SERIALIZABLE),
}
