"""Typed expressions and conditions over the columns in scope. Deterministic functions only."""

from collections.abc import Callable

from sqlglot import exp

from acidtest.generate.flavour import Can, Family
from acidtest.generate.grammar import Context, Guard, produce, production
from acidtest.generate.tables import ColumnDef, draw, fresh_value, literal

COMPARISONS: tuple[type[exp.Expression], ...] = (
    exp.EQ,
    exp.EQ,
    exp.EQ,
    exp.NEQ,
    exp.LT,
    exp.LTE,
    exp.GT,
    exp.GTE,
)
NUMBERS = (Family.INTEGER, Family.DECIMAL, Family.DOUBLE)


def column_node(alias: str | None, column: ColumnDef) -> exp.Column:
    """A column by its name, with the alias of its source where it has one."""
    return exp.Column(
        this=exp.Identifier(this=column.name, quoted=False),
        table=exp.Identifier(this=alias, quoted=False) if alias else None,
    )


def aliased(node: exp.Expression, name: str) -> exp.Expression:
    """An item of a select list under a name."""
    return exp.Alias(this=node, alias=exp.Identifier(this=name, quoted=False))


def paren(node: exp.Expression) -> exp.Expression:
    """In parentheses, unless it cannot be misread without."""
    return node if isinstance(node, exp.Column | exp.Literal | exp.Paren | exp.Func) else exp.Paren(this=node)


def of_family(context: Context, family: Family) -> exp.Expression:
    """An expression whose values are of that family."""
    node: exp.Expression = produce(family.value, context)
    return node


def condition(context: Context) -> exp.Expression:
    """A condition over the columns in scope."""
    node: exp.Expression = produce("condition", context)
    return node


def _value(context: Context, column: ColumnDef) -> exp.Expression:
    """A constant to compare a column with."""
    value = draw(context.rng, column, context.profile)
    return literal(value if value is not None else context.rng.choice(column.pool))


def _any_column(context: Context, family: Family | None = None) -> tuple[exp.Column, ColumnDef]:
    alias, column = context.rng.choice(context.columns(family))
    return column_node(alias, column), column


def _has_columns(context: Context) -> bool:
    return any(source.columns for source in context.scope)


def _has(family: Family) -> Guard:
    return lambda context: bool(context.columns(family))


# -- conditions


@production("condition", "compare", weight=6, guard=_has_columns)
def _compare(context: Context) -> exp.Expression:
    node, column = _any_column(context)
    return context.rng.choice(COMPARISONS)(this=node, expression=_value(context, column))


def _two_alike(context: Context) -> bool:
    families = [column.type.family for _, column in context.columns()]
    return len(families) != len(set(families))


@production("condition", "columns", weight=1, guard=_two_alike)
def _compare_columns(context: Context) -> exp.Expression:
    columns = context.columns()
    first = context.rng.choice(
        [one for one in columns if sum(one[1].type.family is other[1].type.family for other in columns) > 1]
    )
    others = [one for one in columns if one is not first and one[1].type.family is first[1].type.family]
    second = context.rng.choice(others)
    return context.rng.choice(COMPARISONS)(this=column_node(*first), expression=column_node(*second))


@production("condition", "expressions", weight=2, guard=_has_columns, nests=True)
def _compare_expressions(context: Context) -> exp.Expression:
    _, column = _any_column(context)
    left, right = (paren(of_family(context, column.type.family)) for _ in range(2))
    return context.rng.choice(COMPARISONS)(this=left, expression=right)


@production("condition", "in", weight=1.5, guard=_has_columns)
def _in(context: Context) -> exp.Expression:
    node, column = _any_column(context)
    items = [_value(context, column) for _ in range(context.rng.randint(1, 3))]
    return _perhaps_not(context, exp.In(this=node, expressions=items))


@production("condition", "between", weight=1.5, guard=_has_columns)
def _between(context: Context) -> exp.Expression:
    node, column = _any_column(context)
    low, high = (_value(context, column) for _ in range(2))
    return _perhaps_not(context, exp.Between(this=node, low=low, high=high))


@production("condition", "null", weight=1, guard=_has_columns)
def _is_null(context: Context) -> exp.Expression:
    node, _ = _any_column(context)
    return _perhaps_not(context, exp.Is(this=node, expression=exp.Null()))


@production("condition", "like", weight=1.5, guard=_has(Family.TEXT))
def _like(context: Context) -> exp.Expression:
    node, _ = _any_column(context, Family.TEXT)
    pattern = context.rng.choice(("a%", "%b%", "_", "%", "%1%", "ab", "_a%"))
    return _perhaps_not(context, exp.Like(this=node, expression=exp.Literal.string(pattern)))


@production("condition", "same", weight=0.4, guard=_has_columns)
def _null_safe(context: Context) -> exp.Expression:
    node, column = _any_column(context)
    value = literal(draw(context.rng, column, context.profile))
    return exp.NullSafeEQ(this=node, expression=value)


@production("condition", "and", weight=1.5, nests=True)
def _and(context: Context) -> exp.Expression:
    return exp.And(this=paren(condition(context)), expression=paren(condition(context)))


@production("condition", "or", weight=1.5, nests=True)
def _or(context: Context) -> exp.Expression:
    return exp.Or(this=paren(condition(context)), expression=paren(condition(context)))


@production("condition", "not", weight=0.7, nests=True)
def _not(context: Context) -> exp.Expression:
    return exp.Not(this=paren(condition(context)))


@production("condition", "constant", weight=0.4)
def _constant(context: Context) -> exp.Expression:
    return exp.Boolean(this=context.chance(0.75))


@production("condition", "number", weight=0.4, needs=Can.NUMBERS_AS_TRUTH)
def _number_as_truth(context: Context) -> exp.Expression:
    return of_family(context, Family.INTEGER)


