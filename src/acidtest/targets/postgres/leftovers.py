"""What a case leaves behind outside of its schemas: found, and taken away before the next case.

Roles, tablespaces and databases belong to the whole cluster; prepared transactions outlive their session;
event triggers, foreign data wrappers, publications and the like outlive the schemas of a database. On a
server of our own everything goes that came after the target was opened. On somebody else's server only roles
go that a statement of the case created by name. Databases and tablespaces stay there: acidtest drops only
databases that it made and marked.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from acidtest.targets.postgres.session import PostgresSession, RefusedError
from acidtest.targets.sqltext import quote

_THINGS = (
    "ROLE",
    "USER",
    "GROUP",
    "DATABASE",
    "TABLESPACE",
    "SYSTEM",
    r"FOREIGN\s+DATA\s+WRAPPER",
    "SERVER",
    r"EVENT\s+TRIGGER",
    "PUBLICATION",
    "SUBSCRIPTION",
    "EXTENSION",
    r"(?:TRUSTED\s+|PROCEDURAL\s+)*LANGUAGE",
    "CAST",
    r"ACCESS\s+METHOD",
    r"DEFAULT\s+PRIVILEGES",
)
_OUTLIVES = re.compile(
    rf"\b(?:CREATE|ALTER)\s+(?:OR\s+REPLACE\s+)?(?:{'|'.join(_THINGS)})\b|\bPREPARE\s+TRANSACTION\b"
    r"|\bON\s+(?:DATABASE|TABLESPACE)\b|\bREASSIGN\s+OWNED\b|\bpg_\w+_replication_slot\w*\b|\blo_\w+\s*\("
    r"|\b(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM)\s+(?:ONLY\s+)?pg_",
    re.IGNORECASE,
)
_ALTERS_SYSTEM = re.compile(r"\bALTER\s+SYSTEM\b", re.IGNORECASE)

_INVENTORY = """
SELECT 'role', rolname FROM pg_roles WHERE rolname !~ '^pg_'
UNION ALL SELECT 'tablespace', spcname FROM pg_tablespace
UNION ALL SELECT 'database', datname FROM pg_database WHERE datname !~ '^acidtest_'
UNION ALL SELECT 'setting', rolname FROM pg_db_role_setting s JOIN pg_roles r ON r.oid = s.setrole"""


@lru_cache(maxsize=4096)
def may_outlive_the_schema(sql: str) -> bool:
    """Whether a statement may have made something that dropping the schemas does not take back. A careful
    look at its words; what a function of the case's own makes is not seen."""
    return _OUTLIVES.search(sql) is not None


@dataclass(frozen=True, slots=True)
class Inventory:
    """Names of what belongs to the whole cluster, by kind."""

    names: frozenset[tuple[str, str]]

    @classmethod
    def take(cls, admin: PostgresSession) -> "Inventory":
        """What there is now."""
        return cls(frozenset((str(kind), str(name)) for kind, name in admin.rows(_INVENTORY).rows))

    def later(self, now: "Inventory", kind: str) -> list[str]:
        """Names of that kind that were not here yet."""
        return sorted(name for own, name in now.names - self.names if own == kind)


def end_prepared_transactions(control: PostgresSession) -> None:
    """Roll back what was prepared in the private database; it would hold its locks for ever."""
    for (gid,) in control.rows("SELECT gid FROM pg_prepared_xacts WHERE database = current_database()").rows:
        control.ask("ROLLBACK PREPARED '{}'".format(str(gid).replace("'", "''")))


def remove_from_cluster(
    admin: PostgresSession, before: Inventory, statements: Iterable[str], is_own_server: bool
) -> None:
    """Take away what came after `before`. To be called when the private database was made anew: objects in
    the old one no longer hold anything."""
    text = "\n".join(statements)
    now = Inventory.take(admin)

    if is_own_server:
        for database in before.later(now, "database"):
            admin.ask(f"DROP DATABASE IF EXISTS {quote(database)}")
        for tablespace in before.later(now, "tablespace"):
            admin.ask(f"DROP TABLESPACE IF EXISTS {quote(tablespace)}")
    roles = [one for one in before.later(now, "role") if is_own_server or _creates_role(text, one)]
    for role in roles:
        _drop_role(admin, quote(role))
    for role in before.later(now, "setting"):
        if role not in roles and (is_own_server or _alters_role(text, role)):
            admin.ask(f"ALTER ROLE {quote(role)} RESET ALL")
    if is_own_server and _ALTERS_SYSTEM.search(text):
        admin.ask("ALTER SYSTEM RESET ALL")
        admin.ask("SELECT pg_reload_conf()")


def _drop_role(admin: PostgresSession, role: str) -> None:
    try:
        admin.ask(f"DROP ROLE IF EXISTS {role}")
    except RefusedError:  # it owns something, or was granted something, that all databases share
        admin.ask(f"DROP OWNED BY {role} CASCADE")
        admin.ask(f"DROP ROLE IF EXISTS {role}")


def drop_slots(admin: PostgresSession, database: str) -> None:
    """Replication slots keep a database from being dropped."""
    try:
        admin.ask(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots"
            f" WHERE database = '{database}' AND NOT active"
        )
    except RefusedError:
        return  # a user who may not see them cannot have made them either


def _creates_role(text: str, name: str) -> bool:
    return _says(text, "CREATE", name)


def _alters_role(text: str, name: str) -> bool:
    return _says(text, "ALTER", name)


def _says(text: str, verb: str, name: str) -> bool:
    role = rf'\b{verb}\s+(?:ROLE|USER|GROUP)\s+"?{re.escape(name)}(?!\w)'
    return re.search(role, text, re.IGNORECASE) is not None
