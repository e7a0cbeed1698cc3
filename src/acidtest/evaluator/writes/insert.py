"""INSERT and REPLACE."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from sqlglot import exp

from acidtest.evaluator.api import (
    Views,
    compile_assignment,
    compile_query,
)
from acidtest.evaluator.dialect import Dialect
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.writes.effect import Effect, RowId, Run, UniqueIndex
from acidtest.evaluator.writes.inserting import InsertRun
from acidtest.evaluator.writes.keys import named_indexes, row_number
from acidtest.evaluator.writes.numbers import Numbers
from acidtest.evaluator.writes.values import (
    COUNTS_CHANGES,
    assign,
    assignments_of,
    default_value,
    differ,
    literal_of,
    position_of,
    with_new_row,
)
from acidtest.model import Column, ErrorKind, Row, Schema, Table, Value
from acidtest.sql.shape import Shape


class Insert:
    """INSERT of values or of a query, with what it does about rows whose keys exist."""

    def __init__(
        self, shape: Shape, table: Table, schema: Schema, dialect: Dialect, unique: tuple[UniqueIndex, ...]
    ) -> None:
        tree = shape.tree
        self._table, self._schema, self._dialect, self._unique = table, schema, dialect, unique
        alternative = str(tree.args.get("alternative") or "").upper()  # INSERT OR ..
        self._ignores = bool(tree.args.get("ignore")) or alternative == "IGNORE"
        self._replaces = shape.replaces or (alternative == "REPLACE" and dialect.name == "sqlite")
        if alternative not in ("", "IGNORE") and not self._replaces:
            raise Unknown(f"INSERT OR {alternative}")
        self._conflict: Any = tree.args.get("conflict")
        self._arbiters = named_indexes(self._conflict, table, dialect)
        self._mysql = dialect.name in COUNTS_CHANGES
        named = tree.this.expressions if isinstance(tree.this, exp.Schema) else None
        self._columns = (
            tuple(range(len(table.columns)))
            if named is None
            else tuple(position_of(table, dialect, identifier) for identifier in named)
        )
        self._counter = next((i for i, one in enumerate(table.columns) if one.auto_increment), None)
        if self._counter is None:
            self._counter = row_number(table, dialect)
        self._all_at_once = dialect.name == "duckdb" and (self._ignores or self._conflict is not None)
        self._rows = self._source(tree.expression)
        self._row_count = (
            len(tree.expression.expressions) if isinstance(tree.expression, exp.Values) else None
        )
        if self._conflict is not None and (self._ignores or self._replaces):
            raise Unknown("two ways to treat a duplicate key")
        if self._conflict is not None and not self._mysql and self._conflict.args.get("where"):
            raise Unknown("ON CONFLICT with a condition")

    def run(self, run: Run) -> Effect:
        counts = run.next_number is not None and self._mysql  # SQLite's numbers come back after a ROLLBACK
        numbers = Numbers(run.next_number or 0, self._row_count) if counts else None
        effect = InsertRun(self._unique, run.existing, numbers)
        row: Row | None = None
        try:
            for values in self._rows(run.views):
                row, number = self._complete(values, effect)
                placed = self._place(row, run, effect)
                if numbers is not None and self._counter is not None:
                    numbers.row_done(number, row[self._counter] if placed else None)
        except EvaluationError as error:
            if self._ignores:
                raise Unknown("INSERT IGNORE of a value that does not fit") from error
            if self._replaces and not self._mysql:
                raise Unknown("REPLACE of a value that does not fit") from error
            if numbers and row is not None and numbers.may_pass(row[self._counter or 0]):
                raise Unknown("whether the number of a row that failed counts") from error
            return Effect(errors=frozenset({error.kind}), numbered=numbers.taken if numbers else 0)
        return Effect(
            changes=tuple(effect.changes),
            worked_on=tuple(effect.touched),
            counts=frozenset(range(effect.count, effect.count + effect.uncounted + 1)),
            numbered=numbers.taken if numbers else 0,
            met=tuple(one for one in dict.fromkeys(effect.met) if one > 0),
            meets_several=effect.meets_several,
        )

    def _place(self, row: Row, run: Run, effect: "InsertRun") -> bool:
        """Put the row into the table; False if one that is there was kept instead."""
        if self._all_at_once and effect.offered_twin(row):
            raise Unknown("an upsert of several rows with the same key")
        twins = effect.twins(row)
        if twins and self._arbiters:
            # ON CONFLICT (columns) speaks of one index; a key that exists in another is an error as ever.
            twins = effect.twins(row, self._arbiters)
            if not twins:
                raise EvaluationError(ErrorKind.DUPLICATE_KEY)
        effect.met += twins if len(twins) == 1 else ()
        effect.meets_several |= len(twins) > 1
        if not twins:
            effect.add(row)
        elif self._ignores or self._does_nothing():
            return False
        elif self._replaces:
            # Measured: the row is updated in its place if it has the last of the keys, and if nothing changes
            # by that, it is not counted as deleted.
            unchanged = any(not differ(effect.live[twin], row) for twin in twins)
            for twin in twins:
                effect.remove(twin)
            effect.add(row)
            if self._mysql:  # SQLite counts the new row only
                effect.count += len(twins) - unchanged
                effect.uncounted += unchanged
        elif self._conflict is not None:
            self._update_twin(twins, row, run, effect)
            return False
        else:
            raise EvaluationError(ErrorKind.DUPLICATE_KEY)
        return True

    def _does_nothing(self) -> bool:
        action = self._conflict.args.get("action") if self._conflict is not None else None
        return action is not None and "NOTHING" in str(action.this).upper()

    def _update_twin(self, twins: list[RowId], row: Row, run: Run, effect: "InsertRun") -> None:
        if len(twins) > 1:
            raise Unknown("an upsert that meets several rows")
        twin = twins[0]
        if self._dialect.name == "postgres" and (twin < 0 or twin in effect.touched):
            raise EvaluationError(ErrorKind.BAD_VALUE)  # "cannot affect row a second time", 21000
        if twin < 0:
            raise Unknown("an upsert that meets a row of its own statement")
        old = effect.live[twin]
        expressions = [with_new_row(node, self._table, row) for node in self._conflict.expressions]
        assignments = assignments_of(expressions, self._table, self._schema, self._dialect, None)
        new = assign(assignments, old, run.views, in_sequence=self._mysql)
        effect.replace(twin, new)
        changed = differ(old, new)
        effect.count += (2 if changed else 0) if self._mysql else 1
        # Measured: a row that stays as it is counts 1 instead of 0 if one of its columns was and stays NULL.
        effect.uncounted += self._mysql and not changed and None in new

    def _source(self, node: Any) -> Callable[[Views], Iterator[Sequence[Any]]]:
        """Rows to insert; each cell is a value, or None with DEFAULT as `_DEFAULT`."""
        if isinstance(node, exp.Values):
            tuples = [self._cells(one) for one in node.expressions]
            # One after the other: a row that fails leaves the numbers taken that those before it took.
            return lambda views: ([cell(views) for cell in cells] for cells in tuples)
        if isinstance(node, exp.Query):
            query = compile_query(cast(exp.Expression, node), self._schema, self._dialect, writes=True)
            return lambda views: self._selected(query.run(views).rows)
        if node is None and bool(self._conflict) is False:
            return lambda _views: iter([[_DEFAULT] * len(self._columns)])
        raise Unknown(f"INSERT of {type(node).__name__}")

    def _cells(self, node: exp.Expression) -> list[Callable[[Views], Any]]:
        values = node.expressions if isinstance(node, exp.Tuple) else [node]
        if len(values) != len(self._columns):
            raise EvaluationError(ErrorKind.SYNTAX, "the number of values is not that of the columns")
        return [self._cell(position, value) for position, value in zip(self._columns, values, strict=True)]

    def _cell(self, position: int, node: exp.Expression) -> Callable[[Views], Any]:
        if isinstance(node, exp.Var) and str(node.this).upper() == "DEFAULT":
            return lambda _views: _DEFAULT
        column = self._table.columns[position]
        if self._mysql and column.auto_increment:
            column = replace(column, nullable=True)  # NULL asks for a number
        if node.find(exp.Column) is not None:
            raise Unknown("INSERT of an expression over columns")
        stored = compile_assignment(column, node, self._table, self._dialect, catalog=self._schema)
        blank: Row = (None,) * len(self._table.columns)
        return lambda views: stored.bind(views)(blank)

    def _selected(self, rows: Sequence[Row]) -> Iterator[Sequence[Any]]:
        for row in rows:
            if len(row) != len(self._columns):
                raise EvaluationError(ErrorKind.SYNTAX, "the number of values is not that of the columns")
            cells = zip(self._columns, map(literal_of, row), strict=True)
            yield [self._cell(position, node)({}) for position, node in cells]

    def _complete(self, cells: Sequence[Any], effect: "InsertRun") -> tuple[Row, int | None]:
        """The row with defaults and its automatic number, and that number again."""
        given = dict(zip(self._columns, cells, strict=True))
        row = []
        number = None
        for position, column in enumerate(self._table.columns):
            cell = given.get(position, _DEFAULT)
            if position == self._counter and (cell is _DEFAULT or (self._mysql and cell in (None, 0))):
                cell = number = effect.take_number()
            elif cell is _DEFAULT:
                cell = self._default(column)
            row.append(cell)
        return tuple(row), number

    def _default(self, column: Column) -> Value:
        if column.default is None:
            if not column.nullable:
                raise EvaluationError(ErrorKind.NOT_NULL, f"column {column.name} has no default")
            return None
        return default_value(column, self._table, self._dialect)


class _Default:
    """Stands for DEFAULT among values."""


_DEFAULT = _Default()