@production("condition", "case", weight=0.3, nests=True)
def _case_condition(context: Context) -> exp.Expression:
    arm = exp.If(this=condition(context), true=paren(condition(context)))
    return exp.Case(ifs=[arm], default=paren(condition(context)))


def _perhaps_not(context: Context, node: exp.Expression) -> exp.Expression:
    return exp.Not(this=node) if context.chance(0.2) else node


# -- leaves of every family


def _column_of(family: Family) -> Callable[[Context], exp.Expression]:
    return lambda context: _any_column(context, family)[0]


def _pooled(family: Family) -> Callable[[Context], exp.Expression]:
    def make(context: Context) -> exp.Expression:
        columns = context.columns(family)
        if columns and context.chance(0.7):
            return _value(context, context.rng.choice(columns)[1])
        type_ = next(one for one in context.flavour.types if one.family is family)
        return literal(fresh_value(context.rng, type_))

    return make


for _family in Family:
    production(_family.value, "column", weight=5, guard=_has(_family))(_column_of(_family))
    production(_family.value, "literal", weight=2)(_pooled(_family))


def _coalesce(family: Family) -> Callable[[Context], exp.Expression]:
    def make(context: Context) -> exp.Expression:
        node, column = _any_column(context, family)
        return exp.Coalesce(this=node, expressions=[_value(context, column)])

    return make


def _nullif(family: Family) -> Callable[[Context], exp.Expression]:
    def make(context: Context) -> exp.Expression:
        node, column = _any_column(context, family)
        return exp.Nullif(this=node, expression=_value(context, column))

    return make


def _case(family: Family) -> Callable[[Context], exp.Expression]:
    def make(context: Context) -> exp.Expression:
        node, column = _any_column(context, family)
        arm = exp.If(this=condition(context), true=node)
        return exp.Case(ifs=[arm], default=_value(context, column))

    return make


# Not for dates: their constants are texts, which only a comparison or an assignment turns into dates.
for _family in (*NUMBERS, Family.TEXT):
    production(_family.value, "coalesce", weight=0.5, guard=_has(_family))(_coalesce(_family))
    _tag = "rich" if _family is Family.TEXT else "core"  # the evaluator does not know MySQL's collation of it
    production(_family.value, "nullif", weight=0.3, guard=_has(_family), tag=_tag)(_nullif(_family))
    production(_family.value, "case", weight=0.4, guard=_has(_family), nests=True)(_case(_family))


# -- numbers


def _is_signed(context: Context) -> bool:
    """MySQL refuses a difference below zero as soon as one operand is unsigned."""
    return all(column.type.low < 0 for _, column in context.columns(Family.INTEGER))


def _sum(family: Family) -> Callable[[Context], exp.Expression]:
    def make(context: Context) -> exp.Expression:
        operators = (exp.Add, exp.Sub) if _is_signed(context) else (exp.Add,)
        operator = context.rng.choice(operators)
        return operator(this=paren(of_family(context, family)), expression=paren(of_family(context, family)))

    return make


for _family in NUMBERS:
    production(_family.value, "sum", weight=2, nests=True)(_sum(_family))


def _abs(family: Family) -> Callable[[Context], exp.Expression]:
    return lambda context: exp.Abs(this=of_family(context, family))


for _family in (Family.INTEGER, Family.DECIMAL):
    production(_family.value, "abs", weight=0.4, nests=True)(_abs(_family))


@production("integer", "product", weight=0.7, nests=True)
def _product(context: Context) -> exp.Expression:
    factor = exp.Literal.number(context.rng.choice((2, 3, 10)))
    return exp.Mul(this=paren(of_family(context, Family.INTEGER)), expression=factor)


@production("integer", "remainder", weight=0.5, nests=True)
def _remainder(context: Context) -> exp.Expression:
    divisor = exp.Literal.number(context.rng.choice((2, 3, 5)))
    return exp.Mod(this=paren(of_family(context, Family.INTEGER)), expression=divisor)


@production("integer", "negative", weight=0.3, nests=True, guard=_is_signed)
def _negative(context: Context) -> exp.Expression:
    return exp.Neg(this=paren(of_family(context, Family.INTEGER)))


@production("integer", "greatest", weight=0.3, guard=_has(Family.INTEGER))
def _greatest(context: Context) -> exp.Expression:
    kind = context.rng.choice((exp.Greatest, exp.Least))
    node, column = _any_column(context, Family.INTEGER)
    return kind(this=node, expressions=[_value(context, column)])


@production("integer", "length", weight=0.3, guard=_has(Family.TEXT))
def _length(context: Context) -> exp.Expression:
    return exp.Length(this=_any_column(context, Family.TEXT)[0])


# -- texts


@production("text", "upper", weight=0.5, nests=True)
def _upper(context: Context) -> exp.Expression:
    return context.rng.choice((exp.Upper, exp.Lower))(this=of_family(context, Family.TEXT))


@production("text", "concat", weight=0.7, nests=True)
def _concat(context: Context) -> exp.Expression:
    left, right = paren(of_family(context, Family.TEXT)), exp.Literal.string(context.rng.choice("ab1"))
    if context.can(Can.CONCAT_OPERATOR):
        return exp.DPipe(this=left, expression=right)
    return exp.Concat(expressions=[left, right], safe=False)


@production("text", "substring", weight=0.4, guard=_has(Family.TEXT))
def _substring(context: Context) -> exp.Expression:
    node, _ = _any_column(context, Family.TEXT)
    start, length = context.rng.choice((1, 1, 2)), context.rng.choice((1, 2))
    return exp.Substring(this=node, start=exp.Literal.number(start), length=exp.Literal.number(length))
