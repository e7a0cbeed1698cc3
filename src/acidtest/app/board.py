"""The board: where every operation of a run stands, and whose turn it is. Workers and the conductor share
it."""

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from acidtest.app.gate import Link, Ticket
from acidtest.model import Outcome
from acidtest.model.application import Call, Order, Prevention, Segment


@dataclass(slots=True, eq=False)
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

    def session_name(self, link: Link) -> str:
        """What a connection is called in schedules: A, and A2 for a second one of A's."""
        position = self.links.index(link)
        return self.name if position == 0 else f"{self.name}{position + 1}"


@dataclass(frozen=True, slots=True)
class Standing:
    """Who is where at one moment, and how many changes there were by then."""

    changes: int
    flying: tuple[Ticket, ...]
    running: tuple[Part, ...]
    somebody_at_gate: bool
    alone: bool
    """Whether one operation is under way and no other: then nobody can hold it up."""


class Board:
    """One run. Every method takes the lock itself."""

    def __init__(self, order: Order, names: Iterable[str], start: Callable[[str], None]) -> None:
        self._mutex = threading.Lock()
        self._start = start
        self._segments = list(order)
        self._calls: list[Call] = []
        self._changes = self._ends = 0
        self.parts = {name: Part(name) for name in names}
        self.turns = 0
        self.prevented: Prevention | None = None

    @property
    def calls(self) -> tuple[Call, ...]:
        """The statements that were answered, by turn."""
        with self._mutex:
            return tuple(sorted(self._calls, key=lambda call: call.turn))

    @property
    def all_done(self) -> bool:
        return all(part.done for part in self.parts.values())

    @property
    def links(self) -> Sequence[Link]:
        """The connections that all operations have used."""
        return [link for part in self.parts.values() for link in part.links]

    def standing(self) -> Standing:
        """Who is where."""
        with self._mutex:
            parts = self.parts.values()
            return Standing(
                self._changes,
                tuple(ticket for part in parts for ticket in part.flying),
                tuple(part for part in parts if part.is_running),
                any(part.at_gate for part in parts),
                sum(part.started and not part.done for part in parts) < 2,
            )

    def done_by(self, name: str) -> list[Call]:
        """What an operation has done so far."""
        with self._mutex:
            return [call for call in self._calls if call.operation == name]

    # -- called in workers

    def arrives(self, ticket: Ticket, may_pass: bool) -> bool:
        """A statement came to the gate; whether it passes at once: its operation is due, and nobody waits."""
        part = self.parts[ticket.operation]
        with self._mutex:
            self._changes += 1
            segment = self._due()
            alone = not any(other.flying for other in self.parts.values() if other is not part)
            mine = segment is not None and segment.operation == part.name
            if may_pass and alone and mine and not part.at_gate and not part.flying:
                self._let_pass(part, ticket)
                return True
            part.at_gate.append(ticket)
            return False

    def answered(self, ticket: Ticket, outcome: Outcome) -> bool:
        """A statement was answered; whether the conductor should hear of it: it may have released another."""
        part = self.parts.get(ticket.operation)
        if part is None or ticket not in part.flying:
            return False
        after = ticket.link.transaction()
        with self._mutex:
            part.flying.remove(ticket)
            self._ends += 1
            self._changes += 1
            self._calls.append(
                Call(
                    operation=ticket.operation,
                    index=ticket.index,
                    session=part.session_name(ticket.link),
                    sql=ticket.sql or ticket.request.sql,
                    outcome=outcome,
                    before=ticket.before,
                    after=after,
                    turn=ticket.turn,
                    ended=self._ends,
                    source=ticket.source,
                    waited=ticket.waited,
                    blocked_by=ticket.blocked_by,
                )
            )
            return any(other.flying for other in self.parts.values())

    def withdraw(self, ticket: Ticket) -> None:
        """What fails before its statement is sent is not under way any more."""
        with self._mutex:
            flying = self.parts[ticket.operation].flying
            if ticket in flying:
                flying.remove(ticket)
            self._changes += 1

    def finished(self, part: Part) -> None:
        """An operation is at its end."""
        with self._mutex:
            part.done = True
            self._changes += 1

    # -- called by the conductor

    def choose(self) -> Ticket | None:
        """The ticket that is to pass next: of the earliest segment whose operation is at the gate. An
        operation is begun only when it is due, so that all that it does has its place in the order."""
        with self._mutex:
            self._due()
            for segment in self._segments:
                part = self.parts[segment.operation]
                if _is_over(part, segment):
                    continue
                if not part.started or part.at_gate:
                    return self._move(part)
                self._note_prevented(part)
            for part in self.parts.values():
                if not part.started or part.at_gate:
                    return self._move(part)
        return None

    def give_up(self) -> tuple[list[Ticket], list[Ticket], tuple[str, ...]]:
        """Abandon what is not at its end: tickets at the gate, tickets under way, and who hangs."""
        with self._mutex:
            parts = list(self.parts.values())
            for part in parts:
                part.abandoned = not part.done
            hung = tuple(part.name for part in parts if part.is_stuck)
            waiting = [ticket for part in parts for ticket in part.at_gate]
            flying = [ticket for part in parts for ticket in part.flying]
            for part in parts:
                part.at_gate.clear()
            return waiting, flying, hung or tuple(part.name for part in parts if not part.done)

    # -- how

    def _due(self) -> Segment | None:
        while self._segments:
            if not _is_over(self.parts[self._segments[0].operation], self._segments[0]):
                return self._segments[0]
            del self._segments[0]
        return None

    def _move(self, part: Part) -> Ticket | None:
        if not part.started:
            part.started = True
            self._start(part.name)
            return None
        ticket = part.at_gate.pop(0)
        self._let_pass(part, ticket)
        return ticket

    def _let_pass(self, part: Part, ticket: Ticket) -> None:
        ticket.index, ticket.turn = part.passed, self.turns
        part.passed += 1
        self.turns += 1
        self._changes += 1
        part.flying.append(ticket)

    def _note_prevented(self, part: Part) -> None:
        if self.prevented is None and part.is_running:
            self.prevented = Prevention(
                part.name, part.passed, "", ()
            )  # it waits for no statement of its own
        for ticket in part.flying:
            if self.prevented is None and ticket.waited:
                self.prevented = Prevention(part.name, ticket.index, ticket.request.sql, ticket.blocked_by)


def _is_over(part: Part, segment: Segment) -> bool:
    return part.done or (segment.upto is not None and part.passed >= segment.upto)
