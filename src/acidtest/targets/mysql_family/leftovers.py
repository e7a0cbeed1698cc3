"""What a case leaves behind outside of the private database: found, and put back before the next case.

Prepared XA transactions outlive their session, global variables, schemas, users and roles belong to the whole
server. Statements are noted that may have made such things; what they named is undone. On a server of our own
also schemas and users that came by other ways. On somebody else's server schemas stay: acidtest drops only
databases that it made and marked.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from time import monotonic

from acidtest.errors import TargetFailedError
from acidtest.targets.mysql_family.catalog import quote_name, quote_text
from acidtest.targets.mysql_family.replies import Refused, ResultSet
from acidtest.targets.mysql_family.wire import Wire

ROLLBACK_LIMIT_S = 10.0
"""How long a connection that is gone may hold on to its prepared transaction."""

_OUTLIVES = re.compile(
    r"\b(?:GLOBAL|PERSIST|PERSIST_ONLY)\b|@@(?:global|persist)"
    r"|\b(?:CREATE|RENAME)\s+(?:OR\s+REPLACE\s+)?(?:DATABASE|SCHEMA|USER|ROLE)\b|\bGRANT\b.*\bIDENTIFIED\b",
    re.IGNORECASE | re.DOTALL,
)
_XA = re.compile(
    r"\s*XA\s+(?:START|BEGIN|END|PREPARE)\s+(.+?)\s*(?:\b(?:JOIN|RESUME|SUSPEND(?:\s+FOR\s+MIGRATE)?)\s*)?;?\s*\Z",
    re.IGNORECASE | re.DOTALL,
)
_QUOTED = re.compile(r"""['"]((?:[^'"]|'')*)['"]""")
_PERSISTS = frozenset({"persist", "persist_only"})
_READ_ONLY = {"super_read_only": ("super_read_only", "read_only")}
"""A variable that turns others on with itself."""


@lru_cache(maxsize=4096)
def may_outlive_the_database(sql: str) -> bool:
    """Whether a statement may have changed something outside of the private database."""
    return _OUTLIVES.search(sql) is not None


@lru_cache(maxsize=4096)
def xid_of(sql: str) -> str | None:
    """The identifier of the XA transaction that a statement begins, ends or prepares, as it is written."""
    match = _XA.match(sql) if "xa" in sql[:40].lower() else None
    return match[1] if match else None


@dataclass(frozen=True, slots=True)
class Inventory:
    """What the server had before any case: schemas, accounts with their host, global variables."""

    schemas: frozenset[str]
    accounts: frozenset[tuple[str, str]]
    variables: dict[str, str]

    @classmethod
    def take(cls, wire: Wire) -> "Inventory":
        """What there is now; what this user may not see, it cannot have made either."""
        schemas = _rows(wire, "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA")
        accounts = _rows(wire, "SELECT User, Host FROM mysql.user")
        variables = _rows(wire, "SHOW GLOBAL VARIABLES")
        return cls(
            frozenset(name for (name,) in schemas if not name.startswith("acidtest_")),
            frozenset((user, host) for user, host in accounts),
            dict(variables),  # type: ignore[arg-type]
        )


def put_back(wire: Wire, before: Inventory, statements: Iterable[str], is_own_server: bool) -> None:
    """Undo what the statements left. Raises `TargetFailedError` if the server does not let us."""
    text = "\n".join(statements)
    words = {word.lower() for word in re.findall(r"\w+", text)}
    for name in _changed(words):
        _restore(wire, name, before.variables.get(name), persisted=bool(words & _PERSISTS))
    now = Inventory.take(wire)
    for schema in sorted(now.schemas - before.schemas) if is_own_server else ():
        _demand(wire, f"DROP DATABASE IF EXISTS {quote_name(schema)}")
    for user, host in sorted(now.accounts - before.accounts):
        if is_own_server or _creates_account(text, user):
            _drop_account(wire, user, host)


def _creates_account(text: str, user: str) -> bool:
    created = rf"\b(?:USER|ROLE)\s+(?:IF\s+NOT\s+EXISTS\s+)?['\"`]?{re.escape(user)}(?!\w)"
    return re.search(rf"\bCREATE\s+(?:OR\s+REPLACE\s+)?{created}", text, re.IGNORECASE) is not None


def roll_back(wire: Wire, xids: Iterable[str]) -> None:
    """Roll back XA transactions that a case prepared. One whose connection has only just gone may still
    belong to it, so ask until the server does not list it any more."""
    deadline = monotonic() + ROLLBACK_LIMIT_S
    for xid in xids:
        wire.ask(f"XA ROLLBACK {xid}")  # refused if the case has ended it itself
        while _is_prepared(wire, _gtrid(xid)):
            if monotonic() > deadline:
                raise TargetFailedError(
                    f"{wire.label}: the XA transaction {xid} that a case left cannot be rolled back"
                )
            wire.ask(f"XA ROLLBACK {xid}")


def _is_prepared(wire: Wire, gtrid: str) -> bool:
    return any(data[: int(length)] == gtrid for _, length, _, data in _rows(wire, "XA RECOVER"))


def _gtrid(xid: str) -> str:
    """The first part of an identifier, as the server lists it."""
    quoted = _QUOTED.match(xid)
    if quoted is not None:
        return quoted[1].replace("''", "'")
    digits = re.match(r"0?[xX]'?([0-9a-fA-F]+)", xid)
    return _text(bytes.fromhex(digits[1])) if digits else xid


def _changed(words: set[str]) -> list[str]:
    names = [name for word in words for name in _READ_ONLY.get(word, (word,))]
    return sorted(set(names), key=lambda name: "read_only" not in name)  # else nothing else can be written


def _restore(wire: Wire, name: str, value: str | None, persisted: bool) -> None:
    if value is None:
        return  # no variable of that name
    now = _rows(wire, f"SHOW GLOBAL VARIABLES LIKE {quote_text(name)}")
    if persisted:  # only what a case persisted: the server's owner may have persisted settings, too
        wire.ask(f"RESET PERSIST IF EXISTS {name}")  # MySQL 8; refused elsewhere
    if now == [(name, value)]:
        return
    written = value if re.fullmatch(r"-?\d+(\.\d+)?", value) else quote_text(value)
    _demand(wire, f"SET GLOBAL {name} = {written}")


def _drop_account(wire: Wire, user: str, host: str) -> None:
    refused = wire.ask(f"DROP USER {quote_text(user)}@{quote_text(host)}")[-1]
    if isinstance(refused, Refused):  # MariaDB keeps roles among the users, and drops them by another word
        _demand(wire, f"DROP ROLE IF EXISTS {quote_name(user)}")


def _demand(wire: Wire, sql: str) -> None:
    refused = wire.ask(sql)[-1]
    if isinstance(refused, Refused):
        raise TargetFailedError(
            f"{wire.label}: what a case left behind cannot be taken away: {sql}: {refused.message}"
        )


def _rows(wire: Wire, question: str) -> list[tuple[str, ...]]:
    result = wire.ask(question)[-1]
    if not isinstance(result, ResultSet):
        return []
    return [tuple(_text(cell) for cell in row) for row in result.rows]


def _text(cell: object) -> str:
    return cell.decode("utf-8", "backslashreplace") if isinstance(cell, bytes) else str(cell)
