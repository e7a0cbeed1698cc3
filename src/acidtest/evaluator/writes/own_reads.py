"""Subqueries of a write that read the table it writes, which MySQL refuses."""

from typing import Any

from sqlglot import exp

from acidtest.evaluator.dialect import Dialect
from acidtest.evaluator.errors import EvaluationError
from acidtest.evaluator.writes.joining import is_joined
from acidtest.model import ErrorKind
from acidtest.sql.named import table_name
from acidtest.sql.shape import Shape, Verb


def refuse_own_reads(shape: Shape, dialect: Dialect) -> None:
    """Raise the error of a statement that reads its own target where the DBMS does not allow that."""
    if shape.plain and shape.verb is not Verb.INSERT:
        return
    writing = dialect.writing
    joined_delete = shape.verb is Verb.DELETE and is_joined(shape.tree)
    refuses = writing.refuses_own_reads_of_joins if joined_delete else writing.refuses_own_reads
    if refuses and any(_reads(select, shape, dialect) for select in shape.tree.find_all(exp.Select)):
        raise EvaluationError(ErrorKind.UNSUPPORTED, "a subquery reads the table that is written")


def _reads(select: exp.Select, shape: Shape, dialect: Dialect) -> bool:
    """Whether a query inside an expression reads a table that is written, not by way of a derived table."""
    source = select.args.get("from_")
    tables = [source.this] if source is not None else []
    tables += [join.this for join in select.args.get("joins") or ()]
    names = {table_name(one, dialect.name) for one in tables if isinstance(one, exp.Table)}
    return bool(names & set(shape.writes)) and _is_in_expression(select, shape.tree)


def _is_in_expression(select: exp.Select, tree: exp.Expression) -> bool:
    """Whether a query belongs to an expression; derived tables and what INSERT takes rows from come first."""
    below: Any = select
    above: Any = select.parent
    while above is not None and below is not tree:
        if isinstance(above, exp.From | exp.Join | exp.CTE):
            return False
        if above is tree and isinstance(tree, exp.Insert) and below.arg_key == "expression":
            return isinstance(below, exp.Values)
        below, above = above, above.parent
    return True
