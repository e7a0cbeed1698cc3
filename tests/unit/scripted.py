"""A scripted target: not a DBMS, it answers as a test tells it to, so that the protocol itself can be tested.

What a real server does only once in ten thousand runs (a released session that answers before the COMMIT that
released it, a cycle that is visible for a moment) happens here each time.
"""

import os
from collections import deque
from collections.abc import Callable, Sequence

from acidtest.errors import TargetFailedError
from acidtest.model import (
    Affected,
    Column,
    ErrorKind,
    Failed,
    Level,
    Reply,
    Schema,
    State,
    Table,
    TransactionState,
    Undone,
    Value,
)
from acidtest.targets import Session, Target, Waits, Watch

OPEN, NONE = TransactionState.OPEN, TransactionState.NONE


def ok(count: int = 0, state: TransactionState = OPEN) -> Reply:
    return Reply(Affected(count), state)


def error(kind: ErrorKind, undone: Undone = Undone.STATEMENT, state: TransactionState = OPEN) -> Reply:
    return Reply(Failed(kind, "0", kind.value, undone), state)


class _Mailbox:
    """A descriptor that is readable while something lies in it."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        self._items: deque[object] = deque()
        self._closed = False

    def put(self, item: object) -> None:
        self._items.append(item)
        os.write(self._write, b"x")

    def get(self) -> object | None:
        if not self._items:
            return None
        os.read(self._read, 1)
        return self._items.popleft()

    @property
    def is_empty(self) -> bool:
        return not self._items

    def fileno(self) -> int:
        return self._read

    def close(self) -> None:
        """May be called again."""
        if not self._closed:
            self._closed = True
            for fd in (self._read, self._write):
                os.close(fd)


class ScriptedSession(Session):
    def __init__(self, target: "ScriptedTarget") -> None:
        self._target = target
        self._mailbox = _Mailbox()
        self.cancelled = False

    def launch(self, sql: str, parameters: Sequence[Value] | None = None) -> None:
        self._target.launched = True
        self._target.on_launch(self, sql)

    def answer(self, reply: Reply) -> None:
        """The server's reply arrives."""
        self._mailbox.put(reply)

    @property
    def is_read_out(self) -> bool:
        """Whether no reply lies unread."""
        return self._mailbox.is_empty

    def poll(self) -> Reply | None:
        reply = self._mailbox.get()
        if reply is None:
            return None
        assert isinstance(reply, Reply)
        self.transaction = reply.transaction
        if isinstance(reply.outcome, Failed) and reply.outcome.kind is ErrorKind.CONNECTION_LOST:
            self.alive = False
        return reply

    def fileno(self) -> int:
        return self._mailbox.fileno()

    def close(self) -> None:
        self._mailbox.close()
        self.alive = False


class ScriptedWatch(Watch):
    def __init__(self, target: "ScriptedTarget") -> None:
        self._target = target
        self._mailbox = _Mailbox()

    def ask(self, suspects: Sequence[Session]) -> None:
        if self._target.dead:
            raise TargetFailedError("gone")
        self._target.questions += 1
        self._mailbox.put(self._target.on_question())

    def answer(self) -> Waits | None:
        return self._mailbox.get()  # type: ignore[return-value]

    def fileno(self) -> int:
        return self._mailbox.fileno()

    def close(self) -> None:
        self._mailbox.close()


class ScriptedTarget(Target):
    """`on_launch(session, sql)` may answer on any session; `on_question()` says who waits."""

    dbms = "scripted"
    levels = (Level.READ_COMMITTED, Level.SERIALIZABLE)
    default_level = Level.READ_COMMITTED
    dialect = "mysql"
    label = "scripted"
    version = "1"

    def __init__(
        self,
        on_launch: Callable[[ScriptedSession, str], None],
        on_question: Callable[[], Waits] = dict,
        waits: bool = True,
    ) -> None:
        self.on_launch = on_launch
        self.on_question = on_question
        self._waits = waits
        self.sessions: list[ScriptedSession] = []
        self.cleaned: list[tuple[ScriptedSession, bool]] = []
        self.rebuilt = self.refilled = self.restarted = self.questions = 0
        self.dead = False
        self.auto_increment = False
        self.state_now: State = {"t": ((1,),)}
        self.cancel_answers = True
        self.renewed = 0
        self.uncleanable = False
        self.unreadable = False  # once a statement was launched
        self.launched = False
        self.on_clear: Callable[[], None] = lambda: None

    def open_session(self) -> Session:
        self.sessions.append(ScriptedSession(self))
        return self.sessions[-1]

    def set_level(self, session: Session, level: Level) -> None:
        pass

    def clean(self, session: Session, thorough: bool) -> None:
        assert isinstance(session, ScriptedSession)
        if self.uncleanable:
            raise TargetFailedError("refused")
        self.cleaned.append((session, thorough))
        session.transaction = NONE

    def cancel(self, session: Session) -> None:
        assert isinstance(session, ScriptedSession)
        session.cancelled = True
        if self.cancel_answers:
            session.answer(error(ErrorKind.CANCELLED))

    def watch(self) -> Watch | None:
        return ScriptedWatch(self) if self._waits else None

    def clear(self) -> None:
        if self.dead:
            raise TargetFailedError("gone")
        self.on_clear()

    def renew(self) -> None:
        self.renewed += 1
        super().renew()

    def build(self, statements: Sequence[str]) -> None:
        self.rebuilt += 1

    def refill(self, tables: Sequence[str], statements: Sequence[str]) -> None:
        if self.dead:
            raise TargetFailedError("gone")
        self.refilled += 1

    def schema(self) -> Schema:
        column = Column("a", "int", True, auto_increment=self.auto_increment)
        return Schema((Table("t", (column,)),))

    def state(self, tables: Sequence[str]) -> State:
        if self.dead or (self.unreadable and self.launched):
            raise TargetFailedError("gone")
        return self.state_now

    def is_alive(self) -> bool:
        return not self.dead

    def restart(self) -> bool:
        self.restarted += 1
        self.dead = False
        return True

    def close(self) -> None:
        pass
