"""From the shape of a write to what runs it."""

from collections.abc import Callable, Sequence

from sqlglot import exp

from acidtest.evaluator.api import CompiledExpression
from acidtest.evaluator.dialect import Dialect
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.writes.effect import Effect, Run, UniqueIndex, Write
from acidtest.evaluator.writes.insert import Insert
from acidtest.evaluator.writes.joining import Joined, is_joined
from acidtest.evaluator.writes.keys import unique_index
from acidtest.evaluator.writes.merging import Merge
from acidtest.evaluator.writes.own_reads import refuse_own_reads
from acidtest.evaluator.writes.target import Target, condition_of, has_strict_condition
from acidtest.evaluator.writes.update import Delete, Update
from acidtest.model import ErrorKind, Schema, Table
from acidtest.sql.shape import Shape, Verb

_EVERY_ROW = CompiledExpression(lambda _row: True)


def compile_write(shape: Shape, schema: Schema, dialect: Dialect) -> Write:
    """Compile a write; raises `Unknown` for what is not modelled.

    A statement that the DBMS refuses whatever the rows are has an effect too: the error.
    """
    if shape.target is None or shape.verb is Verb.READ:
        raise Unknown("not a write")
    if shape.writes_inside:
        raise Unknown("a write inside a query")
    table = table_of(schema, shape.target, dialect)
    if shape.only and table.children:
        raise Unknown("ONLY a table that has partitions or heirs")
    try:
        return _compiled(shape, table, schema, dialect)
    except EvaluationError as error:
        return Write(table, shape.verb, _unique(table, schema, dialect), _EVERY_ROW, _refusal(error.kind))


def _compiled(shape: Shape, table: Table, schema: Schema, dialect: Dialect) -> Write:
    refuse_own_reads(shape, dialect)
    if shape.verb is Verb.INSERT:
        target = Target.of(table, shape.alias, schema, dialect)
        return _write(target, shape, Insert(shape, target).run)
    if shape.verb is Verb.MERGE:
        target = Target.of(table, shape.alias, schema, dialect)
        return _write(target, shape, Merge(shape, target).run)
    if dialect.writing.reads_while_writing and shape.tree.find(exp.Select) is not None:
        # It may test rows after it has changed others: seen on 3.40, where a condition short-circuits.
        raise Unknown("a write that reads while it writes")
    if is_joined(shape.tree):
        joined = Joined(shape, schema, dialect)
        return _write(joined.main, shape, joined.run, others=joined.targets)
    return _single(shape, Target.of(table, shape.alias, schema, dialect))


def _single(shape: Shape, target: Target) -> Write:
    compiler = target.scope(shape.tree, strict=has_strict_condition(shape.verb, target.dialect))
    test = condition_of(shape, compiler)
    compiler.finish()
    predicate = CompiledExpression(test)
    if shape.verb is Verb.DELETE:
        return _write(target, shape, Delete(shape, target, compiler, test).run, predicate)
    # With a subquery MariaDB may run it as an UPDATE of several tables, which sees the old values.
    doubts_order = (
        target.dialect.name == "mariadb"
        and shape.tree.find(exp.Query) is not None
        and _builds_on_itself(shape.tree)
    )
    update = Update(shape, target, compiler, test, doubts_order=doubts_order)
    compiler.finish()
    return _write(target, shape, update.run, predicate)


def _write(
    target: Target,
    shape: Shape,
    run: Callable[[Run], Effect],
    predicate: CompiledExpression = _EVERY_ROW,
    others: Sequence[Target] = (),
) -> Write:
    targets = [target, *others]
    related = sorted({name for one in targets for name in one.references.tables})
    return Write(target.table, shape.verb, target.unique, predicate, run, tuple(related))


def _refusal(kind: ErrorKind) -> Callable[[Run], Effect]:
    return lambda _run: Effect(errors=frozenset({kind}))


def _unique(table: Table, schema: Schema, dialect: Dialect) -> tuple[UniqueIndex, ...]:
    return tuple(unique_index(one, table, schema, dialect) for one in table.indexes if one.unique)


def _builds_on_itself(update: exp.Expression) -> bool:
    """Whether an assignment reads a column that one to its left has set."""
    done: set[str] = set()
    for item in update.expressions:
        if any(column.name.lower() in done for column in item.expression.find_all(exp.Column)):
            return True
        done.add(item.this.name.lower())
    return False


def table_of(schema: Schema, name: str, dialect: Dialect) -> Table:
    """The table that a statement names."""
    wanted = dialect.table_key(name)
    for table in schema.tables:
        if dialect.table_key(table.name) == wanted:
            return table
    raise Unknown(f"table {name} is not one of the case")
