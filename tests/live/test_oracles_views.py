"""The views oracle on real DBMSs: clean histories pass, and each anomaly in an answer is a violation.

A violating history is a real one in which one answer was exchanged for what a broken DBMS would have said.
"""

from dataclasses import replace

import pytest

from acidtest import corpus
from acidtest.casefile import load_case, parse_case
from acidtest.execute import Executor
from acidtest.model import (
    Affected,
    History,
    Judgement,
    Level,
    Outcome,
    Phenomenon,
    Row,
    Rows,
    Verdict,
    ViolationKind,
)
from acidtest.oracles import solver
from tests.live.bench import Bench, Benches

RC, RR = Level.READ_COMMITTED, Level.REPEATABLE_READ
SERVERS = ("postgres", "mariadb@10.11")


def run(bench: Bench, text: str, level: Level | None = None) -> History:
    return bench.run(parse_case(text, "case").at_level(level))


def judged(bench: Bench, history: History) -> Verdict:
    return bench.judge(history)["views"]


def live(*values: object) -> object:
    """A parameter whose first value is the server that it needs."""
    marks = [pytest.mark.live(values[0])] if values[0] in SERVERS else []
    return pytest.param(*values, marks=marks)


EVERYWHERE = [live("sqlite"), live("duckdb"), live("postgres"), live("mariadb@10.11")]

SETUP = """\
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
"""

WRITER_AND_READER = """\
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx2 */ SELECT * FROM t;
/* tx1 */ SELECT * FROM t;
/* tx2 */ ROLLBACK;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
"""


def with_outcome(history: History, step: int, outcome: Outcome) -> History:
    records = list(history.records)
    records[step] = replace(records[step], outcome=outcome)
    return replace(history, records=tuple(records))


def rows(*values: Row) -> Rows:
    return Rows(("id", "v"), values)


@pytest.mark.parametrize("spec", EVERYWHERE)
def test_a_clean_history_passes(spec: str, benches: Benches) -> None:
    bench = benches.of(spec)
    assert judged(bench, run(bench, SETUP + WRITER_AND_READER)).judgement is Judgement.PASS


@pytest.mark.parametrize("spec", EVERYWHERE)
@pytest.mark.parametrize(
    ("step", "seen", "phenomenon"),
    [
        (5, ((1, 11), (2, 20)), Phenomenon.P1),
        (7, ((1, 11), (2, 20)), Phenomenon.G1A),
        (4, ((1, 10), (2, 20)), None),
        (2, ((1, 10),), None),
    ],
)
def test_a_wrong_answer_is_a_violation(
    spec: str, step: int, seen: tuple[Row, ...], phenomenon: Phenomenon | None, benches: Benches
) -> None:
    bench = benches.of(spec)
    history = run(bench, SETUP + WRITER_AND_READER)
    verdict = judged(bench, with_outcome(history, step, rows(*seen)))
    assert (verdict.judgement, verdict.kind) == (Judgement.VIOLATION, ViolationKind.WRONG_ROWS)
    assert verdict.violation is not None
    assert (verdict.step, verdict.violation.phenomenon) == (step, phenomenon)


@pytest.mark.parametrize("spec", EVERYWHERE)
def test_a_wrong_count_is_a_violation(spec: str, benches: Benches) -> None:
    bench = benches.of(spec)
    verdict = judged(bench, with_outcome(run(bench, SETUP + WRITER_AND_READER), 3, Affected(2)))
    assert (verdict.kind, verdict.step) == (ViolationKind.WRONG_AFFECTED_COUNT, 3)


@pytest.mark.parametrize("spec", EVERYWHERE)
def test_a_wrong_final_state_is_a_violation(spec: str, benches: Benches) -> None:
    bench = benches.of(spec)
    history = replace(run(bench, SETUP + WRITER_AND_READER), final={"t": ((1, 11), (2, 20))})
    assert judged(bench, history).kind is ViolationKind.WRONG_FINAL_STATE


SEVERAL_TABLES = """\
-- setup
CREATE TABLE a (id INT PRIMARY KEY, x INT);
CREATE TABLE b (id INT, y INT, s VARCHAR(10));
INSERT INTO a VALUES (1, 1), (2, 2), (3, 3);
INSERT INTO b VALUES (1, 10, 'p'), (2, 20, 'q'), (2, 20, 'q');
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE a SET x = x + 1 WHERE id IN (SELECT id FROM b WHERE y > 5);
/* tx1 */ SELECT a.id, x, y FROM a JOIN b ON a.id = b.id ORDER BY a.id LIMIT 2;
/* tx2 */ SELECT a.id, x, y FROM a LEFT JOIN b ON a.id = b.id ORDER BY y;
/* tx1 */ INSERT INTO b SELECT id, x * 10, 'it''s' FROM a WHERE id > 1;
/* tx1 */ UPDATE b SET y = 60 - y;
/* tx1 */ DELETE FROM a WHERE id = (SELECT MIN(id) FROM b);
/* tx1 */ SELECT COUNT(*), SUM(y) FROM b;
/* tx1 */ INSERT INTO a VALUES (2, 0);
/* tx1 */ ROLLBACK;
/* tx2 */ UPDATE b SET s = 'z' WHERE y = 20;
/* tx2 */ SELECT * FROM b;
/* tx2 */ COMMIT;
"""


