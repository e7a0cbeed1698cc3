"""What a statement comes to: typed rows, counts, errors by kind with what they undid."""

import pytest

from acidtest.model import Affected, ErrorKind, Failed, Rows, TransactionState, Undone
from acidtest.targets import Target
from tests.conformance.driver import Driver
from tests.conformance.profiles import Profile


def test_every_type_comes_back_as_the_value_that_went_in(
    target: Target, profile: Profile, driver: Driver
) -> None:
    columns = ", ".join(f"c{i} {sample.type}" for i, sample in enumerate(profile.samples))
    literals = ", ".join(sample.literal for sample in profile.samples)
    target.rebuild([f"CREATE TABLE samples ({columns})", f"INSERT INTO samples VALUES ({literals})"])
    (session,) = driver.open()
    (row,) = driver.rows(session, "SELECT * FROM samples")
    assert [(type(value), value) for value in row] == [(type(s.value), s.value) for s in profile.samples]
    assert target.state(["samples"])["samples"] == (row,)


def test_null_of_every_type_is_none(target: Target, profile: Profile, driver: Driver) -> None:
    columns = ", ".join(f"c{i} {sample.type}" for i, sample in enumerate(profile.samples))
    nulls = ", ".join("NULL" for _ in profile.samples)
    target.rebuild([f"CREATE TABLE samples ({columns})", f"INSERT INTO samples VALUES ({nulls})"])
    (session,) = driver.open()
    assert driver.rows(session, "SELECT * FROM samples") == ((None,) * len(profile.samples),)


def test_an_empty_result_keeps_its_column_names(driver: Driver) -> None:
    (session,) = driver.open()
    assert driver.run(session, "SELECT id, v FROM parent WHERE id = 99").outcome == Rows(("id", "v"), ())


def test_rows_come_in_the_order_asked_for(driver: Driver) -> None:
    (session,) = driver.open()
    assert driver.rows(session, "SELECT id FROM parent ORDER BY id DESC") == ((3,), (2,), (1,))


@pytest.mark.parametrize(
    ("sql", "count"),
    [
        ("INSERT INTO parent VALUES (7, 7, 'x', 7), (8, 8, 'y', 8)", 2),
        ("UPDATE parent SET v = v + 1", 3),
        ("UPDATE parent SET v = v + 1 WHERE id = 99", 0),
        ("DELETE FROM parent WHERE id IN (2, 3)", 2),
        ("DELETE FROM parent WHERE id = 99", 0),
    ],
)
def test_writes_tell_how_many_rows_they_changed(driver: Driver, sql: str, count: int) -> None:
    (session,) = driver.open()
    outcome = driver.run(session, sql).outcome
    assert isinstance(outcome, Affected)
    assert outcome.count == count


def test_a_result_larger_than_any_buffer_comes_whole(driver: Driver, profile: Profile) -> None:
    (session,) = driver.open()
    numbers = ", ".join(f"({number}, 1, 'x', 1)" for number in range(100, 1100))
    driver.succeed(session, f"INSERT INTO parent VALUES {numbers}")
    rows = driver.rows(session, profile.wide_text)
    assert len(rows) == 1003
    assert {len(str(text)) for text, _ in rows} == {1000}


def test_a_statement_larger_than_any_buffer_goes_whole(driver: Driver) -> None:
    (session,) = driver.open()
    assert driver.rows(session, f"SELECT id FROM parent WHERE s = 'a' OR s = '{'x' * 1_000_000}'") == ((1,),)


def test_hints_comments_and_line_breaks_are_sent(driver: Driver, profile: Profile) -> None:
    (session,) = driver.open()
    assert driver.rows(session, profile.hinted) == ((1,),)


def test_a_text_that_cannot_be_sent_is_an_error_and_harms_nothing(driver: Driver) -> None:
    (session,) = driver.open()
    for sql in ("SELECT 'a\0b' FROM parent", "SELECT '\ud800' FROM parent"):
        outcome = driver.run(session, sql).outcome
        assert isinstance(outcome, Failed), sql
    assert driver.rows(session, "SELECT id FROM parent WHERE id = 1") == ((1,),)


