"""What MySQL and MariaDB share: InnoDB, its levels, and its status as the place that tells who waits."""

from collections.abc import Mapping

from acidtest.model import Level
from acidtest.targets.mysql_family.replies import ResultSet
from acidtest.targets.mysql_family.session import MySQLSession
from acidtest.targets.mysql_family.target import FamilyTarget
from acidtest.targets.mysql_family.waits import FamilyWatch, StatusWatch
from acidtest.targets.mysql_family.wire import Wire

_PRINT_LOCKS = "innodb_status_output_locks"


class InnoDBTarget(FamilyTarget):
    """A server whose tables live in InnoDB."""

    levels = (Level.READ_UNCOMMITTED, Level.READ_COMMITTED, Level.REPEATABLE_READ, Level.SERIALIZABLE)
    default_level = Level.REPEATABLE_READ
    telling_settings = (
        *FamilyTarget.telling_settings,
        "innodb_snapshot_isolation",
        "log_bin",
        "innodb_rollback_on_timeout",
        "innodb_deadlock_detect",
        "innodb_autoinc_lock_mode",
        "log_bin",
    )
    _printed_locks = "1"

    def numbers_from(self, number: int) -> str | None:
        return f"SET insert_id = {number}"

    def make_watch(self, wire: Wire, sessions: Mapping[int, MySQLSession]) -> FamilyWatch:
        return StatusWatch(wire, sessions)

    def prepare_server(self) -> None:
        """Have locks printed in the status. A user who may not set that gets waits without blockers."""
        shown = self._control.ask(f"SHOW GLOBAL VARIABLES LIKE '{_PRINT_LOCKS}'")[-1]
        if not isinstance(shown, ResultSet) or not shown.rows:
            return  # MySQL before 5.6.16: waits without blockers
        self._printed_locks = "1" if shown.rows[0][1] == "ON" else "0"
        if self._printed_locks != "1":
            self._control.ask(f"SET GLOBAL {_PRINT_LOCKS} = ON")

    def restore_server(self) -> None:
        if self._server is None and self._printed_locks != "1":
            self._control.ask(f"SET GLOBAL {_PRINT_LOCKS} = OFF")
