"""What a statement does, as far as isolation is concerned: which tables it reads, writes and locks."""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from sqlglot import exp

from acidtest.sql.trees import parse


class Verb(StrEnum):
    """The kinds of statements that work on rows."""

    READ = "read"
    INSERT = "insert"
    UPDATE = "update"
    DELETE = "delete"


class Locking(StrEnum):
    """What a SELECT asks to lock."""

    NONE = "none"
    SHARE = "share"
    UPDATE = "update"


class Patience(StrEnum):
    """What a locking read does about rows that others have locked."""

    WAIT = "wait"
    NOWAIT = "nowait"
    SKIP = "skip locked"


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A statement on rows. `target` is the table that is written; `reads` all tables that are named."""

    verb: Verb
    tree: exp.Expression
    reads: tuple[str, ...]
    target: str | None = None
    alias: str | None = None
    where: exp.Expression | None = None
    locking: Locking = Locking.NONE
    patience: Patience = Patience.WAIT
    replaces: bool = False  # REPLACE INTO
    plain: bool = True
    """One table, no subquery, join, grouping or LIMIT: which rows it works on depends on each row alone."""


@lru_cache(maxsize=2048)
def shape_of(sql: str, dialect: str) -> Shape | None:
    """The shape of a statement; None if sqlglot cannot read it, or it is none that works on rows."""
    replaced = re.sub(r"^\s*REPLACE\b", "INSERT", sql, count=1, flags=re.IGNORECASE)
    tree = parse(replaced, dialect)
    if tree is None:
        return None
    reads = tuple(
        dict.fromkeys(table.name for table in tree.find_all(exp.Table) if table.name not in _ctes(tree))
    )
    if isinstance(tree, exp.Insert):
        target = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
        return Shape(Verb.INSERT, tree, reads, target.name, replaces=replaced != sql, plain=len(reads) == 1)
    if isinstance(tree, exp.Update | exp.Delete):
        return _write_shape(tree, reads)
    if isinstance(tree, exp.Query):
        return _read_shape(tree, reads)
    return None


def _write_shape(tree: exp.Update | exp.Delete, reads: tuple[str, ...]) -> Shape | None:
    target = tree.this
    if not isinstance(target, exp.Table):
        return None
    where = tree.args.get("where")
    plain = (
        len(reads) == 1
        and not target.args.get("joins")
        and not any(tree.args.get(part) for part in ("order", "limit", "from_", "using", "tables", "with_"))
        and tree.find(exp.Subquery, exp.Select) is None
    )
    verb = Verb.UPDATE if isinstance(tree, exp.Update) else Verb.DELETE
    return Shape(
        verb, tree, reads, target.name, target.alias or None, where.this if where else None, plain=plain
    )


def _read_shape(tree: exp.Expression, reads: tuple[str, ...]) -> Shape:
    locks = tree.args.get("locks") or []
    locking, patience = Locking.NONE, Patience.WAIT
    if locks:
        locking = Locking.UPDATE if any(lock.args.get("update") for lock in locks) else Locking.SHARE
        wait = locks[0].args.get("wait")
        if wait is not None:
            patience = Patience.NOWAIT if wait is True else Patience.SKIP
    where = tree.args.get("where")
    source = tree.args.get("from_")
    table = source.this if source is not None else None
    plain = (
        isinstance(tree, exp.Select)
        and isinstance(table, exp.Table)
        and len(reads) == 1
        and not table.args.get("joins")
        and not any(
            tree.args.get(part) for part in ("joins", "group", "having", "limit", "distinct", "with_")
        )
        and len(list(tree.find_all(exp.Select))) == 1
        and tree.find(exp.AggFunc, exp.Window) is None
    )
    return Shape(
        verb=Verb.READ,
        tree=tree,
        reads=reads,
        target=reads[0] if plain else None,
        alias=(table.alias or None) if isinstance(table, exp.Table) else None,
        where=where.this if where else None,
        locking=locking,
        patience=patience,
        plain=plain,
    )


def _ctes(tree: exp.Expression) -> set[str]:
    return {cte.alias for cte in tree.find_all(exp.CTE)}
