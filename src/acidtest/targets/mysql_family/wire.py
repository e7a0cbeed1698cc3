"""One connection to a server of the family, used without waiting.

PyMySQL connects and authenticates; then its socket is ours: commands are written at once, and replies are
read from whatever bytes have come. See docs/drivers.md for the measurements behind this.
"""

import select
import socket
from collections.abc import Iterator

import pymysql
from pymysql.constants import CLIENT, COMMAND

from acidtest.errors import TargetFailedError, UsageError
from acidtest.servers.base import Endpoint
from acidtest.targets.mysql_family.replies import ConnectionLostError, ReplyReader, Result

ANSWER_LIMIT_S = 60.0
"""After this long without an answer to a question of our own, the server counts as hung."""

_CHUNK = 1 << 14  # larger ones cost more to allocate than they save
_PACKET_MAX = 0xFFFFFF
_NOT_ALLOWED = {1044, 1045, 1698}


class Wire:
    """Sends one command at a time and gathers its reply; only `ask` waits."""

    def __init__(self, endpoint: Endpoint, label: str, database: str | None, multi: bool = False) -> None:
        self.label = label
        self._connection = connect(endpoint, label, database, multi)
        self._socket: socket.socket = self._connection._sock  # type: ignore[attr-defined]
        self._socket.setblocking(False)
        self._reader = ReplyReader()
        self.thread_id: int = self._connection.thread_id()  # type: ignore[no-untyped-call]
        self.server_version: str = self._connection.get_server_info()  # type: ignore[no-untyped-call]

    def send(self, command: int, argument: bytes = b"") -> None:
        """Write a command. Waits only for the socket's buffer: a server reads a command before it works."""
        self._reader = ReplyReader()
        unsent = memoryview(b"".join(_packets(bytes((command,)) + argument)))
        try:
            while unsent:
                try:
                    unsent = unsent[self._socket.send(unsent) :]
                except BlockingIOError:
                    self._await(select.POLLOUT)
        except OSError as error:
            raise ConnectionLostError(str(error)) from error

    def query(self, sql: str) -> None:
        """Send SQL."""
        self.send(COMMAND.COM_QUERY, sql.encode())

    def receive(self) -> tuple[Result, ...] | None:
        """The results of the last command, or None while they are not wholly there."""
        while True:
            try:
                data = self._socket.recv(_CHUNK)
            except BlockingIOError:
                return None
            except OSError as error:
                raise ConnectionLostError(str(error)) from error
            if not data:
                raise ConnectionLostError("the server closed the connection")
            results = self._reader.feed(data)
            if results is not None:
                return results

    def wait(self) -> tuple[Result, ...]:
        """The results of the last command, waited for."""
        while (results := self.receive()) is None:
            self._await(select.POLLIN)
        return results

    def ask(self, sql: str) -> tuple[Result, ...]:
        """Send SQL and wait for its results. A lost connection is a `TargetFailedError`."""
        try:
            self.query(sql)
            return self.wait()
        except ConnectionLostError as error:
            raise TargetFailedError(f"{self.label}: the connection was lost ({error})") from error

    def fileno(self) -> int:
        """The socket's descriptor."""
        return self._socket.fileno()

    def close(self) -> None:
        """Drop the connection without a word, so that it never waits and never fails."""
        self._connection._force_close()  # type: ignore[attr-defined]

    def _await(self, event: int) -> None:
        poller = select.poll()
        poller.register(self._socket, event)
        if not poller.poll(ANSWER_LIMIT_S * 1000):
            raise TargetFailedError(f"{self.label} gave no answer within {ANSWER_LIMIT_S:.0f} s; is it hung?")


def connect(
    endpoint: Endpoint, label: str, database: str | None, multi: bool
) -> "pymysql.connections.Connection[pymysql.cursors.Cursor]":
    """Log in; failures in one sentence, without the password."""
    place = endpoint.socket or f"{endpoint.host}:{endpoint.port}"
    try:
        return pymysql.connect(
            unix_socket=endpoint.socket,
            host=endpoint.host,
            port=endpoint.port,
            user=endpoint.user,
            password=endpoint.password,
            database=database,
            charset="utf8mb4",
            autocommit=True,
            ssl_disabled=True,
            read_timeout=ANSWER_LIMIT_S,
            client_flag=CLIENT.MULTI_STATEMENTS if multi else 0,
        )
    except RuntimeError as error:  # PyMySQL's way to say that the login needs the package `cryptography`
        raise UsageError(
            f"{label} at {place}: the login of {endpoint.user!r} needs encryption ({error}); "
            "use a unix socket, or install the package cryptography"
        ) from error
    except pymysql.Error as error:
        raise _refusal(label, place, endpoint.user, error) from error


def _refusal(label: str, place: str, user: str, error: pymysql.Error) -> UsageError | TargetFailedError:
    errno = error.args[0] if error.args else 0
    text = str(error.args[-1]) if error.args else type(error).__name__
    if errno in _NOT_ALLOWED:
        return UsageError(f"{label} at {place} refuses user {user!r}: {text}; check user and password")
    if errno == 1040:
        return TargetFailedError(f"{label} at {place} is out of connections; raise its max_connections")
    return TargetFailedError(f"cannot reach {label} at {place}: {text}; is the server running there?")


def _packets(payload: bytes) -> Iterator[bytes]:
    """The payload in packets with their headers; a full packet says that another one follows."""
    number = 0
    while True:
        part, payload = payload[:_PACKET_MAX], payload[_PACKET_MAX:]
        yield len(part).to_bytes(3, "little") + bytes((number & 0xFF,))
        yield part
        if len(part) < _PACKET_MAX:
            return
        number += 1
