"""Layer 3: a node of an expression gives way to one of its children, or to a constant."""

from collections.abc import Iterator

from sqlglot import exp

from acidtest.reduce.layers.constants import fresh_numbers
from acidtest.reduce.layers.edits import replace
from acidtest.reduce.operations import Operation
from acidtest.reduce.script import Edit, Script

_COMPARISONS = (exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.Like)
_LEAVES = (exp.Literal, exp.Null, exp.Boolean, exp.Star, exp.Var, exp.Identifier)
_STRUCTURE = (exp.Tuple, exp.Alias, exp.Query, exp.Values, exp.Table, exp.Schema, exp.CTE, exp.If)


def _expressions(script: Script) -> Iterator[tuple[int, exp.Expression]]:
    """Nodes that stand for a value or a truth, and are no leaves."""
    for place, node in script.nodes():
        if isinstance(script.trees[place], exp.Create) or isinstance(node, (*_LEAVES, *_STRUCTURE)):
            continue
        if isinstance(node, exp.Condition) and not _is_place(node):
            yield place, node


def _is_place(node: exp.Expression) -> bool:
    """A column, or an assignment as a whole."""
    parent = node.parent
    if parent is None or isinstance(node, exp.Column):
        return True
    return isinstance(parent, exp.Update | exp.OnConflict) and node.arg_key == "expressions"


def _children(node: exp.Expression) -> Iterator[exp.Expression]:
    for child in node.iter_expressions():
        if isinstance(child, exp.If):
            yield from (one for one in (child.args.get("true"), child.this) if one is not None)
        elif isinstance(child, exp.Condition):
            yield child


def _unwrapped(script: Script) -> Iterator[Edit]:
    """Parentheses that are not needed, or were not meant."""
    for place, node in script.nodes():
        if isinstance(node, exp.Paren):
            yield replace(place, node, node.this)


def _by_child(script: Script) -> Iterator[Edit]:
    for place, node in _expressions(script):
        yield from (replace(place, node, child) for child in _children(node))


def _arms(script: Script) -> Iterator[Edit]:
    """One arm of AND and OR."""
    for place, node in script.nodes():
        if isinstance(node, exp.Connector):
            yield replace(place, node, node.this)
            yield replace(place, node, node.expression)


def _by_truth(script: Script) -> Iterator[Edit]:
    for place, node in _expressions(script):
        if isinstance(node, exp.Predicate | exp.Connector | exp.Not):
            yield replace(place, node, exp.true())


def _by_constant(script: Script) -> Iterator[Edit]:
    """A constant; in what is written, one that occurs nowhere else (see `constants`)."""
    fresh = fresh_numbers(script)[:1]
    for place, node in _expressions(script):
        if not isinstance(node, exp.Predicate | exp.Connector | exp.Not | exp.Paren):
            written = node.find_ancestor(exp.Where, exp.Having, exp.Join, exp.Select) is None
            numbers = fresh if written else _NUMBERS
            yield from (replace(place, node, one) for one in (*numbers, exp.Null()))


_NUMBERS = (exp.Literal.number(0), exp.Literal.number(1))


def _column_by_constant(script: Script) -> Iterator[Edit]:
    """A column that is read inside an expression."""
    for place, node in script.nodes():
        parent = node.parent
        if isinstance(node, exp.Column) and isinstance(parent, exp.Condition) and not _is_set(node):
            yield from (replace(place, node, number) for number in _NUMBERS)


def _is_set(column: exp.Column) -> bool:
    assignment = column.parent
    holder = assignment.parent if assignment is not None else None
    return isinstance(holder, exp.Update | exp.OnConflict) and column.arg_key == "this"


def _plain_comparison(script: Script) -> Iterator[Edit]:
    """`=` for BETWEEN, IN and every other comparison."""
    for place, node in _expressions(script):
        if isinstance(node, _COMPARISONS):
            yield _equals(place, node, node.expression)
        elif isinstance(node, exp.Between):
            yield _equals(place, node, node.args["low"])
            yield _equals(place, node, node.args["high"])
        elif isinstance(node, exp.In):
            yield from (_equals(place, node, one) for one in node.expressions)


def _equals(place: int, node: exp.Expression, other: exp.Expression) -> Edit:
    return replace(place, node, exp.EQ(this=node.this.copy(), expression=other.copy()))


EXPRESSIONS = (
    Operation("arm", _arms),
    Operation("parentheses", _unwrapped, together=True),
    Operation("truth", _by_truth),
    Operation("constant", _by_constant),
    Operation("child", _by_child),
    Operation("comparison", _plain_comparison),
    Operation("column as constant", _column_by_constant),
)
