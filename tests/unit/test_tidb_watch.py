"""Who waits on TiDB, from what TIDB_TRX says: its state lags behind when a session was let through."""

import pytest

from acidtest.model import Level
from acidtest.targets import tidb
from acidtest.targets.mysql_family.replies import ResultSet
from acidtest.targets.tidb import TiDBTarget, TiDBWatch

COLUMNS = ("SESSION_ID", "STATE", "ID", "WAITING_START_TIME")


class Clock:
    """Time that a test moves."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(tidb, "monotonic", made)
    return made


@pytest.fixture
def watch() -> TiDBWatch:
    return TiDBWatch(None, {})  # type: ignore[arg-type]


def read(watch: TiDBWatch, *rows: tuple[int, str, int, str | None]) -> tuple[set[int], set[int]]:
    """Sessions that surely wait, and those that wait by their state."""
    sure, by_state = watch.read((ResultSet(COLUMNS, rows, 0, 0),))
    return set(sure), set(by_state)


HOLDER, WAITER = (1, "Idle", 71, None), (2, "LockWaiting", 72, "10:00:00.1")


def test_a_wait_is_sure_while_those_it_may_wait_for_go_on(watch: TiDBWatch, clock: Clock) -> None:
    assert read(watch, HOLDER, WAITER) == (set(), {2})  # it may just be asking for a free lock
    clock.now += 1
    assert read(watch, HOLDER, WAITER)[0] == {2}
    clock.now += 100
    assert read(watch, HOLDER, WAITER)[0] == {2}


def test_when_one_has_ended_the_state_alone_does_not_count_at_once(watch: TiDBWatch, clock: Clock) -> None:
    other = (3, "Idle", 73, None)
    read(watch, HOLDER, other, WAITER)
    assert read(watch, other, WAITER) == (set(), {2})
    clock.now += 2 * watch.settles_s
    assert read(watch, other, WAITER)[0] == {2}


def test_where_all_are_said_to_wait_nobody_does(watch: TiDBWatch, clock: Clock) -> None:
    read(watch, HOLDER, WAITER)
    clock.now += 100
    assert read(watch, WAITER) == (set(), set())
    assert read(watch, WAITER, (3, "LockWaiting", 73, "10:00:00.1")) == (set(), set())


def test_a_new_wait_of_the_same_session_begins_anew(watch: TiDBWatch, clock: Clock) -> None:
    other = (3, "Idle", 73, None)
    read(watch, HOLDER, other, WAITER)
    assert read(watch, other, WAITER)[0] == set()
    again = (2, "LockWaiting", 72, "10:00:00.2")
    read(watch, other, again)
    clock.now += watch.settles_s * 0.9
    assert read(watch, other, again)[0] == {2}


def test_the_level_that_it_lacks_is_not_offered() -> None:
    assert Level.SERIALIZABLE not in TiDBTarget.levels
