"""Rich queries and the writes that contain them: joins, subqueries, grouping, windows, set operations."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlglot import exp

from acidtest.generate.expressions import COMPARISONS, aliased, column_node, condition, paren
from acidtest.generate.flavour import Can, Family
from acidtest.generate.grammar import Context, Source, produce, production
from acidtest.generate.statements import (
    Draft,
    Kind,
    delete_tree,
    locking_select,
    over,
    plain_select,
    random_statement,
    random_table,
    update_tree,
    where_share,
)
from acidtest.generate.tables import ColumnDef, TableDef, insert_into, literal, table_node

# -- parts


def _table_as(table: TableDef, alias: str) -> exp.Table:
    name = exp.TableAlias(this=exp.Identifier(this=alias, quoted=False))
    return exp.Table(this=exp.Identifier(this=table.name, quoted=False), alias=name)


def _from(source: exp.Expression) -> exp.From:
    return exp.From(this=source)


def _readable(context: Context) -> list[TableDef]:
    """Tables that a subquery may read: MySQL does not let a write read its own target."""
    if context.target is None or context.can(Can.READ_OWN_TARGET):
        return list(context.tables)
    return [table for table in context.tables if table.name != context.target.name]


def _can_read(context: Context) -> bool:
    return bool(_readable(context))


def _where(select: exp.Select, node: exp.Expression | None) -> exp.Select:
    if node is not None:
        select.set("where", exp.Where(this=node))
    return select


def _numbers(table: TableDef) -> list[ColumnDef]:
    return [one for one in table.columns if one.type.family is Family.INTEGER]


def _aggregate(context: Context, table: TableDef, alias: str | None = None) -> exp.Expression:
    """An aggregate whose value does not depend on the order of rows."""
    numbers = _numbers(table)
    if not numbers or context.chance(0.25):
        return exp.Count(this=exp.Star())
    node = column_node(alias, context.rng.choice(numbers))
    kind = context.rng.choice((exp.Sum, exp.Min, exp.Max, exp.Count, exp.Avg))
    return kind(this=node)


def _ordered(context: Context, select: exp.Select, table: TableDef, alias: str | None) -> exp.Select:
    """ORDER BY all columns, so that LIMIT has one answer whatever the ties."""
    select.set("order", _order(context, [column_node(alias, one) for one in table.columns]))
    select.set("limit", exp.Limit(expression=exp.Literal.number(context.rng.randint(1, 3))))
    return select


def _order(context: Context, nodes: Sequence[exp.Expression]) -> exp.Order:
    keys = [context.flavour.ordered(node, descending=context.chance(0.3)) for node in nodes]
    return exp.Order(expressions=keys)


# -- conditions with subqueries


def _subquery_table(context: Context) -> tuple[TableDef, Context]:
    table = context.rng.choice(_readable(context))
    return table, context.within(Source("s", table.columns))


@production("condition", "exists", weight=0.6, tag="rich", guard=_can_read, nests=True)
def _exists(context: Context) -> exp.Expression:
    table, inner = _subquery_table(context)
    select = exp.Select(expressions=[exp.Literal.number(1)], from_=_from(_table_as(table, "s")))
    node: exp.Expression = condition(inner)
    link = _link(context, table)
    if link is not None and context.chance(0.6):
        node = exp.And(this=link, expression=paren(node))
    return exp.Exists(this=_where(select, node))


def _link(context: Context, table: TableDef) -> exp.Expression | None:
    """A comparison of an inner with an outer column, which correlates the subquery."""
    pairs = [
        (inner, alias, outer)
        for alias, outer in context.columns()
        for inner in table.columns
        if inner.type.family is outer.type.family and alias is not None
    ]
    if not pairs:
        return None
    inner, alias, outer = context.rng.choice(pairs)
    return exp.EQ(this=column_node("s", inner), expression=column_node(alias, outer))


def _readable_families(context: Context) -> list[tuple[TableDef, ColumnDef, str | None, ColumnDef]]:
    return [
        (table, inner, alias, outer)
        for table in _readable(context)
        for inner in table.columns
        for alias, outer in context.columns(inner.type.family)
    ]


def _can_compare(context: Context) -> bool:
    return bool(_readable_families(context))


@production("condition", "in.subquery", weight=0.6, tag="rich", guard=_can_compare, nests=True)
def _in_subquery(context: Context) -> exp.Expression:
    table, inner, alias, outer = context.rng.choice(_readable_families(context))
    select = exp.Select(expressions=[column_node("s", inner)], from_=_from(_table_as(table, "s")))
    _where(select, where_share(context.within(Source("s", table.columns))))
    return exp.In(this=column_node(alias, outer), query=exp.Subquery(this=select))


def _numeric_outer(context: Context) -> bool:
    return bool(context.columns(Family.INTEGER)) and _can_read(context)


@production("condition", "scalar.subquery", weight=0.6, tag="rich", guard=_numeric_outer, nests=True)
def _scalar_condition(context: Context) -> exp.Expression:
    alias, outer = context.rng.choice(context.columns(Family.INTEGER))
    return context.rng.choice(COMPARISONS)(this=column_node(alias, outer), expression=_scalar(context))


def _scalar(context: Context) -> exp.Expression:
    """A subquery with exactly one row: an aggregate without GROUP BY."""
    table, inner = _subquery_table(context)
    numbers = _numbers(table)
    value: exp.Expression = exp.Count(this=exp.Star())
    if numbers and context.chance(0.7):
        value = context.rng.choice((exp.Min, exp.Max))(this=column_node("s", context.rng.choice(numbers)))
    select = exp.Select(expressions=[value], from_=_from(_table_as(table, "s")))
    return exp.Subquery(this=_where(select, where_share(inner)))


# -- queries


def query(context: Context) -> exp.Expression:
    """A query of any shape."""
    node: exp.Expression = produce("query", context)
    return node


@production("statement", "query", weight=5, tag="rich")
def _query_statement(context: Context) -> Draft:
    return Draft(Kind.READ, query(context))


@production("query", "aliased", weight=1, tag="rich")
def _aliased(context: Context) -> exp.Expression:
    table = random_table(context)
    select = exp.Select(expressions=[exp.Star()], from_=_from(_table_as(table, "a")))
    return _where(select, condition(context.within(Source("a", table.columns))))


@production("query", "distinct", weight=0.6, tag="rich")
def _distinct(context: Context) -> exp.Expression:
    table = random_table(context)
    columns = context.rng.sample(table.columns, 1)
    items = [column_node(None, one) for one in columns]
    select = exp.Select(expressions=items, from_=_from(table_node(table.name)), distinct=exp.Distinct())
    return _where(select, where_share(over(context, table)))


@production("query", "limit", weight=0.8, tag="rich")
def _limited(context: Context) -> exp.Expression:
    table = random_table(context)
    return _ordered(context, plain_select(context, table), table, None)


def join_of(context: Context) -> tuple[exp.Select, Context, list[tuple[str, TableDef]]]:
    """FROM two tables; inner, left, right or cross."""
    sources = [("a", random_table(context)), ("b", random_table(context))]
    within = context.within(*(Source(alias, table.columns) for alias, table in sources))
    sides = ["", "LEFT", "CROSS"] + (["RIGHT"] if context.can(Can.RIGHT_JOIN) else [])
    side = context.rng.choice(sides)
    join = exp.Join(this=_table_as(sources[1][1], "b"))
    if side == "CROSS":
        join.set("kind", "CROSS")
    else:
        join.set("side", side or None)
        join.set("on", _join_condition(context, sources) or condition(within))
    select = exp.Select(expressions=[], from_=_from(_table_as(sources[0][1], "a")), joins=[join])
    return select, within, sources


def _join_condition(context: Context, sources: list[tuple[str, TableDef]]) -> exp.Expression | None:
    (_, left), (_, right) = sources
    pairs = [(a, b) for a in left.columns for b in right.columns if a.type.family is b.type.family]
    if not pairs or context.chance(0.15):
        return None
    one, other = context.rng.choice(pairs)
    return exp.EQ(this=column_node("a", one), expression=column_node("b", other))


def _some_columns(context: Context, sources: list[tuple[str, TableDef]]) -> list[exp.Expression]:
    columns = [(alias, column) for alias, table in sources for column in table.columns]
    chosen = context.rng.sample(columns, context.rng.randint(1, min(3, len(columns))))
    return [aliased(column_node(*one), f"x{i}") for i, one in enumerate(chosen)]


@production("query", "join", weight=2, tag="rich")
def _join(context: Context) -> exp.Expression:
    select, within, sources = join_of(context)
    select.set("expressions", _some_columns(context, sources))
    return _where(select, where_share(within))


@production("query", "derived", weight=1, tag="rich")
def _derived(context: Context) -> exp.Expression:
    table = random_table(context)
    inner = _where(
        exp.Select(expressions=[exp.Star()], from_=_from(table_node(table.name))),
        where_share(over(context, table)),
    )
    source = exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier("d")))
    select = exp.Select(expressions=[exp.Star()], from_=_from(source))
    return _where(select, where_share(context.within(Source("d", table.columns))))


@production("query", "cte", weight=1, tag="rich", needs=Can.WINDOWS)
def _cte(context: Context) -> exp.Expression:
    table = random_table(context)
    inner = _where(
        exp.Select(expressions=[exp.Star()], from_=_from(table_node(table.name))),
        where_share(over(context, table)),
    )
    cte = exp.CTE(this=inner, alias=exp.TableAlias(this=exp.to_identifier("d")))
    select = exp.Select(
        expressions=[exp.Star()],
        from_=_from(table_node("d")),
        with_=exp.With(expressions=[cte]),
    )
    return _where(select, where_share(context.within(Source("d", table.columns))))


@production("query", "aggregate", weight=1, tag="rich")
def _aggregated(context: Context) -> exp.Expression:
    table = random_table(context)
    items = [aliased(_aggregate(context, table), f"x{i}") for i in range(context.rng.randint(1, 2))]
    select = exp.Select(expressions=items, from_=_from(table_node(table.name)))
    return _where(select, where_share(over(context, table)))


@production("query", "group", weight=1, tag="rich")
def _grouped(context: Context) -> exp.Expression:
    table = random_table(context)
    key = column_node(None, context.rng.choice(table.columns))
    items = [key, aliased(_aggregate(context, table), "x")]
    select = exp.Select(
        expressions=items, from_=_from(table_node(table.name)), group=exp.Group(expressions=[key.copy()])
    )
    if context.chance(0.4):
        bound = exp.Literal.number(context.rng.randint(0, 2))
        select.set("having", exp.Having(this=exp.GT(this=exp.Count(this=exp.Star()), expression=bound)))
    return _where(select, where_share(over(context, table)))


@production("query", "window", weight=0.7, tag="rich", needs=Can.WINDOWS)
def _windowed(context: Context) -> exp.Expression:
    """Functions that give ties the same value, so that the order among them does not show."""
    table = random_table(context)
    order = _order(context, [column_node(None, context.rng.choice(table.columns))])
    partition = [column_node(None, context.rng.choice(table.columns))] if context.chance(0.5) else None
    functions: list[exp.Expression] = [exp.Rank(), exp.DenseRank(), _aggregate(context, table)]
    window = exp.Window(this=context.rng.choice(functions), partition_by=partition, order=order)
    items = [*(column_node(None, one) for one in table.columns), aliased(window, "x")]
    select = exp.Select(expressions=items, from_=_from(table_node(table.name)))
    return _where(select, where_share(over(context, table)))


def _set_operation(kind: type[exp.Expression]) -> Callable[[Context], exp.Expression]:
    def make(context: Context) -> exp.Expression:
        table, other = random_table(context), random_table(context)
        families = [one.type.family for one in table.columns if other_has(other, one)]
        family = context.rng.choice(families or [Family.INTEGER])
        sides = [_one_column(context, one, family) for one in (table, other)]
        return kind(this=sides[0], expression=sides[1], distinct=kind is not exp.Union or context.chance(0.5))

    return make


def other_has(table: TableDef, column: ColumnDef) -> bool:
    """Whether a table has a column of the same family."""
    return any(one.type.family is column.type.family for one in table.columns)


def _one_column(context: Context, table: TableDef, family: Family) -> exp.Select:
    within = over(context, table)
    value: exp.Expression = literal(0)
    if within.columns(family):
        value = column_node(*context.rng.choice(within.columns(family)))
    select = exp.Select(expressions=[aliased(value, "x")], from_=_from(table_node(table.name)))
    return _where(select, where_share(within))


production("query", "union", weight=1, tag="rich")(_set_operation(exp.Union))
for _kind in (exp.Intersect, exp.Except):
    production(
        "query",
        _kind.__name__.lower(),
        weight=0.3,
        tag="rich",
        needs=Can.INTERSECT,
    )(_set_operation(_kind))


# -- locking reads


@production("statement", "nowait", weight=0.4, tag="rich", needs=Can.NOWAIT)
def _nowait(context: Context) -> Draft:
    return locking_select(context, update=True, wait=True)


@production("statement", "skip", weight=0.4, tag="rich", needs=Can.SKIP_LOCKED)
def _skip_locked(context: Context) -> Draft:
    return locking_select(context, update=True, wait=False)


@production("statement", "locking.join", weight=0.5, tag="rich", needs=Can.LOCK_ROWS)
def _locking_join(context: Context) -> Draft:
    """PostgreSQL does not lock what an outer join may leave out, so this is an inner one."""
    select, within, sources = join_of(context)
    join = select.args["joins"][0]
    if join.args.get("side"):
        join.set("side", None)
    select.set("expressions", _some_columns(context, sources))
    _where(select, where_share(within))
    select.set("locks", [exp.Lock(update=context.chance(0.6))])
    return Draft(Kind.LOCKING_READ, select)


# -- writes


def _can_set_subquery(context: Context) -> bool:
    column = context.column
    assert column is not None
    signed = column.type.family is Family.INTEGER and column.type.low < 0 and column.nullable
    return signed and _can_read(context)


@production("assigned", "subquery", weight=0.8, tag="rich", guard=_can_set_subquery)
def _set_subquery(context: Context) -> exp.Expression:
    return _scalar(context)


@production("assigned", "default", weight=0.3, tag="rich", needs=Can.DEFAULT_VALUE)
def _set_default(context: Context) -> exp.Expression:
    column = context.column
    assert column is not None
    return exp.Var(this="DEFAULT") if column.has_default else literal(context.rng.choice(column.pool))


@production("statement", "insert.select", weight=1, tag="rich")
def _insert_select(context: Context) -> Draft:
    """Rows of a table with the families that are wanted; what has none becomes a constant."""
    target, source = random_table(context), random_table(context)
    within = over(context, source)
    items = [_fitting(context, column, source) for column in target.written]
    select = exp.Select(expressions=items, from_=_from(table_node(source.name)))
    _where(select, where_share(within))
    return Draft(Kind.INSERT, insert_into(target, target.written, select))


def _fitting(context: Context, column: ColumnDef, source: TableDef) -> exp.Expression:
    options = [
        one for one in source.columns if one.type == column.type and (column.nullable or not one.nullable)
    ]
    if not options or context.chance(0.2):
        return _typed(context, column)
    node = column_node(None, context.rng.choice(options))
    if column.key and column.type.family is Family.INTEGER:
        return exp.Add(this=node, expression=exp.Literal.number(context.rng.choice((1, 10, 100))))
    return node


def _typed(context: Context, column: ColumnDef) -> exp.Expression:
    """A constant of the column's own type: PostgreSQL takes a text in a select list for a text."""
    value = literal(context.rng.choice(column.pool))
    if column.type.family is Family.DATE:
        return exp.Cast(this=value, to=exp.DataType.build("DATE"))
    return value


