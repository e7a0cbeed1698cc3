"""MySQL 5.5 and later."""

from collections.abc import Mapping, Sequence

from acidtest.targets.mysql_family.innodb_target import InnoDBTarget
from acidtest.targets.mysql_family.replies import Result
from acidtest.targets.mysql_family.session import MySQLSession
from acidtest.targets.mysql_family.waits import (
    FamilyWatch,
    PerformanceSchemaWatch,
    Seen,
    StatusWatch,
    rows_of,
)
from acidtest.targets.mysql_family.wire import Wire


class CountingWatch(StatusWatch):
    """MySQL 5.7: its status leaves out transactions that have only read, even while they wait for a row.

    A counter says how many wait in all. If as many suspects are missing from the status as waiters are, they
    are these; for whom they wait is not told."""

    def question(self, suspects: Sequence[MySQLSession]) -> str:
        return f"{super().question(suspects)}; SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'"

    def read(self, results: tuple[Result, ...]) -> Seen:
        waits, by_state = super().read(results)
        status = str(rows_of(results[0])[0][2])
        missing = {one for one in self._suspect_threads() if f"MySQL thread id {one}," not in status}
        hidden = int(str(rows_of(results[2])[0][1])) - len(waits)
        if missing and hidden == len(missing):
            return {**waits, **dict.fromkeys(missing, frozenset())}, by_state
        return waits, by_state


class MySQLTarget(InnoDBTarget):
    """MySQL. From version 8 on performance_schema tells who waits for whom; before, InnoDB's status."""

    dbms = "mysql"

    def make_watch(self, wire: Wire, sessions: Mapping[int, MySQLSession]) -> FamilyWatch:
        if self.version_number() >= (8, 0, 1) and self._asked("SELECT @@performance_schema") == "1":
            return PerformanceSchemaWatch(wire, sessions)
        if self.version_number() >= (5, 7):
            return CountingWatch(wire, sessions)
        return super().make_watch(wire, sessions)

    def index_expression(self) -> str:
        return "EXPRESSION" if self.version_number() >= (8, 0, 13) else "NULL"
