"""TiDB: pessimistic transactions, which lock as MySQL's do, and optimistic ones, which find out at COMMIT.

Visibility and locks after Troc, tables II and III, and TiDB's own documentation. A statement that commits by
itself is optimistic in either mode and repeated until it succeeds, so it works on the newest committed rows.
"""

from collections.abc import Mapping
from dataclasses import replace

from acidtest.claims.base import (
    Claim,
    Lock,
    OnConflict,
    Quirk,
    Sees,
    SnapshotAt,
)
from acidtest.claims.innodb import SAME_VALUE_UPDATE
from acidtest.model import ErrorKind, Level, phenomenon

MODE = "tidb_txn_mode"
PESSIMISTIC, OPTIMISTIC = "pessimistic", "optimistic"

LEVELS = "https://docs.pingcap.com/tidb/stable/transaction-isolation-levels"
PESSIMISTIC_LINK = "https://docs.pingcap.com/tidb/stable/pessimistic-transaction"
OPTIMISTIC_LINK = "https://docs.pingcap.com/tidb/stable/optimistic-transaction"

CURRENT_READ = Quirk(
    "current read at REPEATABLE READ",
    "UPDATE, DELETE and FOR UPDATE of a pessimistic transaction work on the newest committed version, not on"
    " the snapshot",
    LEVELS + "#difference-between-tidb-and-mysql-repeatable-read",
)
SHARE_DOES_NOT_LOCK = Quirk(
    "FOR SHARE does not lock",
    "FOR SHARE and LOCK IN SHARE MODE are plain reads, or are refused with error 1235",
    PESSIMISTIC_LINK + "#differences-from-mysql-innodb",
)
NO_GAP_LOCKS = Quirk(
    "no gap locks",
    "rows that are there are locked, conditions are not: others may insert rows that match",
    PESSIMISTIC_LINK + "#differences-from-mysql-innodb",
)
ALONE_DOES_NOT_LOCK = Quirk(
    "FOR UPDATE outside a transaction does not lock",
    "a locking read that commits by itself is a plain read and waits for nobody",
    PESSIMISTIC_LINK + "#differences-from-mysql-innodb",
)
SNAPSHOT_AT_BEGIN = Quirk(
    "snapshot at BEGIN",
    "the snapshot of REPEATABLE READ is as old as BEGIN, not as the first read",
    LEVELS + "#repeatable-read-isolation-level",
)
LATE_DUPLICATES = Quirk(
    "duplicate keys are found at COMMIT",
    "an INSERT of an optimistic transaction succeeds; that its key is taken shows at COMMIT",
    "https://docs.pingcap.com/tidb/stable/constraints#optimistic-transactions",
)

_READ_COMMITTED = Claim(
    dbms="tidb",
    level=Level.READ_COMMITTED,
    link=LEVELS,
    plain_read=Sees.SNAPSHOT,
    locking_read=Sees.COMMITTED,
    write=Sees.COMMITTED,
    snapshot=SnapshotAt.STATEMENT,
    on_conflict=OnConflict.WAIT,
    share_lock=Lock.NONE,
    numbers_from_sequence=True,  # servers hand out numbers in batches of their own
    alone_locks=False,
    rows_are_keys=True,
    excludes=phenomenon.READ_COMMITTED,
    quirks=(SHARE_DOES_NOT_LOCK, NO_GAP_LOCKS, ALONE_DOES_NOT_LOCK),
)
_REPEATABLE_READ = replace(
    _READ_COMMITTED,
    level=Level.REPEATABLE_READ,
    snapshot=SnapshotAt.BEGIN,
    quirks=(
        CURRENT_READ,
        SAME_VALUE_UPDATE,
        SNAPSHOT_AT_BEGIN,
        SHARE_DOES_NOT_LOCK,
        NO_GAP_LOCKS,
        ALONE_DOES_NOT_LOCK,
    ),
)
_OPTIMISTIC = replace(
    _REPEATABLE_READ,
    link=OPTIMISTIC_LINK,
    locking_read=Sees.SNAPSHOT,
    write=Sees.SNAPSHOT,
    on_conflict=OnConflict.AT_COMMIT,
    may_fail=frozenset({ErrorKind.WRITE_CONFLICT}),
    conflict_errors=frozenset({ErrorKind.WRITE_CONFLICT, ErrorKind.DUPLICATE_KEY}),
    excludes=phenomenon.SNAPSHOT,
    quirks=(SNAPSHOT_AT_BEGIN, SHARE_DOES_NOT_LOCK, LATE_DUPLICATES),
)
_PESSIMISTIC = {Level.READ_COMMITTED: _READ_COMMITTED, Level.REPEATABLE_READ: _REPEATABLE_READ}


def tidb(level: Level, settings: Mapping[str, str]) -> Claim:
    """The claim of a session; in optimistic mode READ COMMITTED has no effect."""
    if settings.get(MODE, PESSIMISTIC) == OPTIMISTIC:
        return replace(_OPTIMISTIC, level=level)
    return _PESSIMISTIC[level]
