"""The gate: every statement of the application comes to it before it is sent, and again when it is answered.

Front ends (one per driver) wrap what sends statements. They know a session as a `Link`: the connection
itself, by the number that the server gives it, never the thread. Which operation a statement belongs to is
told by a context variable of the worker that runs the operation; a connection that is used where the
variable is not set (a helper thread) belongs to the operation that used it last.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from acidtest.model import Affected, Failed, Outcome, Rows, TransactionState, Value
from acidtest.model.application import SourceLine
from acidtest.servers.base import Endpoint

Answer = TypeVar("Answer")

WORKER: ContextVar[object | None] = ContextVar("acidtest_worker", default=None)
"""The operation that the running code belongs to, as the gate knows it in this run."""

ROWS_KEPT = 200
"""Of a result that is larger only so many rows are kept."""


class Link(ABC):
    """A connection of the application."""

    is_async: ClassVar[bool] = False

    def __init__(self) -> None:
        self.operation: str | None = None
        """Who used it last."""
        self.own_level: str | None = None
        """The level that the application uses, once it was asked for."""
        self.level: str | None = None
        """The level that it stands at, as far as the gate has set it."""
        self.known_in = -1
        """The run in which that was set; pools may reset a connection between two."""
        self.in_use = False
        """Whether a statement that had a turn is part of its transaction."""
        self.held_open = False
        """Whether the gate holds a transaction open over the whole operation."""

    @property
    @abstractmethod
    def number(self) -> int:
        """What the server calls it."""

    @abstractmethod
    def endpoint(self) -> Endpoint:
        """Where it leads, the database included."""

    @abstractmethod
    def transaction(self) -> TransactionState:
        """Where its transaction stands, without a question to the server."""

    @abstractmethod
    def ask(self, sql: str) -> str:
        """Run a statement past the gate: the first value of its answer as text. Raises `LinkError`."""

    def released(self) -> None:  # noqa: B027 -- most drivers have nothing to make good for
        """The gate no longer holds a transaction open; make good for what the driver was not allowed to
        do."""

    async def ask_async(self, sql: str) -> str:
        """The same in a task."""
        return self.ask(sql)


class LinkError(Exception):
    """The server refused a statement that acidtest ran on a connection of the application."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Request:
    """A statement that wants to pass: its text with the values in it, and what it does at the driver."""

    sql: str
    is_control: bool = False
    """A call of the driver that ends or begins a transaction, with no statement of the application's."""


@dataclass(slots=True, eq=False)
class Ticket:
    """A statement on its way through the gate. `sql` is what to send instead, if it was rewritten; `skip`: do
    not send it at all."""

    link: Link
    request: Request
    operation: str
    before: TransactionState
    sql: str | None = None
    skip: bool = False
    index: int = -1
    turn: int = -1
    source: SourceLine | None = None
    waited: bool = False
    blocked_by: tuple[str, ...] = ()
    open_door: Callable[[], None] = field(default=lambda: None, repr=False)
    """Lets its worker go on."""


class Gate(ABC):
    """What front ends talk to."""

    @abstractmethod
    def enter(self, link: Link, request: Request) -> Ticket | None:
        """Wait for the statement's turn. None: it does not concern us, send it."""

    @abstractmethod
    async def enter_async(self, link: Link, request: Request) -> Ticket | None:
        """The same in a task."""

    @abstractmethod
    def opening(self, link: Link) -> None:
        """The driver is about to begin a transaction by a statement of its own, which needs no turn."""

    @abstractmethod
    async def opening_async(self, link: Link) -> None:
        """The same in a task."""

    @abstractmethod
    def leave(self, ticket: Ticket, outcome: Outcome) -> None:
        """The statement was answered."""

    @abstractmethod
    def closed(self, link: Link) -> None:
        """The connection was closed."""


_installed: list[Gate] = []


def current() -> Gate | None:
    """The gate that is in place, if one is."""
    return _installed[-1] if _installed else None


def put_in_place(gate: Gate) -> None:
    """Let every statement come to this gate."""
    _installed.append(gate)


def take_away(gate: Gate) -> None:
    """Let statements pass as before."""
    _installed.remove(gate)


def passing(
    link: Link,
    request: Request,
    send: Callable[[str | None], Answer],
    outcome: Callable[[Answer], Outcome],
    failed: Callable[[BaseException], Failed],
    skipped: Callable[[], Answer] | None = None,
) -> Answer:
    """Send a statement through the gate. `send` takes the text to send instead, or None."""
    gate = current()
    ticket = gate.enter(link, request) if gate is not None else None
    if gate is None or ticket is None:
        return send(None)
    if ticket.skip and skipped is not None:
        gate.leave(ticket, Affected(0))
        return skipped()
    try:
        answer = send(ticket.sql)
    except BaseException as error:
        gate.leave(ticket, failed(error))
        raise
    gate.leave(ticket, outcome(answer))
    return answer


async def passing_async(
    link: Link,
    request: Request,
    send: Callable[[str | None], Awaitable[Answer]],
    outcome: Callable[[Answer], Outcome],
    failed: Callable[[BaseException], Failed],
) -> Answer:
    """The same in a task."""
    gate = current()
    ticket = await gate.enter_async(link, request) if gate is not None else None
    if gate is None or ticket is None:
        return await send(None)
    try:
        answer = await send(ticket.sql)
    except BaseException as error:
        gate.leave(ticket, failed(error))
        raise
    gate.leave(ticket, outcome(answer))
    return answer


def plain(value: Any) -> Value:
    """A value as the model has it; what it has no form for becomes text."""
    if value is None or isinstance(value, Value):
        return value
    if isinstance(value, memoryview | bytearray):
        return bytes(value)
    return str(value)


def rows_of(columns: tuple[str, ...], rows: Any) -> Rows:
    """A result set as the model has it."""
    return Rows(columns, tuple(tuple(plain(value) for value in row) for row in rows[:ROWS_KEPT]))
