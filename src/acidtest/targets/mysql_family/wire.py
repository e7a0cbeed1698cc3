"""One connection to a server of the family, used without waiting.

PyMySQL connects and authenticates; then its socket is ours: commands are written at once, and replies are
read from whatever bytes have come. See docs/lab/drivers.md for the measurements behind this.
"""

import select
import socket
import ssl
from functools import lru_cache

import pymysql
from pymysql.constants import CLIENT, COMMAND

from acidtest.errors import TargetFailedError, UsageError
from acidtest.servers.base import Endpoint
from acidtest.targets.mysql_family.replies import (
    SHORT_REPLY,
    ConnectionLostError,
    ReplyReader,
    Result,
    read_short_reply,
)

ANSWER_LIMIT_S = 60.0
"""After this long without an answer to a question of our own, the server counts as hung."""
CONNECT_LIMIT_S = 10.0

_CHUNK = 1 << 14  # larger ones cost more to allocate than they save
_PACKET_MAX = 0xFFFFFF
_SHORT_QUERY = 1000
_Login = tuple["pymysql.connections.Connection[pymysql.cursors.Cursor]", socket.socket]
_NOT_NOW = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
_NOT_ALLOWED = {1044, 1045, 1698}


class Wire:
    """Sends one command at a time and gathers its reply; only `wait` and what is built on it waits."""

    def __init__(self, endpoint: Endpoint, label: str, database: str | None, multi: bool = False) -> None:
        self.label = label
        self._connection, self._socket = _log_in(endpoint, label, database, multi)
        self._socket.setblocking(False)
        self._reader: ReplyReader | None = None  # of the last command, once a part of its reply has come
        self.thread_id: int = self._connection.thread_id()  # type: ignore[no-untyped-call]

    def send(self, command: int, argument: bytes = b"") -> None:
        """Write a command. Waits only for the socket's buffer: a server reads a command before it works."""
        self._write(_in_packets(bytes((command,)) + argument))

    def query(self, sql: str) -> None:
        """Send SQL."""
        self._write(_short_query(sql) if len(sql) <= _SHORT_QUERY else _query_packets(sql))

    def _write(self, packets: bytes) -> None:
        self._reader = None
        unsent = memoryview(packets)
        try:
            while unsent:
                try:
                    unsent = unsent[self._socket.send(unsent) :]
                except _NOT_NOW:
                    self._await(select.POLLOUT)
        except OSError as error:
            raise ConnectionLostError(str(error)) from error

    def receive(self) -> tuple[Result, ...] | None:
        """The results of the last command, or None while they are not wholly there."""
        while True:
            try:
                data = self._socket.recv(_CHUNK)
            except _NOT_NOW:
                return None
            except OSError as error:
                raise ConnectionLostError(str(error)) from error
            if not data:
                raise ConnectionLostError("the server closed the connection")
            results = self._read(data)
            if results is not None:
                return results

    def _read(self, data: bytes) -> tuple[Result, ...] | None:
        if self._reader is None:
            if len(data) <= SHORT_REPLY and (results := read_short_reply(data)) is not None:
                return results
            self._reader = ReplyReader()
        return self._reader.feed(data)

    def wait(self) -> tuple[Result, ...]:
        """The results of the last command, waited for."""
        while True:
            self._await(select.POLLIN)
            if (results := self.receive()) is not None:
                return results

    def exchange(self, sql: str) -> tuple[Result, ...]:
        """Send SQL and wait for its results."""
        self.query(sql)
        return self.wait()

    def ask(self, sql: str) -> tuple[Result, ...]:
        """The same, for questions of our own: a lost connection is a `TargetFailedError`."""
        try:
            return self.exchange(sql)
        except ConnectionLostError as error:
            raise TargetFailedError(f"{self.label}: the connection was lost ({error})") from error

    def fileno(self) -> int:
        """The socket's descriptor."""
        return self._socket.fileno()

    def close(self) -> None:
        """Drop the connection without a word, so that it never waits and never fails."""
        self._connection._force_close()  # type: ignore[attr-defined]

    def has_news(self) -> bool:
        """Whether bytes wait to be received, or the end of the connection."""
        return self._ready(select.POLLIN, 0)

    def _ready(self, event: int, limit_s: float) -> bool:
        poller = select.poll()
        poller.register(self._socket, event)
        return bool(poller.poll(limit_s * 1000))

    def _await(self, event: int) -> None:
        if not self._ready(event, ANSWER_LIMIT_S):
            raise TargetFailedError(f"{self.label} gave no answer within {ANSWER_LIMIT_S:.0f} s; is it hung?")


