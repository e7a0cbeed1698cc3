"""Queries: SELECT, set operations and common table expressions, compiled to plans."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from acidtest.evaluator.code import Code, Convert, Fn, JoinedRow
from acidtest.evaluator.code import constant as constant_code
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.filters import Filter, compile_filter
from acidtest.evaluator.grouping import Grouping, aggregates_in, compile_grouping, windows_in
from acidtest.evaluator.ordering import (
    OrderItem,
    constant_count,
    distinct,
    in_order,
    order_item,
    row_key,
)
from acidtest.evaluator.plan import Plan
from acidtest.evaluator.relations import Relation, compile_from
from acidtest.evaluator.result import Block, limited
from acidtest.evaluator.scope import Scope
from acidtest.evaluator.types import Family, SqlType
from acidtest.evaluator.windows import WindowFunction, compile_window
from acidtest.model import ErrorKind, Row

_UNMODELLED = ("qualify", "connect", "sort", "cluster", "distribute", "laterals", "kind", "into", "match")


def compile_nested(compiler: Compiler, node: exp.Expression) -> Plan:
    """The plan of a query inside another one's expressions."""
    return _compile(node, compiler, compiler.scope.child())


def compile_beside(compiler: Compiler, node: exp.Expression) -> Plan:
    """The plan of a derived table."""
    return _compile(node, compiler, compiler.scope.beside())


def compile_outermost(compiler: Compiler, node: exp.Expression) -> Plan:
    """The plan of a whole statement."""
    return _compile(node, compiler, Scope())


def compile_source(compiler: Compiler, node: exp.Expression) -> Plan:
    """The plan of the query that an INSERT takes its rows from: literals wait for the types of columns."""
    return _compile(node, compiler, Scope(), settles=False)


def compile_list(compiler: Compiler, entries: Sequence[exp.Expression]) -> Callable[[JoinedRow], Row]:
    """A select list over what the compiler's scope has, as the client is sent it: RETURNING."""
    node = exp.Select(expressions=[entry.copy() for entry in entries])
    return _Select(compiler, node, settles=True).output().row


def _compile(node: exp.Expression, outer: Compiler, scope: Scope, *, settles: bool = True) -> Plan:
    compiler = Compiler(
        outer.dialect, outer.catalog, scope, writes=outer.writes, plans=dict(outer.plans), doomed=outer.doomed
    )
    while isinstance(node, exp.Subquery) and not node.args.get("alias"):
        if any(node.args.get(key) for key in ("order", "limit", "offset", "joins", "with_")):
            raise Unknown("clauses after a query in parentheses")
        node = node.this
    add_common_tables(compiler, node)
    if isinstance(node, exp.Select):
        return _Select(compiler, node, settles=settles).plan()
    if isinstance(node, exp.SetOperation):
        return _set_operation(compiler, node)
    raise Unknown(f"{node.key} as a query")


def add_common_tables(compiler: Compiler, node: exp.Expression) -> None:
    """Make the tables of a WITH clause known."""
    clause = node.args.get("with_")
    if clause is None:
        return
    compiler.dialect.require("WITH")
    if clause.args.get("recursive"):
        raise Unknown("WITH RECURSIVE")
    for table in clause.expressions:
        alias = table.args["alias"]
        plan = compile_beside(compiler, table.this)
        names = [str(column.this) for column in alias.args.get("columns") or []]
        if names:
            plan.columns = (*names, *plan.columns[len(names) :])
        compiler.plans[compiler.dialect.fold_table(alias.this)] = plan


@dataclass(slots=True)
class _Output:
    """The compiled select list."""

    names: list[str]
    codes: list[Code]
    shown: list[tuple[Fn, Convert | None]]

    def row(self, joined: JoinedRow) -> Row:
        return tuple(
            value if convert is None or value is None else convert(value)
            for value, convert in ((fn(joined), convert) for fn, convert in self.shown)
        )


