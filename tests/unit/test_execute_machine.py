"""The executor under a state machine: case after case on a server that may answer, block, release, hang, cut
off and die in any order. Whatever it does, the history tells it, and the next case runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from acidtest.errors import TargetFailedError
from acidtest.execute import Executor, Limits
from acidtest.execute.run import NOT_RELEASED
from acidtest.model import (
    Affected,
    Blocked,
    Case,
    ErrorKind,
    EventKind,
    Failed,
    History,
    Indeterminate,
    Omitted,
    Overran,
    Record,
    Reply,
    Rows,
    Statement,
    TransactionState,
    Undone,
    interleave,
)
from acidtest.targets import Session, Waits
from tests.unit.scripted import NONE, OPEN, ScriptedSession, ScriptedTarget, error, ok

LIMITS = Limits(statement_s=0.05, cancel_s=0.02)
LOST = error(ErrorKind.CONNECTION_LOST, Undone.CONNECTION, NONE)
SESSIONS = ("tx1", "tx2", "tx3")


class Act(Enum):
    """What the server does with a statement."""

    ANSWER = "answer"
    REFUSE = "refuse"
    BREAK_OFF = "break off"
    BLOCK = "block"
    LOSE = "lose"
    HANG = "hang"
    DIE = "die"


ACTS = st.sampled_from([*[Act.ANSWER] * 6, *[Act.BLOCK] * 6, *Act])


class Fate(Enum):
    """What becomes of a statement that waits, if nobody releases it: something after a few questions."""

    STAYS = "stays"
    TIMES_OUT = "times out"
    IS_RELEASED = "is released"
    VICTIM = "victim"


@dataclass
class Wait:
    """A statement that waits."""

    sql: str
    blockers: frozenset[Session]
    fate: Fate
    questions_left: int


@dataclass(frozen=True)
class Release:
    """A statement that released another one by its answer."""

    sql: str
    released: str


FATES = {
    Fate.TIMES_OUT: error(ErrorKind.LOCK_TIMEOUT),
    Fate.IS_RELEASED: ok(1),
    Fate.VICTIM: error(ErrorKind.DEADLOCK, Undone.TRANSACTION, NONE),
}


class Server(ScriptedTarget):
    """Decides by lot, at launches only, so that the same lots always give the same run."""

    def __init__(self) -> None:
        super().__init__(self.take, self.asked)
        self.data: st.DataObject
        self.waiting: dict[ScriptedSession, Wait] = {}
        self.hanging: set[ScriptedSession] = set()
        self.cut_off: set[ScriptedSession] = set()
        self.sent: dict[str, Reply] = {}
        self.releases: list[Release] = []
        self.died = False

    def begin(self, data: st.DataObject) -> None:
        """Another case comes."""
        self.data = data
        self.sent.clear()
        self.releases.clear()
        self.died = False

    # -- what the executor calls

    def take(self, session: ScriptedSession, sql: str) -> None:
        assert session not in self.waiting, "a session that waits gets no other statement"
        assert session not in self.hanging
        if session in self.cut_off:
            self.sent[sql] = LOST  # it lies there already
            return
        if self.dead:
            self._reply(session, sql, LOST)
            return
        self._cut_off_somebody(session)
        act = self.data.draw(ACTS, label=f"{sql}")
        released = self._draw_released()
        early = bool(released) and self.data.draw(st.booleans(), label="the released ones answer first")
        if early:
            self._release(released)
        self._act(act, session, sql)
        if not early and not self.dead:
            self._release(released)
        if act in (Act.ANSWER, Act.REFUSE):
            self.releases += [Release(sql, one) for one in released.values()]

    def asked(self) -> Waits:
        """Who waits: as it was before what now happens by itself, or after."""
        before = self._who_waits()
        for session, wait in list(self.waiting.items()):
            wait.questions_left -= 1
            if wait.questions_left == 0 and wait.fate is not Fate.STAYS:
                del self.waiting[session]
                self._reply(session, wait.sql, FATES[wait.fate])
        self._break_circle()
        return before if self.questions % 2 else self._who_waits()

    def cancel(self, session: Session) -> None:
        assert isinstance(session, ScriptedSession)
        assert session in self.waiting or session in self.hanging or self.dead, "only what is in flight"
        self.waiting.pop(session, None)
        self.hanging.discard(session)
        match self.data.draw(st.sampled_from(["answer", "answer", "silence", "fail"]), label="cancel"):
            case "answer":
                session.answer(error(ErrorKind.CANCELLED))
            case "fail":
                raise TargetFailedError("the cancel did not get through")

    def refill(self, tables: Sequence[str], statements: Sequence[str]) -> None:
        if self.dead:
            raise TargetFailedError("gone")

    def restart(self) -> bool:
        self.waiting.clear()
        self.hanging.clear()
        return super().restart()

    # -- how it decides

    def _who_waits(self) -> Waits:
        return {session: wait.blockers for session, wait in self.waiting.items()}

    def _act(self, act: Act, session: ScriptedSession, sql: str) -> None:
        match act:
            case Act.ANSWER:
                state = self.data.draw(st.sampled_from([OPEN, NONE]), label="transaction")
                self._reply(session, sql, ok(1, state))
            case Act.REFUSE:
                self._reply(session, sql, error(ErrorKind.SYNTAX))
            case Act.BREAK_OFF:
                self._reply(session, sql, error(ErrorKind.DEADLOCK, Undone.TRANSACTION, NONE))
            case Act.BLOCK:
                self.waiting[session] = self._draw_wait(session, sql)
            case Act.LOSE:
                self._reply(session, sql, LOST)
            case Act.HANG:
                self.hanging.add(session)
            case Act.DIE:
                self._die(session, sql)

    def _draw_wait(self, session: ScriptedSession, sql: str) -> Wait:
        others = [one for one in self.sessions if one is not session and one.alive]
        blockers = self.data.draw(st.sets(st.sampled_from(others)) if others else st.just(set()), label="by")
        fate = self.data.draw(st.sampled_from([*[Fate.STAYS] * 4, *Fate]), label="fate")
        return Wait(sql, frozenset(blockers), fate, self.data.draw(st.integers(1, 4), label="after"))

    def _draw_released(self) -> dict[ScriptedSession, str]:
        waiting = list(self.waiting)
        if not waiting:
            return {}
        chosen = self.data.draw(st.lists(st.sampled_from(waiting), unique=True), label="released")
        return {session: self.waiting[session].sql for session in chosen}

    def _release(self, released: dict[ScriptedSession, str]) -> None:
        for session, sql in released.items():
            del self.waiting[session]
            self._reply(session, sql, ok(1))

    def _cut_off_somebody(self, current: ScriptedSession) -> None:
        """An idle session may lose its connection; its next statement shows it."""
        busy = {current, *self.waiting, *self.hanging, *self.cut_off}
        idle = [one for one in self.sessions if one.alive and one not in busy and one.is_read_out]
        if idle and self.data.draw(st.sampled_from([*[False] * 9, True]), label="cut off"):
            self.cut_off.add(idle[0])
            idle[0].answer(LOST)

    def _die(self, session: ScriptedSession, sql: str) -> None:
        """Some sessions are told, the others hear nothing any more."""
        self.dead = self.died = True
        flights = {session: sql, **{one: wait.sql for one, wait in self.waiting.items()}}
        self.waiting.clear()
        for one, its in flights.items():
            if self.data.draw(st.booleans(), label="told"):
                self._reply(one, its, LOST)
            else:
                self.hanging.add(one)

    def _break_circle(self) -> None:
        """The first waiter that waits for itself over others is the victim."""
        for session, wait in list(self.waiting.items()):
            reached: set[Session] = set()
            todo = set(wait.blockers)
            while todo:
                reached |= todo
                held = [wait for one, wait in self.waiting.items() if one in todo]
                todo = {blocker for one in held for blocker in one.blockers} - reached
            if session in reached:
                del self.waiting[session]
                self._reply(session, wait.sql, FATES[Fate.VICTIM])
                return

    def _reply(self, session: ScriptedSession, sql: str, reply: Reply) -> None:
        assert sql not in self.sent, "a statement is answered once"
        self.sent[sql] = reply
        session.answer(reply)


class ExecutorMachine(RuleBasedStateMachine):
    """One executor, many cases."""

    def __init__(self) -> None:
        super().__init__()
        self._server = Server()
        self._executor = Executor(self._server, LIMITS)

    @rule(data=st.data(), names=st.lists(st.sampled_from(SESSIONS), min_size=1, max_size=9))
    def a_case_runs(self, data: st.DataObject, names: list[str]) -> None:
        steps = [(name, Statement(f"UPDATE t SET a = {number}")) for number, name in enumerate(names)]
        case = Case("case", (), *interleave(steps, {}))
        self._server.begin(data)
        was_dead = self._server.dead
        try:
            history = self._executor.run(case)
        except TargetFailedError:
            assert was_dead, "what goes wrong during a run is part of its history"
            return
        check_records(case, history)
        check_events(history)
        check_order(history)
        check_replies(history, self._server)
        check_releases(history, self._server.releases)

    @rule()
    def the_server_dies_between_cases(self) -> None:
        self._server.dead = True

    @invariant()
    def nothing_is_in_flight(self) -> None:
        for session in self._server.sessions:
            if session.alive:
                assert session not in self._server.waiting
                assert session not in self._server.hanging
                assert session.is_read_out or session in self._server.cut_off

    def teardown(self) -> None:
        self._executor.close()
        for session in self._server.sessions:
            session.close()


def answered(record: Record) -> bool:
    return isinstance(record.outcome, Rows | Affected | Failed | Indeterminate)


def check_records(case: Case, history: History) -> None:
    """Each step has exactly one record, in the order of the schedule."""
    told = [(record.step, record.session, record.sql) for record in history.records]
    assert told == [(step.index, step.session, step.sql) for step in case.steps]


def check_events(history: History) -> None:
    """Events say of a step what its record says."""
    for record in history.records:
        events = [event for event in history.events if event.step == record.step]
        kinds = [event.kind for event in events]
        assert kinds.count(EventKind.LAUNCHED) == (not isinstance(record.outcome, Omitted))
        assert kinds.count(EventKind.COMPLETED) == answered(record)
        assert kinds[:1] == [EventKind.LAUNCHED] or not kinds
        blocked = [event for event in events if event.kind is EventKind.BLOCKED]
        resumed = [event for event in events if event.kind is EventKind.RESUMED]
        assert record.waited == bool(blocked)
        assert record.blocked_by == (blocked[0].by if blocked else ())
        assert record.resumed_by == (resumed[-1].cause if resumed else None)
        assert not isinstance(record.outcome, Blocked) or record.waited
        check_wait_ends(record, kinds)


def check_wait_ends(record: Record, kinds: Sequence[EventKind]) -> None:
    """A wait ends with a resumption, with an error that ends waits, or not at all; and begins before."""
    waits = [kind for kind in kinds if kind in (EventKind.BLOCKED, EventKind.RESUMED)]
    assert waits[:1] != [EventKind.RESUMED]
    assert (EventKind.RESUMED, EventKind.RESUMED) not in pairwise(waits)
    if waits[-1:] == [EventKind.BLOCKED] and answered(record):
        lost = isinstance(record.outcome, Indeterminate)
        assert lost or (isinstance(record.outcome, Failed) and record.outcome.kind in NOT_RELEASED)
    if EventKind.COMPLETED in kinds:
        after = kinds[kinds.index(EventKind.COMPLETED) + 1 :]
        assert after in ([], [EventKind.ABORTED])


def check_order(history: History) -> None:
    """A session has one statement in flight, and they come in its own order."""
    for name in {record.session for record in history.records}:
        own = [record for record in history.records if record.session == name]
        expected = []
        for record in own:
            if not isinstance(record.outcome, Omitted):
                expected.append((EventKind.LAUNCHED, record.step))
            if answered(record):
                expected.append((EventKind.COMPLETED, record.step))
        shown = [
            (event.kind, event.step)
            for event in history.events
            if event.session == name and event.kind in (EventKind.LAUNCHED, EventKind.COMPLETED)
        ]
        assert shown == expected
        ends = [isinstance(record.outcome, Blocked | Overran | Omitted) for record in own]
        assert ends == sorted(ends), "after one that came to no end, nothing of the session is launched"
        for before, after in pairwise(own):
            if answered(after):
                assert after.before is before.after or after.before is TransactionState.NONE
    assert set(history.observed_order) == {record.step for record in history.records if answered(record)}


def check_replies(history: History, server: Server) -> None:
    """No reply of the server is lost, none is made up."""
    for record in history.records:
        reply = server.sent.get(record.sql)
        if reply is not None and (reply is not LOST or record.before is OPEN):
            assert record.outcome == reply.outcome
            assert record.after is reply.transaction
        elif reply is not None:
            assert isinstance(record.outcome, Indeterminate), "a write of its own that may have committed"
        elif answered(record):
            assert server.died, "only a dead server leaves a statement without an answer"
            assert isinstance(record.outcome, Indeterminate) or (
                isinstance(record.outcome, Failed) and record.outcome.kind is ErrorKind.CONNECTION_LOST
            )
    assert (history.final is None) == server.died


def check_releases(history: History, releases: Sequence[Release]) -> None:
    """What was seen waiting and released by an answer took effect after it, whichever answer came first."""
    steps = {record.sql: record.step for record in history.records}
    events = [(event.kind, event.step) for event in history.events]
    for release in releases:
        releaser, released = steps[release.sql], steps[release.released]
        launched = events.index((EventKind.LAUNCHED, releaser))
        if (EventKind.BLOCKED, released) in events[:launched]:
            order = history.observed_order
            assert order.index(releaser) < order.index(released)
            assert history.records[released].resumed_by is not None


def test_the_executor_tells_whatever_happens_in_whatever_order() -> None:
    run_state_machine_as_test(
        ExecutorMachine, settings=settings(max_examples=80, stateful_step_count=8, deadline=None)
    )
