"""An application's own database on MySQL or MariaDB, in which acidtest is a guest."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import cast

from acidtest.errors import AcidtestError, UsageError
from acidtest.model import ErrorKind, Level, Rows, Schema, State, freeze_state, sort_rows
from acidtest.servers.base import Endpoint
from acidtest.targets.base import ForeignSession, Guest, Session, Watch
from acidtest.targets.mariadb import MariaDBTarget
from acidtest.targets.mysql import MySQLTarget
from acidtest.targets.mysql_family.catalog import (
    inventory_question,
    quote_name,
    read_schema,
    schema_questions,
)
from acidtest.targets.mysql_family.innodb_target import InnoDBTarget
from acidtest.targets.mysql_family.replies import Refused, ResultSet
from acidtest.targets.mysql_family.session import MySQLSession
from acidtest.targets.mysql_family.wire import Wire

_CONTROL_SETTINGS = "SET SESSION lock_wait_timeout = 10, SESSION innodb_lock_wait_timeout = 10"


class FamilyGuest(Guest):
    """One connection to look and to take back, one for each watch. How waits are told is the target's."""

    levels = InnoDBTarget.levels
    dialect = InnoDBTarget.dialect

    def __init__(self, endpoint: Endpoint, label: str) -> None:
        self.label = label
        self._endpoint = endpoint
        self._adopted: dict[int, Session] = {}
        self._control = Wire(endpoint, label, endpoint.database, multi=True)
        self.ask(_CONTROL_SETTINGS)
        self.version = str(self.ask("SELECT VERSION()")[0].rows[0][0])
        self.dbms = self._member().dbms
        self._server = _onlooker(self._member(), endpoint, label, self._control, self.version)
        self._server.prepare_server()
        self._questions = self._schema_questions()

    def _member(self) -> type[InnoDBTarget]:
        return MariaDBTarget if "MariaDB" in self.version else MySQLTarget

    def _schema_questions(self) -> Mapping[str, str]:
        (tells,) = self.ask(inventory_question())
        known = frozenset((str(table), str(column)) for table, column in tells.rows)
        return schema_questions(self._endpoint.database, known, True)

    def adopt(self, number: int) -> Session:
        return self._adopted.setdefault(number, ForeignSession(number))

    def dismiss(self, session: Session) -> None:
        for number in [number for number, one in self._adopted.items() if one is session]:
            del self._adopted[number]

    def watch(self) -> Watch:
        wire = Wire(self._endpoint, self.label, None, multi=True)
        # A watch uses nothing of a session but its identity.
        watch = self._server.make_watch(wire, cast(Mapping[int, MySQLSession], self._adopted))
        watch.try_out()
        return watch

    def schema(self) -> Schema:
        answers = [answer.rows for answer in self.ask("\n;\n".join(self._questions.values()))]
        return read_schema(dict(zip(self._questions, answers, strict=True)))

    def state(self, tables: Sequence[str]) -> State:
        if not tables:
            return freeze_state({})
        answers = self.ask("\n;\n".join(f"SELECT * FROM {quote_name(table)}" for table in tables))
        return freeze_state({table: sort_rows(one.rows) for table, one in zip(tables, answers, strict=True)})

    def ask(self, sql: str) -> Sequence[Rows]:
        results = self._control.ask(sql)
        if isinstance(results[-1], Refused):
            self._control.ask("ROLLBACK")
            raise UsageError(f"{self.label} refuses {sql!r}: {results[-1].message} ({results[-1].errno})")
        return [Rows(one.columns, one.rows) for one in results if isinstance(one, ResultSet)]

    def change(self, statements: Sequence[str]) -> None:
        if statements:
            quiet, loud = "SET FOREIGN_KEY_CHECKS = 0", "SET FOREIGN_KEY_CHECKS = 1"
            self.ask("\n;\n".join([quiet, "BEGIN", *statements, "COMMIT", loud]))

    def level_statement(self, level: Level) -> str:
        return f"SET SESSION TRANSACTION ISOLATION LEVEL {level.value}"

    def level_question(self) -> str:
        has_new_name = self.ask("SHOW SESSION VARIABLES LIKE 'transaction_isolation'")[0].rows
        return f"SELECT REPLACE(@@session.{'transaction' if has_new_name else 'tx'}_isolation, '-', ' ')"

    def kill(self, number: int) -> None:
        self.ask(f"KILL {number}")

    def classify(self, code: str) -> ErrorKind:
        return self._member().kinds.get(int(code), ErrorKind.OTHER) if code.isdigit() else ErrorKind.OTHER

    def is_alive(self) -> bool:
        try:
            Wire(self._endpoint, self.label, None).close()
        except AcidtestError:
            return False
        return True

    def close(self) -> None:
        with suppress(AcidtestError):  # a server that is gone has nothing to restore
            self._server.restore_server()
        self._control.close()


def _onlooker(
    member: type[InnoDBTarget], endpoint: Endpoint, label: str, control: Wire, version: str
) -> InnoDBTarget:
    """A target of the member's class that has made nothing: it only knows how this server tells of waits."""
    target = member.__new__(member)
    target.label, target.endpoint, target.version = label, endpoint, version
    target._control, target._server = control, None
    return target
