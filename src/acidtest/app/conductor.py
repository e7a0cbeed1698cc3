"""The conductor: lets the statements of operations pass in a given order, and learns who waits from the
server.

Operations run in workers of their own (threads or tasks) and come to the gate with each statement. The
conductor lets one pass when every operation is at rest: at the gate, at its end, or waiting at the server,
as the server itself says. Within its segment an operation passes without a stop as long as nobody waits.
Time limits guard only against an operation that hangs.
"""

import asyncio
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from time import monotonic

from acidtest.app.gate import WORKER, Gate, Link, Request, Ticket
from acidtest.app.script import Script
from acidtest.app.source import source_line
from acidtest.execute.inquiry import Inquiry
from acidtest.execute.listener import Heard, Listener
from acidtest.execute.run import circle
from acidtest.model import Failed, Level, Outcome, TransactionState
from acidtest.model.application import Call, Prevention, Segment
from acidtest.sql import StatementKind, kind_of
from acidtest.targets import Guest, Session, Waits

ROUND_S = 0.002
"""How often the conductor looks around while operations run on by themselves."""

ELSEWHERE_S = 1.0
"""An operation that is not at the gate for so long while others are waits for something outside the
database."""


HARMLESS = "SELECT 1"
"""Is sent in place of a statement that must not be."""

_LOCKS = re.compile(r"(?<!un)lock", re.IGNORECASE)
_FORGETS = re.compile(r"\b(RESET|DISCARD)\s+ALL\b", re.IGNORECASE)
_SHOWS = re.compile(r"\s*SHOW\b", re.IGNORECASE)
_NO_TURN = re.compile(r"\s*(SAVEPOINT|RELEASE)\b", re.IGNORECASE)


class AbandonedError(BaseException):
    """Ends an operation that is of no use any more, past all its `except Exception`."""


class StoppedError(BaseException):
    """Ends an operation at a place where it was to be stopped."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Guards against operations that never end."""

    hang_s: float = 10.0


@dataclass(slots=True)
class Part:
    """One operation of a run."""

    name: str
    passed: int = 0
    at_gate: list[Ticket] = field(default_factory=list)
    flying: list[Ticket] = field(default_factory=list)
    done: bool = False
    abandoned: bool = False
    rolled_back: bool = False
    """Whether it ended a transaction that the gate held open for it."""
    started: bool = False
    links: list[Link] = field(default_factory=list)

    @property
    def is_stuck(self) -> bool:
        """Whether it was begun and is neither at its end nor at the gate."""
        return self.started and not self.done and not self.at_gate

    @property
    def is_running(self) -> bool:
        """Whether it is somewhere in the application's own code."""
        return self.is_stuck and not self.flying


class _Bell:
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
        with self._mutex, suppress(BlockingIOError):  # it rings already
            if not self._closed:
                os.write(self._write, b"!")

    def hush(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._read, 4096)

    def close(self) -> None:
        with self._mutex:
            self._closed = True
            os.close(self._read)
            os.close(self._write)


