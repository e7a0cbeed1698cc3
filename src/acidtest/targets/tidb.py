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
from dataclasses import dataclass
from time import monotonic
from typing import ClassVar

from acidtest.errors import TargetFailedError
from acidtest.model import ErrorKind, Level, TransactionState, Value
from acidtest.targets.base import Session
from acidtest.targets.mysql_family.errors import FAMILY
from acidtest.targets.mysql_family.replies import Refused, Result
from acidtest.targets.mysql_family.session import MySQLSession
from acidtest.targets.mysql_family.target import FamilyTarget, run_in
from acidtest.targets.mysql_family.waits import FamilyWatch, Seen, rows_of
from acidtest.targets.mysql_family.wire import Wire

_NO_SUCH_TABLE = 1146
_BEGINS_S = 0.01
"""Longer than a lock takes that nobody holds."""
_WAITING = ("LockWaiting", "Committing")
_SAFE_POINT = "'tikv_gc_safe_point', '20060102-15:04:05 -0700'"
_UNKNOWN = 1105

_KINDS = {
    _UNKNOWN: ErrorKind.OTHER,  # any error that has no number of its own
    8001: ErrorKind.RESOURCES,  # memory
    8002: ErrorKind.WRITE_CONFLICT,  # of an optimistic locking read, which cannot be repeated
    8003: ErrorKind.INTERNAL,  # ADMIN CHECK TABLE: rows and index disagree
    8004: ErrorKind.RESOURCES,  # the transaction is too large
    8005: ErrorKind.WRITE_CONFLICT,
    8020: ErrorKind.LOCK_NOT_AVAILABLE,  # the table is locked
    8021: ErrorKind.INTERNAL,  # a key is gone
    8022: ErrorKind.WRITE_CONFLICT,  # COMMIT failed and may be tried again
    8023: ErrorKind.INTERNAL,
    8024: ErrorKind.TRANSACTION_STATE,
    8025: ErrorKind.RESOURCES,  # the row is too large
    8026: ErrorKind.UNSUPPORTED,
    8027: ErrorKind.SCHEMA_CHANGED,
    8028: ErrorKind.SCHEMA_CHANGED,
    8029: ErrorKind.TRUNCATION,
    8047: ErrorKind.UNSUPPORTED,
    8048: ErrorKind.UNSUPPORTED,  # an isolation level
    8055: ErrorKind.TRANSACTION_STATE,  # the snapshot is too old
    8056: ErrorKind.INTERNAL,
    8108: ErrorKind.UNSUPPORTED,
    8110: ErrorKind.UNSUPPORTED,
    8118: ErrorKind.INTERNAL,  # no executor could be built
    8121: ErrorKind.ACCESS,
    **dict.fromkeys(range(8133, 8142), ErrorKind.INTERNAL),  # rows and indexes would disagree
    8175: ErrorKind.RESOURCES,
    8176: ErrorKind.RESOURCES,
    8200: ErrorKind.UNSUPPORTED,
    8214: ErrorKind.CANCELLED,
    8216: ErrorKind.UNSUPPORTED,
    8217: ErrorKind.UNSUPPORTED,
    8223: ErrorKind.INTERNAL,  # rows and index disagree
    8227: ErrorKind.UNSUPPORTED,
    8229: ErrorKind.TRANSACTION_STATE,  # its time is over
    9001: ErrorKind.INTERNAL,
    9002: ErrorKind.INTERNAL,
    9003: ErrorKind.RESOURCES,
    9004: ErrorKind.LOCK_TIMEOUT,  # resolving locks took too long
    9005: ErrorKind.INTERNAL,
    9006: ErrorKind.TRANSACTION_STATE,  # older than what is kept of old versions
    9007: ErrorKind.WRITE_CONFLICT,
}
"""https://docs.pingcap.com/tidb/stable/error-codes"""

_PANIC = re.compile(
    r"runtime error|panic|invalid memory address|interface conversion|nil pointer", re.IGNORECASE
)
"""What Go says when the code of the server itself went wrong; the server goes on and keeps the connection."""

_GAVE_UP = "pessimistic lock retry limit reached"
"""Others took the rows again and again, until the statement had tried for `max-retry-count` times:
https://docs.pingcap.com/tidb/stable/tidb-configuration-file"""


