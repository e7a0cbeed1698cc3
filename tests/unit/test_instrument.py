"""Instrumented cases: what statements become, that they stay cases, and what their runs show."""

from dataclasses import replace

import pytest

from acidtest import corpus
from acidtest.casefile import parse_case, print_case
from acidtest.claims import claims_of
from acidtest.execute import Executor
from acidtest.graph import phenomena
from acidtest.instrument import NotInstrumentableError, Server, instrument, is_instrumented, probes_of
from acidtest.model import (
    Case,
    CycleWitness,
    History,
    Judgement,
    Level,
    Phenomenon,
    Trace,
    Verdict,
    Violation,
    ViolationKind,
    passed,
    unknown,
    violated,
)
from acidtest.model.trace import Purpose, Read, Write
from acidtest.oracles.graph import judge, together
from acidtest.oracles.observed import observed_trace
from acidtest.oracles.walks import HistoryWalk
from acidtest.targets.resolve import open_target

RU, RC = Level.READ_UNCOMMITTED, Level.READ_COMMITTED
RR, SER = Level.REPEATABLE_READ, Level.SERIALIZABLE

MYSQL = Server("mysql", "9.7.0", {}, RR)
MARIADB = Server("mariadb", "10.11.2-MariaDB", {}, RR)
POSTGRES = Server("postgres", "18.1", {}, RC)
SQLITE = Server("sqlite", "3.45.0", {}, SER)

SETUP = "CREATE TABLE t (id INT PRIMARY KEY, v INT);\nINSERT INTO t VALUES (1, 10), (2, 20);\n"


def case_of(*schedule: str, setup: str = SETUP, level: Level = RR) -> Case:
    lines = "\n".join(f"/* tx{line[0]} */ {line[2:]};" for line in schedule)
    return parse_case(f"-- level: {level.value}\n-- setup\n{setup}-- schedule\n{lines}\n", "case")


def texts(sql: str, server: Server, setup: str = SETUP) -> list[str]:
    return [step.sql for step in instrument(case_of(f"1 {sql}", setup=setup), server).steps]


# -- what statements become


def test_every_table_gets_the_columns_and_every_row_its_identity() -> None:
    setup = [one.sql for one in instrument(case_of("1 SELECT 1"), POSTGRES).setup]
    assert setup == [
        "CREATE TABLE t (id INT PRIMARY KEY, v INT, acid_row BIGINT NOT NULL, acid_version BIGINT NOT NULL,"
        " acid_prev BIGINT)",
        'INSERT INTO t ("id", "v", acid_row, acid_version) VALUES (1, 10, 1, 0), (2, 20, 2, 0)',
    ]


def test_the_columns_come_before_the_constraints_of_the_table() -> None:
    setup = "CREATE TABLE t (id INT, v INT, PRIMARY KEY (id, v));\n"
    (table, *_) = instrument(case_of("1 SELECT 1", setup=setup), SQLITE).setup
    assert table.sql.endswith("acid_prev BIGINT, PRIMARY KEY (id, v))")


def test_versions_have_an_index_where_a_probe_would_lock_what_it_scans() -> None:
    texts_of = [one.sql for one in instrument(case_of("1 SELECT 1"), MYSQL).setup]
    assert "CREATE INDEX `acid_t` ON `t` (acid_version)" in texts_of


UPDATE = "UPDATE t SET acid_prev = {t}.acid_version, acid_version = 1, v = 0 WHERE id = 1"


