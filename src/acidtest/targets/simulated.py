"""The simulated DBMS as a target: `simulated`, or `simulated@FAULT` with a planted fault; another engine than
the locking one by `?engine=NAME`."""

import os
from collections.abc import Mapping, Sequence
from typing import ClassVar
from weakref import WeakSet

from acidtest.errors import TargetFailedError, UsageError
from acidtest.model import (
    ErrorKind,
    Failed,
    Level,
    Reply,
    Schema,
    State,
    TransactionState,
    Undone,
    Value,
    freeze_state,
    sort_rows,
)
from acidtest.simulated import BEHAVIOURS, LOCKING, Behaviour, Connection, Engine, fault_named, faults_of
from acidtest.targets.base import Session, Target, Waits, Watch, refuse_parameters
from acidtest.targets.sqltext import unsendable

ENGINE = "simulated_engine"
"""The setting that says what the engine promises."""


class Bell:
    """A descriptor that is readable from when it is rung until it is silenced."""

    def __init__(self) -> None:
        self._fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._rung = False

    def ring(self) -> None:
        if not self._rung:
            os.eventfd_write(self._fd, 1)
        self._rung = True

    def silence(self) -> None:
        if self._rung:
            os.eventfd_read(self._fd)
        self._rung = False

    def fileno(self) -> int:
        return self._fd

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1


class SimulatedSession(Session):
    """A connection to the engine. Its bell rings when its reply is the oldest that was not taken yet."""

    def __init__(self, target: "SimulatedTarget") -> None:
        self._target = target
        self.client = Connection(target.default_level)
        self.bell = Bell()
        self._last_words: Reply | None = None

    def launch(self, sql: str, parameters: Sequence[Value] | None = None) -> None:
        refuse_parameters(parameters, "simulated")
        if not self.alive:
            lost = Failed(ErrorKind.CONNECTION_LOST, "2013", "the session is closed", Undone.CONNECTION)
            self._last_words = Reply(lost, TransactionState.NONE)
        elif refusal := unsendable(sql):
            self._last_words = Reply(refusal, self.transaction)
            self.bell.ring()
        else:
            self._target.engine.launch(self.client, sql)
            self._target.ring()

    def poll(self) -> Reply | None:
        reply, self._last_words = self._last_words, None
        if reply is None and self.client.reply is not None:
            reply = self._target.engine.take_reply(self.client)
        if reply is not None and self.alive:
            self.transaction = reply.transaction
            self.bell.silence()
            self._target.ring()
        return reply

    def fileno(self) -> int:
        return self.bell.fileno()

    def close(self) -> None:
        if self.alive:
            self.alive = False
            self.transaction = TransactionState.NONE
            self._target.forget(self)
            self.bell.close()


class SimulatedWatch(Watch):
    """Answers as soon as it is asked."""

    def __init__(self, target: "SimulatedTarget") -> None:
        self._target = target
        self._bell = Bell()
        self._answer: Waits | None = None

    def ask(self, suspects: Sequence[Session]) -> None:
        self._answer = {
            session: blockers for session, blockers in self._target.waits().items() if session in suspects
        }
        self._bell.ring()

    def answer(self) -> Waits | None:
        self._bell.silence()
        answer, self._answer = self._answer, None
        return answer

    def fileno(self) -> int:
        return self._bell.fileno()

    def close(self) -> None:
        self._bell.close()


