"""What statements read and write, by column and by row."""

import pytest

from acidtest.app.access import EXISTENCE, Access, Reader, conflict
from acidtest.model import Action, Column, ForeignKey, Index, Schema, Table


def table(
    name: str, *columns: str, keys: tuple[ForeignKey, ...] = (), triggers: tuple[str, ...] = ()
) -> Table:
    return Table(
        name,
        tuple(Column(one, "integer", nullable=True, auto_increment=one == "id") for one in columns),
        (Index(f"{name}_pkey", ("id",), unique=True, primary=True),),
        foreign_keys=keys,
        triggers=triggers,
    )


SCHEMA = Schema(
    (
        table("audit", "id", "note"),
        table(
            "line",
            "id",
            "orders_id",
            "amount",
            keys=(ForeignKey("k", ("orders_id",), "orders", ("id",), Action.CASCADE),),
        ),
        table("orders", "id", "who"),
        table("stock", "id", "left_", "name"),
        table("watched", "id", "note", triggers=("t",)),
    ),
    functions=("do_everything",),
)
READER = Reader(SCHEMA, "postgres")


def touched(sql: str) -> Access:
    return READER.access(sql)


def meet(one: str, other: str) -> frozenset[tuple[str, str]]:
    return conflict(touched(one), touched(other), READER.unique)


def test_a_query_reads_its_columns_and_which_rows_there_are() -> None:
    found = touched('SELECT "stock"."left_" FROM "stock" WHERE "stock"."id" = 1 LIMIT 21')
    assert found.reads == {("stock", "left_"), ("stock", "id"), ("stock", EXISTENCE)}
    assert found.writes == frozenset()
    assert found.rows == {"stock": frozenset({"1"})}


def test_an_update_writes_only_what_it_sets() -> None:
    found = touched("UPDATE stock SET left_ = left_ - 1 WHERE id = 1")
    assert found.writes == {("stock", "left_")}
    assert ("stock", "left_") in found.reads


def test_a_set_column_that_is_not_used_is_not_read() -> None:
    assert ("stock", "left_") not in touched("UPDATE stock SET left_ = 5 WHERE id = 1").reads


def test_other_columns_and_other_rows_do_not_conflict() -> None:
    assert (
        meet("SELECT name FROM stock WHERE id = 1", "UPDATE stock SET left_ = 0 WHERE id = 1") == frozenset()
    )
    assert (
        meet("SELECT left_ FROM stock WHERE id = 1", "UPDATE stock SET left_ = 0 WHERE id = 2") == frozenset()
    )
    assert meet("SELECT left_ FROM stock WHERE id IN (1, 2)", "UPDATE stock SET left_ = 0 WHERE id = 2") == {
        ("stock", "left_")
    }


def test_a_condition_sees_new_rows_and_a_key_does_not() -> None:
    insert = "INSERT INTO orders (who) VALUES ('a')"
    assert meet("SELECT count(*) FROM orders WHERE who = 'a'", insert)
    assert meet("SELECT who FROM orders WHERE id = 3", insert) == frozenset()
    assert meet(insert, insert) == frozenset()


def test_removing_a_parent_conflicts_with_a_new_child_and_takes_its_children() -> None:
    assert meet("DELETE FROM orders WHERE id = 1", "INSERT INTO line (orders_id, amount) VALUES (1, 2)")
    assert ("line", "amount") in touched("DELETE FROM orders WHERE id = 1").writes


@pytest.mark.parametrize(
    "sql", ["INSERT INTO watched (note) VALUES (1)", "SELECT do_everything(1)"], ids=["trigger", "function"]
)
def test_what_does_more_than_it_says_touches_everything(sql: str) -> None:
    found = touched(sql)
    assert not found.sure
    assert ("audit", "note") in found.writes


def test_what_cannot_be_read_counts_by_table() -> None:
    found = touched("FROBNICATE stock WITH GLEE")
    assert not found.sure
    assert found.tables == {"stock"}


def test_ends_and_settings_touch_nothing() -> None:
    for sql in ("COMMIT", "SET search_path = x", "BEGIN"):
        assert touched(sql).tables == frozenset()


def test_an_insert_with_a_key_of_its_own_meets_only_that_row() -> None:
    insert = "INSERT INTO stock (id, left_) VALUES (7, 1)"
    assert meet("SELECT left_ FROM stock WHERE id = 7", insert)
    assert meet("SELECT left_ FROM stock WHERE id = 8", insert) == frozenset()
    assert meet("SELECT count(*) FROM stock", insert)