@production("statement", "update.limit", weight=0.5, tag="rich", needs=Can.LIMITED_WRITE)
def _update_limit(context: Context) -> Draft:
    table = random_table(context)
    within = replace(over(context, table), target=table)
    plain = [one for one in table.written if not one.key] or list(table.written)
    tree = update_tree(within, table, [context.rng.choice(plain)])
    return Draft(Kind.UPDATE, _limited_write(context, tree, table))


@production("statement", "delete.limit", weight=0.3, tag="rich", needs=Can.LIMITED_WRITE)
def _delete_limit(context: Context) -> Draft:
    table = random_table(context)
    tree = delete_tree(replace(over(context, table), target=table), table)
    return Draft(Kind.DELETE, _limited_write(context, tree, table))


def _limited_write(context: Context, tree: exp.Expression, table: TableDef) -> exp.Expression:
    tree.set("order", _order(context, [column_node(None, one) for one in table.columns]))
    tree.set("limit", exp.Limit(expression=exp.Literal.number(context.rng.randint(1, 2))))
    return tree


@production("statement", "update.join", weight=0.5, tag="rich", needs=Can.JOINED_UPDATE)
def _update_join(context: Context) -> Draft:
    """UPDATE t1 AS a JOIN t2 AS b ON .. SET a.c = constant: which of several partners wins does not show."""
    target, other = random_table(context), random_table(context)
    sources = [("a", target), ("b", other)]
    within = context.within(*(Source(alias, table.columns) for alias, table in sources))
    table = _table_as(target, "a")
    on = _join_condition(context, sources) or condition(within)
    table.set("joins", [exp.Join(this=_table_as(other, "b"), on=on)])
    column = context.rng.choice(target.written)
    value = literal(context.rng.choice(column.pool))
    update = exp.Update(this=table, expressions=[exp.EQ(this=column_node("a", column), expression=value)])
    node = where_share(within)
    if node is not None:
        update.set("where", exp.Where(this=node))
    return Draft(Kind.UPDATE, update)


