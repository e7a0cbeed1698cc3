"""A connection to PostgreSQL through libpq, driven without waiting.

Driven so, a small statement costs 1.4 times what it costs on a raw socket; docs/lab/drivers.md has the
figures. Statements go by the simple query protocol: one message each, and several in one where acidtest
itself speaks to the server.
"""

import re
import select
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic

from psycopg import Error as PsycopgError
from psycopg import pq

from acidtest.errors import TargetFailedError
from acidtest.model import (
    Affected,
    ErrorKind,
    Failed,
    Level,
    Reply,
    Rows,
    TransactionState,
    Undone,
    Value,
    Warning,
)
from acidtest.servers.base import Endpoint
from acidtest.sql import StatementKind, kind_of
from acidtest.targets.base import Session
from acidtest.targets.postgres.errors import IN_FAILED_TRANSACTION, classify, undone
from acidtest.targets.postgres.values import decode_text, decoder, encode
from acidtest.targets.sqltext import unsendable

CONNECT_LIMIT_S = 10
ANSWER_LIMIT_S = 60.0
"""How long acidtest's own statements may take before the server counts as hung."""

# Settings at start-up rather than SET: DISCARD ALL then comes back to them.
_SETTINGS = {
    "client_encoding": "UTF8",
    "client_min_messages": "warning",
    "DateStyle": "ISO",
    "IntervalStyle": "postgres",
    "bytea_output": "hex",
    "extra_float_digits": "1",
    "default_transaction_isolation": r"read\ committed",
}

_STATES: dict[int, TransactionState] = {
    pq.TransactionStatus.IDLE: TransactionState.NONE,
    pq.TransactionStatus.ACTIVE: TransactionState.NONE,
    pq.TransactionStatus.INTRANS: TransactionState.OPEN,
    pq.TransactionStatus.INERROR: TransactionState.FAILED,
    pq.TransactionStatus.UNKNOWN: TransactionState.NONE,
}

# OTHER: a script may hold a ROLLBACK.
_MAY_ANSWER_ROLLBACK = (StatementKind.ROLLBACK, StatementKind.SAVEPOINT, StatementKind.OTHER)

# PostgreSQL answers the COMMIT of a failed transaction with the tag ROLLBACK and no error. Whoever reads a
# history must not take that for a commit.
_NOT_COMMITTED = Failed(
    ErrorKind.TRANSACTION_STATE,
    IN_FAILED_TRANSACTION,
    "the transaction had failed, and the server answered ROLLBACK",
    Undone.TRANSACTION,
)

_GONE = Failed(ErrorKind.CONNECTION_LOST, "", "the session is closed", Undone.NOTHING)

_Outcome = Rows | Affected | Failed

_DRIVER_PROSE = re.compile(r"^(?:[a-z ]+ failed: )?(?:FATAL|PANIC|ERROR):\s*|^[a-z ]+ failed: ")
"""What the driver and libpq put before the server's own words."""


