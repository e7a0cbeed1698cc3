"""apsw in the clothes of the standard library's `sqlite3`, as far as the target for SQLite uses it.

apsw's wheels carry one release of SQLite each. Only a process that hosts such a release imports this module.
"""

import re
import sqlite3 as _standard
from collections.abc import Callable
from typing import Any

import apsw  # type: ignore[import-not-found, unused-ignore]

sqlite_version: str = apsw.sqlitelibversion()

Error = _standard.Error
Warning = _standard.Warning
OperationalError = _standard.OperationalError

_BUSY_TIMEOUT_MS = 1000
_PREFIX = re.compile(r"^\w+Error: ")  # of earlier releases of apsw


class Cursor:
    """The whole result of a statement."""

    def __init__(
        self, description: tuple[tuple[Any, ...], ...] | None, rows: list[Any], rowcount: int
    ) -> None:
        self.description = description
        self.rowcount = rowcount
        self._rows = rows

    def fetchall(self) -> list[Any]:
        return self._rows

    def fetchone(self) -> Any:
        return self._rows[0] if self._rows else None

    def close(self) -> None:
        """Nothing is held."""


class Connection:
    """A connection that runs every statement to its end."""

    def __init__(self, path: str, timeout: float) -> None:
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
        self._own = _translated(lambda: apsw.Connection(path, flags=flags))
        self._own.set_busy_timeout(int(timeout * _BUSY_TIMEOUT_MS))
        self.text_factory: Callable[[bytes], Any] | None = None

    def execute(self, sql: str) -> Cursor:
        done: Cursor = _translated(lambda: self._execute(sql))
        return done

    def _execute(self, sql: str) -> Cursor:
        before = self._own.total_changes()
        cursor = self._own.cursor()
        names: list[str] = []

        def note(prepared: Any, _sql: str, _bindings: Any) -> bool:
            names[:] = [column[0] for column in prepared.get_description()]
            return True

        cursor.set_exec_trace(note)  # afterwards the names of an empty result cannot be asked any more
        rows = list(cursor.execute(sql))
        description = tuple((name, None, None, None, None, None, None) for name in names) or None
        first = sql.lstrip()[:7].upper()
        counts = first.startswith(("INSERT", "UPDATE", "DELETE", "REPLACE"))
        changed = self._own.total_changes() - before
        return Cursor(description, rows, self._own.changes() if counts and changed else 0 if counts else -1)

    @property
    def in_transaction(self) -> bool:
        return bool(self._own.in_transaction)

    def set_progress_handler(self, handler: Callable[[], bool], every: int) -> None:
        self._own.set_progress_handler(handler, every)

    def close(self) -> None:
        _translated(lambda: self._own.close(True))

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def connect(
    path: object, *, uri: bool = False, isolation_level: None = None, timeout: float = 0
) -> Connection:
    """A connection in autocommit mode."""
    del uri, isolation_level
    return Connection(str(path), timeout)


def _translated(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except apsw.Error as error:
        told = _standard.OperationalError(_PREFIX.sub("", str(error)))
        code = getattr(error, "extendedresult", None)
        if code is not None:
            told.sqlite_errorcode = code
        raise told from None
