"""Watches of the family: the question each server understands, and how its answer is read."""

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import ClassVar

from acidtest.errors import TargetFailedError, UsageError
from acidtest.targets.base import Session, Waits, Watch
from acidtest.targets.mysql_family.innodb import read_status, transactions_of
from acidtest.targets.mysql_family.locks import Lock, ThreadWaits, metadata_conflict, who_blocks
from acidtest.targets.mysql_family.replies import ConnectionLostError, Refused, Result, ResultSet
from acidtest.targets.mysql_family.session import MySQLSession
from acidtest.targets.mysql_family.wire import Wire

STATE_SETTLES_S = 0.02
"""A thread that was let through shows its old state in the process list until it runs again. So a wait that
only the process list tells is believed if it is told for this long."""

_WAITING_STATE = re.compile(r"Waiting for .*(lock|flush)$|User lock$")

Rows = tuple[tuple[object, ...], ...]

Seen = tuple[ThreadWaits, frozenset[int]]
"""Waits that the server keeps book of, and threads that wait by their state in the process list."""


class FamilyWatch(Watch):
    """Asks on a connection of its own. Sessions are known by their thread numbers."""

    settles_s: ClassVar[float] = STATE_SETTLES_S

    def __init__(self, wire: Wire, sessions: Mapping[int, MySQLSession]) -> None:
        self._wire = wire
        self._sessions = sessions
        self._suspects: Sequence[Session] = ()
        self._doubtful: frozenset[int] | None = None
        self._asked_first = 0.0
        self._short = False

    @abstractmethod
    def question(self, suspects: Sequence[MySQLSession]) -> str:
        """What to send."""

    @abstractmethod
    def read(self, results: tuple[Result, ...]) -> Seen:
        """What the answer says, by thread numbers as in `sessions`."""

    def has_short_question(self) -> bool:
        """Whether a cheaper question can come first, whose answer counts only if it names all suspects."""
        return False

    def try_out(self) -> None:
        """Wait for the answer to a first question, to be sure that the user may ask it."""
        refused = self._wire.ask(self.question([]))[-1]
        if isinstance(refused, Refused):
            self.close()
            raise UsageError(
                f"{self._wire.label} does not tell the user who waits: {refused.message} ({refused.errno}); "
                "grant the privilege PROCESS, and SELECT on performance_schema"
            )

    def ask(self, suspects: Sequence[Session]) -> None:
        self._suspects = suspects
        self._doubtful = None
        self._asked_first = monotonic()
        self._short = self.has_short_question()
        self._send()

    def answer(self) -> Waits | None:
        try:
            results = self._wire.receive()
        except ConnectionLostError as error:
            raise self._gone(error) from error
        if results is None:
            return None
        if isinstance(results[-1], Refused):
            raise TargetFailedError(f"{self._wire.label} does not tell who waits: {results[-1].message}")
        waits, by_state = self.read(results)
        if self._short and not self._suspect_threads() <= waits.keys():
            self._short = False
            self._send()
            return None
        doubtful = by_state - waits.keys() & self._suspect_threads()
        self._doubtful = doubtful if self._doubtful is None else self._doubtful & doubtful
        if self._doubtful and monotonic() - self._asked_first < self.settles_s:
            self._send()
            return None
        return self._by_session({**dict.fromkeys(self._doubtful, frozenset()), **waits})

    def fileno(self) -> int:
        return self._wire.fileno()

    def close(self) -> None:
        self._wire.close()

    def _send(self) -> None:
        known = [session for session in self._suspects if isinstance(session, MySQLSession)]
        try:
            self._wire.query(self.question(known))
        except ConnectionLostError as error:
            raise self._gone(error) from error

    def _gone(self, error: ConnectionLostError) -> TargetFailedError:
        return TargetFailedError(f"{self._wire.label}: the connection that watches was lost ({error})")

    def _suspect_threads(self) -> set[int]:
        return {thread for thread, session in self._sessions.items() if session in self._suspects}

    def _by_session(self, waits: ThreadWaits) -> Waits:
        return {
            self._sessions[thread]: frozenset(
                self._sessions[other] for other in blockers if other in self._sessions
            )
            for thread, blockers in waits.items()
            if thread in self._sessions and self._sessions[thread] in self._suspects
        }


class StatusWatch(FamilyWatch):
    """MariaDB and MySQL before 8: InnoDB's status, and the process list for locks above InnoDB, which is
    asked only about sessions that InnoDB does not hold up."""

    def has_short_question(self) -> bool:
        return True

    def question(self, suspects: Sequence[MySQLSession]) -> str:
        del suspects
        status = "SHOW ENGINE INNODB STATUS"
        return status if self._short else f"{status}; SHOW PROCESSLIST"

    def read(self, results: tuple[Result, ...]) -> Seen:
        (_type, _name, status), *_ = rows_of(results[0])
        if self._short:
            return read_status(str(status)), frozenset()
        by_state = frozenset(int(str(row[0])) for row in rows_of(results[1]) if _waits_by_state(row[6]))
        return read_status(str(status)), by_state


