"""Runs case after case on one target with the same sessions, and leaves them clean."""

import select
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from time import monotonic
from typing import Self

from acidtest.errors import TargetFailedError
from acidtest.execute.feed import CaseFeed, Feed, as_it_went
from acidtest.execute.ground import Ground
from acidtest.execute.inquiry import Inquiry
from acidtest.execute.listener import Listener
from acidtest.execute.log import Log
from acidtest.execute.run import Limits, Run
from acidtest.model import (
    Case,
    ErrorKind,
    Failed,
    History,
    Level,
    Outcome,
    Overran,
    State,
    Statement,
)
from acidtest.sql import may_change_schema, may_leave_session_traces
from acidtest.targets import Session, Target

_TeardownFailures = tuple[tuple[str, Failed | Overran], ...]


class DiedLaterError(TargetFailedError):
    """The server died after the last run was told, and before another began: `history` is that last run,
    as it has to be told now."""

    def __init__(self, history: History, why: str) -> None:
        super().__init__(f"{history.target} died after {history.case.id}: {why}")
        self.history = history


class Executor:
    """Holds the sessions and the watch of one target. Not thread-safe; one per worker."""

    def __init__(
        self, target: Target, limits: Limits | None = None, new_log: Callable[[], Log] = Log
    ) -> None:
        self.target = target
        self._limits = limits or Limits()
        self._new_log = new_log
        self._ground = Ground(target)
        self._sessions: list[Session] = []
        self._listener = Listener()
        self.inquiry: Inquiry | None = None
        """How much was asked, for those who measure; None while not connected, or if nothing ever waits."""
        self._connected = False
        self._settings: Mapping[str, str] = {}
        self._last: History | None = None
        self._distrusted = False

    def run(self, case: Case, fresh: bool = False) -> History:
        """Run a case and tell what happened. `fresh` builds the tables anew even where refilling would do.

        Raises `UsageError` if the set-up is refused or a level is missing, `TargetFailedError` if the server
        cannot be reached, and of these `DiedLaterError` if the run before is to blame; the same case can then
        be run again. What goes wrong later is part of the history.
        """
        return self._run(case, None, fresh)

    def run_feed(self, case: Case, feed: Feed, fresh: bool = False) -> History:
        """The same with statements that come from a feed, numbered from 0 on. The case says what is built
        before, and which sessions there are at which levels; the history holds it as it went."""
        return self._run(case, feed, fresh)

    def _run(self, case: Case, feed: Feed | None, fresh: bool) -> History:
        levels = {tx.name: tx.level or self.target.default_level for tx in case.transactions}
        self.target.check_levels(levels.values())
        if case.server != self.target.arguments:
            self._serve_with(case.server)
        self._connect()
        try:
            if self._distrusted:
                self._renew()
            schema, initial = self._ground.prepare(case, fresh)
            sessions = self._ready_sessions(levels)
        except TargetFailedError as error:
            self._disconnect()  # the next run begins with a server that lives
            self._blame_last(str(error))
            raise
        run = Run(
            feed or CaseFeed(case),
            self.target,
            sessions,
            inquiry=self.inquiry,
            backstage=_Backstage(self, sessions, levels),
            listener=self._listener,
            limits=self._limits,
            log=self._new_log(),
        )
        try:
            log = run.execute()
        except BaseException:
            self._disconnect()  # interrupted in the middle: what is in flight must not reach the next case
            raise
        if feed is not None:
            case = as_it_went(case, log.records.values())
        outcomes = [record.outcome for record in log.records.values()]
        broken = any(isinstance(one, Failed) and one.kind is ErrorKind.INTERNAL for one in outcomes)
        final, failures, died = self._finish(case, sessions, fresh, broken)
        self._last = History(
            origin=case,
            target=self.target.label,
            version=self.target.version,
            levels=levels,
            schema=schema,
            initial=initial,
            events=tuple(log.events),
            records=tuple(log.records[step.index] for step in case.steps),
            final=final,
            dbms=self.target.dbms,
            settings=self._settings,
            teardown_failures=failures,
            died=died,
        )
        return self._last

    def _serve_with(self, arguments: Sequence[str]) -> None:
        """Have the server started as a case wants it; whoever died before has to be told first."""
        self._blame_last("it does not answer any more")
        self._disconnect()
        self.target.serve_with(arguments)

    def late_death(self) -> History | None:
        """The last run as it has to be told now, if the server has died since it was; asked once."""
        last, self._last = self._last, None
        if last is None or last.server_died or self.target.is_alive():
            return None
        return replace(last, died=True)

    def _blame_last(self, why: str) -> None:
        """If the server died before anything of another run was sent, the last one is the reason."""
        if (history := self.late_death()) is not None:
            raise DiedLaterError(history, why)

    def close(self) -> None:
        """Drop all sessions; the target stays open."""
        self._disconnect()
        self._listener.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    # -- sessions

    def _connect(self) -> None:
        """Be connected to a living server; one of ours that died is started again."""
        if self._connected:
            if self.inquiry is not None and self.inquiry.dead:
                self.watch_again()
            return
        if not self.target.is_alive():
            self._blame_last("it does not answer any more")
            if not self.target.restart():
                raise TargetFailedError(f"{self.target.label} does not answer any more; start it again")
        self._ground.forget()
        self._settings = self.target.settings()
        watch = self.target.watch()
        if watch is not None:
            self.inquiry = Inquiry(watch)
            self._listener.listen_to(watch)
        self._connected = True

    def watch_again(self) -> bool:
        """Replace a watch whose connection was lost; False if the server is gone."""
        if self.inquiry is None or not self.target.is_alive():
            return False
        self._close_watch(self.inquiry)
        self._open_watch(self.inquiry)
        return True

    def _close_watch(self, inquiry: Inquiry) -> None:
        self._listener.forget(inquiry.watch)
        inquiry.watch.close()

    def _open_watch(self, inquiry: Inquiry) -> None:
        watch = self.target.watch()
        assert watch is not None, "a target whose statements can wait has a watch"
        inquiry.revive(watch)
        self._listener.listen_to(watch)

    def _disconnect(self) -> None:
        for session in self._sessions:
            session.close()
        self._sessions.clear()
        if self.inquiry is not None:
            self.inquiry.watch.close()
        self.inquiry = None
        self._connected = False
        self._listener.close()
        self._listener = Listener()

    def _ready_sessions(self, levels: dict[str, Level]) -> dict[str, Session]:
        for lost in [session for session in self._sessions if not session.alive]:
            self._drop(lost)
        while len(self._sessions) < len(levels):
            self._sessions.append(self.target.open_session())
        sessions = dict(zip(levels, self._sessions, strict=False))
        for name, session in sessions.items():
            self._make_ready(session, levels[name])
        return sessions

    def _make_ready(self, session: Session, level: Level) -> None:
        self.target.set_level(session, level)
        if self.inquiry is not None:
            self._listener.listen_to(session)

    def hang_up(self, session: Session, level: Level) -> Session:
        """Close a session as its client would, and open another."""
        self._listener.forget(session)
        self.target.hang_up(session)
        fresh = self.target.open_session()
        self._sessions[self._sessions.index(session)] = fresh
        self._make_ready(fresh, level)
        return fresh

    def reboot(self, kill: bool, levels: dict[str, Level]) -> dict[str, Session]:
        """Start the server again on its data, with a new watch and new sessions."""
        for session in list(self._sessions):
            self._drop(session)
        if self.inquiry is not None:
            self._close_watch(self.inquiry)
        self.target.reboot(kill)
        if self.inquiry is not None:
            self._open_watch(self.inquiry)
        return self._ready_sessions(levels)

    # -- after the schedule

    def _finish(
        self, case: Case, sessions: dict[str, Session], fresh: bool, broken: bool
    ) -> tuple[State | None, _TeardownFailures, bool]:
        """Clean up and read the final state, which is None if it cannot be read; run the teardown; and
        whether the server died.

        Tables that will be built anew are dropped now, not when the next run begins: a server that cannot
        survive that dies of this run. What a DBMS that met an error inside itself (`broken`) has left, or
        what cannot be read, is not trusted any more.
        """
        final: State | None = None
        failures: _TeardownFailures = ()
        try:
            self._clean(case, sessions)
            if any(may_change_schema(step.statement.sql) for step in case.steps):
                self._ground.reread()
            final = self._ground.state()
            failures = self._tear_down(case)
            if broken:
                self._renew()
            elif fresh:
                self._ground.clear()
        except TargetFailedError:
            died = not self.target.is_alive()
            self._disconnect()
            if not died:
                self._distrusted = True
            return final, failures, died
        return final, failures, False

    def _tear_down(self, case: Case) -> _TeardownFailures:
        """Run the teardown on a session of its own; what of it failed."""
        if not case.teardown:
            return ()
        self._ground.forget()
        session = self.target.open_session()
        try:
            return tuple(self._failures(case.teardown, session))
        finally:
            session.close()

    def _failures(
        self, statements: Iterable[Statement], session: Session
    ) -> Iterator[tuple[str, Failed | Overran]]:
        for statement in statements:
            session.launch(statement.sql)
            outcome = self._answer(session)
            if isinstance(outcome, Failed | Overran):
                yield statement.sql, outcome
            if isinstance(outcome, Overran) or not session.alive:
                return

    def _answer(self, session: Session) -> Outcome:
        deadline = monotonic() + self._limits.statement_s
        while (reply := session.poll()) is None:
            left_s = deadline - monotonic()
            if left_s <= 0:
                return Overran(self._limits.statement_s)
            poller = select.poll()
            poller.register(session, select.POLLIN)
            poller.poll(1000 * left_s)
        return reply.outcome

    def _renew(self) -> None:
        """A database that nobody else has touched."""
        self._distrusted = False
        self._ground.forget()
        self.target.renew()

    def _clean(self, case: Case, sessions: dict[str, Session]) -> None:
        """End open transactions; replace sessions that are lost or cannot be cleaned, if the server lives."""
        marked = {step.session for step in case.steps if may_leave_session_traces(step.statement.sql)}
        for name, session in sessions.items():
            if session.alive:
                try:
                    self.target.clean(session, thorough=name in marked)
                except TargetFailedError:
                    session.close()  # what it still holds must not reach the next case
        lost = [session for session in self._sessions if not session.alive]
        if lost and not self.target.is_alive():
            raise TargetFailedError(f"{self.target.label} died")
        for session in lost:
            self._drop(session)

    def _drop(self, session: Session) -> None:
        self._sessions.remove(session)
        self._listener.forget(session)
        session.close()


class _Backstage:
    """The executor as one run sees it; keeps the run's sessions up to date."""

    def __init__(self, executor: Executor, sessions: dict[str, Session], levels: dict[str, Level]) -> None:
        self._executor = executor
        self._sessions = sessions
        self._levels = levels

    def revive(self) -> bool:
        return self._executor.watch_again()

    def hang_up(self, name: str) -> Session:
        self._sessions[name] = self._executor.hang_up(self._sessions[name], self._levels[name])
        return self._sessions[name]

    def reboot(self, kill: bool) -> dict[str, Session]:
        self._sessions.update(self._executor.reboot(kill, self._levels))
        return self._sessions
