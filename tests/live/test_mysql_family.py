"""What the servers of the MySQL family do that no other DBMS does, on real servers."""

import select
from collections.abc import Iterator
from dataclasses import replace

import pytest

from acidtest import servers
from acidtest.errors import TargetFailedError, UsageError
from acidtest.model import Affected, ErrorKind, Failed, Level, Reply, Rows, TransactionState, Undone
from acidtest.targets.base import Session, Waits
from acidtest.targets.mariadb import MariaDBTarget
from acidtest.targets.mysql import MySQLTarget
from acidtest.targets.mysql_family.catalog import MARKER_TABLE
from acidtest.targets.mysql_family.target import FamilyTarget
from acidtest.targets.resolve import open_target

GUARD_S = 30.0
INNODB = ("mariadb@10.11", "mysql@9.7", "mysql@5.6")
SETUP = (
    "CREATE TABLE t (a INT PRIMARY KEY, b INT, c INT, KEY (b))",
    "INSERT INTO t VALUES (1, 1, 1), (2, 2, 2), (10, 10, 10)",
)


def _on(*specs: str) -> pytest.MarkDecorator:
    parameters = [pytest.param(spec, marks=pytest.mark.live(spec)) for spec in specs]
    return pytest.mark.parametrize("target", parameters, indirect=True)


@pytest.fixture(scope="module")
def _opened() -> Iterator[dict[str, FamilyTarget]]:
    opened: dict[str, FamilyTarget] = {}
    yield opened
    for target in opened.values():
        target.close()


@pytest.fixture
def target(request: pytest.FixtureRequest, _opened: dict[str, FamilyTarget]) -> Iterator[FamilyTarget]:
    spec: str = request.param
    if spec not in _opened:
        target = open_target(spec)
        assert isinstance(target, FamilyTarget)
        _opened[spec] = target
    _opened[spec].rebuild(SETUP)
    yield _opened[spec]
    _opened[spec].close_sessions()


def _reply(session: Session) -> Reply:
    while (reply := session.poll()) is None:
        assert select.select([session], [], [], GUARD_S)[0], "no reply came"
    return reply


def _run(session: Session, *statements: str) -> Reply:
    for sql in statements:
        session.launch(sql)
        reply = _reply(session)
    return reply


def _fail(session: Session, sql: str) -> Failed:
    outcome = _run(session, sql).outcome
    assert isinstance(outcome, Failed), f"{sql}: {outcome}"
    return outcome


def _waits(target: FamilyTarget, *suspects: Session) -> Waits:
    watch = target.watch()
    assert watch is not None
    watch.ask(suspects)
    while (answer := watch.answer()) is None:
        assert select.select([watch], [], [], GUARD_S)[0], "the watch does not answer"
    watch.close()
    return answer


def _blockers(target: FamilyTarget, waiter: Session) -> frozenset[Session]:
    """Asks until the session waits."""
    while waiter not in (answer := _waits(target, waiter)):
        assert waiter.poll() is None, "it did not wait"
    return answer[waiter]


@_on(*INNODB, "seekdb")
def test_warnings_come_with_the_reply_and_stay_for_the_case_to_ask(target: FamilyTarget) -> None:
    session = target.open_session()
    reply = _run(session, "BEGIN", "SELECT CAST('abc' AS SIGNED)")
    assert [warning.code for warning in reply.warnings] == ["1292"]
    assert reply.transaction is TransactionState.OPEN
    asked = _run(session, "SHOW WARNINGS").outcome
    assert isinstance(asked, Rows)
    assert [str(row[1]) for row in asked.rows] == ["1292"]


@_on(*INNODB, "seekdb")
def test_an_error_leaves_its_diagnostics_to_the_case(target: FamilyTarget) -> None:
    session = target.open_session()
    assert _fail(session, "INSERT INTO t VALUES (1, 1, 1)").kind is ErrorKind.DUPLICATE_KEY
    asked = _run(session, "SHOW WARNINGS").outcome
    assert isinstance(asked, Rows)
    assert [str(row[1]) for row in asked.rows] == ["1062"]


@_on(*INNODB, "seekdb")
def test_an_update_tells_matched_and_changed_rows_apart(target: FamilyTarget) -> None:
    session = target.open_session()
    assert _run(session, "UPDATE t SET c = 1").outcome == Affected(count=2, matched=3)


