"""What a statement reads, writes and locks, as oracles are told."""

import pytest

from acidtest.sql.shape import LockClause, Locking, Patience, Shape, Verb, shape_of


def shape(sql: str, dialect: str = "mysql") -> Shape:
    found = shape_of(sql, dialect)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("sql", "verb", "target"),
    [
        ("SELECT * FROM t", Verb.READ, "t"),
        ("INSERT INTO t VALUES (1)", Verb.INSERT, "t"),
        ("INSERT INTO t (a) VALUES (1)", Verb.INSERT, "t"),
        ("REPLACE INTO t VALUES (1)", Verb.INSERT, "t"),
        ("UPDATE t SET a = 1", Verb.UPDATE, "t"),
        ("DELETE FROM t", Verb.DELETE, "t"),
        ("SELECT 1", Verb.READ, None),
        ("SELECT * FROM t JOIN u ON t.a = u.a", Verb.READ, None),
    ],
)
def test_verb_and_table_that_is_worked_on(sql: str, verb: Verb, target: str | None) -> None:
    assert (shape(sql).verb, shape(sql).target) == (verb, target)


@pytest.mark.parametrize("sql", ["BEGIN", "COMMIT", "CREATE TABLE t (a INT)", "SAVEPOINT a", "SELEC 1"])
def test_what_works_on_no_rows_has_no_shape(sql: str) -> None:
    assert shape_of(sql, "mysql") is None


def test_only_replace_replaces() -> None:
    assert shape("replace into t values (1)").replaces
    assert not shape("INSERT INTO t VALUES (1)").replaces
    assert not shape("INSERT INTO t VALUES ('REPLACE')").replaces


@pytest.mark.parametrize(
    ("sql", "reads"),
    [
        ("SELECT * FROM t, u", ("t", "u")),
        ("SELECT * FROM t AS one JOIN t AS two ON one.a = two.a", ("t",)),
        ("SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u)", ("t", "u")),
        ("INSERT INTO t SELECT * FROM u", ("t", "u")),
        ("UPDATE t SET a = (SELECT MAX(a) FROM u)", ("t", "u")),
        ("WITH q AS (SELECT * FROM u) SELECT * FROM q", ("u",)),
        ("WITH t AS (SELECT * FROM t) SELECT * FROM t", ("t",)),
        ("WITH q AS (SELECT 1), r AS (SELECT * FROM q) SELECT * FROM r, u", ("u",)),
        ("SELECT * FROM (WITH q AS (SELECT * FROM u) SELECT * FROM q) AS x, q", ("u", "q")),
        ("SELECT * FROM t AS x, u FOR UPDATE OF x", ("t", "u")),
        ("DELETE x FROM t AS x JOIN u ON x.a = u.a", ("t", "u")),
        ("DELETE FROM x USING t AS x JOIN u ON x.a = u.a", ("t", "u")),
        ("SELECT * FROM other.t", ("other.t",)),
    ],
)
def test_all_tables_are_named_once_and_no_common_table_expression(sql: str, reads: tuple[str, ...]) -> None:
    assert sorted(shape(sql).reads) == sorted(reads)


