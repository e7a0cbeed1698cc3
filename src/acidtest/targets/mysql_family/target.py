"""The target of the family: everything that MySQL, MariaDB and seekdb do alike."""

import re
import select
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from time import monotonic
from typing import ClassVar, Protocol
from weakref import WeakSet

from acidtest.errors import AcidtestError, TargetFailedError, UsageError
from acidtest.model import ErrorKind, Level, Row, Schema, State, TransactionState
from acidtest.servers.base import Endpoint
from acidtest.targets.base import ServedWith, Session, Target, Watch, comes_back, start_with
from acidtest.targets.mysql_family.catalog import quote_name
from acidtest.targets.mysql_family.errors import FAMILY
from acidtest.targets.mysql_family.leftovers import (
    Inventory,
    may_outlive_the_database,
    put_back,
    roll_back,
    xid_of,
)
from acidtest.targets.mysql_family.private import PrivateDatabase, drop_marked
from acidtest.targets.mysql_family.replies import ConnectionLostError, Refused, ResultSet
from acidtest.targets.mysql_family.session import MySQLSession
from acidtest.targets.mysql_family.waits import FamilyWatch
from acidtest.targets.mysql_family.wire import ANSWER_LIMIT_S, Wire

_COM_RESET_CONNECTION = 0x1F
_KILL_AGAIN_MS = 50.0
_NO_SUCH_THREAD = 1094

_OTHER_MEMBERS = {"MariaDB": "mariadb", "OceanBase": "seekdb", "TiDB": "tidb"}
"""What a server that is not MySQL itself writes into its version."""

# Our own statements must not wait for long: whoever holds a lock when we set up or read is a defect.
_CONTROL_SETTINGS = "SET SESSION lock_wait_timeout = 10, SESSION innodb_lock_wait_timeout = 10"


class OwnServer(ServedWith, Protocol):
    """A server that acidtest started, as far as a target needs it."""

    @property
    def endpoint(self) -> Endpoint:
        """Where it listens."""

    def alive(self) -> bool:
        """Whether its process runs."""

    def kill(self) -> None:
        """End its process at once."""

    def restart(self, fresh: bool) -> None:
        """Start it again after it died; `fresh` without its data."""

    def stop(self) -> None:
        """Stop it."""

    def log_tail(self, lines: int) -> str:
        """The end of its log."""


