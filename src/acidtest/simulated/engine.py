"""The simulated DBMS: connections, transactions, and who waits for whom.

One statement is under way at a time. One that must wait is tried again from scratch, in the order in which
the waiters came, whenever something has happened; it then works on what is committed by then.
"""

import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from sqlglot import exp

from acidtest.model import (
    Affected,
    ErrorKind,
    Failed,
    Level,
    Reply,
    Rows,
    Schema,
    TransactionState,
    Undone,
)
from acidtest.simulated import faults
from acidtest.simulated.definitions import created_index, created_table
from acidtest.simulated.faults import Fault, Planted
from acidtest.simulated.locks import LockTable
from acidtest.simulated.plans import GRAMMAR
from acidtest.simulated.problems import MustWait, StatementFailed, unsupported
from acidtest.simulated.statements import Attempt, Worker
from acidtest.simulated.storage import Database, Transaction
from acidtest.sql import StatementKind, kind_of
from acidtest.sql.evaluate import EvaluationError, Unknown
from acidtest.sql.shape import shape_of
from acidtest.sql.trees import parse

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

Answer = Rows | Affected | Failed


@dataclass(slots=True, eq=False)
class Connection:
    """A client: its level, its transaction, and the statement that waits. `reply` lies ready to be taken."""

    level: Level = Level.REPEATABLE_READ
    transaction: Transaction | None = None
    waiting: Attempt | None = None
    blockers: frozenset[Transaction] = frozenset()
    reply: Reply | None = None

    @property
    def state(self) -> TransactionState:
        """Where its transaction stands."""
        return TransactionState.OPEN if self.transaction else TransactionState.NONE


@dataclass(slots=True)
class Engine:
    """All of the DBMS. `outbox` names connections in the order in which their replies came."""

    planted: Planted = field(default_factory=Planted)
    outbox: deque[Connection] = field(default_factory=deque)
    _waiters: list[Connection] = field(default_factory=list)
    _database: Database = field(init=False)
    _locks: LockTable = field(init=False)
    _worker: Worker = field(init=False)

    def __post_init__(self) -> None:
        self.empty()

    # -- for the target

    def empty(self) -> None:
        """Drop all tables. No transaction may be open."""
        self._database = Database(self.planted)
        self._locks = LockTable(self.planted)
        self._worker = Worker(self._database, self._locks, self.planted)

    def set_up(self, statements: "list[str]", fault: Fault | None) -> Failed | None:
        """Run statements without any fault, and plant `fault` then; the error of one that fails."""
        self.planted.fault = None
        client = Connection()
        try:
            for sql in statements:
                outcome = self._answer_at_once(client, sql)
                if isinstance(outcome, Failed):
                    return outcome
            return None
        finally:
            self.disconnect(client)
            self._database.clock = 0
            self._database.age()
            self.planted.fault = fault

    def clear(self, name: str) -> None:
        """Remove all rows of a table, without a trace. No transaction may be open."""
        self._database.heaps[name].rows.clear()

    @property
    def schema(self) -> Schema:
        """The tables."""
        return self._database.schema

    def committed_rows(self, name: str) -> "list[tuple[object, ...]]":
        """The rows of a table that a new transaction would find."""
        return self._database.committed_rows(name)

    def waits(self) -> dict[Connection, frozenset[Transaction]]:
        """Who waits for which transactions."""
        return {client: client.blockers for client in self._waiters}

    def launch(self, client: Connection, sql: str) -> None:
        """Begin a statement; its reply comes now, or when those it waits for are gone."""
        self._launch(client, sql)
        self._resume_waiters()

    def cancel(self, client: Connection) -> None:
        """Stop the statement that waits, if there is one."""
        if client.waiting:
            self._fail(client, StatementFailed(ErrorKind.CANCELLED, "the statement was cancelled"))
            self._resume_waiters()

    def disconnect(self, client: Connection) -> None:
        """The client is gone: undo what it did not commit."""
        self._stop_waiting(client)
        self._end(client, commit=False)
        client.reply = None
        self._resume_waiters()

    # -- statements

    def _launch(self, client: Connection, sql: str) -> None:
        kind = kind_of(sql)
        try:
            if kind in (StatementKind.QUERY, StatementKind.WRITE):
                self._start(client, sql)
            else:
                self._controls[kind](self, client, sql.strip()) if kind in self._controls else _refuse(sql)
                self._post(client, Affected(0))
        except StatementFailed as failure:
            self._post(client, failure.outcome())