class CountingWatch(StatusWatch):
    """The InnoDB of MySQL 5.7 and MariaDB 10.2: its status leaves out transactions that have only read, even
    while they wait for a row.

    A counter says how many wait in all. If as many suspects are missing from the status as waiters are, they
    are these, for whom they wait is not told. The counter goes down only when the waiter runs again."""

    def has_short_question(self) -> bool:
        return False

    def question(self, suspects: Sequence[MySQLSession]) -> str:
        return f"{super().question(suspects)}; SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'"

    def read(self, results: tuple[Result, ...]) -> Seen:
        waits, by_state = super().read(results)
        status = transactions_of(str(rows_of(results[0])[0][2]))
        missing = {one for one in self._suspect_threads() if f"MySQL thread id {one}," not in status}
        hidden = int(str(rows_of(results[2])[0][1])) - len(waits)
        if missing and hidden == len(missing):
            return waits, by_state | missing
        return waits, by_state


class PerformanceSchemaWatch(FamilyWatch):
    """MySQL 8 and later: performance_schema knows row locks and metadata locks with their owners.

    The thread numbers of row locks are not trusted: they name the thread that *created* a lock. The lock on a
    row just inserted is created by whoever stumbles over it, and a row that grows takes the requests of its
    waiters to a new place, where its writer creates them anew. The owner is the transaction, and the thread
    that owns the transaction is the one that created its table locks. Metadata locks are asked about only
    when row locks do not explain everything.
    """

    def __init__(self, wire: Wire, sessions: Mapping[int, MySQLSession]) -> None:
        super().__init__(wire, sessions)
        self._names: dict[object, int] = {}  # the server's inner thread numbers, which a connection keeps

    def has_short_question(self) -> bool:
        return self._sessions.keys() <= set(self._names.values())

    def question(self, suspects: Sequence[MySQLSession]) -> str:
        del suspects
        own = ", ".join(map(str, self._sessions)) or "0"
        # No joins: the server would begin with the threads, and a question would take 8 ms instead of 0.7.
        row_locks = (
            "SELECT REQUESTING_THREAD_ID, REQUESTING_ENGINE_TRANSACTION_ID, BLOCKING_ENGINE_TRANSACTION_ID"
            " FROM performance_schema.data_lock_waits;"
            "SELECT ENGINE_TRANSACTION_ID, THREAD_ID FROM performance_schema.data_locks"
            " WHERE LOCK_TYPE = 'TABLE'"
        )
        if self._short:
            return row_locks
        return (
            f"{row_locks};"
            "SELECT OWNER_THREAD_ID, OBJECT_TYPE, OBJECT_SCHEMA, OBJECT_NAME, LOCK_TYPE, LOCK_STATUS"
            " FROM performance_schema.metadata_locks;"
            "SELECT THREAD_ID, PROCESSLIST_ID, PROCESSLIST_STATE FROM performance_schema.threads"
            f" WHERE PROCESSLIST_ID IN ({own})"
        )

    def read(self, results: tuple[Result, ...]) -> Seen:
        row_waits = _row_waits(rows_of(results[0]), rows_of(results[1]))
        if self._short:
            return _in_names(self._names, row_waits), frozenset()
        tickets, threads = rows_of(results[2]), rows_of(results[3])
        self._names = {inner: _number(outer) for inner, outer, _state in threads}
        by_state = frozenset(self._names[inner] for inner, _outer, state in threads if _waits_unbooked(state))
        return _in_names(self._names, {**_ticket_waits(tickets), **row_waits}), by_state


def rows_of(result: Result) -> Rows:
    """The rows of an answer that must have some shape of rows."""
    if not isinstance(result, ResultSet):
        raise TargetFailedError(f"the server answered a question of the watch without rows: {result}")
    return result.rows


def _row_waits(waits: Rows, table_locks: Rows) -> dict[int, frozenset[int]]:
    """Each waiting thread with the threads whose transactions are in its way."""
    owners = {transaction: _number(thread) for transaction, thread in table_locks}
    blockers: dict[int, frozenset[int]] = {}
    for creator, waiter, blocker in waits:
        thread = owners.get(waiter, _number(creator))
        blockers[thread] = blockers.get(thread, frozenset()) | {owners[b] for b in (blocker,) if b in owners}
    return blockers


def _ticket_waits(tickets: Rows) -> ThreadWaits:
    """A ticket stays PENDING until its owner runs again, so it waits only while another is in its way."""
    locks = [
        Lock(_number(thread), tuple(thing), str(mode), waiting=status == "PENDING")
        for thread, *thing, mode, status in tickets
    ]
    return {thread: own for thread, own in who_blocks(locks, metadata_conflict).items() if own}


def _in_names(names: Mapping[object, int], waits: ThreadWaits) -> ThreadWaits:
    """The waits of our own sessions, in the numbers that connections go by."""
    return {
        names[thread]: frozenset(names[other] for other in blockers if other in names)
        for thread, blockers in waits.items()
        if thread in names
    }


def _number(value: object) -> int:
    return int(str(value)) if value is not None else 0


def _waits_by_state(state: object) -> bool:
    return state is not None and _WAITING_STATE.match(str(state)) is not None


def _waits_unbooked(state: object) -> bool:
    """A wait that has no metadata ticket, such as for a lock of a table without transactions."""
    return _waits_by_state(state) and not str(state).endswith(("metadata lock", "User lock"))
