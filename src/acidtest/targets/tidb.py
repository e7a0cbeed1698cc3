"""TiDB 4.0 and later: how it differs from MySQL.

- READ COMMITTED and REPEATABLE READ (a snapshot taken at BEGIN) are all it has; the others fail with 8048.
  https://docs.pingcap.com/tidb/stable/transaction-isolation-levels
- A transaction is pessimistic (it locks as it goes) or optimistic (a conflict is found at COMMIT: 9007).
  Plain BEGIN is of the target's mode, which is set for every session: with the embedded store, 6.1 and older
  have none. In optimistic mode READ COMMITTED has no effect, so REPEATABLE READ is the only level there.
  https://docs.pingcap.com/tidb/stable/optimistic-transaction
- Who waits is in TIDB_TRX, from 5.1 on; DATA_LOCK_WAITS, which also names the one waited for, lags by a
  second and often stays empty, so no blocker is named. An older server tells nothing: what waits overruns.
- A statement that commits by itself is optimistic in either mode. When a lock is in its way it is at its
  COMMIT, and tries again with growing pauses: up to a quarter of a second after the lock is gone.
- KILL needs the word TIDB before 7.3.
"""

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar

from acidtest.errors import TargetFailedError
from acidtest.model import ErrorKind, Level, TransactionState
from acidtest.targets.mysql_family.errors import FAMILY
from acidtest.targets.mysql_family.replies import Refused, Result
from acidtest.targets.mysql_family.session import MySQLSession
from acidtest.targets.mysql_family.target import FamilyTarget, run_in
from acidtest.targets.mysql_family.waits import FamilyWatch, Seen, rows_of
from acidtest.targets.mysql_family.wire import Wire

_WAITS_ARE_TOLD_SINCE = (5, 1, 0)
_SAFE_POINT = "'tikv_gc_safe_point', '20060102-15:04:05 -0700'"

_KINDS = {
    1105: ErrorKind.OTHER,  # any error that has no number of its own
    8002: ErrorKind.WRITE_CONFLICT,  # of an optimistic locking read, which cannot be repeated
    8005: ErrorKind.WRITE_CONFLICT,
    8022: ErrorKind.WRITE_CONFLICT,  # COMMIT failed and may be tried again
    8028: ErrorKind.SCHEMA_CHANGED,
    8029: ErrorKind.TRUNCATION,
    8048: ErrorKind.UNSUPPORTED,  # an isolation level
    8108: ErrorKind.UNSUPPORTED,
    8175: ErrorKind.RESOURCES,
    8200: ErrorKind.UNSUPPORTED,
    9001: ErrorKind.INTERNAL,
    9003: ErrorKind.RESOURCES,
    9004: ErrorKind.LOCK_TIMEOUT,  # resolving locks took too long
    9005: ErrorKind.INTERNAL,
    9006: ErrorKind.TRANSACTION_STATE,  # older than what is kept of old versions
    9007: ErrorKind.WRITE_CONFLICT,
}


class TiDBWatch(FamilyWatch):
    """Transactions by their state. One that is at its COMMIT waits if it commits by itself, another session
    has a transaction open, and it stays there."""

    settles_s = 0.05  # a COMMIT under way looks the same as one that waits

    def question(self, suspects: Sequence[MySQLSession]) -> str:
        del suspects
        return "SELECT SESSION_ID, STATE FROM information_schema.TIDB_TRX"

    def read(self, results: tuple[Result, ...]) -> Seen:
        states = {int(str(session)): str(state) for session, state in rows_of(results[0])}
        waiting = [session for session, state in states.items() if state == "LockWaiting"]
        committing = [session for session, state in states.items() if state == "Committing"]
        return dict.fromkeys(waiting, frozenset()), frozenset(filter(self._may_wait_at_commit, committing))

    def _may_wait_at_commit(self, thread: int) -> bool:
        own = self._sessions.get(thread)
        if own is None or own.transaction is not TransactionState.NONE:
            return False
        return any(one.transaction is TransactionState.OPEN for one in self._sessions.values())


class BlindWatch(FamilyWatch):
    """A server that does not tell who waits."""

    def question(self, suspects: Sequence[MySQLSession]) -> str:
        del suspects
        return "SELECT 1"

    def read(self, results: tuple[Result, ...]) -> Seen:
        del results
        return {}, frozenset()


class TiDBTarget(FamilyTarget):
    """TiDB in its default, pessimistic mode."""

    dbms = "tidb"
    levels: ClassVar[tuple[Level, ...]] = (Level.READ_COMMITTED, Level.REPEATABLE_READ)
    default_level = Level.REPEATABLE_READ
    kinds: ClassVar[Mapping[int, ErrorKind]] = {**FAMILY, **_KINDS}
    kill = "KILL TIDB"
    mode: ClassVar[str] = "pessimistic"

    def prepare_server(self) -> None:
        """Go by TiDB's own version: the server puts that of the MySQL it resembles in front."""
        found = re.search(r"TiDB-v?(\d\S*)", self.version)
        if found is not None:
            self.version = f"{found[1]}-TiDB"
        if self._server is not None:
            # a cluster's store keeps this row; without it tidb_snapshot cannot be set on the embedded one
            self._control.ask(f"INSERT IGNORE INTO mysql.tidb VALUES ({_SAFE_POINT}, '')")

    def make_watch(self, wire: Wire, sessions: Mapping[int, MySQLSession]) -> FamilyWatch:
        commit_build = self.version_number()[:2] == (0, 0)
        told = commit_build or self.version_number() >= _WAITS_ARE_TOLD_SINCE
        return TiDBWatch(wire, sessions) if told else BlindWatch(wire, sessions)

    def settings(self) -> Mapping[str, str]:
        return {"tidb_txn_mode": self.mode}

    def _session_wire(self) -> Wire:
        wire = super()._session_wire()
        refused = wire.ask(self._set_mode())[-1]
        if isinstance(refused, Refused):
            wire.close()
            raise TargetFailedError(f"{self.label} refuses the mode {self.mode}: {refused.message}")
        return wire

    def _reset(self, session: MySQLSession) -> None:
        super()._reset(session)
        run_in(session, self._set_mode())

    def _set_mode(self) -> str:
        return f"SET SESSION tidb_txn_mode = '{self.mode}'"


class OptimisticTiDBTarget(TiDBTarget):
    """TiDB in optimistic mode: `tidb@VERSION?mode=optimistic`."""

    levels = (Level.REPEATABLE_READ,)
    mode = "optimistic"
