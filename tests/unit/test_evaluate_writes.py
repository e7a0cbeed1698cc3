"""What writes do to given rows, told without a DBMS: new rows, counts, and errors."""

from decimal import Decimal

import pytest

from acidtest.evaluator import Unknown, dialect_of
from acidtest.evaluator.writes import Change, Effect, Write, compile_write
from acidtest.model import Column, ErrorKind, Index, Row, Schema, Table
from acidtest.sql.shape import shape_of

DUPLICATE = frozenset({ErrorKind.DUPLICATE_KEY})
PRIMARY = Index("PRIMARY", ("id",), unique=True, primary=True)

PAIRS = Table(
    "t",
    (Column("id", "int", nullable=False), Column("a", "int", nullable=True), Column("b", "int", True)),
    (PRIMARY, Index("b", ("b",), unique=True)),
)
ROWS: list[Row] = [(1, 10, 100), (2, 20, None), (3, 30, None)]
OTHER = Table("u", (Column("x", "int", nullable=True),))
COUNTING = Table(
    "n",
    (Column("id", "int", nullable=False, auto_increment=True), Column("v", "int", True)),
    (PRIMARY, Index("v", ("v",), unique=True)),
)
DEFAULTS = Table(
    "d",
    (
        Column("id", "int", nullable=False),
        Column("five", "int", nullable=True, default="5"),
        Column("word", "varchar(10)", nullable=True, default="'x'", collation="utf8mb4_general_ci"),
        Column("must", "int", nullable=False),
    ),
)
SCHEMA = Schema((DEFAULTS, COUNTING, PAIRS, OTHER))
POSTGRES = Schema(
    tuple(
        Table(
            one.name,
            tuple(Column(c.name, "integer", c.nullable, c.default) for c in one.columns),
            one.indexes,
        )
        for one in (PAIRS, OTHER)
    )
)


def compiled(sql: str, dbms: str = "mysql") -> Write:
    shape = shape_of(sql, "postgres" if dbms == "postgres" else "mysql")
    assert shape is not None
    return compile_write(shape, POSTGRES if dbms == "postgres" else SCHEMA, dialect_of(dbms))


def effect(
    sql: str,
    rows: list[Row] | None = None,
    dbms: str = "mysql",
    *,
    other: list[Row] | None = None,
    number: int | None = None,
) -> Effect:
    """The effect on rows that are all there and all visible; identities count from 1."""
    write = compiled(sql, dbms)
    there = ROWS if rows is None else rows
    work = list(enumerate(there, 1))
    return write.run(work, work, {write.table.name: there, "u": other or []}, number)


def after(one: Effect, rows: list[Row] | None = None) -> list[Row]:
    """The table once the changes are made."""
    assert not one.errors
    live = dict(enumerate(ROWS if rows is None else rows, 1))
    new: list[Row] = []
    for change in one.changes:
        if change.values is None:
            del live[change.row or 0]
        elif change.row is None:
            new.append(change.values)
        else:
            live[change.row] = change.values
    return [*live.values(), *new]


def count(one: Effect) -> int:
    (only,) = one.counts
    return only


# -- UPDATE


def test_mysql_assigns_from_left_to_right() -> None:
    one = effect("UPDATE t SET a = a + 1, b = a WHERE id = 1")
    assert one.changes == (Change(1, (1, 11, 11)),)


def test_postgres_assigns_from_the_old_values() -> None:
    one = effect("UPDATE t SET a = a + 1, b = a WHERE id = 1", dbms="postgres")
    assert one.changes == (Change(1, (1, 11, 10)),)


@pytest.mark.parametrize(("dbms", "expected"), [("mysql", 1), ("mariadb", 1), ("postgres", 3)])
def test_a_same_value_update_counts_in_postgres_only(dbms: str, expected: int) -> None:
    one = effect("UPDATE t SET a = 20", dbms=dbms, rows=[(1, 20, None), (2, 20, None), (3, 0, None)])
    assert count(one) == expected
    assert one.worked_on == (1, 2, 3), "rows that stay as they are have been written, too"


