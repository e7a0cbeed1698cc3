"""Histories told by hand for fields of claims that no golden history tells."""

from dataclasses import dataclass, replace

from acidtest.model import Column, ErrorKind, History, Index, Level, Schema, Table
from tests.unit.told_histories import After, Step, World

RC, RR, SER = Level.READ_COMMITTED, Level.REPEATABLE_READ, Level.SERIALIZABLE
ROWS = ((1, 10), (2, 20))
T = Table(
    "t",
    (Column("id", "int", False), Column("v", "int", True)),
    (Index("PRIMARY", ("id",), True, primary=True),),
)
POSTGRES = World("postgres", Schema((T,), folds_names="lower"), {"t": ROWS}, version="18.4")
MYSQL = World("mysql", Schema((T,)), {"t": ROWS}, version="9.7.4")
SQLITE = World("sqlite", Schema((T,)), {"t": ROWS}, version="3.40.1")
TIDB = World(
    "tidb", Schema((T,)), {"t": ROWS}, version="5.4.2-TiDB", settings={"tidb_txn_mode": "pessimistic"}
)


@dataclass(frozen=True, slots=True)
class Told:
    """A history that is judged otherwise if a field of its claims has another value."""

    field: str
    value: str
    history: History


def _moved() -> History:
    parts = replace(POSTGRES, schema=Schema((replace(T, children=("t1", "t2")),), folds_names="lower"))
    conflict = ErrorKind.SERIALIZATION_FAILURE
    return parts.history(RC, (("tx1", "UPDATE t SET v = 0 WHERE id = 1", conflict),), {})


def _late() -> History:
    begin = "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE"
    steps: tuple[Step, ...] = (
        ("tx1", "BEGIN", None),
        ("tx1", "UPDATE t SET v = 11 WHERE id = 1", 1),
        ("tx2", begin, None),
        ("tx2", "SELECT * FROM t WHERE id = 1", After(4, [(1, 11)])),
        ("tx1", "COMMIT", None),
        ("tx2", "COMMIT", None),
    )
    return POSTGRES.history(SER, steps, {"t": ((1, 11), (2, 20))})


def _locked_table() -> History:
    steps: tuple[Step, ...] = (
        ("tx1", "BEGIN", None),
        ("tx1", "LOCK TABLE t", None),
        ("tx2", "SELECT * FROM t WHERE id = 1", [(1, 10)]),
        ("tx1", "COMMIT", None),
    )
    return POSTGRES.history(RC, steps, {})


def _upsert() -> History:
    steps: tuple[Step, ...] = (
        ("tx1", "BEGIN", None),
        ("tx1", "SELECT * FROM t WHERE id = 2", [(2, 20)]),
        ("tx2", "INSERT INTO t VALUES (3, 30)", 1),
        ("tx1", "INSERT INTO t VALUES (3, 31) ON CONFLICT (id) DO NOTHING", 0),
        ("tx1", "COMMIT", None),
    )
    return POSTGRES.history(RR, steps, {"t": (*ROWS, (3, 30))})


def _begun_again() -> History:
    steps: tuple[Step, ...] = (
        ("tx1", "BEGIN", None),
        ("tx1", "UPDATE t SET v = 11 WHERE id = 1", 1),
        ("tx1", "BEGIN", None),
        ("tx1", "ROLLBACK", None),
    )
    return MYSQL.history(RR, steps, {"t": ((1, 11), (2, 20))})


def _same_savepoint() -> History:
    steps: tuple[Step, ...] = (
        ("tx1", "BEGIN", None),
        ("tx1", "SAVEPOINT a", None),
        ("tx1", "UPDATE t SET v = 11 WHERE id = 1", 1),
        ("tx1", "SAVEPOINT a", None),
        ("tx1", "RELEASE SAVEPOINT a", None),
        ("tx1", "ROLLBACK TO SAVEPOINT a", None),
        ("tx1", "COMMIT", None),
    )
    return POSTGRES.history(RC, steps, {})


