"""Waiting until every operation is at rest: at the gate, at its end, or waiting at the server, as the server
says.

Time limits guard only against an operation that hangs. Pauses pace the questions to the server.
"""

import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic

from acidtest.app.board import Board, Standing
from acidtest.app.gate import Link, Ticket
from acidtest.execute.inquiry import Inquiry
from acidtest.execute.listener import Heard, Listener
from acidtest.execute.run import circle
from acidtest.targets import Guest, Session, Waits

ROUND_S = 0.002
"""How often to look around while operations run on by themselves."""

ALONE_S = 0.05
"""The same while nobody can hold up the only one that is under way; the bell tells of its end."""

ELSEWHERE_S = 3.0
"""An operation that is not at the gate for so long while others are waits for something outside the
database."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Guards against operations that never end."""

    hang_s: float = 10.0


class Bell:
    """Wakes the conductor."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)
        self._mutex = threading.Lock()
        self._closed = False  # an operation that was given up may ring late

    def fileno(self) -> int:
        return self._read

    def ring(self) -> None:
        """There are news on the board."""
        with self._mutex, suppress(BlockingIOError):  # it rings already
            if not self._closed:
                os.write(self._write, b"!")

    def hush(self) -> None:
        """The news were seen."""
        with suppress(BlockingIOError):
            os.read(self._read, 4096)

    def close(self) -> None:
        """Ring no more."""
        with self._mutex:
            self._closed = True
            os.close(self._read)
            os.close(self._write)


class Rest:
    """Knows the sessions of the application as the server knows them, and asks who waits."""

    def __init__(self, find_guest: Callable[[Link], Guest], limits: Limits) -> None:
        self._find_guest = find_guest
        self._limits = limits
        self._mutex = threading.Lock()
        self._sessions: dict[Link, Session] = {}
        self._inquiry: Inquiry | None = None
        self.bell = Bell()
        self._listener = Listener()
        self._listener.listen_to(self.bell)
        self.guest: Guest | None = None

    def get_to_know(self, link: Link) -> None:
        """A connection that may be new; the first one tells which server to ask."""
        if link in self._sessions:
            return
        with self._mutex:
            guest = self._find_guest(link)
            if self.guest is None:
                self.guest = guest
                watch = guest.watch()
                if watch is not None:
                    self._inquiry = Inquiry(watch)
                    self._listener.listen_to(watch)
            self._sessions[link] = guest.adopt(link.number)

    def forget(self, link: Link) -> None:
        """A connection that was closed."""
        session = self._sessions.pop(link, None)
        if session is not None and self.guest is not None:
            self.guest.dismiss(session)

    def close(self) -> None:
        """Ask no more."""
        if self._inquiry is not None:
            self._inquiry.watch.close()
        self._listener.close()
        self.bell.close()

    def settle(self, board: Board) -> bool:
        """Wait until every operation is at rest; False if one hangs."""
        seen, since, asked_about = -1, monotonic(), -1
        waiting: frozenset[Ticket] = frozenset()
        while True:
            now = board.standing()
            if now.changes != seen:
                seen, since, waiting = now.changes, monotonic(), frozenset()
                if self._inquiry is not None:
                    self._inquiry.changed()
            all_wait = all(ticket in waiting for ticket in now.flying)
            if not now.running and all_wait:
                return True
            quiet_s = monotonic() - since
            if quiet_s > self._limits.hang_s:
                return False
            if quiet_s > ELSEWHERE_S and now.running and now.somebody_at_gate and all_wait:
                return True
            ready = self._listener.news(self._pause_s(now, asked_about))
            waiting = self._hear(ready, board, now, waiting)
            asked_about = now.changes

    def _pause_s(self, now: Standing, asked_about: int) -> float:
        if now.alone:
            return ALONE_S
        if not now.flying:
            return ROUND_S
        if self._inquiry is None or asked_about != now.changes:
            return ROUND_S / 4  # most statements answer sooner
        return max(self._inquiry.pause_s(), ROUND_S / 8)

    def _hear(
        self, ready: Sequence[Heard], board: Board, before: Standing, waiting: frozenset[Ticket]
    ) -> frozenset[Ticket]:
        """Who waits now, as far as that is known; an answer counts only if nothing has changed since."""
        if self.bell in ready:
            self.bell.hush()
        inquiry = self._inquiry
        if inquiry is None or not before.flying or before.alone or board.standing().changes != before.changes:
            return waiting
        if inquiry.watch in ready and (waits := inquiry.answer()) is not None:
            if board.standing().changes == before.changes:
                return self._who_waits(waits, board, before.flying)
            return waiting
        inquiry.ask([self._sessions[ticket.link] for ticket in before.flying], had_news=False)
        return waiting

    def _who_waits(self, waits: Waits, board: Board, flying: Sequence[Ticket]) -> frozenset[Ticket]:
        """The tickets whose sessions wait; nobody if some wait in a circle: a victim will be chosen."""
        owners = {self._sessions[link]: part.name for part in board.parts.values() for link in part.links}
        found = set()
        for ticket in flying:
            session = self._sessions[ticket.link]
            if session in waits:
                ticket.waited = True
                by = {owners[one] for one in waits[session] if one in owners}
                ticket.blocked_by = ticket.blocked_by or tuple(sorted(by))
                found.add(ticket)
        return frozenset() if circle(waits) is not None else frozenset(found)