@pytest.mark.parametrize("dbms", ["mysql", "mariadb", "postgres"])
def test_rows_whose_condition_is_null_are_left_alone(dbms: str) -> None:
    one = effect("UPDATE t SET a = 0 WHERE b > 50", dbms=dbms)
    assert one.worked_on == (1,)


def test_a_key_that_another_row_has_is_an_error() -> None:
    assert effect("UPDATE t SET id = 2 WHERE id = 1").errors == DUPLICATE
    assert effect("UPDATE t SET b = 100 WHERE id = 2").errors == DUPLICATE


def test_a_key_may_stay_as_it_is() -> None:
    one = effect("UPDATE t SET id = 1 WHERE id = 1")
    assert (one.errors, one.may_fail, count(one)) == (frozenset(), frozenset(), 0)


def test_null_keys_do_not_collide() -> None:
    assert after(effect("UPDATE t SET b = NULL"))[0] == (1, 10, None)


@pytest.mark.parametrize("dbms", ["mysql", "postgres"])
def test_a_swap_of_keys_fails_or_not_depending_on_the_order_of_rows(dbms: str) -> None:
    one = effect("UPDATE t SET id = 3 - id WHERE id < 3", dbms=dbms)
    assert (one.errors, one.may_fail) == (frozenset(), DUPLICATE)
    assert after(one) == [(2, 10, 100), (1, 20, None), (3, 30, None)]


def test_a_shift_of_keys_may_fail_as_well() -> None:
    assert effect("UPDATE t SET id = id + 1").may_fail == DUPLICATE
    assert effect("UPDATE t SET id = id + 10").may_fail == frozenset()


def test_two_rows_with_one_new_key_are_an_error_in_any_order() -> None:
    one = effect("UPDATE t SET b = 7")
    assert (one.errors, one.may_fail) == (DUPLICATE, frozenset())


def test_a_row_that_is_not_worked_on_still_keeps_its_key() -> None:
    write = compiled("UPDATE t SET id = 3")
    one = write.run([(1, ROWS[0])], list(enumerate(ROWS, 1)), {"t": ROWS})
    assert one.errors == DUPLICATE


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("UPDATE t SET a = a * 300000000", ErrorKind.OUT_OF_RANGE),
        ("UPDATE t SET id = NULL", ErrorKind.NOT_NULL),
        ("UPDATE t SET a = 1 / (a - a)", ErrorKind.DIVISION_BY_ZERO),
    ],
)
@pytest.mark.parametrize("dbms", ["mysql", "postgres"])
def test_a_value_that_does_not_fit_is_an_error(sql: str, kind: ErrorKind, dbms: str) -> None:
    assert effect(sql, dbms=dbms).errors == {kind}
    assert effect(sql + " WHERE id = 9", dbms=dbms).errors == frozenset()


def test_a_subquery_reads_the_views() -> None:
    one = effect("UPDATE t SET a = (SELECT MAX(x) FROM u) WHERE id = 1", other=[(7,), (8,)])
    assert after(one)[0] == (1, 8, 100)


def test_postgres_refuses_a_constant_that_fails_even_if_no_row_matches() -> None:
    one = effect("UPDATE t SET a = 1 / 0 WHERE id = 9", dbms="postgres")
    assert one.errors == {ErrorKind.DIVISION_BY_ZERO}


# -- DELETE


@pytest.mark.parametrize("dbms", ["mysql", "postgres"])
def test_delete_leaves_tombstones_for_just_the_rows_that_match(dbms: str) -> None:
    one = effect("DELETE FROM t WHERE a >= 20", dbms=dbms)
    assert one.changes == (Change(2, None), Change(3, None))
    assert (one.worked_on, count(one)) == ((2, 3), 2)


def test_delete_by_a_subquery() -> None:
    assert effect("DELETE FROM t WHERE a IN (SELECT x FROM u)", other=[(20,)]).worked_on == (2,)


def test_a_division_by_zero_in_the_condition_fails_the_delete_of_mysql_only() -> None:
    sql = "DELETE FROM t WHERE a / 0 = 1"
    assert effect(sql).errors == {ErrorKind.DIVISION_BY_ZERO}
    assert effect(sql, dbms="mariadb").errors == frozenset()


# -- INSERT


