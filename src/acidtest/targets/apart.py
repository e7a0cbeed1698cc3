"""Another release of a DBMS that runs inside a process: in a process of its own, so that it may be any
release, and that a crash takes nothing of ours along.

Statements never wait there, so every request is answered before the next.
"""

import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, ClassVar

from acidtest.errors import TargetFailedError, UsageError
from acidtest.model import ErrorKind, Failed, Level, Reply, Schema, State, TransactionState, Undone
from acidtest.servers import embedded
from acidtest.targets.apart_host import Order
from acidtest.targets.base import Session, Target, Watch
from acidtest.targets.inprocess import PromptSession

ANSWER_LIMIT_S = 60.0
"""Twice what a statement may take before the other side stops it."""

_LOG_LINES = 40


class Process:
    """The process that holds the release, and the pipe to it."""

    def __init__(self, order: Order, log: Path) -> None:
        ours, theirs = Pipe()
        self._log = log
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "acidtest.targets.apart_host", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                pass_fds=(theirs.fileno(),),
            )
        theirs.close()
        self._pipe: Connection = ours
        self._label = order.label
        self.alive = True
        self._send(order)
        self._receive()

    @property
    def id(self) -> int:
        return self._process.pid

    def ask(self, name: str, *arguments: Any) -> Any:
        """What a request comes to; a `TargetFailedError` if the process is gone."""
        self._send((name, arguments))
        return self._receive()

    def _send(self, message: object) -> None:
        try:
            self._pipe.send(message)
        except OSError:
            raise self._gone() from None

    def _receive(self) -> Any:
        try:
            if not self._pipe.poll(ANSWER_LIMIT_S):
                self.kill()
                raise TargetFailedError(f"{self._label} did not answer within {ANSWER_LIMIT_S:g} s")
            kind, value = self._pipe.recv()
        except (EOFError, OSError):
            raise self._gone() from None
        if kind == "usage":
            raise UsageError(value)
        if kind == "failed":
            raise TargetFailedError(value)
        if kind == "defect":
            raise RuntimeError(value)
        return value

    def _gone(self) -> TargetFailedError:
        self.alive = False
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(ANSWER_LIMIT_S)
        return TargetFailedError(f"the process of {self._label} ended with {self._process.returncode}")

    def kill(self) -> None:
        """End it at once."""
        self.alive = False
        self._process.kill()
        self._process.wait()
        self._pipe.close()

    def end(self) -> None:
        """Let it close its file, and end."""
        self.alive = False
        self._pipe.close()
        try:
            self._process.wait(ANSWER_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class ApartSession(PromptSession):
    """A session over there, known by its number."""

    def __init__(self, process: Process, number: int) -> None:
        super().__init__()
        self.process = process
        self.number = number

    def close(self) -> None:
        self.transaction = TransactionState.NONE
        if self.alive:
            self.alive = False
            if self.process.alive:
                with suppress(TargetFailedError):
                    self.process.ask("hang_up", self.number)

    def execute(self, sql: str) -> Reply:
        if self.alive and self.process.alive:
            try:
                reply, self.alive = self.process.ask("execute", self.number, sql)
            except TargetFailedError as error:
                return self._lost(str(error))
            self.transaction = reply.transaction
            return Reply(reply.outcome, reply.transaction, reply.warnings, reply.parts)
        return self._lost("the session is closed")

    def _lost(self, why: str) -> Reply:
        self.alive = False
        self.transaction = TransactionState.NONE
        return Reply(Failed(ErrorKind.CONNECTION_LOST, "", why, Undone.CONNECTION), TransactionState.NONE)


class ApartTarget(Target):
    """A release in a process of its own; subclasses say which class holds it there."""

    hosted: ClassVar[str]
    stand_in: ClassVar[str] = ""

    def __init__(self, path: Path | None, label: str, version: str) -> None:
        if path is not None:
            raise UsageError(f"{label}: a release of its own uses a file of its own; leave out the path")
        self.label = label
        self._release = embedded.find(self.dbms, version)
        self._folder = tempfile.TemporaryDirectory(prefix="acidtest-")
        self._log = Path(self._folder.name, "errors.log")
        self._sessions: list[ApartSession] = []
        try:
            self._process = self._start(keep=False)
        except BaseException:
            self._folder.cleanup()
            raise
        self.version = str(self._process.ask("version"))

    @property
    def process_id(self) -> int:
        """The process that holds the release."""
        return self._process.id

    def _start(self, keep: bool) -> Process:
        path = str(Path(self._folder.name, "private.db"))
        order = Order(self.hosted, str(self._release), self.stand_in, path, self.label, keep)
        return Process(order, self._log)

    def open_session(self) -> Session:
        session = ApartSession(self._process, int(self._process.ask("open")))
        self._sessions.append(session)
        return session

    def set_level(self, session: Session, level: Level) -> None:
        if session.alive:
            self.check_levels([level])

    def clean(self, session: Session, thorough: bool) -> None:
        assert isinstance(session, ApartSession)
        if not session.alive or not session.process.alive:
            session.alive = False
            raise TargetFailedError(f"a session of {self.label} is lost")
        self._process.ask("clean", session.number, thorough)
        session.transaction = TransactionState.NONE

    def cancel(self, session: Session) -> None:
        """Nothing to do: a launched statement has already ended."""

    def watch(self) -> Watch | None:
        return None

    def clear(self) -> None:
        self._forward("clear")

    def renew(self) -> None:
        self._forward("renew")

    def build(self, statements: Sequence[str]) -> None:
        self._forward("build", list(statements))

    def refill(self, tables: Sequence[str], statements: Sequence[str]) -> None:
        self._forward("refill", list(tables), list(statements))

    def schema(self) -> Schema:
        found: Schema = self._forward("schema")
        return found

    def state(self, tables: Sequence[str]) -> State:
        found: State = self._forward("state", list(tables))
        return found

    def settings(self) -> Mapping[str, str]:
        found: Mapping[str, str] = self._forward("settings")
        return found

    def is_alive(self) -> bool:
        try:
            return bool(self._forward("is_alive"))
        except TargetFailedError:
            return False

    def sibling(self) -> Target:
        return type(self)(None, self.label, self._release.name.rpartition("-")[2])

    def restart(self) -> bool:
        self._leave()
        self._process = self._start(keep=False)
        return True

    def reboot(self, kill: bool) -> None:
        self._process.kill() if kill else self._process.end()
        self._leave()
        self._process = self._start(keep=True)

    def log_tail(self) -> str:
        lines = self._log.read_text("utf-8", errors="replace").splitlines()
        return "\n".join(lines[-_LOG_LINES:])

    def close(self) -> None:
        self._leave()
        with suppress(OSError):  # a folder that somebody has taken away holds nothing to remove
            self._folder.cleanup()

    def _leave(self) -> None:
        for session in self._sessions:
            session.alive = False
        self._sessions.clear()
        if self._process.alive:
            self._process.end()

    def _forward(self, name: str, *arguments: Any) -> Any:
        if not self._process.alive:
            raise TargetFailedError(f"{self.label} died")
        result = self._process.ask("forward", name, *arguments)
        lost = set(self._process.ask("lost"))
        for session in self._sessions:
            session.alive = session.alive and session.number not in lost
        return result


class DuckDBApart(ApartTarget):
    """A release of DuckDB."""

    dbms = "duckdb"
    levels = (Level.SNAPSHOT,)
    default_level = Level.SNAPSHOT
    dialect = "duckdb"
    hosted = "acidtest.targets.duckdb:AnyDuckDBTarget"


class SQLiteApart(ApartTarget):
    """A release of SQLite, inside the driver apsw."""

    dbms = "sqlite"
    levels = (Level.SERIALIZABLE,)
    default_level = Level.SERIALIZABLE
    dialect = "sqlite"
    hosted = "acidtest.targets.sqlite:SQLiteTarget"
    stand_in = "acidtest.targets.apsw_driver:sqlite3"