@_on(*INNODB)
def test_a_failing_ddl_statement_has_committed_the_transaction(target: FamilyTarget) -> None:
    session = target.open_session()
    _run(session, "BEGIN", "UPDATE t SET c = 7 WHERE a = 1")
    failure = _fail(session, "CREATE TABLE t (a INT)")
    assert (failure.kind, failure.undone) == (ErrorKind.OBJECT_EXISTS, Undone.STATEMENT)
    assert session.transaction is TransactionState.NONE
    assert (1, 1, 7) in target.state(["t"])["t"]


@_on(*INNODB)
def test_a_lock_time_out_undoes_the_statement_only(target: FamilyTarget) -> None:
    holder, waiter = target.open_session(), target.open_session()
    _run(holder, "BEGIN", "UPDATE t SET c = 5 WHERE a = 1")
    _run(waiter, "SET innodb_lock_wait_timeout = 1", "BEGIN", "UPDATE t SET c = 6 WHERE a = 2")
    failure = _fail(waiter, "UPDATE t SET c = 6 WHERE a = 1")
    assert (failure.kind, failure.undone) == (ErrorKind.LOCK_TIMEOUT, Undone.STATEMENT)
    assert waiter.transaction is TransactionState.OPEN
    _run(waiter, "COMMIT")
    assert (2, 2, 6) in target.state(["t"])["t"]


@_on("mariadb@10.11")
def test_a_record_changed_since_the_snapshot_undoes_the_transaction(target: FamilyTarget) -> None:
    reader, writer = target.open_session(), target.open_session()
    _run(reader, "SET innodb_snapshot_isolation = ON", "BEGIN", "SELECT * FROM t")
    _run(reader, "UPDATE t SET c = 9 WHERE a = 2")
    _run(writer, "UPDATE t SET c = 8 WHERE a = 1")
    failure = _fail(reader, "UPDATE t SET c = 9 WHERE a = 1")
    assert (failure.kind, failure.code) == (ErrorKind.RECORD_CHANGED, "1020")
    assert failure.undone is Undone.TRANSACTION
    assert reader.transaction is TransactionState.NONE
    assert (2, 2, 2) in target.state(["t"])["t"]


GAP = "SELECT * FROM t WHERE a BETWEEN 3 AND 4 FOR UPDATE"
WAITS = {
    "row": ("UPDATE t SET c = 5 WHERE a = 1", "UPDATE t SET c = 6 WHERE a = 1"),
    "shared row": ("SELECT * FROM t WHERE a = 1 LOCK IN SHARE MODE", "DELETE FROM t WHERE a = 1"),
    "row just inserted": ("INSERT INTO t VALUES (5, 5, 5)", "INSERT INTO t VALUES (5, 6, 6)"),
    "gap": (GAP, "INSERT INTO t VALUES (3, 3, 3)"),
    "end of the table": ("SELECT * FROM t WHERE a > 10 FOR UPDATE", "INSERT INTO t VALUES (11, 1, 1)"),
    "gap of an index": ("SELECT * FROM t WHERE b = 5 FOR UPDATE", "INSERT INTO t VALUES (7, 5, 5)"),
}


@_on(*INNODB)
@pytest.mark.parametrize("what", WAITS)
def test_the_watch_names_who_holds_what_is_waited_for(target: FamilyTarget, what: str) -> None:
    hold, ask = WAITS[what]
    holder, waiter = target.open_session(), target.open_session()
    _run(holder, "BEGIN", hold)
    waiter.launch(ask)
    assert _blockers(target, waiter) == {holder}
    _run(holder, "ROLLBACK")
    assert _waits(target, waiter) == {}
    _reply(waiter)


ABOVE_INNODB = {
    "DDL": ("BEGIN; SELECT * FROM t", "ALTER TABLE t ADD COLUMN z INT", "COMMIT"),
    "LOCK TABLES": ("LOCK TABLES t WRITE", "SELECT * FROM t", "UNLOCK TABLES"),
    "GET_LOCK": ("SELECT GET_LOCK('acidtest', 0)", "SELECT GET_LOCK('acidtest', 60)", None),
}


