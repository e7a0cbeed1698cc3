"""What a statement does, as far as isolation is concerned: which tables it reads, writes and locks."""

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import cast

from sqlglot import exp

from acidtest.sql.locking import LockClause, Locking, Patience, lock_clause
from acidtest.sql.named import alias_of, folded, known_as, table_name, tables_in
from acidtest.sql.split import MYSQL, UnterminatedError, tokens
from acidtest.sql.trees import parse

__all__ = ["LockClause", "Locking", "Patience", "Shape", "Verb", "shape_of"]


class Verb(StrEnum):
    """The kinds of statements that work on rows."""

    READ = "read"
    INSERT = "insert"
    UPDATE = "update"
    DELETE = "delete"
    MERGE = "merge"


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A statement on rows. `target` is the table that is written; `reads` all tables that are named.

    A query with a write inside (a common table expression) has the verb and the target of that write.
    """

    verb: Verb
    tree: exp.Expression
    reads: tuple[str, ...]
    target: str | None = None
    alias: str | None = None
    where: exp.Expression | None = None
    locking: Locking = Locking.NONE
    """The strongest of `locks`."""
    patience: Patience = Patience.WAIT
    replaces: bool = False  # REPLACE INTO
    plain: bool = True
    """One table, no subquery, join, grouping or LIMIT: which rows it works on depends on each row alone."""
    locks: tuple[LockClause, ...] = ()
    locks_inside: bool = False
    """A subquery or a common table expression locks rows."""
    writes: tuple[str, ...] = ()
    """All tables that it writes itself, the target first; not what foreign keys and triggers do."""
    writes_inside: bool = False
    """A common table expression writes."""
    returns: bool = False
    """A write with RETURNING, which answers with rows."""
    only: bool = False
    """ONLY: without the rows of partitions and inheriting tables."""
    lateral: bool = False
    calls: tuple[str, ...] = ()
    """Functions that sqlglot does not know, in lower case: those of the case are among them."""


@lru_cache(maxsize=2048)
def shape_of(sql: str, dialect: str) -> Shape | None:
    """The shape of a statement; None if sqlglot cannot read it, or it is none that works on rows."""
    replaced = re.sub(r"^\s*REPLACE\b", "INSERT", sql, count=1, flags=re.IGNORECASE)
    text = _without_priority(replaced)
    tree = parse(text, dialect) or parse(_with_named_defaults(text), dialect)
    if tree is None:
        return None
    inside = _write_inside(tree)
    if inside is not None:
        return _shape_around(tree, inside, dialect)
    if isinstance(tree, exp.Insert):
        return _insert_shape(tree, dialect, replaces=replaced != sql)
    if isinstance(tree, exp.Merge):
        return _shape(Verb.MERGE, tree, dialect, tree.this)
    if isinstance(tree, exp.Update | exp.Delete):
        return _write_shape(tree, dialect)
    return _read_shape(tree, dialect) if isinstance(tree, exp.Query) else None


DEFAULT_OF = "default_of"
"""The name that a shape's tree has for MySQL's DEFAULT(column), which sqlglot does not read."""


def _with_named_defaults(sql: str) -> str:
    if not re.search(r"\bDEFAULT\s*\(", sql, re.IGNORECASE):
        return sql
    try:
        words = [one.text for one in tokens(sql, MYSQL)]
    except UnterminatedError:
        return sql
    pairs = zip(words, [*words[1:], ""], strict=True)
    return "".join(
        DEFAULT_OF if one.upper() == "DEFAULT" and after.startswith("(") else one for one, after in pairs
    )


def _without_priority(sql: str) -> str:
    """Words of MySQL's that change no result; sqlglot takes LOW_PRIORITY for a table."""
    return re.sub(
        r"^(\s*(?:UPDATE|DELETE|INSERT)\s+)(?:LOW_PRIORITY|HIGH_PRIORITY)\s+", r"\1", sql, flags=re.I
    )


def _shape(verb: Verb, tree: exp.Expression, dialect: str, target: exp.Expression) -> Shape | None:
    """The shape of a write of one table; more is told by its callers."""
    if not isinstance(target, exp.Table) or not isinstance(target.this, exp.Identifier):
        return None
    name = table_name(target, dialect)
    return Shape(
        verb=verb,
        tree=tree,
        reads=tables_in(tree, dialect),
        target=name,
        alias=alias_of(target, dialect),
        plain=False,
        locks_inside=tree.find(exp.Lock) is not None,
        writes=(name,),
        returns=bool(tree.args.get("returning")),
        only=_has_only(tree),
        lateral=tree.find(exp.Lateral) is not None,
        calls=_calls(tree),
    )


def _insert_shape(tree: exp.Insert, dialect: str, *, replaces: bool) -> Shape | None:
    shape = _shape(Verb.INSERT, tree, dialect, _target(tree))
    if shape is None:
        return None
    return replace(shape, replaces=replaces, plain=len(shape.reads) == 1 and not shape.lateral)


# -- UPDATE and DELETE

_NOT_PLAIN = ("order", "limit", "from_", "using", "tables", "with_")


