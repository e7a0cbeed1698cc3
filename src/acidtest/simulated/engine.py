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
from acidtest.simulated import faults, savepoints
from acidtest.simulated.behaviours import LOCKING, Behaviour
from acidtest.simulated.definitions import define
from acidtest.simulated.faults import Fault, Planted
from acidtest.simulated.locks import LockTable
from acidtest.simulated.plans import known_shape
from acidtest.simulated.problems import MustWait, StatementFailed, unsupported
from acidtest.simulated.storage import Database, Transaction
from acidtest.simulated.worker import Attempt
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
        if self.transaction is None:
            return TransactionState.NONE
        return TransactionState.FAILED if self.transaction.failed else TransactionState.OPEN

    @property
    def transactions(self) -> set[Transaction]:
        """Its open transaction, and that of a waiting statement outside of one."""
        found = {self.transaction, self.waiting.transaction if self.waiting else None}
        return {one for one in found if one is not None}


class Engine:
    """All of the DBMS. `outbox` names connections in the order in which their replies came."""

    def __init__(self, behaviour: Behaviour = LOCKING) -> None:
        self._behaviour = behaviour
        self._planted = Planted()
        self._waiters: list[Connection] = []
        self.outbox: deque[Connection] = deque()
        self.empty()

    # -- what is not SQL

    def empty(self) -> None:
        """Drop all tables, and with them all locks."""
        self._database = Database(self._planted)
        self._locks = LockTable(self._planted)
        self._worker = self._behaviour.worker(self._database, self._locks, self._planted)

    def clear(self, name: str) -> None:
        """Remove all rows of a table without a trace; no transaction may have written there."""
        self._database.heaps[name].rows.clear()

    def set_up(self, statements: Sequence[str], fault: Fault | None) -> tuple[str, Failed] | None:
        """Run statements without any fault and then plant `fault`; the first that fails, and how."""
        self._planted.fault = None
        client = Connection(self._behaviour.levels[-1])
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
        kind = kind_of(sql)
        if client.state is TransactionState.FAILED and not _ends_failure(kind, sql):
            failure = StatementFailed(ErrorKind.TRANSACTION_STATE, "the transaction has failed")
            self._post(client, failure.outcome(Undone.NOTHING))
        elif kind in (StatementKind.QUERY, StatementKind.WRITE):
            self._start(client, sql)
        else:
            self._launch_control(client, sql.strip())
        self._resume_waiters()

    def cancel(self, client: Connection) -> None:
        """Stop the statement that waits, if there is one."""
        if client.waiting:
            cancelled = StatementFailed(ErrorKind.CANCELLED, "it was cancelled")
            self._fail(client, client.waiting.transaction, cancelled)
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
        transaction = client.transaction or Transaction(client.level, implicit=True)
        opens = transaction.snapshot is None
        point = self._worker.launch(transaction)
        try:
            shape = known_shape(sql)
        except StatementFailed as failure:
            self._fail(client, transaction, failure)
        else:
            self._try(client, Attempt(transaction, sql, shape, point=point, opens=opens))

    def _try(self, client: Connection, attempt: Attempt) -> bool:
        """Let a statement go on; whether it came to its end."""
        try:
            outcome = self._worker.run(attempt)
        except MustWait as wait:
            return self._wait(client, attempt, wait.blockers)
        except StatementFailed as failure:
            self._fail(client, attempt.transaction, failure)
        except EvaluationError as error:
            self._fail(client, attempt.transaction, StatementFailed(error.kind, error.detail))
        except Unknown as unknown:
            self._fail(client, attempt.transaction, unsupported(unknown.reason))
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

    def _fail(self, client: Connection, transaction: Transaction, failure: StatementFailed) -> None:
        """A statement failed, and with it perhaps all that its transaction did."""
        self._stop_waiting(client)
        undone = Undone.STATEMENT
        if transaction.implicit:
            self._finish(transaction, commit=False)
        elif self._behaviour.errors_fail_transaction:
            self._give_up(transaction)
            undone = Undone.TRANSACTION
        self._post(client, failure.outcome(undone))

    def _give_up(self, transaction: Transaction) -> None:
        """Take back what was done since the last savepoint; all but going back or ROLLBACK is refused now."""
        transaction.failed = True
        if not self._planted.has(faults.FAILED_TRANSACTION_KEPT):
            self._database.undo(transaction, savepoints.last_position(transaction))
        if not transaction.savepoints:
            self._locks.release(transaction)

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
        failure = StatementFailed(ErrorKind.DEADLOCK, "it closed a circle of waits")
        if self._behaviour.errors_fail_transaction:
            self._fail(client, attempt.transaction, failure)
            return True
        self._stop_waiting(client)
        self._finish(attempt.transaction, commit=self._planted.has(faults.DEADLOCK_VICTIM_KEPT))
        client.transaction = None
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
        self._worker.ended(transaction, commit)

    def _end(self, client: Connection, commit: bool) -> None:
        """End the client's transaction; raises `StatementFailed` if its COMMIT is refused."""
        transaction, client.transaction = client.transaction, None
        if transaction is None:
            return
        if commit and transaction.failed:
            kept = self._planted.has(faults.FAILED_TRANSACTION_KEPT)
            self._finish(transaction, commit=kept)
            raise StatementFailed(ErrorKind.TRANSACTION_STATE, "the transaction had failed")
        try:
            if commit:
                self._worker.before_commit(transaction)
        except StatementFailed:
            self._finish(transaction, commit=self._planted.has(faults.REFUSED_COMMIT_KEPT))
            raise
        self._finish(transaction, commit)

    def _launch_control(self, client: Connection, sql: str) -> None:
        """Run a statement that does not work on rows."""
        transaction = client.transaction
        try:
            self._control(client, sql)
        except StatementFailed as failure:
            if client.transaction is None and transaction is not None:
                self._post(client, failure.outcome(Undone.TRANSACTION))
            elif transaction is None:
                self._post(client, failure.outcome())
            else:
                self._fail(client, transaction, failure)
        else:
            self._post(client, Affected(0))

    def _control(self, client: Connection, sql: str) -> None:
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
                savepoints.add(client.transaction, match[1].lower(), self._behaviour.savepoints_stack)
        elif match := _BACK_TO.fullmatch(sql):
            self._roll_back_to(client.transaction, match[1].lower())
        elif match := _RELEASE.fullmatch(sql):
            savepoints.drop(client.transaction, match[1].lower(), itself=True)
        else:
            raise unsupported(f"the statement {sql!r}")

    def _roll_back_to(self, transaction: Transaction | None, name: str) -> None:
        transaction, position = savepoints.drop(transaction, name, itself=False)
        transaction.failed = False
        if self._planted.has(faults.SAVEPOINT_TOO_DEEP):
            position = max(0, position - 1)
        if self._planted.has(faults.SAVEPOINT_TOO_SHALLOW):
            position += 1
        self._database.undo(transaction, position)
        self._worker.went_back(transaction)
        if self._planted.has(faults.SAVEPOINT_RELEASES_LOCKS):
            self._locks.release(transaction)


def _ends_failure(kind: StatementKind, sql: str) -> bool:
    """Whether a transaction that has failed takes the statement: ROLLBACK, going back, COMMIT as ROLLBACK."""
    return (
        kind in (StatementKind.COMMIT, StatementKind.ROLLBACK) or _BACK_TO.fullmatch(sql.strip()) is not None
    )
