"""SQLite's affinities, numbers as conditions and dynamic types; every answer is SQLite's own."""

import sqlite3
from typing import Any

import pytest

from acidtest.evaluator import (
    EvaluationError,
    Unknown,
    compile_assignment,
    compile_query,
    compile_scalar,
    dialect_of,
)
from acidtest.model import Column, ErrorKind, Index, Schema, Table
from acidtest.oracles.engines.base import UndecidedError
from acidtest.oracles.engines.evaluating import engine_for, knows
from acidtest.sql.shape import shape_of
from acidtest.sql.trees import parse

T = Table(
    "t",
    (
        Column("i", "INT", True),
        Column("b", "BIGINT", True),
        Column("f", "DOUBLE", True),
        Column("v", "VARCHAR(20)", True),
        Column("k", "INT", False),
    ),
)
ROW = (3, -(1 << 63), 2.5, "aB", 7)
DIALECT = dialect_of("sqlite")


def expression(sql: str) -> Any:
    tree = parse(f"SELECT {sql}", "sqlite")
    assert tree is not None
    return tree.expressions[0]


def value(sql: str) -> Any:
    return compile_scalar(expression(sql), T, DIALECT)(ROW)


def sqlite_says(sql: str) -> Any:
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE t (i INT, b BIGINT, f DOUBLE, v VARCHAR(20), k INT NOT NULL)")
        connection.execute("INSERT INTO t VALUES (?, ?, ?, ?, ?)", ROW)
        return connection.execute(sql).fetchall()


@pytest.mark.parametrize(
    "sql",
    [
        "i / 2",
        "-7 / 2",
        "-7 % 3",
        "i / 0",
        "i % 0",
        "9223372036854775807 + i",
        "-9223372036854775808",
        "-b",
        "i + f",
        "f * i - 1",
        "-(f - 2.5)",
        "i = 3.0",
        "i = '3'",
        "3 = '3'",
        "v = 3",
        "v < 'b'",
        "v < 10",
        "v LIKE 'AB'",
        "v LIKE '_b'",
        "'a_b' LIKE 'a\\_b'",
        "v || i",
        "UPPER(v) || LOWER(v)",
        "LENGTH(v)",
        "SUBSTRING(v, 2, 1)",
        "MAX(i, 5)",
        "MIN(i, NULL)",
        "MAX(i, v)",
        "i IS 3",
        "i IS NOT 3",
        "v IS NULL",
        "i IN (1, 3)",
        "i IN (1, NULL)",
        "i IN ('3')",
        "i BETWEEN 1 AND 2.5",
        "NOT i",
        "i AND NULL",
        "TRUE + TRUE",
        "i IS TRUE",
        "CASE WHEN i THEN v ELSE 0 END",
        "CASE i WHEN '3' THEN 1 ELSE 2 END",
        "COALESCE(NULL, v)",
        "NULLIF(i, '3')",
        "NULLIF(i, 3)",
        "IIF(f > 2, 'yes', 'no')",
        "(SELECT MAX(k) FROM t)",
        "i IN (SELECT k - 4 FROM t)",
        "EXISTS (SELECT 1 FROM T WHERE T.K = 7)",
    ],
)
def test_an_expression_is_what_sqlite_makes_of_it(sql: str) -> None:
    tree = parse(f"SELECT {sql} FROM t", "sqlite")
    assert tree is not None
    ours = compile_query(tree, Schema((T,)), DIALECT).run({"t": [ROW]}).rows[0][0]
    theirs = sqlite_says(f"SELECT {sql} FROM t")[0][0]
    assert (type(ours), repr(ours)) == (type(theirs), repr(theirs))


