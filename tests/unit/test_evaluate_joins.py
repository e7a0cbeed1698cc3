"""Writes over joins, of several tables, in an order, with RETURNING, and MERGE."""

import pytest

from acidtest.evaluator import Unknown, dialect_of
from acidtest.evaluator.writes import Change, Effect, compile_write
from acidtest.model import Column, ErrorKind, Index, Row, Schema, Table
from acidtest.sql.shape import shape_of


def _table(name: str, *columns: str, keyed: bool) -> Table:
    key = (Index("PRIMARY", (columns[0],), unique=True, primary=True),) if keyed else ()
    return Table(name, tuple(Column(one, "int", not (keyed and one == columns[0])) for one in columns), key)


SCHEMA = Schema((_table("t", "id", "a", "b", keyed=True), _table("u", "x", "y", keyed=False)))
T: list[Row] = [(1, 10, 100), (2, 20, 200), (3, 30, None)]
U: list[Row] = [(1, 5), (2, 6), (2, 7), (None, 8)]


def effect(sql: str, dbms: str = "mysql", t: list[Row] | None = None, u: list[Row] | None = None) -> Effect:
    shape = shape_of(sql, dbms)
    assert shape is not None
    write = compile_write(shape, SCHEMA, dialect_of(dbms))
    views = {"t": T if t is None else t, "u": U if u is None else u}
    numbered = {name: list(enumerate(rows, 1)) for name, rows in views.items()}
    own = numbered[write.table.name]
    return write.run(own, own, views, seen=numbered)


# -- joins

MYSQL_JOIN = "UPDATE t JOIN u ON t.id = u.x SET t.a = {} WHERE u.y > 0"
FROM = "UPDATE t SET a = {} FROM u WHERE t.id = u.x AND u.y > 0"


@pytest.mark.parametrize(
    ("sql", "dbms"), [(MYSQL_JOIN, "mysql"), (MYSQL_JOIN, "mariadb"), (FROM, "postgres")]
)
def test_rows_with_a_partner_are_updated_once(sql: str, dbms: str) -> None:
    one = effect(sql.format("0"), dbms)
    assert one.changes == (Change(1, (1, 0, 100)), Change(2, (2, 0, 200)))
    assert (one.worked_on, one.counts) == ((1, 2), frozenset({2}))


@pytest.mark.parametrize(("sql", "dbms"), [(MYSQL_JOIN, "mysql"), (FROM, "postgres")])
def test_partners_that_differ_leave_it_open(sql: str, dbms: str) -> None:
    with pytest.raises(Unknown, match="partners that differ"):
        effect(sql.format("u.y"), dbms)
    one = effect(sql.format("u.y"), dbms, u=[(1, 5), (2, 6), (2, 6)])
    assert [change.values for change in one.changes] == [(1, 5, 100), (2, 6, 200)]


def test_an_outer_join_updates_rows_without_a_partner_too() -> None:
    one = effect("UPDATE t LEFT JOIN u ON t.id = u.x SET t.a = 0 WHERE u.x IS NULL")
    assert one.changes == (Change(3, (3, 0, None)),)


def test_the_table_that_is_set_is_the_target() -> None:
    one = effect("UPDATE t JOIN u ON t.id = u.x SET u.y = t.a")
    assert [change.values for change in one.changes] == [(1, 10), (2, 20), (2, 20)]
    assert all(not change.table for change in one.changes)


def test_several_tables_may_be_written() -> None:
    one = effect("UPDATE t, u SET t.a = 1, u.y = 2 WHERE t.id = u.x AND t.id = 1")
    assert one.changes == (Change(1, (1, 1, 100)), Change(1, (1, 2), "u"))
    assert (one.counts, one.touched) == (frozenset({2}), (("u", 1),))


def test_several_tables_that_are_set_what_they_are_joined_by_are_left_open() -> None:
    with pytest.raises(Unknown, match="joined by"):
        effect("UPDATE t, u SET t.id = 77, u.y = 2 WHERE t.id = u.x")


def test_assignments_between_tables_are_left_open() -> None:
    with pytest.raises(Unknown, match="between the tables"):
        effect("UPDATE t, u SET t.a = u.y, u.y = 0 WHERE t.id = u.x")


def test_assignments_that_build_on_each_other_in_a_join_are_left_open() -> None:
    with pytest.raises(Unknown, match="build on each other"):
        effect("UPDATE t JOIN u ON t.id = u.x SET t.a = 1, t.b = t.a")


@pytest.mark.parametrize(
    ("sql", "dbms"),
    [
        ("DELETE t FROM t JOIN u ON t.id = u.x", "mysql"),
        ("DELETE FROM t USING t JOIN u ON t.id = u.x", "mariadb"),
        ("DELETE FROM t USING u WHERE t.id = u.x", "postgres"),
    ],
)
def test_delete_over_a_join(sql: str, dbms: str) -> None:
    assert effect(sql, dbms).changes == (Change(1, None), Change(2, None))


