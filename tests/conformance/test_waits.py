"""Who waits for whom, and what ends a wait."""

from collections.abc import Callable

import pytest

from acidtest.model import Affected, ErrorKind, Failed, TransactionState, Undone
from acidtest.targets import Session, Target
from tests.conformance.driver import Driver
from tests.conformance.profiles import Profile

RELEASES = 25


@pytest.fixture
def waiting(target: Target, driver: Driver) -> Driver:
    """The driver, on targets whose statements can wait."""
    if target.watch() is None:
        pytest.skip("no statement ever waits here")
    return driver


def update(key: int) -> str:
    """A write that locks one row."""
    return f"UPDATE parent SET v = v + 1 WHERE id = {key}"


def blocked_by(profile: Profile, *blockers: Session) -> frozenset[Session]:
    """What the watch must say, where the server names blockers at all."""
    return frozenset(blockers if profile.names_blockers else ())


def test_a_waiter_and_its_blocker(waiting: Driver, profile: Profile) -> None:
    holder, waiter = waiting.open(2)
    waiting.succeed(holder, "BEGIN", update(1))
    waits = waiting.launch_waiting(waiter, update(1))
    assert waits == {waiter: blocked_by(profile, holder)}
    waiting.succeed(holder, "COMMIT")
    outcome = waiting.reply(waiter).outcome
    assert isinstance(outcome, Affected)
    assert waiting.rows(holder, "SELECT v FROM parent WHERE id = 1") == ((12,),)


def test_a_locking_read_waits(waiting: Driver, profile: Profile) -> None:
    assert profile.for_update
    holder, waiter = waiting.open(2)
    waiting.succeed(holder, "BEGIN", update(1))
    waiting.succeed(waiter, "BEGIN")  # TiDB locks nothing for a read outside a transaction
    waiting.launch_waiting(waiter, profile.for_update)
    waiting.succeed(holder, "ROLLBACK")
    assert waiting.reply(waiter).outcome.rows[0][:2] == (1, 10)  # type: ignore[union-attr]


def test_a_chain_of_waiters(waiting: Driver, profile: Profile) -> None:
    first, second, third = waiting.open(3)
    waiting.succeed(first, "BEGIN", update(1))
    waiting.succeed(second, "BEGIN", update(2))
    waiting.launch_waiting(second, update(1))
    waiting.launch_waiting(third, update(2))
    waits = waiting.until_waiting(second, third)
    assert waits == {second: blocked_by(profile, first), third: blocked_by(profile, second)}
    waiting.succeed(first, "COMMIT")
    assert isinstance(waiting.reply(second).outcome, Affected)
    assert third in waiting.until_waiting(third)
    waiting.succeed(second, "COMMIT")
    assert isinstance(waiting.reply(third).outcome, Affected)


def test_two_waiters_for_one(waiting: Driver, profile: Profile) -> None:
    holder, second, third = waiting.open(3)
    waiting.succeed(holder, "BEGIN", update(1))
    waiting.launch_waiting(second, update(1))
    waiting.launch_waiting(third, update(1))
    waits = waiting.until_waiting(second, third)
    assert waits[second] == blocked_by(profile, holder)
    waiting.succeed(holder, "COMMIT")
    for waiter in (second, third):
        assert isinstance(waiting.reply(waiter).outcome, Affected)
    assert waiting.rows(holder, "SELECT v FROM parent WHERE id = 1") == ((13,),)


def test_after_the_reply_to_commit_nobody_it_released_is_said_to_wait(waiting: Driver) -> None:
    holder, waiter = waiting.open(2)
    for _ in range(RELEASES):
        waiting.succeed(holder, "BEGIN", update(1))
        waiting.launch_waiting(waiter, update(1))
        waiting.succeed(holder, "COMMIT")
        assert waiter not in waiting.waits([waiter])
        waiting.reply(waiter)


def test_nobody_waits_who_does_not(waiting: Driver) -> None:
    one, other = waiting.open(2)
    waiting.succeed(one, "BEGIN", update(1))
    waiting.succeed(other, "BEGIN", update(2))
    assert waiting.waits([one, other]) == {}


def test_a_deadlock_has_a_victim_and_lets_the_other_through(waiting: Driver) -> None:
    one, other = waiting.open(2)
    waiting.succeed(one, "BEGIN", update(1))
    waiting.succeed(other, "BEGIN", update(2))
    waiting.launch_waiting(one, update(2))
    other.launch(update(1))
    replies = [waiting.reply(session) for session in (one, other)]  # the victim lets the other through
    failed = [reply for reply in replies if isinstance(reply.outcome, Failed)]
    assert len(failed) == 1
    assert isinstance(failed[0].outcome, Failed)
    assert failed[0].outcome.kind is ErrorKind.DEADLOCK
    assert failed[0].outcome.undone is Undone.TRANSACTION
    assert failed[0].transaction is not TransactionState.OPEN


def test_nowait_fails_instead_of_waiting(
    waiting: Driver, profile: Profile, need: Callable[[object, str], None]
) -> None:
    need(profile.nowait, "nowait")
    assert profile.nowait
    holder, hasty = waiting.open(2)
    waiting.succeed(holder, "BEGIN", update(1))
    waiting.succeed(hasty, "BEGIN")
    waiting.fail(hasty, profile.nowait, ErrorKind.LOCK_NOT_AVAILABLE)


def test_a_lock_timeout_ends_the_wait(
    waiting: Driver, profile: Profile, need: Callable[[object, str], None]
) -> None:
    need(profile.set_lock_timeout, "lock time-out")
    assert profile.set_lock_timeout
    holder, waiter = waiting.open(2)
    waiting.succeed(holder, "BEGIN", update(1))
    waiting.succeed(waiter, profile.set_lock_timeout, "BEGIN")
    failure = waiting.fail(waiter, update(1), ErrorKind.LOCK_TIMEOUT)
    assert failure.undone is profile.error_undoes
    assert waiter.transaction is profile.state_after_error


def test_a_waiter_can_be_cancelled(waiting: Driver, target: Target) -> None:
    holder, waiter = waiting.open(2)
    waiting.succeed(holder, "BEGIN", update(1))
    waiting.launch_waiting(waiter, update(1))
    target.cancel(waiter)
    outcome = waiting.reply(waiter).outcome
    assert isinstance(outcome, Failed)
    assert outcome.kind is ErrorKind.CANCELLED
    waiting.succeed(holder, "COMMIT")
    assert waiting.rows(waiter, "SELECT v FROM parent WHERE id = 1") == ((11,),)


def test_where_nothing_waits_a_conflict_is_an_error_at_once(
    target: Target, driver: Driver, profile: Profile
) -> None:
    if target.watch() is not None:
        pytest.skip("conflicts wait here")
    one, other = driver.open(2)
    driver.succeed(one, "BEGIN", update(1))
    driver.succeed(other, "BEGIN")
    outcome = driver.run(other, update(1)).outcome
    assert isinstance(outcome, Failed)
    assert outcome.kind in profile.conflict_kinds
    driver.run(other, "ROLLBACK")
    driver.succeed(one, "COMMIT")
    driver.succeed(other, update(1))