class _Select:
    """Compiles one SELECT, clause by clause, in the order in which they take effect."""

    def __init__(self, compiler: Compiler, node: exp.Select, *, settles: bool) -> None:
        self.compiler = compiler
        self.node = node
        self.settles = settles
        self.base_width = compiler.scope.width
        for clause in _UNMODELLED:
            if node.args.get(clause):
                raise Unknown(f"SELECT with {clause}")

    def plan(self) -> Plan:
        """The plan of the whole SELECT."""
        node, compiler = self.node, self.compiler
        relation = compile_from(compiler, node, compile_beside)
        where = self._where(relation)
        grouping = self._grouping()
        having = self._having(grouping)
        windows = self._windows()
        output = self.output()
        order = self._order(output)
        if order or grouping or node.args.get("distinct"):
            for code in output.codes:
                compiler.dialect.buffered(code.type)
        blocks = self._execution(relation, where, grouping, having, windows, output, order)
        codes = output.codes
        return Plan(
            columns=tuple(output.names),
            types=tuple(code.type for code in codes),
            blocks=blocks,
            correlated=compiler.scope.outer_used,
            fails=any(code.fails for code in codes) or where.fails,
            base_width=self.base_width,
            matches=None if grouping else self._matches(relation, where.test),
        )

    def _where(self, relation: Relation) -> Filter:
        try:
            return compile_filter(self.compiler, self.node.args.get("where"), relation)
        except EvaluationError:
            # The select list is understood before WHERE, so an error in it is the one that is reported.
            for entry in self.node.expressions:
                if not aggregates_in([entry]) and not windows_in([entry]) and not entry.find(exp.Star):
                    self.compiler.compile(entry.unalias())
            raise

    def _later_nodes(self) -> list[exp.Expression]:
        clauses = [self.node.args.get(key) for key in ("having", "order")]
        return [*self.node.expressions, *(clause for clause in clauses if clause is not None)]

    def _grouping(self) -> Grouping | None:
        clause = self.node.args.get("group")
        if clause is not None and any(
            clause.args.get(key) for key in ("rollup", "cube", "grouping_sets", "all")
        ):
            raise Unknown("GROUP BY with more than expressions")
        aggregates = aggregates_in(self._later_nodes())
        if clause is None and not aggregates:
            if self.node.args.get("having") is not None:
                raise Unknown("HAVING without groups")
            return None
        group_by = [self._named(item) for item in clause.expressions] if clause is not None else []
        return compile_grouping(self.compiler, group_by, aggregates, self.base_width)

    def _named(self, item: exp.Expression) -> exp.Expression:
        """What a GROUP BY item stands for: a position and an alias stand for an expression of the list."""
        if isinstance(item, exp.Literal) and not item.is_string:
            return self._listed(int(str(item.this)))
        if isinstance(item, exp.Column) and not item.args.get("table"):
            name = self.compiler.dialect.fold_name(item.this)
            for entry in self.node.expressions:
                if (
                    isinstance(entry, exp.Alias)
                    and self.compiler.dialect.fold_name(entry.args["alias"]) == name
                ):
                    if entry.this == item:
                        return item
                    if any(
                        field.name == name
                        for source in self.compiler.scope.sources
                        for field in source.fields
                    ):
                        raise Unknown("a name that is both a column and an alias")
                    return entry.this  # type: ignore[no-any-return]
        return item

    def _listed(self, position: int) -> exp.Expression:
        entries = self.node.expressions
        if not 1 <= position <= len(entries) or any(entry.find(exp.Star) for entry in entries):
            raise Unknown("a position in a select list with a star, or beyond it")
        return entries[position - 1].unalias()  # type: ignore[no-any-return]

    def _having(self, grouping: Grouping | None) -> Fn | None:
        clause = self.node.args.get("having")
        if clause is None or grouping is None:
            return None
        return self.compiler.condition(clause.this)

    def _windows(self) -> list[WindowFunction]:
        nodes = windows_in(self._later_nodes())
        named = {str(item.this.this): item for item in self.node.args.get("windows") or []}
        compiled = [compile_window(self.compiler, node, named) for node in nodes]
        width = self.compiler.scope.width
        for at, (node, window) in enumerate(zip(nodes, compiled, strict=True)):
            self.compiler.slots[node] = Code(window.type, _slot(width + at))
        self.compiler.scope.width = width + len(nodes)
        return compiled

    def output(self) -> _Output:
        """The compiled select list."""
        names: list[str] = []
        codes: list[Code] = []
        for entry in self.node.expressions:
            if isinstance(entry, exp.Star) or (
                isinstance(entry, exp.Column) and isinstance(entry.this, exp.Star)
            ):
                for name, code in self._star(entry):
                    names.append(name)
                    codes.append(code)
                continue
            names.append(_output_name(entry))
            codes.append(self.compiler.compile(entry.unalias()))
        if self.settles:
            codes = [self.compiler.dialect.settled(self.compiler, code) for code in codes]
        shown = [(code.fn, self.compiler.dialect.output(code.type)) for code in codes]
        return _Output(names, codes, shown)

    def _star(self, entry: exp.Expression) -> list[tuple[str, Code]]:
        if any(entry.args.get(key) for key in ("except_", "replace", "rename")):
            raise Unknown("a star with exceptions")
        scope = self.compiler.scope
        table = entry.args.get("table")
        wanted = self.compiler.dialect.fold_table(table) if table is not None else None
        if scope.merged and wanted is None:
            raise Unknown("a star over columns joined by USING")
        sources = [source for source in scope.sources if wanted in (None, source.name)]
        if not sources:
            raise EvaluationError(ErrorKind.SYNTAX, "a star without a table")
        if scope.visit is not None:
            for source in sources:
                for field in source.fields:
                    scope.visit(field)
        return [
            (field.name, Code(field.type, _slot(field.slot), column=True))
            for source in sources
            for field in source.fields
        ]

    def _order(self, output: _Output) -> list[OrderItem]:
        clause = self.node.args.get("order")
        if clause is None:
            return []
        items = []
        for ordered in clause.expressions:
            code = self._order_code(ordered.this, output)
            items.append(order_item(self.compiler, ordered, code))
        return items

    def _order_code(self, node: exp.Expression, output: _Output) -> Code:
        listed = _position_in_output(self.compiler, node, self.node.expressions, output.names)
        if listed is not None:
            return output.codes[listed]
        if self.node.args.get("distinct"):
            raise Unknown("ORDER BY an expression that DISTINCT does not keep")
        aliases = {
            name for name, entry in zip(output.names, self.node.expressions, strict=False) if entry.alias
        }
        folded = {name.lower() for name in aliases}
        if any(str(column.this.this).lower() in folded for column in node.find_all(exp.Column)):
            raise Unknown("ORDER BY an expression over an alias")
        return self.compiler.compile(node)

    def _matches(
        self, relation: Relation, where: Fn | None
    ) -> Callable[[JoinedRow], list[dict[str, int | None]]] | None:
        sources = self.compiler.scope.sources
        tables = [(source.name, source.identity) for source in sources if source.identity is not None]

        def matches(base: JoinedRow) -> list[dict[str, int | None]]:
            rows = relation.rows(base)
            kept = rows if where is None else [row for row in rows if where(row) is True]
            return [{name: row[slot] for name, slot in tables} for row in kept]

        return matches

    def _execution(
        self,
        relation: Relation,
        where: Filter,
        grouping: Grouping | None,
        having: Fn | None,
        windows: Sequence[WindowFunction],
        output: _Output,
        order: Sequence[OrderItem],
    ) -> Callable[[JoinedRow], tuple[Block, ...]]:
        limit = constant_count(self.compiler, self.node.args.get("limit"))
        offset = constant_count(self.compiler, self.node.args.get("offset")) or 0
        unique = self._distinct_key(output)
        test = where.test
        fails = where.fails or any(code.fails for code in output.codes)

        def run(base: JoinedRow) -> tuple[Block, ...]:
            return limited(grouped_rows(base), offset, limit)

        def grouped_rows(base: JoinedRow) -> list[tuple[Row, ...]]:
            rows = relation.rows(base)
            if test is not None:
                rows = [row for row in rows if test(row) is True]
            if grouping is not None:
                rows = grouping.rows(base, rows)
                if having is not None:
                    rows = [row for row in rows if having(row) is True]
            for window in windows:
                rows = window.extend(rows)
            entries = [(row, output.row(row)) for row in rows]
            if unique is not None:
                entries = [(row, out) for out, row in distinct([(out, row) for row, out in entries], unique)]
            if order:
                return [tuple(ties) for _, ties in in_order(order, entries)]
            return [tuple(out for _, out in entries)]

        return run if limit is None or not fails else _unless_limited(run, limit)

    def _distinct_key(self, output: _Output) -> Callable[[Sequence[Any]], tuple[Any, ...]] | None:
        clause = self.node.args.get("distinct")
        if not clause:
            return None
        if clause.args.get("on"):
            raise Unknown("DISTINCT ON")
        dialect = self.compiler.dialect
        return row_key([dialect.key(code.type, ordering=False) for code in output.codes])


