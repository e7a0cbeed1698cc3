"""The simulated DBMS: connections, transactions, and who waits for whom.

One statement is under way at a time. One that must wait is tried again from scratch, in the order in which
the waiters came, whenever something has happened; it then works on what is committed by then.
"""

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from acidtest.evaluator import EvaluationError, Unknown
from acidtest.model import (
    Affected,
    ErrorKind,
    Failed,
    Level,
    Reply,
    Row,
    Rows,
    Schema,
    TransactionState,
    Undone,
)
from acidtest.simulated import faults
from acidtest.simulated.definitions import define
from acidtest.simulated.faults import Fault, Planted
from acidtest.simulated.locks import LockTable
from acidtest.simulated.plans import known_shape
from acidtest.simulated.problems import MustWait, StatementFailed, unsupported
from acidtest.simulated.statements import Attempt, Worker
from acidtest.simulated.storage import Database, Transaction
from acidtest.sql import StatementKind, kind_of

_NAME = r"`?(\w+)`?"
_BEGIN = re.compile(
    r"(?:BEGIN(?:\s+WORK)?|START\s+TRANSACTION)"
    r"(?P<snapshot>\s+WITH\s+CONSISTENT\s+SNAPSHOT)?(?P<only>\s+READ\s+ONLY)?(?:\s+READ\s+WRITE)?",
    re.IGNORECASE,
)
_END = re.compile(r"(COMMIT|ROLLBACK)(?:\s+WORK)?", re.IGNORECASE)
_SAVEPOINT = re.compile(rf"SAVEPOINT\s+{_NAME}", re.IGNORECASE)
_BACK_TO = re.compile(rf"ROLLBACK(?:\s+WORK)?\s+TO(?:\s+SAVEPOINT)?\s+{_NAME}", re.IGNORECASE)
_RELEASE = re.compile(rf"RELEASE\s+SAVEPOINT\s+{_NAME}", re.IGNORECASE)
_SET_LEVEL = re.compile(
    r"SET\s+SESSION\s+TRANSACTION\s+ISOLATION\s+LEVEL\s+"
    r"(READ\s+UNCOMMITTED|READ\s+COMMITTED|REPEATABLE\s+READ|SERIALIZABLE)",
    re.IGNORECASE,
)


@dataclass(slots=True, eq=False)
class Connection:
    """A client: its level, its transaction, the statement that waits, and the reply that lies ready."""

    level: Level = Level.REPEATABLE_READ
    transaction: Transaction | None = None
    waiting: Attempt | None = None
    blockers: frozenset[Transaction] = frozenset()
    reply: Reply | None = None

    @property
    def state(self) -> TransactionState:
        """Where its transaction stands."""
        return TransactionState.OPEN if self.transaction else TransactionState.NONE

    @property
    def transactions(self) -> set[Transaction]:
        """Its open transaction, and that of a waiting statement outside of one."""
        found = {self.transaction, self.waiting.transaction if self.waiting else None}
        return {one for one in found if one is not None}