class Conductor(Gate):
    """One gate for all runs of an exploration."""

    def __init__(
        self, find_guest: Callable[[Link], Guest], limits: Limits, look: Callable[[], None] | None = None
    ) -> None:
        self._find_guest = find_guest
        self._limits = limits
        self._look = look  # is called at quiescence after every statement
        self._mutex = threading.Lock()
        self._bell = _Bell()
        self._listener = Listener()
        self._listener.listen_to(self._bell)
        self.guest: Guest | None = None
        self._inquiry: Inquiry | None = None
        self._sessions: dict[Link, Session] = {}
        self._parts: dict[str, Part] = {}
        self._script = Script(())
        self._start: Callable[[str], None] = lambda _: None
        self._segments: list[Segment] = []
        self._calls: list[Call] = []
        self._turns = self._ends = self._changes = self._run = 0
        self.hold_lost = False
        """Whether an operation could not be held in one transaction, because it changed its connection."""
        self._prevented: Prevention | None = None
        self.touches_tables: Callable[[str], bool] | None = None
        """Whether a query reads any table of the database, once that is known."""
        self.own_level = ""
        """The level that the application itself uses, as its connections said."""

    # -- a run

    def begin(self, script: Script, names: Iterable[str], start: Callable[[str], None]) -> None:
        """Get ready for a run of these operations; `start` begins one in its worker."""
        self._start = start
        self._script = script
        self._parts = {name: Part(name) for name in names}
        self._segments = list(script.order)
        self._calls = []
        self._run += 1
        self.hold_lost = False
        self._turns = self._ends = 0
        self._prevented = None

    def conduct(self) -> tuple[tuple[Call, ...], Prevention | None, tuple[str, ...]]:
        """Let all operations run to their ends: the calls, what prevented the order, and who hung."""
        while not all(part.done for part in self._parts.values()):
            if not self._settle():
                return self._give_up()
            if self._look is not None:
                self._look()
            ticket = self._choose()
            if ticket is not None:
                ticket.open_door()
        calls = tuple(sorted(self._calls, key=lambda call: call.turn))
        return calls, self._prevented, ()

    @property
    def turns(self) -> int:
        """How many statements have passed in this run."""
        return self._turns

    def part(self, name: str) -> Part:
        """What stands for an operation in this run."""
        return self._parts[name]

    def finished(self, part: Part, returned: bool) -> None:
        """An operation is at its end; called in its worker, which may be late."""
        with self._mutex:
            part.done = True
            self.hold_lost = self.hold_lost or (returned and part.rolled_back)
            self._changes += 1
        self._bell.ring()

    def all_links(self) -> Sequence[Link]:
        """The connections that all operations have used in this run."""
        return [link for part in self._parts.values() for link in part.links]

    def close(self) -> None:
        """Let go of everything."""
        if self._inquiry is not None:
            self._inquiry.watch.close()
        self._listener.close()
        self._bell.close()

    # -- the gate, called in workers

    def enter(self, link: Link, request: Request) -> Ticket | None:
        ticket = self._arrive(link, request)
        if ticket is None:
            return None
        if kind_of(request.sql) is StatementKind.BEGIN:
            was_open = link.held_open
            for sql in self._before_begin(ticket):
                self._note(link, sql, link.ask(sql))
            return self._begun(ticket, was_open)
        door = threading.Lock()
        door.acquire()
        ticket.open_door = door.release
        if not self._passes_at_once(ticket):
            self._bell.ring()
            door.acquire()
        with self._withdrawing(ticket):
            self._check(ticket)
            for sql in self._preparations(ticket):
                self._note(link, sql, link.ask(sql))
        return ticket

    async def enter_async(self, link: Link, request: Request) -> Ticket | None:
        ticket = self._arrive(link, request)
        if ticket is None:
            return None
        if kind_of(request.sql) is StatementKind.BEGIN:
            was_open = link.held_open
            for sql in self._before_begin(ticket):
                self._note(link, sql, await link.ask_async(sql))
            return self._begun(ticket, was_open)
        loop = asyncio.get_running_loop()
        door = loop.create_future()
        ticket.open_door = lambda: _open(loop, door)
        if not self._passes_at_once(ticket):
            self._bell.ring()
            await door
        with self._withdrawing(ticket):
            self._check(ticket)
            for sql in self._preparations(ticket):
                self._note(link, sql, await link.ask_async(sql))
        return ticket

    @contextmanager
    def _withdrawing(self, ticket: Ticket) -> Iterator[None]:
        """What fails before its statement is sent is not under way any more."""
        try:
            yield
        except BaseException:
            with self._mutex:
                flying = self._parts[ticket.operation].flying
                if ticket in flying:
                    flying.remove(ticket)
                self._changes += 1
            raise

    def _begun(self, ticket: Ticket, was_open: bool) -> Ticket | None:
        """A BEGIN takes no snapshot and no lock, so it needs no turn; inside our own it must not be sent."""
        if not (was_open or ticket.link.held_open):
            return None
        ticket.skip, ticket.sql = True, HARMLESS
        return ticket

    def opening(self, link: Link) -> None:
        ticket = self._arrive(link, Request("BEGIN", is_control=True))
        if ticket is not None:
            for sql in self._before_begin(ticket):
                self._note(link, sql, link.ask(sql))

    async def opening_async(self, link: Link) -> None:
        ticket = self._arrive(link, Request("BEGIN", is_control=True))
        if ticket is not None:
            for sql in self._before_begin(ticket):
                self._note(link, sql, await link.ask_async(sql))

    def _before_begin(self, ticket: Ticket) -> Iterable[str]:
        yield from self._level(ticket)
        if self._script.one_transaction and ticket.before is TransactionState.NONE:
            ticket.link.held_open = True
            yield "BEGIN"

    def leave(self, ticket: Ticket, outcome: Outcome) -> None:
        if isinstance(outcome, Failed) and self.guest is not None:
            outcome = replace(outcome, kind=self.guest.classify(outcome.code))
        part = self._parts.get(ticket.operation)
        if part is None or ticket not in part.flying:
            return
        after = ticket.link.transaction()
        ticket.link.in_use = after is not TransactionState.NONE
        with self._mutex:
            part.flying.remove(ticket)
            self._ends += 1
            self._changes += 1
            self._calls.append(
                Call(
                    ticket.operation,
                    ticket.index,
                    self._name(part, ticket.link),
                    ticket.sql or ticket.request.sql,
                    outcome,
                    ticket.before,
                    after,
                    ticket.turn,
                    self._ends,
                    ticket.source,
                    ticket.waited,
                    ticket.blocked_by,
                )
            )
        self._bell.ring()
        cut = self._script.cut
        if (
            cut is not None
            and not cut.before
            and (cut.operation, cut.index) == (ticket.operation, ticket.index)
        ):
            raise StoppedError

    def closed(self, link: Link) -> None:
        session = self._sessions.pop(link, None)
        if session is not None and self.guest is not None:
            self.guest.dismiss(session)

    def _arrive(self, link: Link, request: Request) -> Ticket | None:
        token = WORKER.get()
        part = token if isinstance(token, Part) else self._parts.get(link.operation or "")
        if part is not None and part.abandoned:
            raise AbandonedError
        if part is None or part.done or self._parts.get(part.name) is not part:
            return None
        self._get_to_know(link)
        if _FORGETS.search(request.sql):
            link.level = None
        if not self._concerns_others(request.sql, link):
            return None
        link.operation = part.name
        if link not in part.links:
            part.links.append(link)
        return Ticket(link, request, part.name, link.transaction(), source=source_line())

    def _concerns_others(self, sql: str, link: Link) -> bool:
        """Whether a statement can matter to other sessions: it touches a table, takes a lock, or ends
        something."""
        kind = kind_of(sql)
        if kind is StatementKind.SESSION or _NO_TURN.match(sql):
            return False
        if kind in (StatementKind.COMMIT, StatementKind.ROLLBACK):
            return link.in_use
        if kind is not StatementKind.QUERY or _LOCKS.search(sql):
            return True
        if self.touches_tables is None or self.touches_tables(sql):
            return True
        # Within a transaction it may be what takes the snapshot.
        return link.transaction() is not TransactionState.NONE and not _SHOWS.match(sql)

    def _get_to_know(self, link: Link) -> None:
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

    def _passes_at_once(self, ticket: Ticket) -> bool:
        part = self._parts[ticket.operation]
        with self._mutex:
            self._changes += 1
            segment = self._segment()
            alone = not any(other.flying for other in self._parts.values() if other is not part)
            mine = segment is not None and segment.operation == part.name
            if self._look is None and alone and mine and not part.at_gate and not part.flying:
                self._let_pass(part, ticket)
                return True
            part.at_gate.append(ticket)
            return False

    def _let_pass(self, part: Part, ticket: Ticket) -> None:
        ticket.index, ticket.turn = part.passed, self._turns
        ticket.launched_s = monotonic()
        part.passed += 1
        self._turns += 1
        self._changes += 1
        part.flying.append(ticket)

    def _check(self, ticket: Ticket) -> None:
        if self._parts[ticket.operation].abandoned:
            raise AbandonedError
        cut = self._script.cut
        if cut is not None and cut.before and (cut.operation, cut.index) == (ticket.operation, ticket.index):
            assert self.guest is not None
            self.guest.kill(ticket.link.number)
            raise StoppedError

    def _preparations(self, ticket: Ticket) -> Iterable[str]:
        """Statements of our own to run on the connection before this one; may rewrite it."""
        yield from self._level(ticket)
        done = [call for call in self._calls if call.operation == ticket.operation]
        ticket.sql = self._script.rewrite(ticket.request.sql, done)
        if self._script.one_transaction:
            yield from self._hold_open(ticket)

    def _level(self, ticket: Ticket) -> Iterable[str]:
        """What sets the level of the connection, where it does not stand at the wanted one."""
        assert self.guest is not None
        link, script = ticket.link, self._script
        if link.own_level is None and ticket.before is not TransactionState.FAILED:
            yield self.guest.level_question()
            if ticket.before is TransactionState.NONE and (haste := self.guest.haste_statement()):
                yield haste
        wanted = script.level.value if script.level else link.own_level
        stands = link.level if script.level is None or link.known_in == self._run else None
        if ticket.before is TransactionState.NONE and not link.held_open and wanted and stands != wanted:
            link.level, link.known_in = wanted, self._run
            yield self.guest.level_statement(Level(wanted))

    def _hold_open(self, ticket: Ticket) -> Iterable[str]:
        link, kind = ticket.link, kind_of(ticket.request.sql)
        part = self._parts[ticket.operation]
        if (link.held_open and ticket.before is TransactionState.NONE) or len(part.links) > 1:
            self.hold_lost = True
        if kind is StatementKind.ROLLBACK:
            part.rolled_back = part.rolled_back or link.held_open
            link.held_open = False
            return
        if not link.held_open and ticket.before is TransactionState.NONE:
            yield "BEGIN"
        link.held_open = True
        if kind in (StatementKind.COMMIT, StatementKind.BEGIN):
            ticket.skip = True
            ticket.sql = HARMLESS

    def _note(self, link: Link, sql: str, answer: str) -> None:
        if self.guest is not None and sql == self.guest.level_question():
            link.own_level = link.level = self.own_level = answer.upper()

    def _name(self, part: Part, link: Link) -> str:
        position = part.links.index(link)
        return part.name if position == 0 else f"{part.name}{position + 1}"

    # -- order

    def _segment(self) -> Segment | None:
        """The segment that is due."""
        while self._segments:
            segment = self._segments[0]
            part = self._parts[segment.operation]
            if not part.done and (segment.upto is None or part.passed < segment.upto):
                return segment
            del self._segments[0]
        return None

    def _choose(self) -> Ticket | None:
        """The ticket that is to pass next: of the earliest segment whose operation is at the gate."""
        with self._mutex:
            self._segment()
            for segment in self._segments:
                part = self._parts[segment.operation]
                if part.done or (segment.upto is not None and part.passed >= segment.upto):
                    continue
                if not part.started:
                    self._launch(part)
                    return None
                if part.at_gate:
                    return self._take(part)
                self._note_prevented(part)
            for part in self._parts.values():
                if not part.started:
                    self._launch(part)
                    return None
                if part.at_gate:
                    return self._take(part)
        return None

    def _launch(self, part: Part) -> None:
        """Begin an operation only when it is due, so that all that it does has its place in the order."""
        part.started = True
        self._start(part.name)

    def _take(self, part: Part) -> Ticket:
        ticket = part.at_gate.pop(0)
        self._let_pass(part, ticket)
        return ticket

    def _note_prevented(self, part: Part) -> None:
        for ticket in part.flying:
            if self._prevented is None and ticket.waited:
                sql = ticket.request.sql
                self._prevented = Prevention(part.name, ticket.index, sql, ticket.blocked_by)

    # -- rest

    def _settle(self) -> bool:
        """Wait until every operation is at rest; False if one hangs."""
        seen, since, asked_about = -1, monotonic(), -1
        waiting: frozenset[Ticket] = frozenset()
        while True:
            with self._mutex:
                changes = self._changes
                flying = [ticket for part in self._parts.values() for ticket in part.flying]
                running = [p for p in self._parts.values() if p.is_running]
            if changes != seen:
                seen, since, waiting = changes, monotonic(), frozenset()
                if self._inquiry is not None:
                    self._inquiry.changed()
            if not running and all(ticket in waiting for ticket in flying):
                return True
            quiet_s = monotonic() - since
            if quiet_s > self._limits.hang_s:
                return False
            if quiet_s > ELSEWHERE_S and self._others_can_go(running, flying, waiting):
                return True
            ready = self._listener.news(ROUND_S if not flying else self._pace(asked_about == changes))
            waiting = self._ask_who_waits(ready, flying, changes, waiting)
            asked_about = changes

    def _pace(self, asked: bool) -> float:
        if self._inquiry is None or not asked:
            return ROUND_S / 4
        return max(self._inquiry.pause_s(), ROUND_S / 8)

    def _others_can_go(
        self, running: Sequence[Part], flying: Sequence[Ticket], waiting: frozenset[Ticket]
    ) -> bool:
        """Whether all that is not at rest is outside the database, while somebody else is at the gate."""
        at_gate = any(part.at_gate for part in self._parts.values())
        return bool(running) and at_gate and all(ticket in waiting for ticket in flying)

    def _ask_who_waits(
        self, ready: Sequence[Heard], flying: Sequence[Ticket], changes: int, waiting: frozenset[Ticket]
    ) -> frozenset[Ticket]:
        if self._bell in ready:
            self._bell.hush()
        inquiry = self._inquiry
        if inquiry is None or not flying:
            return waiting
        if inquiry.watch in ready:
            waits = inquiry.answer()
            with self._mutex:
                if waits is not None and changes == self._changes:
                    return self._who_waits(waits, flying)
        if changes == self._changes:
            inquiry.ask([self._sessions[ticket.link] for ticket in flying], had_news=False)
        return waiting

    def _who_waits(self, waits: Waits, flying: Sequence[Ticket]) -> frozenset[Ticket]:
        """The tickets whose sessions wait; nobody if some wait in a circle, because a victim will be
        chosen."""
        names = {self._sessions[ticket.link]: ticket.operation for ticket in flying}
        owners = {self._sessions[link]: part.name for part in self._parts.values() for link in part.links}
        found = set()
        for ticket in flying:
            session = self._sessions[ticket.link]
            if session in waits:
                ticket.waited = True
                by = {owners[one] for one in waits[session] if one in owners}
                ticket.blocked_by = ticket.blocked_by or tuple(sorted(by))
                found.add(ticket)
        del names
        return frozenset() if circle(waits) is not None else frozenset(found)

    def _give_up(self) -> tuple[tuple[Call, ...], Prevention | None, tuple[str, ...]]:
        """Some operation hangs: end what can be ended, and say who it was."""
        with self._mutex:
            stuck = tuple(part.name for part in self._parts.values() if not part.done)
            for part in self._parts.values():
                part.abandoned = not part.done
            tickets = [ticket for part in self._parts.values() for ticket in part.at_gate]
            flying = [ticket for part in self._parts.values() for ticket in part.flying]
            hung = tuple(part.name for part in self._parts.values() if part.is_stuck)
            for part in self._parts.values():
                part.at_gate.clear()
        for ticket in tickets:
            ticket.open_door()
        if self.guest is not None:
            for ticket in flying:
                self.guest.kill(ticket.link.number)
        return tuple(sorted(self._calls, key=lambda call: call.turn)), self._prevented, hung or stuck


def _open(loop: asyncio.AbstractEventLoop, door: "asyncio.Future[None]") -> None:
    def set_result() -> None:
        if not door.done():
            door.set_result(None)

    loop.call_soon_threadsafe(set_result)
