"""Levels: all that a target lists can be set and show in what a transaction sees; others are refused."""

import pytest

from acidtest.errors import UsageError
from acidtest.model import Level, Reply, TransactionState
from acidtest.targets import Session, Target
from tests.conformance.driver import Driver
from tests.conformance.profiles import Profile

READ = "SELECT v FROM parent WHERE id = 1"
WRITE = "UPDATE parent SET v = 99 WHERE id = 1"
EACH_STATEMENT_ANEW = (Level.READ_UNCOMMITTED, Level.READ_COMMITTED)


def test_the_default_is_one_of_the_levels(target: Target) -> None:
    assert target.default_level in target.levels
    assert list(target.levels) == sorted(target.levels, key=list(Level).index)


def test_levels_that_the_dbms_lacks_are_refused(target: Target) -> None:
    for level in Level:
        if level not in target.levels:
            with pytest.raises(UsageError, match=level.value):
                target.check_levels([level])


def test_a_committed_change_shows_in_the_next_read_or_not_as_the_level_says(
    target: Target, driver: Driver
) -> None:
    reader, writer = driver.open(2)
    for level in target.levels:
        target.rebuild(_ROW)
        target.set_level(reader, level)
        driver.succeed(reader, "BEGIN")
        first = driver.rows(reader, READ)
        writer.launch(WRITE)  # where readers lock, this waits until the reader is done
        finished = writer.poll() if target.watch() is None else _settle(driver, writer)
        second = driver.rows(reader, READ)
        assert (first != second) is (level in EACH_STATEMENT_ANEW), level
        driver.succeed(reader, "COMMIT")
        if finished is None:
            driver.reply(writer)


def _settle(driver: Driver, writer: Session) -> Reply | None:
    """The writer's reply, or None once the server says that it waits."""
    while (reply := writer.poll()) is None:
        if writer in driver.waits([writer]):
            return None
    return reply


_ROW = ("CREATE TABLE parent (id INT PRIMARY KEY, v INT)", "INSERT INTO parent VALUES (1, 10)")


def test_an_uncommitted_change_shows_only_where_dirty_reads_are_allowed(
    target: Target, driver: Driver, profile: Profile
) -> None:
    reader, writer = driver.open(2)
    for level in target.levels:
        if level is Level.SERIALIZABLE and target.watch() is not None:
            continue  # a reader that locks would wait for the writer
        target.set_level(reader, level)
        driver.succeed(writer, "BEGIN", WRITE)
        dirty = driver.rows(reader, READ) == ((99,),)
        assert dirty is (level is profile.level_with_dirty_reads), level
        driver.succeed(writer, "ROLLBACK")


def test_a_level_stays_for_the_coming_transactions_and_the_next_one_replaces_it(
    target: Target, driver: Driver
) -> None:
    (session,) = driver.open()
    for level in (*target.levels, *reversed(target.levels)):
        target.set_level(session, level)
        target.set_level(session, level)
        driver.succeed(session, "BEGIN", READ, "COMMIT", "BEGIN", READ, "COMMIT")
        assert session.transaction is TransactionState.NONE


def test_sessions_have_levels_of_their_own(target: Target, driver: Driver) -> None:
    if Level.READ_COMMITTED not in target.levels or Level.REPEATABLE_READ not in target.levels:
        pytest.skip("this DBMS has one level")
    weak, strong, writer = driver.open(3)
    target.set_level(weak, Level.READ_COMMITTED)
    target.set_level(strong, Level.REPEATABLE_READ)
    for reader in (weak, strong):
        driver.succeed(reader, "BEGIN", READ)
    driver.succeed(writer, WRITE)
    assert driver.rows(weak, READ) == ((99,),)
    assert driver.rows(strong, READ) == ((10,),)


def test_a_write_to_a_row_that_changed_since_the_snapshot_fails_where_the_dbms_says_so(
    target: Target, driver: Driver, profile: Profile
) -> None:
    late, early = driver.open(2)
    expected = profile.stale_write if profile.has("stale_write", target) else {}
    for level, kind in expected.items():
        target.set_level(late, level)
        driver.succeed(late, "BEGIN", READ)
        driver.succeed(early, "UPDATE parent SET v = v + 1 WHERE id = 1")
        driver.fail(late, "UPDATE parent SET v = v + 1 WHERE id = 1", kind)
        target.clean(late, thorough=False)