@pytest.mark.parametrize("dbms", ["mysql", "postgres"])
def test_columns_that_are_not_named_are_null(dbms: str) -> None:
    one = effect("INSERT INTO t (b, id) VALUES (5, 9)", dbms=dbms)
    assert one.changes == (Change(None, (9, None, 5)),)
    assert count(one) == 1


@pytest.mark.parametrize(
    ("sql", "row"),
    [
        ("INSERT INTO d (id, must) VALUES (1, 2)", (1, 5, "x", 2)),
        ("INSERT INTO d VALUES (1, DEFAULT, DEFAULT, 2)", (1, 5, "x", 2)),
        ("INSERT INTO d VALUES (1, NULL, 'y', 2)", (1, None, "y", 2)),
    ],
)
def test_defaults(sql: str, row: Row) -> None:
    assert effect(sql, rows=[], dbms="mariadb").changes == (Change(None, row),)


def test_not_null_without_default_or_with_null_is_an_error() -> None:
    assert effect("INSERT INTO d (id) VALUES (1)", rows=[]).errors == {ErrorKind.NOT_NULL}
    assert effect("INSERT INTO d (id, must) VALUES (1, NULL)", rows=[]).errors == {ErrorKind.NOT_NULL}


def test_values_are_stored_as_the_column_wants_them() -> None:
    stored = effect("INSERT INTO d VALUES (1, '7', 8, 2.6)", rows=[]).changes[0].values
    assert stored is not None
    assert stored == (1, 7, "8", 3)
    assert not any(isinstance(one, Decimal) for one in stored)


@pytest.mark.parametrize("dbms", ["mysql", "postgres"])
@pytest.mark.parametrize("values", ["(1, 0, 0)", "(9, 0, 100)", "(9, 0, 0), (9, 0, 1)"])
def test_a_duplicate_key_fails_the_whole_insert(values: str, dbms: str) -> None:
    one = effect(f"INSERT INTO t VALUES (8, 0, 8), {values}", dbms=dbms)
    assert (one.errors, one.changes) == (DUPLICATE, ())


def test_too_few_values_are_refused_unseen() -> None:
    assert effect("INSERT INTO t VALUES (1, 2)").errors == {ErrorKind.SYNTAX}


def test_insert_ignore_passes_duplicates_by() -> None:
    one = effect("INSERT IGNORE INTO t VALUES (1, 0, 0), (9, 0, 9), (9, 1, 1)")
    assert one.changes == (Change(None, (9, 0, 9)),)
    assert count(one) == 1


def test_insert_ignore_of_a_value_that_does_not_fit_is_not_guessed() -> None:
    with pytest.raises(Unknown):
        effect("INSERT IGNORE INTO t VALUES (3000000000, 0, 0)")


@pytest.mark.parametrize("dbms", ["mysql", "postgres"])
def test_insert_select(dbms: str) -> None:
    one = effect("INSERT INTO t (id, a) SELECT x, x + 1 FROM u WHERE x > 7", dbms=dbms, other=[(7,), (8,)])
    assert one.changes == (Change(None, (8, 9, None)),)


def test_insert_select_from_its_own_table_sees_the_rows_before() -> None:
    one = effect("INSERT INTO t (id, a) SELECT id + 10, a FROM t")
    assert [change.values for change in one.changes] == [(11, 10, None), (12, 20, None), (13, 30, None)]
    assert effect("INSERT INTO t (id) SELECT id FROM t").errors == DUPLICATE


# -- what to do about a duplicate


def test_replace_counts_the_old_row_and_the_new_one() -> None:
    one = effect("REPLACE INTO t VALUES (1, 11, 100)")
    assert after(one) == [(2, 20, None), (3, 30, None), (1, 11, 100)]
    assert (count(one), one.worked_on) == (2, (1,))


def test_replace_removes_every_row_that_has_one_of_its_keys() -> None:
    one = effect("REPLACE INTO t VALUES (2, 0, 100)")
    assert after(one) == [(3, 30, None), (2, 0, 100)]
    assert count(one) == 3


def test_replacing_a_row_by_itself_may_count_once() -> None:
    assert effect("REPLACE INTO t VALUES (1, 10, 100)").counts == {1, 2}


