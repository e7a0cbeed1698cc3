"""Which orders are worth forcing."""

from collections.abc import Sequence

from acidtest.app.access import Reader
from acidtest.app.candidates import Step, both_split, exhaustive, one_between, steps_of
from acidtest.app.replay import replay_id
from acidtest.model import Affected, Column, Index, Schema, Table, TransactionState
from acidtest.model.application import Call

FLIGHTS = Table(
    "flights",
    (Column("id", "integer", False), Column("avail", "integer", False), Column("name", "text", True)),
    (Index("p", ("id",), unique=True, primary=True),),
)
READER = Reader(Schema((FLIGHTS,)), "postgres")
OPEN, NONE = TransactionState.OPEN, TransactionState.NONE


def path(name: str, *texts: str) -> list[Step]:
    calls = [
        Call(name, index, name, sql, Affected(1), OPEN, NONE if sql == "COMMIT" else OPEN, index, index)
        for index, sql in enumerate(texts)
    ]
    return steps_of(calls, READER)


def ids(paths: dict[str, Sequence[Sequence[Step]]]) -> list[str]:
    return [replay_id(one.order) for one in one_between(paths, READER.unique)]


READ, WRITE = "SELECT avail FROM flights WHERE id = 1", "UPDATE flights SET avail = 0 WHERE id = 1"


def test_agenda_s_first_example_is_cut_between_its_read_and_its_write() -> None:
    booking = [READ, "COMMIT", WRITE, "COMMIT"]
    found = ids({"A": [path("A", *booking)], "B": [path("B", *booking)]})
    assert found[0] in ("A1-B-A", "A2-B-A")
    assert {"A1-B-A", "A2-B-A", "B1-A-B", "B2-A-B"} <= set(found)


def test_operations_on_other_rows_are_safe() -> None:
    other = [sql.replace("id = 1", "id = 2") for sql in (READ, WRITE)]
    assert ids({"A": [path("A", READ, WRITE)], "B": [path("B", *other)]}) == []


def test_readers_are_safe() -> None:
    assert ids({"A": [path("A", READ, READ)], "B": [path("B", READ)]}) == []


def test_one_statement_has_no_inside() -> None:
    assert ids({"A": [path("A", WRITE)], "B": [path("B", WRITE)]}) == []


def test_places_between_which_nothing_conflicts_are_one() -> None:
    quiet = ["SELECT name FROM flights WHERE id = 7"] * 5
    found = ids({"A": [path("A", READ, *quiet, WRITE)], "B": [path("B", WRITE)]})
    assert found == ["A1-B-A"]


def test_a_read_before_a_write_is_likelier_than_two_reads() -> None:
    found = ids({"A": [path("A", READ, READ, "COMMIT", WRITE, "COMMIT")], "B": [path("B", WRITE)]})
    assert sorted(found) == ["A1-B-A", "A2-B-A", "A3-B-A", "A4-B-A"]
    assert found[-1] == "A4-B-A"  # only its COMMIT is left


def test_both_may_be_cut() -> None:
    booking = [READ, "COMMIT", WRITE, "COMMIT"]
    found = {
        replay_id(one.order)
        for one in both_split({"A": [path("A", *booking)], "B": [path("B", *booking)]}, READER.unique)
    }
    assert "A1-B1-A-B" in found


def test_exhaustive_orders_are_legal_and_once() -> None:
    found = [replay_id(one.order) for one in exhaustive({"A": 2, "B": 2}, 1)]
    assert sorted(found) == sorted(["A1-B-A", "B1-A-B"])
    two = [replay_id(one.order) for one in exhaustive({"A": 2, "B": 2}, 2)]
    assert len(two) == len(set(two))
    assert "A1-B1-A-B" in two
