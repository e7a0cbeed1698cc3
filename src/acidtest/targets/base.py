"""The interface between the executor and a DBMS: sessions that launch without waiting, and a watch.

Adding a DBMS is one file that implements `Target`, `Session` and, if its statements can wait, `Watch`;
see docs/add-a-dbms.md. The conformance suite says when it is right.
"""

import shlex
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar, Protocol, Self

from acidtest.errors import TargetFailedError, UsageError
from acidtest.model import ErrorKind, Level, Reply, Rows, Schema, State, TransactionState, Value


class Session(ABC):
    """One connection. At most one statement is in flight; nothing here ever waits for the server."""

    transaction: TransactionState = TransactionState.NONE
    """Where the session's transaction stands after the last reply."""

    alive: bool = True
    """False once the connection is known to be lost."""

    @abstractmethod
    def launch(self, sql: str, parameters: Sequence[Value] | None = None) -> None:
        """Send a statement and return at once. A lost connection shows in the next `poll`. Where values for
        placeholders cannot be sent, any are a `UsageError` (`refuse_parameters`)."""

    @abstractmethod
    def poll(self) -> Reply | None:
        """The reply to the statement in flight, or None while it is not wholly there."""

    @abstractmethod
    def fileno(self) -> int:
        """A descriptor that is readable when `poll` may have news. Not asked where statements never wait."""

    @abstractmethod
    def close(self) -> None:
        """Drop the connection; never fails."""


class ForeignSession(Session):
    """A connection that somebody else opened and drives. Watches know it by the server's number for it."""

    def __init__(self, number: int) -> None:
        self.number = number

    def launch(self, sql: str, parameters: Sequence[Value] | None = None) -> None:
        raise TypeError(f"a connection of somebody else takes no statement: {sql!r}, {parameters!r}")

    def poll(self) -> Reply | None:
        raise TypeError("a connection of somebody else answers nobody else")

    def fileno(self) -> int:
        raise TypeError("a connection of somebody else is not listened to")

    def close(self) -> None:
        self.alive = False


RETURN_S = 30.0
"""How long a server that is not ours may take to come back after it died."""

_RETURN_PAUSE_S = 0.2


def refuse_parameters(parameters: Sequence[Value] | None, dbms: str) -> None:
    """For sessions that send plain texts only."""
    if parameters is not None:
        raise UsageError(f"acidtest sends {dbms} no values for placeholders; write them into the statement")


Waits = Mapping[Session, frozenset[Session]]
"""Which session waits for which others. Unknown blockers (or blockers that are no session of ours): empty."""


class Watch(ABC):
    """Asks the server who waits for whom, on a connection of its own, without waiting for the answer."""

    @abstractmethod
    def ask(self, suspects: Sequence[Session]) -> None:
        """Send the question about the sessions in flight. An earlier question must have been answered.
        Raises `TargetFailedError` if the connection is lost."""

    @abstractmethod
    def answer(self) -> Waits | None:
        """The answer, or None while it is not there. Raises `TargetFailedError` if the server is gone."""

    @abstractmethod
    def fileno(self) -> int:
        """A descriptor that is readable when `answer` may have news."""

    @abstractmethod
    def close(self) -> None:
        """Drop the connection. A second call does nothing."""


class Guest(ABC):
    """Somebody else's database, in which acidtest is a guest: it looks, asks who waits, and takes back what a
    run left. It makes, empties and drops nothing."""

    dbms: str
    levels: ClassVar[tuple[Level, ...]]
    dialect: ClassVar[str]
    label: str
    version: str

    @abstractmethod
    def adopt(self, number: int) -> Session:
        """The connection that the server calls by this number, for the watch to tell of."""

    @abstractmethod
    def dismiss(self, session: Session) -> None:
        """Forget an adopted connection."""

    @abstractmethod
    def watch(self) -> Watch | None:
        """A new watch, which the caller closes."""

    @abstractmethod
    def schema(self) -> Schema:
        """The tables of the database."""

    @abstractmethod
    def state(self, tables: Sequence[str]) -> State:
        """The committed rows of these tables."""

    @abstractmethod
    def ask(self, sql: str) -> Sequence[Rows]:
        """Run statements of our own on a connection of our own; their result sets. One that the server
        refuses is a `UsageError`."""

    @abstractmethod
    def change(self, statements: Sequence[str]) -> None:
        """Run these statements as one transaction, without checks of foreign keys and without triggers where
        the user may switch them off."""

    @abstractmethod
    def level_statement(self, level: Level) -> str:
        """What sets the level of a session's coming transactions."""

    @abstractmethod
    def level_question(self) -> str:
        """What asks a session for the level of its coming transactions."""

    @abstractmethod
    def kill(self, number: int) -> None:
        """Cut a connection off, with all that it has not committed."""

    def haste_statement(self) -> str | None:
        """What makes a session look for deadlocks at once, where it would wait for a while by default."""
        return None

    @abstractmethod
    def classify(self, code: str) -> ErrorKind:
        """What an errno or SQLSTATE means."""

    @abstractmethod
    def is_alive(self) -> bool:
        """Whether the server still answers. Never raises."""

    @abstractmethod
    def close(self) -> None:
        """Drop all connections of our own. Never raises."""