def test_delete_of_several_tables() -> None:
    one = effect("DELETE t, u FROM t JOIN u ON t.id = u.x WHERE t.id = 2")
    assert one.changes == (Change(2, None), Change(2, None, "u"), Change(3, None, "u"))
    assert one.counts == {3}


def test_a_table_may_be_joined_with_itself() -> None:
    one = effect("UPDATE t AS x JOIN t AS y ON x.id = y.id + 1 SET x.a = y.a")
    assert one.changes == (Change(2, (2, 10, 200)), Change(3, (3, 20, None)))


def test_keys_are_checked_in_joins() -> None:
    assert effect(MYSQL_JOIN.replace("t.a", "t.id").format("3")).errors == {ErrorKind.DUPLICATE_KEY}


# -- ORDER BY and LIMIT


def test_the_first_rows_in_order() -> None:
    assert effect("DELETE FROM t ORDER BY a DESC LIMIT 1").changes == (Change(3, None),)
    assert effect("UPDATE t SET a = 0 ORDER BY b LIMIT 2").worked_on == (3, 1)
    assert effect("UPDATE t SET a = 0 WHERE id > 1 ORDER BY id LIMIT 0").worked_on == ()


def test_a_limit_that_takes_all_needs_no_order() -> None:
    assert effect("DELETE FROM t WHERE id < 3 LIMIT 2").worked_on == (1, 2)


@pytest.mark.parametrize("sql", ["DELETE FROM t LIMIT 1", "DELETE FROM t ORDER BY a LIMIT 1"])
def test_which_of_several_rows_a_limit_takes_is_left_open(sql: str) -> None:
    with pytest.raises(Unknown, match="left open"):
        effect(sql, t=[(1, 5, 5), (2, 5, 6)])


# -- RETURNING


def test_returning_shows_new_rows_and_deleted_ones() -> None:
    one = effect("UPDATE t SET a = a + 1 WHERE id = 1 RETURNING a, b + 1", "postgres")
    assert one.returned == ((11, 101),)
    assert effect("DELETE FROM t WHERE id < 3 RETURNING *", "postgres").returned == tuple(T[:2])
    assert effect("INSERT INTO t (id) VALUES (9) RETURNING id, a", "mariadb").returned == ((9, None),)
    assert effect("UPDATE t SET a = 1").returned is None


def test_returning_sees_what_is_joined() -> None:
    one = effect("UPDATE t SET a = 0 FROM u WHERE t.id = u.x AND u.y = 5 RETURNING *", "postgres")
    assert one.returned == ((1, 0, 100, 1, 5),)
    with pytest.raises(Unknown, match="RETURNING"):
        effect("UPDATE t SET a = 0 FROM u WHERE t.id = u.x RETURNING u.y", "postgres")


def test_on_conflict_returns_what_was_stored() -> None:
    sql = "INSERT INTO t VALUES (1, 0, 0), (9, 0, 0) ON CONFLICT (id) DO {} RETURNING id"
    assert effect(sql.format("NOTHING"), "postgres").returned == ((9,),)
    assert effect(sql.format("UPDATE SET a = 1"), "postgres").returned == ((1,), (9,))


# -- upserts with conditions


def test_on_conflict_with_a_condition() -> None:
    sql = "INSERT INTO t VALUES (1, 5, 5) ON CONFLICT (id) DO UPDATE SET a = excluded.a WHERE t.b {} 100"
    assert effect(sql.format("="), "postgres").changes == (Change(1, (1, 5, 100)),)
    left = effect(sql.format(">"), "postgres")
    assert (left.changes, left.counts, left.worked_on) == ((), frozenset({0}), (1,))


def test_a_column_without_its_table_is_ambiguous_in_postgres_only() -> None:
    sql = "INSERT INTO t VALUES (1, 5, 5) ON CONFLICT (id) DO UPDATE SET a = a + 1"
    assert effect(sql, "postgres").errors == {ErrorKind.SYNTAX}
    assert effect(sql, "sqlite").changes == (Change(1, (1, 11, 100)),)


def test_on_conflict_without_an_index_for_it_is_refused() -> None:
    sql = "INSERT INTO t VALUES (1, 5, 5) ON CONFLICT (a) DO NOTHING"
    assert effect(sql, "postgres").errors == {ErrorKind.SYNTAX}


def test_an_upsert_of_mysql_may_meet_a_row_of_its_own() -> None:
    one = effect("INSERT INTO t VALUES (9, 1, 1), (9, 2, 2) ON DUPLICATE KEY UPDATE a = a + VALUES(a)")
    assert (one.changes, one.counts) == ((Change(None, (9, 3, 1)),), frozenset({3}))