@pytest.mark.parametrize(
    ("sql", "dialect", "locking", "patience"),
    [
        ("SELECT * FROM t", "mysql", Locking.NONE, Patience.WAIT),
        ("SELECT * FROM t FOR UPDATE", "mysql", Locking.UPDATE, Patience.WAIT),
        ("SELECT * FROM t LOCK IN SHARE MODE", "mysql", Locking.SHARE, Patience.WAIT),
        ("SELECT * FROM t FOR SHARE", "mysql", Locking.SHARE, Patience.WAIT),
        ("SELECT * FROM t FOR UPDATE NOWAIT", "mysql", Locking.UPDATE, Patience.NOWAIT),
        ("SELECT * FROM t FOR UPDATE SKIP LOCKED", "mysql", Locking.UPDATE, Patience.SKIP),
        ("SELECT * FROM t FOR SHARE SKIP LOCKED", "postgres", Locking.SHARE, Patience.SKIP),
        ("SELECT * FROM t FOR NO KEY UPDATE", "postgres", Locking.NO_KEY_UPDATE, Patience.WAIT),
        ("SELECT * FROM t FOR KEY SHARE NOWAIT", "postgres", Locking.KEY_SHARE, Patience.NOWAIT),
        ("SELECT * FROM t FOR UPDATE WAIT 5", "mysql", Locking.UPDATE, Patience.WAIT),
        ("SELECT * FROM t, u FOR SHARE OF t FOR UPDATE OF u", "postgres", Locking.UPDATE, Patience.WAIT),
        (
            "SELECT * FROM t, u FOR SHARE OF t NOWAIT FOR UPDATE OF u",
            "postgres",
            Locking.UPDATE,
            Patience.MIXED,
        ),
    ],
)
def test_locks_and_patience(sql: str, dialect: str, locking: Locking, patience: Patience) -> None:
    one = shape(sql, dialect)
    assert (one.locking, one.patience) == (locking, patience)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a + 1 FROM t WHERE a > 1 ORDER BY a",
        "SELECT x.a FROM t AS x WHERE x.a IN (1, 2)",
        "UPDATE t SET a = a + 1 WHERE b = 2",
        "DELETE FROM t WHERE a IS NULL",
        "INSERT INTO t VALUES (1), (2)",
    ],
)
def test_statements_that_look_at_each_row_alone_are_plain(sql: str) -> None:
    assert shape(sql).plain


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM t",
        "SELECT DISTINCT a FROM t",
        "SELECT a FROM t GROUP BY a",
        "SELECT a FROM t LIMIT 1",
        "SELECT ROW_NUMBER() OVER (ORDER BY a) FROM t",
        "SELECT * FROM t, u",
        "SELECT * FROM (SELECT * FROM t) AS q",
        "SELECT * FROM t WHERE a = (SELECT MAX(a) FROM t)",
        "SELECT a FROM t UNION SELECT a FROM t",
        "WITH q AS (SELECT 1) SELECT * FROM t",
        "UPDATE t SET a = 1 LIMIT 1",
        "UPDATE t JOIN u ON t.a = u.a SET t.a = 1",
        "UPDATE t SET a = (SELECT 1)",
        "DELETE FROM t ORDER BY a LIMIT 1",
        "DELETE t FROM t JOIN u ON t.a = u.a",
        "INSERT INTO t SELECT * FROM u",
    ],
)
def test_statements_that_look_at_rows_together_are_not_plain(sql: str) -> None:
    assert not shape(sql).plain


def test_updates_from_another_table_are_not_plain() -> None:
    assert not shape("UPDATE t SET a = 1 FROM u WHERE t.a = u.a", "postgres").plain
    assert not shape("DELETE FROM t USING u WHERE t.a = u.a", "postgres").plain


def test_alias_and_condition_are_kept() -> None:
    one = shape("DELETE FROM t AS x WHERE x.a = 1", "postgres")
    assert one.alias == "x"
    assert one.where is not None
    assert one.where.sql() == "x.a = 1"
    assert shape("SELECT * FROM t").where is None


def test_each_locking_clause_is_told_with_its_tables() -> None:
    one = shape("SELECT * FROM t AS x, u FOR SHARE OF x NOWAIT FOR NO KEY UPDATE OF u", "postgres")
    assert one.locks == (
        LockClause(Locking.SHARE, ("x",), Patience.NOWAIT),
        LockClause(Locking.NO_KEY_UPDATE, ("u",)),
    )


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT (SELECT a FROM t FOR UPDATE)",
        "WITH q AS (SELECT * FROM t FOR UPDATE) SELECT * FROM q",
        "SELECT * FROM (SELECT * FROM t FOR SHARE) AS q",
        "UPDATE t SET a = (SELECT a FROM u FOR UPDATE)",
    ],
)
def test_locks_inside_of_a_statement_are_seen(sql: str) -> None:
    assert shape(sql, "postgres").locks_inside
    assert shape(sql, "postgres").locking is Locking.NONE


def test_a_lock_of_the_whole_query_is_not_inside() -> None:
    assert not shape("SELECT * FROM t FOR UPDATE").locks_inside