@dataclass(slots=True)
class Wait:
    """A wait as it was first seen: since when, and which other transactions were open then."""

    since: str
    others: frozenset[str]
    seen_at: float
    ended_at: float | None = None
    """When it was noticed that one of them had ended."""


class TiDBWatch(FamilyWatch):
    """Transactions by their state, which says more than it knows: a lock that is being asked for counts as
    waited for, and one that was let through is said to wait for another millisecond, now and then for much
    longer. So a wait is sure if it is told for a while, and as long as all transactions are open that were so
    when it began; when one has ended, it counts only if it is still told a while later, and never if
    all that are open are said to wait. One that is at its COMMIT waits if it commits by itself, another
    session has a transaction open, and it stays there."""

    settles_s = 0.02  # longer than a COMMIT takes, and than a released session is mostly said to wait

    def __init__(self, wire: Wire, sessions: Mapping[int, MySQLSession]) -> None:
        super().__init__(wire, sessions)
        self._waits: dict[int, Wait] = {}

    def question(self, suspects: Sequence[MySQLSession]) -> str:
        del suspects
        return "SELECT SESSION_ID, STATE, ID, WAITING_START_TIME FROM information_schema.TIDB_TRX"

    def read(self, results: tuple[Result, ...]) -> Seen:
        rows = [
            (int(str(session)), str(state), str(own), str(since))
            for session, state, own, since in rows_of(results[0])
        ]
        is_open = frozenset(own for _session, _state, own, _since in rows)
        if not any(state not in _WAITING for _session, state, *_ in rows):
            return {}, frozenset()
        told = {
            session: Wait(since, is_open - {own}, monotonic())
            for session, state, own, since in rows
            if state == "LockWaiting"
        }
        known = self._waits
        self._waits = {
            session: known[session] if session in known and known[session].since == wait.since else wait
            for session, wait in told.items()
        }
        sure = [session for session, wait in self._waits.items() if self._is_sure(wait, is_open)]
        committing = [session for session, state, *_ in rows if state == "Committing"]
        by_state = {*self._waits, *filter(self._may_wait_at_commit, committing)}
        return dict.fromkeys(sure, frozenset()), frozenset(by_state)

    def _is_sure(self, wait: Wait, is_open: frozenset[str]) -> bool:
        now = monotonic()
        if wait.others <= is_open:
            return now - wait.seen_at >= _BEGINS_S
        wait.ended_at = wait.ended_at or now
        if now - wait.ended_at < self.settles_s:
            return False
        wait.others, wait.ended_at = wait.others & is_open, None  # it waits for one of the rest
        return True

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


class TiDBSession(MySQLSession):
    """A session of which some statements end without a number of their own when they are cancelled."""

    cancelled = False

    def launch(self, sql: str, parameters: Sequence[Value] | None = None) -> None:
        self.cancelled = False
        super().launch(sql, parameters)

    def kind_of(self, errno: int, message: str) -> ErrorKind:
        if errno == _UNKNOWN and self.cancelled:
            return ErrorKind.CANCELLED
        if errno == _UNKNOWN and _PANIC.search(message):
            return ErrorKind.INTERNAL
        if errno == _UNKNOWN and _GAVE_UP in message:
            return ErrorKind.LOCK_TIMEOUT
        return super().kind_of(errno, message)


class TiDBTarget(FamilyTarget):
    """TiDB in its default, pessimistic mode."""

    dbms = "tidb"
    levels: ClassVar[tuple[Level, ...]] = (Level.READ_COMMITTED, Level.REPEATABLE_READ)
    default_level = Level.REPEATABLE_READ
    kinds: ClassVar[Mapping[int, ErrorKind]] = {**FAMILY, **_KINDS}
    session_class = TiDBSession
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

    def minds_foreign_keys(self) -> bool:
        return self.version_number() >= (6, 6)  # before, it keeps them in mind and checks nothing

    def make_watch(self, wire: Wire, sessions: Mapping[int, MySQLSession]) -> FamilyWatch:
        refused = self._control.ask("SELECT 1 FROM information_schema.TIDB_TRX LIMIT 1")[-1]
        if isinstance(refused, Refused) and refused.errno == _NO_SUCH_TABLE:
            return BlindWatch(wire, sessions)
        return TiDBWatch(wire, sessions)

    def cancel(self, session: Session) -> None:
        if isinstance(session, TiDBSession):
            session.cancelled = True
        super().cancel(session)

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
