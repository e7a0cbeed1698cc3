"""What tables ask of their rows: generated columns, defaults, checks, unique indexes, foreign keys."""

import pytest

from acidtest.evaluator import Unknown, dialect_of
from acidtest.evaluator.writes import Change, Effect, compile_write
from acidtest.model import Action, Check, Column, ErrorKind, ForeignKey, Index, Row, Schema, Table
from acidtest.sql.shape import shape_of

DUPLICATE, CHECK, REFERENCE = (
    frozenset({kind}) for kind in (ErrorKind.DUPLICATE_KEY, ErrorKind.CHECK, ErrorKind.FOREIGN_KEY)
)
PRIMARY = Index("PRIMARY", ("id",), unique=True, primary=True)


def number(name: str, *, nullable: bool = True, default: str | None = None) -> Column:
    return Column(name, "int", nullable, default)


def table(
    *extra: Column,
    indexes: tuple[Index, ...] = (),
    checks: tuple[Check, ...] = (),
    foreign_keys: tuple[ForeignKey, ...] = (),
    name: str = "t",
) -> Table:
    columns = (number("id", nullable=False), number("a", default="7"), number("b"), *extra)
    return Table(name, columns, (PRIMARY, *indexes), foreign_keys, checks)


def effect(
    sql: str, schema: Schema | Table, rows: list[Row], dbms: str = "mysql", **others: list[Row]
) -> Effect:
    """The effect on rows that are all there and all visible; identities count from 1 in each table."""
    catalog = Schema((schema,)) if isinstance(schema, Table) else schema
    shape = shape_of(sql, dbms)
    assert shape is not None
    write = compile_write(shape, catalog, dialect_of(dbms))
    views = {write.table.name: rows, **others}
    numbered = {name: list(enumerate(own, 1)) for name, own in views.items()}
    own = numbered[write.table.name]
    return write.run(own, own, views, seen=numbered, related=numbered)


# -- rows from a series


@pytest.mark.parametrize(
    ("sql", "numbers"),
    [
        ("SELECT g, 0, 0 FROM generate_series(2, 4) g", [2, 3, 4]),
        ("SELECT x.i, 0, 0 FROM generate_series(5, 1, -2) AS x(i)", [5, 3, 1]),
        ("SELECT generate_series, 0, 0 FROM generate_series(3, 2)", []),
    ],
)
def test_a_series_brings_its_numbers(sql: str, numbers: list[int]) -> None:
    one = effect(f"INSERT INTO t {sql}", table(), [], "postgres")
    assert [change.values for change in one.changes] == [(number, 0, 0) for number in numbers]
    assert effect(
        "INSERT INTO t SELECT g FROM generate_series(1, 2) g", table(), [(2, 0, 0)], "postgres"
    ).errors


@pytest.mark.parametrize("bounds", ["1, 30000", "1, 2.5", "1, 2, 0", "(SELECT 1), 2"])
def test_other_series_are_left_open(bounds: str) -> None:
    with pytest.raises(Unknown):
        effect(f"INSERT INTO t SELECT g, 0, 0 FROM generate_series({bounds}) g", table(), [], "postgres")


# -- generated columns

GENERATED = table(Column("g", "int", True, generated=True, expression="`b` + 1"))


@pytest.mark.parametrize("dbms", ["mysql", "mariadb", "postgres"])
def test_generated_columns_are_computed(dbms: str) -> None:
    quoted = (
        GENERATED
        if dbms != "postgres"
        else table(Column("g", "integer", True, generated=True, expression="(b + 1)"))
    )
    one = effect("UPDATE t SET b = 5 WHERE id = 1", quoted, [(1, 0, 1, 2)], dbms)
    assert one.changes == (Change(1, (1, 0, 5, 6)),)
    two = effect("INSERT INTO t (id, b) VALUES (2, NULL), (3, 4)", quoted, [], dbms)
    assert [change.values for change in two.changes] == [(2, 7, None, None), (3, 7, 4, 5)]


@pytest.mark.parametrize(
    ("dbms", "kind"), [("mysql", ErrorKind.OTHER), ("postgres", ErrorKind.SYNTAX)], ids=str
)
@pytest.mark.parametrize("sql", ["UPDATE t SET g = 1", "INSERT INTO t (id, g) VALUES (1, 2)"])
def test_a_generated_column_takes_no_value_but_default(dbms: str, kind: ErrorKind, sql: str) -> None:
    expression = "b + 1"
    one = table(Column("g", "int", True, generated=True, expression=expression))
    assert effect(sql, one, [], dbms).errors == {kind}
    assert effect("INSERT INTO t (id, b, g) VALUES (1, 2, DEFAULT)", one, [], dbms).changes == (
        Change(None, (1, 7, 2, 3)),
    )


