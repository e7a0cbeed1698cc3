"""What statements do, told from their words."""

import pytest

from acidtest.sql.kinds import (
    StatementKind as K,
)
from acidtest.sql.kinds import (
    is_ddl,
    is_script,
    kind_of,
    may_change_schema,
    may_leave_session_traces,
)

KINDS = {
    K.BEGIN: """
        BEGIN
        begin work
        BEGIN IMMEDIATE
        BEGIN EXCLUSIVE TRANSACTION
        BEGIN DEFERRED
        BEGIN OPTIMISTIC
        BEGIN PESSIMISTIC
        BEGIN ISOLATION LEVEL SERIALIZABLE
        START TRANSACTION
        START TRANSACTION WITH CONSISTENT SNAPSHOT
        START/**/TRANSACTION READ ONLY
        /*T! pessimistic */ BEGIN
        /*!50000 BEGIN */
        XA START 'x'
        XA BEGIN 'x'
    """,
    K.COMMIT: "COMMIT|COMMIT WORK|COMMIT AND CHAIN|END|END TRANSACTION|XA COMMIT 'x' ONE PHASE",
    K.ROLLBACK: "ROLLBACK|ROLLBACK WORK|ROLLBACK AND NO CHAIN|ABORT|XA ROLLBACK 'x'|ROLLBACK /* TO x */",
    K.SAVEPOINT: """
        SAVEPOINT a
        RELEASE SAVEPOINT a
        RELEASE a
        ROLLBACK TO a
        ROLLBACK TO SAVEPOINT a
        ROLLBACK WORK TO SAVEPOINT a
        rollback transaction to a
    """,
    K.QUERY: """
        SELECT 1
        (SELECT 1) UNION (SELECT 2)
        /*+ NO_INDEX(t) */ SELECT * FROM t
        SELECT /*+ SET_VAR(x=1) */ * FROM t
        SELECT * FROM t WHERE a = 1 FOR UPDATE
        SELECT * FROM t WHERE (a = 1) FOR NO KEY UPDATE
        SELECT * FROM t LOCK IN SHARE MODE
        SELECT 'INTO @x'
        SELECT 'it\\'s INTO @x'
        SELECT "GET_LOCK('a', 1)"
        SELECT `into` FROM t -- INTO @x
        SELECT (REPLACE('a', 'b', 'c'))
        SELECT (INSERT('a', 1, 1, 'b'))
        SELECT LAST_INSERT_ID()
        SELECT pg_advisory_xact_lock(1)
        VALUES (1)
        TABLE t
        FROM t
        SHOW WARNINGS
        EXPLAIN UPDATE t SET a = 1
        EXPLAIN ANALYZE SELECT * FROM t FOR UPDATE
        DESC t
        WITH x AS (SELECT 1) SELECT * FROM x
        WITH x AS (SELECT * FROM t FOR UPDATE) SELECT * FROM x
        WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT 'DELETE' FROM x
        XA RECOVER
    """,
    K.WRITE: """
        INSERT INTO t VALUES (1)
        UPDATE t SET a = 1
        DELETE FROM t
        REPLACE INTO t VALUES (1)
        MERGE INTO t USING s ON a = b WHEN MATCHED THEN DELETE
        WITH x AS (SELECT 1) UPDATE t SET a = 1
        WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x
        WITH x AS MATERIALIZED ( /* all */ DELETE FROM t RETURNING *) SELECT * FROM x
        WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x
        EXPLAIN ANALYZE UPDATE t SET a = 1
        EXPLAIN (ANALYZE, BUFFERS) DELETE FROM t
        # note\nINSERT INTO t VALUES (1)
        -- note\nINSERT INTO t VALUES (1)
    """,
    K.DDL: """
        CREATE TABLE t (a INT)
        CREATE TEMPORARY TABLE t (a INT)
        ALTER TABLE t ADD b INT
        DROP TABLE t
        TRUNCATE t
        RENAME TABLE a TO b
        SELECT * INTO copy FROM t
        SELECT a INTO TEMP copy FROM t
        WITH x AS (SELECT 1) SELECT * INTO copy FROM x
        SELECT a INTO "copy" FROM t
    """,
    K.SESSION: """
        SET @x = 1
        SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED
        SET search_path TO x
        RESET ALL
        PRAGMA foreign_keys = ON
        LOCK TABLES t WRITE
        UNLOCK TABLES
        PREPARE s FROM 'SELECT 1'
        DEALLOCATE ALL
        DECLARE c CURSOR FOR SELECT 1
        HANDLER t OPEN
        USE d
        SELECT a INTO @x FROM t
        SELECT @x := a FROM t
        SELECT GET_LOCK('a', 1)
        SELECT set_config('a', 'b', false)
        SELECT pg_advisory_lock(1)
        SELECT LAST_INSERT_ID(5)
        SELECT nextval('s')
        XA END 'x'
        XA PREPARE 'x'
    """,
    K.OTHER: """
        CALL p()
        DO SLEEP(0)
        DO $$ BEGIN END $$
        EXECUTE s
        VACUUM
        FLUSH TABLES
        START REPLICA
        BEGIN NOT ATOMIC SELECT 1; END
        PREPARE TRANSACTION 'x'
        COMMIT PREPARED 'x'
        ROLLBACK PREPARED 'x'
        SELECT a INTO OUTFILE 'f' FROM t
        123
    """,
}


