"""psycopg 3, sync and async: cursors, commit and rollback, and transaction blocks.

The driver begins a transaction by itself before the first statement of one. That BEGIN takes no snapshot and
no lock, so it needs no turn of its own; the state of the connection tells that a transaction began.
"""

from importlib import import_module
from typing import Any

from acidtest.app.frontends.patching import LIBPQ_STATES, DriverLink, Links, Patches
from acidtest.app.gate import LinkError, Request, current, passing, passing_async, rows_of
from acidtest.model import Affected, ErrorKind, Failed, Outcome, TransactionState, Undone
from acidtest.servers.base import Endpoint

MODULE = "psycopg"


_GOOD = (1, 2)  # COMMAND_OK, TUPLES_OK
_SQLSTATE = ord("C")


class _Psycopg(DriverLink):
    def __init__(self, connection: Any) -> None:
        super().__init__(connection, connection.info.backend_pid)

    def endpoint(self) -> Endpoint:
        info = self.connection.info
        is_socket = info.host.startswith("/")
        return Endpoint(
            dbms="postgres",
            socket=info.host if is_socket else None,
            host=info.hostaddr or info.host,
            port=info.port,
            user=info.user,
            password=info.password,
            database=info.dbname,
        )

    def transaction(self) -> TransactionState:
        connection = self.connection
        if connection is None or connection.closed:
            return TransactionState.NONE
        return LIBPQ_STATES.get(int(connection.pgconn.transaction_status), TransactionState.NONE)

    def ask(self, sql: str) -> str:
        result = self.connection.pgconn.exec_(sql.encode())  # waits for no lock, so a task may do it too
        if result.status not in _GOOD:
            raise LinkError((result.error_field(_SQLSTATE) or b"").decode(), result.error_message.decode())
        return (result.get_value(0, 0) or b"").decode() if result.ntuples else ""


class SyncLink(_Psycopg):
    """A `psycopg.Connection`."""


class AsyncLink(_Psycopg):
    """A `psycopg.AsyncConnection`."""

    is_async = True


def patch(patches: Patches) -> None:
    """Let statements of psycopg 3 come to the gate."""
    psycopg = import_module(MODULE)
    transaction = import_module("psycopg.transaction")
    _patch_sync(patches, psycopg, transaction, Links(SyncLink))
    _patch_async(patches, psycopg, transaction, Links(AsyncLink))


def _patch_sync(patches: Patches, psycopg: Any, transaction: Any, links: Links[Any]) -> None:
    def executing(original: Any) -> Any:
        def execute(self: Any, query: Any, params: Any = None, **options: Any) -> Any:
            def send(instead: str | None) -> Any:
                if instead is None:
                    return original(self, query, params, **options)
                return original(self, instead, None, **options)

            link = links.of(self.connection)
            return passing(link, _request(self, query, params), send, _outcome, _failed)

        return execute

    def many(original: Any) -> Any:
        def executemany(self: Any, query: Any, params_seq: Any, **options: Any) -> Any:
            values = list(params_seq)
            texts = [_request(self, query, params).sql for params in values]

            def send(instead: str | None) -> Any:
                del instead
                original(self, query, values, **options)
                return self

            return (
                passing(links.of(self.connection), Request(";\n".join(texts)), send, _outcome, _failed)
                and None
            )

        return executemany

    def ending(word: str) -> Any:
        def make(original: Any) -> Any:
            def end(self: Any) -> Any:
                link = links.of(self)
                if link.transaction() is TransactionState.NONE:
                    return original(self)
                return passing(
                    link,
                    Request(word, is_control=True),
                    lambda _: original(self),
                    _done,
                    _failed,
                    lambda: None,
                )

            return end

        return make

    def block(word: str) -> Any:
        def make(original: Any) -> Any:
            def enter_or_exit(self: Any, *args: Any) -> Any:
                link = links.of(self.connection)
                text = _block_text(self, word, args, link)
                if text is None:
                    if (gate := current()) is not None:
                        gate.opening(link)
                    return original(self, *args)
                request = Request(text, is_control=True)
                return passing(link, request, lambda _: original(self, *args), _done, _failed)

            return enter_or_exit

        return make

    for cursor in (psycopg.Cursor, psycopg.ServerCursor):
        if "execute" in vars(cursor):
            patches.replace(cursor, "execute", executing)
    patches.replace(psycopg.Cursor, "executemany", many)
    patches.replace(psycopg.Connection, "commit", ending("COMMIT"))
    patches.replace(psycopg.Connection, "rollback", ending("ROLLBACK"))
    patches.replace(transaction.Transaction, "__enter__", block("enter"))
    patches.replace(transaction.Transaction, "__exit__", block("exit"))
    patches.replace(psycopg.Connection, "_set_autocommit", _keeping_autocommit(links))
    patches.replace(psycopg.Connection, "set_autocommit", _keeping_autocommit(links))