@production("statement", "update.from", weight=0.5, tag="rich", needs=Can.UPDATE_FROM)
def _update_from(context: Context) -> Draft:
    target, other = random_table(context), random_table(context)
    sources = [("a", target), ("b", other)]
    within = context.within(*(Source(alias, table.columns) for alias, table in sources))
    column = context.rng.choice(target.written)
    value = literal(context.rng.choice(column.pool))
    on = _join_condition(context, sources) or condition(within)
    update = exp.Update(
        this=_table_as(target, "a"),
        expressions=[exp.EQ(this=column_node(None, column), expression=value)],
        from_=_from(_table_as(other, "b")),
        where=exp.Where(this=exp.And(this=paren(on), expression=paren(condition(within)))),
    )
    return Draft(Kind.UPDATE, update)


# -- savepoints


@production("statement", "savepoint", weight=0.7, tag="rich", needs=Can.SAVEPOINT)
def _savepoint(context: Context) -> list[Draft]:
    """SAVEPOINT, a statement or two, and back to it, or on without it."""
    body: list[Draft] = []
    for _ in range(context.rng.randint(1, 2)):
        inner = replace(context, profile=replace(context.profile, weights=_NO_SAVEPOINT))
        body += random_statement(inner)
    end = "ROLLBACK TO SAVEPOINT sp1" if context.chance(0.7) else "RELEASE SAVEPOINT sp1"
    return [_control("SAVEPOINT sp1"), *body, _control(end)]


_NO_SAVEPOINT = {"statement.savepoint": 0.0}


def _control(text: str) -> Draft:
    return Draft(Kind.CONTROL, exp.Command(this=text, expression=""))
