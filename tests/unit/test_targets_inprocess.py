"""SQLite and DuckDB: whose file it is, statements that run away, files that go bad under us."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from acidtest.errors import TargetFailedError, UsageError
from acidtest.model import Affected, ErrorKind, Failed, Rows, TransactionState, Undone
from acidtest.targets import Session, Target
from acidtest.targets.duckdb import DuckDBTarget, classify
from acidtest.targets.resolve import open_target
from acidtest.targets.sqlite import SQLiteTarget

Make = Callable[..., Target]
RUNAWAY = {
    SQLiteTarget: "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
    DuckDBTarget: "SELECT count(*) FROM range(100000000) a, range(100000) b WHERE a.range > b.range",
}


@pytest.fixture(params=[SQLiteTarget, DuckDBTarget])
def make(request: pytest.FixtureRequest) -> Iterator[Make]:
    """Makes targets of one class, and closes them."""
    if request.param is DuckDBTarget:
        pytest.importorskip("duckdb")
    made: list[Target] = []

    def build(path: Path | None, **options: float) -> Target:
        made.append(request.param(path, "mine", **options))
        return made[-1]

    yield build
    for target in made:
        target.close()


def run(session: Session, sql: str) -> Rows | Affected | Failed:
    session.launch(sql)
    reply = session.poll()
    assert reply is not None
    assert session.poll() is None
    return reply.outcome


def test_a_new_file_is_made_and_removed_with_all_that_lies_beside_it(make: Make, tmp_path: Path) -> None:
    target = make(tmp_path / "new.db")
    target.rebuild(["CREATE TABLE t (id INT)", "INSERT INTO t VALUES (1)"])
    assert (tmp_path / "new.db").exists()
    target.close()
    target.close()
    assert list(tmp_path.iterdir()) == []


def test_a_foreign_file_is_refused_and_left_as_it_is(make: Make, tmp_path: Path) -> None:
    path = tmp_path / "precious.db"
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(UsageError, match=r"precious\.db was not made by acidtest"):
        make(path)
    assert path.read_bytes() == b"not a database" * 100
    assert list(tmp_path.iterdir()) == [path]


def test_a_database_of_somebody_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "precious.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE precious (id INT)")
    connection.close()
    with pytest.raises(UsageError, match="was not made by acidtest"):
        SQLiteTarget(path, "mine")
    assert path.exists()


def test_a_duckdb_database_of_somebody_else_is_refused(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "precious.db"
    duckdb.connect(str(path)).close()
    with pytest.raises(UsageError, match="was not made by acidtest"):
        DuckDBTarget(path, "mine")
    assert path.exists()


def test_a_file_in_use_by_another_acidtest_is_refused(make: Make, tmp_path: Path) -> None:
    first = make(tmp_path / "one.db")
    with pytest.raises(UsageError, match="in use by another acidtest"):
        make(tmp_path / "one.db")
    first.rebuild(["CREATE TABLE t (id INT)"])
    assert [table.name for table in first.schema().tables] == ["t"]


def test_a_file_left_over_from_a_killed_acidtest_is_taken_over_empty(make: Make, tmp_path: Path) -> None:
    path, copy = tmp_path / "one.db", tmp_path / "left-over.db"
    target = make(path)
    target.rebuild(["CREATE TABLE t (id INT)"])
    copy.write_bytes(path.read_bytes())
    wal = path.with_name(f"{path.name}.wal")
    if wal.exists():
        copy.with_name(f"{copy.name}.wal").write_bytes(wal.read_bytes())
    assert make(copy).schema().tables == ()


def test_a_missing_folder_is_one_sentence(make: Make, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no folder"):
        make(tmp_path / "no" / "where.db")


def test_a_statement_that_runs_away_is_stopped_and_the_session_goes_on(make: Make) -> None:
    target = make(None, limit_s=0.05)
    session = target.open_session()
    outcome = run(session, RUNAWAY[type(target)])  # type: ignore[index]
    assert isinstance(outcome, Failed)
    assert outcome.kind is ErrorKind.CANCELLED
    assert run(session, "SELECT 1") == Rows(("1",), ((1,),))


def test_a_closed_session_answers_with_an_error(make: Make) -> None:
    session = make(None).open_session()
    session.close()
    outcome = run(session, "SELECT 1")
    assert isinstance(outcome, Failed)
    assert outcome.kind is ErrorKind.CONNECTION_LOST


def test_restart_gives_an_empty_database(make: Make) -> None:
    target = make(None)
    target.rebuild(["CREATE TABLE t (id INT)"])
    old = target.open_session()
    assert target.restart()
    assert not old.alive
    assert target.is_alive()
    assert target.schema().tables == ()


def test_a_sqlite_file_that_was_deleted_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "gone.db"
    with SQLiteTarget(path, "mine") as target:
        for file in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
            file.unlink(missing_ok=True)
        assert not target.is_alive()
        with pytest.raises(TargetFailedError):
            target.open_session()
        assert target.restart()
        assert target.is_alive()


def test_a_damaged_sqlite_file_is_an_outcome(tmp_path: Path) -> None:
    path = tmp_path / "bad.db"
    with SQLiteTarget(path, "mine") as target:
        target.rebuild(["CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)", "INSERT INTO t VALUES (1, 'x')"])
        session = target.open_session()
        assert isinstance(run(session, "PRAGMA wal_checkpoint(TRUNCATE)"), Rows)
        path.write_bytes(b"garbage!" * 4096)
        outcome = run(session, "SELECT * FROM t WHERE v = 'x'")  # from its cache, or an error: no traceback
        assert isinstance(outcome, Rows) or outcome.kind is ErrorKind.INTERNAL  # type: ignore[union-attr]
        with pytest.raises(TargetFailedError):
            target.open_session()
        assert not target.is_alive()


def test_a_stale_snapshot_of_sqlite_is_a_serialization_failure() -> None:
    with SQLiteTarget(None, "mine") as target:
        target.rebuild(["CREATE TABLE t (id INTEGER PRIMARY KEY)"])
        one, other = target.open_session(), target.open_session()
        run(one, "BEGIN")
        run(one, "SELECT * FROM t")
        run(other, "INSERT INTO t VALUES (1)")
        outcome = run(one, "INSERT INTO t VALUES (2)")
        assert isinstance(outcome, Failed)
        assert (outcome.kind, outcome.code) == (ErrorKind.SERIALIZATION_FAILURE, "517")
        assert outcome.undone is Undone.STATEMENT
        assert one.transaction is TransactionState.OPEN


def test_sqlite_counts_the_changes_of_a_write_that_begins_with_a_cte() -> None:
    with SQLiteTarget(None, "mine") as target:
        target.rebuild(["CREATE TABLE t (id INT)", "INSERT INTO t VALUES (1), (2), (3)"])
        sql = "WITH some(i) AS (VALUES (1), (2)) DELETE FROM t WHERE id IN (SELECT i FROM some)"
        assert run(target.open_session(), sql) == Affected(2)


def test_sqlite_text_that_is_not_unicode_comes_as_bytes() -> None:
    with SQLiteTarget(None, "mine") as target:
        outcome = run(target.open_session(), "SELECT CAST(x'ff' AS TEXT)")
        assert isinstance(outcome, Rows)
        assert outcome.rows == ((b"\xff",),)


def test_sqlite_on_conflict_rollback_undoes_the_transaction() -> None:
    with SQLiteTarget(None, "mine") as target:
        target.rebuild(["CREATE TABLE t (id INT PRIMARY KEY)", "INSERT INTO t VALUES (1)"])
        session = target.open_session()
        run(session, "BEGIN")
        outcome = run(session, "INSERT OR ROLLBACK INTO t VALUES (1)")
        assert isinstance(outcome, Failed)
        assert outcome.undone is Undone.TRANSACTION
        assert session.transaction is TransactionState.NONE


def test_a_duckdb_commit_that_conflicts_loses_the_transaction() -> None:
    pytest.importorskip("duckdb")
    with DuckDBTarget(None, "mine") as target:
        target.rebuild(["CREATE TABLE t (id INT PRIMARY KEY)"])
        one, other = target.open_session(), target.open_session()
        for session in (one, other):
            run(session, "BEGIN")
            assert run(session, "INSERT INTO t VALUES (1)") == Affected(1)
        assert run(one, "COMMIT") == Affected(0)
        outcome = run(other, "COMMIT")
        assert isinstance(outcome, Failed)
        assert (outcome.kind, outcome.undone) == (ErrorKind.DUPLICATE_KEY, Undone.TRANSACTION)
        assert other.transaction is TransactionState.NONE


def test_a_duckdb_transaction_takes_its_snapshot_when_it_first_reads_and_not_at_begin() -> None:
    pytest.importorskip("duckdb")
    with DuckDBTarget(None, "mine") as target:
        target.rebuild(["CREATE TABLE t (id INT)"])
        one, other = target.open_session(), target.open_session()
        run(one, "BEGIN")
        run(one, "SELECT 1")  # what the session itself asks after an error
        run(other, "INSERT INTO t VALUES (1)")
        assert run(one, "SELECT * FROM t") == Rows(("id",), ((1,),))
        run(other, "INSERT INTO t VALUES (2)")
        assert run(one, "SELECT * FROM t") == Rows(("id",), ((1,),))


def test_a_damaged_duckdb_file_is_an_outcome_and_can_be_replaced(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    path = tmp_path / "bad.db"
    with DuckDBTarget(path, "mine") as target:
        target.rebuild(["CREATE TABLE t AS SELECT range AS id FROM range(100000)", "CHECKPOINT"])
        session = target.open_session()
        with path.open("r+b") as file:
            file.truncate(4096)
        for sql in ("CHECKPOINT", "INSERT INTO t SELECT * FROM t", "CHECKPOINT", "SELECT count(*) FROM t"):
            assert run(session, sql) is not None
        assert target.restart()
        assert target.is_alive()
        assert target.schema().tables == ()


@pytest.mark.parametrize(
    ("name", "message", "kind"),
    [
        (
            "TransactionException",
            "TransactionContext Error: Conflict on tuple deletion!",
            ErrorKind.WRITE_CONFLICT,
        ),
        ("TransactionException", "something new", ErrorKind.OTHER),
        ("ConstraintException", "something new", ErrorKind.CONSTRAINT),
        ("CatalogException", "Table with name x does not exist!", ErrorKind.NO_SUCH_OBJECT),
        ("FatalException", "database has been invalidated", ErrorKind.INTERNAL),
        ("NeverSeenException", "anything", ErrorKind.OTHER),
    ],
)
def test_duckdb_errors_by_class_and_message(name: str, message: str, kind: ErrorKind) -> None:
    assert classify(name, message) is kind


def test_a_missing_duckdb_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "duckdb", None)
    with pytest.raises(UsageError, match=r"pip install 'acidtest\[duckdb\]'"):
        DuckDBTarget(None, "mine")


def test_what_a_killed_process_left_in_memory_is_swept(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("acidtest.targets.duckdb")
    for name in ("acidtest-999999999-x", f"acidtest-{os.getpid()}-y", "acidtest-z", "theirs"):
        (tmp_path / name).mkdir()
    duckdb._sweep(tmp_path)
    assert {one.name for one in tmp_path.iterdir()} == {f"acidtest-{os.getpid()}-y", "acidtest-z", "theirs"}


def test_values_for_placeholders_are_refused_in_one_sentence() -> None:
    with open_target("sqlite") as target, pytest.raises(UsageError, match="no values for placeholders"):
        target.open_session().launch("SELECT ?", (1,))
