"""PostgreSQL 9.6 and later.

READ UNCOMMITTED exists by name and behaves as READ COMMITTED
(https://www.postgresql.org/docs/current/transaction-iso.html).
"""

from collections.abc import Sequence
from contextlib import closing, suppress
from secrets import token_hex
from time import monotonic
from typing import Protocol
from weakref import WeakSet

from acidtest.errors import TargetFailedError, UsageError
from acidtest.model import Level, Rows, Schema, State, TransactionState, freeze_state, sort_rows
from acidtest.servers.base import Endpoint
from acidtest.sql import may_leave_session_traces
from acidtest.targets.base import ServedWith, Session, Target, Watch, comes_back, start_with
from acidtest.targets.postgres import catalog, leftovers
from acidtest.targets.postgres.session import PostgresSession, RefusedError
from acidtest.targets.postgres.watch import PostgresWatch
from acidtest.targets.sqltext import quote

MARK = "made by acidtest; dropped when it ends"
"""The comment on a database that acidtest may drop."""

DEADLOCK_TIMEOUT_MS = 10
"""How long a session waits before it looks for a deadlock; the default of a second would be a pause."""

REFILLS_BETWEEN_TRUNCATES = 200
"""DELETE is the cheaper way to empty a small table, but leaves dead rows that later scans have to skip."""

LOG_LINES = 40

CANCEL_LIMIT_S = 5.0

_OLDEST_VERSION = 90600


class RunningServer(ServedWith, Protocol):
    """A server of our own, which can be brought back and whose log can be read."""

    @property
    def endpoint(self) -> Endpoint: ...
    def kill(self) -> None: ...
    def restart(self) -> None: ...
    def stop(self) -> None: ...
    def log_tail(self, lines: int) -> str: ...


