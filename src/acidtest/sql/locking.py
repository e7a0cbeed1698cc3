"""The locking clauses of queries: FOR UPDATE, FOR SHARE and their like."""

from dataclasses import dataclass
from enum import StrEnum

from sqlglot import exp

from acidtest.sql.named import folded


class Locking(StrEnum):
    """What a SELECT asks to lock, from weak to strong; the two KEY modes are PostgreSQL's."""

    NONE = "none"
    KEY_SHARE = "key share"
    SHARE = "share"
    NO_KEY_UPDATE = "no key update"
    UPDATE = "update"


class Patience(StrEnum):
    """What a locking read does about rows that others have locked."""

    WAIT = "wait"
    NOWAIT = "nowait"
    SKIP = "skip locked"
    MIXED = "mixed"  # several clauses that differ in this


@dataclass(frozen=True, slots=True)
class LockClause:
    """FOR UPDATE and its like. `tables`: the names or aliases after OF; none stands for all."""

    mode: Locking
    tables: tuple[str, ...] = ()
    patience: Patience = Patience.WAIT


def lock_clause(lock: exp.Lock, dialect: str) -> LockClause:
    """A locking clause of a query."""
    update, key = bool(lock.args.get("update")), bool(lock.args.get("key"))
    modes = {
        (True, False): Locking.UPDATE,
        (True, True): Locking.NO_KEY_UPDATE,
        (False, False): Locking.SHARE,
        (False, True): Locking.KEY_SHARE,
    }
    wait = lock.args.get("wait")
    patience = Patience.WAIT  # also with WAIT n
    if isinstance(wait, bool):
        patience = Patience.NOWAIT if wait else Patience.SKIP
    tables = tuple(folded(one.this, dialect) for one in lock.expressions)
    return LockClause(modes[update, key], tables, patience)
