"""Conflict construction and order filters."""

import random
from dataclasses import replace
from itertools import islice

import pytest
from sqlglot import exp

from acidtest.generate import SIMPLE, Conflict, Conflicts, Generator, Strategy, flavour_of
from acidtest.generate.conflicts import ConflictConstruction, come_back
from acidtest.generate.flavour import FLAVOURS
from acidtest.generate.orders import sample_orders
from acidtest.generate.statements import Draft, Kind
from acidtest.generate.tables import ColumnDef, TableDef
from acidtest.model import Level, Row
from acidtest.sql.trees import parse

INT = FLAVOURS["mariadb"].types[0]
TABLE = TableDef("t", (ColumnDef("a", INT, (1, 2, 3)), ColumnDef("b", INT, (1, 2, 3))))
ROWS: dict[str, tuple[Row, ...]] = {"t": ((1, None),)}
OFF = Conflicts(share=1, fully_shared=False, partially_shared=False, contained=False, contained_insert=False)


def draft(sql: str, kind: Kind, rows: tuple[Row, ...] = ()) -> Draft:
    tree = parse(sql, "mysql")
    assert tree is not None
    return Draft(kind, tree.copy(), TABLE, rows)


def construct(switches: Conflicts, first: Draft, second: Draft) -> list[Conflict]:
    # The pair is drawn in either order; this seed keeps it as given.
    construction = ConflictConstruction(FirstThenSecond(), flavour_of("mariadb"), switches)
    return construction.construct([[first], [second]], [TABLE], ROWS)


class FirstThenSecond(random.Random):
    def sample(self, population, k, **_):  # type: ignore[no-untyped-def]
        return list(population)[:k]


def where(one: Draft) -> str:
    assert one.condition is not None
    return str(one.condition.sql("mysql"))


def test_fully_shared_filter_is_the_same_condition() -> None:
    first, second = (
        draft("SELECT * FROM t WHERE a = 1", Kind.READ),
        draft("DELETE FROM t WHERE b = 2", Kind.DELETE),
    )
    (conflict,) = construct(replace(OFF, fully_shared=True), first, second)
    assert conflict.strategy is Strategy.FULLY_SHARED
    assert where(second) == where(first) == "a = 1"


def test_partially_shared_filter_stands_in_parentheses() -> None:
    first = draft("UPDATE t SET a = 1 WHERE a = 1 AND b = 1", Kind.UPDATE)
    second = draft("DELETE FROM t WHERE a = 2 AND b = 2", Kind.DELETE)
    construct(replace(OFF, partially_shared=True), first, second)
    assert where(second) == "(a = 1 AND b = 1) OR (a = 2 AND b = 2)"


@pytest.mark.parametrize(
    ("condition", "becomes"),
    [("a = 1", "a = 1"), ("a = 2", "NOT (a = 2)"), ("b = 1", "(b = 1) IS NULL")],
)
def test_containment_makes_conditions_hold_for_a_row(condition: str, becomes: str) -> None:
    first = draft(f"SELECT * FROM t WHERE {condition}", Kind.READ)
    second = draft("UPDATE t SET a = 3 WHERE a = 9", Kind.UPDATE)
    construct(replace(OFF, contained=True), first, second)
    assert where(first) == becomes
    assert where(second) == "NOT (a = 9)"


def test_containment_of_an_insert() -> None:
    first = draft("INSERT INTO t (a, b) VALUES (7, 8)", Kind.INSERT, ((7, 8),))
    second = draft("SELECT * FROM t WHERE a < 5", Kind.READ)
    (conflict,) = construct(replace(OFF, contained_insert=True), first, second)
    assert conflict.strategy is Strategy.CONTAINED_INSERT
    assert where(second) == "NOT (a < 5)"


def test_two_plain_reads_do_not_conflict() -> None:
    reads = [draft("SELECT * FROM t WHERE a = 1", Kind.READ) for _ in range(2)]
    assert construct(Conflicts(share=1), *reads) == []


