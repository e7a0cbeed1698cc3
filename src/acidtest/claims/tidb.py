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
    Sees,
    SnapshotAt,
)
from acidtest.model import ErrorKind, Level, Phenomenon, phenomenon

MODE = "tidb_txn_mode"
PESSIMISTIC, OPTIMISTIC = "pessimistic", "optimistic"

LEVELS = "https://docs.pingcap.com/tidb/stable/transaction-isolation-levels"
PESSIMISTIC_LINK = "https://docs.pingcap.com/tidb/stable/pessimistic-transaction"
OPTIMISTIC_LINK = "https://docs.pingcap.com/tidb/stable/optimistic-transaction"


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
    subqueries_read_either=True,  # measured on 5.4: one that depends on no row is answered while planning
    rows_are_keys=True,
    excludes=phenomenon.MONOTONIC_VIEW,
)
_REPEATABLE_READ = replace(
    _READ_COMMITTED,
    level=Level.REPEATABLE_READ,
    snapshot=SnapshotAt.BEGIN,
    # A write sees what is newer than the snapshot, and the next plain read does not: no monotonic view. A row
    # whose key another moved stays in the snapshot though the transaction deletes it: not even own writes.
    excludes=phenomenon.READ_COMMITTED - {Phenomenon.INTERNAL},
)
_OPTIMISTIC = replace(
    _REPEATABLE_READ,
    link=OPTIMISTIC_LINK,
    locking_read=Sees.SNAPSHOT,
    write=Sees.SNAPSHOT,
    on_conflict=OnConflict.AT_COMMIT,
    may_fail=frozenset({ErrorKind.WRITE_CONFLICT}),
    conflict_errors=frozenset({ErrorKind.WRITE_CONFLICT, ErrorKind.DUPLICATE_KEY}),
    # meant so, as keys are checked at COMMIT: https://github.com/pingcap/tidb/issues/22730
    keys_repeat_unless_clustered=True,
    excludes=phenomenon.SNAPSHOT,
)
_PESSIMISTIC = {Level.READ_COMMITTED: _READ_COMMITTED, Level.REPEATABLE_READ: _REPEATABLE_READ}


def tidb(level: Level, settings: Mapping[str, str]) -> Claim:
    """The claim of a session; in optimistic mode READ COMMITTED has no effect."""
    if settings.get(MODE, PESSIMISTIC) == OPTIMISTIC:
        return replace(_OPTIMISTIC, level=level)
    return _PESSIMISTIC[level]
