"""From the shape of a write to what runs it."""

from sqlglot import exp

from acidtest.evaluator.api import (
    CompiledExpression,
    compile_predicate,
)
from acidtest.evaluator.dialect import Dialect
from acidtest.evaluator.errors import Unknown
from acidtest.evaluator.writes.effect import Write
from acidtest.evaluator.writes.insert import Insert
from acidtest.evaluator.writes.keys import unique_index
from acidtest.evaluator.writes.update import Delete, Update
from acidtest.model import Schema, Table
from acidtest.sql.shape import Shape, Verb


def compile_write(shape: Shape, schema: Schema, dialect: Dialect) -> Write:
    """Compile a write; raises `Unknown` for what is not modelled."""
    if shape.target is None or shape.verb is Verb.READ:
        raise Unknown("not a write")
    table = table_of(schema, shape.target)
    if any(column.generated for column in table.columns):
        raise Unknown("generated columns")
    if shape.tree.args.get("returning"):
        raise Unknown("RETURNING")
    unique = tuple(unique_index(index, table, dialect) for index in table.indexes if index.unique)
    predicate = CompiledExpression(lambda _row: True)
    if shape.verb is Verb.INSERT:
        return Write(table, shape.verb, unique, predicate, Insert(shape, table, schema, dialect, unique).run)
    if dialect.name == "sqlite" and shape.tree.find(exp.Select) is not None:
        # It may test rows after it has changed others: seen on 3.40, where a condition short-circuits.
        raise Unknown("a write that reads while it writes")
    refuse(shape.tree, "order", "limit", "from_", "using", "tables", "with_")
    if shape.tree.this.args.get("joins"):
        raise Unknown("a write of several tables")
    strict = has_strict_condition(shape.verb, dialect)
    predicate = compile_predicate(
        shape.where, table, dialect, catalog=schema, writes=strict, alias=shape.alias
    )
    if shape.verb is Verb.DELETE:
        return Write(table, shape.verb, unique, predicate, Delete(predicate).run)
    if dialect.name == "mariadb" and shape.tree.find(exp.Query) and _builds_on_itself(shape.tree):
        # It may run as an UPDATE of several tables, where an assignment sees the old values.
        raise Unknown("assignments that build on each other beside a subquery")
    update = Update(shape, table, schema, dialect, unique, predicate)
    return Write(table, shape.verb, unique, predicate, update.run)


def _builds_on_itself(update: exp.Expression) -> bool:
    """Whether an assignment reads a column that one to its left has set."""
    done: set[str] = set()
    for item in update.expressions:
        if any(column.name.lower() in done for column in item.expression.find_all(exp.Column)):
            return True
        done.add(item.this.name.lower())
    return False


def has_strict_condition(verb: Verb, dialect: Dialect) -> bool:
    """Whether a division by zero or a truncation in WHERE fails the write: in MariaDB's DELETE it warns."""
    return not (verb is Verb.DELETE and dialect.name == "mariadb")


def table_of(schema: Schema, name: str) -> Table:
    try:
        return schema.table(name)
    except KeyError:
        raise Unknown(f"table {name} is not one of the case") from None


def refuse(tree: exp.Expression, *parts: str) -> None:
    for part in parts:
        if tree.args.get(part):
            raise Unknown(f"{type(tree).__name__.upper()} with {part.strip('_').upper()}")