@pytest.mark.parametrize(
    ("sql", "verb", "writes"),
    [
        ("WITH x AS (UPDATE t SET a = 1 RETURNING *) SELECT * FROM x", Verb.UPDATE, ("t",)),
        ("WITH x AS (DELETE FROM t RETURNING *) INSERT INTO u SELECT * FROM x", Verb.INSERT, ("u", "t")),
        ("WITH x AS (INSERT INTO t (a) VALUES (1) RETURNING a) SELECT 1", Verb.INSERT, ("t",)),
    ],
)
def test_a_write_inside_makes_a_statement_a_write(sql: str, verb: Verb, writes: tuple[str, ...]) -> None:
    one = shape(sql, "postgres")
    assert (one.verb, one.target, one.writes, one.writes_inside) == (verb, writes[0], writes, True)
    assert not one.plain


@pytest.mark.parametrize(
    ("sql", "target", "alias", "writes"),
    [
        ("UPDATE t AS a JOIN u AS b ON a.x = b.x SET a.y = 1", "t", "a", ("t",)),
        ("UPDATE t AS a JOIN u AS b ON a.x = b.x SET b.y = 1", "u", "b", ("u",)),
        ("UPDATE t, u SET u.y = 1, t.y = 2 WHERE t.x = u.x", "u", None, ("u", "t")),
        ("DELETE b FROM t AS a JOIN u AS b ON a.x = b.x", "u", "b", ("u",)),
        ("DELETE a, b FROM t AS a JOIN u AS b ON a.x = b.x", "t", "a", ("t", "u")),
        ("DELETE FROM b USING t AS a JOIN u AS b ON a.x = b.x", "u", "b", ("u",)),
        ("UPDATE LOW_PRIORITY t SET y = 1", "t", None, ("t",)),
    ],
)
def test_what_is_written_in_a_join(sql: str, target: str, alias: str | None, writes: tuple[str, ...]) -> None:
    one = shape(sql)
    assert (one.target, one.alias, one.writes) == (target, alias, writes)


def test_a_join_that_does_not_say_what_it_writes_has_no_shape() -> None:
    assert shape_of("UPDATE t JOIN u ON t.x = u.x SET y = 1", "mysql") is None


def test_the_tables_after_using_are_others_in_postgres() -> None:
    one = shape("DELETE FROM t USING t AS b WHERE t.a = b.a", "postgres")
    assert (one.target, one.alias) == ("t", None)


def test_merge_writes_its_target() -> None:
    one = shape("MERGE INTO t AS x USING u ON x.a = u.a WHEN MATCHED THEN DELETE", "postgres")
    assert (one.verb, one.target, one.alias, one.reads) == (Verb.MERGE, "t", "x", ("t", "u"))


def test_unquoted_names_are_lower_case_in_postgres_only() -> None:
    assert shape('UPDATE T AS X SET a = 1 FROM "U"', "postgres").reads == ("t", "U")
    assert shape("UPDATE T AS X SET a = 1", "postgres").alias == "x"
    assert shape("UPDATE T SET a = 1").target == "T"


def test_only_lateral_returning_and_calls_are_told() -> None:
    assert shape("SELECT * FROM ONLY t", "postgres").only
    assert not shape("SELECT * FROM ONLY t", "postgres").plain
    assert shape("UPDATE ONLY t SET a = 1", "postgres").only
    assert shape("SELECT * FROM t, LATERAL (SELECT 1) AS x", "postgres").lateral
    assert shape("DELETE FROM t RETURNING a", "postgres").returns
    assert shape("SELECT F(a) FROM t", "postgres").calls == ("f",)
    one = shape("SELECT * FROM t")
    assert (one.only, one.lateral, one.returns, one.calls) == (False, False, False, ())


def test_the_default_of_a_column_can_be_read() -> None:
    one = shape("UPDATE t SET a = DEFAULT(b), c = 'DEFAULT(b)' WHERE d = 1")
    assert one.target == "t"
    assert one.calls == ()
    assert "'DEFAULT(b)'" in one.tree.sql()