class PostgresTarget(Target):
    """A server with a database of our own in it; `server` is given if the server, too, is ours."""

    dbms = "postgres"
    levels = (
        Level.READ_UNCOMMITTED,
        Level.READ_COMMITTED,
        Level.REPEATABLE_READ,
        Level.SERIALIZABLE,
    )
    default_level = Level.READ_COMMITTED
    dialect = "postgres"

    def __init__(self, endpoint: Endpoint, label: str, server: RunningServer | None = None) -> None:
        self.label = label
        self.endpoint = endpoint
        self._server = server
        self._database = f"acidtest_{token_hex(6)}"
        self._settings: dict[str, str] = {}
        self._sessions: dict[int, Session] = {}
        self._watches: WeakSet[PostgresWatch] = WeakSet()
        self._control_session: PostgresSession | None = None
        self._refills = 0
        self._truncates: bool | None = None
        self._inventory: leftovers.Inventory | None = None
        self._outliving: list[str] = []  # statements that may have made what outlives the schemas
        self._create_database()

    # -- sessions

    def open_session(self) -> Session:
        session = PostgresSession(self.endpoint, self._database, self._settings, self._note)
        for pid in [pid for pid, one in self._sessions.items() if not one.alive]:
            del self._sessions[pid]
        self._sessions[session.pid] = session
        return session

    def set_level(self, session: Session, level: Level) -> None:
        assert isinstance(session, PostgresSession)
        self.check_levels([level])
        if session.level is not level:
            session.ask(f"SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {level.value}")
            session.level = level

    def clean(self, session: Session, thorough: bool) -> None:
        assert isinstance(session, PostgresSession)
        if session.transaction is not TransactionState.NONE:
            session.ask("ROLLBACK")
        if thorough:
            session.ask("DISCARD ALL")  # comes back to the settings that the connection began with
            session.level = self.default_level
        if not session.alive:
            raise TargetFailedError(f"a session of {self.label} is lost")

    def cancel(self, session: Session) -> None:
        assert isinstance(session, PostgresSession)
        question = (
            "SELECT pg_cancel_backend(pid) FROM pg_stat_activity"
            f" WHERE pid = {session.pid} AND state IN ('active', 'fastpath function call')"
        )
        # A backend that has not yet read the statement would ignore the signal, so ask until it has.
        deadline = monotonic() + CANCEL_LIMIT_S
        while not self._control.rows(question).rows:
            if session.has_news() or monotonic() > deadline:
                return

    def watch(self) -> Watch | None:
        watch = PostgresWatch(self._admin(), self._sessions)
        self._watches.add(watch)
        return watch

    # -- the private database

    def clear(self) -> None:
        if self._outliving:
            self.renew()
            return
        try:
            self._control.ask(catalog.emptying(self._control.version_number))
        except RefusedError:
            self.renew()  # its catalogue is damaged, or something in it cannot be dropped

    def renew(self) -> None:
        statements, self._outliving = self._outliving, []
        leftovers.end_prepared_transactions(self._control)
        self._close_sessions()
        self._drop_database()
        self._database = f"acidtest_{token_hex(6)}"
        self._create_database()
        if statements and self._inventory is not None:
            with closing(self._admin()) as admin:
                leftovers.remove_from_cluster(admin, self._inventory, statements, self._server is not None)

    def _note(self, sql: str) -> None:
        if leftovers.may_outlive_the_schema(sql):
            self._outliving.append(sql)

    def build(self, statements: Sequence[str]) -> None:
        self._truncates = None
        for statement in statements:
            self._set_up(statement)
            self._note(statement)
        self.clean(self._control, thorough=any(map(may_leave_session_traces, statements)))

    def refill(self, tables: Sequence[str], statements: Sequence[str]) -> None:
        if self._truncates is None:
            self._truncates = bool(self._control.rows(catalog.NEEDS_TRUNCATE).rows[0][0])
        self._refills += 1
        names = [quote(table) for table in tables]
        if not names:
            emptied = []
        elif self._truncates or self._refills % REFILLS_BETWEEN_TRUNCATES == 0:
            emptied = [f"TRUNCATE {', '.join(names)} RESTART IDENTITY CASCADE"]
        else:
            emptied = [f"DELETE FROM {name}" for name in names]
        self._set_up(";\n".join([*emptied, *statements]))

    def _set_up(self, sql: str) -> None:
        try:
            self._control.ask(sql)
        except RefusedError as error:
            self.clean(self._control, thorough=True)
            raise UsageError(
                f"{self.label} refuses the set-up statement {sql!r}:"
                f" {error.failure.message} (SQLSTATE {error.failure.code})"
            ) from None

    def schema(self) -> Schema:
        control = self._control
        return catalog.read_schema(control.rows(catalog.question(control.version_number)))

    def state(self, tables: Sequence[str]) -> State:
        if not tables:
            return freeze_state({})
        answers = self._control.ask(";".join(f"SELECT * FROM {quote(table)}" for table in tables))
        rows = (sort_rows(answer.rows) for answer in answers if isinstance(answer, Rows))
        return freeze_state(dict(zip(tables, rows, strict=True)))

    # -- life and death

    @property
    def _control(self) -> PostgresSession:
        """The connection for acidtest's own work; a lost one is replaced."""
        if self._control_session is None or not self._control_session.alive:
            self._control_session = PostgresSession(
                self.endpoint, self._database, {**self._settings, "lock_timeout": "10s"}
            )
        return self._control_session

    def _admin(self) -> PostgresSession:
        """A connection outside the private database."""
        return PostgresSession(self.endpoint, self.endpoint.database or "postgres")

    def _create_database(self) -> None:
        admin = self._admin()
        try:
            self._take_stock(admin)
            # Texts sort by their bytes, whatever the server's locale: answers must not depend on the machine.
            admin.ask(
                f"CREATE DATABASE {self._database} TEMPLATE template0"
                " ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'"
            )
            admin.ask(f"COMMENT ON DATABASE {self._database} IS '{MARK}'")
        except RefusedError as error:
            raise UsageError(
                f"{self.label}: {self.endpoint.user} cannot create a database: {error.failure.message};"
                " use a role with CREATEDB"
            ) from None
        finally:
            admin.close()

    def _take_stock(self, admin: PostgresSession) -> None:
        """What the server is, and what this user may set."""
        if admin.version_number < _OLDEST_VERSION:
            version = admin.parameter("server_version")
            raise UsageError(f"{self.label} is PostgreSQL {version}; acidtest needs 9.6 or later")
        self.version = admin.parameter("server_version")
        if self._inventory is None:
            self._inventory = leftovers.Inventory.take(admin)
        if admin.parameter("is_superuser") == "on":
            self._settings = {"deadlock_timeout": f"{DEADLOCK_TIMEOUT_MS}ms"}

    def is_alive(self) -> bool:
        try:
            self._control.ask("SELECT 1")
        except TargetFailedError:
            return self._takes_connections()  # it may be the private database alone that is lost
        return True

    def _takes_connections(self) -> bool:
        try:
            self._admin().close()
        except TargetFailedError:
            return False
        return True

    def sibling(self) -> Target:
        return PostgresTarget(self.endpoint, self.label)

    def restart(self) -> bool:
        self._close_connections()
        if self._server is not None:
            self._server.restart()
            self.endpoint = self._server.endpoint
        elif not comes_back(lambda: self._admin().close()):
            return False
        with suppress(RefusedError):  # the old database came back with the server, unless its files were lost
            self._drop_database()
        self._database = f"acidtest_{token_hex(6)}"
        self._create_database()
        return True

    def hang_up(self, session: Session) -> None:
        assert isinstance(session, PostgresSession)
        session.close()
        question = f"SELECT 1 FROM pg_stat_activity WHERE pid = {session.pid}"
        deadline = monotonic() + CANCEL_LIMIT_S
        while self._control.rows(question).rows:  # its transaction is rolled back before its process ends
            if monotonic() > deadline:
                raise TargetFailedError(f"{self.label} does not let go of a session that was closed")

    def serve_with(self, arguments: Sequence[str]) -> None:
        if self._server is None:
            super().serve_with(arguments)
            return
        start_with(self, self._server, arguments)

    def reboot(self, kill: bool) -> None:
        if self._server is None:
            super().reboot(kill)
            return
        if kill:
            # Our servers commit without waiting for the log. One commit that waits takes all before it along.
            self._control.ask(
                "BEGIN; SET LOCAL synchronous_commit = on;"
                " SELECT pg_logical_emit_message(true, 'acidtest', ''); COMMIT"
            )
        self._close_connections()
        if kill:
            self._server.kill()
        self._server.restart()
        self.endpoint = self._server.endpoint

    def log_tail(self) -> str:
        return self._server.log_tail(LOG_LINES) if self._server else ""

    def close(self) -> None:
        self._close_connections()
        with suppress(TargetFailedError):  # a server that is gone has no database to drop
            self._drop_database()
        if self._server is not None:
            self._server.stop()

    def _close_connections(self) -> None:
        self._close_sessions()
        for watch in self._watches:
            watch.close()

    def _close_sessions(self) -> None:
        for session in [*self._sessions.values(), self._control_session]:
            if session is not None:
                session.close()
        self._sessions.clear()
        self._control_session = None

    def _drop_database(self) -> None:
        """Drop the private database, and only if it bears the mark."""
        admin = self._admin()
        try:
            marks = admin.rows(
                "SELECT shobj_description(oid, 'pg_database') FROM pg_database"
                f" WHERE datname = '{self._database}'"
            )
            if marks.rows != ((MARK,),):
                return
            leftovers.drop_slots(admin, self._database)
            force = " WITH (FORCE)" if admin.version_number >= 130000 else ""
            if not force:
                admin.ask(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    f" WHERE datname = '{self._database}' AND pid <> pg_backend_pid()"
                )
            admin.ask(f"DROP DATABASE {self._database}{force}")
        finally:
            admin.close()


class WeakenedPostgresTarget(PostgresTarget):
    """A real PostgreSQL with a planted fault: whatever level is asked for, it runs at READ COMMITTED.

    For demonstrations, and to see that oracles notice, without a line of ours in the server.
    """

    def set_level(self, session: Session, level: Level) -> None:
        self.check_levels([level])
        super().set_level(session, Level.READ_COMMITTED)
