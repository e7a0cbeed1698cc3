"""Queries over small tables: joins, groups, subqueries, set operations, order and ties."""

from typing import Any

import pytest

from acidtest.evaluator import CompiledQuery, EvaluationError, Unknown, compile_query, dialect_of
from acidtest.model import Column, ErrorKind, Index, Schema, Table
from acidtest.sql.trees import parse

PRIMARY = (Index("PRIMARY", ("id",), unique=True, primary=True),)
T = Table("t", (Column("id", "int", False), Column("a", "int", True)), PRIMARY)
U = Table("u", (Column("id", "int", False), Column("b", "int", True)), PRIMARY)
VIEWS = {"t": [(1, 10), (2, None), (3, 10)], "u": [(1, 5), (3, None), (4, 10)]}


def compiled(sql: str, dialect: str = "mysql") -> CompiledQuery:
    tree = parse(sql, dialect)
    assert tree is not None
    return compile_query(tree, Schema((T, U)), dialect_of(dialect))


def rows(sql: str, dialect: str = "mysql") -> Any:
    return compiled(sql, dialect).run(VIEWS).rows


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT t.id, u.id FROM t JOIN u ON t.id = u.id ORDER BY 1", ((1, 1), (3, 3))),
        ("SELECT t.id, u.id FROM t LEFT JOIN u USING (id) ORDER BY 1", ((1, 1), (2, None), (3, 3))),
        ("SELECT t.id, u.id FROM t RIGHT JOIN u ON t.id = u.id ORDER BY 2", ((1, 1), (3, 3), (None, 4))),
        ("SELECT COUNT(*) FROM t, u", ((9,),)),
        ("SELECT a, COUNT(*), SUM(id) FROM t GROUP BY a ORDER BY a", ((None, 1, 2), (10, 2, 4))),
        ("SELECT COUNT(a), MAX(a) FROM t WHERE id > 9", ((0, None),)),
        ("SELECT a FROM t GROUP BY a HAVING COUNT(*) > 1", ((10,),)),
        ("SELECT DISTINCT a FROM t ORDER BY a DESC", ((10,), (None,))),
        ("SELECT id FROM t WHERE a IN (SELECT b FROM u)", ((1,), (3,))),
        ("SELECT id FROM t WHERE id NOT IN (SELECT b FROM u)", ()),
        ("SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id)", ((1,), (3,))),
        ("SELECT id FROM t WHERE id > ALL (SELECT b FROM u WHERE b < 0)", ((1,), (2,), (3,))),
        ("SELECT id, (SELECT b FROM u WHERE u.id = t.id) FROM t ORDER BY 1", ((1, 5), (2, None), (3, None))),
        ("SELECT a FROM t UNION SELECT b FROM u ORDER BY 1", ((None,), (5,), (10,))),
        ("SELECT x.k FROM (SELECT id AS k FROM t) x WHERE x.k > 1 ORDER BY 1", ((2,), (3,))),
        ("WITH c AS (SELECT id FROM t) SELECT COUNT(*) FROM c, c AS d", ((9,),)),
        ("SELECT id, RANK() OVER (ORDER BY a) FROM t ORDER BY 1", ((1, 2), (2, 1), (3, 2))),
        ("SELECT id, LAG(id) OVER (ORDER BY id) FROM t ORDER BY 1", ((1, None), (2, 1), (3, 2))),
    ],
)
def test_rows(sql: str, expected: Any) -> None:
    assert rows(sql) == expected


def test_full_join_and_null_order_in_postgres() -> None:
    sql = "SELECT t.id, u.id FROM t FULL JOIN u ON t.id = u.id ORDER BY 1, 2"
    assert rows(sql, "postgres") == ((1, 1), (2, None), (3, 3), (None, 4))


def test_without_order_any_sequence_is_admitted() -> None:
    result = compiled("SELECT id FROM t").run(VIEWS)
    assert result.determined
    assert not result.ordered
    assert result.admits([(3,), (1,), (2,)])
    assert not result.admits([(3,), (1,), (1,)])
    assert not result.admits([(3,), (1,)])


def test_order_by_determines_as_much_as_it_says() -> None:
    result = compiled("SELECT id, a FROM t ORDER BY a").run(VIEWS)
    assert result.admits([(2, None), (3, 10), (1, 10)])
    assert not result.admits([(1, 10), (2, None), (3, 10)])


def test_a_limit_through_ties_admits_each_choice() -> None:
    result = compiled("SELECT id FROM t ORDER BY a LIMIT 2").run(VIEWS)
    assert not result.determined
    assert result.admits([(2,), (1,)])
    assert result.admits([(2,), (3,)])
    assert not result.admits([(1,), (3,)])


def test_a_scalar_subquery_with_several_rows_is_an_error() -> None:
    with pytest.raises(EvaluationError) as caught:
        rows("SELECT (SELECT id FROM u)")
    assert caught.value.kind is ErrorKind.SYNTAX


def test_ungrouped_columns() -> None:
    sql = "SELECT a, COUNT(*) FROM t"
    with pytest.raises(EvaluationError):
        rows(sql, "postgres")
    with pytest.raises(Unknown):
        rows(sql, "mysql")
    with pytest.raises(Unknown):
        rows(sql, "mariadb")  # the group does not agree on it
    assert rows("SELECT a, COUNT(*) FROM t WHERE a = 10", "mariadb") == ((10, 2),)


def test_matches_name_the_rows_of_each_table() -> None:
    query = compiled("SELECT 1 FROM t JOIN u ON t.a = u.b WHERE t.id > 1")
    assert query.matches(VIEWS) == [{"t": 2, "u": 2}]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT x.k FROM (SELECT id * 9223372036854775807 AS k FROM t) x WHERE x.k > 2",  # if it is computed
        "WITH RECURSIVE c AS (SELECT 1) SELECT * FROM c",
        "SELECT * FROM t NATURAL JOIN u",
        "SELECT NOW()",
    ],
)
def test_what_is_not_modelled_is_unknown(sql: str) -> None:
    with pytest.raises(Unknown):
        rows(sql)


def test_unreadable_text_has_no_tree() -> None:
    assert parse("SELEC 1 FROM", "mysql") is None
    assert parse("SELECT 1; SELECT 2", "mysql") is None


def test_a_derived_table_may_compute_what_does_not_fail() -> None:
    assert rows("SELECT x.k FROM (SELECT id + 1 AS k FROM t) x WHERE x.k > 2") != ()
