"""psycopg2: its connections and cursors are made of C, so `connect` is given classes of ours."""

from functools import lru_cache
from importlib import import_module
from typing import Any

from acidtest.app.frontends.patching import LIBPQ_STATES, DriverLink, Links, Patches
from acidtest.app.gate import LinkError, Request, passing, rows_of
from acidtest.model import Affected, ErrorKind, Failed, Outcome, TransactionState, Undone
from acidtest.servers.base import Endpoint

MODULE = "psycopg2"


class Psycopg2Link(DriverLink):
    """A `psycopg2` connection."""

    def __init__(self, connection: Any) -> None:
        super().__init__(connection, connection.get_backend_pid())

    def endpoint(self) -> Endpoint:
        info = self.connection.info
        host = info.host or "localhost"
        return Endpoint(
            dbms="postgres",
            socket=host if host.startswith("/") else None,
            host=host,
            port=info.port,
            user=info.user,
            password=info.password or "",
            database=info.dbname,
        )

    def transaction(self) -> TransactionState:
        connection = self.connection
        if connection is None or connection.closed:
            return TransactionState.NONE
        return LIBPQ_STATES.get(connection.get_transaction_status(), TransactionState.NONE)

    def ask(self, sql: str) -> str:
        connection = self.connection
        extensions = import_module("psycopg2.extensions")
        was_idle = self.transaction() is TransactionState.NONE
        begins = was_idle and not connection.autocommit and not sql.startswith("BEGIN")
        try:
            with extensions.cursor(connection) as cursor:
                cursor.execute(sql)
                answer = str(cursor.fetchone()[0]) if cursor.description else ""
        except Exception as error:
            raise LinkError(getattr(error, "pgcode", None) or "", str(error)) from error
        if begins:
            extensions.connection.commit(connection)  # the driver began a transaction for it
        return answer


def patch(patches: Patches) -> None:
    """Let statements of connections that are opened from now on come to the gate."""
    links = Links(Psycopg2Link)

    def connecting(original: Any) -> Any:
        def connect(
            dsn: Any = None, connection_factory: Any = None, cursor_factory: Any = None, **given: Any
        ) -> Any:
            base = connection_factory or import_module("psycopg2.extensions").connection
            made = original(dsn, connection_factory=_gated_connection(base), **given)
            if cursor_factory is not None:
                made.cursor_factory = cursor_factory
            return made

        return connect

    @lru_cache
    def _gated_connection(base: Any) -> Any:
        class GatedConnection(base):  # type: ignore[misc]
            def cursor(self, *args: Any, cursor_factory: Any = None, **given: Any) -> Any:
                plain = import_module("psycopg2.extensions").cursor
                wanted = cursor_factory or self.cursor_factory or plain
                return super().cursor(*args, cursor_factory=_gated_cursor(wanted), **given)

            def commit(self) -> None:
                self._end("COMMIT", super().commit)

            def rollback(self) -> None:
                self._end("ROLLBACK", super().rollback)

            def _end(self, word: str, end: Any) -> None:
                link = links.of(self)
                if link.transaction() is TransactionState.NONE:
                    end()
                    return
                passing(link, Request(word, is_control=True), lambda _: end(), _done, _failed, lambda: None)

        return GatedConnection

    @lru_cache
    def _gated_cursor(base: Any) -> Any:
        class GatedCursor(base):  # type: ignore[misc]
            def execute(self, query: Any, vars: Any = None) -> Any:
                text = self.mogrify(query, vars).decode("utf-8", "replace")

                def send(instead: str | None) -> Any:
                    if instead is None:
                        super(GatedCursor, self).execute(query, vars)
                    else:
                        super(GatedCursor, self).execute(instead)
                    return self

                passing(links.of(self.connection), Request(text), send, _outcome, _failed)

        return GatedCursor

    module = import_module(MODULE)
    patches.replace(module, "connect", connecting)


def _outcome(cursor: Any) -> Outcome:
    if cursor.description is None or cursor.name is not None:
        return Affected(max(cursor.rowcount, 0))
    rows = cursor.fetchall()
    if rows:
        cursor.scroll(0, mode="absolute")
    return rows_of(tuple(one[0] for one in cursor.description), [tuple(row) for row in rows])


def _done(_: Any) -> Outcome:
    return Affected(0)


def _failed(error: BaseException) -> Failed:
    code = getattr(error, "pgcode", None) or ""
    return Failed(ErrorKind.OTHER, code, str(error).split("\n", maxsplit=1)[0], Undone.NOTHING)
