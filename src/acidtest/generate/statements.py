"""Statements: Troc's six kinds, writes that move keys, and savepoints. Queries have a file of their own."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from sqlglot import exp

from acidtest.generate.expressions import NUMBERS, aliased, column_node, condition, of_family
from acidtest.generate.flavour import Can, Family
from acidtest.generate.grammar import Context, Source, produce, production
from acidtest.generate.tables import ColumnDef, TableDef, draw, insert_tree, literal, table_node
from acidtest.model import Row, Value


class Kind(StrEnum):
    """Kinds of statements that conflict construction tells apart."""

    READ = "read"
    LOCKING_READ = "locking read"
    UPDATE = "update"
    DELETE = "delete"
    INSERT = "insert"
    CONTROL = "control"  # BEGIN, COMMIT, savepoints


@dataclass(slots=True)
class Draft:
    """A statement in the making. Conflict construction may edit the condition of one with a `table`."""

    kind: Kind
    tree: exp.Expression
    table: TableDef | None = None
    rows: tuple[Row, ...] = ()
    """What an INSERT of values brings in, in the order of all columns of its table."""
    productions: frozenset[str] = field(default_factory=frozenset)

    @property
    def condition(self) -> exp.Expression | None:
        where = self.tree.args.get("where")
        return None if where is None else where.this

    @condition.setter
    def condition(self, node: exp.Expression | None) -> None:
        self.tree.set("where", None if node is None else exp.Where(this=node))


def random_statement(context: Context) -> list[Draft]:
    """One statement, or the few that belong together."""
    context = replace(context, used=set())
    drafts: list[Draft] | Draft = produce("statement", context)
    several = drafts if isinstance(drafts, list) else [drafts]
    for draft in several:
        draft.productions = frozenset(context.used)
    return several


def random_table(context: Context) -> TableDef:
    """One of the tables."""
    return context.rng.choice(context.tables)


def over(context: Context, table: TableDef) -> Context:
    """Within one table, columns without an alias."""
    return context.within(Source(None, table.columns))


def where_share(context: Context) -> exp.Expression | None:
    """A condition, most of the time."""
    return None if context.chance(context.profile.whole_share) else condition(context)


# -- reads of one table


def plain_select(context: Context, table: TableDef) -> exp.Select:
    """All columns or a few, with a condition."""
    within = over(context, table)
    if context.chance(0.5):
        items: list[exp.Expression] = [exp.Star()]
    else:
        chosen = context.rng.sample(table.columns, context.rng.randint(1, len(table.columns)))
        items = [column_node(None, column) for column in chosen]
        if context.chance(0.2):
            items.append(aliased(of_family(within, context.rng.choice(table.columns).type.family), "x"))
    select = exp.Select(expressions=items, from_=exp.From(this=table_node(table.name)))
    node = where_share(within)
    if node is not None:
        select.set("where", exp.Where(this=node))
    return select


def whole_read(context: Context) -> Draft:
    """All of a table. It has no table of its own, so that conflict construction leaves it whole."""
    source = exp.From(this=table_node(random_table(context).name))
    return Draft(Kind.READ, exp.Select(expressions=[exp.Star()], from_=source))


@production("statement", "select", weight=1.5)
def _select(context: Context) -> Draft:
    table = random_table(context)
    return Draft(Kind.READ, plain_select(context, table), table)


def locking_select(context: Context, update: bool, wait: bool | None = None) -> Draft:
    """A read that locks; `wait`: None waits, True is NOWAIT, False is SKIP LOCKED (sqlglot's own code)."""
    table = random_table(context)
    select = plain_select(context, table)
    select.set("locks", [exp.Lock(update=update, wait=wait)])
    return Draft(Kind.LOCKING_READ, select, table)


@production("statement", "select.share", weight=0.7, needs=Can.LOCK_ROWS)
def _select_share(context: Context) -> Draft:
    return locking_select(context, update=False)


@production("statement", "select.update", weight=0.7, needs=Can.LOCK_ROWS)
def _select_for_update(context: Context) -> Draft:
    return locking_select(context, update=True)


# -- writes


@production("statement", "update", weight=4)
def _update(context: Context) -> Draft:
    table = random_table(context)
    within = replace(over(context, table), target=table)
    columns = _columns_to_set(context, table)
    return Draft(Kind.UPDATE, update_tree(within, table, columns), table)


def _columns_to_set(context: Context, table: TableDef) -> list[ColumnDef]:
    """One or two columns; keys less often, because `keys` has productions of its own for them."""
    weights = [0.6 if column.key else 1.0 for column in table.written]
    count = 2 if len(table.written) > 1 and context.chance(0.25) else 1
    chosen: dict[str, ColumnDef] = {}
    while len(chosen) < count:
        column = context.rng.choices(table.written, weights)[0]
        chosen[column.name] = column
    return list(chosen.values())


def update_tree(within: Context, table: TableDef, columns: Sequence[ColumnDef]) -> exp.Update:
    """UPDATE of these columns with a condition."""
    sets = [exp.EQ(this=column_node(None, one), expression=assigned(within, one)) for one in columns]
    update = exp.Update(this=table_node(table.name), expressions=sets)
    node = where_share(within)
    if node is not None:
        update.set("where", exp.Where(this=node))
    return update


@production("statement", "delete", weight=1.3)
def _delete(context: Context) -> Draft:
    table = random_table(context)
    return Draft(Kind.DELETE, delete_tree(replace(over(context, table), target=table), table), table)


def delete_tree(within: Context, table: TableDef) -> exp.Delete:
    """DELETE, seldom without a condition: an empty table leaves nothing to conflict on."""
    tree = exp.Delete(this=table_node(table.name))
    if not within.chance(within.profile.whole_share / 2):
        tree.set("where", exp.Where(this=condition(within)))
    return tree


@production("statement", "insert", weight=1.5)
def _insert(context: Context) -> Draft:
    return insert_values(context, random_table(context))


def insert_values(context: Context, table: TableDef, two_share: float = 0.2) -> Draft:
    """INSERT of one row or two, all columns or only some."""
    columns = _columns_to_insert(context, table)
    count = 2 if context.chance(two_share) else 1
    values = [[_new_value(context, column) for column in columns] for _ in range(count)]
    rows = tuple(_whole_row(table, columns, row) for row in values)
    cells = [
        [_cell(context, column, value) for column, value in zip(columns, row, strict=True)] for row in values
    ]
    return Draft(Kind.INSERT, insert_tree(table, columns, cells), table, rows)


def _columns_to_insert(context: Context, table: TableDef) -> list[ColumnDef]:
    if context.chance(0.65):
        return list(table.written)
    needed = [one for one in table.written if not one.nullable and not one.has_default]
    others = [one for one in table.written if one not in needed and context.chance(0.5)]
    return [*needed, *others] or [table.written[0]]


def _new_value(context: Context, column: ColumnDef) -> Value:
    """Keys are new half of the time; what they meet otherwise is worth having, too."""
    if column.key and not column.nullable and column.type.family is Family.INTEGER and context.chance(0.5):
        return context.rng.randint(10, 40)
    return draw(context.rng, column, context.profile)


def _cell(context: Context, column: ColumnDef, value: Value) -> exp.Expression:
    rich = "rich" in context.profile.tags and context.can(Can.DEFAULT_VALUE)
    if rich and column.has_default and value == column.default:
        return exp.Var(this="DEFAULT")
    return literal(value)


def _whole_row(table: TableDef, columns: Sequence[ColumnDef], values: Sequence[Value]) -> Row:
    given = {column.name: value for column, value in zip(columns, values, strict=True)}
    return table.whole(tuple(given.get(column.name, column.default) for column in table.written))


# -- what a column is set to


def assigned(within: Context, column: ColumnDef) -> exp.Expression:
    """The right side of SET column = .."""
    node: exp.Expression = produce("assigned", replace(within, column=column))
    return node


def _column(context: Context) -> ColumnDef:
    assert context.column is not None
    return context.column


def _may_be_null(context: Context) -> bool:
    return _column(context).nullable


def _same_family(context: Context) -> list[tuple[str | None, ColumnDef]]:
    own = _column(context)
    return [
        (alias, one)
        for alias, one in context.columns(own.type.family)
        if one.name != own.name and (own.nullable or not one.nullable) and one.type.low >= own.type.low
    ]


@production("assigned", "literal", weight=6)
def _set_literal(context: Context) -> exp.Expression:
    return literal(draw(context.rng, _column(context), context.profile))


@production("assigned", "null", weight=0.3, guard=_may_be_null)
def _set_null(_context: Context) -> exp.Expression:
    return exp.Null()


@production("assigned", "step", weight=2, guard=lambda context: _column(context).type.family in NUMBERS)
def _set_step(context: Context) -> exp.Expression:
    """c = c + 1, or another small step; keys get out of the way of each other by larger ones."""
    column = _column(context)
    size = exp.Literal.number(context.rng.choice((1, 10, 100) if column.key else (1, 1, 2, 10)))
    down = column.type.low < 0 and context.chance(0.3)
    return (exp.Sub if down else exp.Add)(this=column_node(None, column), expression=size)


@production("assigned", "column", weight=1, guard=lambda context: bool(_same_family(context)))
def _set_column(context: Context) -> exp.Expression:
    return column_node(*context.rng.choice(_same_family(context)))


@production(
    "assigned", "expression", weight=1, guard=lambda context: _may_be_null(context) and _is_int(context)
)
def _set_expression(context: Context) -> exp.Expression:
    return of_family(context, _column(context).type.family)


def _is_no_date(context: Context) -> bool:
    """The constants of dates are texts, which CASE would leave as they are."""
    return _column(context).type.family is not Family.DATE


@production("assigned", "choice", weight=0.4, nests=True, guard=_is_no_date)
def _set_choice(context: Context) -> exp.Expression:
    """CASE WHEN condition THEN the old value ELSE a new one."""
    column = _column(context)
    value = literal(context.rng.choice(column.pool))
    arm = exp.If(this=condition(context), true=column_node(None, column))
    return exp.Case(ifs=[arm], default=value)


def _is_int(context: Context) -> bool:
    """Where any expression of the family fits: no unsigned column, and no text that grows too long."""
    type_ = _column(context).type
    return type_.low < 0 and type_.family is not Family.TEXT


# -- writes that move keys

_TWO_ROWS_BY_KEY = 0.04
"""Two rows of one statement that meet each other, not another transaction, are seldom worth a case."""


def _keyed(context: Context) -> list[TableDef]:
    return [table for table in context.tables if table.uniques]


def _has_keys(context: Context) -> bool:
    return bool(_keyed(context))


@production("statement", "move", weight=4, tag="keys", guard=_has_keys)
def _move_key(context: Context) -> Draft:
    """UPDATE of a key column, so that its row goes elsewhere in the index."""
    table = context.rng.choice(_keyed(context))
    within = replace(over(context, table), target=table)
    index = context.rng.choice(table.uniques)
    column = table.column(context.rng.choice(index.columns))
    tree = update_tree(within, table, [column])
    if context.chance(0.6):
        tree.set("where", exp.Where(this=key_condition(within, column)))
    return Draft(Kind.UPDATE, tree, table)


def key_condition(within: Context, column: ColumnDef) -> exp.Expression:
    """One key or a range of keys."""
    node = column_node(None, column)
    value, other = (literal(within.rng.choice(column.pool)) for _ in range(2))
    if within.chance(0.5):
        return exp.EQ(this=node, expression=value)
    if within.chance(0.4):
        return exp.Between(this=node, low=value, high=other)
    return within.rng.choice((exp.GT, exp.GTE, exp.LT, exp.NEQ))(this=node, expression=value)


def _two_keys_by_number(context: Context) -> list[tuple[TableDef, ColumnDef]]:
    return [
        (table, column)
        for table in _keyed(context)
        for column in table.written
        if column.key and column.type.family is Family.INTEGER and column.type.low < 0
    ]


@production(
    "statement", "swap", weight=0.5, tag="keys", guard=lambda context: bool(_two_keys_by_number(context))
)
def _swap_keys(context: Context) -> Draft:
    """Two keys change places, or go through zero: key = sum - key."""
    table, column = context.rng.choice(_two_keys_by_number(context))
    one, other = (context.rng.choice(column.pool) for _ in range(2))
    assert isinstance(one, int)
    assert isinstance(other, int)
    node = column_node(None, column)
    moved = exp.Sub(this=literal(one + other), expression=node.copy())
    where = exp.In(this=node.copy(), expressions=[literal(one), literal(other)])
    tree = exp.Update(
        this=table_node(table.name),
        expressions=[exp.EQ(this=node, expression=moved)],
        where=exp.Where(this=where),
    )
    return Draft(Kind.UPDATE, tree, table)


@production("statement", "delete.key", weight=1, tag="keys", guard=_has_keys)
def _delete_by_key(context: Context) -> Draft:
    table = context.rng.choice(_keyed(context))
    column = table.column(context.rng.choice(table.uniques).columns[0])
    tree = exp.Delete(
        this=table_node(table.name), where=exp.Where(this=key_condition(over(context, table), column))
    )
    return Draft(Kind.DELETE, tree, table)


@production("statement", "select.key", weight=1, tag="keys", guard=_has_keys)
def _select_by_key(context: Context) -> Draft:
    table = context.rng.choice(_keyed(context))
    column = table.column(context.rng.choice(table.uniques).columns[0])
    select = plain_select(context, table)
    select.set("where", exp.Where(this=key_condition(over(context, table), column)))
    return Draft(Kind.READ, select, table)


@production("statement", "reinsert", weight=1, tag="keys", guard=_has_keys)
def _reinsert(context: Context) -> list[Draft]:
    """DELETE of a key and INSERT of the same one, in one transaction."""
    table = context.rng.choice(_keyed(context))
    insert = insert_values(context, table)
    index = context.rng.choice(table.uniques)
    names = [column.name for column in table.columns]
    tests = [
        exp.EQ(
            this=column_node(None, table.column(part)), expression=literal(insert.rows[0][names.index(part)])
        )
        for part in index.columns
    ]
    tree = exp.Delete(this=table_node(table.name), where=exp.Where(this=exp.and_(*tests)))
    return [Draft(Kind.DELETE, tree, table), insert]


@production("statement", "insert.ignore", weight=0.5, tag="keys", needs=Can.INSERT_IGNORE)
def _insert_ignore(context: Context) -> Draft:
    draft = insert_values(context, random_table(context))
    draft.tree.set("ignore", True)
    return draft


@production("statement", "replace", weight=0.5, tag="keys", needs=Can.REPLACE, guard=_has_keys)
def _replace(context: Context) -> Draft:
    draft = insert_values(context, context.rng.choice(_keyed(context)), _TWO_ROWS_BY_KEY)
    draft.tree.meta["replaces"] = True
    return draft


@production(
    "statement",
    "upsert",
    weight=0.8,
    tag="keys",
    needs=Can.DUPLICATE_KEY_UPDATE,
    guard=_has_keys,
)
def _upsert(context: Context) -> Draft:
    table = context.rng.choice(_keyed(context))
    draft = insert_values(context, table, _TWO_ROWS_BY_KEY)
    within = replace(over(context, table), target=table)
    column = _columns_to_set(context, table)[0]
    if context.chance(0.3):
        value: exp.Expression = exp.Anonymous(this="VALUES", expressions=[column_node(None, column)])
    else:
        value = assigned(within, column)
    sets = [exp.EQ(this=column_node(None, column), expression=value)]
    draft.tree.set(
        "conflict", exp.OnConflict(duplicate=True, action=exp.Var(this="UPDATE"), expressions=sets)
    )
    return draft


@production("statement", "conflict", weight=0.8, tag="keys", needs=Can.ON_CONFLICT, guard=_has_keys)
def _on_conflict(context: Context) -> Draft:
    table = context.rng.choice(_keyed(context))
    draft = insert_values(context, table)
    index = context.rng.choice(table.uniques)
    free = [column for column in table.written if column.name not in index.columns]
    if not free or context.chance(0.4):
        draft.tree.set("conflict", exp.OnConflict(action=exp.Var(this="DO NOTHING")))
        return draft
    column = context.rng.choice(free)
    new = exp.Column(
        this=exp.Identifier(this=column.name, quoted=False), table=exp.Identifier(this="EXCLUDED")
    )
    value = new if context.chance(0.5) else literal(context.rng.choice(column.pool))
    conflict = exp.OnConflict(
        conflict_keys=[exp.column(part) for part in index.columns],
        action=exp.Var(this="DO UPDATE"),
        expressions=[exp.EQ(this=column_node(None, column), expression=value)],
    )
    draft.tree.set("conflict", conflict)
    return draft