@pytest.mark.parametrize(
    ("sql", "server", "expected"),
    [
        ("UPDATE t SET v = 0 WHERE id = 1", POSTGRES, [UPDATE.format(t='"t"') + " RETURNING *"]),
        (
            "UPDATE t SET v = 0 WHERE id = 1",
            MYSQL,
            [UPDATE.format(t="`t`"), "SELECT /* probe */ * FROM `t` WHERE acid_version = 1"],
        ),
        (
            "DELETE FROM t WHERE v > 10",
            MARIADB,
            ["DELETE FROM t WHERE v > 10 RETURNING acid_row, acid_version"],
        ),
        (
            "DELETE FROM t WHERE v > 10",
            MYSQL,
            [
                "SELECT /* probe before */ acid_row, acid_version FROM t WHERE v > 10 FOR UPDATE",
                "DELETE FROM t WHERE v > 10",
            ],
        ),
        (
            "INSERT INTO t (id) VALUES (3), (4)",
            MARIADB,
            ["INSERT INTO t (id, acid_row, acid_version) VALUES (3, 1000, 1), (4, 1001, 1) RETURNING *"],
        ),
        (
            "INSERT INTO t SELECT s.id + 10, s.v FROM t AS s",
            SQLITE,
            [
                'INSERT INTO t ("id", "v", acid_row, acid_version) SELECT s.id + 10, s.v ,'
                ' 1000000 + "s".acid_row, 1 FROM t AS s RETURNING *',
                'SELECT /* probe */ acid_row, acid_version FROM "t"',
            ],
        ),
        (
            "INSERT INTO t VALUES (1, 5) ON DUPLICATE KEY UPDATE v = VALUES(v)",
            MARIADB,
            [
                "INSERT INTO t (`id`, `v`, acid_row, acid_version) VALUES (1, 5, 1000, 1) ON DUPLICATE KEY"
                " UPDATE acid_prev = `t`.acid_version, acid_version = 1, v = VALUES(v) RETURNING *"
            ],
        ),
        (
            "INSERT INTO t VALUES (1, 5) ON CONFLICT (id) DO UPDATE SET v = EXCLUDED.v",
            POSTGRES,
            [
                'INSERT INTO t ("id", "v", acid_row, acid_version) VALUES (1, 5, 1000, 1) ON CONFLICT (id)'
                ' DO UPDATE SET acid_prev = "t".acid_version, acid_version = 1, v = EXCLUDED.v RETURNING *'
            ],
        ),
        (
            "UPDATE t AS a JOIN t AS b ON a.id = b.v SET a.v = 1",
            MYSQL,
            [
                "UPDATE t AS a JOIN t AS b ON a.id = b.v SET `a`.acid_prev = `a`.acid_version,"
                " `a`.acid_version = 1, a.v = 1",
                "SELECT /* probe */ * FROM `t` WHERE acid_version = 1",
            ],
        ),
        ("SELECT * FROM t WHERE v > 1", MYSQL, ["SELECT * FROM t WHERE v > 1"]),
        (
            "SELECT v FROM t WHERE v > 1 FOR UPDATE",
            MYSQL,
            [
                "SELECT v , `t`.acid_row AS acid_row_1, `t`.acid_version AS acid_version_1 FROM t WHERE v > 1"
                " FOR UPDATE"
            ],
        ),
        (
            "SELECT a.v FROM t AS a LEFT JOIN t AS b ON a.id = b.v",
            POSTGRES,
            [
                'SELECT a.v , "a".acid_row AS acid_row_1, "a".acid_version AS acid_version_1,'
                ' "b".acid_row AS acid_row_2, "b".acid_version AS acid_version_2'
                " FROM t AS a LEFT JOIN t AS b ON a.id = b.v"
            ],
        ),
        (
            "SELECT COUNT(*) FROM t",
            POSTGRES,
            ["SELECT COUNT(*) FROM t", 'SELECT /* probe */ acid_row, acid_version FROM "t"'],
        ),
    ],
)
def test_what_a_statement_becomes(sql: str, server: Server, expected: list[str]) -> None:
    assert texts(sql, server) == expected


@pytest.mark.parametrize(
    ("sql", "setup"),
    [
        ("SELECT * FROM t WHERE v IN (SELECT * FROM t)", SETUP),
        ("SELECT * FROM t NATURAL JOIN t AS b", SETUP),
        ("DROP TABLE t", SETUP),
        ("SELECT 1", "CREATE TABLE t (id INT);\nCREATE VIEW w AS SELECT * FROM t;\n"),
        ("SELECT 1", "CREATE TABLE t (id INT, acid_row INT);\n"),
    ],
)
def test_what_versions_would_change_is_refused(sql: str, setup: str) -> None:
    with pytest.raises(NotInstrumentableError):
        texts(sql, MYSQL, setup)


def test_an_instrumented_case_is_a_case() -> None:
    case = instrument(case_of("1 BEGIN", "1 DELETE FROM t", "2 SELECT v FROM t", "1 COMMIT"), MYSQL)
    assert parse_case(print_case(case), "again") == replace(case, links=case.links)
    joined = [step.statement.joined for step in case.steps]
    assert joined == [False, False, True, False, False]


# -- what a run shows


def run(case: Case, spec: str = "simulated") -> History:
    with open_target(spec) as target, Executor(target) as executor:
        return executor.run(instrument(case, Server.of(target)))


def shown(history: History) -> Trace:
    claims = claims_of(history)
    assert claims is not None
    assert is_instrumented(history.schema)
    trace = observed_trace(history, claims)
    assert trace is not None
    return trace


def named(trace: Trace) -> set[Phenomenon]:
    return {one.phenomenon for one in phenomena(trace) if one.exact}


ANOMALIES = {case.id: case for case in corpus.anomalies()}


@pytest.mark.parametrize("level", [RU, RC, RR, SER], ids=lambda level: level.short)
@pytest.mark.parametrize("anomaly", ANOMALIES)
def test_what_versions_show_is_what_the_walk_finds(anomaly: str, level: Level) -> None:
    history = run(ANOMALIES[anomaly].at_level(level))
    walked = HistoryWalk(history).trace
    assert walked is not None
    assert named(shown(history)) == named(walked)
    verdict = judge(history)
    assert verdict is not None
    assert verdict.judgement is Judgement.PASS


