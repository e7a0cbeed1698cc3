"""A session of the family: launch, poll, and the follow-up that a warning or an error calls for."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from pymysql.constants import COMMAND

from acidtest.model import (
    Affected,
    ErrorKind,
    Failed,
    Level,
    Reply,
    Rows,
    TransactionState,
    Value,
    Warning,
)
from acidtest.targets.base import Session, refuse_parameters
from acidtest.targets.mysql_family.errors import SERVER_LOST, what_was_undone
from acidtest.targets.mysql_family.leftovers import xid_of
from acidtest.targets.mysql_family.replies import (
    STATUS_IN_TRANSACTION,
    ConnectionLostError,
    Refused,
    Result,
    ResultSet,
)
from acidtest.targets.mysql_family.wire import Wire
from acidtest.targets.sqltext import unsendable

_NOWAIT = re.compile(r"\bNOWAIT\b", re.IGNORECASE)
_LOCK_WAIT_TIMEOUT = 1205
_unsendable = lru_cache(maxsize=4096)(unsendable)  # the statements of a case come again in its other orders


class MySQLSession(Session):
    """One connection. A reply with warnings, or an error, costs one more round trip inside `poll`:

    SHOW WARNINGS fetches the warnings; COM_PING tells whether the transaction survived the error, because an
    error packet does not say. Neither touches the transaction or the diagnostics that the case may ask for.
    """

    def __init__(self, wire: Wire, level: Level, kinds: Mapping[int, ErrorKind]) -> None:
        self.wire = wire
        self.level = level
        self.in_flight = False
        self._kinds = kinds
        self._sql = ""
        self._unsent: Failed | None = None
        self._broken: ConnectionLostError | None = None
        self.succeeded: Callable[[str], None] | None = None
        """Is told each statement that did."""
        self.xids: list[str] = []
        """XA transactions that were begun here and perhaps not ended."""
        self._first: Result | None = None  # the statement's own result, while its follow-up is under way

    @property
    def thread_id(self) -> int:
        """What the server calls this connection."""
        return self.wire.thread_id

    def launch(self, sql: str, parameters: Sequence[Value] | None = None) -> None:
        refuse_parameters(parameters, "servers of the MySQL family")
        self._sql = sql
        self._first = None
        self._unsent = _unsendable(sql)
        if self._unsent:
            return
        self.in_flight = True
        try:
            self.wire.query(sql)
        except ConnectionLostError as error:
            self._broken = error

    def poll(self) -> Reply | None:
        if self._unsent:
            return Reply(self._unsent, self.transaction)
        reply = self._poll()
        if reply is not None:
            self.in_flight = False
            self.transaction = reply.transaction
            if not isinstance(reply.outcome, Failed):
                self._note()
        return reply

    def _note(self) -> None:
        if (xid := xid_of(self._sql)) is not None and xid not in self.xids:
            self.xids.append(xid)
        if self.succeeded is not None:
            self.succeeded(self._sql)

    def fileno(self) -> int:
        return self.wire.fileno()

    def has_news(self) -> bool:
        """Whether something came that `poll` has not seen."""
        return self.wire.has_news()

    def close(self) -> None:
        self.alive = False
        self.in_flight = False
        self.wire.close()

    def adopt(self, wire: Wire, level: Level) -> None:
        """Go on with a fresh connection."""
        self.wire.close()
        self.wire = wire
        self.level = level
        self.alive = True
        self.in_flight = False
        self._broken = None
        self.transaction = TransactionState.NONE

    def kind_of(self, errno: int, message: str) -> ErrorKind:
        """The meaning of an error of the statement in flight."""
        del message  # it matters to a DBMS that has one number for all sorts of things
        if errno == _LOCK_WAIT_TIMEOUT and _NOWAIT.search(self._sql):
            return ErrorKind.LOCK_NOT_AVAILABLE  # MariaDB and seekdb have no number of its own for NOWAIT
        return self._kinds.get(errno, ErrorKind.OTHER)

    def state_after(self, kind: ErrorKind, in_transaction: bool) -> TransactionState:
        """Where the transaction stands after an error, by the flag that the server sent after it."""
        del kind  # it matters to a DBMS that keeps a failed transaction open
        return TransactionState.OPEN if in_transaction else TransactionState.NONE

    def _poll(self) -> Reply | None:
        try:
            if self._broken is not None:
                raise self._broken
            while (results := self.wire.receive()) is not None:
                if self._first is not None:
                    return self._reply_with(self._first, results)
                result = _result_that_counts(results)
                if not self._follow_up(result):
                    return self._plain_reply(result)
                self._first = result
        except ConnectionLostError as error:
            return self._lost(error)
        return None

    def _follow_up(self, result: Result) -> bool:
        """Send the question that this result calls for, if any."""
        if isinstance(result, Refused):
            if self.kind_of(result.errno, result.message) is ErrorKind.CONNECTION_LOST:
                return False
            self.wire.send(COMMAND.COM_PING)
            return True
        if result.warnings:
            self.wire.query("SHOW WARNINGS")
            return True
        return False

    def _plain_reply(self, result: Result, warnings: tuple[Warning, ...] = ()) -> Reply:
        if isinstance(result, Refused):
            return self._lost(result.message, result.errno)
        state = TransactionState.OPEN if result.status & STATUS_IN_TRANSACTION else TransactionState.NONE
        if isinstance(result, ResultSet):
            return Reply(Rows(result.columns, result.rows), state, warnings)
        return Reply(Affected(result.affected, result.matched), state, warnings)

    def _reply_with(self, first: Result, follow_up: tuple[Result, ...]) -> Reply:
        """The reply, now that the answer to the follow-up is there too."""
        second = follow_up[0]
        if not isinstance(first, Refused):
            return self._plain_reply(first, _read_warnings(second))
        if isinstance(second, Refused):
            return self._lost(second.message, second.errno)
        kind = self.kind_of(first.errno, first.message)
        state = self.state_after(kind, bool(second.status & STATUS_IN_TRANSACTION))
        undone = what_was_undone(kind, self.transaction, state)
        return Reply(Failed(kind, str(first.errno), first.message, undone), state)

    def _lost(self, why: object, errno: int = SERVER_LOST) -> Reply:
        """The connection is gone; an error that the server sent before it went is the better reason."""
        self.alive = False
        if isinstance(self._first, Refused):
            why, errno = self._first.message, self._first.errno
        kind = ErrorKind.CONNECTION_LOST
        undone = what_was_undone(kind, self.transaction, TransactionState.NONE)
        return Reply(Failed(kind, str(errno), str(why), undone), TransactionState.NONE)


def _result_that_counts(results: tuple[Result, ...]) -> Result:
    """CALL gives several results: an error counts first, then the first rows, then the last word."""
    last = results[-1]
    if len(results) == 1 or isinstance(last, Refused):
        return last
    rows = next((result for result in results if isinstance(result, ResultSet)), None)
    if rows is None:
        return last
    return ResultSet(rows.columns, rows.rows, last.status, last.warnings)


def _read_warnings(result: Result) -> tuple[Warning, ...]:
    if not isinstance(result, ResultSet):
        return ()
    return tuple(Warning(str(level), str(code), str(text)) for level, code, text in result.rows)
