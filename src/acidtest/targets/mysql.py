"""MySQL 5.5 and later."""

from collections.abc import Mapping

from acidtest.targets.mysql_family.innodb_target import InnoDBTarget
from acidtest.targets.mysql_family.session import MySQLSession
from acidtest.targets.mysql_family.waits import CountingWatch, FamilyWatch, PerformanceSchemaWatch
from acidtest.targets.mysql_family.wire import Wire


class MySQLTarget(InnoDBTarget):
    """MySQL. From version 8 on performance_schema tells who waits for whom; before, InnoDB's status."""

    dbms = "mysql"

    def make_watch(self, wire: Wire, sessions: Mapping[int, MySQLSession]) -> FamilyWatch:
        if self.version_number() >= (8, 0, 1) and self._asked("SELECT @@performance_schema") == "1":
            return PerformanceSchemaWatch(wire, sessions)
        if self.version_number() >= (5, 7):
            return CountingWatch(wire, sessions)
        return super().make_watch(wire, sessions)
