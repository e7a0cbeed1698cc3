"""Expressions in PostgreSQL's own typing, arithmetic and conversions; checked on the server."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from acidtest.evaluator import (
    EvaluationError,
    Settings,
    Unknown,
    compile_assignment,
    compile_scalar,
    dialect_of,
)
from acidtest.model import Column, ErrorKind, Table
from acidtest.sql.trees import parse

T = Table(
    "t",
    (
        Column("i", "integer", True),
        Column("b", "bigint", True),
        Column("n", "numeric(10,2)", True),
        Column("f", "double precision", True),
        Column("v", "character varying(10)", True),
        Column("c", "character(5)", True),
        Column("d", "date", True),
        Column("ok", "boolean", False),
    ),
)
ROW = (3, 7, Decimal("1.25"), 2.5, "aB", "aB   ", date(2020, 1, 31), True)


def expression(sql: str) -> Any:
    tree = parse(f"SELECT {sql}", "postgres")
    assert tree is not None
    return tree.expressions[0]


def value(sql: str) -> Any:
    return compile_scalar(expression(sql), T, dialect_of("postgres"))(ROW)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("i / 2", 1),
        ("-7 % 3", -1),
        ("n / 3", Decimal("0.41666666666666666667")),
        ("1 / 3.0", Decimal("0.33333333333333333333")),
        ("n * n", Decimal("1.5625")),
        ("round(2.5)", Decimal("3")),
        ("round(f)", 2.0),
        ("i = '3'", True),
        ("v = 'AB'", False),
        ("c = 'aB'", True),
        ("length(c)", 2),
        ("c || 'x'", "aBx"),
        ("i || 'x'", "3x"),
        ("concat(i, NULL, ok)", "3t"),
        ("v ILIKE 'A_'", True),
        ("substring(v, 0, 2)", "a"),
        ("left('abcdef', -2)", "abcd"),
        ("greatest(NULL, i, n)", Decimal("3")),
        ("d + 1", date(2020, 2, 1)),
        ("i IS DISTINCT FROM NULL", True),
        ("NULL::int IS NOT DISTINCT FROM NULL", True),
        ("cast(f AS numeric)", Decimal("2.5")),
        ("cast(2.5 AS integer)", 3),
        ("1e20::float8::text", "1e+20"),
        ("CASE WHEN FALSE THEN 1 / 0 ELSE 2 END", 2),
        ("'x'", "x"),
    ],
)
def test_values(sql: str, expected: Any) -> None:
    answer = value(sql)
    assert (type(answer), repr(answer)) == (type(expected), repr(expected))


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("i / 0", ErrorKind.DIVISION_BY_ZERO),
        ("CASE WHEN ok THEN 1 ELSE 1 / 0 END", ErrorKind.DIVISION_BY_ZERO),  # constants come first
        ("i + 2147483647", ErrorKind.OUT_OF_RANGE),
        ("i = 'x'", ErrorKind.BAD_VALUE),
        ("v = 1", ErrorKind.NO_SUCH_OBJECT),
        ("i AND ok", ErrorKind.BAD_VALUE),
        ("CASE WHEN ok THEN i ELSE v END", ErrorKind.BAD_VALUE),
        ("cast(v AS integer)", ErrorKind.BAD_VALUE),
    ],
)
def test_errors(sql: str, kind: ErrorKind) -> None:
    with pytest.raises(EvaluationError) as caught:
        value(sql)
    assert caught.value.kind is kind


def test_the_order_of_texts_is_known_for_plain_collations_only() -> None:
    assert value("v < 'b'") is True
    german = dialect_of("postgres", Settings(database_collation="de_DE.utf8"))
    assert compile_scalar(expression("v = 'aB'"), T, german)(ROW) is True
    with pytest.raises(Unknown):
        compile_scalar(expression("v < 'b'"), T, german)


def stored(column: str, sql: str) -> Any:
    target = next(item for item in T.columns if item.name == column)
    return compile_assignment(target, expression(sql), T, dialect_of("postgres"))(ROW)


def test_assignment_converts() -> None:
    assert stored("i", "2.5") == 3
    assert stored("c", "'ab'") == "ab   "
    assert stored("n", "i") == Decimal("3.00")
    assert stored("v", "'abc           '") == "abc       "


@pytest.mark.parametrize(
    ("column", "sql", "kind"),
    [
        ("i", "b * 1000000000", ErrorKind.OUT_OF_RANGE),
        ("v", "'12345678901'", ErrorKind.TRUNCATION),
        ("i", "v", ErrorKind.BAD_VALUE),
        ("ok", "NULL", ErrorKind.NOT_NULL),
    ],
)
def test_assignment_refuses(column: str, sql: str, kind: ErrorKind) -> None:
    with pytest.raises(EvaluationError) as caught:
        stored(column, sql)
    assert caught.value.kind is kind