def test_a_deleted_row_leaves_a_tombstone() -> None:
    trace = shown(run(case_of("1 DELETE FROM t WHERE id = 1", "2 SELECT * FROM t")))
    (first, *_) = [one for one in trace.transactions if any(isinstance(two, Write) for two in one.operations)]
    (written,) = [one for one in first.operations if isinstance(one, Write)]
    assert written.version.values is None
    assert [len(versions) for versions in trace.order.values()] == [2, 1]


def test_a_write_has_read_what_it_replaced() -> None:
    trace = shown(run(case_of("1 UPDATE t SET v = v + 1", "2 UPDATE t SET v = v + 1 WHERE id = 1")))
    second = [
        one
        for transaction in trace.transactions
        for one in transaction.operations
        if isinstance(one, Read) and one.purpose is Purpose.CHOICE and one.version.step == 0
    ]
    assert [one.version.object.row for one in second] == [1]


DIRTY = ("1 BEGIN", "1 UPDATE t SET v = 11 WHERE id = 1", "2 SELECT * FROM t WHERE id = 1", "1 ROLLBACK")


def test_a_read_of_what_was_rolled_back_has_its_name() -> None:
    trace = shown(run(case_of(*DIRTY, level=RU)))
    assert Phenomenon.G1A in named(trace)


def test_what_went_back_to_a_savepoint_was_never_installed() -> None:
    history = run(
        case_of(
            "1 BEGIN",
            "1 SAVEPOINT a",
            "1 UPDATE t SET v = 11 WHERE id = 1",
            "1 ROLLBACK TO SAVEPOINT a",
            "1 UPDATE t SET v = 12 WHERE id = 1",
            "1 COMMIT",
        )
    )
    chain = next(iter(shown(history).order.values()))
    assert [None if one.values is None else one.values[1] for one in chain] == [10, 12]


def test_versions_name_what_the_walk_broke_off_at() -> None:
    dirty = run(case_of(*DIRTY, level=RU))
    verdict = judge(replace(dirty, levels=dict.fromkeys(dirty.levels, RC)))
    assert verdict is not None
    assert verdict.violation is not None
    assert verdict.violation.phenomenon is Phenomenon.G1A


def _reads(trace: Trace, session: str) -> list[Read]:
    return [
        one
        for transaction in trace.transactions
        if transaction.session == session
        for one in transaction.operations
        if isinstance(one, Read)
    ]


FORBIDDEN = violated(
    "graph",
    Violation(ViolationKind.FORBIDDEN_PHENOMENON, 1, CycleWitness((), ()), phenomenon=Phenomenon.G_SINGLE),
)
PASSED, OPEN = passed("graph"), unknown("graph", "a gap")


@pytest.mark.parametrize(
    ("by_walk", "by_versions", "expected"),
    [
        (PASSED, PASSED, Judgement.PASS),
        (PASSED, OPEN, Judgement.PASS),
        (OPEN, PASSED, Judgement.PASS),
        (OPEN, OPEN, Judgement.UNKNOWN),
        (FORBIDDEN, FORBIDDEN, Judgement.VIOLATION),
        (FORBIDDEN, OPEN, Judgement.VIOLATION),
        (FORBIDDEN, PASSED, Judgement.UNKNOWN),
        (PASSED, FORBIDDEN, Judgement.UNKNOWN),
    ],
)
def test_two_traces_that_disagree_say_nothing_of_the_dbms(
    by_walk: Verdict, by_versions: Verdict, expected: Judgement
) -> None:
    found = together(passed("solver"), by_walk, by_versions)
    assert found is not None
    assert found.judgement is expected
    assert ("disagree" in found.reason) is (
        expected is Judgement.UNKNOWN and OPEN not in (by_walk, by_versions)
    )


def test_what_versions_show_counts_where_the_walk_is_undecided() -> None:
    assert together(unknown("solver", "some SQL"), OPEN, FORBIDDEN) is FORBIDDEN
    assert together(FORBIDDEN, None, FORBIDDEN) is FORBIDDEN
    assert together(FORBIDDEN, None, PASSED) is None


def test_probes_belong_to_their_statements() -> None:
    history = run(case_of("1 BEGIN", "1 DELETE FROM t WHERE id = 1", "1 UPDATE t SET v = 0", "1 COMMIT"))
    probes = probes_of(history)
    assert (set(probes.before), set(probes.after), probes.count) == ({2}, {3}, 2)


@pytest.mark.parametrize("spec", ["sqlite", "duckdb"])
def test_the_smallest_read_skew_is_not_there_on_embedded_engines(spec: str) -> None:
    history = run(
        case_of(
            "1 BEGIN",
            "1 SELECT * FROM t WHERE id = 1",
            "2 UPDATE t SET v = v + 1",
            "1 SELECT * FROM t WHERE id = 2",
            "1 COMMIT",
            level=SER if spec == "sqlite" else Level.SNAPSHOT,
        ),
        spec,
    )
    assert Phenomenon.G_SINGLE not in named(shown(history))
    assert all(not one.version.writer for one in _reads(shown(history), "tx1"))
