"""Claims: every level of every target has one, with a link, and it says what the documentation says."""

from dataclasses import replace
from itertools import pairwise

import pytest

from acidtest.casefile import parse_case
from acidtest.claims import Claim, Lock, OnConflict, Sees, SnapshotAt, TableLock, claim_for, claims_of
from acidtest.execute import Executor
from acidtest.model import Affected, ErrorKind, History, Level, Phenomenon, Record, TransactionState
from acidtest.targets.resolve import DBMSS, make_target, open_target

RU, RC = Level.READ_UNCOMMITTED, Level.READ_COMMITTED
RR, SER = Level.REPEATABLE_READ, Level.SERIALIZABLE

SNAPSHOT_ISOLATION = {"innodb_snapshot_isolation": "ON"}


def levels_of(dbms: str) -> tuple[Level, ...]:
    if DBMSS[dbms].driver is not None:
        pytest.importorskip(str(DBMSS[dbms].driver))
    levels: tuple[Level, ...] = make_target(DBMSS[dbms]).levels  # type: ignore[attr-defined]
    return levels


def claim(dbms: str, level: Level, **settings: str) -> Claim:
    found = claim_for(dbms, level, settings)
    assert found is not None
    return found


# -- every claim


@pytest.mark.parametrize("dbms", DBMSS)
def test_every_level_has_a_claim_with_a_link(dbms: str) -> None:
    for level in levels_of(dbms):
        one = claim(dbms, level)
        assert (one.dbms, one.level) == (dbms, level)
        assert one.link.startswith("https://")


@pytest.mark.parametrize("dbms", DBMSS)
def test_a_stronger_level_excludes_all_that_a_weaker_one_does(dbms: str) -> None:
    claims = [claim(dbms, level) for level in levels_of(dbms)]
    for weaker, stronger in pairwise(claims):
        lost = weaker.excludes - stronger.excludes
        # InnoDB and TiDB write on what is newer than the snapshot of REPEATABLE READ, and read the old again.
        goes_back = (
            stronger.plain_read is not stronger.write and stronger.snapshot is not SnapshotAt.STATEMENT
        )
        assert lost == ({Phenomenon.G_MONOTONIC, Phenomenon.INTERNAL} if goes_back else set())


@pytest.mark.parametrize("dbms", DBMSS)
def test_only_what_fails_has_errors_of_conflict(dbms: str) -> None:
    for level in levels_of(dbms):
        one = claim(dbms, level)
        fails = one.on_conflict in (OnConflict.FAIL, OnConflict.REFUSE, OnConflict.AT_COMMIT)
        assert bool(one.conflict_errors) is fails


@pytest.mark.parametrize("dbms", DBMSS)
def test_a_serializable_level_excludes_g2_and_is_the_strongest(dbms: str) -> None:
    levels = levels_of(dbms)
    for level in levels:
        one = claim(dbms, level)
        assert one.serializable is ("G2" in one.excludes)
        assert not one.serializable or level is levels[-1] is SER


def test_nothing_is_claimed_for_a_dbms_that_is_not_known() -> None:
    assert claim_for("oracle", SER, {}) is None


# -- what the documentation says


@pytest.mark.parametrize("dbms", ["mysql", "mariadb"])
def test_innodb_takes_its_snapshot_by_the_first_read_and_writes_the_newest_rows(dbms: str) -> None:
    one = claim(dbms, RR)
    assert (one.snapshot, one.plain_read) == (SnapshotAt.FIRST_READ, Sees.SNAPSHOT)
    assert (one.write, one.locking_read) == (Sees.COMMITTED, Sees.COMMITTED)
    assert one.on_conflict is OnConflict.WAIT
    assert one.predicate_locks


@pytest.mark.parametrize("dbms", ["mysql", "mariadb"])
def test_innodb_locks_plain_reads_at_serializable_only(dbms: str) -> None:
    assert [claim(dbms, level).plain_read_lock for level in levels_of(dbms)] == [*[Lock.NONE] * 3, Lock.SHARE]


def test_postgres_waits_and_then_checks_again_or_fails() -> None:
    assert [claim("postgres", level).on_conflict for level in (RC, RR, SER)] == [
        OnConflict.RECHECK,
        OnConflict.FAIL,
        OnConflict.FAIL,
    ]
    assert claim("postgres", RR).conflict_errors == {ErrorKind.SERIALIZATION_FAILURE}
    assert claim("postgres", RR).snapshot is SnapshotAt.FIRST_STATEMENT