def _unless_limited(
    run: Callable[[JoinedRow], tuple[Block, ...]], limit: int
) -> Callable[[JoinedRow], tuple[Block, ...]]:
    """LIMIT 0 evaluates nothing; any other may or may not reach the row that fails."""

    def careful(base: JoinedRow) -> tuple[Block, ...]:
        if limit == 0:
            return ()
        try:
            return run(base)
        except EvaluationError as error:
            raise Unknown("an error in a row that LIMIT may leave out") from error

    return careful


def _slot(at: int) -> Fn:
    return lambda row: row[at]


def _output_name(entry: exp.Expression) -> str:
    return str(entry.alias_or_name) if isinstance(entry, exp.Alias | exp.Column) else ""


def _position_in_output(
    compiler: Compiler, node: exp.Expression, entries: Sequence[exp.Expression], names: Sequence[str]
) -> int | None:
    """Where an ORDER BY item stands in the select list: by position, by name, or as the same expression."""
    if isinstance(node, exp.Literal) and not node.is_string:
        position = int(str(node.this))
        if not 1 <= position <= len(names):
            raise EvaluationError(ErrorKind.NO_SUCH_OBJECT, "ORDER BY position is not in select list")
        return position - 1
    if isinstance(node, exp.Column) and not node.args.get("table"):
        wanted = compiler.dialect.fold_name(node.this)
        found = [at for at, name in enumerate(names) if compiler.dialect.column_key(name) == wanted]
        if len(found) == 1:
            return found[0]
        if len(found) > 1:
            raise Unknown("ORDER BY a name that stands twice in the select list")
    if len(entries) == len(names):
        for at, entry in enumerate(entries):
            if entry.unalias() == node:
                return at
    return None