def test_a_generated_column_without_its_expression_is_unknown() -> None:
    with pytest.raises(Unknown, match="generated"):
        effect("DELETE FROM t", table(Column("g", "int", True, generated=True)), [])


def test_a_generated_column_may_be_unique() -> None:
    one = table(
        Column("g", "int", True, generated=True, expression="b % 10"),
        indexes=(Index("g", ("g",), unique=True),),
    )
    assert effect("INSERT INTO t (id, b) VALUES (2, 15)", one, [(1, 0, 5, 5)]).errors == DUPLICATE


# -- defaults and what VALUES may name


@pytest.mark.parametrize("dbms", ["mysql", "mariadb", "postgres"])
def test_set_to_default(dbms: str) -> None:
    one = effect("UPDATE t SET a = DEFAULT, b = DEFAULT", table(), [(1, 1, 1)], dbms)
    assert one.changes == (Change(1, (1, 7, None)),)


def test_the_default_of_a_column_in_an_expression() -> None:
    one = effect("UPDATE t SET b = DEFAULT(a) + 1", table(), [(1, 1, 1)])
    assert one.changes == (Change(1, (1, 1, 8)),)
    two = effect("INSERT INTO t VALUES (1, DEFAULT(a) * 2, DEFAULT(b))", table(), [])
    assert two.changes == (Change(None, (1, 14, None)),)
    assert effect("UPDATE t SET b = DEFAULT(id)", table(), [(1, 1, 1)]).errors == {ErrorKind.NOT_NULL}


def test_mysql_values_see_columns_that_were_set_before_or_their_defaults() -> None:
    one = effect("INSERT INTO t (id, b, a) VALUES (1, id + a, b)", table(), [])
    assert one.changes == (Change(None, (1, 8, 8)),)
    two = effect("INSERT INTO t SET id = 4, a = id * 2", table(), [])
    assert two.changes == (Change(None, (4, 8, None)),)


def test_elsewhere_values_see_no_columns_but_subqueries_do() -> None:
    sql = "INSERT INTO t (id, a) VALUES (1, b)"
    assert effect(sql, table(), [], "postgres").errors == {ErrorKind.NO_SUCH_OBJECT}
    one = effect("INSERT INTO t (id, a) VALUES (9, (SELECT MAX(b) FROM t))", table(), [(1, 1, 5)], "postgres")
    assert one.changes == (Change(None, (9, 5, None)),)


def test_postgres_takes_a_literal_of_a_query_for_the_type_of_the_column() -> None:
    one = effect("INSERT INTO t (id, a) SELECT '5', '6'", table(), [], "postgres")
    assert one.changes == (Change(None, (5, 6, None)),)
    other = Table("u", (Column("w", "text", True),))
    schema = Schema((table(), other))
    refused = effect("INSERT INTO t (id) SELECT w FROM u", schema, [], "postgres", u=[("5",)])
    assert refused.errors == {ErrorKind.BAD_VALUE}


# -- checks

CHECKED = table(checks=(Check("small", "b < 10"),))


@pytest.mark.parametrize("dbms", ["mysql", "mariadb", "postgres", "sqlite"])
def test_a_check_fails_on_false_and_lets_null_pass(dbms: str) -> None:
    assert effect("UPDATE t SET b = 10", CHECKED, [(1, 1, 1)], dbms).errors == CHECK
    assert effect("UPDATE t SET b = NULL", CHECKED, [(1, 1, 1)], dbms).errors == frozenset()
    assert effect("INSERT INTO t (id, b) VALUES (2, 99)", CHECKED, [], dbms).errors == CHECK


def test_any_error_of_the_rows_may_come_first() -> None:
    one = effect("UPDATE t SET b = 10 * b, a = a * 100000000", CHECKED, [(1, 1, 9), (2, 2000, 0)])
    assert one.errors == {ErrorKind.CHECK, ErrorKind.OUT_OF_RANGE}


# -- unique indexes


def test_a_partial_index_covers_only_its_rows() -> None:
    one = table(indexes=(Index("part", ("a",), unique=True, where="b > 1"),))
    rows: list[Row] = [(1, 5, 2), (2, 5, 0)]
    assert effect("UPDATE t SET b = 3 WHERE id = 2", one, rows, "postgres").errors == DUPLICATE
    assert effect("UPDATE t SET b = 1 WHERE id = 2", one, rows, "postgres").errors == frozenset()


