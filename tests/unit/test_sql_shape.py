"""What a statement reads, writes and locks, as oracles are told."""

import pytest

from acidtest.sql.shape import Locking, Patience, Shape, Verb, shape_of


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