def test_switched_off_nothing_is_edited() -> None:
    first, second = (
        draft("SELECT * FROM t WHERE a = 1", Kind.READ),
        draft("DELETE FROM t WHERE b = 2", Kind.DELETE),
    )
    assert construct(OFF, first, second) == []
    assert where(second) == "b = 2"


CONFLICT = Conflict(Strategy.FULLY_SHARED, (0, 1), (1, 1))


def orders(conflicts: list[Conflict], wanted: int, *, filtered: bool) -> list[tuple[int, ...]]:
    return list(sample_orders(random.Random(1), [3, 3], conflicts, wanted, filtered=filtered))


def test_orders_are_different_and_limited() -> None:
    found = orders([CONFLICT], 5, filtered=True)
    assert len(found) == len(set(found)) == 5


def test_filtered_orders_have_transactions_that_overlap_at_the_conflict() -> None:
    for order in orders([CONFLICT], 50, filtered=True):
        places = [[i for i, one in enumerate(order) if one == tx] for tx in (0, 1)]
        first, second = sorted(places, key=lambda own: own[1])
        assert second[1] < first[-1]


def test_a_whole_transaction_fits_between_a_snapshot_and_the_conflict() -> None:
    late = Conflict(Strategy.FULLY_SHARED, (0, 2), (1, 1))
    found = set(sample_orders(random.Random(1), [4, 3], [late], 50, filtered=True))
    assert (0, 0, 1, 1, 1, 0, 0) in found


def test_whole_transactions_within_others_come_more_often_than_by_chance() -> None:
    def nested(*, filtered: bool) -> int:
        rng = random.Random(1)
        found = (next(sample_orders(rng, [5, 5], [], 1, filtered=filtered)) for _ in range(400))
        return sum("11111" in "".join(map(str, order)).strip("1") for order in found)

    assert nested(filtered=True) > 3 * max(nested(filtered=False), 1)


def test_serial_orders_are_filtered_only_on_request() -> None:
    serial = {(0, 0, 0, 1, 1, 1), (1, 1, 1, 0, 0, 0)}
    assert not serial & set(orders([], 200, filtered=True))
    assert serial <= set(orders([], 200, filtered=False))


def test_neighbouring_begins_have_one_order() -> None:
    assert not any(order[:2] == (1, 0) for order in orders([], 200, filtered=True))
    assert any(order[:2] == (1, 0) for order in orders([], 200, filtered=False))


def test_most_sets_get_a_conflict_of_every_strategy() -> None:
    generator = Generator(random.Random(1), SIMPLE, flavour_of("mariadb"), (Level.READ_COMMITTED,))
    sets = list(islice(generator.sets(), 150))
    strategies = {conflict.strategy for one in sets for conflict in one.conflicts}
    assert strategies == set(Strategy)
    assert sum(bool(one.conflicts) for one in sets) > 75


def test_a_statement_comes_back_to_the_rows_of_an_earlier_one() -> None:
    earlier = draft("UPDATE t SET b = 1 WHERE a = 1", Kind.UPDATE)
    later = draft("DELETE FROM t WHERE b = 2", Kind.DELETE)
    come_back(random.Random(1), [earlier], later)
    assert where(later) == "a = 1"
    assert later.condition is not earlier.condition


def test_only_rows_of_the_same_table_can_be_come_back_to() -> None:
    later = draft("DELETE FROM t WHERE b = 2", Kind.DELETE)
    come_back(random.Random(1), [Draft(Kind.READ, exp.Select())], later)
    assert where(later) == "b = 2"


def test_editing_keeps_trees_whole() -> None:
    first, second = (
        draft("SELECT * FROM t WHERE a = 1", Kind.READ),
        draft("DELETE FROM t WHERE b = 2", Kind.DELETE),
    )
    construct(replace(OFF, fully_shared=True), first, second)
    assert first.condition is not second.condition
    assert isinstance(second.tree.args["where"], exp.Where)
