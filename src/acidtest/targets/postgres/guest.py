"""An application's own PostgreSQL database, in which acidtest is a guest."""

from collections.abc import Sequence
from contextlib import suppress

from acidtest.errors import TargetFailedError, UsageError
from acidtest.model import ErrorKind, Level, Rows, Schema, State, freeze_state, sort_rows
from acidtest.servers.base import Endpoint
from acidtest.targets.base import ForeignSession, Guest, Session, Watch
from acidtest.targets.postgres import catalog
from acidtest.targets.postgres.errors import classify
from acidtest.targets.postgres.session import PostgresSession, RefusedError
from acidtest.targets.postgres.target import DEADLOCK_TIMEOUT_MS, PostgresTarget
from acidtest.targets.postgres.watch import PostgresWatch
from acidtest.targets.sqltext import quote

_LOCK_TIMEOUT = {"lock_timeout": "10s"}
"""Our own statements must not wait for long: whoever still holds a lock when we look is a defect."""


class PostgresGuest(Guest):
    """One connection to look and to take back, one for each watch."""

    dbms = PostgresTarget.dbms
    levels = PostgresTarget.levels
    dialect = PostgresTarget.dialect

    def __init__(self, endpoint: Endpoint, label: str) -> None:
        self.label = label
        self._endpoint = endpoint
        self._control = PostgresSession(endpoint, endpoint.database, _LOCK_TIMEOUT)
        self.version = self._control.parameter("server_version")
        self.is_superuser = self._control.parameter("is_superuser") == "on"
        self._adopted: dict[int, Session] = {}

    def adopt(self, number: int) -> Session:
        return self._adopted.setdefault(number, ForeignSession(number))

    def dismiss(self, session: Session) -> None:
        for number in [number for number, one in self._adopted.items() if one is session]:
            del self._adopted[number]

    def watch(self) -> Watch:
        return PostgresWatch(PostgresSession(self._endpoint, self._endpoint.database), self._adopted)

    def schema(self) -> Schema:
        return catalog.read_schema(self._control.rows(catalog.question(self._control.version_number)))

    def state(self, tables: Sequence[str]) -> State:
        if not tables:
            return freeze_state({})
        answers = self.ask(";".join(f"SELECT * FROM {quote(table)}" for table in tables))
        rows = (sort_rows(answer.rows) for answer in answers)
        return freeze_state(dict(zip(tables, rows, strict=True)))

    def ask(self, sql: str) -> Sequence[Rows]:
        try:
            return [one for one in self._control.ask(sql) if isinstance(one, Rows)]
        except RefusedError as error:
            self._roll_back()
            raise UsageError(f"{self.label} refuses {sql!r}: {error.failure.message}") from None

    def change(self, statements: Sequence[str]) -> None:
        if not statements:
            return
        quiet = (
            "SET LOCAL session_replication_role = replica"
            if self.is_superuser
            else "SET CONSTRAINTS ALL DEFERRED"
        )
        self.ask(";\n".join(["BEGIN", quiet, *statements, "COMMIT"]))

    def _roll_back(self) -> None:
        with suppress(TargetFailedError):  # a lost connection shows in the next question
            self._control.ask("ROLLBACK")

    def level_statement(self, level: Level) -> str:
        return f"SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {level.value}"

    def level_question(self) -> str:
        return "SELECT upper(current_setting('default_transaction_isolation'))"

    def kill(self, number: int) -> None:
        self.ask(f"SELECT pg_terminate_backend({number})")

    def haste_statement(self) -> str | None:
        return f"SET deadlock_timeout = '{DEADLOCK_TIMEOUT_MS}ms'" if self.is_superuser else None

    def classify(self, code: str) -> ErrorKind:
        return classify(code)

    def is_alive(self) -> bool:
        try:
            PostgresSession(self._endpoint, self._endpoint.database).close()
        except TargetFailedError:
            return False
        return True

    def close(self) -> None:
        self._control.close()