def test_an_upsert_that_leaves_a_null_as_it_was_may_count_once() -> None:
    one = effect("INSERT INTO t VALUES (2, 0, 9) ON DUPLICATE KEY UPDATE b = NULL")
    assert one.counts == {0, 1}


@pytest.mark.parametrize("key", [1, 9], ids=["a row that was there", "a row of its own"])
def test_an_upsert_of_postgres_may_not_meet_a_row_twice(key: int) -> None:
    sql = f"INSERT INTO t VALUES ({key}, 0, 70), ({key}, 1, 71) ON CONFLICT (id) DO UPDATE SET a = 5"
    assert effect(sql, dbms="postgres").errors == {ErrorKind.BAD_VALUE}


def test_replace_of_nothing_is_an_insert() -> None:
    assert count(effect("REPLACE INTO t VALUES (9, 0, 0)")) == 1


@pytest.mark.parametrize(
    ("values", "counted", "row"),
    [
        ("(9, 5, 9)", 1, (9, 5, 9)),  # inserted
        ("(1, 5, 9)", 2, (1, 15, 100)),  # changed
        ("(1, 0, 9)", 0, (1, 10, 100)),  # left as it was
    ],
)
def test_an_upsert_of_mysql_counts_what_it_did(values: str, counted: int, row: Row) -> None:
    one = effect(f"INSERT INTO t VALUES {values} ON DUPLICATE KEY UPDATE a = a + VALUES(a)")
    assert count(one) == counted
    assert row in after(one)


def test_an_upsert_of_postgres_counts_every_row_once() -> None:
    sql = "INSERT INTO t VALUES (1, 5, 9), (9, 5, 9) ON CONFLICT (id) DO UPDATE SET a = excluded.a"
    one = effect(sql, dbms="postgres")
    assert count(one) == 2
    assert after(one) == [(1, 5, 100), (2, 20, None), (3, 30, None), (9, 5, 9)]


def test_on_conflict_speaks_of_its_own_index_only() -> None:
    sql = "INSERT INTO t VALUES (9, 5, 100) ON CONFLICT (id) DO UPDATE SET a = 0"
    assert effect(sql, dbms="postgres").errors == DUPLICATE


@pytest.mark.parametrize("where", ["", " (id)"])
def test_on_conflict_do_nothing(where: str) -> None:
    one = effect(f"INSERT INTO t VALUES (1, 0, 0), (9, 0, 9) ON CONFLICT{where} DO NOTHING", dbms="postgres")
    assert one.changes == (Change(None, (9, 0, 9)),)
    assert count(one) == 1


def test_an_upsert_that_runs_into_another_key_is_an_error() -> None:
    sql = "INSERT INTO t VALUES (2, 0, 5) ON DUPLICATE KEY UPDATE b = 100"
    assert effect(sql).errors == DUPLICATE


def test_an_upsert_that_meets_two_rows_updates_the_one_with_its_primary_key() -> None:
    one = effect("INSERT INTO t VALUES (2, 0, 100) ON DUPLICATE KEY UPDATE a = 1")
    assert one.changes == (Change(2, (2, 1, None)),)


def test_an_upsert_with_default() -> None:
    one = effect("INSERT INTO t VALUES (2, 0, 5) ON DUPLICATE KEY UPDATE a = DEFAULT")
    assert one.changes == (Change(2, (2, None, None)),)


# -- automatic numbers