def _lost_snapshot() -> History:
    steps: tuple[Step, ...] = (
        ("tx1", "BEGIN", None),
        ("tx1", "SAVEPOINT a", None),
        ("tx1", "SELECT * FROM t WHERE id = 1", [(1, 10)]),
        ("tx1", "ROLLBACK TO SAVEPOINT a", None),
        ("tx2", "UPDATE t SET v = 11 WHERE id = 1", 1),
        ("tx1", "SELECT * FROM t WHERE id = 1", [(1, 11)]),
        ("tx1", "COMMIT", None),
    )
    return MYSQL.history(RR, steps, {"t": ((1, 11), (2, 20))})


def _skipped() -> History:
    steps: tuple[Step, ...] = (
        ("tx1", "BEGIN", None),
        ("tx1", "UPDATE t SET v = 11 WHERE id = 1", 1),
        ("tx2", "BEGIN", None),
        ("tx2", "SELECT * FROM t FOR UPDATE SKIP LOCKED", []),
        ("tx2", "COMMIT", None),
        ("tx1", "COMMIT", None),
    )
    return POSTGRES.history(RC, steps, {"t": ((1, 11), (2, 20))})


def _alone() -> History:
    steps: tuple[Step, ...] = (
        ("tx1", "BEGIN", None),
        ("tx1", "UPDATE t SET v = 11 WHERE id = 1", 1),
        ("tx2", "SELECT * FROM t WHERE id = 1 FOR UPDATE", [(1, 10)]),
        ("tx1", "COMMIT", None),
    )
    return TIDB.history(RR, steps, {"t": ((1, 11), (2, 20))})


def _key_share() -> History:
    steps: tuple[Step, ...] = (
        ("tx1", "BEGIN", None),
        ("tx1", "UPDATE t SET v = 11 WHERE id = 1", 1),
        ("tx2", "BEGIN", None),
        ("tx2", "SELECT * FROM t WHERE id = 1 FOR KEY SHARE", [(1, 10)]),
        ("tx2", "COMMIT", None),
        ("tx1", "COMMIT", None),
    )
    return POSTGRES.history(RC, steps, {"t": ((1, 11), (2, 20))})


def _index_only() -> History:
    wide = replace(
        T,
        columns=(*T.columns, Column("w", "int", True)),
        indexes=(*T.indexes, Index("by_v", ("v",), False)),
    )
    world = replace(MYSQL, schema=Schema((wide,)), rows={"t": ((1, 10, 0), (2, 20, 0))})
    steps: tuple[Step, ...] = (
        ("tx1", "BEGIN", None),
        ("tx1", "SELECT v FROM t WHERE v = 10 LOCK IN SHARE MODE", [(10,)]),
        ("tx2", "BEGIN", None),
        ("tx2", "UPDATE t SET w = 1 WHERE id = 1", 1),
        ("tx2", "COMMIT", None),
        ("tx1", "COMMIT", None),
    )
    return world.history(RR, steps, {"t": ((1, 10, 1), (2, 20, 0))})


def _conflict_without_reason() -> History:
    steps: tuple[Step, ...] = (
        ("tx1", "BEGIN", None),
        ("tx2", "BEGIN", None),
        ("tx1", "UPDATE t SET v = 11 WHERE id = 1", ErrorKind.SERIALIZATION_FAILURE),
        ("tx1", "ROLLBACK", None),
        ("tx2", "COMMIT", None),
    )
    return POSTGRES.history(SER, steps, {})


def _repeated_row() -> History:
    steps: tuple[Step, ...] = (
        ("tx1", "BEGIN", None),
        ("tx1", "UPDATE t SET v = 11 WHERE id = 1", 1),
        ("tx2", "BEGIN", None),
        ("tx2", "SELECT * FROM t FOR UPDATE", After(4, [(1, 10), (1, 10), (2, 20)])),
        ("tx1", "ROLLBACK", None),
        ("tx2", "COMMIT", None),
    )
    history = MYSQL.history(RC, steps, {})
    waited = replace(history.records[3], resumed_by=4)
    return replace(history, records=(*history.records[:3], waited, *history.records[4:]))


