"""What occurred gets its name in the literature: each classical anomaly where it happens, none where not."""

import pytest

from acidtest import corpus
from acidtest.casefile import parse_case
from acidtest.corpus.levels import Observed, classify
from acidtest.execute import Executor
from acidtest.model import Case, History, Level
from acidtest.oracles.walks import HistoryWalk
from acidtest.targets.resolve import open_target

RU, RC = Level.READ_UNCOMMITTED, Level.READ_COMMITTED
RR, SER = Level.REPEATABLE_READ, Level.SERIALIZABLE

DIRTY, ABORTED, INTERMEDIATE = "dirty read (P1)", "aborted read (G1a)", "intermediate read (G1b)"
CIRCULAR, FUZZY, PHANTOM = (
    "circular information flow (G1c)",
    "non-repeatable read (P2)",
    "phantom (P3)",
)
LOST, SKEW = "lost update (P4)", "read skew (G-single, A5A)"
WRITE_SKEW, ANTI = "write skew (G2-item, A5B)", "anti-dependency cycle (G2)"

NAMES = {
    "p1-dirty-read": DIRTY,
    "g1a-aborted-read": ABORTED,
    "g1b-intermediate-read": INTERMEDIATE,
    "g1c-circular-information-flow": CIRCULAR,
    "otv-observed-transaction-vanishes": SKEW,
    "p2-fuzzy-read": FUZZY,
    "p3-phantom": PHANTOM,
    "p3-phantom-write-predicate": SKEW,
    "pmp-predicate-many-preceders": SKEW,
    "pmp-write-predicate": LOST,
    "p4-lost-update": LOST,
    "g-single-read-skew": SKEW,
    "g-single-read-skew-predicate": SKEW,
    "g-single-read-skew-write-predicate": SKEW,
    "g2-item-write-skew": WRITE_SKEW,
    "g2-anti-dependency-cycle": ANTI,
    "g2-read-only-anomaly": WRITE_SKEW,
}
"""What each anomaly is called where it occurs. Dirty write (G0) never does."""

ANOMALIES = {case.id: case for case in corpus.anomalies()}


def observe(case: Case) -> History:
    with open_target("simulated") as target, Executor(target) as executor:
        return executor.run(case)


def phenomena(history: History) -> tuple[str, ...]:
    walk = HistoryWalk(history)
    return tuple(dict.fromkeys(one.phenomenon.text for one in walk.occurrences or ()))


def names(schedule: str, level: Level, *, setup: str = "") -> tuple[str, ...]:
    text = f"""-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
{setup}-- schedule
{schedule}"""
    return phenomena(observe(parse_case(text, "case").at_level(level)))


@pytest.mark.parametrize("level", [RU, RC, RR, SER], ids=lambda level: level.short)
@pytest.mark.parametrize("anomaly", ANOMALIES)
def test_an_anomaly_that_occurs_has_its_name(anomaly: str, level: Level) -> None:
    history = observe(ANOMALIES[anomaly].at_level(level))
    if classify(history) is Observed.OCCURS:
        assert NAMES[anomaly] in phenomena(history)
    elif anomaly in NAMES:
        fits = set(phenomena(history)) & {NAMES[anomaly]}
        # Another anomaly may occur in the same case, but not this one; the two below contain the smaller.
        assert not fits or anomaly in ("otv-observed-transaction-vanishes", "pmp-write-predicate")


@pytest.mark.parametrize("anomaly", ANOMALIES)
def test_nothing_occurs_at_serializable(anomaly: str) -> None:
    assert phenomena(observe(ANOMALIES[anomaly].at_level(SER))) == ()


@pytest.mark.parametrize("anomaly", ANOMALIES)
def test_at_read_committed_nothing_dirty_occurs(anomaly: str) -> None:
    occurred = set(phenomena(observe(ANOMALIES[anomaly].at_level(RC))))
    assert not occurred & {DIRTY, ABORTED, INTERMEDIATE, CIRCULAR, "dirty write (G0)"}