class FamilyTarget(Target):
    """One connection for control, one for the watch, one for each session."""

    dialect = "mysql"
    kinds: ClassVar[Mapping[int, ErrorKind]] = FAMILY
    has_events: ClassVar[bool] = True
    telling_settings: ClassVar[tuple[str, ...]] = ("sql_mode", "autocommit")
    """Variables that decide what the server promises, or what its answers mean."""
    session_class: ClassVar[type[MySQLSession]] = MySQLSession
    kill: ClassVar[str] = "KILL"

    def __init__(self, endpoint: Endpoint, label: str, server: OwnServer | None = None) -> None:
        self.label = label
        self.endpoint = endpoint
        self._server = server
        self._sessions: dict[int, MySQLSession] = {}
        self._watches: WeakSet[FamilyWatch] = WeakSet()
        self._outliving: list[str] = []
        self._xids: set[str] = set()
        self._control = Wire(endpoint, label, None, multi=True)
        self._begin()

    # -- what differs

    @abstractmethod
    def make_watch(self, wire: Wire, sessions: Mapping[int, MySQLSession]) -> FamilyWatch:
        """The watch that this server can answer."""

    def minds_foreign_keys(self) -> bool:
        """Whether foreign keys are more than words here."""
        return True

    def prepare_server(self) -> None:
        """Turn on what the watch needs."""

    def restore_server(self) -> None:
        """Put back what `prepare_server` changed."""

    # -- the interface

    def open_session(self) -> Session:
        self._bury_sessions()
        session = self.session_class(self._session_wire(), self.default_level, self.kinds)
        session.succeeded = self._note
        self._sessions[session.thread_id] = session
        return session

    def set_level(self, session: Session, level: Level) -> None:
        own = _own(session)
        if own.level is level:
            return
        try:
            run_in(own, _set_level(level))
        except ConnectionLostError as error:
            own.alive = False
            raise TargetFailedError(f"{self.label}: the session was lost ({error})") from error
        own.level = level

    def clean(self, session: Session, thorough: bool) -> None:
        own = _own(session)
        if own.in_flight:
            self._stop_statement(own)
        if not own.alive:
            raise TargetFailedError(f"{self.label}: the session was lost")
        try:
            for xid in own.xids:  # refused if the case has ended it itself
                own.wire.exchange(f"XA END {xid}")
                own.wire.exchange(f"XA ROLLBACK {xid}")
            own.xids.clear()
            if thorough or not _rolled_back(own):
                self._reset(own)
        except ConnectionLostError:  # killed while it was idle; if the server died, this fails too
            self._reconnect(own)
        own.transaction = TransactionState.NONE

    def cancel(self, session: Session) -> None:
        own = _own(session)
        deadline = monotonic() + ANSWER_LIMIT_S
        while not self._has_begun(own):  # a KILL that comes earlier would be lost
            if own.has_news():
                return  # it has answered already
            if monotonic() > deadline:
                raise TargetFailedError(f"{self.label} neither begins a statement nor answers it")
        refused = self._control.ask(f"{self.kill} QUERY {own.thread_id}")[-1]
        if isinstance(refused, Refused) and refused.errno != _NO_SUCH_THREAD:
            raise TargetFailedError(f"{self.label} does not cancel a statement: {refused.message}")

    def watch(self) -> Watch | None:
        watch = self.make_watch(Wire(self.endpoint, self.label, None, multi=True), self._sessions)
        watch.try_out()
        self._watches.add(watch)
        return watch

    def clear(self) -> None:
        self._bury_sessions()
        self._put_back()
        self._private.clear()

    def renew(self) -> None:
        self._bury_sessions()
        self._put_back()
        drop_marked(self._control, self._private.name)
        self.close_sessions()  # they stand in the database that is gone
        self._make_private()

    def build(self, statements: Sequence[str]) -> None:
        for statement in statements:
            self._note(statement)
        self._private.build(statements)

    def refill(self, tables: Sequence[str], statements: Sequence[str]) -> None:
        self._bury_sessions()
        self._put_back()
        self._private.refill(tables, statements)

    def schema(self) -> Schema:
        return self._private.schema()

    def state(self, tables: Sequence[str]) -> State:
        return self._private.state(tables)

    def is_alive(self) -> bool:
        try:
            Wire(self.endpoint, self.label, None).close()
            self._control.ask("DO 1")
        except AcidtestError:
            return False
        return True

    def sibling(self) -> Target:
        return type(self)(self.endpoint, self.label)

    def restart(self) -> bool:
        self._drop_connections()
        if self._server is not None:
            self._server.restart(fresh=True)  # what a crash left behind is of no use to the next case
            self.endpoint = self._server.endpoint
        elif not comes_back(lambda: Wire(self.endpoint, self.label, None).close()):
            return False
        self._control.close()
        self._control = Wire(self.endpoint, self.label, None, multi=True)
        drop_marked(self._control, self._private.name)  # it came back with a server that is not ours
        self._begin()
        return True

    def hang_up(self, session: Session) -> None:
        own = _own(session)
        own.close()
        deadline = monotonic() + ANSWER_LIMIT_S
        while self._lists(own.thread_id):  # its transaction is rolled back before its thread ends
            if monotonic() > deadline:
                raise TargetFailedError(f"{self.label} does not let go of a session that was closed")
        self._sessions.pop(own.thread_id, None)

    def serve_with(self, arguments: Sequence[str]) -> None:
        if self._server is None:
            super().serve_with(arguments)
            return
        start_with(self, self._server, arguments)

    def reboot(self, kill: bool) -> None:
        if self._server is None:
            super().reboot(kill)
            return
        self._drop_connections()
        self._control.close()
        if kill:
            self._server.kill()
        self._server.restart(fresh=False)
        self.endpoint = self._server.endpoint
        self._control = Wire(self.endpoint, self.label, None, multi=True)
        self._control.ask(_CONTROL_SETTINGS)
        self.prepare_server()
        self._private.speak_on(self._control)

    def settings(self) -> Mapping[str, str]:
        names = ", ".join(f"'{name}'" for name in self.telling_settings)
        result = self._control.ask(f"SHOW VARIABLES WHERE Variable_name IN ({names})")[-1]
        return {str(name): str(value) for name, value in result.rows} if isinstance(result, ResultSet) else {}

    def log_tail(self) -> str:
        return self._server.log_tail(50) if self._server is not None else ""

    def close(self) -> None:
        with suppress(AcidtestError):  # a server that is gone has nothing left to drop
            self._leave()
        self._drop_connections()
        self._control.close()
        if self._server is not None:
            self._server.stop()

    def close_sessions(self) -> None:
        """Close all sessions, and end what the server still does for them."""
        for session in self._sessions.values():
            session.close()
        self._bury_sessions()

    # -- how

    def _begin(self) -> None:
        """Get to know the server and make the private database."""
        try:
            self.version = self._asked("SELECT VERSION()")
            self._check_member()
            self._control.ask(_CONTROL_SETTINGS)
            self.prepare_server()
            self._inventory = Inventory.take(self._control)
            self._make_private()
        except BaseException:
            self._control.close()
            raise

    def _make_private(self) -> None:
        self._private = PrivateDatabase(self._control, self.has_events, self.minds_foreign_keys())

    def _note(self, sql: str) -> None:
        """Keep in mind what may outlive the case."""
        if may_outlive_the_database(sql):
            self._outliving.append(sql)
        if (xid := xid_of(sql)) is not None:
            self._xids.add(xid)

    def _put_back(self) -> None:
        """Undo what a case left outside of the private database."""
        if self._xids:
            xids, self._xids = self._xids, set()
            roll_back(self._control, xids)
        if self._outliving:
            statements, self._outliving = self._outliving, []
            put_back(self._control, self._inventory, statements, self._server is not None)

    def version_number(self) -> tuple[int, ...]:
        """The server's version to compare with."""
        found = re.match(r"(\d+)\.(\d+)\.(\d+)", self.version)
        return tuple(int(part) for part in found.groups()) if found else ()

    def _check_member(self) -> None:
        member = next((dbms for mark, dbms in _OTHER_MEMBERS.items() if mark in self.version), "mysql")
        if member != self.dbms:
            raise UsageError(f"{self.label} is a server of {member} ({self.version}); name it {member}")

    def _asked(self, question: str) -> str:
        result = self._control.ask(question)[-1]
        if not isinstance(result, ResultSet):
            raise TargetFailedError(f"{self.label} does not answer {question}: {result}")
        return str(result.rows[0][0])

    def _session_wire(self) -> Wire:
        wire = Wire(self.endpoint, self.label, self._private.name)
        for result in wire.ask(_set_level(self.default_level)):
            if isinstance(result, Refused):
                wire.close()
                raise TargetFailedError(f"{self.label} refuses its own default level: {result.message}")
        return wire

    def _reset(self, session: MySQLSession) -> None:
        """As if newly connected; a server that cannot reset a connection gives a new one."""
        session.wire.send(_COM_RESET_CONNECTION)
        if isinstance(session.wire.wait()[-1], Refused):
            self._reconnect(session)
            return
        run_in(session, f"USE {quote_name(self._private.name)}")
        run_in(session, "SET NAMES utf8mb4, autocommit = 1")
        run_in(session, _set_level(self.default_level))
        session.level = self.default_level

    def _reconnect(self, session: MySQLSession) -> None:
        del self._sessions[session.thread_id]
        session.adopt(self._session_wire(), self.default_level)
        self._sessions[session.thread_id] = session

    def _has_begun(self, session: MySQLSession) -> bool:
        """Whether the server is at work on the session's statement."""
        return any(row[0] == session.thread_id and row[4] != "Sleep" for row in self._threads())

    def _lists(self, thread: int) -> bool:
        return any(row[0] == thread for row in self._threads())

    def _threads(self) -> Sequence[Row]:
        result = self._control.ask("SHOW PROCESSLIST")[-1]
        if not isinstance(result, ResultSet):
            raise TargetFailedError(f"{self.label} does not list its threads: {result}")
        return result.rows

    def _stop_statement(self, session: MySQLSession) -> None:
        """Cancel until it answers."""
        deadline = monotonic() + ANSWER_LIMIT_S
        poller = select.poll()
        poller.register(session, select.POLLIN)
        while session.poll() is None:
            if monotonic() > deadline:
                raise TargetFailedError(f"{self.label}: a cancelled statement goes on and on")
            self.cancel(session)
            poller.poll(_KILL_AGAIN_MS)

    def _bury_sessions(self) -> None:
        """End what the server still does for sessions that were closed: their locks would hold us up."""
        for thread in [thread for thread, session in self._sessions.items() if not session.alive]:
            self._control.ask(f"{self.kill} {thread}")
            del self._sessions[thread]

    def _leave(self) -> None:
        self.close_sessions()
        self.restore_server()
        drop_marked(self._control, self._private.name)

    def _drop_connections(self) -> None:
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()
        for watch in list(self._watches):
            watch.close()


def _set_level(level: Level) -> str:
    return f"SET SESSION TRANSACTION ISOLATION LEVEL {level.value}"


def _rolled_back(session: MySQLSession) -> bool:
    """Whether no transaction is open any more. ROLLBACK is refused in an XA transaction."""
    if session.transaction is TransactionState.NONE:
        return True
    return not isinstance(session.wire.exchange("ROLLBACK")[-1], Refused)


def run_in(session: MySQLSession, sql: str) -> None:
    """Run a statement of our own in a session; a refusal is a `TargetFailedError`."""
    result = session.wire.exchange(sql)[-1]
    if isinstance(result, Refused):
        raise TargetFailedError(f"{session.wire.label} refuses {sql!r}: {result.message} ({result.errno})")


def _own(session: Session) -> MySQLSession:
    if not isinstance(session, MySQLSession):
        raise TypeError(f"{session} is not a session of this family")
    return session