# -- errors


def test_errors_outside_a_transaction_undo_just_the_statement(
    target: Target, driver: Driver, profile: Profile
) -> None:
    (session,) = driver.open()
    before = target.state(["parent", "child"])
    for provocation in profile.provocations:
        if profile.has(provocation.feature, target):
            failure = driver.fail(session, provocation.sql, provocation.kind)
            assert failure.undone is Undone.STATEMENT, provocation
            assert failure.message, provocation
            assert session.transaction is TransactionState.NONE, provocation
    assert target.state(["parent", "child"]) == before


def test_errors_inside_a_transaction_undo_what_they_say(
    target: Target, driver: Driver, profile: Profile
) -> None:
    (session,) = driver.open()
    for number, provocation in enumerate(profile.provocations):
        if not profile.has(provocation.feature, target):
            continue
        key = 1000 + number
        driver.succeed(session, "BEGIN", f"INSERT INTO parent VALUES ({key}, 1, 'x', 1)")
        failure = driver.fail(session, provocation.sql, provocation.kind)
        assert failure.undone is profile.error_undoes, provocation
        assert session.transaction is profile.state_after_error, provocation
        driver.run(session, "COMMIT")
        assert session.transaction is TransactionState.NONE
        kept = driver.rows(session, f"SELECT id FROM parent WHERE id = {key}")
        assert bool(kept) is (failure.undone is Undone.STATEMENT), provocation


def test_commit_of_a_failed_transaction_is_not_taken_for_a_commit(driver: Driver, profile: Profile) -> None:
    if profile.state_after_error is not TransactionState.FAILED:
        pytest.skip("an error leaves the transaction usable here")
    (session,) = driver.open()
    driver.succeed(session, "BEGIN")
    driver.fail(session, "SELECT * FROM nowhere", ErrorKind.NO_SUCH_OBJECT)
    refused = driver.fail(session, "SELECT 1", ErrorKind.TRANSACTION_STATE)
    assert refused.undone is Undone.NOTHING
    assert driver.fail(session, "COMMIT", ErrorKind.TRANSACTION_STATE).undone is Undone.TRANSACTION
    assert session.transaction is TransactionState.NONE


def test_a_read_only_transaction_refuses_writes(driver: Driver, profile: Profile) -> None:
    if profile.read_only_begin is None:
        pytest.skip("no read-only transactions here")
    (session,) = driver.open()
    driver.succeed(session, profile.read_only_begin)
    driver.fail(session, "UPDATE parent SET v = 0", ErrorKind.READ_ONLY)


# -- transactions


def test_the_transaction_state_follows_the_statements(driver: Driver) -> None:
    (session,) = driver.open()
    seen = [
        driver.succeed(session, sql).transaction
        for sql in (
            "SELECT id FROM parent",
            "BEGIN",
            "UPDATE parent SET v = 11 WHERE id = 1",
            "COMMIT",
            "BEGIN",
            "ROLLBACK",
        )
    ]
    none, in_one = TransactionState.NONE, TransactionState.OPEN
    assert seen == [none, in_one, in_one, none, in_one, none]


def test_savepoints(driver: Driver, profile: Profile, target: Target) -> None:
    if not profile.savepoints or not profile.has("savepoints", target):
        pytest.skip("no savepoints here")
    (session,) = driver.open()
    driver.succeed(
        session,
        "BEGIN",
        "UPDATE parent SET v = 11 WHERE id = 1",
        "SAVEPOINT here",
        "UPDATE parent SET v = 22 WHERE id = 2",
    )
    driver.fail(session, "INSERT INTO parent VALUES (1, 1, 'x', 1)", ErrorKind.DUPLICATE_KEY)
    driver.succeed(session, "ROLLBACK TO SAVEPOINT here")
    assert session.transaction is TransactionState.OPEN
    driver.succeed(session, "RELEASE SAVEPOINT here", "COMMIT")
    assert [row[:2] for row in target.state(["parent"])["parent"]] == [(1, 11), (2, 20), (3, 30)]