def _keeping_autocommit(links: Links[Any]) -> Any:
    """Where the gate holds one transaction open over the whole operation, the driver must not mind it."""

    def make(original: Any) -> Any:
        def set_autocommit(self: Any, value: bool) -> Any:
            if getattr(links.of(self), "held_open", False):
                self._autocommit = bool(value)
                return None
            return original(self, value)

        return set_autocommit

    return make


def _patch_async(patches: Patches, psycopg: Any, transaction: Any, links: Links[Any]) -> None:
    def executing(original: Any) -> Any:
        async def execute(self: Any, query: Any, params: Any = None, **options: Any) -> Any:
            async def send(instead: str | None) -> Any:
                if instead is None:
                    return await original(self, query, params, **options)
                return await original(self, instead, None, **options)

            link = links.of(self.connection)
            return await passing_async(link, _request(self, query, params), send, _outcome, _failed)

        return execute

    def ending(word: str) -> Any:
        def make(original: Any) -> Any:
            async def end(self: Any) -> Any:
                link = links.of(self)
                if link.transaction() is TransactionState.NONE:
                    return await original(self)

                async def send(_: str | None) -> Any:
                    return await original(self)

                return await passing_async(link, Request(word, is_control=True), send, _done, _failed)

            return end

        return make

    def block(word: str) -> Any:
        def make(original: Any) -> Any:
            async def enter_or_exit(self: Any, *args: Any) -> Any:
                link = links.of(self.connection)
                text = _block_text(self, word, args, link)
                if text is None:
                    if (gate := current()) is not None:
                        await gate.opening_async(link)
                    return await original(self, *args)

                async def send(_: str | None) -> Any:
                    return await original(self, *args)

                return await passing_async(link, Request(text, is_control=True), send, _done, _failed)

            return enter_or_exit

        return make

    for cursor in (psycopg.AsyncCursor, psycopg.AsyncServerCursor):
        if "execute" in vars(cursor):
            patches.replace(cursor, "execute", executing)
    patches.replace(psycopg.AsyncConnection, "commit", ending("COMMIT"))
    patches.replace(psycopg.AsyncConnection, "rollback", ending("ROLLBACK"))
    patches.replace(transaction.AsyncTransaction, "__aenter__", block("enter"))
    patches.replace(transaction.AsyncTransaction, "__aexit__", block("exit"))


def _block_text(block: Any, word: str, args: tuple[Any, ...], link: DriverLink) -> str | None:
    """What entering or leaving a `with connection.transaction()` sends; None if it is nothing to wait for."""
    if word == "enter" and link.held_open:
        return None  # its savepoint stands for a BEGIN, which has no turn
    outermost = block._outer_transaction if word == "exit" else block.pgconn.transaction_status == 0
    if word == "enter":
        return None if outermost else f"SAVEPOINT {block.savepoint_name or 'block'}"
    failed = bool(args and args[0]) or block.force_rollback
    if outermost:
        return "ROLLBACK" if failed else "COMMIT"
    return f"{'ROLLBACK TO' if failed else 'RELEASE'} {block.savepoint_name or 'block'}"


def _request(cursor: Any, query: Any, params: Any) -> Request:
    psycopg = import_module(MODULE)
    connection = cursor.connection
    text = query if isinstance(query, str) else None
    if text is None:
        text = query.decode() if isinstance(query, bytes) else query.as_string(connection)
    if params is None:
        return Request(text)
    return Request(str(psycopg.ClientCursor(connection).mogrify(text, params)))


def _outcome(cursor: Any) -> Outcome:
    result = cursor.pgresult
    if result is None or not result.nfields:
        return Affected(max(cursor.rowcount, 0))
    columns = tuple(one.name for one in cursor.description or ())
    return rows_of(columns, cursor._tx.load_rows(0, result.ntuples, tuple))


def _done(_: Any) -> Outcome:
    return Affected(0)


def _failed(error: BaseException) -> Failed:
    code = getattr(error, "sqlstate", None) or ""
    return Failed(ErrorKind.OTHER, code, str(error).split("\n", maxsplit=1)[0], Undone.NOTHING)
