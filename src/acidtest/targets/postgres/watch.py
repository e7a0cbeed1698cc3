"""Who waits for whom on PostgreSQL."""

from collections.abc import Mapping, Sequence

from acidtest.errors import TargetFailedError
from acidtest.model import Rows
from acidtest.targets.base import ForeignSession, Session, Waits, Watch
from acidtest.targets.postgres.session import PostgresSession

PREPARED = 0
"""What stands for a prepared transaction among those that block: it has no backend."""


class PostgresWatch(Watch):
    """One question for all sessions in flight, on a connection of its own, to another database: what works
    concurrently (REINDEX, DETACH) waits for every transaction of its own one, and must not wait for this."""

    def __init__(self, session: PostgresSession, sessions: Mapping[int, Session]) -> None:
        self._session = session
        self._sessions = sessions
        blocking = "pg_blocking_pids(pid)"
        if session.version_number >= 100000:
            # What SERIALIZABLE READ ONLY DEFERRABLE waits for is no lock.
            blocking += " || pg_safe_snapshot_blocking_pids(pid)"
        session.ask(
            "PREPARE acidtest_waits (int[]) AS SELECT pid, blockers FROM"
            f" (SELECT pid, array_remove({blocking}, pg_backend_pid()) AS blockers"
            " FROM unnest($1) AS pid) AS asked WHERE cardinality(blockers) > 0"
        )

    def ask(self, suspects: Sequence[Session]) -> None:
        pids = ",".join(map(str, filter(None, map(_number, suspects))))
        self._session.launch(f"EXECUTE acidtest_waits ('{{{pids}}}')")
        if not self._session.alive:
            raise TargetFailedError("the connection that watches was lost")

    def answer(self) -> Waits | None:
        reply = self._session.poll()
        if reply is None:
            return None
        if not isinstance(reply.outcome, Rows):
            raise TargetFailedError(f"PostgreSQL does not say who waits: {reply.outcome}")
        waits: dict[Session, frozenset[Session]] = {}
        for pid, pids in reply.outcome.rows:
            numbers = {int(number) for number in str(pids).strip("{}").split(",")}
            named = frozenset(self._sessions[one] for one in numbers if one in self._sessions)
            # Who waits for a backend of somebody else, such as autovacuum, goes on without any step of ours.
            if named or PREPARED in numbers:
                waits[self._sessions[int(str(pid))]] = named
        return waits

    def fileno(self) -> int:
        return self._session.fileno()

    def close(self) -> None:
        self._session.close()


def _number(session: Session) -> int | None:
    if isinstance(session, PostgresSession):
        return session.pid
    return session.number if isinstance(session, ForeignSession) else None