@pytest.mark.parametrize(
    ("sql", "ids", "numbered"),
    [
        ("INSERT INTO n (v) VALUES (1), (2)", [5, 6], 2),
        ("INSERT INTO n VALUES (NULL, 1), (0, 2), (DEFAULT, 3)", [5, 6, 7], 3),
        ("INSERT INTO n VALUES (1 - 1, 1), (NULLIF(1, 1), 2)", [5, 6], 2),
        ("INSERT INTO n VALUES (9, 1)", [9], 5),
        ("INSERT INTO n VALUES (2, 1), (3, 2)", [2, 3], 0),
        # With numbers of their own among the rows, some of those that were reserved are lost.
        ("INSERT INTO n VALUES (2, 1), (NULL, 2)", [2, 5], 2),
        ("INSERT INTO n VALUES (9, 1), (NULL, 2)", [9, 10], 7),
        ("INSERT INTO n VALUES (NULL, 1), (9, 2)", [5, 9], 5),
        ("INSERT INTO n VALUES (NULL, 1), (9, 2), (NULL, 3)", [5, 9, 10], 6),
        ("INSERT INTO n VALUES (2, 1), (NULL, 2), (3, 3), (NULL, 4)", [2, 5, 3, 6], 4),
        # A query reserves 1, then 2, then 4.
        ("INSERT INTO n (v) SELECT x FROM u WHERE x < 1", [], 0),
        ("INSERT INTO n (v) SELECT x FROM u WHERE x < 2", [5], 1),
        ("INSERT INTO n (v) SELECT x FROM u WHERE x < 3", [5, 6], 3),
        ("INSERT INTO n (v) SELECT x FROM u", [5, 6, 7, 8, 9], 7),
        # A row that is not added gives its number back to the next one.
        ("INSERT IGNORE INTO n (v) VALUES (1), (100), (2)", [5, 6], 3),
        ("INSERT IGNORE INTO n VALUES (50, 100), (NULL, 2)", [5], 2),
        ("INSERT INTO n (v) VALUES (1), (100), (2) ON DUPLICATE KEY UPDATE v = v", [5, 6], 3),
        ("REPLACE INTO n (v) VALUES (1), (100), (2)", [5, 6, 7], 3),
    ],
)
def test_automatic_numbers(sql: str, ids: list[int], numbered: int) -> None:
    """Each measured on MariaDB 10.11 and MySQL 9.7."""
    one = effect(sql, rows=[(1, 100)], other=[(1,), (2,), (3,), (4,), (5,)], number=5)
    new = [change.values[0] for change in one.changes if change.values and change.row is None]
    assert (new, one.numbered) == (ids, numbered)


@pytest.mark.parametrize(
    ("values", "numbered"),
    [
        ("(NULL, 1), (1, 2)", 2),
        ("(NULL, 100), (NULL, 2)", 2),
        ("(NULL, 1), (NULL, 3000000000)", 2),
        ("(NULL, 3000000000), (NULL, 1)", 0),
        ("(50, 100)", 0),
    ],
)
def test_an_insert_that_fails_has_taken_its_numbers(values: str, numbered: int) -> None:
    one = effect(f"INSERT INTO n VALUES {values}", rows=[(1, 100)], number=5)
    assert one.errors
    assert one.numbered == numbered


def test_assignments_that_build_on_each_other_beside_a_subquery_are_not_guessed() -> None:
    with pytest.raises(Unknown, match="beside a subquery"):
        effect("UPDATE t SET a = 2, b = a WHERE 1 IN (SELECT id FROM t)", dbms="mariadb")
    same = effect("UPDATE t SET a = 10, b = a WHERE 1 IN (SELECT id FROM t) AND id = 1", dbms="mariadb")
    assert same.changes == (Change(1, (1, 10, 10)),)
    assert after(
        effect("UPDATE t SET a = 2, b = 3 WHERE 1 = (SELECT MIN(id) FROM t) AND id = 1", dbms="mariadb")
    )
    assert after(effect("UPDATE t SET a = 7, b = a WHERE id = 1", dbms="mariadb"))[0] == (1, 7, 7)


def test_whether_the_number_of_a_row_that_failed_counts_is_not_guessed() -> None:
    with pytest.raises(Unknown, match="counts"):
        effect("INSERT INTO n VALUES (50, 1), (51, 100)", rows=[(1, 100)], number=5)


def test_a_number_that_is_not_known_is_not_guessed() -> None:
    with pytest.raises(Unknown):
        effect("INSERT INTO n (v) VALUES (1)", rows=[])


# -- what is not modelled


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM t",
        "DELETE FROM elsewhere",
    ],
)
def test_what_is_not_modelled_is_unknown(sql: str) -> None:
    with pytest.raises(Unknown):
        compiled(sql)


def test_generated_columns_are_unknown() -> None:
    shape = shape_of("DELETE FROM g", "mysql")
    assert shape is not None
    schema = Schema((Table("g", (Column("a", "int", True, generated=True),)),))
    with pytest.raises(Unknown, match="generated"):
        compile_write(shape, schema, dialect_of("mysql"))