class SimulatedTarget(Target):
    """An engine of its own, in this process."""

    behaviour: ClassVar[Behaviour] = LOCKING
    dbms = "simulated"
    levels = LOCKING.levels
    default_level = Level.REPEATABLE_READ
    dialect = "mysql"
    version = "1.0"

    def __init__(self, path: None, label: str, fault: str | None = None) -> None:  # noqa: ARG002 - as others
        self.label = label
        self._fault = None
        if fault is not None:
            self._fault = fault_named(fault, self.behaviour.name)
            if self._fault is None:
                known = ", ".join(one.name for one in faults_of(self.behaviour.name))
                raise UsageError(f"{label}: there is no fault {fault!r}; known are {known}")
        self.engine = Engine(self.behaviour)
        self._sessions: list[SimulatedSession] = []
        self._watches: WeakSet[SimulatedWatch] = WeakSet()

    def sibling(self) -> Target:
        return type(self)(None, self.label)  # without the fault: what it says counts as right

    def open_session(self) -> Session:
        session = SimulatedSession(self)
        self._sessions.append(session)
        return session

    def set_level(self, session: Session, level: Level) -> None:
        assert isinstance(session, SimulatedSession)
        self.check_levels([level])
        session.client.level = level

    def clean(self, session: Session, thorough: bool) -> None:
        assert isinstance(session, SimulatedSession)
        if not session.alive:
            raise TargetFailedError(f"a session of {self.label} is lost")
        self.engine.disconnect(session.client)
        session.transaction = TransactionState.NONE
        session.bell.silence()
        if thorough:
            session.client.level = self.default_level
        self.ring()

    def cancel(self, session: Session) -> None:
        assert isinstance(session, SimulatedSession)
        self.engine.cancel(session.client)
        self.ring()

    def watch(self) -> Watch | None:
        watch = SimulatedWatch(self)
        self._watches.add(watch)
        return watch

    def clear(self) -> None:
        self.engine.empty()

    def build(self, statements: Sequence[str]) -> None:
        self._set_up(statements)

    def refill(self, tables: Sequence[str], statements: Sequence[str]) -> None:
        for table in tables:
            self.engine.clear(table)
        self._set_up(statements)

    def _set_up(self, statements: Sequence[str]) -> None:
        refused = self.engine.set_up(statements, self._fault)
        if refused is not None:
            sql, failure = refused
            raise UsageError(f"{self.label} refuses the set-up statement {sql!r}: {failure.message}")

    def schema(self) -> Schema:
        return self.engine.schema

    def state(self, tables: Sequence[str]) -> State:
        return freeze_state({table: sort_rows(self.engine.committed_rows(table)) for table in tables})

    def settings(self) -> Mapping[str, str]:
        return {ENGINE: self.behaviour.name}

    def is_alive(self) -> bool:
        return True

    def close(self) -> None:
        for session in list(self._sessions):
            session.close()
        for watch in list(self._watches):
            watch.close()

    def waits(self) -> Mapping[Session, frozenset[Session]]:
        """Which sessions wait for which."""
        owners: dict[object, Session] = {
            transaction: session for session in self._sessions for transaction in session.client.transactions
        }
        clients = {session.client: session for session in self._sessions}
        return {
            clients[client]: frozenset(owners[one] for one in blockers if one in owners)
            for client, blockers in self.engine.waits().items()
            if client in clients
        }

    def ring(self) -> None:
        """Tell the session whose reply came first; the others in turn, so that all see the same order."""
        if self.engine.outbox:
            first = self.engine.outbox[0]
            for session in self._sessions:
                if session.client is first:
                    session.bell.ring()

    def forget(self, session: SimulatedSession) -> None:
        """A session is closed."""
        self._sessions.remove(session)
        self.engine.disconnect(session.client)
        self.ring()


class RecheckingTarget(SimulatedTarget):
    """Like PostgreSQL at READ COMMITTED."""

    behaviour = BEHAVIOURS["recheck"]
    levels = behaviour.levels
    default_level = Level.READ_COMMITTED


class FailingTarget(SimulatedTarget):
    """Like PostgreSQL at REPEATABLE READ."""

    behaviour = BEHAVIOURS["fail"]
    levels = behaviour.levels
    default_level = Level.REPEATABLE_READ


class SerializableTarget(SimulatedTarget):
    """Like PostgreSQL at SERIALIZABLE."""

    behaviour = BEHAVIOURS["ssi"]
    levels = behaviour.levels
    default_level = Level.SERIALIZABLE


class OneWriterTarget(SimulatedTarget):
    """Like SQLite."""

    behaviour = BEHAVIOURS["one-writer"]
    levels = behaviour.levels
    default_level = Level.SERIALIZABLE


class RefusingTarget(SimulatedTarget):
    """Like DuckDB."""

    behaviour = BEHAVIOURS["refuse"]
    levels = behaviour.levels
    default_level = Level.SNAPSHOT


class OptimisticTarget(SimulatedTarget):
    """Like TiDB's optimistic transactions."""

    behaviour = BEHAVIOURS["optimistic"]
    levels = behaviour.levels
    default_level = Level.REPEATABLE_READ
