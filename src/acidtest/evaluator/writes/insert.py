"""INSERT and REPLACE."""

from typing import Any

from sqlglot import exp

from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.scope import Runtime
from acidtest.evaluator.writes.defaults import default_of
from acidtest.evaluator.writes.effect import Effect, RowId, Run
from acidtest.evaluator.writes.following import follow_moves
from acidtest.evaluator.writes.inserting import InsertRun
from acidtest.evaluator.writes.keys import named_indexes, row_number
from acidtest.evaluator.writes.numbers import Numbers
from acidtest.evaluator.writes.returning import Returning
from acidtest.evaluator.writes.sourcing import DEFAULT, Cells, NewRows
from acidtest.evaluator.writes.target import Target
from acidtest.evaluator.writes.upsert import Upsert
from acidtest.evaluator.writes.values import differ
from acidtest.model import ErrorKind, Row
from acidtest.sql.shape import Shape


class Insert:
    """INSERT of values or of a query, with what it does about rows whose keys exist."""

    def __init__(self, shape: Shape, target: Target) -> None:
        tree, dialect, table = shape.tree, target.dialect, target.table
        self._target = target
        alternative = str(tree.args.get("alternative") or "").upper()  # INSERT OR ..
        self._ignores = bool(tree.args.get("ignore")) or alternative == "IGNORE"
        self._replaces = shape.replaces or (alternative == "REPLACE" and dialect.name == "sqlite")
        if alternative not in ("", "IGNORE") and not self._replaces:
            raise Unknown(f"INSERT OR {alternative}")
        conflict: Any = tree.args.get("conflict")
        if conflict is not None and (self._ignores or self._replaces):
            raise Unknown("two ways to treat a duplicate key")
        self._does_nothing = conflict is not None and "NOTHING" in str(conflict.args.get("action")).upper()
        if conflict is not None and any(one.deferrable for one in target.unique):
            raise Unknown("ON CONFLICT over a deferrable constraint")
        self._arbiters = named_indexes(conflict, table, target.unique, dialect)
        self._upsert = (
            Upsert(tree, conflict, target) if conflict is not None and not self._does_nothing else None
        )
        self._primary = frozenset(one.name for one in table.indexes if one.primary)
        self._minds_parents = dialect.writing.references_at_once and target.references.concerned
        self._mysql = dialect.writing.counts_changes
        self._columns = _columns(tree, target)
        self._counter = next((i for i, one in enumerate(table.columns) if one.auto_increment), None)
        if self._counter is None:
            self._counter = row_number(table, dialect)
        self._source = NewRows(tree, target, self._columns)
        self._all_at_once = dialect.writing.checks_together and (self._ignores or conflict is not None)
        self._order_matters = self._source.is_query and not self._source.is_ordered
        self._order_matters &= self._ignores or self._replaces or conflict is not None
        self._returning = Returning.of(tree, target.scope)

    def run(self, run: Run) -> Effect:
        """The effect on the rows of a run."""
        counts = run.next_number is not None and self._mysql  # SQLite's numbers come back after a ROLLBACK
        numbers = Numbers(run.next_number or 0, self._source.count) if counts else None
        effect = InsertRun(self._target.table.name, self._target.unique, run.existing, numbers)
        runtime = Runtime(run.views)
        row: Row | None = None
        try:
            for cells in self._source.rows(runtime):
                row, number = self._complete(cells, effect)
                placed = self._place(row, run, runtime, effect)
                if numbers is not None and self._counter is not None:
                    numbers.row_done(number, row[self._counter] if placed else None)
        except EvaluationError as error:
            return self._failed(error, row, effect)
        return self._done(run, runtime, effect)

    def _failed(self, error: EvaluationError, row: Row | None, effect: InsertRun) -> Effect:
        numbers = effect.numbers
        if self._ignores:
            raise Unknown("INSERT IGNORE of a value that does not fit") from error
        if self._replaces and not self._mysql:
            raise Unknown("REPLACE of a value that does not fit") from error
        if numbers and row is not None and numbers.may_pass(row[self._counter or 0]):
            raise Unknown("whether the number of a row that failed counts") from error
        errors = {error.kind} | effect.also
        return Effect(errors=frozenset(errors), numbered=numbers.taken if numbers else 0)

    def _done(self, run: Run, runtime: Runtime, effect: InsertRun) -> Effect:
        numbered = effect.numbers.taken if effect.numbers else 0
        after = follow_moves(self._target, run, effect.moves, effect.live)
        if after.errors:
            return Effect(errors=frozenset(after.errors), numbered=numbered)
        if after.changes and self._replaces:
            raise Unknown("REPLACE of a row that others refer to")
        return Effect(
            changes=(*effect.made(), *after.changes),
            worked_on=tuple(effect.touched),
            counts=frozenset(range(effect.count, effect.count + effect.uncounted + 1)),
            numbered=numbered,
            met=tuple(one for one in dict.fromkeys(effect.met) if one > 0),
            meets_several=effect.meets_several,
            returned=self._returning.rows(runtime, effect.returned),
            touched=tuple(after.touched),
            referenced=tuple(dict.fromkeys(after.referenced)),
        )

    # -- one row

    def _complete(self, cells: Cells, effect: InsertRun) -> tuple[Row, int | None]:
        """The row with defaults and its automatic number, and that number again."""
        given = dict(zip(self._columns, cells, strict=True))
        row = []
        number = None
        table, dialect = self._target.table, self._target.dialect
        for position, column in enumerate(table.columns):
            cell = given.get(position, DEFAULT)
            if column.generated:
                cell = None
            elif position == self._counter and (cell is DEFAULT or (self._mysql and cell in (None, 0))):
                cell = number = effect.take_number()
            elif cell is DEFAULT:
                cell = default_of(column, table, dialect)
            row.append(cell)
        return self._target.rules.finished(tuple(row)), number

    def _place(self, row: Row, run: Run, runtime: Runtime, effect: InsertRun) -> bool:
        """Put the row into the table; False if one that is there was kept instead."""
        if (self._all_at_once or self._order_matters) and effect.offered_twin(
            row, nulls_are_equal=self._all_at_once
        ):
            raise Unknown("an upsert of several rows with the same key")
        twins = effect.twins(row)
        if twins and self._arbiters:
            # ON CONFLICT (columns) speaks of one index; a key that exists in another is an error as ever.
            twins = effect.twins(row, self._arbiters)
            if not twins:
                raise EvaluationError(ErrorKind.DUPLICATE_KEY)
        effect.met += twins if len(twins) == 1 else ()
        effect.meets_several |= len(twins) > 1
        if self._is_orphan(row, run, effect) and not self._goes_on_without_parent(row, twins, effect):
            return False
        if not twins:
            effect.add(row)
        elif self._ignores or self._does_nothing:
            return False
        elif self._replaces:
            self._replace(row, twins, effect)
        elif self._upsert is not None:
            self._update_twin(self._upsert, twins, row, runtime, effect)
            return False
        else:
            if any(one.deferrable for one in self._target.unique):
                raise Unknown("whether a deferrable constraint is checked now or at COMMIT")
            raise EvaluationError(ErrorKind.DUPLICATE_KEY)
        return True

    def _is_orphan(self, row: Row, run: Run, effect: InsertRun) -> bool:
        """Whether a row refers to one that is not there, where that shows at once."""
        return self._minds_parents and not self._target.references.has_parents(row, effect.live, run)

    def _goes_on_without_parent(self, row: Row, twins: list[RowId], effect: InsertRun) -> bool:
        """Whether a row without its parent is treated as one whose key exists; False if it is left out."""
        if self._ignores:
            return False
        if self._target.dialect.writing.references_first or not twins or self._replaces:
            raise EvaluationError(ErrorKind.FOREIGN_KEY)
        if not (self._primary and effect.twins(row, self._primary)):
            # Of the other keys, those of older indexes are looked at first.
            if self._upsert is not None:
                raise Unknown("an upsert by a key that may be looked at after a foreign key")
            effect.also.add(ErrorKind.FOREIGN_KEY)
        return True

    def _replace(self, row: Row, twins: list[RowId], effect: InsertRun) -> None:
        # Measured: the row is updated in its place if it has the last of the keys, and if nothing changes
        # by that, it is not counted as deleted.
        unchanged = any(not differ(effect.live[twin], row) for twin in twins)
        for twin in twins:
            effect.remove(twin)
        effect.add(row)
        if self._mysql:  # SQLite counts the new row only
            effect.count += len(twins) - unchanged
            effect.uncounted += unchanged

    def _update_twin(
        self, upsert: Upsert, twins: list[RowId], row: Row, runtime: Runtime, effect: InsertRun
    ) -> None:
        if len(twins) > 1 and self._mysql:
            twins = effect.first_twins(row, self._primary)
        if len(twins) > 1:
            raise Unknown("an upsert that meets several rows")
        twin = twins[0]
        if not self._target.dialect.writing.upserts_twice and (twin < 0 or twin in effect.updated):
            raise EvaluationError(ErrorKind.BAD_VALUE)  # "cannot affect row a second time", 21000
        old = effect.live[twin]
        new = upsert.updated(old, row, runtime)
        if new is None:  # found and locked, and left alone
            effect.touched.append(twin)
            return
        effect.replace(twin, new)
        changed = differ(old, new)
        effect.count += (2 if changed else 0) if self._mysql else 1
        # Measured: a row that stays as it is counts 1 instead of 0 if one of its columns was and stays NULL.
        effect.uncounted += self._mysql and not changed and None in new


def _columns(tree: exp.Expression, target: Target) -> tuple[int, ...]:
    """Positions of the columns that the rows are for."""
    named = tree.this.expressions if isinstance(tree.this, exp.Schema) else None
    if named:
        positions = tuple(target.position(identifier) for identifier in named)
        if len(set(positions)) != len(positions):
            raise EvaluationError(ErrorKind.SYNTAX, "a column is named twice")
        return positions
    every = tuple(range(len(target.table.columns)))
    source = tree.args.get("expression")
    if isinstance(source, exp.Values | exp.Query) and target.dialect.name == "sqlite":
        every = tuple(at for at in every if not target.table.columns[at].generated)
    return every