class PostgresSession(Session):
    """One connection. `pid` is its backend, `level` the isolation level it stands at."""

    def __init__(
        self,
        endpoint: Endpoint,
        database: str,
        settings: dict[str, str] | None = None,
        succeeded: Callable[[str], None] | None = None,
    ) -> None:
        self.level = Level.READ_COMMITTED
        self._succeeded = succeeded  # is told each statement that did
        self._lost: Failed | None = None
        self._unsent: Failed | None = None
        self._outcomes: list[_Outcome] = []
        self._warnings: list[Warning] = []
        self._sent = ""
        self._connection = _connect(endpoint, database, _SETTINGS | (settings or {}))
        self._connection.nonblocking = 1
        self._connection.notice_handler = self._note_warning
        self._descriptor = self._connection.socket
        self.pid = self._connection.backend_pid

    @property
    def version_number(self) -> int:
        """The server's version as one number: 90624, 180001."""
        return self._connection.server_version

    def parameter(self, name: str) -> str:
        """A setting that the server reported by itself, such as `is_superuser`."""
        return (self._connection.parameter_status(name.encode()) or b"").decode()

    def launch(self, sql: str, parameters: Sequence[Value] | None = None) -> None:
        self._outcomes.clear()
        self._warnings.clear()
        self._unsent = unsendable(sql)
        if self._unsent or not self.alive:
            return
        self._sent = sql
        try:
            if parameters is None:
                self._connection.send_query(sql.encode())
            else:
                self._connection.send_query_params(sql.encode(), [encode(value) for value in parameters])
            while self._connection.flush():
                # More than the socket takes at once. An idle server reads on, so this ends.
                _wait_for(self._descriptor, select.POLLIN | select.POLLOUT, ANSWER_LIMIT_S)
                self._connection.consume_input()
        except PsycopgError as error:
            self._lose(str(error))

    def poll(self) -> Reply | None:
        if self._unsent:
            return Reply(self._unsent, self.transaction)
        try:
            complete = not self.alive or self._receive()
        except PsycopgError as error:
            self._lose(*(self._last_words() or (str(error),)))
            complete = True
        return self._reply() if complete else None

    def _last_words(self) -> tuple[str, str] | None:
        """What the server said before it cut the connection, which is the better reason, and its code."""
        with suppress(PsycopgError):
            while (result := self._connection.get_result()) is not None:
                self._outcomes.append(self._outcome(result))
        said = [one for one in self._outcomes if isinstance(one, Failed) and one.code]
        return (said[-1].message, said[-1].code) if said else None

    def _receive(self) -> bool:
        """Take what has come; whether that was all."""
        connection = self._connection
        connection.consume_input()
        while not connection.is_busy():
            result = connection.get_result()
            if result is None:
                return True
            self._outcomes.append(self._outcome(result))
            if not self.alive:
                return True
        return False

    def _reply(self) -> Reply:
        """The answer as a whole: the first error, else the last result."""
        before, self.transaction = self.transaction, self._state()
        outcome = next((out for out in self._outcomes if isinstance(out, Failed)), None) or (
            self._outcomes[-1] if self._outcomes else Affected(0)
        )
        if self._lost:
            outcome, self._lost = self._lost, _GONE
        elif isinstance(outcome, Failed):
            extent = undone(before, self.transaction)
            outcome = Failed(outcome.kind, outcome.code, outcome.message, extent)
        if self._succeeded is not None and not isinstance(outcome, Failed):
            self._succeeded(self._sent)
        self._note_notifications()
        parts = tuple(self._outcomes) if self.alive and len(self._outcomes) > 1 else ()
        return Reply(outcome, self.transaction, tuple(self._warnings), parts)

    def _outcome(self, result: pq.abc.PGresult) -> _Outcome:
        match result.status:
            case pq.ExecStatus.TUPLES_OK:
                return _rows(result)
            case pq.ExecStatus.COMMAND_OK | pq.ExecStatus.EMPTY_QUERY:
                if result.command_status == b"ROLLBACK" and kind_of(self._sent) not in _MAY_ANSWER_ROLLBACK:
                    return _NOT_COMMITTED
                return Affected(result.command_tuples or 0)
            case pq.ExecStatus.COPY_IN | pq.ExecStatus.COPY_OUT | pq.ExecStatus.COPY_BOTH:
                self._lose("COPY to or from the client is not spoken here; the session was dropped")
                self._lost = Failed(ErrorKind.UNSUPPORTED, "", "COPY with the client", Undone.CONNECTION)
                return self._lost
        return self._failure(result)

    def _failure(self, result: pq.abc.PGresult) -> Failed:
        sqlstate = _field(result, pq.DiagnosticField.SQLSTATE)
        message = _field(result, pq.DiagnosticField.MESSAGE_PRIMARY) or decode_text(result.error_message)
        if self._connection.status == pq.ConnStatus.BAD:
            self._lose(message, sqlstate)
        raised_in = _field(result, pq.DiagnosticField.SOURCE_FUNCTION)
        return Failed(classify(sqlstate, raised_in), sqlstate, message.strip(), Undone.NOTHING)

    def _note_notifications(self) -> None:
        """What others said by NOTIFY on channels that the session listens to."""
        while self.alive and (told := self._connection.notifies()) is not None:
            text = f'"{decode_text(told.relname)}" with payload "{decode_text(told.extra)}"'
            self._warnings.append(Warning("NOTIFY", "", text))

    def _note_warning(self, notice: pq.abc.PGresult) -> None:
        level = _field(notice, pq.DiagnosticField.SEVERITY_NONLOCALIZED)
        code = _field(notice, pq.DiagnosticField.SQLSTATE)
        self._warnings.append(Warning(level, code, _field(notice, pq.DiagnosticField.MESSAGE_PRIMARY)))

    def _state(self) -> TransactionState:
        return _STATES[self._connection.transaction_status] if self.alive else TransactionState.NONE

    def _lose(self, message: str, sqlstate: str = "") -> None:
        first_line = message.strip().splitlines()[0] if message.strip() else "the connection is gone"
        first_line = _DRIVER_PROSE.sub("", first_line)
        self._lost = Failed(ErrorKind.CONNECTION_LOST, sqlstate, first_line, Undone.CONNECTION)
        self.alive = False
        self._connection.finish()

    def has_news(self) -> bool:
        """Whether something came that was not polled yet."""
        return _wait_for(self._descriptor, select.POLLIN, 0)

    def fileno(self) -> int:
        return self._descriptor

    def close(self) -> None:
        if self.alive:
            self._lose("the session is closed")
        self.transaction = TransactionState.NONE

    def ask(self, sql: str, limit_s: float = ANSWER_LIMIT_S) -> list[Rows | Affected]:
        """Run acidtest's own statements and wait for all their results.

        Raises `RefusedError` with the DBMS's error, `TargetFailedError` if the server does not answer.
        """
        self.launch(sql)
        deadline = monotonic() + limit_s
        while (reply := self.poll()) is None:
            left = deadline - monotonic()
            if left <= 0:
                self.close()
                raise TargetFailedError(f"PostgreSQL did not answer within {limit_s:.0f} s")
            _wait_for(self._descriptor, select.POLLIN, left)
        if isinstance(reply.outcome, Failed):
            if not self.alive:
                raise TargetFailedError(f"the connection to PostgreSQL is lost: {reply.outcome.message}")
            raise RefusedError(reply.outcome)
        return [outcome for outcome in self._outcomes if not isinstance(outcome, Failed)]

    def rows(self, sql: str) -> Rows:
        """The one result set of a query of acidtest's own."""
        (result,) = self.ask(sql)
        assert isinstance(result, Rows)
        return result


