"""What DBMSs share that run inside this process: statements that never wait, and a file of their own."""

from abc import abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from io import UnsupportedOperation
from pathlib import Path
from time import monotonic
from typing import Self

from acidtest.errors import TargetFailedError, UsageError
from acidtest.model import (
    Affected,
    ErrorKind,
    Failed,
    Level,
    Reply,
    Rows,
    State,
    TransactionState,
    Undone,
    Value,
    freeze_state,
    sort_rows,
)
from acidtest.sql import may_leave_session_traces
from acidtest.targets.base import Session, Target, Watch, refuse_parameters
from acidtest.targets.private_file import PrivateFile, foreign_file
from acidtest.targets.sqltext import quote, unsendable

STATEMENT_LIMIT_S = 30.0
"""A statement in this process holds up everything, so it is stopped when it runs longer than that."""


class PromptSession(Session):
    """Runs a statement to its end when it is launched; the reply lies ready for `poll`."""

    def __init__(self) -> None:
        self._reply: Reply | None = None

    def launch(self, sql: str, parameters: Sequence[Value] | None = None) -> None:
        if parameters is not None:
            refuse_parameters(parameters, "a DBMS inside this process")
        self._reply = self.execute(sql)

    def poll(self) -> Reply | None:
        reply, self._reply = self._reply, None
        return reply

    def fileno(self) -> int:
        raise UnsupportedOperation("statements never wait here, so there is nothing to wait for")

    @abstractmethod
    def execute(self, sql: str) -> Reply:
        """Run a statement; whatever the DBMS says of it is in the reply."""


class InProcessSession(PromptSession):
    """A session of a DBMS inside this process."""

    def execute(self, sql: str) -> Reply:
        if self.alive:
            outcome = unsendable(sql) or self._run(sql)
        else:
            outcome = Failed(ErrorKind.CONNECTION_LOST, "", "the session is closed", Undone.NOTHING)
        return Reply(outcome, self.transaction)

    @abstractmethod
    def _run(self, sql: str) -> Rows | Affected | Failed:
        """Run a statement to its end and update `transaction`."""

    @abstractmethod
    def renew(self) -> None:
        """Replace the connection, and with it variables, temporary tables and an open transaction."""


class Deadline:
    """When the running statement has to be stopped."""

    def __init__(self, limit_s: float) -> None:
        self.limit_s = limit_s
        self._at: float | None = None

    def __enter__(self) -> Self:
        self._at = monotonic() + self.limit_s
        return self

    def __exit__(self, *exc: object) -> None:
        self._at = None

    def passed(self) -> bool:
        """Whether a statement runs and has had its time."""
        at = self._at
        return at is not None and monotonic() > at


class InProcessTarget(Target):
    """A file of its own, temporary for `path` None, else made at `path`; either is removed at the end.

    Sessions belong to the file; one more of them builds, fills and reads.
    """

    def __init__(
        self, path: Path | None, label: str, limit_s: float = STATEMENT_LIMIT_S, *, keep: bool = False
    ) -> None:
        """With `keep`, what the file holds stays: it was ours before."""
        self.label = label
        self._limit_s = limit_s
        self._sessions: list[InProcessSession] = []
        self._control: InProcessSession
        self._file = PrivateFile(path, label)
        try:
            if self._file.exists() and not self._is_marked(self._file.path):
                raise foreign_file(label, self._file.path)
            if keep and self._file.exists():
                self._reopen()
            else:
                self._create()
        except BaseException:
            self._file.release()
            raise

    @abstractmethod
    def _is_marked(self, path: Path) -> bool:
        """Whether acidtest made this file; anything that is no database was not."""

    @abstractmethod
    def _create(self) -> None:
        """Put a new file with the mark in it in the place of the old, and open the control session."""

    @abstractmethod
    def _connect(self) -> InProcessSession:
        """A new session. Raises `TargetFailedError` if the file is gone or damaged."""

    @abstractmethod
    def _empty(self) -> None:
        """Drop everything in the database."""

    def open_session(self) -> Session:
        session = self._connect()
        self._sessions.append(session)
        return session

    def set_level(self, session: Session, level: Level) -> None:
        if session.alive:
            self.check_levels([level])

    def clean(self, session: Session, thorough: bool) -> None:
        assert isinstance(session, InProcessSession)
        if not session.alive:
            raise TargetFailedError(f"a session of {self.label} is lost")
        if thorough:
            session.renew()
        elif session.transaction is not TransactionState.NONE:
            session.execute("ROLLBACK")

    def cancel(self, session: Session) -> None:
        """Nothing to do: a launched statement has already ended."""

    def watch(self) -> Watch | None:
        return None

    def clear(self) -> None:
        self._empty()

    def renew(self) -> None:
        self._close_sessions()
        self._create()

    def build(self, statements: Sequence[str]) -> None:
        for statement in statements:
            self._demand(statement)
        self.clean(self._control, thorough=any(map(may_leave_session_traces, statements)))

    def state(self, tables: Sequence[str]) -> State:
        return freeze_state(
            {table: sort_rows(self._ask(f"SELECT * FROM {quote(table)}").rows) for table in tables}
        )

    def is_alive(self) -> bool:
        try:
            self._connect().close()
        except TargetFailedError:
            return False
        return isinstance(self._control.execute("SELECT 1").outcome, Rows)

    def sibling(self) -> Target:
        return type(self)(None, self.label, self._limit_s)

    def restart(self) -> bool:
        self._close_sessions()
        try:
            self._create()
        except (UsageError, TargetFailedError):
            return False
        return True

    def reboot(self, kill: bool) -> None:
        if kill:
            raise UsageError(f"{self.label} runs inside acidtest and cannot be killed; use `\\restart`")
        self._close_sessions()
        self._reopen()

    def _reopen(self) -> None:
        """Open the file again, and the control session on it."""
        self._control = self._connect()

    def leave(self) -> None:
        """Close everything, and leave the file as it is."""
        self._close_sessions()

    def close(self) -> None:
        self._close_sessions()
        with suppress(OSError):  # a folder that is gone or closed to us holds nothing that we could remove
            self._file.remove()
            self._file.release()

    def _close_sessions(self) -> None:
        for session in [*self._sessions, self._control]:
            session.close()
        self._sessions.clear()

    def _ask(self, sql: str) -> Rows:
        outcome = self._control.execute(sql).outcome
        if not isinstance(outcome, Rows):
            message = outcome.message if isinstance(outcome, Failed) else "no rows"
            raise TargetFailedError(f"{self.label} could not be read: {message}")
        return outcome

    def _demand(self, sql: str) -> None:
        """Run a statement that has to succeed."""
        outcome = self._control.execute(sql).outcome
        if not isinstance(outcome, Failed):
            return
        if outcome.kind in (ErrorKind.CONNECTION_LOST, ErrorKind.INTERNAL):
            raise TargetFailedError(f"{self.label} is damaged: {outcome.message}")
        self.clean(self._control, thorough=True)
        raise UsageError(f"{self.label} refuses the set-up statement {sql!r}: {outcome.message}")