def _two_writers() -> History:
    steps: tuple[Step, ...] = (
        ("tx1", "BEGIN", None),
        ("tx1", "UPDATE t SET v = 11 WHERE id = 1", 1),
        ("tx2", "BEGIN", None),
        ("tx2", "UPDATE t SET v = 21 WHERE id = 2", 1),
        ("tx2", "ROLLBACK", None),
        ("tx1", "COMMIT", None),
    )
    return SQLITE.history(SER, steps, {"t": ((1, 11), (2, 20))})


def _unchanged() -> History:
    """A write that leaves the row as it is conflicts with a later one of an older snapshot."""
    steps: tuple[Step, ...] = (
        ("tx1", "BEGIN", None),
        ("tx1", "SELECT * FROM t WHERE id = 2", [(2, 20)]),
        ("tx2", "UPDATE t SET v = 10 WHERE id = 1", 1),
        ("tx1", "UPDATE t SET v = 11 WHERE id = 1", 1),
        ("tx1", "COMMIT", None),
    )
    return POSTGRES.history(RR, steps, {"t": ((1, 11), (2, 20))})


def _gone_from_index() -> History:
    """A row of the snapshot is deleted, and an UPDATE over an index reports no row instead of a conflict."""
    indexed = replace(T, indexes=(*T.indexes, Index("by_v", ("v",), False)))
    world = World(
        "mariadb",
        Schema((indexed,)),
        {"t": ROWS},
        version="11.8.6-MariaDB",
        settings={"innodb_snapshot_isolation": "ON"},
    )
    steps: tuple[Step, ...] = (
        ("tx1", "BEGIN", None),
        ("tx1", "SELECT * FROM t WHERE v = 10", [(1, 10)]),
        ("tx2", "DELETE FROM t WHERE id = 1", 1),
        ("tx1", "UPDATE t SET v = 11 WHERE v = 10", 0),
        ("tx1", "COMMIT", None),
    )
    return world.history(RR, steps, {"t": ((2, 20),)})


def _serial_but_not_in_time() -> History:
    """tx1, tx2, tx3 is a serial order that fits, though tx3 had ended when tx1 began."""
    steps: tuple[Step, ...] = (
        ("tx2", "BEGIN", None),
        ("tx2", "SELECT * FROM t WHERE id = 2", [(2, 20)]),
        ("tx3", "UPDATE t SET v = 21 WHERE id = 2", 1),
        ("tx1", "BEGIN", None),
        ("tx1", "SELECT * FROM t WHERE id = 1", [(1, 10)]),
        ("tx2", "UPDATE t SET v = 11 WHERE id = 1", 1),
        ("tx2", "COMMIT", None),
        ("tx1", "COMMIT", None),
    )
    return POSTGRES.history(SER, steps, {"t": ((1, 11), (2, 21))})


TOLD = (
    Told("misses_gone_over_index", "True", _gone_from_index()),
    Told("in_real_time", "True", _serial_but_not_in_time()),
    Told("writes_unchanged", "False", _unchanged()),
    Told("moved_errors", "none", _moved()),
    Told("late_snapshot", "False", _late()),
    Told("table_locks", "False", _locked_table()),
    Told("upserts_in_snapshot", "False", _upsert()),
    Told("begin_commits", "False", _begun_again()),
    Told("savepoints_stack", "False", _same_savepoint()),
    Told("savepoint_loses_snapshot", "True", _lost_snapshot()),
    Told("exact_locks", "False", _skipped()),
    Told("alone_locks", "True", _alone()),
    Told("key_locks", "False", _key_share()),
    Told("index_only_locks", "False", _index_only()),
    Told("serializable", "False", _conflict_without_reason()),
    Told("one_writer", "False", _two_writers()),
    Told("repeats_row_after_wait", "True", _repeated_row()),
)
