"""TiDB, in both modes: which bugs show, what the oracles say, how conflicts end, and its death."""

from collections.abc import Callable, Iterator

import pytest

from acidtest import corpus, servers
from acidtest.bugs.cells import Found, judge
from acidtest.casefile import load_case, parse_case
from acidtest.errors import UsageError
from acidtest.examine import Examiner
from acidtest.execute import Executor
from acidtest.execute.log import Log
from acidtest.model import Blocked, ErrorKind, EventKind, Failed, History, Judgement, Level, Rows, Undone
from acidtest.targets.resolve import DBMSS, make_target, open_target
from tests.live.test_server_death import KillingLog

RC, RR = Level.READ_COMMITTED, Level.REPEATABLE_READ
VERSIONS = ("tidb@5.4.2", "tidb@8.5.4")
EVERY = [pytest.param(spec, marks=pytest.mark.live(spec)) for spec in VERSIONS]
SHOWS, HIDDEN, ERROR = Found.SHOWS, Found.HIDDEN, Found.ERROR

# Read the columns as VERSIONS in pessimistic mode; None: the case is not for that version.
PESSIMISTIC: dict[tuple[str, Level], tuple[Found | None, ...]] = {
    ("TIDB-28212", RR): (SHOWS, SHOWS),
    ("TIDB-28212", RC): (HIDDEN, HIDDEN),
    ("TIDB-33315", RR): (SHOWS, SHOWS),
    ("TIDB-33315", RC): (HIDDEN, HIDDEN),
    ("TIDB-46900", RR): (SHOWS, SHOWS),
    ("TIDB-46900", RC): (HIDDEN, HIDDEN),
    ("TIDB-28011", RR): (SHOWS, HIDDEN),
    ("TIDB-28011", RC): (SHOWS, HIDDEN),
    ("TIDB-28092", RR): (SHOWS, SHOWS),
    ("TIDB-28092", RC): (SHOWS, SHOWS),
    ("TIDB-28095", RR): (SHOWS, SHOWS),
    ("TIDB-25176", RR): (SHOWS, SHOWS),
    ("TIDB-21498", RC): (HIDDEN, None),
    ("TIDB-21151", RC): (HIDDEN, HIDDEN),
    ("MDEV-32898", RR): (SHOWS, SHOWS),
    ("MDEV-26643", RC): (HIDDEN, HIDDEN),
    ("MDEV-27992", RC): (HIDDEN, HIDDEN),
    ("MDEV-34108", RC): (HIDDEN, HIDDEN),
}
OPTIMISTIC = {
    "TIDB-28212": ERROR,
    "TIDB-33315": ERROR,
    "MDEV-32898": ERROR,
    "TIDB-28092": SHOWS,
    "TIDB-28095": SHOWS,
    "TIDB-21151": HIDDEN,
}

Run = Callable[[str, str, Level | None], History]


@pytest.fixture(scope="module")
def executors() -> Iterator[dict[str, Executor]]:
    """One running server for each specification, as it is needed."""
    started: dict[str, Executor] = {}
    yield started
    for executor in started.values():
        executor.close()
        executor.target.close()


@pytest.fixture
def run(executors: dict[str, Executor]) -> Run:
    """Run a corpus case, or the text of one, on a target."""

    def run_there(spec: str, case: str, level: Level | None) -> History:
        if spec not in executors:
            executors[spec] = Executor(open_target(spec))
        loaded = parse_case(case, "here") if "\n" in case else load_case(corpus.find(case))
        return executors[spec].run(loaded.at_level(level), fresh=True)

    return run_there


@pytest.mark.parametrize(
    ("spec", "bug", "level", "found"),
    [
        pytest.param(
            spec, bug, level, row[column], marks=pytest.mark.live(spec), id=f"{bug}-{spec}-{level.short}"
        )
        for column, spec in enumerate(VERSIONS)
        for (bug, level), row in PESSIMISTIC.items()
        if row[column] is not None
    ],
)
def test_a_bug_shows_where_the_table_says(run: Run, spec: str, bug: str, level: Level, found: Found) -> None:
    assert judge(run(spec, bug, level))[0] is found


@pytest.mark.parametrize("bug", OPTIMISTIC)
@pytest.mark.parametrize("spec", EVERY)
def test_an_optimistic_transaction_fails_where_a_pessimistic_one_goes_wrong(
    run: Run, spec: str, bug: str
) -> None:
    assert judge(run(f"{spec}?mode=optimistic", bug, RR))[0] is OPTIMISTIC[bug]


@pytest.mark.parametrize("bug", ["TIDB-28212", "TIDB-33315"])
@pytest.mark.parametrize("spec", EVERY)
def test_two_oracles_see_the_bug_at_repeatable_read_and_not_at_read_committed(
    run: Run, executors: dict[str, Executor], spec: str, bug: str
) -> None:
    broken, fine = run(spec, bug, RR), run(spec, bug, RC)
    with Examiner(executors[spec].target, ("solver", "views")) as examiner:
        at_rr, at_rc = examiner.judge(broken), examiner.judge(fine)
    assert [one.judgement for one in at_rr] == [Judgement.VIOLATION] * 2
    assert [one.judgement for one in at_rc] == [Judgement.PASS] * 2


CONFLICT = """\
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10);
-- schedule
/* tx1 */ BEGIN{first};
/* tx2 */ BEGIN{second};
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx2 */ UPDATE t SET v = v + 10 WHERE id = 1;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
"""


@pytest.mark.parametrize("spec", EVERY)
def test_a_pessimistic_transaction_waits_for_the_row(run: Run, spec: str) -> None:
    history = run(spec, CONFLICT.format(first="", second=""), None)
    assert history.records[3].waited
    assert history.records[3].resumed_by == 4
    assert history.final == {"t": ((1, 21),)}


