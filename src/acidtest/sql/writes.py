"""What an INSERT, UPDATE or DELETE does to the rows it is given: pure SQL, no isolation.

    write = compile_write(shape_of("UPDATE t SET a = a + 1", "mysql"), schema, dialect)
    write.run(work, existing, views).changes

Errors that the DBMS must raise, or may raise depending on the order in which it visits rows, are part of the
effect. What is not modelled raises `Unknown`.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, cast

from sqlglot import exp

from acidtest.model import Column, ErrorKind, Index, Row, Schema, Table, Value
from acidtest.sql.evaluate import (
    CompiledExpression,
    Dialect,
    EvaluationError,
    Unknown,
    Views,
    compile_assignment,
    compile_predicate,
    compile_query,
)
from acidtest.sql.shape import Shape, Verb
from acidtest.sql.trees import parse

_COUNTS_CHANGES = frozenset({"mysql", "mariadb"})
"""Rows that an UPDATE leaves as they are do not count, and assignments see the ones to their left."""

RowId = int
Work = Sequence[tuple[RowId, Row]]
"""Rows with their identity."""


@dataclass(frozen=True, slots=True)
class Change:
    """A new row (no identity yet), a new version of a row, or (no values) its end.

    `table` is empty for the statement's target; statements over several tables may change another one too.
    """

    row: RowId | None
    values: Row | None
    table: str = ""


@dataclass(frozen=True, slots=True)
class Effect:
    """What the statement does. If `errors` is not empty it fails with one of them and changes nothing."""

    changes: tuple[Change, ...] = ()
    worked_on: tuple[RowId, ...] = ()
    counts: frozenset[int] = frozenset()
    errors: frozenset[ErrorKind] = frozenset()
    may_fail: frozenset[ErrorKind] = frozenset()
    numbered: int = 0
    """How many automatic numbers it took or passed by."""


@dataclass(frozen=True, slots=True)
class UniqueIndex:
    """A unique index: rows with equal keys cannot both live; a key with a NULL is equal to none."""

    name: str
    key: Callable[[Row], tuple[Any, ...] | None]


@dataclass(frozen=True, slots=True)
class Write:
    """A compiled write. `unique` are the target's unique indexes; `predicate` tells matching rows."""

    table: Table
    verb: Verb
    unique: tuple[UniqueIndex, ...]
    predicate: CompiledExpression
    _run: Callable[["_Run"], Effect] = field(repr=False)

    def run(self, work: Work, existing: Work, views: Views, next_number: int | None = None) -> Effect:
        """The effect on `work`, the rows that it may change; `existing` are all that live, `views` what its
        subqueries read."""
        return self._run(_Run(work, existing, views, next_number))


@dataclass(slots=True)
class _Run:
    work: Work
    existing: Work
    views: Views
    next_number: int | None


def compile_write(shape: Shape, schema: Schema, dialect: Dialect) -> Write:
    """Compile a write; raises `Unknown` for what is not modelled."""
    if shape.target is None or shape.verb is Verb.READ:
        raise Unknown("not a write")
    table = _table(schema, shape.target)
    if any(column.generated for column in table.columns):
        raise Unknown("generated columns")
    if shape.tree.args.get("returning"):
        raise Unknown("RETURNING")
    unique = tuple(_unique_index(index, table, dialect) for index in table.indexes if index.unique)
    predicate = CompiledExpression(lambda _row: True)
    if shape.verb is Verb.INSERT:
        return Write(table, shape.verb, unique, predicate, _Insert(shape, table, schema, dialect, unique).run)
    if dialect.name == "sqlite" and shape.tree.find(exp.Select) is not None:
        # It may test rows after it has changed others: seen on 3.40, where a condition short-circuits.
        raise Unknown("a write that reads while it writes")
    _refuse(shape.tree, "order", "limit", "from_", "using", "tables", "with_")
    if shape.tree.this.args.get("joins"):
        raise Unknown("a write of several tables")
    strict = has_strict_condition(shape.verb, dialect)
    predicate = compile_predicate(
        shape.where, table, dialect, catalog=schema, writes=strict, alias=shape.alias
    )
    if shape.verb is Verb.DELETE:
        return Write(table, shape.verb, unique, predicate, _Delete(predicate).run)
    if dialect.name == "mariadb" and shape.tree.find(exp.Query) and _builds_on_itself(shape.tree):
        # It may run as an UPDATE of several tables, where an assignment sees the old values.
        raise Unknown("assignments that build on each other beside a subquery")
    update = _Update(shape, table, schema, dialect, unique, predicate)
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