def _write_shape(tree: exp.Update | exp.Delete, dialect: str) -> Shape | None:
    written = _written(tree, dialect)
    if written is None:
        return None
    verb = Verb.UPDATE if isinstance(tree, exp.Update) else Verb.DELETE
    shape = _shape(verb, tree, dialect, written[0])
    if shape is None:
        return None
    where = tree.args.get("where")
    plain = (
        len(shape.reads) == 1
        and not tree.this.args.get("joins")
        and not any(tree.args.get(part) for part in _NOT_PLAIN)
        and not shape.only
        and tree.find(exp.Subquery, exp.Select) is None
    )
    return replace(
        shape,
        where=where.this if where else None,
        plain=plain,
        writes=tuple(dict.fromkeys(table_name(one, dialect) for one in written)),
    )


def _written(tree: exp.Update | exp.Delete, dialect: str) -> list[exp.Table] | None:
    """The tables that are written, as they stand in the join; None if the text does not tell."""
    if not isinstance(tree.this, exp.Table):
        return None
    joins = tree.this.args.get("joins")
    if isinstance(tree, exp.Update):
        if not joins:
            return [tree.this]
        names = [one.this.args.get("table") for one in tree.expressions]
        if not all(isinstance(name, exp.Identifier) for name in names):
            return None
        return _by_name([folded(cast(exp.Identifier, name), dialect) for name in names], [tree.this], dialect)
    named = [known_as(one, dialect) for one in tree.args.get("tables") or ()]
    if named:
        return _by_name(named, [tree.this], dialect)
    using = tree.args.get("using") or []
    own = _by_name([known_as(tree.this, dialect)], using, dialect) if using else None
    return own if own is not None and dialect not in ("postgres", "postgresql") else [tree.this]


def _by_name(names: list[str], sources: list[exp.Table], dialect: str) -> list[exp.Table] | None:
    joined = [*sources, *(join.this for one in sources for join in one.args.get("joins") or ())]
    tables = {known_as(one, dialect): one for one in joined if isinstance(one, exp.Table)}
    found = [tables.get(name) for name in dict.fromkeys(names)]
    return None if None in found else cast(list[exp.Table], found)


# -- queries


def _read_shape(tree: exp.Expression, dialect: str) -> Shape:
    locks = tuple(lock_clause(lock, dialect) for lock in tree.args.get("locks") or ())
    reads = tables_in(tree, dialect)
    where = tree.args.get("where")
    source = tree.args.get("from_")
    table = source.this if source is not None else None
    plain = (
        isinstance(tree, exp.Select)
        and isinstance(table, exp.Table)
        and len(reads) == 1
        and not any(table.args.get(part) for part in ("joins", "sample", "only", "partition", "version"))
        and not any(tree.args.get(part) for part in _NOT_PLAIN_READ)
        and len(list(tree.find_all(exp.Select))) == 1
        and tree.find(exp.AggFunc, exp.Window, exp.Lateral) is None
    )
    patience = {one.patience for one in locks}
    return Shape(
        verb=Verb.READ,
        tree=tree,
        reads=reads,
        target=reads[0] if plain else None,
        alias=alias_of(table, dialect) if isinstance(table, exp.Table) else None,
        where=where.this if where else None,
        locking=max((one.mode for one in locks), key=list(Locking).index, default=Locking.NONE),
        patience=Patience.WAIT if not locks else patience.pop() if len(patience) == 1 else Patience.MIXED,
        plain=plain,
        locks=locks,
        locks_inside=any(lock.parent is not tree for lock in tree.find_all(exp.Lock)),
        only=_has_only(tree),
        lateral=tree.find(exp.Lateral) is not None,
        calls=_calls(tree),
    )


_NOT_PLAIN_READ = ("joins", "group", "having", "limit", "offset", "distinct", "with_", "laterals")


# -- parts


def _write_inside(tree: exp.Expression) -> exp.Expression | None:
    found = tree.find_all(exp.Insert, exp.Update, exp.Delete, exp.Merge)
    return next((one for one in found if isinstance(one.parent, exp.CTE)), None)


def _shape_around(tree: exp.Expression, inside: exp.Expression, dialect: str) -> Shape | None:
    """A statement with writes among its common table expressions."""
    nodes = list(tree.find_all(exp.Insert, exp.Update, exp.Delete, exp.Merge))
    own = [one for one in nodes if one is tree or isinstance(one.parent, exp.CTE)]
    first = tree if any(one is tree for one in own) else inside
    verb = next(verb for kind, verb in _VERBS.items() if isinstance(first, kind))
    shape = _shape(verb, tree, dialect, _target(first))
    if shape is None or not all(isinstance(_target(one), exp.Table) for one in own):
        return None
    names = [*shape.writes, *(table_name(_target(one), dialect) for one in own)]
    returns = shape.returns or isinstance(tree, exp.Query)
    return replace(shape, writes=tuple(dict.fromkeys(names)), writes_inside=True, returns=returns)


def _target(write: exp.Expression) -> exp.Table:
    return cast(exp.Table, write.this.this if isinstance(write.this, exp.Schema) else write.this)


_VERBS = {
    exp.Insert: Verb.INSERT,
    exp.Update: Verb.UPDATE,
    exp.Delete: Verb.DELETE,
    exp.Merge: Verb.MERGE,
}


def _has_only(tree: exp.Expression) -> bool:
    return any(table.args.get("only") for table in tree.find_all(exp.Table))


def _calls(tree: exp.Expression) -> tuple[str, ...]:
    names = (str(node.this).lower() for node in tree.find_all(exp.Anonymous))
    return tuple(dict.fromkeys(name for name in names if name not in ("values", DEFAULT_OF)))
