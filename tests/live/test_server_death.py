"""A server that is killed before, while and after a statement: an outcome, not an accident."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest

from acidtest import servers
from acidtest.casefile import parse_case
from acidtest.errors import TargetFailedError
from acidtest.execute import DiedLaterError, Executor
from acidtest.execute.log import Log
from acidtest.model import ErrorKind, EventKind, Failed, Indeterminate, Omitted, Step
from acidtest.servers import RunningServer
from acidtest.targets import Target
from acidtest.targets.resolve import DBMSS, make_target

SPECS = ("postgres", "mariadb@10.11", "mysql@9.7", "mysql@5.6", "seekdb")

CASE = parse_case(
    """\
-- setup
CREATE TABLE t (id INT PRIMARY KEY, value INT);
INSERT INTO t VALUES (1, 10);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET value = 11 WHERE id = 1;
/* tx2 */ UPDATE t SET value = value + 1 WHERE id = 1;
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;
""",
    "death",
)


@dataclass
class KillingLog(Log):
    """Kills the server when a chosen event comes."""

    server: RunningServer | None = None
    moment: tuple[EventKind, int] = field(default=(EventKind.LAUNCHED, 0))

    def event(self, kind: EventKind, step: Step, by: tuple[str, ...] = (), cause: int | None = None) -> None:
        Log.event(self, kind, step, by, cause)
        if (kind, step.index) == self.moment and self.server is not None:
            self.server.kill()


@pytest.fixture(params=[pytest.param(spec, marks=pytest.mark.live(spec)) for spec in SPECS])
def server_and_target(request: pytest.FixtureRequest) -> Iterator[tuple[RunningServer, Target]]:
    spec = request.param
    server = servers.start(spec)
    with make_target(DBMSS[spec.partition("@")[0]])(server.endpoint, spec, server) as target:
        yield server, target


@pytest.mark.parametrize(
    "moment",
    [(EventKind.LAUNCHED, 1), (EventKind.BLOCKED, 2), (EventKind.COMPLETED, 1)],
    ids=["before", "while", "after"],
)
def test_death_is_recorded_and_the_next_case_runs(
    server_and_target: tuple[RunningServer, Target], moment: tuple[EventKind, int]
) -> None:
    server, target = server_and_target
    killed: list[KillingLog] = []

    def new_log() -> Log:
        if killed:
            return Log()
        killed.append(KillingLog(server=server, moment=moment))
        return killed[0]

    with Executor(target, new_log=new_log) as executor:
        history = executor.run(CASE)
        assert history.server_died
        assert history.final is None
        lost = [
            record.step
            for record in history.records
            if isinstance(record.outcome, Indeterminate)
            or (isinstance(record.outcome, Failed) and record.outcome.kind is ErrorKind.CONNECTION_LOST)
        ]
        assert lost
        # Processes do not all die at one moment: with that of tx1 dead, the UPDATE that waited may still end.
        first = {"before": {1}, "while": {2, 3}, "after": {2}}
        assert min(lost) in first[_name(moment)]
        later = [record for record in history.records if record.step > max(lost)]
        assert all(isinstance(record.outcome, Omitted) for record in later)

        again = executor.run(CASE)
    assert not again.server_died
    assert again.final == {"t": ((1, 12),)}
    assert again.records[2].blocked_by == ("tx1",)
    assert again.records[2].resumed_by == 3


def test_a_death_after_the_final_state_belongs_to_the_run_that_was_told(
    server_and_target: tuple[RunningServer, Target], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, target = server_and_target
    killing, clear = False, target.clear

    def clear_or_die() -> None:
        if killing:
            server.kill()
        clear()

    monkeypatch.setattr(target, "clear", clear_or_die)
    with Executor(target) as executor:
        assert not executor.run(CASE, fresh=True).server_died
        killing = True  # as if dropping the tables killed it
        history = executor.run(CASE, fresh=True)
        killing = False
        assert history.server_died
        assert history.final == {"t": ((1, 12),)}
        told = executor.run(CASE)
        assert not told.server_died
        server.kill()  # as if a thread in the background had died
        with pytest.raises(DiedLaterError) as late:
            executor.run(CASE)
        assert late.value.history == replace(told, died=True)
        assert executor.run(CASE).final == {"t": ((1, 12),)}


def test_a_server_that_others_look_after_may_come_back(
    server_and_target: tuple[RunningServer, Target], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, target = server_and_target
    monkeypatch.setattr("acidtest.targets.base.RETURN_S", 0.0)
    make_theirs = make_target(DBMSS[target.dbms])
    with make_theirs(server.endpoint, "theirs", None) as theirs, Executor(theirs) as executor:
        assert executor.run(CASE).final == {"t": ((1, 12),)}
        server.kill()
        with pytest.raises(TargetFailedError):
            executor.run(CASE)
        with pytest.raises(TargetFailedError, match="theirs"):
            executor.run(CASE)
        server.restart()
        assert executor.run(CASE).final == {"t": ((1, 12),)}
    assert target.restart()


def _name(moment: tuple[EventKind, int]) -> str:
    return {EventKind.LAUNCHED: "before", EventKind.BLOCKED: "while", EventKind.COMPLETED: "after"}[moment[0]]
