"""Which tables a statement names: no common table expressions, no aliases, names as the DBMS reads them."""

from collections.abc import Iterator
from typing import Any

from sqlglot import exp

_FOLDS_TO_LOWER = frozenset({"postgres", "postgresql"})


def folded(identifier: exp.Expression, dialect: str) -> str:
    """An identifier as the DBMS reads it: PostgreSQL takes what is not quoted for lower case."""
    name = str(identifier.this)
    return name.lower() if dialect in _FOLDS_TO_LOWER and not identifier.args.get("quoted") else name


def table_name(node: exp.Table, dialect: str) -> str:
    """The name of a table; one of another schema keeps that schema's name."""
    schema = node.args.get("db")
    own = folded(node.this, dialect)
    return own if schema is None else f"{folded(schema, dialect)}.{own}"


def alias_of(node: exp.Table, dialect: str) -> str | None:
    """The alias of a table in a statement."""
    alias = node.args.get("alias")
    return folded(alias.this, dialect) if alias is not None and alias.this is not None else None


def known_as(node: exp.Table, dialect: str) -> str:
    """What columns of the table are qualified with."""
    return alias_of(node, dialect) or folded(node.this, dialect)


def tables_in(tree: exp.Expression, dialect: str) -> tuple[str, ...]:
    """Names of all stored tables of a statement, each once."""
    return tuple(dict.fromkeys(table_name(node, dialect) for node in _stored(tree, dialect)))


def _stored(tree: exp.Expression, dialect: str) -> Iterator[exp.Table]:
    for node in tree.find_all(exp.Table):
        if not isinstance(node.this, exp.Identifier):
            continue  # a function
        if isinstance(node.parent, exp.Lock) or _is_alias_to_delete(node, dialect):
            continue
        if node.args.get("db") is None and _is_common(node, dialect):
            continue
        yield node


def _is_alias_to_delete(node: exp.Table, dialect: str) -> bool:
    """Whether a table stands for one of those that a DELETE of MySQL's family joins."""
    parent = node.parent
    if not isinstance(parent, exp.Delete):
        return False
    return node.arg_key == "tables" or (
        node.arg_key == "this" and bool(parent.args.get("using")) and dialect not in _FOLDS_TO_LOWER
    )


def _is_common(node: exp.Table, dialect: str) -> bool:
    """Whether a name is that of a common table expression where it stands."""
    wanted = folded(node.this, dialect)
    below: Any = node
    above: Any = node.parent
    while above is not None:
        clause = above.args.get("with_")
        if clause is not None and below is not clause and wanted in _names(clause, None, dialect):
            return True
        if isinstance(above, exp.With) and isinstance(below, exp.CTE):
            until = None if above.args.get("recursive") else below
            if wanted in _names(above, until, dialect):
                return True
        below, above = above, above.parent
    return False


def _names(clause: exp.With, until: exp.Expression | None, dialect: str) -> set[str]:
    names = set()
    for one in clause.expressions:
        if one is until:
            break
        names.add(folded(one.args["alias"].this, dialect))
    return names
