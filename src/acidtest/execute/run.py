"""One run of a case: the protocol of launching, settling and resuming, and the log of what happened.

It follows Troc's Algorithm 1 for any number of sessions, but decides nothing by a time-out. A step ends at
*quiescence*: every session in flight has answered, or the server said that it waits, in an answer to a
question that was asked after the last change. A cycle of waits is no quiescence, because the DBMS is about
to choose a victim. Pauses only pace the questions.
"""

import re
import select
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from time import monotonic

from acidtest.errors import TargetFailedError
from acidtest.execute.acts import Act, Backstage, act_of
from acidtest.execute.feed import Feed
from acidtest.execute.inquiry import Inquiry
from acidtest.execute.listener import Listener
from acidtest.execute.log import Log
from acidtest.model import (
    Affected,
    Blocked,
    ErrorKind,
    EventKind,
    Failed,
    Omitted,
    Overran,
    Reply,
    Step,
    TransactionState,
    Undone,
)
from acidtest.sql import StatementKind, kind_of
from acidtest.targets import Session, Target, Waits

NOT_RELEASED = frozenset(
    {ErrorKind.DEADLOCK, ErrorKind.LOCK_TIMEOUT, ErrorKind.CANCELLED, ErrorKind.CONNECTION_LOST}
)
"""Errors that end a wait although nobody gave up the lock."""

_TIMEOUT = re.compile(
    r"\b\w*(?:lock_wait|lock|statement|transaction|session)_timeout\b|\bwait_timeout\b|\bmax_statement_time\b|\bWAIT\s+\d",
    re.IGNORECASE,
)
"""A case that sets a time-out wants to see it come."""


@lru_cache(maxsize=4096)
def _sets_timeout(sql: str) -> bool:
    return _TIMEOUT.search(sql) is not None


CONFIRMATIONS = 3
"""Where the server does not name blockers a cycle cannot be seen: several waiters must be seen so often."""


OPEN_CIRCLES = 30
"""InnoDB follows one blocker of each waiter, so it finds a circle only when that one ends: while a member
of the circle also waits for a session that is free to act, the circle may stay. Seen so often, it does."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Guards against a server that hangs. They decide no outcome but `Overran` and `Blocked`."""

    statement_s: float = 30.0
    cancel_s: float = 5.0


@dataclass(slots=True)
class Flight:
    """A step whose statement was launched and has not completed."""

    step: Step
    session: Session
    before: TransactionState
    waiting: bool = False
    """The server said that it waits, and nothing that came later contradicts it for sure."""
    waited: bool = False
    goes_on: bool = False
    """The last answer does not name it any more: it was released, or is about to fail."""
    releaser: int | None = None
    first_blockers: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()


