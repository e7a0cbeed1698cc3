"""PostgreSQL. READ UNCOMMITTED is READ COMMITTED under another name."""

from dataclasses import replace

from acidtest.claims.base import (
    Claim,
    OnConflict,
    Sees,
    SnapshotAt,
)
from acidtest.model import ErrorKind, Level, phenomenon

LINK = "https://www.postgresql.org/docs/current/transaction-iso.html"


_READ_COMMITTED = Claim(
    dbms="postgres",
    level=Level.READ_COMMITTED,
    link=LINK,
    plain_read=Sees.SNAPSHOT,
    locking_read=Sees.SNAPSHOT,
    write=Sees.SNAPSHOT,
    snapshot=SnapshotAt.STATEMENT,
    on_conflict=OnConflict.RECHECK,
    key_locks=True,  # https://www.postgresql.org/docs/current/explicit-locking.html#LOCKING-ROWS
    writes_unchanged=True,
    exact_locks=True,
    table_locks=True,  # https://www.postgresql.org/docs/current/explicit-locking.html#LOCKING-TABLES
    # "tuple to be locked was already moved to another partition due to concurrent update"
    moved_errors=frozenset({ErrorKind.SERIALIZATION_FAILURE}),
    grammar="postgres",
    begin_commits=False,
    savepoints_stack=True,
    # https://www.postgresql.org/docs/current/datatype-numeric.html#DATATYPE-SERIAL
    numbers_from_sequence=True,
    excludes=phenomenon.MONOTONIC_VIEW,  # each statement has a newer snapshot than the one before
)
_REPEATABLE_READ = replace(
    _READ_COMMITTED,
    level=Level.REPEATABLE_READ,
    snapshot=SnapshotAt.FIRST_STATEMENT,
    on_conflict=OnConflict.FAIL,
    conflict_errors=frozenset({ErrorKind.SERIALIZATION_FAILURE}),
    upserts_in_snapshot=True,  # measured on 12 and 18
    excludes=phenomenon.SNAPSHOT,
)
_SERIALIZABLE = replace(
    _REPEATABLE_READ,
    level=Level.SERIALIZABLE,
    may_fail=frozenset({ErrorKind.DEADLOCK, ErrorKind.SERIALIZATION_FAILURE}),
    serializable=True,
    excludes=phenomenon.SERIALIZABLE | phenomenon.SNAPSHOT,
)

CLAIMS = {
    Level.READ_UNCOMMITTED: replace(_READ_COMMITTED, level=Level.READ_UNCOMMITTED),
    Level.READ_COMMITTED: _READ_COMMITTED,
    Level.REPEATABLE_READ: _REPEATABLE_READ,
    Level.SERIALIZABLE: _SERIALIZABLE,
}