def _set_operation(compiler: Compiler, node: exp.SetOperation) -> Plan:
    """UNION, INTERSECT, EXCEPT [ALL]."""
    left = _compile(node.this, compiler, compiler.scope.child(), settles=False)
    right = _compile(node.expression, compiler, compiler.scope.child(), settles=False)
    if len(left.types) != len(right.types):
        raise EvaluationError(ErrorKind.SYNTAX, "different numbers of columns")
    types, converters = _unified_columns(compiler, left, right)
    dialect = compiler.dialect
    key = row_key([dialect.key(type_, ordering=False) for type_ in types])
    combine = _COMBINATIONS[type(node)]
    if not isinstance(node, exp.Union):
        dialect.require(node.key.upper())
    keeps_duplicates = not node.args.get("distinct")
    order = _set_order(compiler, node, left.columns, types)
    limit = constant_count(compiler, node.args.get("limit"))
    offset = constant_count(compiler, node.args.get("offset")) or 0

    def run(base: JoinedRow) -> tuple[Block, ...]:
        sides = [
            [tuple(fn(row) for fn in fns) for row in plan.rows(base)]
            for plan, fns in zip((left, right), converters, strict=True)
        ]
        rows = combine(sides[0], sides[1], key, keeps_duplicates)
        if order:
            groups = [tuple(ties) for _, ties in in_order(order, [(row, row) for row in rows])]
        else:
            groups = [tuple(rows)]
        return limited(groups, offset, limit)

    return Plan(
        columns=left.columns,
        types=tuple(types),
        blocks=run,
        correlated=left.correlated or right.correlated,
        fails=left.fails or right.fails,
        base_width=compiler.scope.width,
    )


