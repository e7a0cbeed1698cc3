"""What MySQL and MariaDB share: InnoDB, its levels, and its status as the place that tells who waits."""

from collections.abc import Mapping

from acidtest.model import Level
from acidtest.targets.mysql_family.session import MySQLSession
from acidtest.targets.mysql_family.target import FamilyTarget
from acidtest.targets.mysql_family.waits import FamilyWatch, StatusWatch
from acidtest.targets.mysql_family.wire import Wire

_PRINT_LOCKS = "innodb_status_output_locks"


class InnoDBTarget(FamilyTarget):
    """A server whose tables live in InnoDB."""

    levels = (Level.READ_UNCOMMITTED, Level.READ_COMMITTED, Level.REPEATABLE_READ, Level.SERIALIZABLE)
    default_level = Level.REPEATABLE_READ
    _printed_locks = "1"

    def numbers_from(self, number: int) -> str | None:
        return f"SET insert_id = {number}"

    def make_watch(self, wire: Wire, sessions: Mapping[int, MySQLSession]) -> FamilyWatch:
        return StatusWatch(wire, sessions)

    def prepare_server(self) -> None:
        """Have locks printed in the status. A user who may not set that gets waits without blockers."""
        self._printed_locks = self._asked(f"SELECT @@GLOBAL.{_PRINT_LOCKS}")
        if self._printed_locks != "1":
            self._control.ask(f"SET GLOBAL {_PRINT_LOCKS} = ON")

    def restore_server(self) -> None:
        if self._server is None and self._printed_locks != "1":
            self._control.ask(f"SET GLOBAL {_PRINT_LOCKS} = OFF")