class _Delete:
    def __init__(self, predicate: CompiledExpression) -> None:
        self._predicate = predicate

    def run(self, run: _Run) -> Effect:
        try:
            matched = _matching(self._predicate, run)
        except EvaluationError as error:
            return Effect(errors=frozenset({error.kind}))
        rows = tuple(row for row, _ in matched)
        return Effect(tuple(Change(row, None) for row in rows), rows, frozenset({len(rows)}))


class _Update:
    def __init__(
        self,
        shape: Shape,
        table: Table,
        schema: Schema,
        dialect: Dialect,
        unique: tuple[UniqueIndex, ...],
        predicate: CompiledExpression,
    ) -> None:
        self._predicate = predicate
        self._unique = unique
        self._mysql = dialect.name in _COUNTS_CHANGES
        self._set = _assignments(shape.tree.expressions, table, schema, dialect, shape.alias)

    def run(self, run: _Run) -> Effect:
        try:
            matched = _matching(self._predicate, run)
            changed = [(row, values, self._assign(values, run.views)) for row, values in matched]
        except EvaluationError as error:
            return Effect(errors=frozenset({error.kind}))
        changes = tuple(Change(row, new) for row, _, new in changed)
        count = sum(_differ(old, new) for _, old, new in changed) if self._mysql else len(changed)
        errors, may_fail = _collisions(self._unique, run.existing, changes)
        return Effect(changes, tuple(row for row, _ in matched), frozenset({count}), errors, may_fail)

    def _assign(self, values: Row, views: Views) -> Row:
        return assign(self._set, values, views, in_sequence=self._mysql)


Assignments = Sequence[tuple[int, CompiledExpression]]


def assign(assignments: Assignments, values: Row, views: Views, *, in_sequence: bool) -> Row:
    """A row after SET; in sequence, later assignments see the earlier ones."""
    new = list(values)
    for position, expression in assignments:
        new[position] = expression.bind(views)(tuple(new) if in_sequence else values)
    return tuple(new)


class _Insert:
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
        self._arbiters = _named_indexes(self._conflict, table, dialect)
        self._mysql = dialect.name in _COUNTS_CHANGES
        named = tree.this.expressions if isinstance(tree.this, exp.Schema) else None
        self._columns = (
            tuple(range(len(table.columns)))
            if named is None
            else tuple(_position(table, dialect, identifier) for identifier in named)
        )
        self._counter = next((i for i, one in enumerate(table.columns) if one.auto_increment), None)
        if self._counter is None:
            self._counter = _row_number(table, dialect)
        self._all_at_once = dialect.name == "duckdb" and (self._ignores or self._conflict is not None)
        self._rows = self._source(tree.expression)
        self._row_count = (
            len(tree.expression.expressions) if isinstance(tree.expression, exp.Values) else None
        )
        if self._conflict is not None and (self._ignores or self._replaces):
            raise Unknown("two ways to treat a duplicate key")
        if self._conflict is not None and not self._mysql and self._conflict.args.get("where"):
            raise Unknown("ON CONFLICT with a condition")

    def run(self, run: _Run) -> Effect:
        counts = run.next_number is not None and self._mysql  # SQLite's numbers come back after a ROLLBACK
        numbers = _Numbers(run.next_number or 0, self._row_count) if counts else None
        effect = _InsertRun(self._unique, run.existing, numbers)
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
        )

    def _place(self, row: Row, run: _Run, effect: "_InsertRun") -> bool:
        """Put the row into the table; False if one that is there was kept instead."""
        if self._all_at_once and effect.offered_twin(row):
            raise Unknown("an upsert of several rows with the same key")
        twins = effect.twins(row)
        if twins and self._arbiters:
            # ON CONFLICT (columns) speaks of one index; a key that exists in another is an error as ever.
            twins = effect.twins(row, self._arbiters)
            if not twins:
                raise EvaluationError(ErrorKind.DUPLICATE_KEY)
        if not twins:
            effect.add(row)
        elif self._ignores or self._does_nothing():
            return False
        elif self._replaces:
            # Measured: the row is updated in its place if it has the last of the keys, and if nothing changes
            # by that, it is not counted as deleted.
            unchanged = any(not _differ(effect.live[twin], row) for twin in twins)
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

    def _update_twin(self, twins: list[RowId], row: Row, run: _Run, effect: "_InsertRun") -> None:
        if len(twins) > 1:
            raise Unknown("an upsert that meets several rows")
        twin = twins[0]
        if self._dialect.name == "postgres" and (twin < 0 or twin in effect.touched):
            raise EvaluationError(ErrorKind.BAD_VALUE)  # "cannot affect row a second time", 21000
        if twin < 0:
            raise Unknown("an upsert that meets a row of its own statement")
        old = effect.live[twin]
        expressions = [_with_new_row(node, self._table, row) for node in self._conflict.expressions]
        assignments = _assignments(expressions, self._table, self._schema, self._dialect, None)
        new = assign(assignments, old, run.views, in_sequence=self._mysql)
        effect.replace(twin, new)
        changed = _differ(old, new)
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
            cells = zip(self._columns, map(_literal, row), strict=True)
            yield [self._cell(position, node)({}) for position, node in cells]

    def _complete(self, cells: Sequence[Any], effect: "_InsertRun") -> tuple[Row, int | None]:
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