@_on(*INNODB)
@pytest.mark.parametrize("what", ABOVE_INNODB)
def test_waits_above_innodb_are_seen(target: FamilyTarget, what: str) -> None:
    hold, ask, release = ABOVE_INNODB[what]
    holder, waiter = target.open_session(), target.open_session()
    _run(holder, *hold.split("; "))
    waiter.launch(ask)
    blockers = _blockers(target, waiter)
    if target.version_number() >= (8,) and target.dbms == "mysql":
        assert blockers == {holder}
    else:
        assert blockers == frozenset()  # these servers do not tell who holds a metadata lock
    _run(holder, release or "DO RELEASE_LOCK('acidtest')")
    assert _waits(target, waiter) == {}
    assert not isinstance(_reply(waiter).outcome, Failed)
    target.clean(holder, thorough=True)


@_on("mysql@9.7")
def test_who_queues_behind_a_waiting_ddl_statement_waits_for_it(target: FamilyTarget) -> None:
    reader, alterer, late = (target.open_session() for _ in range(3))
    _run(reader, "BEGIN", "SELECT * FROM t")
    alterer.launch("ALTER TABLE t ADD COLUMN z INT")
    assert _blockers(target, alterer) == {reader}
    late.launch("SELECT * FROM t")
    assert _blockers(target, late) == {alterer}
    _run(reader, "COMMIT")
    _reply(alterer)
    _reply(late)


@_on(*INNODB)
def test_poll_does_not_wait_for_the_rest_of_a_result_that_came_in_part(target: FamilyTarget) -> None:
    numbers = ", ".join(f"({number}, {number}, 0)" for number in range(100, 3000))
    target.rebuild([*SETUP, f"INSERT INTO t VALUES {numbers}"])
    holder, reader = target.open_session(), target.open_session()
    _run(holder, "BEGIN", "UPDATE t SET c = 1 WHERE a = 2999")
    reader.launch("SELECT c, REPEAT('x', 100) FROM t LOCK IN SHARE MODE")
    assert select.select([reader], [], [], GUARD_S)[0], "nothing came"  # the rows before the locked one
    assert _blockers(target, reader) == {holder}
    assert reader.poll() is None
    _run(holder, "COMMIT")
    outcome = _reply(reader).outcome
    assert isinstance(outcome, Rows)
    assert len(outcome.rows) == 2903


@_on("mariadb@10.11")
def test_several_results_of_a_procedure_count_as_their_first_rows(target: FamilyTarget) -> None:
    target.rebuild([*SETUP, "CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END"])
    session = target.open_session()
    outcome = _run(session, "CALL p()").outcome
    assert isinstance(outcome, Rows)
    assert outcome.rows == ((1,),)
    target.rebuild(SETUP)
    assert _fail(session, "CALL p()").kind is ErrorKind.NO_SUCH_OBJECT


@_on(*INNODB)
def test_cleaning_ends_what_rollback_does_not(target: FamilyTarget) -> None:
    session = target.open_session()
    _run(session, "XA START 'acidtest'", "UPDATE t SET c = 3 WHERE a = 1")
    target.clean(session, thorough=False)
    assert _run(session, "SELECT 1").transaction is TransactionState.NONE
    target.set_level(session, Level.SERIALIZABLE)
    _run(session, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "SET NAMES latin1")
    target.clean(session, thorough=True)
    name = "@@tx_isolation" if target.dbms == "mariadb" or target.version_number() < (8,) else ""
    answer = _run(session, f"SELECT {name or '@@transaction_isolation'}, @@character_set_client, DATABASE()")
    assert isinstance(answer.outcome, Rows)
    level, charset, database = answer.outcome.rows[0]
    assert (level, charset) == ("REPEATABLE-READ", "utf8mb4")
    assert str(database).startswith("acidtest_")


@_on("mariadb@10.11")
def test_cleaning_stops_a_statement_that_still_waits(target: FamilyTarget) -> None:
    holder, waiter = target.open_session(), target.open_session()
    _run(holder, "BEGIN", "UPDATE t SET c = 5 WHERE a = 1")
    waiter.launch("UPDATE t SET c = 6 WHERE a = 1")
    target.clean(waiter, thorough=False)
    assert _run(waiter, "SELECT 1").outcome == Rows(("1",), ((1,),))


@_on(*INNODB)
@pytest.mark.parametrize("thorough", [False, True])
def test_cleaning_replaces_a_session_that_was_killed_while_idle(target: FamilyTarget, thorough: bool) -> None:
    victim, killer = target.open_session(), target.open_session()
    found = _run(victim, "BEGIN", "SELECT CONNECTION_ID()").outcome
    assert isinstance(found, Rows)
    _run(killer, f"KILL {found.rows[0][0]!s}")
    target.clean(victim, thorough)
    assert _run(victim, "SELECT COUNT(*) FROM t").outcome == Rows(("COUNT(*)",), ((3,),))
    assert victim.transaction is TransactionState.NONE


