"""Sessions: launching without waiting, cancelling, losing the connection, leaving nothing behind."""

from collections.abc import Callable
from time import monotonic

import pytest

from acidtest.errors import TargetFailedError
from acidtest.model import ErrorKind, Failed, TransactionState, Undone
from acidtest.targets import Session, Target
from tests.conformance.driver import GUARD_S, Driver
from tests.conformance.profiles import Profile

MORE_THAN_ANY_SERVER_TAKES = 2000


def test_launch_and_poll_do_not_wait_and_cancel_stops_the_statement(
    target: Target, driver: Driver, profile: Profile
) -> None:
    if profile.long_statement is None:
        pytest.skip("statements run to their end when they are launched here")
    (session,) = driver.open()
    session.launch(profile.long_statement)
    assert session.poll() is None
    target.cancel(session)
    outcome = driver.reply(session).outcome
    assert isinstance(outcome, Failed)
    assert outcome.kind is ErrorKind.CANCELLED
    assert driver.rows(session, "SELECT id FROM parent WHERE id = 1") == ((1,),)


def test_many_sessions_are_in_flight_at_once(driver: Driver) -> None:
    sessions = driver.open(8)
    for number, session in enumerate(sessions):
        session.launch(f"SELECT {number} FROM parent WHERE id = 1")
    answers = [driver.reply(session).outcome for session in sessions]
    assert [answer.rows for answer in answers] == [((number,),) for number in range(8)]  # type: ignore[union-attr]


def test_cleaning_ends_an_open_transaction(target: Target, driver: Driver) -> None:
    session, other = driver.open(2)
    driver.succeed(session, "BEGIN", "UPDATE parent SET v = 99 WHERE id = 1")
    target.clean(session, thorough=False)
    assert session.transaction is TransactionState.NONE
    driver.succeed(other, "UPDATE parent SET v = v + 1 WHERE id = 1")
    assert target.state(["parent"])["parent"][0][:2] == (1, 11)


def test_cleaning_ends_a_transaction_after_an_error(target: Target, driver: Driver) -> None:
    (session,) = driver.open()
    driver.succeed(session, "BEGIN")
    driver.fail(session, "SELECT * FROM nowhere", ErrorKind.NO_SUCH_OBJECT)
    target.clean(session, thorough=False)
    assert driver.rows(session, "SELECT id FROM parent WHERE id = 1") == ((1,),)


def test_thorough_cleaning_forgets_variables(target: Target, driver: Driver, profile: Profile) -> None:
    (session,) = driver.open()
    for level in target.levels:
        target.set_level(session, level)
        untouched = driver.rows(session, profile.show_variable)
        driver.succeed(session, profile.set_variable)
        assert driver.rows(session, profile.show_variable) != untouched
        target.clean(session, thorough=True)
        assert driver.rows(session, profile.show_variable) == untouched


def test_thorough_cleaning_drops_temporary_tables(
    target: Target, driver: Driver, profile: Profile, need: Callable[[object, str], None]
) -> None:
    need(profile.temporary_table, "temporary tables")
    assert profile.temporary_table
    (session,) = driver.open()
    driver.succeed(session, profile.temporary_table)
    assert driver.rows(session, "SELECT * FROM mine") == ()
    target.clean(session, thorough=True)
    driver.fail(session, "SELECT * FROM mine", ErrorKind.NO_SUCH_OBJECT)


def test_a_killed_session_says_so_and_the_others_live_on(
    target: Target, driver: Driver, profile: Profile, need: Callable[[object, str], None]
) -> None:
    need(profile.kill, "way to kill a session")
    assert profile.kill
    assert profile.session_id
    victim, killer = driver.open(2)
    driver.succeed(victim, "BEGIN", "UPDATE parent SET v = 99 WHERE id = 1")
    ((number,),) = driver.rows(victim, profile.session_id)
    driver.succeed(killer, profile.kill.format(number))
    outcome = driver.run(victim, "SELECT id FROM parent").outcome
    assert isinstance(outcome, Failed)
    assert (outcome.kind, outcome.undone) == (ErrorKind.CONNECTION_LOST, Undone.CONNECTION)
    assert not victim.alive
    assert victim.transaction is TransactionState.NONE
    assert isinstance(driver.run(victim, "SELECT 1").outcome, Failed)
    with pytest.raises(TargetFailedError):
        target.clean(victim, thorough=True)
    assert target.is_alive()
    assert driver.rows(killer, "SELECT v FROM parent WHERE id = 1") == ((10,),)


def test_a_session_killed_in_the_middle_of_a_statement_says_so(
    driver: Driver, profile: Profile, need: Callable[[object, str], None]
) -> None:
    need(profile.kill and profile.long_statement, "way to kill a session")
    assert profile.kill
    assert profile.session_id
    assert profile.long_statement
    victim, killer = driver.open(2)
    ((number,),) = driver.rows(victim, profile.session_id)
    victim.launch(profile.long_statement)
    driver.succeed(killer, profile.kill.format(number))
    outcome = driver.reply(victim).outcome
    assert isinstance(outcome, Failed)
    assert outcome.kind is ErrorKind.CONNECTION_LOST
    assert not victim.alive


def test_a_closed_session_is_not_alive_and_closing_twice_is_fine(driver: Driver) -> None:
    (session,) = driver.open()
    session.close()
    session.close()
    assert not session.alive
    assert isinstance(driver.run(session, "SELECT 1").outcome, Failed)


def test_a_server_out_of_connections_is_one_sentence_and_takes_new_ones_when_old_ones_close(
    target: Target, profile: Profile
) -> None:
    if not profile.limits_connections:
        pytest.skip("connections are not limited here")
    crowd: list[Session] = []
    with pytest.raises(TargetFailedError) as caught:
        crowd.extend(target.open_session() for _ in range(MORE_THAN_ANY_SERVER_TAKES))
    assert "\n" not in str(caught.value)
    for session in crowd:
        session.close()
    _open_when_there_is_room(target).close()


def _open_when_there_is_room(target: Target) -> Session:
    """A server notices some time after they closed that sessions are gone."""
    deadline = monotonic() + GUARD_S
    while True:
        try:
            return target.open_session()
        except TargetFailedError:
            if monotonic() > deadline:
                raise