@dataclass(slots=True)
class _Numbers:
    """Automatic numbers as InnoDB gives them: with the first one that is asked for, a statement reserves as
    many as it has rows, a query 1, then 2, then 4; those that it does not use are lost. Measured; see
    https://dev.mysql.com/doc/refman/8.4/en/innodb-auto-increment-handling.html"""

    first: int
    rows: int | None
    counter: int = field(init=False)
    _next: int = 0
    _until: int = 0
    _rows_left: int = 0
    _reservations: int = 0

    def __post_init__(self) -> None:
        self.counter = self.first

    @property
    def taken(self) -> int:
        return self.counter - self.first

    def take(self) -> int:
        """The next number."""
        if self._next >= self._until:
            if self._rows_left == 0:
                whole = self.rows is not None and self._reservations == 0
                self._rows_left = self.rows or 1 if whole else 1 << self._reservations
            self._reservations += 1
            self._next = self.counter
            self._until = self.counter = self.counter + self._rows_left
        self._next += 1
        return self._next - 1

    def may_pass(self, own: Value) -> bool:
        """Whether a number of its own that a row brought may count although the row failed. Measured: MySQL
        9.7 counts it if it is the next after that of the row before, MariaDB 10.11 does not."""
        return self.taken > 0 and isinstance(own, int) and own >= self.counter

    def row_done(self, number: int | None, stored: Value) -> None:
        """A row took a number or brought its own; `stored` is what is in the table now, if it is there."""
        self._rows_left = max(self._rows_left - 1, 0)
        if not isinstance(stored, int):
            self._next = self._next if number is None else number  # a row that was not added gives it back
        elif number is None:
            self.counter = max(self.counter, stored + 1)
            self._next = max(self._next, stored + 1)


