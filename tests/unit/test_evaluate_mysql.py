"""Expressions as MySQL and MariaDB compute, compare and convert them; checked on the servers."""

from decimal import Decimal
from typing import Any

import pytest

from acidtest.evaluator import (
    EvaluationError,
    Unknown,
    compile_assignment,
    compile_predicate,
    compile_query,
    compile_scalar,
    dialect_of,
)
from acidtest.model import Column, ErrorKind, Schema, Table
from acidtest.sql.trees import parse

CI, BIN = "utf8mb4_general_ci", "utf8mb4_bin"
T = Table(
    "t",
    (
        Column("i", "int(11)", True),
        Column("u", "bigint(20) unsigned", True),
        Column("d", "decimal(10,2)", True),
        Column("f", "double", True),
        Column("v", "varchar(10)", True, collation=CI),
        Column("w", "varchar(10)", True, collation=BIN),
        Column("n", "int(11)", False),
    ),
)
ROW = (3, 7, Decimal("1.25"), 2.5, "aB", "aB", 1)


def expression(sql: str, dialect: str) -> Any:
    tree = parse(f"SELECT {sql}", dialect)
    assert tree is not None
    return tree.expressions[0]


def value(sql: str, dialect: str = "mariadb", row: tuple[Any, ...] = ROW, *, writes: bool = False) -> Any:
    return compile_scalar(expression(sql, dialect), T, dialect_of(dialect), writes=writes)(row)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("NULL AND FALSE", 0),
        ("NULL OR TRUE", 1),
        ("NOT NULL", None),
        ("NULL <=> NULL", 1),
        ("1 IN (2, NULL)", None),
        ("1 NOT IN (1, NULL)", 0),
        ("5 BETWEEN NULL AND 4", 0),
        ("'1a' = 1", 1),
        ("'a ' = 'A'", 1),
        ("v = 'AB'", 1),
        ("w = 'AB'", 0),
        ("v = w", 1),
        ("w LIKE 'A%'", 0),
        ("v LIKE 'A\\\\_%'", 0),
        ("i / 2", Decimal("1.5000")),
        ("d * d", Decimal("1.5625")),
        ("i DIV 2", 1),
        ("-7 % 3", -1),
        ("i / 0", None),
        ("~0", 18446744073709551615),
        ("i << 62", 13835058055282163712),
        ("ROUND(2.5)", Decimal("3")),
        ("ROUND(f)", 2.0),
        ("CAST('12abc' AS SIGNED)", 12),
        ("CONCAT(i, d, f)", "31.252.5"),
        ("SUBSTRING('abcdef', -3, 2)", "de"),
        ("COALESCE(NULL, i, d)", Decimal("3.00")),
        ("IF(i > 2, 'x', i)", "x"),
        ("CASE i WHEN 3 THEN 'three' END", "three"),
    ],
)
def test_values(sql: str, expected: Any) -> None:
    answer = value(sql)
    assert (type(answer), repr(answer)) == (type(expected), repr(expected))


def test_quotients_differ_between_the_two() -> None:
    assert value("i / 7 * 7", "mariadb") == Decimal("3.0000")
    assert value("i / 7 * 7", "mysql") == Decimal("3.0002")


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("9223372036854775807 + i", ErrorKind.OUT_OF_RANGE),
        ("u - 8", ErrorKind.OUT_OF_RANGE),
        ("no_such_column", ErrorKind.NO_SUCH_OBJECT),
    ],
)
def test_errors(sql: str, kind: ErrorKind) -> None:
    with pytest.raises(EvaluationError) as caught:
        value(sql)
    assert caught.value.kind is kind


@pytest.mark.parametrize("sql", ["RAND()", "v = 'ä'", "JSON_EXTRACT(v, '$')", "GREATEST(i, v)"])
def test_what_is_not_modelled_is_unknown(sql: str) -> None:
    with pytest.raises(Unknown):
        value(sql)


def test_strict_writes_turn_warnings_into_errors() -> None:
    assert value("v = 0") == 1
    with pytest.raises(EvaluationError) as caught:
        value("v = 0", writes=True)
    assert caught.value.kind is ErrorKind.BAD_VALUE
    with pytest.raises(EvaluationError) as caught:
        value("i / 0", writes=True)
    assert caught.value.kind is ErrorKind.DIVISION_BY_ZERO


def stored(column: str, sql: str) -> Any:
    target = next(item for item in T.columns if item.name == column)
    return compile_assignment(target, expression(sql, "mariadb"), T, dialect_of("mariadb"))(ROW)


@pytest.mark.parametrize(
    ("column", "sql", "expected"),
    [
        ("i", "i + 1", 4),
        ("i", "2.5", 3),
        ("d", "1.255", Decimal("1.26")),
        ("d", "i", Decimal("3.00")),
        ("v", "i", "3"),
        ("v", "'abc           '", "abc       "),
        ("f", "d", 1.25),
        ("i", "NULL", None),
    ],
)
def test_assignment_converts(column: str, sql: str, expected: Any) -> None:
    assert repr(stored(column, sql)) == repr(expected)


@pytest.mark.parametrize(
    ("column", "sql", "kind"),
    [
        ("i", "4294967296", ErrorKind.OUT_OF_RANGE),
        ("u", "-1", ErrorKind.OUT_OF_RANGE),
        ("d", "123456789", ErrorKind.OUT_OF_RANGE),
        ("v", "'12345678901'", ErrorKind.TRUNCATION),
        ("i", "'abc'", ErrorKind.BAD_VALUE),
        ("n", "NULL", ErrorKind.NOT_NULL),
        ("i", "i / 0", ErrorKind.DIVISION_BY_ZERO),
    ],
)
def test_assignment_refuses(column: str, sql: str, kind: ErrorKind) -> None:
    with pytest.raises(EvaluationError) as caught:
        stored(column, sql)
    assert caught.value.kind is kind


def test_a_predicate_tells_which_rows_match() -> None:
    test = compile_predicate(expression("i > 1 AND v IS NOT NULL", "mysql"), T, dialect_of("mysql")).bind()
    rows = [ROW, (1, *ROW[1:]), (None, *ROW[1:])]
    assert [test(row) for row in rows] == [True, False, None]


def test_an_error_that_another_conjunct_may_avoid_is_unknown() -> None:
    condition = expression("i < 0 AND u - 8 > 0", "mysql")
    with pytest.raises(Unknown):
        compile_predicate(condition, T, dialect_of("mysql"))(ROW)


def test_which_of_equal_texts_a_group_shows_is_unknown() -> None:
    tree = parse("SELECT v FROM t GROUP BY v", "mariadb")
    assert tree is not None
    query = compile_query(tree, Schema((T,)), dialect_of("mariadb"))
    assert query.run({"t": [ROW, ROW]}).rows == (("aB",),)
    with pytest.raises(Unknown):
        query.run({"t": [ROW, (*ROW[:4], "AB", *ROW[5:])]})
