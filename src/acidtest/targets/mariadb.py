"""MariaDB 10.5 and later: how it differs from MySQL.

- Who waits is asked of InnoDB's status in every version: performance_schema is off by default, and has no
  table of row locks.
- NOWAIT and a lock time-out share the number 1205; the statement tells them apart.
- With innodb_snapshot_isolation (the default from 11.6.2 on) a write to a row that changed since the snapshot
  fails with 1020 and undoes the whole transaction.
  https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables
"""

from acidtest.targets.mysql_family.innodb_target import InnoDBTarget


class MariaDBTarget(InnoDBTarget):
    """MariaDB."""

    dbms = "mariadb"