class Run:
    """Runs what a feed gives over sessions that are ready for it."""

    def __init__(
        self,
        feed: Feed,
        target: Target,
        sessions: Mapping[str, Session],
        *,
        inquiry: Inquiry | None,
        backstage: Backstage,
        listener: Listener,
        limits: Limits,
        log: Log,
    ) -> None:
        self._target = target
        self._sessions = dict(sessions)
        self._names = {session: name for name, session in sessions.items()}
        self._inquiry = inquiry
        self._backstage = backstage
        self._listener = listener
        self._limits = limits
        self._feed = feed
        self._flights: dict[Session, Flight] = {}
        self._current: Flight | None = None
        self._early: list[tuple[Flight, Reply]] = []
        self._done: dict[str, int] = {}  # session name -> its last completed step; latest session last
        self._given_up: dict[str, str] = {}
        self._last: dict[str, Step] = {}  # session name -> its last step that was launched or omitted
        self._cut_off: set[Session] = set()
        self._confirmed = self._circles = 0
        self._patient = False
        self.log = log

    def execute(self) -> Log:
        """Run all that the feed gives. Afterwards nothing is in flight on a session that still lives."""
        while True:
            step = self._take_next()
            if step is not None:
                act = act_of(step.sql)
                self._launch(step) if act is None else self._perform(step, act)
                if step.statement.parallel and self._can_go_on():
                    continue
                self._settle()
                if step.statement.awaits:
                    self._await_answers(step)
            elif not self._goes_on_later():
                break
        self._end_waits()
        for step in self._feed.rest():
            self.log.skip(step, Omitted(f"{step.session} still waited when the schedule ended"))
        return self.log

    # -- choosing and launching

    def _take_next(self) -> Step | None:
        """The next step that is to be sent; what is not is omitted."""
        free: Collection[str] = self._sessions
        if self._flights:
            free = {name for name, session in self._sessions.items() if session not in self._flights}
        while (step := self._feed.next(free)) is not None:
            why = self._given_up.get(step.session)
            if why is None and step.statement.joined:
                why = self._cut_short(step)
            self._last[step.session] = step
            if why is None:
                return step
            self.log.skip(step, Omitted(why))
            self._tell(step)
        return None

    def _tell(self, step: Step) -> None:
        """Tell the feed what a step came to."""
        self._feed.replied(step, self.log.records[step.index])

    def _cut_short(self, step: Step) -> str | None:
        """Why a joined statement is not sent although its session is free: its step ended before it."""
        before = self._last.get(step.session)
        if before is None:
            return None
        outcome = self.log.records[before.index].outcome
        if isinstance(outcome, Failed) and not _only_rolled_back(before, outcome):
            return "an earlier statement of its step failed"
        return outcome.why if isinstance(outcome, Omitted) else None

    def _launch(self, step: Step) -> None:
        session = self._sessions[step.session]
        self._current = self._flights[session] = Flight(step, session, session.transaction)
        self.log.event(EventKind.LAUNCHED, step)
        if session in self._cut_off:
            self._cut_off.remove(session)
            self._listener.listen_to(session)
        sql, parameters = step.statement.sql, step.statement.parameters
        self._patient = self._patient or _sets_timeout(sql)
        if parameters is None:
            session.launch(sql)
        else:
            session.launch(sql, parameters)

    def _can_go_on(self) -> bool:
        """Whether a session is free, so that another statement can run beside those in flight."""
        return self._inquiry is not None and len(self._flights) < len(self._sessions)

    def _perform(self, step: Step, act: Act) -> None:
        """Do what is no statement. What was in flight when the server went down is lost."""
        session = self._sessions[step.session]
        flight = Flight(step, session, session.transaction)
        self._current = None
        self.log.event(EventKind.LAUNCHED, step)
        if act is Act.CLOSE:
            self._adopt(step.session, self._backstage.hang_up(step.session))
        else:
            renewed = self._backstage.reboot(kill=act is Act.KILL)
            self._bury()
            for name, one in renewed.items():
                self._adopt(name, one)
            self._given_up.clear()
        self.log.complete(flight, Reply(Affected(0), TransactionState.NONE))
        if flight.before is not TransactionState.NONE:
            self.log.event(EventKind.ABORTED, step)
        self._done[step.session] = step.index
        self._tell(step)

    def _adopt(self, name: str, session: Session) -> None:
        self._names.pop(self._sessions[name], None)
        self._sessions[name] = session
        self._names[session] = name

    # -- quiescence

    def _settle(self) -> None:
        """Wait for quiescence after a launch."""
        if self._inquiry is None:
            self._collect(list(self._flights))
            return
        self._inquiry.launched()
        self._confirmed = self._circles = 0
        self._settle_by_asking(self._inquiry)
        self._inquiry.settled()

    def _settle_by_asking(self, inquiry: Inquiry) -> None:
        deadline = monotonic() + self._limits.statement_s
        while self._flights:
            ready = self._listener.news(inquiry.pause_s())
            if self._collect(ready):
                inquiry.changed()
                continue
            waits = inquiry.answer() if inquiry.watch in ready else None
            if waits is not None and self._is_quiet(waits):
                return
            if inquiry.dead and not self._backstage.revive():
                self._bury()
                return
            if monotonic() > deadline:
                self._overrun()
                return
            inquiry.ask(list(self._flights), had_news=bool(ready))

    def _is_quiet(self, waits: Waits) -> bool:
        """Note who waits; whether all that is in flight waits, and not in a circle."""
        running = self._current is not None and self._is_running(self._current, waits)
        for session, flight in self._flights.items():
            if session in waits:
                self._note_waiting(flight, waits[session])
            elif flight.waiting and not running and not flight.goes_on:
                flight.goes_on, flight.releaser = True, self._releaser(flight)
        if not running:
            self._release_early()
        if not all(flight.waiting and flight.session in waits for flight in self._flights.values()):
            return False
        if (ring := circle(waits)) is not None:
            self._circles += 1
            others = any(other not in waits for one in ring for other in waits[one])
            return others and self._circles >= OPEN_CIRCLES
        self._confirmed += 1
        known = len(self._flights) < 2 or all(flight.blockers for flight in self._flights.values())
        return known or self._confirmed >= CONFIRMATIONS

    def _is_running(self, flight: Flight, waits: Waits) -> bool:
        return flight.session in self._flights and flight.session not in waits

    def _note_waiting(self, flight: Flight, blockers: Iterable[Session]) -> None:
        names = tuple(sorted(self._names[session] for session in blockers if session in self._names))
        if flight.waiting and names == flight.blockers:
            flight.goes_on = False
            return
        if flight.goes_on:
            self._note_resumed(flight)
        if not flight.waited:
            flight.first_blockers = names
        flight.waiting = flight.waited = True
        flight.blockers = names
        self.log.event(EventKind.BLOCKED, flight.step, by=names)

    def _note_resumed(self, flight: Flight) -> None:
        releaser = flight.releaser if flight.goes_on else self._releaser(flight)
        flight.waiting = flight.goes_on = False
        self.log.resumed(flight.step, releaser)

    def _releaser(self, flight: Flight) -> int | None:
        """The step that released a waiting one: what a session it waited for did last."""
        awaited = self._awaited(flight)
        current = self._current
        still_running = current is not None and current is not flight and current.session in self._flights
        if current and still_running and (not flight.blockers or current.step.session in awaited):
            return current.step.index
        others = [name for name in self._done if name != flight.step.session]
        free = [name for name in others if name in awaited and self._sessions[name] not in self._flights]
        return self._done[(free or others)[-1]] if others else None

    def _awaited(self, flight: Flight) -> set[str]:
        """Whom it waited for, and whom those waited for in turn, since it may overtake one before it."""
        found: set[str] = set()
        new = set(flight.blockers)
        while new:
            found |= new
            waiting = [
                self._flights[session] for name in new if (session := self._sessions[name]) in self._flights
            ]
            new = {name for other in waiting for name in other.blockers} - found
        return found

    # -- replies

    def _collect(self, ready: Iterable[object]) -> bool:
        """Take the replies that are there; whether a step completed."""
        completed = False
        for session in ready:
            flight = self._flights.get(session)  # type: ignore[call-overload]
            if flight is None:
                if isinstance(session, Session):
                    self._ignore(session)
                continue
            reply = flight.session.poll()
            if reply is None:
                continue
            if self._comes_after_current(flight, reply):
                self._early.append((flight, reply))
                continue
            self._complete(flight, reply)
            completed = True
            if flight is self._current:
                self._release_early()
        return completed

    def _ignore(self, session: Session) -> None:
        """An idle session has news only when it was cut off; its next statement will show it."""
        self._listener.forget(session)
        self._cut_off.add(session)

    def _comes_after_current(self, flight: Flight, reply: Reply) -> bool:
        """A released session may answer before the COMMIT that released it; it still took effect later."""
        current = self._current
        released = not (isinstance(reply.outcome, Failed) and reply.outcome.kind in NOT_RELEASED)
        return (
            released
            and flight.waiting
            and current is not None
            and current is not flight
            and current.session in self._flights
            and not current.waiting
        )

    def _release_early(self) -> None:
        early, self._early = self._early, []
        for flight, reply in early:
            self._complete(flight, reply)

    def _complete(self, flight: Flight, reply: Reply) -> None:
        step, outcome = flight.step, reply.outcome
        failed = outcome if isinstance(outcome, Failed) else None
        if flight.waiting and not (failed and failed.kind in NOT_RELEASED):
            self._note_resumed(flight)
        del self._flights[flight.session]
        self._done.pop(step.session, None)
        self._done[step.session] = step.index
        self.log.complete(flight, reply)
        self._tell(step)
        if not flight.session.alive:
            self._give_up(flight.session, "the connection was lost")

    def _give_up(self, session: Session, why: str) -> None:
        self._given_up[self._names[session]] = why

    # -- what does not end by itself

    def _goes_on_later(self) -> bool:
        """Nothing can be launched now; whether that changed, because something completed or need not."""
        held_up = self._feed.is_held_up
        if (self._patient or held_up) and self._await_completion():
            return True
        self._feed.let_overtake()
        return held_up

    def _await_answers(self, step: Step) -> None:
        """Let the sessions that a step awaits answer before the schedule goes on."""
        awaited = [self._sessions[name] for name in step.statement.awaits if name in self._sessions]
        while any(session in self._flights for session in awaited):
            if not self._await_completion():
                return

    def _await_completion(self) -> bool:
        """Let something that waits come to its end by itself; whether it did within the limit."""
        if not self._flights or self._inquiry is None:
            return False
        deadline = monotonic() + self._limits.statement_s
        while (left := deadline - monotonic()) > 0:
            if self._collect(self._listener.news(left)):
                self._current = None
                self._settle()
                return True
        return False

    def _overrun(self) -> None:
        """Give up on what neither answered nor waits; what waits in a circle may go on waiting."""
        self._release_early()
        for flight in [flight for flight in self._flights.values() if not flight.waiting]:
            self._stop(flight)
            self.log.close(flight, Overran(self._limits.statement_s))
            self._tell(flight.step)
            self._give_up(flight.session, "an earlier statement of the session ran over the limit")

    def _bury(self) -> None:
        """The server is gone: whatever is still in flight will never be answered."""
        self._release_early()
        for flight in list(self._flights.values()):
            flight.session.close()
            gone = Failed(ErrorKind.CONNECTION_LOST, "", "the server is gone", Undone.CONNECTION)
            self._complete(flight, Reply(gone, TransactionState.NONE))

    def _end_waits(self) -> None:
        """Cancel what still waits, last come first, so that no cancel lets another waiter through."""
        for flight in reversed(self._flights.copy().values()):
            self._stop(flight)
            self.log.close(flight, Blocked(flight.blockers))
            self._tell(flight.step)

    def _stop(self, flight: Flight) -> None:
        """Cancel the statement in flight and take its reply; a session that does not react is dropped."""
        session = flight.session
        del self._flights[session]
        try:
            self._target.cancel(session)
        except TargetFailedError:
            session.close()
            return
        poller = select.poll()  # not select(), which takes no descriptors above 1023
        poller.register(session, select.POLLIN)
        deadline = monotonic() + self._limits.cancel_s
        while session.poll() is None:
            left = deadline - monotonic()
            if left <= 0:
                session.close()
                return
            poller.poll(1000 * left)


def _only_rolled_back(step: Step, outcome: Failed) -> bool:
    """The COMMIT of a transaction that had failed: to the DBMS that is no error, so its step goes on."""
    return kind_of(step.sql) is StatementKind.COMMIT and outcome.kind is ErrorKind.TRANSACTION_STATE


def circle(waits: Waits) -> list[Session] | None:
    """Sessions that wait for each other in a circle, if there are some."""
    clear: set[Session] = set()

    def walk(session: Session, path: list[Session]) -> list[Session] | None:
        if session in path:
            return path[path.index(session) :]
        if session in clear or session not in waits:
            return None
        for other in waits[session]:
            if (found := walk(other, [*path, session])) is not None:
                return found
        clear.add(session)
        return None

    return next((found for one in waits if (found := walk(one, [])) is not None), None)