@pytest.mark.parametrize(
    ("column", "sql"),
    [
        ("i", "'12'"),
        ("i", "2.0"),
        ("i", "2.5"),
        ("i", "'x'"),
        ("i", "i = 3"),
        ("f", "2"),
        ("f", "'7'"),
        ("f", "0 * -1.0"),
        ("v", "12"),
        ("v", "v || 'c'"),
        ("k", "k + 1"),
    ],
)
def test_a_column_stores_what_its_affinity_makes_of_a_value(column: str, sql: str) -> None:
    position = [one.name for one in T.columns].index(column)
    ours = compile_assignment(T.columns[position], expression(sql), T, DIALECT)(ROW)
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE t (i INT, b BIGINT, f DOUBLE, v VARCHAR(20), k INT NOT NULL)")
        connection.execute("INSERT INTO t VALUES (?, ?, ?, ?, ?)", ROW)
        connection.execute(f"UPDATE t SET {column} = {sql}")
        theirs = connection.execute(f"SELECT {column} FROM t").fetchone()[0]
    assert (type(ours), repr(ours)) == (type(theirs), repr(theirs))


def test_a_null_in_a_required_column_is_an_error() -> None:
    with pytest.raises(EvaluationError) as caught:
        compile_assignment(T.columns[4], expression("NULL"), T, DIALECT)(ROW)
    assert caught.value.kind is ErrorKind.NOT_NULL


def test_the_smallest_integer_has_no_absolute_value() -> None:
    with pytest.raises(EvaluationError) as caught:
        value("ABS(b)")
    assert caught.value.kind is ErrorKind.OUT_OF_RANGE


@pytest.mark.parametrize(
    "sql",
    ["v + 1", "f || 'x'", "v AND TRUE", "rowid", '"a text"', "CAST(i AS TEXT)", "i = ANY (SELECT k FROM t)"],
)
def test_what_is_not_modelled_is_unknown(sql: str) -> None:
    tree = parse(f"SELECT {sql} FROM t", "sqlite")
    assert tree is not None
    with pytest.raises(Unknown):
        compile_query(tree, Schema((T,)), DIALECT).run({"t": [ROW]})


@pytest.mark.parametrize("sql", ["v = 'AB'", "COUNT(DISTINCT v)"])
def test_a_collation_is_not_modelled(sql: str) -> None:
    collated = Table("t", (Column("v", "TEXT", True, collation="NOCASE"),))
    tree = parse(f"SELECT {sql} FROM t", "sqlite")
    assert tree is not None
    with pytest.raises(Unknown):
        compile_query(tree, Schema((collated,)), DIALECT)


def test_nulls_come_first_and_numbers_before_texts() -> None:
    tree = parse("SELECT v FROM t ORDER BY v", "sqlite")
    assert tree is not None
    rows = [(1, 1, 1.0, one, 1) for one in ("b", None, "B", 5)]
    found = compile_query(tree, Schema((T,)), DIALECT).run({"t": rows}).rows
    assert found == ((None,), (5,), ("B",), ("b",))


NUMBERED = Table(
    "n",
    (Column("id", "INTEGER", False), Column("a", "INT", True)),
    (Index("rowid", ("id",), unique=True, primary=True),),
)


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT OR ROLLBACK INTO n (id, a) VALUES (1, 2)",
        "INSERT INTO n (a) VALUES (2)",
        "INSERT INTO n (id, a) VALUES (NULL, 2)",
    ],
)
def test_inserts_that_sqlite_treats_in_its_own_way_are_undecided(sql: str) -> None:
    shape = shape_of(sql, "sqlite")
    assert shape is not None
    with pytest.raises(UndecidedError):
        engine_for("sqlite", Schema((NUMBERED,))).effect(sql, shape, [], [], {"n": []}, None)


def test_an_insert_with_its_own_number_is_decided() -> None:
    sql = "INSERT INTO n (id, a) VALUES (1, '2')"
    shape = shape_of(sql, "sqlite")
    assert shape is not None
    effect = engine_for("sqlite", Schema((NUMBERED,))).effect(sql, shape, [], [], {"n": []}, None)
    assert [change.values for change in effect.changes] == [(1, 2)]
    assert effect.counts == {1}


def test_the_solver_speaks_sqlite() -> None:
    assert knows("sqlite")
