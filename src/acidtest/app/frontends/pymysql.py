"""PyMySQL: every statement goes through `Connection.query`; commit, rollback, begin and autocommit beside
it."""

from importlib import import_module
from typing import Any

from acidtest.app.frontends.patching import DriverLink, Links, Patches
from acidtest.app.gate import LinkError, Request, passing, rows_of
from acidtest.model import Affected, ErrorKind, Failed, Outcome, TransactionState, Undone
from acidtest.servers.base import Endpoint
from acidtest.sql import StatementKind, kind_of

MODULE = "pymysql.connections"
_IN_TRANSACTION = 1  # SERVER_STATUS_IN_TRANS
_ENDS = (StatementKind.COMMIT, StatementKind.ROLLBACK)


class PyMySQLLink(DriverLink):
    """A `pymysql.connections.Connection`."""

    query: Any = None
    """What sends a statement past the gate."""
    send_autocommit: Any = None

    def __init__(self, connection: Any) -> None:
        super().__init__(connection, connection.thread_id())
        self.has_read = False
        """Whether a query has begun a transaction: PyMySQL does not keep the status that comes with rows."""

    def endpoint(self) -> Endpoint:
        connection = self.connection
        database = connection.db.decode() if isinstance(connection.db, bytes) else connection.db
        user = connection.user.decode() if isinstance(connection.user, bytes) else connection.user
        password = connection.password or b""
        version = str(connection.get_server_info())
        return Endpoint(
            dbms="mariadb" if "MariaDB" in version else "mysql",
            socket=connection.unix_socket or None,
            host=connection.host,
            port=connection.port,
            user=user or "",
            password=password.decode("latin1") if isinstance(password, bytes) else password,
            database=database or "",
        )

    def transaction(self) -> TransactionState:
        connection = self.connection
        if connection is None or not connection.open:
            return TransactionState.NONE
        is_open = connection.server_status & _IN_TRANSACTION or self.has_read
        return TransactionState.OPEN if is_open else TransactionState.NONE

    def ask(self, sql: str) -> str:
        connection = self.connection
        kept = connection._result, connection._affected_rows
        try:
            type(self).query(connection, sql)
            rows = connection._result.rows
        except Exception as error:
            number = str(error.args[0]) if error.args else ""
            raise LinkError(number, str(error)) from error
        finally:
            connection._result, connection._affected_rows = kept
        self.has_read = self.has_read and kind_of(sql) not in _ENDS
        return "" if not rows else str(rows[0][0])

    def released(self) -> None:
        self.has_read = False
        type(self).send_autocommit(self.connection)


def patch(patches: Patches) -> None:
    """Let statements of PyMySQL come to the gate."""
    connection_class = import_module(MODULE).Connection
    links = Links(PyMySQLLink)
    PyMySQLLink.query = staticmethod(connection_class.query)
    PyMySQLLink.send_autocommit = staticmethod(connection_class._send_autocommit_mode)

    def querying(original: Any) -> Any:
        def query(self: Any, sql: Any, unbuffered: bool = False) -> Any:
            if self.server_thread_id is None or not self.server_thread_id[0]:
                return original(self, sql, unbuffered)
            text = sql.decode(self.encoding, "replace") if isinstance(sql, bytes | bytearray) else sql

            def send(instead: str | None) -> Any:
                count = original(self, sql if instead is None else instead, unbuffered)
                kind = kind_of(text)
                link.has_read = kind not in _ENDS and (
                    link.has_read or (kind is StatementKind.QUERY and not self.get_autocommit())
                )
                return self, count

            link = links.of(self)
            return passing(link, Request(text), send, _outcome, failure)[1]

        return query

    def ending(word: str) -> Any:
        def make(original: Any) -> Any:
            def end(self: Any) -> Any:
                link = links.of(self)
                if link.transaction() is TransactionState.NONE:
                    return original(self)

                def send(_: str | None) -> None:
                    original(self)
                    link.has_read = False

                return passing(link, Request(word, is_control=True), send, done, failure, lambda: None)

            return end

        return make

    def beginning(original: Any) -> Any:
        def begin(self: Any) -> Any:
            request = Request("BEGIN", is_control=True)
            return passing(links.of(self), request, lambda _: original(self), done, failure, lambda: None)

        return begin

    def autocommit(original: Any) -> Any:
        def send_autocommit_mode(self: Any) -> Any:
            link = links.of(self)
            if link.held_open:
                return None
            link.has_read = link.has_read and not self.autocommit_mode  # it commits
            return original(self)

        return send_autocommit_mode

    patches.replace(connection_class, "query", querying)
    patches.replace(connection_class, "commit", ending("COMMIT"))
    patches.replace(connection_class, "rollback", ending("ROLLBACK"))
    patches.replace(connection_class, "begin", beginning)
    patches.replace(connection_class, "_send_autocommit_mode", autocommit)


def _outcome(sent: Any) -> Outcome:
    connection, count = sent
    result = connection._result
    if result is None or result.description is None:
        return Affected(max(int(count or 0), 0))
    return rows_of(tuple(one[0] for one in result.description), result.rows or ())


def done(_: Any) -> Outcome:
    """What a COMMIT comes to."""
    return Affected(0)


def failure(error: BaseException) -> Failed:
    """An error of a driver of the family."""
    code = str(error.args[0]) if error.args and isinstance(error.args[0], int) else ""
    message = str(error.args[1]) if len(error.args) > 1 else str(error)
    return Failed(ErrorKind.OTHER, code, message, Undone.NOTHING)