def test_an_index_may_hold_nulls_equal() -> None:
    one = table(indexes=(Index("b", ("b",), unique=True, nulls_distinct=False),))
    assert effect("INSERT INTO t (id) VALUES (2)", one, [(1, 1, None)], "postgres").errors == DUPLICATE


def test_an_index_on_an_expression() -> None:
    one = table(indexes=(Index("e", ("abs(b)",), unique=True),))
    assert effect("INSERT INTO t (id, b) VALUES (2, -3)", one, [(1, 1, 3)], "postgres").errors == DUPLICATE


def test_an_index_on_the_first_characters() -> None:
    text = Column("s", "varchar(10)", True, collation="utf8mb4_general_ci")
    one = table(text, indexes=(Index("s", ("s(2)",), unique=True),))
    rows: list[Row] = [(1, 1, 1, "abc")]
    assert effect("INSERT INTO t (id, s) VALUES (2, 'ABx')", one, rows).errors == DUPLICATE
    assert effect("INSERT INTO t (id, s) VALUES (2, 'a')", one, rows).errors == frozenset()


def test_a_deferrable_key_is_checked_after_the_statement_or_later() -> None:
    one = table(indexes=(Index("b", ("b",), unique=True, deferrable=True),))
    rows: list[Row] = [(1, 1, 1), (2, 2, 2)]
    swap = effect("UPDATE t SET b = 3 - b", one, rows, "postgres")
    assert (swap.errors, swap.may_fail) == (frozenset(), frozenset())
    with pytest.raises(Unknown, match="deferrable"):
        effect("UPDATE t SET b = 1", one, rows, "postgres")


# -- foreign keys


def family(on_delete: Action = Action.NO_ACTION, on_update: Action = Action.NO_ACTION) -> Schema:
    key = ForeignKey("fk", ("b",), "p", ("id",), on_delete, on_update)
    return Schema((table(name="p"), table(foreign_keys=(key,), name="c")))


PARENTS: list[Row] = [(1, 0, 0), (2, 0, 0)]
CHILDREN: list[Row] = [(10, 0, 1), (11, 0, None)]
DBMSS = pytest.mark.parametrize("dbms", ["mysql", "mariadb", "postgres"])


@DBMSS
def test_a_row_must_refer_to_one_that_is_there(dbms: str) -> None:
    schema = family()
    assert effect("INSERT INTO c (id, b) VALUES (5, 9)", schema, [], dbms, p=PARENTS).errors == REFERENCE
    assert effect("UPDATE c SET b = 9", schema, CHILDREN, dbms, p=PARENTS).errors == REFERENCE
    one = effect("INSERT INTO c (id, b) VALUES (5, 2), (6, NULL)", schema, [], dbms, p=PARENTS)
    assert (one.errors, one.referenced) == (frozenset(), (("p", 2),))


@DBMSS
def test_what_stays_as_it_is_refers_to_nothing_new(dbms: str) -> None:
    assert effect("UPDATE c SET b = 1 WHERE id = 10", family(), CHILDREN, dbms, p=PARENTS).referenced == ()


@DBMSS
@pytest.mark.parametrize("sql", ["DELETE FROM p WHERE id = 1", "UPDATE p SET id = 7 WHERE id = 1"])
@pytest.mark.parametrize("action", [Action.NO_ACTION, Action.RESTRICT])
def test_a_row_that_others_refer_to_stays(dbms: str, sql: str, action: Action) -> None:
    schema = family(action, action)
    assert effect(sql, schema, PARENTS, dbms, c=CHILDREN).errors == REFERENCE
    assert effect(sql.replace("1", "2"), schema, PARENTS, dbms, c=CHILDREN).errors == frozenset()


@DBMSS
def test_cascades_take_children_along(dbms: str) -> None:
    schema = family(Action.CASCADE, Action.CASCADE)
    gone = effect("DELETE FROM p WHERE id = 1", schema, PARENTS, dbms, c=CHILDREN)
    assert gone.changes == (Change(1, None), Change(1, None, "c"))
    assert (gone.touched, gone.counts) == ((("c", 1),), frozenset({1}))
    moved = effect("UPDATE p SET id = 7 WHERE id = 1", schema, PARENTS, dbms, c=CHILDREN)
    assert moved.changes == (Change(1, (7, 0, 0)), Change(1, (10, 0, 7), "c"))


@DBMSS
def test_set_null(dbms: str) -> None:
    schema = family(Action.SET_NULL, Action.SET_NULL)
    one = effect("DELETE FROM p WHERE id = 1", schema, PARENTS, dbms, c=CHILDREN)
    assert one.changes[1] == Change(1, (10, 0, None), "c")


