"""What a statement does to the transaction and to the session, told from its first words.

The executor asks this of every statement it sends, so it is a look at the first words and not a parse.
"""

import re
from enum import StrEnum
from functools import lru_cache


class StatementKind(StrEnum):
    """Kinds that the executor and the targets have to tell apart."""

    BEGIN = "begin"
    COMMIT = "commit"
    ROLLBACK = "rollback"
    SAVEPOINT = "savepoint"  # SAVEPOINT, ROLLBACK TO, RELEASE
    QUERY = "query"
    WRITE = "write"
    DDL = "ddl"
    SESSION = "session"  # SET and others that outlive the transaction in the session
    OTHER = "other"


_FIRST_WORDS = re.compile(
    r"(?:\s+|/\*.*?\*/|--[^\n]*\n|#[^\n]*\n|\()*([A-Za-z]+)(?:\s+([A-Za-z]+))?", re.DOTALL
)

_KINDS = {
    "BEGIN": StatementKind.BEGIN,
    "COMMIT": StatementKind.COMMIT,
    "END": StatementKind.COMMIT,
    "ABORT": StatementKind.ROLLBACK,
    "SAVEPOINT": StatementKind.SAVEPOINT,
    "RELEASE": StatementKind.SAVEPOINT,
    "SELECT": StatementKind.QUERY,
    "VALUES": StatementKind.QUERY,
    "TABLE": StatementKind.QUERY,
    "SHOW": StatementKind.QUERY,
    "EXPLAIN": StatementKind.QUERY,
    "DESCRIBE": StatementKind.QUERY,
    "DESC": StatementKind.QUERY,
    "FROM": StatementKind.QUERY,
    "INSERT": StatementKind.WRITE,
    "UPDATE": StatementKind.WRITE,
    "DELETE": StatementKind.WRITE,
    "REPLACE": StatementKind.WRITE,
    "MERGE": StatementKind.WRITE,
    "CREATE": StatementKind.DDL,
    "ALTER": StatementKind.DDL,
    "DROP": StatementKind.DDL,
    "TRUNCATE": StatementKind.DDL,
    "RENAME": StatementKind.DDL,
    "COMMENT": StatementKind.DDL,
    "GRANT": StatementKind.DDL,
    "REVOKE": StatementKind.DDL,
    "SET": StatementKind.SESSION,
    "RESET": StatementKind.SESSION,
    "PRAGMA": StatementKind.SESSION,
    "LOCK": StatementKind.SESSION,
    "UNLOCK": StatementKind.SESSION,
    "PREPARE": StatementKind.SESSION,
    "EXECUTE": StatementKind.SESSION,
    "DEALLOCATE": StatementKind.SESSION,
    "DECLARE": StatementKind.SESSION,
    "USE": StatementKind.SESSION,
    "ATTACH": StatementKind.SESSION,
    "DETACH": StatementKind.SESSION,
    "LISTEN": StatementKind.SESSION,
}


@lru_cache(maxsize=4096)
def kind_of(sql: str) -> StatementKind:
    """The kind of a statement; what is not known is OTHER, and treated as if it could do anything."""
    match = _FIRST_WORDS.match(sql)
    if match is None:
        return StatementKind.OTHER
    first, second = match[1].upper(), (match[2] or "").upper()
    if first == "START" and second == "TRANSACTION":
        return StatementKind.BEGIN
    if first == "ROLLBACK":
        return StatementKind.SAVEPOINT if re.search(r"\bTO\b", sql, re.IGNORECASE) else StatementKind.ROLLBACK
    if first == "WITH":
        return _kind_after_with(sql)
    return _KINDS.get(first, StatementKind.OTHER)


def _kind_after_with(sql: str) -> StatementKind:
    """A common table expression heads a query or a write; a write inside it makes it a write."""
    writes = re.search(r"\b(INSERT|UPDATE|DELETE|MERGE)\b(?!\s*OF)", sql, re.IGNORECASE)
    locks_only = re.search(r"\bFOR\s+(NO\s+KEY\s+)?UPDATE\b", sql, re.IGNORECASE)
    if writes and not (
        locks_only
        and len(re.findall(r"\bUPDATE\b", sql, re.IGNORECASE)) == 1
        and writes[1].upper() == "UPDATE"
    ):
        return StatementKind.WRITE
    return StatementKind.QUERY