@dataclass(slots=True)
class _InsertRun:
    """Rows that live while an INSERT goes from row to row; its own new rows have negative identities."""

    unique: tuple[UniqueIndex, ...]
    existing: Work
    numbers: _Numbers | None
    live: dict[RowId, Row] = field(init=False)
    changes: list[Change] = field(default_factory=list)
    touched: list[RowId] = field(default_factory=list)
    count: int = 0
    uncounted: int = 0
    """Rows that the DBMS may or may not count."""
    offered: list[Row] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.live = dict(self.existing)

    def take_number(self) -> int:
        """The next automatic number."""
        if self.numbers is None:
            raise Unknown("the next automatic number")
        return self.numbers.take()

    def twins(self, row: Row, names: frozenset[str] = frozenset()) -> list[RowId]:
        """Living rows that have a key of the row, in these indexes or in all."""
        found: dict[RowId, None] = {}
        for index in self.unique:
            if names and index.name not in names:
                continue
            key = index.key(row)
            if key is not None:
                found |= {one: None for one, values in self.live.items() if index.key(values) == key}
        return list(found)

    def offered_twin(self, row: Row) -> bool:
        """Whether the statement had a row with a key of this one before, NULLs being equal here. DuckDB looks
        at all rows together and keeps one of such a group, not always the first (measured on 2.0)."""
        found = any(index.key(other) == index.key(row) for index in self.unique for other in self.offered)
        self.offered.append(row)
        return found

    def add(self, row: Row) -> None:
        self.live[-len(self.changes) - 1] = row
        self.changes.append(Change(None, row))
        self.count += 1

    def remove(self, row: RowId) -> None:
        if row < 0:
            raise Unknown("REPLACE of a row of its own statement")
        del self.live[row]
        self.changes.append(Change(row, None))
        self.touched.append(row)

    def replace(self, row: RowId, values: Row) -> None:
        others = {other: own for other, own in self.live.items() if other != row}
        for index in self.unique:
            key = index.key(values)
            if key is not None and any(index.key(own) == key for own in others.values()):
                raise EvaluationError(ErrorKind.DUPLICATE_KEY)
        self.live[row] = values
        self.changes.append(Change(row, values))
        self.touched.append(row)


# -- parts


def _matching(predicate: CompiledExpression, run: _Run) -> list[tuple[RowId, Row]]:
    test = predicate.bind(run.views)
    return [(row, values) for row, values in run.work if test(values)]


def _collisions(
    unique: tuple[UniqueIndex, ...], existing: Work, changes: Sequence[Change]
) -> tuple[frozenset[ErrorKind], frozenset[ErrorKind]]:
    """Duplicate keys: surely, if they stand at the end; perhaps, if some order of the rows meets them."""
    duplicate = frozenset({ErrorKind.DUPLICATE_KEY})
    new = {change.row: change.values for change in changes}
    transient = False
    for index in unique:
        old_keys = {row: index.key(values) for row, values in existing}
        new_keys = {
            row: index.key(values) for row, values in new.items() if row is not None and values is not None
        }
        end = [key for key in {**old_keys, **new_keys}.values() if key is not None]
        if len(set(end)) != len(end):
            return duplicate, frozenset()
        moved = {row: key for row, key in new_keys.items() if key is not None and key != old_keys.get(row)}
        transient = transient or any(
            key == old for row, key in moved.items() for other, old in old_keys.items() if other != row
        )
    return frozenset(), duplicate if transient else frozenset()


def _assignments(
    nodes: Sequence[exp.Expression], table: Table, schema: Schema, dialect: Dialect, alias: str | None
) -> list[tuple[int, CompiledExpression]]:
    compiled = []
    for node in nodes:
        if not isinstance(node, exp.EQ) or not isinstance(node.this, exp.Column):
            raise Unknown("an assignment of several columns")
        position = _position(table, dialect, node.this.this)
        column = table.columns[position]
        if _is_default(node.expression):
            raise Unknown("SET column = DEFAULT")
        expression = compile_assignment(column, node.expression, table, dialect, catalog=schema, alias=alias)
        compiled.append((position, expression))
    return compiled


def _is_default(node: exp.Expression) -> bool:
    """The word DEFAULT, which sqlglot takes for a column's name after SET; a quoted one is a name."""
    return isinstance(node, exp.Column) and node.name.upper() == "DEFAULT" and not node.this.quoted


def _with_new_row(node: exp.Expression, table: Table, row: Row) -> exp.Expression:
    """VALUES(c) and EXCLUDED.c stand for the row that could not be inserted."""
    values = dict(zip((column.name.lower() for column in table.columns), row, strict=True))

    def fill(one: exp.Expression) -> exp.Expression:
        if isinstance(one, exp.Anonymous) and str(one.this).upper() == "VALUES":
            return _literal(values[one.expressions[0].name.lower()])
        if isinstance(one, exp.Column) and one.table.upper() == "EXCLUDED":
            return _literal(values[one.name.lower()])
        return one

    return node.transform(fill)


