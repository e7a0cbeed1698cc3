"""Known means explained: a deviation names a violation only if it accounts for all that was observed.

For each deviation a history that it explains, near misses that it must not explain, and a server that lacks
it. The histories come from the simulated target, and are judged as if another DBMS had answered so.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import pytest

from acidtest.casefile import load_case, parse_case
from acidtest.claims.deviations import DEVIATIONS
from acidtest.execute import Executor
from acidtest.model import (
    Affected,
    Event,
    EventKind,
    History,
    Judgement,
    Level,
    Outcome,
    Row,
    Rows,
    Schema,
    State,
    Verdict,
    freeze_state,
)
from acidtest.oracles.graph import GraphOracle
from acidtest.oracles.solver import SolverOracle
from acidtest.oracles.walks import Walks
from acidtest.selftest import SPEAKS, _random_cases
from acidtest.simulated import FAULTS, Fault, case_file
from acidtest.targets.resolve import open_target

RU, RC = Level.READ_UNCOMMITTED, Level.READ_COMMITTED
RR, SER, SI = Level.REPEATABLE_READ, Level.SERIALIZABLE, Level.SNAPSHOT
ON = {"innodb_snapshot_isolation": "ON"}

MARIADB, NEW_MARIADB = "10.11.19-MariaDB", "11.8.6-MariaDB"


@dataclass(frozen=True)
class Server:
    dbms: str
    version: str
    settings: dict[str, str] = field(default_factory=dict)


MYSQL = Server("mysql", "9.7.4")
OLD = Server("mariadb", MARIADB)
NEW = Server("mariadb", NEW_MARIADB, ON)
DUCKDB = Server("duckdb", "2.0.0")


def observe(
    schedule: str,
    level: Level,
    server: Server,
    outcomes: dict[int, Outcome] | None = None,
    final: dict[str, tuple[Row, ...]] | None = None,
    setup: str = "CREATE TABLE t (a INT PRIMARY KEY, b INT);\nINSERT INTO t VALUES (1, 10), (2, 20);\n",
    unblocked: tuple[int, ...] = (),
) -> History:
    """A run of the simulated target, with these outcomes and this final state in the place of its own, as if
    the server had given them; the steps of `unblocked` completed at once."""
    run_at = RR if level is SI else level
    case = parse_case(f"-- setup\n{setup}-- schedule\n{schedule}", "case").at_level(run_at)
    with open_target("simulated") as target, Executor(target) as executor:
        history = executor.run(case)
    records = list(history.records)
    for step, outcome in (outcomes or {}).items():
        records[step] = replace(records[step], outcome=outcome)
    for step in unblocked:
        records[step] = replace(records[step], waited=False, blocked_by=(), resumed_by=None)
    events = tuple(history.events)
    for step in unblocked:
        events = tuple(_at_once(events, step))
    state: State | None = history.final
    if final is not None:
        state = freeze_state({**(history.final or {}), **final})
    history = replace(history, records=tuple(records), events=events, final=state)
    return as_by(history, server, dict.fromkeys(history.levels, level))


def as_by(history: History, server: Server, levels: Mapping[str, Level]) -> History:
    """The history as if the server had given it."""
    return replace(
        history,
        dbms=server.dbms,
        version=server.version,
        settings=server.settings,
        levels=levels,
        schema=_spelled(history.schema, server),
    )


TYPES = {"duckdb": {"int": "INTEGER"}, "postgres": {"int": "integer"}, "sqlite": {"int": "INT"}}


def _spelled(schema: Schema, server: Server) -> Schema:
    """The schema with its types spelled as the server does."""
    names = TYPES.get(server.dbms, {})
    return replace(
        schema,
        tables=tuple(
            replace(
                table,
                columns=tuple(
                    replace(column, type=names.get(column.type.partition("(")[0].lower(), column.type))
                    for column in table.columns
                ),
            )
            for table in schema.tables
        ),
    )


def _at_once(events: tuple[Event, ...], step: int) -> Iterator[Event]:
    for one in events:
        if one.step != step:
            yield one
        elif one.kind is EventKind.LAUNCHED:
            yield one
            yield Event(EventKind.COMPLETED, step, one.session)


def judged(history: History) -> Verdict:
    with open_target("simulated") as target:
        return SolverOracle(target, Walks()).judge(history)


def known_as(history: History) -> tuple[str, ...]:
    verdict = judged(history)
    assert verdict.violation is not None, verdict
    return tuple(one.id for one in verdict.violation.explained_by)


SAME_VALUE = """\
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET b = 10;
/* tx1 */ UPDATE t SET b = 10;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
"""
WRITTEN, OLD_ROW = (2, 10), (2, 20)


def rows(*values: Row) -> Rows:
    return Rows(("a", "b"), values)


class TestSameValueUpdate:
    def test_the_row_that_another_wrote_alike_is_not_seen(self) -> None:
        history = observe(SAME_VALUE, RR, OLD, {3: Affected(0, 2), 4: rows((1, 10), OLD_ROW)})
        assert known_as(history) == ("MDEV-26642",)

    def test_a_row_that_the_transaction_changed_is_not_excused(self) -> None:
        history = observe(
            SAME_VALUE.replace("tx1 */ UPDATE t SET b = 10", "tx1 */ UPDATE t SET b = 11"),
            RR,
            OLD,
            {4: rows((1, 10), OLD_ROW)},
        )
        assert known_as(history) == ()

    def test_a_row_that_never_was_is_not_excused(self) -> None:
        assert known_as(observe(SAME_VALUE, RR, OLD, {3: Affected(0, 2), 4: rows((1, 10), (2, 99))})) == ()

    def test_mysql_has_it_not(self) -> None:
        assert known_as(observe(SAME_VALUE, RR, MYSQL, {3: Affected(0, 2), 4: rows((1, 10), OLD_ROW)})) == ()


SEMI_CONSISTENT = """\
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 20;
/* tx2 */ UPDATE t SET b = 0 WHERE b = 20;
/* tx1 */ COMMIT;
"""


class TestSemiConsistentRead:
    def test_a_locked_row_that_did_not_match_is_passed_by(self) -> None:
        history = observe(SEMI_CONSISTENT, RC, MYSQL, {2: Affected(1, 1)}, {"t": ((1, 20), (2, 0))})
        assert known_as(history) == ("MDEV-26643",)

    def test_the_row_that_it_waited_for_is_not_passed_by(self) -> None:
        history = observe(SEMI_CONSISTENT, RC, MYSQL, {2: Affected(1, 1)}, {"t": ((1, 0), (2, 20))})
        assert known_as(history) == ()

    def test_a_row_behind_the_wait_is_not_passed_by(self) -> None:
        schedule = SEMI_CONSISTENT.replace("b = 20;\n/* tx2", "b = 10;\n/* tx2").replace("b = 20;", "b = 10;")
        history = observe(schedule, RC, MYSQL, {2: Affected(1, 1)}, {"t": ((1, 0), (2, 10))})
        assert known_as(history) == ()

    def test_delete_is_never_semi_consistent(self) -> None:
        schedule = SEMI_CONSISTENT.replace("UPDATE t SET b = 0 WHERE", "DELETE FROM t WHERE")
        assert known_as(observe(schedule, RC, MYSQL, {2: Affected(1, 1)}, {"t": ((1, 20),)})) == ()

    def test_repeatable_read_has_it_not(self) -> None:
        history = observe(SEMI_CONSISTENT, RR, MYSQL, {2: Affected(1, 1)}, {"t": ((1, 20), (2, 0))})
        assert known_as(history) == ()


MOVED = """\
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 0 WHERE a = 2;
/* tx2 */ DELETE FROM t WHERE b = 20;
/* tx1 */ COMMIT;
"""


class TestMovedRow:
    def test_a_delete_that_waited_misses_the_row_whose_key_moved(self) -> None:
        history = observe(MOVED, RC, OLD, {2: Affected(0)}, {"t": ((0, 20), (1, 10))})
        assert known_as(history) == ("MDEV-27992",)

    def test_a_row_whose_key_stayed_is_not_missed(self) -> None:
        schedule = MOVED.replace("SET a = 0 WHERE", "SET b = 20 WHERE")
        assert known_as(observe(schedule, RC, OLD, {2: Affected(0)}, {"t": ((1, 10), (2, 20))})) == ()

    def test_a_delete_that_did_not_wait_misses_nothing(self) -> None:
        schedule = "/* tx1 */ UPDATE t SET a = 0 WHERE a = 2;\n/* tx2 */ DELETE FROM t WHERE b = 20;\n"
        assert known_as(observe(schedule, RC, OLD, {1: Affected(0)}, {"t": ((0, 20), (1, 10))})) == ()


OLD_KEY = """\
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET a = 3 WHERE a = 2;
/* tx1 */ UPDATE t SET b = 5;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
"""


class TestOldKey:
    def test_the_snapshot_shows_the_row_under_its_old_key_too(self) -> None:
        history = observe(OLD_KEY, RR, MYSQL, {4: rows((1, 5), (2, 20), (3, 5))})
        assert known_as(history) == ("MDEV-32898",)

    def test_a_row_that_did_not_move_is_not_shown_twice(self) -> None:
        history = observe(OLD_KEY, RR, MYSQL, {4: rows((1, 10), (1, 5), (2, 20), (3, 5))})
        assert known_as(history) == ()

    def test_with_snapshot_isolation_it_would_be_another_bug(self) -> None:
        history = observe(OLD_KEY, RR, NEW, {4: rows((1, 5), (2, 20), (3, 5))})
        assert known_as(history) == ()


class TestDirtyUpdate:
    SCHEDULE = (
        "/* tx1 */ BEGIN;\n/* tx1 */ DELETE FROM t;\n/* tx2 */ UPDATE t SET b = 1;\n/* tx1 */ ROLLBACK;\n"
    )
    KEPT = ((1, 10), (2, 20))

    def test_an_update_passes_by_what_is_deleted_and_not_committed(self) -> None:
        history = observe(self.SCHEDULE, RU, NEW, {2: Affected(0)}, {"t": self.KEPT}, unblocked=(2,))
        assert known_as(history) == ("MDEV-39874",)

    def test_a_sequential_case_is_not_excused(self) -> None:
        history = observe("/* tx1 */ UPDATE t SET b = 1;\n", RU, NEW, final={"t": ((1, 1), (2, 99))})
        assert known_as(history) == ()

    def test_a_committed_row_that_is_lost_is_not_excused(self) -> None:
        history = observe(self.SCHEDULE, RU, NEW, {2: Affected(0)}, {"t": (self.KEPT[0],)}, unblocked=(2,))
        assert known_as(history) == ()

    def test_older_servers_have_it_not(self) -> None:
        history = observe(self.SCHEDULE, RU, OLD, {2: Affected(0)}, {"t": self.KEPT}, unblocked=(2,))
        assert known_as(history) == ()


SAVEPOINT = """\
/* tx1 */ BEGIN;
/* tx1 */ SAVEPOINT s;
/* tx1 */ SELECT * FROM t;
/* tx2 */ INSERT INTO t VALUES (3, 30);
/* tx1 */ ROLLBACK TO SAVEPOINT s;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
"""
THREE = rows((1, 10), (2, 20), (3, 30))


class TestSavepoint:
    def test_the_snapshot_is_lost(self) -> None:
        assert known_as(observe(SAVEPOINT, RR, OLD, {5: THREE})) == ("ACIDTEST-2",)

    def test_not_where_the_savepoint_came_after_the_first_read(self) -> None:
        schedule = SAVEPOINT.replace(
            "SAVEPOINT s;\n/* tx1 */ SELECT", "SELECT * FROM t;\n/* tx1 */ SELECT", 1
        )
        schedule = schedule.replace("/* tx2 */", "/* tx1 */ SAVEPOINT s;\n/* tx2 */")
        assert known_as(observe(schedule, RR, OLD, {6: THREE})) == ()

    def test_what_is_not_committed_stays_unseen(self) -> None:
        schedule = SAVEPOINT.replace("/* tx2 */ INSERT", "/* tx2 */ BEGIN;\n/* tx2 */ INSERT")
        assert known_as(observe(schedule, RR, OLD, {6: THREE})) == ()


class TestIndexOnly:
    SETUP = "CREATE TABLE t (a INT);\nCREATE INDEX i ON t (a);\nINSERT INTO t VALUES (0);\n"
    BARE = SETUP.replace("CREATE INDEX i ON t (a);\n", "")
    SCHEDULE = """\
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ INSERT INTO t VALUES (1);
/* tx1 */ SELECT * FROM t LOCK IN SHARE MODE;
/* tx1 */ COMMIT;
"""

    def test_a_shared_lock_over_the_index_alone_misses_the_conflict(self) -> None:
        history = observe(self.SCHEDULE, RR, NEW, setup=self.SETUP)
        assert known_as(history) == ("ACIDTEST-1",)

    def test_without_an_index_it_is_not_excused(self) -> None:
        assert known_as(observe(self.SCHEDULE, RR, NEW, setup=self.BARE)) == ()


class TestGoneFromAnIndex:
    """ACIDTEST-5: over a secondary index nobody notices that a row of the snapshot is gone."""

    INDEXED = "CREATE TABLE t (a INT PRIMARY KEY, b INT, c INT);\nCREATE INDEX i ON t (b);\n"
    ROWS = "INSERT INTO t VALUES (1, 10, 0), (2, 20, 0);\n"
    SCHEDULE = """\
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ {};
/* tx1 */ {};
/* tx1 */ COMMIT;
"""

    @staticmethod
    def explained_by(history: History) -> tuple[str, ...]:
        with open_target("simulated") as target:
            verdict = GraphOracle(target, Walks()).judge(history)
        assert verdict is not None
        assert verdict.violation is not None, verdict
        return tuple(one.id for one in verdict.violation.explained_by)

    def observed(self, other: str, statement: str, setup: str = INDEXED) -> tuple[str, ...]:
        return self.explained_by(
            observe(self.SCHEDULE.format(other, statement), RR, NEW, setup=setup + self.ROWS)
        )

    @pytest.mark.parametrize("other", ["DELETE FROM t WHERE a = 1", "UPDATE t SET b = 15 WHERE a = 1"])
    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE t SET c = 1 WHERE b = 10",
            "DELETE FROM t WHERE b = 10",
            "SELECT * FROM t WHERE b < 12 FOR UPDATE",
        ],
    )
    def test_a_row_that_has_left_the_index_is_not_missed(self, other: str, statement: str) -> None:
        assert self.observed(other, statement) == ("ACIDTEST-5",)

    def test_without_an_index_it_is_not_excused(self) -> None:
        bare = self.INDEXED.partition("CREATE INDEX")[0]
        assert self.observed("DELETE FROM t WHERE a = 1", "DELETE FROM t WHERE b = 10", bare) == ()

    def test_by_way_of_the_primary_key_it_is_not_excused(self) -> None:
        assert self.observed("DELETE FROM t WHERE a = 1", "DELETE FROM t WHERE a = 1") == ()

    def test_a_row_that_stays_in_its_place_in_the_index_is_noticed(self) -> None:
        statement = "DELETE FROM t WHERE b = 10 AND c = 0"
        assert self.observed("UPDATE t SET c = 1 WHERE a = 1", statement) == ()


class TestDuckdb:
    LOST = "/* tx1 */ BEGIN;\n/* tx1 */ UPDATE t SET b = 11 WHERE a = 1;\n/* tx2 */ {};\n/* tx1 */ COMMIT;\n"
    SETUP = "CREATE TABLE t (a INT, b INT);\nINSERT INTO t VALUES (1, 10), (2, 20);\n"

    def test_a_delete_of_an_updated_row_wins(self) -> None:
        history = observe(
            self.LOST.format("DELETE FROM t WHERE a = 1"),
            SI,
            DUCKDB,
            {2: Affected(1)},
            {"t": ((2, 20),)},
            setup=self.SETUP,
            unblocked=(2,),
        )
        assert known_as(history) == ("DUCKDB-17223",)

    def test_two_updates_of_one_row_are_new(self) -> None:
        history = observe(
            self.LOST.format("UPDATE t SET b = 12 WHERE a = 1"),
            SI,
            DUCKDB,
            {2: Affected(1)},
            {"t": ((1, 11), (2, 20))},
            setup=self.SETUP,
            unblocked=(2,),
        )
        assert known_as(history) == ()


def test_a_dirty_write_at_read_committed_is_new() -> None:
    schedule = """\
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 11 WHERE a = 1;
/* tx2 */ UPDATE t SET b = 12 WHERE a = 1;
/* tx1 */ COMMIT;
"""
    history = observe(schedule, RC, OLD, {2: Affected(1)}, {"t": ((1, 12), (2, 20))}, unblocked=(2,))
    assert known_as(history) == ()


def test_every_deviation_changes_a_field_that_claims_have_off() -> None:
    for one in DEVIATIONS:
        assert one.changes
        assert set(one.changes.values()) == {True}


# -- planted faults are never explained away

SERVERS = (
    MYSQL,
    OLD,
    NEW,
    Server("mariadb", "10.5.23-MariaDB"),
    Server("tidb", "8.5.4-TiDB"),
    DUCKDB,
    Server("postgres", "18.4"),
    Server("sqlite", "3.40.1"),
)


REAL = {("write-chooses-by-snapshot", "duckdb")}
"""The fault's own history is what DuckDB 2.0 does: a DELETE by the snapshot of a row updated since."""


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_no_planted_fault_is_explained_away(fault: Fault) -> None:
    own = load_case(case_file(fault))
    cases = [own.at_level(level) for level in fault.levels]
    cases += list(_random_cases(SPEAKS, fault.levels, 7, 5))
    seen = 0
    with open_target(f"simulated@{fault.name}") as target, Executor(target) as executor:
        for case in cases:
            history = executor.run(case)
            if SolverOracle(target, Walks()).judge(history).judgement is not Judgement.VIOLATION:
                continue
            for server in SERVERS:
                for verdict in _as_judged_by(target, history, server):
                    seen += verdict.is_violation
                    assert not verdict.is_explained or (fault.name, server.dbms) in REAL, (server, case)
    assert seen


def _as_judged_by(target: object, history: History, server: Server) -> list[Verdict]:
    """What the oracles say if the server had given the history; levels that it lacks are left out."""
    levels = dict.fromkeys(history.levels, SI) if server.dbms == "duckdb" else history.levels
    if server.dbms == "tidb" and not set(levels.values()) <= {RC, RR}:
        return []
    other = as_by(history, server, levels)
    walks = Walks()
    verdicts = (SolverOracle(target, walks).judge(other), GraphOracle(target, walks).judge(other))  # type: ignore[arg-type]
    return [one for one in verdicts if one is not None]