def test_tidb_assigns_from_the_old_row_except_in_an_upsert() -> None:
    """Measured on TiDB 5.4.2."""
    assert effect("UPDATE t SET a = 1, b = a WHERE id = 1", "tidb").changes == (Change(1, (1, 1, 10)),)
    sql = "INSERT INTO t VALUES (1, 0, 0) ON DUPLICATE KEY UPDATE a = 1, b = a"
    assert effect(sql, "tidb").changes == (Change(1, (1, 1, 1)),)


# -- MERGE

MERGE = "MERGE INTO t USING u ON t.id = u.x "


def test_merge_takes_the_first_clause_that_fits() -> None:
    sql = MERGE + (
        "WHEN MATCHED AND u.y > 5 THEN DELETE WHEN MATCHED THEN UPDATE SET a = u.y "
        "WHEN NOT MATCHED AND u.y = 8 THEN INSERT VALUES (8, u.y, DEFAULT)"
    )
    one = effect(sql, "postgres", u=[(1, 5), (2, 6), (None, 8), (None, 9)])
    assert one.changes == (Change(1, (1, 5, 100)), Change(2, None), Change(None, (8, 8, None)))
    assert one.counts == {3}


def test_merge_of_rows_that_the_source_does_not_have() -> None:
    one = effect(MERGE + "WHEN NOT MATCHED BY SOURCE THEN DELETE", "postgres")
    assert one.changes == (Change(3, None),)


def test_merge_may_not_meet_a_row_twice() -> None:
    one = effect(MERGE + "WHEN MATCHED THEN UPDATE SET a = 0", "postgres")
    assert one.errors == {ErrorKind.BAD_VALUE}
    assert effect(MERGE + "WHEN MATCHED THEN DO NOTHING", "postgres").changes == ()


# -- errors and reasons


def test_what_postgres_refuses_unseen_is_an_effect() -> None:
    assert effect("UPDATE t SET a = 1 WHERE NOT a", "postgres").errors == {ErrorKind.BAD_VALUE}
    assert effect("UPDATE t SET nothing = 1", "postgres").errors == {ErrorKind.NO_SUCH_OBJECT}


@pytest.mark.parametrize("name", ["ctid", "xmin", "tableoid"])
def test_system_columns_are_unknown(name: str) -> None:
    with pytest.raises(Unknown, match="system column"):
        effect(f"DELETE FROM t WHERE {name} = '0'", "postgres")


def test_names_are_folded_as_the_dbms_does() -> None:
    assert effect("DELETE FROM T WHERE ID = 1", "postgres").worked_on == (1,)
    with pytest.raises(Unknown):
        effect('DELETE FROM "T" WHERE id = 1', "postgres")


@pytest.mark.parametrize(
    "sql",
    [
        "WITH x AS (DELETE FROM t RETURNING id) SELECT * FROM x",
        "WITH x AS (UPDATE t SET a = 1 RETURNING id) DELETE FROM u WHERE x IN (SELECT id FROM x)",
    ],
)
def test_writes_inside_are_unknown(sql: str) -> None:
    with pytest.raises(Unknown, match="inside"):
        effect(sql, "postgres")


def test_common_table_expressions_are_read() -> None:
    sql = "WITH x AS (SELECT x AS k FROM u WHERE y = 5) DELETE FROM t WHERE id IN (SELECT k FROM x)"
    assert effect(sql, "postgres").worked_on == (1,)


OWN_READS = [
    "UPDATE t SET a = (SELECT MAX(id) FROM t)",
    "DELETE FROM t WHERE id IN (SELECT y.id FROM t AS y)",
    "INSERT INTO t VALUES (9, (SELECT MAX(id) FROM t), 0)",
    "UPDATE t AS x JOIN t AS y ON x.id = y.id SET x.a = 7 WHERE EXISTS (SELECT 1 FROM t)",
]


@pytest.mark.parametrize("sql", OWN_READS)
def test_mysql_refuses_subqueries_over_its_target(sql: str) -> None:
    assert effect(sql).errors == {ErrorKind.UNSUPPORTED}
    assert effect(sql, "mariadb").errors == frozenset()


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE t SET a = (SELECT MAX(id) FROM (SELECT * FROM t) AS d)",
        "INSERT INTO t SELECT id + 10, a, b FROM t",
        "INSERT INTO t SELECT id + 10, a, b FROM t WHERE id IN (SELECT y.id FROM t AS y)",
        "UPDATE t AS x JOIN t AS y ON x.id = y.id SET x.a = 7",
        "UPDATE t SET a = (SELECT MAX(x) FROM u)",
    ],
)
def test_mysql_takes_derived_tables_joins_and_sources_over_its_target(sql: str) -> None:
    assert effect(sql).errors == frozenset()


def test_mariadb_refuses_them_in_a_delete_over_a_join() -> None:
    sql = "DELETE x FROM t AS x JOIN u ON x.id = u.x WHERE EXISTS (SELECT 1 FROM t)"
    assert effect(sql, "mariadb").errors == {ErrorKind.UNSUPPORTED}
    assert effect(sql, "tidb").errors == frozenset()