@_on(*INNODB)
def test_a_user_who_may_not_ask_who_waits_is_told_what_to_grant(target: FamilyTarget) -> None:
    admin = target.open_session()
    _run(admin, "CREATE USER 'low'@'localhost'")
    _run(admin, r"GRANT ALL ON `acidtest\_%`.* TO 'low'@'localhost'")
    endpoint = replace(target.endpoint, user="low", password="")
    with type(target)(endpoint, "low") as low, pytest.raises(UsageError, match="PROCESS"):
        low.watch()
    _run(admin, "DROP USER 'low'@'localhost'")


@_on("mariadb@10.11")
def test_a_database_that_lost_its_mark_is_not_dropped(target: FamilyTarget) -> None:
    second = MariaDBTarget(target.endpoint, "second")
    session = second.open_session()
    found = _run(session, "SELECT DATABASE()").outcome
    assert isinstance(found, Rows)
    (database,) = found.rows[0]
    _run(session, f"DROP TABLE {MARKER_TABLE}")
    second.close()
    observer = target.open_session()
    assert not isinstance(_run(observer, f"USE {database!s}").outcome, Failed)
    _run(observer, f"DROP DATABASE {database!s}")


@_on("mariadb@10.11")
def test_a_server_of_another_make_is_told_by_its_name(target: FamilyTarget) -> None:
    with pytest.raises(UsageError, match="mariadb"):
        MySQLTarget(target.endpoint, "mysql://somewhere/")


@_on("mariadb@10.11")
def test_a_wrong_password_is_one_sentence_that_does_not_repeat_it(target: FamilyTarget) -> None:
    _run(session := target.open_session(), "CREATE USER IF NOT EXISTS 'acid' IDENTIFIED BY 'right'")
    wrong = replace(target.endpoint, user="acid", password="s3cret")
    with pytest.raises(UsageError, match="'acid'") as caught:
        MariaDBTarget(wrong, "mariadb://acid@somewhere/")
    assert "s3cret" not in str(caught.value)
    _run(session, "DROP USER 'acid'")


@pytest.mark.parametrize(
    ("spec", "make"),
    [
        pytest.param("mariadb@10.11", MariaDBTarget, marks=pytest.mark.live("mariadb@10.11")),
        pytest.param("mysql@5.6", MySQLTarget, marks=pytest.mark.live("mysql@5.6")),
    ],
)
def test_a_port_with_a_password_works_like_a_socket(spec: str, make: type[FamilyTarget]) -> None:
    with servers.start(spec) as server:
        assert server.tcp_endpoint is not None
        with make(server.tcp_endpoint, spec) as target:
            target.rebuild(SETUP)
            session = target.open_session()
            numbers = ", ".join(f"({number}, 0, 0)" for number in range(100, 30_000))
            assert _run(session, f"INSERT INTO t VALUES {numbers}").outcome == Affected(29_900)
            assert len(target.state(["t"])["t"]) == 29_903


def test_nobody_listening_is_one_sentence() -> None:
    endpoint = servers.Endpoint("mysql", "/nowhere/mysql.sock", "localhost", 0, "root")
    with pytest.raises(TargetFailedError, match=r"/nowhere/mysql\.sock"):
        MySQLTarget(endpoint, "mysql://nowhere/")


@pytest.mark.live("mariadb@10.11")
def test_a_server_killed_under_a_statement_is_told_and_comes_back() -> None:
    server = servers.start("mariadb@10.11")
    with MariaDBTarget(server.endpoint, "mariadb@10.11", server) as target:
        target.rebuild(SETUP)
        session = target.open_session()
        _run(session, "BEGIN")
        session.launch("SELECT SLEEP(60)")
        server.kill()
        reply = _reply(session)
        assert isinstance(reply.outcome, Failed)
        assert reply.outcome.kind is ErrorKind.CONNECTION_LOST
        assert reply.outcome.undone is Undone.CONNECTION
        assert not session.alive
        assert not target.is_alive()
        with pytest.raises(TargetFailedError):
            target.clean(session, thorough=False)
        assert target.restart()
        assert target.schema().tables == ()
        target.rebuild(SETUP)
        assert len(target.state(["t"])["t"]) == 3