_BARE_TEXT = re.compile(r"(?:var)?char|date$", re.IGNORECASE)
"""Types whose defaults MySQL's catalog gives as text without quotes."""


def default_value(column: Column, table: Table, dialect: Dialect) -> Value:
    """The value that a column takes by itself."""
    text = column.default or ""
    if dialect.name == "mysql" and _BARE_TEXT.match(column.type) and "(" not in text:
        literal: Value = compile_assignment(column, exp.Literal.string(text), table, dialect)(
            (None,) * len(table.columns)
        )
        return literal
    node = parse(f"SELECT {column.default}", dialect.name)
    if node is None or not isinstance(node, exp.Select) or not node.expressions:
        raise Unknown(f"the default of column {column.name}")
    expression = node.expressions[0]
    if isinstance(expression, exp.Column):  # MySQL gives the text of a string without quotes
        expression = exp.Literal.string(column.default or "")
    if expression.find(exp.Func, exp.Column) is not None and not isinstance(expression, exp.Cast):
        raise Unknown(f"the default of column {column.name}")
    value: Value = compile_assignment(column, expression, table, dialect)((None,) * len(table.columns))
    return value


def _literal(value: Value) -> exp.Expression:
    if value is None:
        return exp.null()
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, int | Decimal):
        number = exp.Literal.number(abs(value))
        return exp.Neg(this=number) if value < 0 else number
    if isinstance(value, str):
        return exp.Literal.string(value)
    raise Unknown(f"storing a computed {type(value).__name__}")


def _unique_index(index: Index, table: Table, dialect: Dialect) -> UniqueIndex:
    positions = {column.name: i for i, column in enumerate(table.columns)}
    if any(name not in positions for name in index.columns):
        raise Unknown("a unique index on an expression or a prefix")
    parts = [
        (positions[name], dialect.key(dialect.column_type(table.columns[positions[name]]), ordering=False))
        for name in index.columns
    ]

    def key(row: Row) -> tuple[Any, ...] | None:
        values = [row[position] for position, _ in parts]
        if any(value is None for value in values):
            return None
        return tuple(to_key(value) for (_, to_key), value in zip(parts, values, strict=True))

    return UniqueIndex(index.name, key)


def _row_number(table: Table, dialect: Dialect) -> int | None:
    """The column that is the row's own number in SQLite, an INTEGER PRIMARY KEY, which has no index."""
    names = [column.name for column in table.columns]
    keys = [one.columns for one in table.indexes if one.primary and one.name == "rowid"]
    return names.index(keys[0][0]) if keys and dialect.name == "sqlite" else None


def _named_indexes(conflict: exp.Expression | None, table: Table, dialect: Dialect) -> frozenset[str]:
    """The unique indexes on just the columns that ON CONFLICT names; none if it names none."""
    keys = conflict.args.get("conflict_keys") if conflict is not None else None
    if not keys:
        return frozenset()
    wanted = {dialect.fold_name(identifier) for key in keys if (identifier := key.find(exp.Identifier))}
    found = frozenset(
        index.name
        for index in table.indexes
        if index.unique and {dialect.column_key(name) for name in index.columns} == wanted
    )
    if not found:
        raise Unknown("the index that ON CONFLICT speaks of")
    return found


def _position(table: Table, dialect: Dialect, identifier: exp.Identifier) -> int:
    wanted = dialect.fold_name(identifier)
    for position, column in enumerate(table.columns):
        if dialect.column_key(column.name) == wanted:
            return position
    raise EvaluationError(ErrorKind.NO_SUCH_OBJECT, f"no column {identifier.name}")


def _table(schema: Schema, name: str) -> Table:
    try:
        return schema.table(name)
    except KeyError:
        raise Unknown(f"table {name} is not one of the case") from None


def _refuse(tree: exp.Expression, *parts: str) -> None:
    for part in parts:
        if tree.args.get(part):
            raise Unknown(f"{type(tree).__name__.upper()} with {part.strip('_').upper()}")


def _differ(old: Row, new: Row) -> bool:
    return any(type(a) is not type(b) or a != b for a, b in zip(old, new, strict=True))
