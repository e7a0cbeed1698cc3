"""Who waits for whom on PostgreSQL."""

from collections.abc import Mapping, Sequence

from acidtest.errors import TargetFailedError
from acidtest.model import Rows
from acidtest.targets.base import Session, Waits, Watch
from acidtest.targets.postgres.session import PostgresSession


class PostgresWatch(Watch):
    """One question for all sessions in flight, on a connection of its own."""

    def __init__(self, session: PostgresSession, sessions: Mapping[int, Session]) -> None:
        self._session = session
        self._sessions = sessions
        blocking = "pg_blocking_pids(pid)"
        if session.version_number >= 100000:
            # What SERIALIZABLE READ ONLY DEFERRABLE waits for is no lock.
            blocking += " || pg_safe_snapshot_blocking_pids(pid)"
        session.ask(
            "PREPARE acidtest_waits (int[]) AS SELECT pid, blockers FROM"
            f" (SELECT pid, {blocking} AS blockers FROM unnest($1) AS pid) AS asked"
            " WHERE cardinality(blockers) > 0"
        )

    def ask(self, suspects: Sequence[Session]) -> None:
        pids = ",".join(str(one.pid) for one in suspects if isinstance(one, PostgresSession))
        self._session.launch(f"EXECUTE acidtest_waits ('{{{pids}}}')")
        if not self._session.alive:
            raise TargetFailedError("the connection that watches was lost")

    def answer(self) -> Waits | None:
        reply = self._session.poll()
        if reply is None:
            return None
        if not isinstance(reply.outcome, Rows):
            raise TargetFailedError(f"PostgreSQL does not say who waits: {reply.outcome}")
        return {self._sessions[int(str(pid))]: self._named(str(pids)) for pid, pids in reply.outcome.rows}

    def _named(self, pids: str) -> frozenset[Session]:
        """The sessions of `{12,34}`; backends that are not ours have no name here."""
        numbers = map(int, pids.strip("{}").split(","))
        return frozenset(self._sessions[pid] for pid in numbers if pid in self._sessions)

    def fileno(self) -> int:
        return self._session.fileno()

    def close(self) -> None:
        self._session.close()