def _unified_columns(
    compiler: Compiler, left: Plan, right: Plan
) -> tuple[list[SqlType], tuple[list[Fn], list[Fn]]]:
    types: list[SqlType] = []
    converters: tuple[list[Fn], list[Fn]] = ([], [])
    for at, pair in enumerate(zip(left.types, right.types, strict=True)):
        codes = [_column_of_side(compiler, type_, at) for type_ in pair]
        type_, unified = compiler.dialect.merged(compiler, codes)
        output = compiler.dialect.output(type_)
        types.append(type_)
        for side, code in zip(converters, unified, strict=True):
            side.append(code.fn if output is None else code.then(type_, output).fn)
    return types, converters


def _column_of_side(compiler: Compiler, type_: SqlType, at: int) -> Code:
    if type_.family is Family.LITERAL:
        raise Unknown("a literal without a type in a set operation")
    if type_.family is Family.NULL:
        return constant_code(type_, None)
    return Code(compiler.dialect.derived(type_), _slot(at))


def _set_order(
    compiler: Compiler, node: exp.SetOperation, names: Sequence[str], types: Sequence[SqlType]
) -> list[OrderItem]:
    clause = node.args.get("order")
    items: list[OrderItem] = []
    for ordered in clause.expressions if clause is not None else ():
        at = _position_in_output(compiler, ordered.this, (), names)
        if at is None:
            raise Unknown("ORDER BY of a set operation over an expression")
        items.append(order_item(compiler, ordered, Code(types[at], _slot(at))))
    return items


_Key = Callable[[Sequence[Any]], tuple[Any, ...]]


def _union(left: list[Row], right: list[Row], key: _Key, keeps_duplicates: bool) -> list[Row]:
    rows = left + right
    return rows if keeps_duplicates else _unique(rows, key)


def _unique(rows: Sequence[Row], key: _Key) -> list[Row]:
    return [row for row, _ in distinct([(row, None) for row in rows], key)]


def _intersect(left: list[Row], right: list[Row], key: _Key, keeps_duplicates: bool) -> list[Row]:
    _unique(left + right, key)
    remaining = _counts(right, key)
    kept: list[Row] = []
    for row in left:
        if remaining.get(key(row), 0):
            remaining[key(row)] -= 1
            kept.append(row)
    if keeps_duplicates:
        return kept
    return _unique(kept, key)


def _except(left: list[Row], right: list[Row], key: _Key, keeps_duplicates: bool) -> list[Row]:
    remaining = _counts(right, key)
    if not keeps_duplicates:
        return _unique([row for row in left if key(row) not in remaining], key)
    _unique(left, key)
    kept: list[Row] = []
    for row in left:
        if remaining.get(key(row), 0):
            remaining[key(row)] -= 1
        else:
            kept.append(row)
    return kept


def _counts(rows: Sequence[Row], key: _Key) -> dict[tuple[Any, ...], int]:
    counts: dict[tuple[Any, ...], int] = {}
    for row in rows:
        counts[key(row)] = counts.get(key(row), 0) + 1
    return counts


_COMBINATIONS = {exp.Union: _union, exp.Intersect: _intersect, exp.Except: _except}