@pytest.mark.parametrize("spec", EVERYWHERE)
def test_statements_over_several_tables_pass(spec: str, benches: Benches) -> None:
    bench = benches.of(spec)
    assert judged(bench, run(bench, SEVERAL_TABLES)).judgement is Judgement.PASS


JOINS_THAT_WRITE = """\
-- setup
CREATE TABLE a (id INT PRIMARY KEY AUTO_INCREMENT, x INT, CHECK (x < 100));
CREATE TABLE b (id INT UNIQUE, y INT, s VARCHAR(10));
INSERT INTO a VALUES (1, 1), (2, 2), (3, 3);
INSERT INTO b VALUES (1, 10, 'p'), (2, 20, 'q'), (NULL, 20, 'q');
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ UPDATE a JOIN b ON a.id = b.id SET a.x = a.x + 1, b.y = b.y + 1 WHERE b.y > 5;
/* tx1 */ DELETE a FROM a JOIN b ON a.id = b.id WHERE b.y = 11;
/* tx1 */ INSERT INTO a (x) VALUES (50), (60);
/* tx1 */ UPDATE a SET x = 200 WHERE id = 2;
/* tx1 */ INSERT INTO b VALUES (2, 7, 'dup');
/* tx1 */ INSERT INTO b VALUES (2, 7, 'dup') ON DUPLICATE KEY UPDATE y = 7;
/* tx1 */ REPLACE INTO b VALUES (2, 8, 'rep');
/* tx1 */ INSERT IGNORE INTO b VALUES (2, 9, 'ign');
/* tx1 */ UPDATE b SET id = id + 1 WHERE id IN (1, 2);
/* tx1 */ UPDATE a SET id = id + 10 WHERE id > 3;
/* tx1 */ SELECT * FROM a;
/* tx1 */ SELECT * FROM b;
/* tx1 */ COMMIT;
"""


@pytest.mark.live("mariadb@10.11")
def test_writes_of_several_tables_and_of_keys_pass(benches: Benches) -> None:
    bench = benches.of("mariadb@10.11")
    history = run(bench, JOINS_THAT_WRITE)
    assert judged(bench, history).judgement is Judgement.PASS
    wrong = with_outcome(history, 1, Affected(3))
    assert judged(bench, wrong).kind is ViolationKind.WRONG_AFFECTED_COUNT


KEY_USED_AGAIN = (
    SETUP
    + """\
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ DELETE FROM t WHERE id = 1;
/* tx1 */ INSERT INTO t VALUES (1, 12);
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
"""
)


@pytest.mark.parametrize(
    ("spec", "seen"),
    [
        live("postgres", [(1, 10), (1, 12), (2, 20)]),  # its snapshot still has the row that was deleted
        live("mariadb@10.11", [(1, 12), (2, 20)]),  # a row is its key, so this is its newest version
    ],
)
def test_the_key_of_a_deleted_row_may_be_used_again(spec: str, seen: list[Row], benches: Benches) -> None:
    bench = benches.of(spec)
    history = run(bench, KEY_USED_AGAIN, RR)
    outcome = history.records[4].outcome
    assert isinstance(outcome, Rows)
    assert sorted(outcome.rows) == seen
    assert judged(bench, history).judgement is Judgement.PASS
    assert solver.judge(history).judgement is Judgement.PASS


CUT_AND_DIRTY = (
    SETUP.replace("-- schedule\n", "CREATE TABLE u (id INT, v INT);\n-- schedule\n")
    + """\
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET v = 0 ORDER BY id LIMIT 1;
/* tx1 */ DELETE FROM t ORDER BY v DESC, id LIMIT 1;
/* tx2 */ INSERT INTO u SELECT id, v FROM t;
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
"""
)


@pytest.mark.live("mariadb@10.11")
def test_limit_in_writes_and_dirty_reads_of_insert_select_pass(benches: Benches) -> None:
    bench = benches.of("mariadb@10.11")
    history = run(bench, CUT_AND_DIRTY, Level.READ_UNCOMMITTED)
    assert history.records[4].outcome == Affected(1)
    assert judged(bench, history).judgement is Judgement.PASS


REFUSED_AT_FIRST = (
    SETUP
    + """\
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx2 */ UPDATE t SET v = 21 WHERE id = 2;
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET v = 22 WHERE id = 2;
/* tx2 */ COMMIT;
"""
)