def defaulting(default: str | None) -> Schema:
    key = ForeignKey("fk", ("b",), "p", ("id",), Action.SET_DEFAULT, Action.SET_DEFAULT)
    columns = (number("id", nullable=False), number("a"), number("b", default=default))
    return Schema((table(name="p"), Table("c", columns, (PRIMARY,), (key,))))


@pytest.mark.parametrize("sql", ["DELETE FROM p WHERE id = 1", "UPDATE p SET id = 7 WHERE id = 1"])
@pytest.mark.parametrize("dbms", ["postgres", "sqlite"])
def test_set_default(sql: str, dbms: str) -> None:
    one = effect(sql, defaulting("2"), PARENTS, dbms, c=CHILDREN)
    assert one.changes[1] == Change(1, (10, 0, 2), "c")
    assert (one.errors, one.referenced) == (frozenset(), (("p", 2),))
    assert effect(sql, defaulting(None), PARENTS, dbms, c=CHILDREN).changes[1] == Change(
        1, (10, 0, None), "c"
    )


@pytest.mark.parametrize("default", ["1", "9"])
def test_a_default_must_refer_to_a_row_that_stays(default: str) -> None:
    gone = effect("DELETE FROM p WHERE id = 1", defaulting(default), PARENTS, "postgres", c=CHILDREN)
    assert gone.errors == REFERENCE


def test_innodb_has_no_set_default() -> None:
    with pytest.raises(Unknown, match="SET DEFAULT"):
        effect("DELETE FROM p WHERE id = 1", defaulting("2"), PARENTS, "mysql", c=CHILDREN)


def test_cascades_go_on() -> None:
    second = ForeignKey("fk2", ("b",), "c", ("id",), Action.CASCADE)
    schema = Schema((*family(Action.CASCADE).tables, table(foreign_keys=(second,), name="d")))
    one = effect("DELETE FROM p WHERE id = 1", schema, PARENTS, "postgres", c=CHILDREN, d=[(1, 0, 10)])
    assert one.changes == (Change(1, None), Change(1, None, "c"), Change(1, None, "d"))
    stays = Schema((*family(Action.CASCADE).tables, table(foreign_keys=(_plain(second),), name="d")))
    two = effect("DELETE FROM p WHERE id = 1", stays, PARENTS, "postgres", c=CHILDREN, d=[(1, 0, 10)])
    assert two.errors == REFERENCE


def _plain(key: ForeignKey) -> ForeignKey:
    return ForeignKey(key.name, key.columns, key.table, key.references)


def test_insert_ignore_leaves_out_rows_without_their_parent() -> None:
    one = effect("INSERT IGNORE INTO c (id, b) VALUES (5, 9), (6, 1)", family(), [], p=PARENTS)
    assert [change.values for change in one.changes] == [(6, 7, 1)]


def test_mysql_looks_at_foreign_keys_first_mariadb_at_the_primary_key() -> None:
    """Measured on MySQL 9.7 and MariaDB 10.11."""
    sql = "INSERT INTO c (id, b) VALUES (10, 99)"
    assert effect(sql, family(), CHILDREN, "mysql", p=PARENTS).errors == REFERENCE
    assert effect(sql, family(), CHILDREN, "mariadb", p=PARENTS).errors == DUPLICATE


def test_postgres_checks_after_the_statement() -> None:
    own = ForeignKey("own", ("b",), "t", ("id",))
    schema = Schema((table(foreign_keys=(own,)),))
    one = effect("INSERT INTO t (id, b) VALUES (1, 2), (2, 1)", schema, [], "postgres")
    assert one.errors == frozenset()
    assert effect("DELETE FROM t", schema, [(1, 0, 2), (2, 0, 1)], "postgres").errors == frozenset()
    with pytest.raises(Unknown, match="one statement changes"):
        effect("DELETE FROM t", schema, [(1, 0, 2), (2, 0, 1)], "mysql")


def test_without_the_rows_of_the_other_table_nothing_is_decided() -> None:
    shape = shape_of("INSERT INTO c (id, b) VALUES (5, 1)", "mysql")
    assert shape is not None
    write = compile_write(shape, family(), dialect_of("mysql"))
    assert write.related == ("c", "p")
    with pytest.raises(Unknown, match="foreign keys"):
        write.run([], [], {"c": []})


def test_triggers_are_unknown() -> None:
    one = Table("t", (number("a"),), triggers=("also",))
    with pytest.raises(Unknown, match="triggers"):
        effect("DELETE FROM t", one, [])
