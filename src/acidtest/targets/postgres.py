"""PostgreSQL 9.6 and later.

READ UNCOMMITTED exists by name and behaves as READ COMMITTED
(https://www.postgresql.org/docs/current/transaction-iso.html).
"""

from collections.abc import Sequence
from contextlib import suppress
from secrets import token_hex
from typing import Protocol

from acidtest.errors import TargetFailedError, UsageError
from acidtest.model import Level, Rows, Schema, State, TransactionState, freeze_state, sort_rows
from acidtest.servers.base import Endpoint
from acidtest.sql import may_leave_session_traces
from acidtest.targets import postgres_catalog
from acidtest.targets.base import Session, Target, Waits, Watch
from acidtest.targets.postgres_session import PostgresSession, RefusedError
from acidtest.targets.sqltext import quote

MARK = "made by acidtest; dropped when it ends"
"""The comment on a database that acidtest may drop."""

DEADLOCK_TIMEOUT_MS = 10
"""How long a session waits before it looks for a deadlock; the default of a second would be a pause."""

REFILLS_BETWEEN_TRUNCATES = 200
"""DELETE is the cheaper way to empty a small table, but leaves dead rows that later scans have to skip."""

LOG_LINES = 40

_OLDEST_VERSION = 90600


class RunningServer(Protocol):
    """A server of our own, which can be brought back and whose log can be read."""

    @property
    def endpoint(self) -> Endpoint: ...
    def restart(self) -> None: ...
    def stop(self) -> None: ...
    def log_tail(self, lines: int) -> str: ...


class PostgresWatch(Watch):
    """One question for all sessions in flight, on a connection of its own."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session
        self._suspects: dict[int, Session] = {}
        blocking = "pg_blocking_pids(pid)"
        if session.version_number >= 100000:
            # What SERIALIZABLE READ ONLY DEFERRABLE waits for is no lock.
            blocking += " || pg_safe_snapshot_blocking_pids(pid)"
        session.ask(
            "PREPARE acidtest_waits (int[]) AS SELECT pid, blockers FROM"
            f" (SELECT pid, {blocking} AS blockers FROM unnest($1) AS pid) AS asked WHERE blockers <> '{{}}'"
        )

    def ask(self, suspects: Sequence[Session]) -> None:
        self._suspects = {one.pid: one for one in suspects if isinstance(one, PostgresSession)}
        self._session.launch(f"EXECUTE acidtest_waits ('{{{','.join(map(str, self._suspects))}}}')")

    def answer(self) -> Waits | None:
        reply = self._session.poll()
        if reply is None:
            return None
        if not isinstance(reply.outcome, Rows):
            raise TargetFailedError(f"PostgreSQL does not say who waits: {reply.outcome}")
        return {self._suspects[int(str(pid))]: self._sessions(str(pids)) for pid, pids in reply.outcome.rows}

    def _sessions(self, pids: str) -> frozenset[Session]:
        """From `{12,34}`; a blocker that is no suspect is idle in its transaction, or not ours at all."""
        numbers = [int(pid) for pid in pids.strip("{}").split(",")]
        return frozenset(self._known[pid] for pid in numbers if pid in self._known)

    def fileno(self) -> int:
        return self._session.fileno()