def _log_in(
    endpoint: Endpoint, label: str, database: str | None, multi: bool, encrypted: bool = False
) -> _Login:
    """A connection with its socket; failures in one sentence, without the password.

    In clear where that can be, because it is faster; a password that the server has not seen for a while
    (caching_sha2_password over TCP) has to travel encrypted once.
    """
    place = endpoint.socket or f"{endpoint.host}:{endpoint.port}"
    connection = pymysql.connect(
        host=endpoint.host,
        port=endpoint.port,
        user=endpoint.user,
        password=endpoint.password,
        database=database,
        charset="utf8mb4",
        autocommit=True,
        ssl_disabled=not encrypted,
        read_timeout=ANSWER_LIMIT_S,
        client_flag=CLIENT.MULTI_STATEMENTS if multi else 0,
        defer_connect=True,
    )
    # Over a unix socket a password may travel as it is; PyMySQL knows that only of sockets it opened itself.
    connection._secure = endpoint.socket is not None  # type: ignore[attr-defined]
    try:
        connection.connect(_dial(endpoint))
    except OSError as error:
        raise TargetFailedError(f"cannot reach {label} at {place}: {error}; is it running there?") from error
    except RuntimeError as error:  # PyMySQL's way to say that this login must not be in clear
        if not encrypted:
            return _log_in(endpoint, label, database, multi, encrypted=True)
        raise UsageError(
            f"{label} at {place} takes the password of {endpoint.user!r} only encrypted, and offers no TLS; "
            "use a unix socket, or install the package cryptography"
        ) from error
    except pymysql.Error as error:
        raise _refusal(label, place, endpoint.user, error) from error
    return connection, connection._sock  # type: ignore[attr-defined]


def _dial(endpoint: Endpoint) -> socket.socket:
    """A connected socket, ours to close if that fails: PyMySQL would leave it open."""
    if endpoint.socket is None:
        dialled = socket.create_connection((endpoint.host, endpoint.port), CONNECT_LIMIT_S)
        dialled.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return dialled
    dialled = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        dialled.settimeout(CONNECT_LIMIT_S)
        dialled.connect(endpoint.socket)
    except OSError:
        dialled.close()
        raise
    return dialled


def _refusal(label: str, place: str, user: str, error: pymysql.Error) -> UsageError | TargetFailedError:
    errno = error.args[0] if error.args else 0
    text = str(error.args[-1]) if error.args else type(error).__name__
    if errno in _NOT_ALLOWED:
        return UsageError(f"{label} at {place} refuses user {user!r}: {text}; check user and password")
    if errno == 1040:
        return TargetFailedError(f"{label} at {place} is out of connections; raise its max_connections")
    return TargetFailedError(f"cannot reach {label} at {place}: {text}; is the server running there?")


def _query_packets(sql: str) -> bytes:
    return _in_packets(bytes((COMMAND.COM_QUERY,)) + sql.encode())


_short_query = lru_cache(maxsize=4096)(_query_packets)
"""The statements of a case come again in its other orders."""


def _in_packets(payload: bytes) -> bytes:
    """The payload in packets with their headers; a full packet says that another one follows."""
    packets = []
    for number, at in enumerate(range(0, len(payload) + 1, _PACKET_MAX)):
        part = payload[at : at + _PACKET_MAX]
        packets += [len(part).to_bytes(3, "little"), bytes((number & 0xFF,)), part]
    return b"".join(packets)