def test_read_uncommitted_is_dirty_on_innodb_and_read_committed_on_postgres() -> None:
    assert claim("mysql", RU).plain_read is Sees.NEWEST
    postgres = claim("postgres", RU)
    assert postgres == replace(claim("postgres", RC), level=RU)


@pytest.mark.parametrize("dbms", ["sqlite", "duckdb"])
def test_embedded_engines_refuse_at_once(dbms: str) -> None:
    one = claim(dbms, levels_of(dbms)[-1])
    assert one.on_conflict is OnConflict.REFUSE


def test_tidb_has_two_modes() -> None:
    pessimistic, optimistic = (claim("tidb", RR, tidb_txn_mode=one) for one in ("pessimistic", "optimistic"))
    assert (pessimistic.on_conflict, optimistic.on_conflict) == (OnConflict.WAIT, OnConflict.AT_COMMIT)
    assert (pessimistic.write, optimistic.write) == (Sees.COMMITTED, Sees.SNAPSHOT)
    assert pessimistic.snapshot is optimistic.snapshot is SnapshotAt.BEGIN
    assert ErrorKind.WRITE_CONFLICT in optimistic.conflict_errors


def test_snapshot_isolation_of_mariadb_turns_current_reads_into_errors() -> None:
    off, on = claim("mariadb", RR), claim("mariadb", RR, **SNAPSHOT_ISOLATION)
    assert claim("mariadb", RR, innodb_snapshot_isolation="OFF") == off
    assert (off.on_conflict, on.on_conflict) == (OnConflict.WAIT, OnConflict.FAIL)
    assert on.conflict_errors == {ErrorKind.RECORD_CHANGED}
    assert "G-single" in on.excludes - off.excludes
    assert on.link != off.link


@pytest.mark.parametrize("level", [RU, RC])
def test_snapshot_isolation_of_mariadb_changes_nothing_below_repeatable_read(level: Level) -> None:
    """But for the error, which may come where a statement has a snapshot."""
    on, off = claim("mariadb", level, **SNAPSHOT_ISOLATION), claim("mariadb", level)
    assert on.may_fail - off.may_fail == {ErrorKind.RECORD_CHANGED}
    assert replace(on, may_fail=off.may_fail) == off


def test_at_serializable_snapshot_isolation_of_mariadb_may_fail_and_still_waits() -> None:
    on = claim("mariadb", SER, **SNAPSHOT_ISOLATION)
    assert on.on_conflict is OnConflict.WAIT
    assert on.may_fail - claim("mariadb", SER).may_fail == {ErrorKind.RECORD_CHANGED}


def test_mysql_does_not_know_the_variable_of_mariadb() -> None:
    assert claim("mysql", RR) == claim("mysql", RR, **SNAPSHOT_ISOLATION)


# -- the claims of a history

MIXED = """\
-- setup
CREATE TABLE t (id INT PRIMARY KEY);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
"""


def history(dbms: str, **settings: str) -> History:
    case = parse_case(MIXED, "mixed").at_level(RR)
    with open_target("simulated") as target, Executor(target) as executor:
        ran = executor.run(case)
    return replace(ran, dbms=dbms, settings=settings, levels={"tx1": RC, "tx2": RR})


def test_each_session_has_the_claim_of_its_own_level() -> None:
    claims = claims_of(history("mariadb"))
    assert claims == {"tx1": claim("mariadb", RC), "tx2": claim("mariadb", RR)}


def test_settings_of_the_server_decide() -> None:
    claims = claims_of(history("mariadb", **SNAPSHOT_ISOLATION))
    assert claims is not None
    assert claims["tx2"].on_conflict is OnConflict.FAIL


def test_a_history_of_an_unknown_dbms_has_no_claims() -> None:
    assert claims_of(history("oracle")) is None


def with_begin(ran: History, session: str, *begins: str) -> History:
    """The history with other texts for the session's statements from the first on."""
    texts = iter(begins)
    records = [
        replace(one, sql=next(texts, one.sql)) if one.session == session else one for one in ran.records
    ]
    return replace(ran, records=tuple(records))


def test_a_transaction_of_tidb_has_the_mode_of_its_begin() -> None:
    ran = with_begin(
        history("tidb", tidb_txn_mode="optimistic"), "tx2", "BEGIN PESSIMISTIC", "BEGIN OPTIMISTIC"
    )
    claims = claims_of(ran)
    assert claims is not None
    steps = [record.step for record in ran.records if record.session == "tx2"]
    assert claims["tx1"].on_conflict is OnConflict.AT_COMMIT
    found = [claims.at("tx2", step).on_conflict for step in steps[:2]]
    assert found == [OnConflict.WAIT, OnConflict.AT_COMMIT]


