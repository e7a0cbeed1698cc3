"""OceanBase seekdb: one server process that speaks the MySQL protocol, with an engine of its own.

How it differs from MySQL, as measured on 1.4:

- READ UNCOMMITTED is accepted and behaves as READ COMMITTED, so it is not offered as a level.
- REPEATABLE READ and SERIALIZABLE are snapshots: a write to a row that changed since fails with 6235.
- A deadlock is found after 8 to 15 s, often later than the statement's own limit (ob_query_timeout, 10 s);
  on a server of ours the detector runs as often as in OceanBase itself, and it takes up to 0.6 s. The
  victim's transaction stays open and refuses every statement until ROLLBACK.
- KILL QUERY reaches a statement that waits for a row only when the wait ends.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from acidtest.model import ErrorKind, Level, TransactionState
from acidtest.targets.mysql_family.errors import FAMILY
from acidtest.targets.mysql_family.replies import Result
from acidtest.targets.mysql_family.session import MySQLSession
from acidtest.targets.mysql_family.target import FamilyTarget
from acidtest.targets.mysql_family.waits import FamilyWatch, Seen, rows_of
from acidtest.targets.mysql_family.wire import Wire

_KINDS = {
    4012: ErrorKind.CANCELLED,  # ob_query_timeout
    4016: ErrorKind.INTERNAL,
    4030: ErrorKind.RESOURCES,
    6002: ErrorKind.TRANSACTION_STATE,  # COMMIT of a transaction that was undone
    6211: ErrorKind.TRANSACTION_STATE,
    6224: ErrorKind.TRANSACTION_STATE,
    6235: ErrorKind.SERIALIZATION_FAILURE,
}


class SeekDBSession(MySQLSession):
    """A session whose transaction a deadlock leaves open and useless."""

    def state_after(self, kind: ErrorKind, in_transaction: bool) -> TransactionState:
        if in_transaction and kind is ErrorKind.DEADLOCK:
            return TransactionState.FAILED
        return super().state_after(kind, in_transaction)


class SeekDBWatch(FamilyWatch):
    """The virtual table of row-lock waits names the session that holds the lock."""

    def question(self, suspects: Sequence[MySQLSession]) -> str:
        del suspects
        return (
            "SELECT session_id, holder_session_id FROM oceanbase.__all_virtual_lock_wait_stat"
            " WHERE need_wait = 1"
        )

    def read(self, results: tuple[Result, ...]) -> Seen:
        waits: dict[int, frozenset[int]] = {}
        for waiter, holder in rows_of(results[0]):
            thread = int(str(waiter))
            waits[thread] = waits.get(thread, frozenset()) | {int(str(holder))}
        return waits, frozenset()


class SeekDBTarget(FamilyTarget):
    """seekdb."""

    dbms = "seekdb"
    levels = (Level.READ_COMMITTED, Level.REPEATABLE_READ, Level.SERIALIZABLE)
    default_level = Level.READ_COMMITTED
    kinds: ClassVar[Mapping[int, ErrorKind]] = {**FAMILY, **_KINDS}
    session_class = SeekDBSession
    has_events = False

    def prepare_server(self) -> None:
        if self._server is not None:  # a setting of the whole server: not ours to change on another's
            self._control.ask("ALTER SYSTEM SET _lcl_op_interval = '30ms'")

    def make_watch(self, wire: Wire, sessions: Mapping[int, MySQLSession]) -> FamilyWatch:
        return SeekDBWatch(wire, sessions)
