"""Where TiDB computes as MySQL does, and where its digits are its own; measured on 5.4.2."""

from decimal import Decimal
from typing import Any

import pytest

from acidtest.evaluator import Unknown, compile_scalar, dialect_of
from acidtest.model import Column, Table
from acidtest.sql.trees import parse

T = Table(
    "t",
    (
        Column("i", "int(11)", True),
        Column("u", "bigint(20) unsigned", True),
        Column("d", "decimal(10,2)", True),
        Column("e", "decimal(5,2)", True),
        Column("f", "decimal(5,1)", True),
    ),
)
ROW = (3, 7, None, Decimal("1.25"), Decimal("1.5"))


def value(sql: str, row: tuple[Any, ...] = ROW) -> Any:
    tree = parse(f"SELECT {sql}", "mysql")
    assert tree is not None
    return compile_scalar(tree.expressions[0], T, dialect_of("tidb"))(row)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("u - 5", 2),
        ("i + u", 10),
        ("u * 2", 14),
        ("CASE WHEN i > 0 THEN e ELSE 0.00 END", Decimal("1.25")),
        ("COALESCE(d, e)", Decimal("1.25")),
    ],
)
def test_as_mysql(sql: str, expected: Any) -> None:
    assert value(sql) == expected


@pytest.mark.parametrize("sql", ["u - 8", "i * (u - 1)", "COALESCE(d, f)", "COALESCE(d, i)"])
def test_unknown(sql: str) -> None:
    """An error that the plan may avoid, sums of sums, and decimals that TiDB prints with their own digits."""
    with pytest.raises(Unknown):
        value(sql)