# -- levels that statements choose


def levels(dbms: str, *statements: tuple[str, TransactionState]) -> list[Level]:
    """The levels of a session's steps, which begins at RC; each with where the session stood before it."""
    ran = history(dbms)
    records = tuple(
        Record(step, "tx1", sql, Affected(0), before=before) for step, (sql, before) in enumerate(statements)
    )
    claims = claims_of(replace(ran, records=records, levels={"tx1": RC}))
    assert claims is not None
    return [claims.at("tx1", record.step).level for record in records]


NONE, OPEN = TransactionState.NONE, TransactionState.OPEN


@pytest.mark.parametrize(
    "begin",
    [
        "BEGIN ISOLATION LEVEL SERIALIZABLE",
        "BEGIN TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY",
        "start transaction isolation  level serializable",
    ],
)
def test_begin_chooses_the_level_of_its_transaction_alone(begin: str) -> None:
    assert levels("postgres", (begin, NONE), ("SELECT 1", OPEN), ("COMMIT", OPEN), ("BEGIN", NONE)) == [
        SER,
        SER,
        SER,
        RC,
    ]


def test_set_transaction_is_about_the_open_transaction_in_postgres_and_about_the_next_in_mysql() -> None:
    setting = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"
    within = (("BEGIN", NONE), (setting, OPEN), ("SELECT 1", OPEN), ("COMMIT", OPEN), ("SELECT 1", NONE))
    assert levels("postgres", *within) == [RC, RR, RR, RR, RC]
    before = ((setting, NONE), ("BEGIN", NONE), ("SELECT 1", OPEN), ("COMMIT", OPEN), ("SELECT 1", NONE))
    assert levels("mysql", *before) == [RC, RR, RR, RR, RC]
    assert levels("postgres", *before) == [RC, RC, RC, RC, RC], "PostgreSQL only warns"


@pytest.mark.parametrize(
    ("dbms", "setting"),
    [
        ("postgres", "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE"),
        ("postgres", "SET default_transaction_isolation = 'serializable'"),
        ("mysql", "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE"),
        ("mariadb", "SET tx_isolation = 'SERIALIZABLE'"),
    ],
)
def test_a_session_keeps_its_level_until_its_transaction_is_over(dbms: str, setting: str) -> None:
    found = levels(dbms, ("BEGIN", NONE), (setting, OPEN), ("SELECT 1", OPEN), ("SELECT 1", NONE))
    assert found == [RC, RC, RC, SER]


def test_a_setting_for_others_changes_nothing() -> None:
    setting = "SET GLOBAL TRANSACTION ISOLATION LEVEL SERIALIZABLE"
    assert levels("mysql", (setting, NONE), ("SELECT 1", NONE)) == [RC, RC]


def test_only_what_is_read_only_deferrable_and_serializable_waits_for_its_snapshot() -> None:
    ran = history("postgres")
    for words, late in (
        ("ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE", True),
        ("ISOLATION LEVEL SERIALIZABLE READ ONLY NOT DEFERRABLE", False),
        ("ISOLATION LEVEL SERIALIZABLE DEFERRABLE", False),
        ("ISOLATION LEVEL REPEATABLE READ READ ONLY DEFERRABLE", False),
    ):
        records = (Record(0, "tx1", f"BEGIN {words}", Affected(0)),)
        claims = claims_of(replace(ran, records=records, levels={"tx1": RC}))
        assert claims is not None
        assert claims.at("tx1", 0).late_snapshot is late, words


def test_a_lock_that_conflicts_does_so_from_both_sides() -> None:
    assert all(one.conflicts_with(two) == two.conflicts_with(one) for one in Lock for two in Lock)
    assert all(one.conflicts_with(two) == two.conflicts_with(one) for one in TableLock for two in TableLock)
    assert not Lock.KEY_SHARE.conflicts_with(Lock.NO_KEY_UPDATE)
    assert Lock.KEY_SHARE.conflicts_with(Lock.EXCLUSIVE)
    assert not TableLock.SHARE.conflicts_with(TableLock.SHARE)
    assert TableLock.SHARE.conflicts_with(TableLock.ROW_EXCLUSIVE)
    assert not TableLock.ROW_EXCLUSIVE.conflicts_with(TableLock.ROW_EXCLUSIVE)
