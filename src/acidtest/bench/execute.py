"""`acidtest bench execute`: what the executor costs on top of the driver.

Bare means: the same sessions of the same target launch the same statements in the order that was observed
before, wait for each reply, and watch nothing. Both sides renew the rows before each case and read the final
state after it. They take turns, so that a busy machine slows both.
"""

import select
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import ClassVar

from acidtest.bench.cases import bench_cases
from acidtest.execute import Executor
from acidtest.execute.log import Log
from acidtest.model import Case, EventKind, History, Step
from acidtest.sql import StatementKind, kind_of
from acidtest.targets import Session, Target

CASES_PER_TURN = 20


@dataclass(frozen=True, slots=True)
class ExecuteResult:
    """What was measured for one kind of case on one target."""

    target: str
    version: str
    kind: str
    cases: int
    ratio: float
    cases_per_minute: float
    bare_cases_per_minute: float
    watching_share: float
    questions_per_case: float
    blocked_noticed_ms: float | None


def bench_execute(target: Target, cases: int, on_kind: Callable[[str], object]) -> list[ExecuteResult]:
    """Measure every kind of case on an open target, at its default level."""
    results = []
    for kind, case in bench_cases(waits=target.watch() is not None).items():
        on_kind(kind)
        results.append(_measure(target, kind, case, cases))
    return results


def _measure(target: Target, kind: str, case: Case, cases: int) -> ExecuteResult:
    executor_s = bare_s = 0.0
    done = 0
    _Stopwatch.noticed_s = []
    with Executor(target, new_log=_Stopwatch) as executor:
        history = executor.run(case)
        asked = _Asked.so_far(executor)
        bare = Bare(target, history)
        try:
            while done < cases:
                turn = min(CASES_PER_TURN, cases - done)
                executor_s += time_of(lambda: executor.run(case), turn)
                bare_s += time_of(bare.run, turn)
                done += turn
        finally:
            bare.close()
        asked = _Asked.so_far(executor) - asked
    return ExecuteResult(
        target=target.label,
        version=target.version,
        kind=kind,
        cases=cases,
        ratio=executor_s / bare_s,
        cases_per_minute=60 * cases / executor_s,
        bare_cases_per_minute=60 * cases / bare_s,
        watching_share=asked.watching_s / executor_s,
        questions_per_case=asked.questions / cases,
        blocked_noticed_ms=1000 * median(_Stopwatch.noticed_s) if _Stopwatch.noticed_s else None,
    )


def time_of(work: Callable[[], object], times: int) -> float:
    """Seconds that doing it so many times takes."""
    start = perf_counter()
    for _ in range(times):
        work()
    return perf_counter() - start


@dataclass(frozen=True, slots=True)
class _Asked:
    """How much the executor had asked at some moment."""

    questions: int
    watching_s: float

    @classmethod
    def so_far(cls, executor: Executor) -> "_Asked":
        inquiry = executor.inquiry
        return cls(inquiry.questions, inquiry.watching_s) if inquiry else cls(0, 0.0)

    def __sub__(self, other: "_Asked") -> "_Asked":
        return _Asked(self.questions - other.questions, self.watching_s - other.watching_s)


class _Stopwatch(Log):
    """A log that also takes the time between a launch and the server's word that it waits."""

    noticed_s: ClassVar[list[float]] = []
    _launched_s: float = 0.0

    def event(self, kind: EventKind, step: Step, by: tuple[str, ...] = (), cause: int | None = None) -> None:
        super().event(kind, step, by, cause)
        if kind is EventKind.LAUNCHED:
            self._launched_s = perf_counter()
        elif kind is EventKind.BLOCKED:
            self.noticed_s.append(perf_counter() - self._launched_s)


class Bare:
    """Replays the launches and completions of a history on sessions of its own, and watches nothing."""

    def __init__(self, target: Target, history: History) -> None:
        self._target = target
        self._history = history
        self._sessions = {name: target.open_session() for name in history.levels}
        for name, session in self._sessions.items():
            target.set_level(session, history.levels[name])
        setup = [statement.sql for statement in history.case.setup]
        self._rows = [sql for sql in setup if kind_of(sql) is StatementKind.WRITE]
        self._tables = [table.name for table in history.schema.tables]

    def run(self) -> None:
        """The case once more."""
        self._target.refill(self._tables, self._rows)
        steps = self._history.case.steps
        for event in self._history.events:
            if event.kind is EventKind.LAUNCHED:
                self._sessions[event.session].launch(steps[event.step].sql)
            elif event.kind is EventKind.COMPLETED:
                _await_reply(self._sessions[event.session])
        self._target.state(self._tables)

    def close(self) -> None:
        """Drop the sessions."""
        for session in self._sessions.values():
            session.close()


def _await_reply(session: Session) -> None:
    reply = session.poll()
    if reply is None:
        poller = select.poll()
        poller.register(session, select.POLLIN)
        while session.poll() is None:
            poller.poll()