class Engine:
    """All of the DBMS. `outbox` names connections in the order in which their replies came."""

    def __init__(self) -> None:
        self._planted = Planted()
        self._waiters: list[Connection] = []
        self.outbox: deque[Connection] = deque()
        self.empty()

    # -- what is not SQL

    def empty(self) -> None:
        """Drop all tables, and with them all locks."""
        self._database = Database(self._planted)
        self._locks = LockTable(self._planted)
        self._worker = Worker(self._database, self._locks, self._planted)

    def clear(self, name: str) -> None:
        """Remove all rows of a table without a trace; no transaction may have written there."""
        self._database.heaps[name].rows.clear()

    def set_up(self, statements: Sequence[str], fault: Fault | None) -> tuple[str, Failed] | None:
        """Run statements without any fault and then plant `fault`; the first that fails, and how."""
        self._planted.fault = None
        client = Connection()
        try:
            for sql in statements:
                self.launch(client, sql)
                outcome = self.take_reply(client).outcome
                if isinstance(outcome, Failed):
                    return sql, outcome
            return None
        finally:
            self.disconnect(client)
            self._database.settle()
            self._planted.fault = fault

    def take_reply(self, client: Connection) -> Reply:
        """The reply to a statement; one that waits is cancelled."""
        self.cancel(client)
        assert client.reply is not None
        reply, client.reply = client.reply, None
        self.outbox.remove(client)
        return reply

    @property
    def schema(self) -> Schema:
        """The tables."""
        return self._database.schema

    def committed_rows(self, name: str) -> list[Row]:
        """The rows of a table that a new transaction would find."""
        return self._database.committed_rows(name)

    def waits(self) -> dict[Connection, frozenset[Transaction]]:
        """Which connections wait, and for which transactions."""
        return {client: client.blockers for client in self._waiters}

    # -- what a client can do

    def launch(self, client: Connection, sql: str) -> None:
        """Begin a statement; its reply comes now, or when those it waits for are gone."""
        try:
            if kind_of(sql) in (StatementKind.QUERY, StatementKind.WRITE):
                self._start(client, sql)
            else:
                self._control(client, sql.strip())
                self._post(client, Affected(0))
        except StatementFailed as failure:
            self._post(client, failure.outcome())
        self._resume_waiters()

    def cancel(self, client: Connection) -> None:
        """Stop the statement that waits, if there is one."""
        if client.waiting:
            self._fail(client, client.waiting, StatementFailed(ErrorKind.CANCELLED, "it was cancelled"))
            self._resume_waiters()

    def disconnect(self, client: Connection) -> None:
        """The client is gone: undo what it did not commit."""
        for transaction in client.transactions:
            self._finish(transaction, commit=False)
        self._stop_waiting(client)
        client.transaction = client.reply = None
        if client in self.outbox:
            self.outbox.remove(client)
        self._resume_waiters()

    # -- statements on rows

    def _start(self, client: Connection, sql: str) -> None:
        shape = known_shape(sql)
        transaction = client.transaction or Transaction(client.level, implicit=True)
        self._try(client, Attempt(transaction, sql, shape))

    def _try(self, client: Connection, attempt: Attempt) -> bool:
        """Let a statement go on; whether it came to its end."""
        try:
            outcome = self._worker.run(attempt)
        except MustWait as wait:
            return self._wait(client, attempt, wait.blockers)
        except StatementFailed as failure:
            self._fail(client, attempt, failure)
        except EvaluationError as error:
            self._fail(client, attempt, StatementFailed(error.kind, error.detail))
        except Unknown as unknown:
            self._fail(client, attempt, unsupported(unknown.reason))
        else:
            self._succeed(client, attempt, outcome)
        return True

    def _succeed(self, client: Connection, attempt: Attempt, outcome: Rows | Affected) -> None:
        self._stop_waiting(client)
        if attempt.transaction.implicit:
            self._finish(attempt.transaction, commit=True)
        elif self._planted.has(faults.LOCKS_END_WITH_STATEMENT):
            self._locks.release(attempt.transaction)
        self._post(client, outcome)

    def _fail(self, client: Connection, attempt: Attempt, failure: StatementFailed) -> None:
        self._stop_waiting(client)
        if attempt.transaction.implicit:
            self._finish(attempt.transaction, commit=False)
        self._post(client, failure.outcome())

    def _post(self, client: Connection, outcome: Rows | Affected | Failed) -> None:
        client.reply = Reply(outcome, client.state)
        self.outbox.append(client)

    # -- waits

    def _wait(self, client: Connection, attempt: Attempt, blockers: frozenset[Transaction]) -> bool:
        """Let a statement wait; whether that came to an end at once, by a deadlock."""
        attempt.waited = True
        client.waiting, client.blockers = attempt, blockers
        if client not in self._waiters:
            self._waiters.append(client)
        if not self._waits_for_itself(attempt.transaction):
            return False
        self._stop_waiting(client)
        self._finish(attempt.transaction, commit=self._planted.has(faults.DEADLOCK_VICTIM_KEPT))
        client.transaction = None
        failure = StatementFailed(ErrorKind.DEADLOCK, "it closed a circle of waits")
        self._post(client, failure.outcome(Undone.TRANSACTION))
        return True

    def _waits_for_itself(self, transaction: Transaction) -> bool:
        waits = {client.waiting.transaction: client.blockers for client in self._waiters if client.waiting}
        reached: set[Transaction] = set()
        frontier = set(waits[transaction])
        while frontier:
            reached |= frontier
            frontier = {far for near in frontier for far in waits.get(near, ())} - reached
        return transaction in reached

    def _stop_waiting(self, client: Connection) -> None:
        client.waiting, client.blockers = None, frozenset()
        if client in self._waiters:
            self._waiters.remove(client)

    def _resume_waiters(self) -> None:
        """Try all that wait, first come first; from the start again when one of them came to its end."""
        while any(self._try(client, client.waiting) for client in list(self._waiters) if client.waiting):
            pass

    # -- transactions

    def _finish(self, transaction: Transaction, commit: bool) -> None:
        """End a transaction and release its locks."""
        if commit:
            self._database.commit(transaction)
        else:
            self._database.roll_back(transaction)
        self._locks.release(transaction)

    def _end(self, client: Connection, commit: bool) -> None:
        if client.transaction:
            self._finish(client.transaction, commit)
        client.transaction = None

    def _control(self, client: Connection, sql: str) -> None:
        """Run a statement that does not work on rows."""
        if kind_of(sql) is StatementKind.DDL:
            self._end(client, commit=True)
            define(self._database, sql)
        elif match := _BEGIN.fullmatch(sql):
            self._end(client, commit=True)
            client.transaction = Transaction(client.level, read_only=bool(match["only"]))
            self._worker.begin(client.transaction, consistent_snapshot=bool(match["snapshot"]))
        elif match := _END.fullmatch(sql):
            self._end(client, commit=match[1].upper() == "COMMIT")
        elif match := _SET_LEVEL.fullmatch(sql):
            client.level = Level.parse(match[1])
        elif match := _SAVEPOINT.fullmatch(sql):
            if client.transaction:
                _set_savepoint(client.transaction, match[1].lower())
        elif match := _BACK_TO.fullmatch(sql):
            self._roll_back_to(client.transaction, match[1].lower())
        elif match := _RELEASE.fullmatch(sql):
            _drop_savepoints(client.transaction, match[1].lower(), itself=True)
        else:
            raise unsupported(f"the statement {sql!r}")

    def _roll_back_to(self, transaction: Transaction | None, name: str) -> None:
        transaction, position = _drop_savepoints(transaction, name, itself=False)
        if self._planted.has(faults.SAVEPOINT_TOO_DEEP):
            position = max(0, position - 1)
        if self._planted.has(faults.SAVEPOINT_TOO_SHALLOW):
            position += 1
        self._database.undo(transaction, position)
        if self._planted.has(faults.SAVEPOINT_RELEASES_LOCKS):
            self._locks.release(transaction)


def _set_savepoint(transaction: Transaction, name: str) -> None:
    transaction.savepoints.pop(name, None)  # the old one of that name is gone
    transaction.savepoints[name] = len(transaction.log)


def _drop_savepoints(transaction: Transaction | None, name: str, *, itself: bool) -> tuple[Transaction, int]:
    """Forget the savepoints set after one, or that one too; the transaction, and where it was set."""
    if transaction is None or name not in transaction.savepoints:
        raise StatementFailed(ErrorKind.NO_SUCH_OBJECT, f"there is no savepoint {name}")
    position = transaction.savepoints[name]
    names = list(transaction.savepoints)
    for later in names[names.index(name) + (not itself) :]:
        del transaction.savepoints[later]
    return transaction, position