@pytest.mark.parametrize(("mode", "word"), [("?mode=optimistic", ""), ("", " OPTIMISTIC")])
@pytest.mark.parametrize("spec", EVERY)
def test_an_optimistic_transaction_waits_for_nobody_and_loses_at_commit(
    run: Run, spec: str, mode: str, word: str
) -> None:
    history = run(spec + mode, CONFLICT.format(first=word, second=word), None)
    assert not any(record.waited for record in history.records)
    lost = history.records[5].outcome
    assert isinstance(lost, Failed)
    assert (lost.kind, lost.code, lost.undone) == (ErrorKind.WRITE_CONFLICT, "9007", Undone.TRANSACTION)
    assert history.final == {"t": ((1, 11),)}


@pytest.mark.parametrize("spec", EVERY)
def test_a_transaction_may_be_pessimistic_in_optimistic_mode(run: Run, spec: str) -> None:
    word = " PESSIMISTIC"
    history = run(f"{spec}?mode=optimistic", CONFLICT.format(first=word, second=word), None)
    assert history.records[3].waited
    assert history.final == {"t": ((1, 21),)}


@pytest.mark.parametrize("spec", EVERY)
def test_a_statement_that_commits_by_itself_waits_too(run: Run, spec: str) -> None:
    case = CONFLICT.format(first="", second="").replace("/* tx2 */ BEGIN;\n", "")
    history = run(spec, case, None)
    assert history.records[2].waited
    assert history.final == {"t": ((1, 21),)}


@pytest.mark.parametrize("spec", EVERY)
def test_nowait_and_a_deadlock_have_their_kinds(run: Run, spec: str) -> None:
    history = run(
        spec,
        "-- setup\nCREATE TABLE t (id INT PRIMARY KEY, v INT);\nINSERT INTO t VALUES (1, 1), (2, 2);\n"
        "-- schedule\n"
        "/* tx1 */ BEGIN;\n/* tx2 */ BEGIN;\n/* tx1 */ UPDATE t SET v = 0 WHERE id = 1;\n"
        "/* tx2 */ SELECT * FROM t WHERE id = 1 FOR UPDATE NOWAIT;\n"
        "/* tx2 */ UPDATE t SET v = 0 WHERE id = 2;\n/* tx1 */ UPDATE t SET v = 0 WHERE id = 2;\n"
        "/* tx2 */ UPDATE t SET v = 0 WHERE id = 1;\n/* tx1 */ COMMIT;\n/* tx2 */ COMMIT;\n",
        None,
    )
    kinds = [record.outcome.kind for record in history.records if isinstance(record.outcome, Failed)]
    assert kinds == [ErrorKind.LOCK_NOT_AVAILABLE, ErrorKind.DEADLOCK]
    assert not any(isinstance(record.outcome, Blocked) for record in history.records)


@pytest.mark.parametrize("spec", EVERY)
def test_levels_that_it_lacks_are_refused_in_a_sentence(run: Run, spec: str) -> None:
    with pytest.raises(UsageError, match=r"has no isolation level SERIALIZABLE; it has: READ COMMITTED"):
        run(spec, CONFLICT.format(first="", second=""), Level.SERIALIZABLE)
    with pytest.raises(UsageError, match=r"has no isolation level READ COMMITTED; it has: REPEATABLE READ"):
        run(f"{spec}?mode=optimistic", CONFLICT.format(first="", second=""), RC)


@pytest.mark.parametrize("spec", EVERY)
def test_a_killed_server_is_an_outcome_and_the_next_case_runs(spec: str) -> None:
    server = servers.start(spec)
    killed: list[KillingLog] = []

    def new_log() -> Log:
        if killed:
            return Log()
        killed.append(KillingLog(server=server, moment=(EventKind.BLOCKED, 3)))
        return killed[0]

    case = parse_case(CONFLICT.format(first="", second=""), "death")
    opened = make_target(DBMSS["tidb"])(server.endpoint, spec, server)
    with opened as target, Executor(target, new_log=new_log) as executor:
        assert executor.run(case).server_died
        again = executor.run(case)
    assert again.final == {"t": ((1, 21),)}


KEPT_BY = """\
-- setup
CREATE TABLE kept_by_key (id INT PRIMARY KEY, u INT NOT NULL UNIQUE);
CREATE TABLE kept_by_number (id INT PRIMARY KEY NONCLUSTERED, u INT NOT NULL UNIQUE);
INSERT INTO kept_by_number VALUES (1, 1);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ DELETE FROM kept_by_number;
/* tx1 */ INSERT INTO kept_by_number VALUES (1, 2);
/* tx1 */ SELECT * FROM kept_by_number;
/* tx1 */ COMMIT;
"""


@pytest.mark.parametrize("spec", EVERY)
def test_the_schema_tells_by_which_index_rows_are_kept(
    run: Run, executors: dict[str, Executor], spec: str
) -> None:
    history = run(spec, KEPT_BY, RR)
    kept = {table.name: {one.name: one.clustered for one in table.indexes} for table in history.schema.tables}
    assert kept == {
        "kept_by_key": {"PRIMARY": True, "u": False},
        "kept_by_number": {"PRIMARY": False, "u": False},
    }
    outcome = history.records[3].outcome
    assert isinstance(outcome, Rows)
    assert outcome.rows == ((1, 1), (1, 2))  # the snapshot's and its own
    with Examiner(executors[spec].target, ("solver",)) as examiner:
        (verdict,) = examiner.judge(history)
    assert verdict.violation is not None
    assert [one.id for one in verdict.violation.explained_by] == ["TIDB-46900"]
