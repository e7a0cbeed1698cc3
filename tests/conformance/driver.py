"""Drives a target the way the executor does, in small steps that a test can read."""

import select
from collections.abc import Sequence
from time import monotonic

import pytest

from acidtest.model import ErrorKind, Failed, Reply, Row, Rows
from acidtest.targets import Session, Target, Waits, Watch

GUARD_S = 30.0
"""A server that says nothing for so long hangs; no test waits for this to pass."""


class Driver:
    """A target, its watch, and sessions that are opened as a test asks for them."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._sessions: list[Session] = []
        self._watch: Watch | None = None

    def open(self, count: int = 1) -> list[Session]:
        """New sessions at the default level."""
        opened = [self.target.open_session() for _ in range(count)]
        self._sessions += opened
        return opened

    def close(self) -> None:
        """Drop every session that the test opened."""
        for session in self._sessions:
            session.close()

    def run(self, session: Session, sql: str) -> Reply:
        """Launch a statement and wait for its reply."""
        session.launch(sql)
        return self.reply(session)

    def reply(self, session: Session) -> Reply:
        """The reply to the statement in flight."""
        deadline = monotonic() + GUARD_S
        while (reply := session.poll()) is None:
            left = deadline - monotonic()
            if left <= 0:
                pytest.fail("no reply came")
            _wait_for_news(session, left)
        return reply

    def succeed(self, session: Session, *statements: str) -> Reply:
        """Run statements that must not fail; the reply to the last."""
        for sql in statements:
            reply = self.run(session, sql)
            assert not isinstance(reply.outcome, Failed), f"{sql}: {reply.outcome}"
        return reply

    def rows(self, session: Session, sql: str) -> tuple[Row, ...]:
        """The rows of a query."""
        outcome = self.succeed(session, sql).outcome
        assert isinstance(outcome, Rows), f"{sql}: {outcome}"
        return outcome.rows

    def fail(self, session: Session, sql: str, kind: ErrorKind) -> Failed:
        """The error of a statement that must fail in this way."""
        outcome = self.run(session, sql).outcome
        assert isinstance(outcome, Failed), f"{sql}: {outcome}"
        assert outcome.kind is kind, f"{sql}: {outcome}"
        return outcome

    def waits(self, suspects: Sequence[Session]) -> Waits:
        """One question, and its answer."""
        if self._watch is None:
            self._watch = self.target.watch()
            assert self._watch is not None
        watch = self._watch
        watch.ask(suspects)
        deadline = monotonic() + GUARD_S
        while (answer := watch.answer()) is None:
            left = deadline - monotonic()
            if left <= 0:
                pytest.fail("the watch does not answer")
            _wait_for_news(watch, left)
        return answer

    def until_waiting(self, *waiters: Session) -> Waits:
        """Ask until the server says that all of these wait."""
        deadline = monotonic() + GUARD_S
        while True:
            answer = self.waits(waiters)
            if all(session in answer for session in waiters):
                return answer
            if monotonic() > deadline:
                pytest.fail(f"the watch never saw all of {len(waiters)} waiters")

    def launch_waiting(self, session: Session, sql: str) -> Waits:
        """Launch a statement that must come to wait."""
        session.launch(sql)
        answer = self.until_waiting(session)
        assert session.poll() is None
        return answer


def _wait_for_news(source: Session | Watch, limit_s: float) -> None:
    poller = select.poll()  # select() would refuse descriptors above 1023
    poller.register(source, select.POLLIN)
    poller.poll(limit_s * 1000)
