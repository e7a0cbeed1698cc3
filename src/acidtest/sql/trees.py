"""SQL text to sqlglot trees, once per text: the solver asks for the same statements again and again."""

from functools import lru_cache
from typing import cast

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

# They speak MySQL's grammar as far as sqlglot knows it.
_GRAMMARS = {
    **dict.fromkeys(("mariadb", "tidb", "seekdb", "simulated"), "mysql"),
    "postgresql": "postgres",
}


@lru_cache(maxsize=2048)
def parse(sql: str, dialect: str) -> exp.Expression | None:
    """The tree of one statement, shared between callers (copy it before editing), or None.

    None means that sqlglot cannot read it, reads more than one statement, or only skims it as a command.
    """
    try:
        trees = sqlglot.parse(sql, read=_GRAMMARS.get(dialect, dialect))
    except (SqlglotError, RecursionError):
        return None
    if len(trees) != 1 or trees[0] is None or isinstance(trees[0], exp.Command):
        return None
    return cast(exp.Expression, trees[0])