class Target(ABC):
    """A DBMS under test with one private database in it, made and marked by acidtest."""

    dbms: ClassVar[str]
    """The name used in specifications and case files."""

    levels: ClassVar[tuple[Level, ...]]
    """The levels it really has, weakest first."""

    default_level: ClassVar[Level]

    dialect: ClassVar[str]
    """The sqlglot dialect of its SQL."""

    label: str
    """What the user called it, e.g. `mariadb@10.11`."""

    version: str
    """What the server itself says."""

    @abstractmethod
    def open_session(self) -> Session:
        """A new session in the private database, at the default level."""

    @abstractmethod
    def set_level(self, session: Session, level: Level) -> None:
        """Set the level of the session's coming transactions; cheap if it is already set."""

    @abstractmethod
    def clean(self, session: Session, thorough: bool) -> None:
        """Leave no trace of the last case: end an open transaction; `thorough` also resets variables,
        temporary tables and prepared statements. Raises `TargetFailedError` if the session is lost."""

    @abstractmethod
    def cancel(self, session: Session) -> None:
        """Ask the server to stop the statement in flight; its reply still has to be polled."""

    @abstractmethod
    def watch(self) -> Watch | None:
        """A new watch, which the caller closes; None if no statement can ever wait here."""

    @abstractmethod
    def clear(self) -> None:
        """Empty the private database. One that cannot be emptied is made anew, and sessions in it are lost;
        raises `TargetFailedError` if that fails too."""

    def renew(self) -> None:
        """Make the private database anew, because what stands in it cannot be trusted. Sessions in it may be
        lost; raises `TargetFailedError` if it cannot be done."""
        self.clear()

    @abstractmethod
    def build(self, statements: Sequence[str]) -> None:
        """Run these statements in the empty private database. One that the DBMS refuses is a `UsageError`
        that quotes it."""

    def rebuild(self, statements: Sequence[str]) -> None:
        """Empty the private database and run these statements in it."""
        self.clear()
        self.build(statements)

    @abstractmethod
    def refill(self, tables: Sequence[str], statements: Sequence[str]) -> None:
        """Delete all rows of the tables and run these statements, in as few round trips as possible."""

    @abstractmethod
    def schema(self) -> Schema:
        """The tables of the private database."""

    @abstractmethod
    def state(self, tables: Sequence[str]) -> State:
        """The committed rows of these tables."""

    @abstractmethod
    def is_alive(self) -> bool:
        """Whether the server still answers a new question. Never raises."""

    @abstractmethod
    def close(self) -> None:
        """Drop the private database and all connections. Never raises."""

    def sibling(self) -> "Target":
        """Another private database on the same server, for scratch work; closing it leaves the server
        running. After a restart of the server it is lost, and a new one has to be asked for."""
        raise UsageError(f"{self.label} has no room for scratch tables; use oracles that do without them")

    def numbers_from(self, number: int) -> str | None:
        """A statement after which the session's next INSERT takes automatic numbers from this one on; None
        where there is no such statement."""
        del number
        return None

    def restart(self) -> bool:
        """Bring a server that died back to life with an empty private database. One that is not ours may be
        brought back by others; False if that does not happen. Sessions have to be opened anew."""
        return False

    def hang_up(self, session: Session) -> None:
        """Close a session as a client that goes away, and wait until the server has let go of it."""
        session.close()

    def reboot(self, kill: bool) -> None:
        """Start a server of our own again on its data, after killing it or in order; a database file is
        closed and opened again. Sessions have to be opened anew."""
        del kill
        raise UsageError(f"{self.label} is not started by acidtest, so a case cannot stop it; name a version")

    arguments: tuple[str, ...] = ()
    """What the server was started with beside what acidtest always says."""

    def serve_with(self, arguments: Sequence[str]) -> None:
        """Start a server of our own anew with these arguments instead of any earlier ones. Sessions have to
        be opened anew. A `UsageError` if the server refuses them; it then runs without any."""
        del arguments
        raise UsageError(
            f"{self.label} is not started by acidtest, so it cannot get the options that the case wants;"
            " name a version"
        )

    def settings(self) -> Mapping[str, str]:
        """Settings of the server that decide what it promises, by name."""
        return {}

    def log_tail(self) -> str:
        """The last lines of the server's log, where acidtest can read it."""
        return ""

    def check_levels(self, levels: Iterable[Level]) -> None:
        """Refuse levels that this DBMS lacks."""
        for level in levels:
            if level not in self.levels:
                have = ", ".join(f"{own.value} ({own.short})" for own in self.levels)
                raise UsageError(f"{self.label} has no isolation level {level.value}; it has: {have}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class ServedWith(Protocol):
    """A server of our own that takes arguments."""

    def serve_with(self, arguments: Sequence[str]) -> None:
        """What to add to its command line from the next start on."""


def start_with(target: Target, server: ServedWith, arguments: Sequence[str]) -> None:
    """Start the server of a target anew with these arguments, or without any if it refuses them."""
    server.serve_with([word for one in arguments for word in shlex.split(one)])
    try:
        target.restart()
    except TargetFailedError as error:
        server.serve_with(())
        target.restart()
        target.arguments = ()
        raise UsageError(f"{target.label} does not start with {' '.join(arguments)}: {error}") from error
    target.arguments = tuple(arguments)


def comes_back(connect: Callable[[], object]) -> bool:
    """Whether a server that others look after takes connections again before long."""
    deadline = time.monotonic() + RETURN_S
    while True:
        try:
            connect()
        except TargetFailedError:
            if time.monotonic() > deadline:
                return False
            time.sleep(_RETURN_PAUSE_S)  # nobody tells us when it is there
        else:
            return True
