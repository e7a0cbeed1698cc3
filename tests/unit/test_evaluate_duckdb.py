"""Expressions with DuckDB's decimals, booleans and strict types; every answer is DuckDB's own."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from acidtest.evaluator import EvaluationError, Unknown, compile_assignment, compile_query, dialect_of
from acidtest.model import Column, ErrorKind, Schema, Table
from acidtest.oracles.engines.base import UndecidedError
from acidtest.oracles.engines.evaluating import engine_for, knows
from acidtest.sql.shape import shape_of
from acidtest.sql.trees import parse

duckdb = pytest.importorskip("duckdb")

T = Table(
    "t",
    (
        Column("i", "INTEGER", True),
        Column("b", "BIGINT", True),
        Column("d", "DECIMAL(10,2)", True),
        Column("f", "DOUBLE", True),
        Column("v", "VARCHAR", True),
        Column("dt", "DATE", True),
        Column("k", "INTEGER", False),
        Column("n", "INTEGER", True),
    ),
)
ROW = (3, 1 << 40, Decimal("1.50"), 2.5, "aB", date(2024, 1, 31), 7, None)
DIALECT = dialect_of("duckdb")


@pytest.fixture(scope="module")
def connection() -> Any:
    made = duckdb.connect(":memory:", config={"threads": 1})
    made.execute(
        "CREATE TABLE t (i INT, b BIGINT, d NUMERIC(10,2), f DOUBLE, v VARCHAR(20), dt DATE,"
        " k INT NOT NULL, n INT)"
    )
    made.execute("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?)", ROW)
    yield made
    made.close()


def answer(sql: str) -> Any:
    tree = parse(f"SELECT {sql} FROM t", "duckdb")
    assert tree is not None
    return compile_query(tree, Schema((T,)), DIALECT).run({"t": [ROW]}).rows[0][0]


@pytest.mark.parametrize(
    "sql",
    [
        "i + 1",
        "i - b",
        "i * 10",
        "-7 % 3",
        "-i",
        "ABS(-d)",
        "d + 1",
        "d - 10",
        "d + 0.125",
        "f + d",
        "f - 1",
        "d = 1.5",
        "d < i",
        "f = 2.50",
        "i + n",
        "i = 3 AND n = 1",
        "i = 4 AND n = 1",
        "NOT (n = 1)",
        "n IS NULL",
        "n IS NOT DISTINCT FROM NULL",
        "i IS NOT DISTINCT FROM 3",
        "i IN (1, 3)",
        "i IN (1, NULL)",
        "i BETWEEN 1 AND 2",
        "dt = '2024-01-31'",
        "dt IN ('2024-01-30', '2024-02-01')",
        "dt BETWEEN '2024-01-01' AND '2024-12-31'",
        "v = 'AB'",
        "v LIKE 'a_'",
        "v LIKE 'ab'",
        "'a_b' LIKE 'a\\_b'",
        "v || 'x'",
        "UPPER(v) || LOWER(v)",
        "SUBSTRING(v, 2, 1)",
        "LENGTH(v)",
        "COALESCE(n, 4)",
        "COALESCE(d, 2)",
        "NULLIF(i, 3)",
        "NULLIF(d, 2.5)",
        "GREATEST(i, n, 5)",
        "LEAST(n, i)",
        "CASE WHEN i = 3 THEN d ELSE 2 END",
        "CASE WHEN i = 4 THEN v ELSE 'z' END",
        "CASE WHEN TRUE THEN NULL ELSE i END",
        "(SELECT SUM(d) FROM t)",
        "(SELECT AVG(i) FROM t)",
        "(SELECT COUNT(n) FROM t)",
        "i IN (SELECT k - 4 FROM t)",
        "EXISTS (SELECT 1 FROM T WHERE T.K = 7)",
    ],
)
def test_an_expression_is_what_duckdb_makes_of_it(connection: Any, sql: str) -> None:
    ours = answer(sql)
    theirs = connection.execute(f"SELECT {sql} FROM t").fetchone()[0]
    assert (type(ours), repr(ours)) == (type(theirs), repr(theirs))


@pytest.mark.parametrize(
    ("column", "sql"),
    [
        ("i", "b - b"),
        ("d", "i"),
        ("d", "d + 1"),
        ("f", "1.75"),
        ("f", "i"),
        ("v", "'longer than twenty characters'"),
        ("dt", "'2024-02-29'"),
        ("n", "NULL"),
    ],
)
def test_a_column_stores_what_duckdb_stores(connection: Any, column: str, sql: str) -> None:
    position = [one.name for one in T.columns].index(column)
    tree = parse(f"SELECT {sql}", "duckdb")
    assert tree is not None
    ours = compile_assignment(T.columns[position], tree.expressions[0], T, DIALECT)(ROW)
    connection.execute("BEGIN")
    connection.execute(f"UPDATE t SET {column} = {sql}")
    theirs = connection.execute(f"SELECT {column} FROM t").fetchone()[0]
    connection.execute("ROLLBACK")
    assert (type(ours), repr(ours)) == (type(theirs), repr(theirs))


@pytest.mark.parametrize(
    ("column", "sql", "kind"),
    [
        ("k", "NULL", ErrorKind.NOT_NULL),
        ("i", "b", ErrorKind.OUT_OF_RANGE),
        ("i", "i + 2147483647", ErrorKind.OUT_OF_RANGE),
        ("d", "b", ErrorKind.OUT_OF_RANGE),
    ],
)
def test_what_does_not_fit_is_an_error(column: str, sql: str, kind: ErrorKind) -> None:
    position = [one.name for one in T.columns].index(column)
    tree = parse(f"SELECT {sql}", "duckdb")
    assert tree is not None
    with pytest.raises(EvaluationError) as caught:
        compile_assignment(T.columns[position], tree.expressions[0], T, DIALECT)(ROW)
    assert caught.value.kind is kind


@pytest.mark.parametrize(
    "sql",
    [
        "i / 2",
        "i % 0",
        "i = 'x'",
        "v = 1",
        "i AND TRUE",
        "rowid",
        "CAST(i AS VARCHAR)",
        "dt + 1",
        "(i + 2147483647 > 0) AND n = 1",
        "n + (i + 2147483647)",
        "TRUE OR (i + 2147483647 > 0)",
        "i = 3 OR (i = 4 AND i + 2147483647 > 0)",
        "CASE WHEN i = 3 THEN 1 ELSE i + 2147483647 END",
        "(SELECT x FROM (SELECT i AS x FROM t UNION ALL SELECT k FROM t) AS s)",
    ],
)
def test_what_is_not_modelled_is_unknown(sql: str) -> None:
    with pytest.raises(Unknown):
        answer(sql)


def test_nulls_come_last_in_every_order() -> None:
    tree = parse("SELECT n FROM t ORDER BY n DESC", "duckdb")
    assert tree is not None
    rows = [(*ROW[:7], one) for one in (1, None, 2)]
    assert compile_query(tree, Schema((T,)), DIALECT).run({"t": rows}).rows == ((2,), (1,), (None,))


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT OR REPLACE INTO t (k) VALUES (1)",
        "INSERT OR ABORT INTO t (k) VALUES (1)",
    ],
)
def test_upserts_that_duckdb_treats_in_its_own_way_are_undecided(sql: str) -> None:
    shape = shape_of(sql, "duckdb")
    assert shape is not None
    with pytest.raises(UndecidedError):
        engine_for("duckdb", Schema((T,))).effect(sql, shape, [], [], {"t": []}, None)


def test_the_solver_speaks_duckdb() -> None:
    assert knows("duckdb")
