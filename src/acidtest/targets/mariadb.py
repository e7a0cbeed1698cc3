"""MariaDB 10.1 and later: how it differs from MySQL.

- Who waits is asked of InnoDB's status in every version: performance_schema is off by default, and has no
  table of row locks.
- NOWAIT and a lock time-out share the number 1205; the statement tells them apart.
- With innodb_snapshot_isolation (the default from 11.6.2 on) a write to a row that changed since the snapshot
  fails with 1020 and undoes the whole transaction.
  https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables
"""

from collections.abc import Mapping

from acidtest.targets.mysql_family.innodb_target import InnoDBTarget
from acidtest.targets.mysql_family.session import MySQLSession
from acidtest.targets.mysql_family.waits import CountingWatch, FamilyWatch
from acidtest.targets.mysql_family.wire import Wire


class MariaDBTarget(InnoDBTarget):
    """MariaDB."""

    dbms = "mariadb"

    def prepare_server(self) -> None:
        super().prepare_server()
        if self._server is not None:
            # Its data die with it, and a CREATE TABLE that waits for the disk takes twice as long.
            self._control.ask("SET GLOBAL sync_frm = OFF")

    def make_watch(self, wire: Wire, sessions: Mapping[int, MySQLSession]) -> FamilyWatch:
        if (10, 2) <= self.version_number() < (10, 5):
            return CountingWatch(wire, sessions)
        return super().make_watch(wire, sessions)