def test_a_first_statement_that_sqlite_refuses_takes_no_snapshot(benches: Benches) -> None:
    bench = benches.of("sqlite")
    assert judged(bench, run(bench, REFUSED_AT_FIRST)).judgement is Judgement.PASS


@pytest.mark.parametrize("spec", [live("sqlite"), live("postgres"), live("mariadb@10.11")])
def test_classical_anomalies_raise_no_alarm(spec: str, benches: Benches) -> None:
    bench = benches.of(spec)
    for level in bench.executor.target.levels:
        for case in corpus.anomalies():
            history = bench.run(case.at_level(level))
            assert judged(bench, history).judgement is Judgement.PASS, (case.id, level)
            if spec in SERVERS:
                assert solver.judge(history).judgement is Judgement.PASS, (case.id, level)


@pytest.mark.parametrize("anomaly", ["pmp-write-predicate", "g-single-read-skew-write-predicate"])
def test_duckdb_lets_a_delete_pass_an_update(anomaly: str, benches: Benches) -> None:
    bench = benches.of("duckdb")
    case = next(case for case in corpus.anomalies() if case.id == anomaly)
    verdict = judged(bench, bench.run(case))
    assert (verdict.judgement, verdict.kind) == (Judgement.VIOLATION, ViolationKind.WRONG_ERROR)


def test_duckdb_loses_an_update_and_a_later_read_shows_it(benches: Benches) -> None:
    bench = benches.of("duckdb")
    schedule = """\
/* tx1 */ BEGIN;
/* tx1 */ DELETE FROM t;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET v = 0 WHERE (SELECT COUNT(*) FROM t) > 0;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
/* tx1 */ SELECT * FROM t;
"""
    verdict = judged(bench, run(bench, SETUP + schedule))
    assert verdict.judgement is Judgement.VIOLATION


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("UPDATE t SET id = 1 WHERE id = 1", "UPDATE t SET v = 0 WHERE id = 1"),
        ("UPDATE t SET v = 11 WHERE id = 1;\n/* tx1 */ UPDATE t SET v = 10 WHERE id = 1", "DELETE FROM t"),
    ],
    ids=["key", "delete"],
)
def test_duckdb_loses_an_update(one: str, other: str, benches: Benches) -> None:
    bench = benches.of("duckdb")
    schedule = f"/* tx1 */ BEGIN;\n/* tx1 */ {one};\n/* tx2 */ {other};\n/* tx1 */ COMMIT;\n"
    verdict = judged(bench, run(bench, SETUP + schedule))
    assert verdict.kind is ViolationKind.WRONG_FINAL_STATE


MISSED_IN_SILENCE = """\
-- setup
CREATE TABLE t (a INT, b INT PRIMARY KEY);
INSERT INTO t VALUES (0, 2);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 1;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET a = 0;
/* tx1 */ COMMIT;
/* tx1 */ SELECT * FROM t LOCK IN SHARE MODE;
/* tx2 */ COMMIT;
"""


@pytest.mark.live("mariadb@10.11")
def test_a_row_that_a_waiting_update_missed_is_not_locked_by_it_either(benches: Benches) -> None:
    """That it found no row does not show in its count, because the row has that value already."""
    bench = benches.of("mariadb@10.11")
    verdict = judged(bench, run(bench, MISSED_IN_SILENCE, RC))
    assert verdict.kind is ViolationKind.MISSING_BLOCK


@pytest.mark.live("mariadb@10.11")
@pytest.mark.parametrize(
    ("bug", "level"),
    [
        ("MDEV-26642", RR),
        ("MDEV-26643", RC),
        ("MDEV-27992", RC),
        ("MDEV-32898", RR),
        ("MDEV-34108", RC),
        ("MYSQL-114389", RR),
    ],
)
def test_known_bugs_are_violations_by_two_oracles(bug: str, level: Level, benches: Benches) -> None:
    bench = benches.of("mariadb@10.11")
    history = bench.run(load_case(corpus.find(bug)).at_level(level), fresh=True)
    views = judged(bench, history)
    solved = solver.judge(history)
    assert (views.judgement, solved.judgement) == (Judgement.VIOLATION, Judgement.VIOLATION)
    assert (views.kind, views.step) == (solved.kind, solved.step)


@pytest.mark.live("mariadb@10.11")
def test_scratch_tables_that_were_lost_are_made_anew() -> None:
    bench = Bench("mariadb@10.11")
    try:
        assert judged(bench, run(bench, SETUP + WRITER_AND_READER)).judgement is Judgement.PASS
        assert bench.executor.target.restart()
        bench.executor.close()
        bench.executor = Executor(bench.executor.target)
        assert judged(bench, run(bench, SETUP + WRITER_AND_READER)).judgement is Judgement.PASS
    finally:
        bench.close()
