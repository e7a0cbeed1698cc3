"""The rows that an INSERT brings: VALUES, a query, or nothing but defaults."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from sqlglot import exp

from acidtest.evaluator.code import Code, Fn
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.plan import Plan
from acidtest.evaluator.query import compile_source
from acidtest.evaluator.scope import Runtime
from acidtest.evaluator.types import Family, SqlType
from acidtest.evaluator.writes.defaults import default_of
from acidtest.evaluator.writes.target import Target, empty_scope
from acidtest.evaluator.writes.values import is_default, knows_defaults, literal_of
from acidtest.model import Column, ErrorKind, Row


class _Default:
    """Stands for DEFAULT among values."""


DEFAULT = _Default()

Cells = Sequence[Any]
"""The values of a row for the columns of an INSERT; some may be `DEFAULT`."""

_WRONG_WIDTH = "the number of values is not that of the columns"


class NewRows:
    """The compiled source of an INSERT into `columns` (positions) of its target."""

    def __init__(self, tree: exp.Expression, target: Target, columns: Sequence[int]) -> None:
        self._target = target
        self._columns = columns
        node = tree.args.get("expression")
        self.is_query = isinstance(node, exp.Query)
        self.is_ordered = True
        """Whether the rows come in a certain order."""
        self.count = len(node.expressions) if isinstance(node, exp.Values) else None
        self._rows = self._source(node, tree)

    def rows(self, runtime: Runtime) -> Iterator[Cells]:
        """One row after the other: one that fails leaves the numbers taken that those before it took."""
        return self._rows(runtime)

    def _source(self, node: Any, tree: exp.Expression) -> Callable[[Runtime], Iterator[Cells]]:
        if isinstance(node, exp.Values):
            tuples = [self._tuple(one, tree) for one in node.expressions]
            return lambda runtime: (cells(runtime) for cells in tuples)
        if isinstance(node, exp.Query):
            return self._query(cast(exp.Expression, node), tree)
        if node is None:
            return lambda _runtime: iter([[DEFAULT] * len(self._columns)])
        raise Unknown(f"INSERT of {type(node).__name__}")

    # -- VALUES

    def _tuple(self, node: exp.Expression, tree: exp.Expression) -> Callable[[Runtime], Cells]:
        values = node.expressions if isinstance(node, exp.Tuple) else [node]
        if not values and not self.count:
            raise Unknown("VALUES without a row")
        if not values:  # INSERT INTO t () VALUES ()
            return lambda _runtime: [DEFAULT] * len(self._columns)
        if len(values) != len(self._columns):
            raise EvaluationError(ErrorKind.SYNTAX, _WRONG_WIDTH)
        if self._target.dialect.writing.values_see_columns and any(one.find(exp.Column) for one in values):
            return self._cells_that_see(values, tree)
        scope = empty_scope(self._target.schema, self._target.dialect, tree)
        compiler = knows_defaults(scope, self._target)
        fns = [self._cell(position, one, compiler) for position, one in self._paired(values)]
        compiler.finish()
        return lambda runtime: [fn((runtime,)) for fn in fns]

    def _cells_that_see(
        self, values: Sequence[exp.Expression], tree: exp.Expression
    ) -> Callable[[Runtime], Cells]:
        """Expressions over the columns that were set before, or else hold their defaults."""
        target = self._target
        compiler = knows_defaults(target.scope(tree), target)
        read: set[int] = set()
        names = {target.dialect.column_key(one.name): at for at, one in enumerate(target.table.columns)}
        fns: list[tuple[int, Fn]] = []
        known: set[int] = set()
        for position, value in self._paired(values):
            read |= {
                at
                for column in value.find_all(exp.Column)
                if (at := names.get(target.dialect.fold_name(column.this))) is not None and at not in known
            }
            fns.append((position, self._cell(position, value, compiler)))
            if not is_default(value):
                known.add(position)
        compiler.finish()
        first = tuple(
            self._before(at, column) if at in read else None for at, column in enumerate(target.table.columns)
        )

        def cells(runtime: Runtime) -> Cells:
            row = list(first)
            found = []
            for position, fn in fns:
                value = fn((runtime, *row, 0))
                found.append(value)
                if value is not DEFAULT:
                    row[position] = value
            return found

        return cells

    def _before(self, at: int, column: Column) -> Any:
        """What a column holds while it was not set."""
        if column.auto_increment or column.generated or (column.default is None and not column.nullable):
            raise Unknown("INSERT of an expression over a column that has no value yet")
        return default_of(self._target.table.columns[at], self._target.table, self._target.dialect)

    def _paired(self, values: Sequence[exp.Expression]) -> list[tuple[int, exp.Expression]]:
        return list(zip(self._columns, values, strict=True))

    def _cell(self, position: int, node: exp.Expression, compiler: Compiler) -> Fn:
        if is_default(node):
            return lambda _row: DEFAULT
        self._refuse_generated(position)
        column = stored_column(self._target, position)
        code = compiler.compile(node)
        return self._target.dialect.store(compiler, column, code)

    def _refuse_generated(self, position: int) -> None:
        if not self._target.table.columns[position].generated:
            return
        kind = self._target.dialect.writing.refuses_generated
        if kind is None:
            raise Unknown("a value for a generated column")
        raise EvaluationError(kind, "a value for a generated column")

    # -- queries

    def _query(self, node: exp.Expression, tree: exp.Expression) -> Callable[[Runtime], Iterator[Cells]]:
        target = self._target
        compiler = empty_scope(target.schema, target.dialect, tree)
        plan = compile_source(compiler, node)
        compiler.finish()
        self.is_ordered = node.args.get("order") is not None
        if len(plan.types) != len(self._columns):
            raise EvaluationError(ErrorKind.SYNTAX, _WRONG_WIDTH)
        for position in self._columns:
            self._refuse_generated(position)
        fns = [
            self._stored(position, type_, at, compiler)
            for at, (position, type_) in enumerate(zip(self._columns, plan.types, strict=True))
        ]
        return lambda runtime: ([fn(row) for fn in fns] for row in _certain_rows(plan, runtime))

    def _stored(self, position: int, type_: SqlType, at: int, compiler: Compiler) -> Fn:
        column, dialect = stored_column(self._target, position), self._target.dialect
        if type_.family in (Family.LITERAL, Family.NULL):
            return self._literals(column, at)
        code = Code(dialect.derived(type_), lambda row: row[at])
        return dialect.store(compiler, column, code)

    def _literals(self, column: Column, at: int) -> Fn:
        """A text without a type of its own takes that of its column."""
        target = self._target
        known: dict[Any, Any] = {}

        def stored(row: Row) -> Any:
            value = row[at]
            if value not in known:
                compiler = empty_scope(target.schema, target.dialect)
                fn = target.dialect.store(compiler, column, compiler.compile(literal_of(value)))
                compiler.finish()
                known[value] = fn((Runtime({}),))
            return known[value]

        return stored


def stored_column(target: Target, position: int) -> Column:
    """A column as an INSERT stores into it: where NULL asks for a number, it is no error."""
    column = target.column(position)
    if target.dialect.writing.counts_changes and column.auto_increment:
        return replace(column, nullable=True)
    return column


def _certain_rows(plan: Plan, runtime: Runtime) -> Iterator[Row]:
    blocks = plan.blocks((runtime,))
    if not all(block.determined for block in blocks):
        raise Unknown("an INSERT of a query whose LIMIT cuts through ties")
    return (row for block in blocks for row in block.rows[: block.take])
