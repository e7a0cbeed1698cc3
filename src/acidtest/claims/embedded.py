"""SQLite and DuckDB: engines that never wait, but fail at once."""

from acidtest.claims.base import (
    Claim,
    OnConflict,
    Sees,
    SnapshotAt,
)
from acidtest.model import ErrorKind, Level, phenomenon

SQLITE = Claim(
    dbms="sqlite",
    level=Level.SERIALIZABLE,
    link="https://www.sqlite.org/isolation.html",
    plain_read=Sees.SNAPSHOT,
    locking_read=Sees.SNAPSHOT,
    write=Sees.SNAPSHOT,
    snapshot=SnapshotAt.FIRST_STATEMENT,
    on_conflict=OnConflict.REFUSE,
    one_writer=True,  # https://www.sqlite.org/lang_transaction.html
    savepoints_stack=True,  # https://www.sqlite.org/lang_savepoint.html
    may_fail=frozenset({ErrorKind.LOCK_NOT_AVAILABLE, ErrorKind.SERIALIZATION_FAILURE}),
    conflict_errors=frozenset({ErrorKind.LOCK_NOT_AVAILABLE, ErrorKind.SERIALIZATION_FAILURE}),
    grammar="sqlite",
    serializable=True,
    excludes=phenomenon.SERIALIZABLE | phenomenon.SNAPSHOT,
    in_real_time=True,  # a snapshot shows all that was committed, and writers come one after the other
)


DUCKDB = Claim(
    dbms="duckdb",
    level=Level.SNAPSHOT,
    link="https://duckdb.org/docs/stable/sql/statements/transactions",
    plain_read=Sees.SNAPSHOT,
    locking_read=Sees.SNAPSHOT,
    write=Sees.SNAPSHOT,
    snapshot=SnapshotAt.FIRST_STATEMENT,
    on_conflict=OnConflict.REFUSE,
    may_fail=frozenset({ErrorKind.WRITE_CONFLICT}),
    conflict_errors=frozenset({ErrorKind.WRITE_CONFLICT, ErrorKind.DUPLICATE_KEY}),
    grammar="duckdb",
    numbers_from_sequence=True,
    excludes=phenomenon.SNAPSHOT,
)