class RefusedError(TargetFailedError):
    """PostgreSQL refused a statement of acidtest's own."""

    def __init__(self, failure: Failed) -> None:
        super().__init__(f"PostgreSQL refused: {failure.message} (SQLSTATE {failure.code})")
        self.failure = failure


def _wait_for(descriptor: int, events: int, limit_s: float) -> bool:
    """Wait for one of the events; whether it came. select() would refuse descriptors above 1023."""
    poller = select.poll()
    poller.register(descriptor, events)
    return bool(poller.poll(limit_s * 1000))


def _rows(result: pq.abc.PGresult) -> Rows:
    columns = range(result.nfields)
    decoders = [decoder(result.ftype(column)) for column in columns]
    rows = []
    for row in range(result.ntuples):
        raw = [result.get_value(row, column) for column in columns]
        rows.append(
            tuple(None if text is None else decode(text) for text, decode in zip(raw, decoders, strict=True))
        )
    names = tuple(decode_text(result.fname(column) or b"") for column in columns)
    return Rows(names, tuple(rows))


def _field(result: pq.abc.PGresult, field: pq.DiagnosticField) -> str:
    return decode_text(result.error_field(field) or b"")


def _connect(endpoint: Endpoint, database: str, settings: dict[str, str]) -> pq.abc.PGconn:
    """An open connection, or one sentence that says why there is none. libpq never quotes a password."""
    host, port = _address(endpoint)
    parameters = {
        "host": host,
        "port": str(port),
        "user": endpoint.user,
        "password": endpoint.password,
        "dbname": database,
        "connect_timeout": str(CONNECT_LIMIT_S),
        "application_name": "acidtest",
        "options": " ".join(f"-c {name}={value}" for name, value in settings.items()),
    }
    text = " ".join(f"{name}={_conninfo_value(value)}" for name, value in parameters.items() if value)
    connection = pq.PGconn.connect(text.encode())
    if connection.status == pq.ConnStatus.OK:
        return connection
    first_line = decode_text(connection.error_message).strip().splitlines()[0]
    reason = first_line.rpartition(" failed: ")[2].removeprefix("FATAL:").strip()
    remedy = "check that it runs and takes connections there"
    if connection.needs_password or connection.used_password:
        remedy = "check the user and the password"
    connection.finish()
    raise TargetFailedError(
        f"cannot connect to PostgreSQL at {host}:{port} as {endpoint.user}: {reason}; {remedy}"
    )


def _conninfo_value(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _address(endpoint: Endpoint) -> tuple[str, int]:
    """Host and port as libpq wants them: for a socket its folder, and the port that is in its name."""
    if endpoint.socket is None:
        return endpoint.host, endpoint.port
    path = Path(endpoint.socket)
    if path.name.startswith(".s.PGSQL."):
        return str(path.parent), int(path.name.removeprefix(".s.PGSQL."))
    return str(path), endpoint.port
