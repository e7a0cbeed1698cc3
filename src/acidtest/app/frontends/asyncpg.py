"""asyncpg: simple queries, queries with arguments, prepared statements, and transaction blocks."""

from importlib import import_module
from typing import Any

from acidtest.app.frontends.literals import inlined
from acidtest.app.frontends.patching import DriverLink, Links, Patches
from acidtest.app.gate import LinkError, Request, passing_async, rows_of
from acidtest.model import Affected, ErrorKind, Failed, Outcome, TransactionState, Undone
from acidtest.servers.base import Endpoint

MODULE = "asyncpg"


class AsyncpgLink(DriverLink):
    """An `asyncpg.Connection`."""

    is_async = True

    def __init__(self, connection: Any) -> None:
        super().__init__(connection, connection.get_server_pid())

    def endpoint(self) -> Endpoint:
        connection = self.connection
        address, parameters = connection._addr, connection._params
        is_socket = isinstance(address, str)
        return Endpoint(
            dbms="postgres",
            socket=address if is_socket else None,
            host="" if is_socket else address[0],
            port=0 if is_socket else address[1],
            user=parameters.user,
            password=parameters.password or "",
            database=parameters.database,
        )

    def transaction(self) -> TransactionState:
        connection = self.connection
        if connection is None or connection.is_closed():
            return TransactionState.NONE
        return TransactionState.OPEN if connection.is_in_transaction() else TransactionState.NONE

    def ask(self, sql: str) -> str:
        raise TypeError(f"an asyncpg connection is asked {sql!r} in a task")

    async def ask_async(self, sql: str) -> str:
        connection = self.connection
        try:
            if not sql.startswith(("SELECT", "SHOW")):
                await connection._protocol.query(sql, None)
                return ""
            rows, _ = await connection._Connection__execute(sql, (), 0, None)
        except Exception as error:
            raise LinkError(getattr(error, "sqlstate", "") or "", str(error)) from error
        return str(rows[0][0]) if rows else ""


def patch(patches: Patches) -> None:
    """Let statements of asyncpg come to the gate."""
    asyncpg = import_module(MODULE)
    prepared = import_module("asyncpg.prepared_stmt").PreparedStatement
    transaction = import_module("asyncpg.transaction")
    links = Links(AsyncpgLink)

    def simple(original: Any) -> Any:
        async def execute(self: Any, query: str, *args: Any, timeout: float | None = None) -> Any:
            if args:
                return await original(self, query, *args, timeout=timeout)  # comes to `_execute`

            async def send(instead: str | None) -> Any:
                return await original(self, instead or query, timeout=timeout)

            return await passing_async(
                links.of(self), Request(query.strip().rstrip(";")), send, _status, _failed
            )

        return execute

    def extended(original: Any) -> Any:
        async def _execute(self: Any, query: str, args: Any, *more: Any, **given: Any) -> Any:
            async def send(instead: str | None) -> Any:
                if instead is None:
                    return await original(self, query, args, *more, **given)
                return await original(self, instead, (), *more, **given)

            request = Request(inlined(query, args))
            return await passing_async(links.of(self), request, send, _rows, _failed)

        return _execute

    def bound(original: Any) -> Any:
        async def bind_execute(self: Any, args: Any, limit: int, timeout: float | None) -> Any:
            async def send(instead: str | None) -> Any:
                if instead is None:
                    return await original(self, args, limit, timeout)
                rows, _ = await self._connection._Connection__execute(instead, (), limit, timeout)
                return rows

            request = Request(inlined(self._query, args))
            return await passing_async(links.of(self._connection), request, send, _rows, _failed)

        return bind_execute

    def starting(original: Any) -> Any:
        async def start(self: Any) -> Any:
            connection = getattr(self._connection, "_con", self._connection)
            if links.of(connection).held_open and connection._top_xact is None:
                connection._top_xact = self
                self._state = transaction.TransactionState.STARTED
                return None
            return await original(self)

        return start

    patches.replace(asyncpg.Connection, "execute", simple)
    patches.replace(asyncpg.Connection, "_execute", extended)
    patches.replace(prepared, "_PreparedStatement__bind_execute", bound)
    patches.replace(transaction.Transaction, "start", starting)


def _status(answer: Any) -> Outcome:
    last = str(answer or "").rpartition(" ")[2]
    return Affected(int(last) if last.isdigit() else 0)


def _rows(answer: Any) -> Outcome:
    if isinstance(answer, tuple):  # with its status
        answer = answer[0]
    if not isinstance(answer, list) or not answer:
        return rows_of((), []) if isinstance(answer, list) else Affected(0)
    return rows_of(tuple(answer[0].keys()), [tuple(row.values()) for row in answer])


def _failed(error: BaseException) -> Failed:
    return Failed(ErrorKind.OTHER, getattr(error, "sqlstate", "") or "", str(error), Undone.NOTHING)
