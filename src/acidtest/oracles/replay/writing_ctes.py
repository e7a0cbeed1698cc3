"""WITH x AS (INSERT .. RETURNING ..): a statement that writes in its common table expressions, part by part.

All parts have the same snapshot and see nothing of what the others write; only RETURNING tells them:
https://www.postgresql.org/docs/current/queries-with.html#QUERIES-WITH-MODIFYING
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from acidtest.evaluator.writes.values import literal_of
from acidtest.model import Affected, Failed, Record, Row, Rows, RowsWitness, Table
from acidtest.oracles.engines.base import UndecidedError, Views
from acidtest.oracles.replay.context import Context
from acidtest.oracles.replay.tracing import Tracer
from acidtest.oracles.replay.transactions import SessionState
from acidtest.oracles.replay.violations import ViolationError
from acidtest.oracles.replay.writes import Writes
from acidtest.sql.named import tables_in
from acidtest.sql.shape import Shape, Verb, shape_of

_WRITES = (exp.Insert, exp.Update, exp.Delete, exp.Merge)


@dataclass(frozen=True, slots=True)
class _Part:
    """A common table expression that writes."""

    name: str
    sql: str
    shape: Shape


class WritingCtes:
    """Judges such statements."""

    def __init__(self, context: Context, writes: Writes, tracer: Tracer) -> None:
        self._schema = context.history.schema
        self._engine = context.engine
        self._visibility = context.visibility
        self._writes = writes
        self._tracer = tracer

    def judge(self, state: SessionState, record: Record, shape: Shape) -> None:
        """Carry out the writes, then compare what the statement itself answers."""
        if record.waited or isinstance(record.outcome, Failed):
            raise UndecidedError("a statement with writes inside that waited or failed")
        parts = self._parts(shape, state.claim.grammar)
        main = shape.tree.copy()
        moment = self._visibility.snapshot(state, record)
        visible = self._visibility.visible(state, state.claim.plain_read, moment)
        views = self._visibility.views(self._read_outside(shape, state.claim.grammar), visible)
        returned = {}
        for part in parts:
            effect = self._writes.carry_out(
                state, replace(record, sql=part.sql, outcome=Affected(0)), part.shape
            )
            returned[part.name] = effect.returned
        for part in parts:
            self._put_in(main, part, returned[part.name], state.claim.grammar)
        self._judge_main(state, record, main, views)

    # -- the parts

    def _parts(self, shape: Shape, grammar: str) -> list[_Part]:
        ctes = shape.tree.args["with_"]
        names = {cte.alias for cte in ctes.expressions}
        parts = [self._part(cte, names, grammar) for cte in ctes.expressions if isinstance(cte.this, _WRITES)]
        targets = [part.shape.target for part in parts]
        main = shape.target if isinstance(shape.tree, _WRITES) else None
        if ctes.args.get("recursive") or len({*targets, main}) != len(targets) + 1:
            raise UndecidedError("a write inside of a query")
        for part in parts:
            others = {name for name in (*targets, main) if name not in (None, part.shape.target)}
            connected = {*part.shape.reads, *self._engine.related(part.sql, part.shape)}
            if others & connected:
                raise UndecidedError("writes inside of a statement that have to do with each other")
        if main is not None and {*targets} & {*self._read_outside(shape, grammar)}:
            raise UndecidedError("writes inside of a statement that have to do with each other")
        return parts

    def _part(self, cte: exp.CTE, names: set[str], grammar: str) -> _Part:
        sql = cte.this.sql(dialect=grammar)
        shape = shape_of(sql, grammar)
        if shape is None or shape.writes_inside or names & set(shape.reads) or len(shape.writes) != 1:
            raise UndecidedError("a write inside of a query")
        return _Part(cte.alias, sql, shape)

    def _read_outside(self, shape: Shape, grammar: str) -> tuple[str, ...]:
        """The tables of the statement without the parts that write."""
        tree = shape.tree.copy()
        for cte in list(tree.args["with_"].expressions):
            if isinstance(cte.this, _WRITES):
                cte.this.replace(exp.select("1"))
        return tables_in(tree, grammar)

    # -- the statement itself

    def _put_in(self, main: exp.Expression, part: _Part, rows: Sequence[Row] | None, grammar: str) -> None:
        """The rows that a part returned in the place of the part; one that returns nothing is not named."""
        clause = main.args["with_"]
        cte = next(one for one in clause.expressions if one.alias == part.name)
        if any(one.name == part.name and not one.db for one in main.find_all(exp.Table)):
            assert part.shape.target is not None
            columns = list(_returned_columns(part.shape.tree, self._schema.table(part.shape.target)))
            cte.this.replace(_constant(columns, rows or (), grammar))
            return
        cte.pop()
        if not clause.expressions:
            main.set("with_", None)

    def _judge_main(self, state: SessionState, record: Record, main: exp.Expression, views: Views) -> None:
        sql = main.sql(dialect=state.claim.grammar)
        shape = shape_of(sql, state.claim.grammar)
        if shape is None:
            raise UndecidedError("a write inside of a query")
        if shape.verb is not Verb.READ:
            self._writes.carry_out(state, replace(record, sql=sql), shape, compares=True)
            return
        if not isinstance(record.outcome, Rows):
            raise UndecidedError("a query without a result set")
        own = {table: views[table] for table in shape.reads}
        if not self._engine.admits(sql, shape, own, record.outcome.rows):
            answer = self._engine.answer(sql, shape, own)
            raise ViolationError(
                record.step,
                RowsWitness(answer.rows, tuple(record.outcome.rows)),
                "a query sees what was there before the writes inside of it, and what they return",
            )
        moment = self._visibility.snapshot(state, record)
        visible = self._visibility.visible(state, state.claim.plain_read, moment)
        self._tracer.saw(state, replace(record, sql=sql), shape, own, visible)


def _returned_columns(write: exp.Expression, table: Table) -> Iterator[tuple[str, str]]:
    """Names and types of what RETURNING gives, if it gives columns of the table."""
    types = {column.name: column.type for column in table.columns}
    clause = write.args.get("returning")
    for one in clause.expressions if clause else ():
        column = one.unalias()
        if isinstance(one, exp.Star) or (isinstance(one, exp.Column) and isinstance(one.this, exp.Star)):
            yield from types.items()
        elif isinstance(column, exp.Column) and column.name in types:
            yield one.alias_or_name, types[column.name]
        else:
            raise UndecidedError("an expression that a write inside of a query returns")


def _constant(columns: Sequence[tuple[str, str]], rows: Sequence[Row], grammar: str) -> exp.Query:
    """A query that gives these rows."""

    def select(row: Row) -> exp.Select:
        cells = zip(columns, row, strict=True)
        return exp.select(
            *(
                exp.alias_(exp.cast(literal_of(value), type_, dialect=grammar), name, quoted=True)
                for (name, type_), value in cells
            )
        )

    if not columns:
        raise UndecidedError("a write inside of a query")
    if not rows:
        return select((None,) * len(columns)).where(exp.false())
    found: exp.Query = select(rows[0])
    for row in rows[1:]:
        found = exp.union(found, select(row), distinct=False)
    return found
