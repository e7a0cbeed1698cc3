"""Sessions that one step released may have taken effect in any order."""

from dataclasses import replace

from acidtest.casefile import parse_case
from acidtest.model import (
    Affected,
    ErrorKind,
    Event,
    EventKind,
    Failed,
    History,
    Record,
    Schema,
    TransactionState,
    Undone,
)
from acidtest.oracles.orders import other_orders, released_together

CASE = parse_case("-- schedule\n" + "".join(f"/* tx{i} */ SELECT {i};\n" for i in (1, 2, 3, 1)), "case")


def history(*events: Event, after: TransactionState = TransactionState.NONE) -> History:
    records = tuple(Record(i, "tx", "UPDATE t SET a = 1", Affected(1), after=after) for i in range(4))
    return History(CASE, "t", "1", {}, Schema(), {}, events, records, {})


def event(kind: EventKind, step: int, cause: int | None = None) -> Event:
    return Event(kind, step, f"tx{step}", cause=cause)


L, R, C, A = EventKind.LAUNCHED, EventKind.RESUMED, EventKind.COMPLETED, EventKind.ABORTED


def test_two_released_by_one_commit_have_two_orders() -> None:
    run = history(
        event(L, 3), event(C, 3), event(R, 1, 3), event(C, 1), event(R, 2, 3), event(C, 2), event(A, 2)
    )
    assert released_together(run) == [(1, 2)]
    (other,) = other_orders(run)
    assert [(one.kind, one.step) for one in other.events if one.kind in (C, A)] == [
        (C, 3),
        (C, 2),
        (A, 2),
        (C, 1),
    ]


def test_a_chain_of_releases_has_one_order() -> None:
    run = history(event(L, 3), event(C, 3), event(R, 1, 3), event(C, 1), event(R, 2, 1), event(C, 2))
    assert released_together(run) == []
    assert not list(other_orders(run))


def test_who_closed_a_circle_and_who_waited_were_released_together_by_its_victim() -> None:
    run = history(event(L, 0), event(C, 3), event(A, 3), event(C, 0), event(R, 1, 3), event(C, 1))
    assert released_together(run) == []
    deadlock = Failed(ErrorKind.DEADLOCK, "1213", "deadlock", Undone.TRANSACTION)
    victim = replace(run.records[3], outcome=deadlock)
    run = replace(run, records=(*run.records[:3], victim))
    assert released_together(run) == [(0, 1)]
    (other,) = other_orders(run)
    assert [one.step for one in other.events if one.kind is C] == [3, 1, 0]


def test_a_launch_in_between_fixes_the_order() -> None:
    run = history(event(L, 3), event(R, 1, 3), event(C, 1), event(L, 0), event(R, 2, 3), event(C, 2))
    assert released_together(run) == []


def test_a_step_within_a_transaction_releases_nobody_so_its_own_order_is_open_too() -> None:
    run = history(event(L, 3), event(C, 3), event(R, 1, 3), event(C, 1), after=TransactionState.OPEN)
    assert released_together(run) == [(3, 1)]
    (other,) = other_orders(run)
    assert [one.step for one in other.events if one.kind is C] == [1, 3]
