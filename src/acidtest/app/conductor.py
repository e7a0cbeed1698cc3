"""The conductor: lets the statements of operations pass in a given order, and learns who waits from the
server.

Operations run in workers of their own (threads or tasks) and come to the gate with each statement. The
conductor lets one pass when every operation is at rest. Within its segment an operation passes without a
stop as long as nobody waits. On the way it sets the level, holds transactions open and rewrites statements,
as a script wants.
"""

import asyncio
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from acidtest.app.board import Board, Part
from acidtest.app.gate import WORKER, Gate, Link, Request, Ticket
from acidtest.app.rest import Limits, Rest
from acidtest.app.script import Cut, Script
from acidtest.app.source import source_line
from acidtest.model import Failed, Level, Outcome, TransactionState
from acidtest.model.application import Call, Prevention
from acidtest.sql import StatementKind, kind_of
from acidtest.targets import Guest

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


class Conductor(Gate):
    """One gate for all runs of an exploration."""

    def __init__(
        self, find_guest: Callable[[Link], Guest], limits: Limits, look: Callable[[], None] | None = None
    ) -> None:
        self._look = look  # is called at quiescence after every statement
        self._rest = Rest(find_guest, limits)
        self._script = Script(())
        self._board = Board((), (), lambda _: None)
        self._run = 0
        self.hold_lost = False
        """Whether an operation could not be held in one transaction, because it changed its connection."""
        self.touches_tables: Callable[[str], bool] | None = None
        """Whether a query reads any table of the database, once that is known."""
        self.own_level = ""
        """The level that the application itself uses, as its connections said."""

    # -- a run

    def begin(self, script: Script, names: Iterable[str], start: Callable[[str], None]) -> None:
        """Get ready for a run of these operations; `start` begins one in its worker."""
        self._script = script
        self._board = Board(script.order, names, start)
        self._run += 1
        self.hold_lost = False

    def conduct(self) -> tuple[tuple[Call, ...], Prevention | None, tuple[str, ...]]:
        """Let all operations run to their ends: the calls, what prevented the order, and who hung."""
        board = self._board
        hung: tuple[str, ...] = ()
        while not board.all_done:
            if not self._rest.settle(board):
                hung = self._give_up()
                break
            if self._look is not None:
                self._look()
            ticket = board.choose()
            if ticket is not None:
                ticket.open_door()
        return board.calls, board.prevented, hung

    def _give_up(self) -> tuple[str, ...]:
        """Some operation hangs: end what can be ended, and say who it was."""
        waiting, flying, hung = self._board.give_up()
        for ticket in waiting:
            ticket.open_door()
        if self.guest is not None:
            for ticket in flying:
                self.guest.kill(ticket.link.number)
        return hung

    @property
    def guest(self) -> Guest | None:
        """Who looks into the application's database; None before its first connection."""
        return self._rest.guest

    @property
    def turns(self) -> int:
        """How many statements have passed in this run."""
        return self._board.turns

    def part(self, name: str) -> Part:
        """What stands for an operation in this run."""
        return self._board.parts[name]

    def finished(self, part: Part, returned: bool) -> None:
        """An operation is at its end; called in its worker, which may be late."""
        self.hold_lost = self.hold_lost or (returned and part.rolled_back)
        self._board.finished(part)
        self._rest.bell.ring()

    def all_links(self) -> Sequence[Link]:
        """The connections that all operations have used in this run."""
        return self._board.links

    def close(self) -> None:
        """Let go of everything."""
        self._rest.close()

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
        if not self._board.arrives(ticket, self._look is None):
            self._rest.bell.ring()
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
        if not self._board.arrives(ticket, self._look is None):
            self._rest.bell.ring()
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
            self._board.withdraw(ticket)
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
        ticket.link.in_use = ticket.link.transaction() is not TransactionState.NONE
        if self._board.answered(ticket, outcome) or self._look is not None:
            self._rest.bell.ring()
        if self._is_cut(ticket, before=False):
            raise StoppedError

    def closed(self, link: Link) -> None:
        self._rest.forget(link)

    def _arrive(self, link: Link, request: Request) -> Ticket | None:
        token = WORKER.get()
        part = token if isinstance(token, Part) else self._board.parts.get(link.operation or "")
        if part is not None and part.abandoned:
            raise AbandonedError
        if part is None or part.done or self._board.parts.get(part.name) is not part:
            return None
        self._rest.get_to_know(link)
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

    def _check(self, ticket: Ticket) -> None:
        if self._board.parts[ticket.operation].abandoned:
            raise AbandonedError
        if self._is_cut(ticket, before=True):
            assert self.guest is not None
            self.guest.kill(ticket.link.number)
            raise StoppedError

    def _is_cut(self, ticket: Ticket, before: bool) -> bool:
        cut = self._script.cut
        return cut == Cut(ticket.operation, ticket.index, before)

    def _preparations(self, ticket: Ticket) -> Iterable[str]:
        """Statements of our own to run on the connection before this one; may rewrite it."""
        yield from self._level(ticket)
        ticket.sql = self._script.rewrite(ticket.request.sql, self._board.done_by(ticket.operation))
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
        part = self._board.parts[ticket.operation]
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


def _open(loop: asyncio.AbstractEventLoop, door: "asyncio.Future[None]") -> None:
    def set_result() -> None:
        if not door.done():
            door.set_result(None)

    loop.call_soon_threadsafe(set_result)