@pytest.mark.parametrize("anomaly", ANOMALIES)
def test_at_repeatable_read_plain_reads_alone_show_nothing_that_moves(anomaly: str) -> None:
    case = ANOMALIES[anomaly]
    occurred = phenomena(observe(case.at_level(RR)))
    assert PHANTOM not in occurred
    reads_only = {
        tx.name
        for tx in case.transactions
        if all(one.sql.startswith(("B", "C", "S")) for one in tx.statements)
    }
    if "tx1" in reads_only and len(case.transactions) == 2:
        assert occurred == ()


def test_one_transaction_after_the_other_is_no_anomaly() -> None:
    schedule = """
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx1 */ UPDATE t SET v = v + 1;
/* tx1 */ COMMIT;
/* tx2 */ BEGIN;
/* tx2 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET v = v + 1;
/* tx2 */ COMMIT;
"""
    assert names(schedule, RU) == ()


def test_own_changes_are_no_fuzzy_read() -> None:
    schedule = """
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx1 */ DELETE FROM t WHERE id = 2;
/* tx1 */ INSERT INTO t VALUES (3, 30);
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
"""
    assert names(schedule, RC) == ()


def test_a_row_that_another_deleted_is_a_phantom() -> None:
    schedule = """
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE v >= 20;
/* tx2 */ DELETE FROM t WHERE id = 2;
/* tx1 */ SELECT * FROM t WHERE v >= 20;
/* tx1 */ COMMIT;
"""
    assert PHANTOM in names(schedule, RC)
    assert names(schedule, RR) == ()


def test_a_row_that_comes_under_the_condition_by_an_update_is_a_phantom() -> None:
    schedule = """
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE v >= 20;
/* tx2 */ UPDATE t SET v = 30 WHERE id = 1;
/* tx1 */ SELECT * FROM t WHERE v >= 20;
/* tx1 */ COMMIT;
"""
    assert PHANTOM in names(schedule, RC)


def test_what_a_rolled_back_transaction_wrote_makes_no_cycle() -> None:
    schedule = """
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ SELECT * FROM t;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx2 */ UPDATE t SET v = 21 WHERE id = 2;
/* tx1 */ COMMIT;
/* tx2 */ {end};
"""
    assert names(schedule.format(end="COMMIT"), RR) == (WRITE_SKEW,)
    assert names(schedule.format(end="ROLLBACK"), RR) == ()


def test_what_a_rolled_back_transaction_read_makes_no_cycle() -> None:
    schedule = """
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE id = 1;
/* tx2 */ UPDATE t SET v = v + 1;
/* tx2 */ COMMIT;
/* tx1 */ SELECT * FROM t WHERE id = 2;
/* tx1 */ {end};
"""
    assert names(schedule.format(end="COMMIT"), RC) == (SKEW,)
    assert names(schedule.format(end="ROLLBACK"), RC) == ()


def test_write_skew_of_three() -> None:
    schedule = """
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx3 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE id = 1;
/* tx2 */ SELECT * FROM t WHERE id = 2;
/* tx3 */ SELECT * FROM t WHERE id = 3;
/* tx1 */ UPDATE t SET v = 0 WHERE id = 2;
/* tx2 */ UPDATE t SET v = 0 WHERE id = 3;
/* tx3 */ UPDATE t SET v = 0 WHERE id = 1;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
/* tx3 */ COMMIT;
"""
    assert names(schedule, RR, setup="INSERT INTO t VALUES (3, 30);\n") == (WRITE_SKEW,)


def test_a_history_that_breaks_its_claim_has_no_names() -> None:
    with open_target("simulated@update-without-lock") as target, Executor(target) as executor:
        assert phenomena(executor.run(ANOMALIES["g0-dirty-write"].at_level(RC))) == ()
