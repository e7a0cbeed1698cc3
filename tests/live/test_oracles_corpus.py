"""The oracles on the corpus: known bugs are violations where they show, classical anomalies have their names.

What shows where is the table of `test_corpus_bugs`; here the oracles judge such runs without expectations.
"""

import pytest

from acidtest import corpus, servers
from acidtest.casefile import check, load_case
from acidtest.corpus.levels import Observed, classify
from acidtest.model import History, Judgement, Level, Verdict, ViolationKind
from acidtest.targets.resolve import DBMSS, make_target
from tests.live.bench import Bench, Benches
from tests.live.test_corpus_bugs import COLUMNS, ELSEWHERE, OFFERED, SHOWS, TABLE
from tests.unit.test_oracles_phenomena import NAMES, SKEW, phenomena

RC, RR, SER = Level.READ_COMMITTED, Level.REPEATABLE_READ, Level.SERIALIZABLE

CURRENT_READ = "MYSQL-108528"
"""Reported as a bug, and documented behaviour to its developers: allowed by the claim, and named."""

KINDS = {
    "MDEV-26642": ViolationKind.WRONG_ROWS,
    "MDEV-26643": ViolationKind.WRONG_AFFECTED_COUNT,
    "MDEV-27992": ViolationKind.WRONG_AFFECTED_COUNT,
    "MDEV-32898": ViolationKind.WRONG_ROWS,
    "MDEV-33802": ViolationKind.WRONG_ROWS,
    "MDEV-34108": ViolationKind.WRONG_AFFECTED_COUNT,
    "MYSQL-114389": ViolationKind.WRONG_ROWS,
}

SOLVED = ("postgres", "mariadb@10.11", "mysql@9.7")
"""Where the evaluator knows the dialect, so that what occurred can be named."""


def bench_of(benches: Benches, spec: str) -> Bench:
    if DBMSS[spec.partition("@")[0]].port is not None and servers.find_installed(spec) is None:
        pytest.skip(f"{spec} is not installed")
    return benches.of(spec)


def run(bench: Bench, name: str, level: Level) -> History:
    return bench.run(load_case(corpus.find(name)).at_level(level), fresh=True)


def marks(spec: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.live(spec)] if spec in (*OFFERED, *SOLVED) else []


def violations(verdicts: dict[str, Verdict]) -> dict[str, Verdict]:
    return {name: one for name, one in verdicts.items() if one.judgement is Judgement.VIOLATION}


# -- bugs


@pytest.mark.parametrize(
    ("bug", "level", "spec", "expected"),
    [
        pytest.param(bug, level, spec, cell, marks=marks(spec), id=f"{bug}-{spec}")
        for spec in COLUMNS
        for (bug, level), row in TABLE.items()
        if (cell := row[COLUMNS.index(spec)]) is not None
    ],
)
def test_a_bug_is_a_violation_by_two_oracles_where_it_shows_and_by_none_where_not(
    bug: str, level: Level, spec: str, expected: str, benches: Benches
) -> None:
    bench = bench_of(benches, spec)
    history = run(bench, bug, level)
    verdicts = bench.judge(history)
    shows = bool(check(history))
    if spec in OFFERED:  # of the others an older or newer release may be installed than the table knows
        assert shows is (expected is SHOWS)
    if not shows or bug == CURRENT_READ:
        assert violations(verdicts) == {}
        return
    for oracle in ("solver", "views"):
        assert verdicts[oracle].judgement is Judgement.VIOLATION, verdicts[oracle]
        assert verdicts[oracle].kind is KINDS[bug]


@pytest.mark.parametrize(
    ("bug", "level", "spec"),
    [
        pytest.param(bug, level, spec, marks=marks(spec), id=f"{bug}-{spec}-{level.short}")
        for (bug, spec), levels in ELSEWHERE.items()
        for level in levels
    ],
)
def test_a_bug_is_no_violation_at_levels_where_it_does_not_show(
    bug: str, level: Level, spec: str, benches: Benches
) -> None:
    bench = bench_of(benches, spec)
    verdicts = bench.judge(run(bench, bug, level))
    assert {name: one.judgement for name, one in verdicts.items()} == dict.fromkeys(verdicts, Judgement.PASS)


@pytest.mark.parametrize(
    "spec", [pytest.param(one, marks=marks(one)) for one in ("mariadb@10.11", "mysql@9.7")]
)
def test_a_current_read_is_allowed_and_has_a_name(spec: str, benches: Benches) -> None:
    history = run(bench_of(benches, spec), CURRENT_READ, RR)
    assert SKEW in phenomena(history)


# -- classical anomalies

CELLS = [
    pytest.param(spec, level, marks=marks(spec), id=f"{spec}-{level.short}")
    for spec in ("sqlite", "duckdb", *SOLVED)
    for level in (
        (Level.SNAPSHOT,)
        if spec == "duckdb"  # its driver may be missing
        else make_target(DBMSS[spec.partition("@")[0]]).levels  # type: ignore[attr-defined]
    )
]

DUCKDB_BUG = {"pmp-write-predicate", "g-single-read-skew-write-predicate"}
"""An UPDATE and a DELETE of one row both succeed there: a real violation, and a known one."""


@pytest.mark.parametrize(("spec", "level"), CELLS)
def test_a_classical_anomaly_is_no_violation(spec: str, level: Level, benches: Benches) -> None:
    bench = bench_of(benches, spec)
    for case in corpus.anomalies():
        found = violations(bench.judge(run(bench, case.id, level)))
        if spec == "duckdb" and case.id in DUCKDB_BUG:
            assert found, case.id
        else:
            assert found == {}, case.id


@pytest.mark.parametrize(("spec", "level"), CELLS)
def test_every_oracle_decides_the_classical_anomalies(spec: str, level: Level, benches: Benches) -> None:
    bench = bench_of(benches, spec)
    undecided = {
        (name, one.reason)
        for case in corpus.anomalies()
        for name, one in bench.judge(run(bench, case.id, level)).items()
        if one.judgement is Judgement.UNKNOWN
    }
    assert undecided == set()


@pytest.mark.parametrize(("spec", "level"), [cell for cell in CELLS if cell.values[0] in SOLVED])
def test_an_anomaly_that_occurs_has_its_name(spec: str, level: Level, benches: Benches) -> None:
    bench = bench_of(benches, spec)
    for case in corpus.anomalies():
        history = run(bench, case.id, level)
        occurred = phenomena(history)
        if classify(history) is Observed.OCCURS:
            # PostgreSQL re-checks and keeps the row that InnoDB deletes: it has another name there.
            wanted = SKEW if spec == "postgres" and case.id == "pmp-write-predicate" else NAMES[case.id]
            assert wanted in occurred, case.id
        if level is SER:
            assert occurred == (), case.id