def _statements(text: str) -> list[str]:
    if "\n" not in text.strip():
        return text.split("|")
    lines = [line.removeprefix(" " * 8) for line in text.strip("\n").split("\n") if line.strip()]
    joined: list[str] = []
    for line in lines:
        if joined and joined[-1].startswith(("# ", "-- ")) and "\n" not in joined[-1]:
            joined[-1] += "\n" + line
        else:
            joined.append(line)
    return joined


@pytest.mark.parametrize(
    ("sql", "kind"), [(sql, kind) for kind, text in KINDS.items() for sql in _statements(text)]
)
def test_kind(sql: str, kind: K) -> None:
    assert kind_of(sql) is kind
    assert is_ddl(sql) is (kind is K.DDL)


@pytest.mark.parametrize(
    "sql", ["", "   ", "/* only */", "-- only", "'open", " " * 5000 + "1", "/*" * 2000, "(" * 5000]
)
def test_what_is_no_statement_is_other(sql: str) -> None:
    assert kind_of(sql) is K.OTHER
    assert may_leave_session_traces(sql)
    assert may_change_schema(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SET x = 1",
        "LOCK TABLES t WRITE",
        "CALL p()",
        "CREATE TEMP TABLE t (a INT)",
        "CREATE OR REPLACE TEMPORARY TABLE t (a INT)",
        "SELECT a INTO TEMPORARY x FROM t",
        "DROP TEMPORARY TABLE t",
        "UPDATE t SET a = (@x := a)",
        "UPDATE t SET a = 'it\\'s', b = (@x := a)",
        "INSERT INTO t VALUES (GET_LOCK('a', 1))",
        "INSERT INTO t VALUES (nextval('s'))",
        "XA START 'x'",
        "XA COMMIT 'x'",
    ],
)
def test_leaves_traces_in_the_session(sql: str) -> None:
    assert may_leave_session_traces(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "BEGIN",
        "COMMIT",
        "ROLLBACK TO a",
        "SELECT * FROM t FOR UPDATE",
        "UPDATE t SET a = 'GET_LOCK(1)'",
        "INSERT INTO blocks VALUES (':=')",
        "DELETE FROM t /* @x := 1 */",
        "CREATE TABLE t (a INT COMMENT 'TEMPORARY')",
    ],
)
def test_leaves_no_traces_in_the_session(sql: str) -> None:
    assert not may_leave_session_traces(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE t (a INT)",
        "SELECT * INTO copy FROM t",
        "CALL p()",
        "EXECUTE s",
        "SELECT nextval('s')",
        "INSERT INTO t VALUES (setval('s', 1))",
    ],
)
def test_refilling_tables_is_not_enough(sql: str) -> None:
    assert may_change_schema(sql)


@pytest.mark.parametrize(
    "sql", ["INSERT INTO t VALUES ('nextval(1)')", "SELECT 1", "SET x = 1", "COMMIT", "BEGIN"]
)
def test_refilling_tables_is_enough(sql: str) -> None:
    assert not may_change_schema(sql)


@pytest.mark.parametrize(
    ("sql", "several"),
    [
        ("SELECT 1; SELECT 2", True),
        ("SELECT 1;", False),
        ("SELECT ';'", False),
        ("CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW BEGIN SET @a = 1; SET @b = 2; END", False),
        ("SELECT 1; -- done", False),
        ("BEGIN; COMMIT", True),
    ],
)
def test_a_script_may_do_anything(sql: str, several: bool) -> None:
    assert is_script(sql) is several
    if several:
        assert kind_of(sql) is K.OTHER
        assert may_change_schema(sql)
        assert may_leave_session_traces(sql)
