"""Handlers that every dialect shares: names, three-valued logic, comparisons, CASE."""

import operator
from collections.abc import Iterator, Sequence
from typing import Any

from sqlglot import exp

from acidtest.evaluator.code import Code, Fn, JoinedRow, unsure
from acidtest.evaluator.code import constant as constant_code
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.dialect import Dialect, Handler
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.types import NULL, Family
from acidtest.model import ErrorKind

TESTS = {
    exp.EQ: operator.eq,
    exp.NEQ: operator.ne,
    exp.LT: operator.lt,
    exp.LTE: operator.le,
    exp.GT: operator.gt,
    exp.GTE: operator.ge,
}


def column(compiler: Compiler, node: exp.Column) -> Code:
    """A column of this query or of an enclosing one."""
    if node.args.get("db") or not isinstance(node.this, exp.Identifier):
        raise Unknown("columns named with their database")
    dialect = compiler.dialect
    table = node.args.get("table")
    name = dialect.fold_name(node.this)
    try:
        field = compiler.scope.find(name, dialect.fold_table(table) if table is not None else None)
    except EvaluationError as error:
        if error.kind is ErrorKind.NO_SUCH_OBJECT and name in dialect.system_columns:
            raise Unknown(f"the system column {name}") from error
        if error.kind is ErrorKind.NO_SUCH_OBJECT and table is None and compiler.scope.has_source(name):
            raise Unknown("a whole row as a value") from error
        raise
    slot = field.slot
    if field.type.family is Family.OPAQUE and _is_operand(node):
        raise Unknown("a column of a type that is not modelled, in an expression")
    return Code(field.type, operator.itemgetter(slot), column=True)


_OPERATIONS = (exp.Binary, exp.Unary, exp.Func, exp.In, exp.Between)


def _is_operand(node: exp.Expression) -> bool:
    """Whether anything but showing, counting or a look for NULL is done with a value."""
    parent = node.parent
    while isinstance(parent, exp.Paren):
        parent = parent.parent
    if isinstance(parent, exp.Count) or (
        isinstance(parent, exp.Is) and isinstance(parent.expression, exp.Null)
    ):
        return False
    return isinstance(parent, _OPERATIONS)


def parenthesis(compiler: Compiler, node: exp.Paren) -> Code:
    """What stands inside."""
    return compiler.compile(node.this)


def null(_compiler: Compiler, _node: exp.Null) -> Code:
    """A bare NULL."""
    return constant_code(NULL, None, literal=True)


def conjunction(compiler: Compiler, node: exp.And) -> Code:
    """AND, from left to right, stopping at the first FALSE."""
    left = compiler.compile(node.this)
    first = compiler.truth(left)
    with compiler.dead_code(_is_constantly(compiler, left, False)):
        right = compiler.compile(node.expression)
    return _conjoined(compiler, left, first, right)


def _conjoined(compiler: Compiler, left: Code, first: Fn, right: Code) -> Code:
    second = compiler.truth(right)
    if compiler.dialect.folds_constants:
        for code in (left, right):
            if _is_constantly(compiler, code, False):
                return code
    return compiler.dialect.logical(_surely(compiler, both(first, second), left, right), left, right)


def _surely(compiler: Compiler, test: Fn, left: Code, right: Code) -> Fn:
    """A constant may decide AND and OR before an operand that fails is looked at."""
    constant = left.constant or right.constant
    hidden = constant and (left.fails or right.fails) and not compiler.dialect.folds_constants
    return unsure(test) if hidden else test


def disjunction(compiler: Compiler, node: exp.Or) -> Code:
    """OR, from left to right, stopping at the first TRUE."""
    left = compiler.compile(node.this)
    first = compiler.truth(left)
    with compiler.dead_code(_is_constantly(compiler, left, True)):
        right = compiler.compile(node.expression)
    second = compiler.truth(right)
    if compiler.dialect.folds_constants:
        for code in (left, right):
            if _is_constantly(compiler, code, True):
                return code
    return compiler.dialect.logical(_surely(compiler, either(first, second), left, right), left, right)


def _is_constantly(compiler: Compiler, code: Code, value: bool) -> bool:
    if not code.constant or code.fails:
        return False
    return compiler.truth(code)(()) is value


def both(first: Fn, second: Fn) -> Fn:
    """Three-valued AND."""

    def conjoined(row: JoinedRow) -> bool | None:
        left = first(row)
        if left is False:
            return False
        right = second(row)
        if right is False:
            return False
        return None if left is None or right is None else True

    return conjoined


def either(first: Fn, second: Fn) -> Fn:
    """Three-valued OR."""

    def disjoined(row: JoinedRow) -> bool | None:
        left = first(row)
        if left is True:
            return True
        right = second(row)
        if right is True:
            return True
        return None if left is None or right is None else False

    return disjoined


def exclusive(compiler: Compiler, node: exp.Xor) -> Code:
    """XOR: NULL if an operand is."""
    left, right = compiler.compile(node.this), compiler.compile(node.expression)
    first, second = compiler.truth(left), compiler.truth(right)

    def differs(row: JoinedRow) -> bool | None:
        a, b = first(row), second(row)
        return None if a is None or b is None else a is not b

    return compiler.dialect.logical(differs, left, right)


def negation(compiler: Compiler, node: exp.Not) -> Code:
    """NOT."""
    return negate(compiler, compiler.compile(node.this))


def negate(compiler: Compiler, code: Code) -> Code:
    """The negation of a condition."""
    inner = compiler.truth(code)

    def negated(row: JoinedRow) -> bool | None:
        value = inner(row)
        return None if value is None else not value

    return compiler.dialect.logical(negated, code)


def comparison(compiler: Compiler, node: exp.Binary) -> Code:
    """=, <>, <, <=, >, >= of values and of rows."""
    test = TESTS[type(node)]
    ordering = not isinstance(node, exp.EQ | exp.NEQ)
    if isinstance(node.this, exp.Tuple):
        return _row_comparison(compiler, node)
    return compiler.compare(
        compiler.compile(node.this), compiler.compile(node.expression), test, ordering=ordering
    )


def _row_comparison(compiler: Compiler, node: exp.Binary) -> Code:
    if not isinstance(node, exp.EQ | exp.NEQ) or not isinstance(node.expression, exp.Tuple):
        raise Unknown("the order of row values")
    code = rows_equal(
        compiler, compiler.all(node.this.expressions), compiler.all(node.expression.expressions)
    )
    return code if isinstance(node, exp.EQ) else negate(compiler, code)


def rows_equal(compiler: Compiler, left: Sequence[Code], right: Sequence[Code]) -> Code:
    """Equality of row values: the conjunction over their columns."""
    if len(left) != len(right):
        raise Unknown("row values of different sizes")
    pairs = [compiler.equal(one, two) for one, two in zip(left, right, strict=True)]
    fn = compiler.truth(pairs[0])
    for pair in pairs[1:]:
        fn = both(fn, compiler.truth(pair))
    return compiler.dialect.logical(fn, *pairs)


def null_safe(compiler: Compiler, node: exp.NullSafeEQ | exp.NullSafeNEQ) -> Code:
    """<=> and IS [NOT] DISTINCT FROM: never NULL."""
    codes = (compiler.compile(node.this), compiler.compile(node.expression))
    one, two = compiler.dialect.comparables(compiler, codes, ordering=False)
    first, second = one.fn, two.fn
    wanted = isinstance(node, exp.NullSafeEQ)

    def same(row: JoinedRow) -> bool:
        a, b = first(row), second(row)
        equal = b is None if a is None else b is not None and a == b
        return equal is wanted

    return compiler.dialect.logical(_all_evaluated(compiler.dialect, same, one, two), one, two)


def is_test(compiler: Compiler, node: exp.Is) -> Code:
    """IS [NOT] NULL, UNKNOWN, TRUE, FALSE."""
    code = compiler.compile(node.this)
    wanted = not node.args.get("negate")
    if isinstance(node.expression, exp.Null):
        inner = compiler.dialect.nullness(code)
        return compiler.dialect.logical(lambda row: (inner(row) is None) is wanted, code)
    if isinstance(node.expression, exp.Boolean):
        truth, value = compiler.truth(code), bool(node.expression.this)
        return compiler.dialect.logical(lambda row: (truth(row) is value) is wanted, code)
    raise Unknown("IS with an expression")


def between(compiler: Compiler, node: exp.Between) -> Code:
    """BETWEEN: the conjunction of two comparisons."""
    if node.args.get("symmetric"):
        raise Unknown("BETWEEN SYMMETRIC")
    dialect = compiler.dialect
    codes = compiler.all([node.this, node.args["low"]])
    if dialect.pairwise_between:
        above = compiler.compare(codes[0], codes[1], operator.ge, ordering=True)
        with compiler.dead_code(_is_constantly(compiler, above, False)):
            high = compiler.compile(node.args["high"])
            below = compiler.compare(codes[0], high, operator.le, ordering=True)
        return _conjoined(compiler, above, compiler.truth(above), below)
    codes.append(compiler.compile(node.args["high"]))
    value, low, high = dialect.comparables(compiler, codes, ordering=True)
    test = both(_at_most(low.fn, value.fn), _at_most(value.fn, high.fn))
    return dialect.logical(_all_evaluated(dialect, test, value, low, high), value, low, high)


def _all_evaluated(dialect: Dialect, test: Fn, *codes: Code) -> Fn:
    """The test, after all operands have been evaluated, if any of them may fail."""
    if not any(code.fails for code in codes):
        return test
    probe = dialect.strict(codes[0].type, lambda *_values: True, *codes).fn

    def tested(row: JoinedRow) -> Any:
        probe(row)
        return test(row)

    return tested


def _at_most(first: Fn, second: Fn) -> Fn:
    def compared(row: JoinedRow) -> bool | None:
        a, b = first(row), second(row)
        return None if a is None or b is None else bool(a <= b)

    return compared


def membership(compiler: Compiler, node: exp.In) -> Code:
    """IN over a list."""
    if node.args.get("field") is not None or node.args.get("unnest") is not None:
        raise Unknown("IN over an array")
    if isinstance(node.this, exp.Tuple):
        left = compiler.all(node.this.expressions)
        tests = [rows_equal(compiler, left, compiler.all(item.expressions)) for item in node.expressions]
    else:
        value, items = compiler.compile(node.this), compiler.all(node.expressions)
        pairs = compiler.dialect.list_pairs(compiler, value, items)
        tests = [compiler.equal(operand, item) for operand, item in pairs]
    if compiler.dialect.folds_constants:
        for test in tests:
            if _is_constantly(compiler, test, True):
                return test
    fn = compiler.truth(tests[0])
    for test in tests[1:]:
        fn = either(fn, compiler.truth(test))
    return compiler.dialect.logical(fn, *tests)


NO_ELSE = constant_code(NULL, None)
"""The branch of a CASE without ELSE; unlike an explicit NULL it has no say in the type."""


def case(compiler: Compiler, node: exp.Case) -> Code:
    """CASE, searched and simple."""
    subject = compiler.compile(node.this) if node.this is not None else None
    conditions: list[Code] = []
    branches: list[Code] = []
    settled = False
    values = _case_values(compiler, node, subject)
    for arm in node.args["ifs"]:
        with compiler.dead_code(settled):
            test = compiler.compile(arm.this) if subject is None else compiler.equal(*next(values))
        never = _is_constantly(compiler, test, False) or (
            test.constant and not test.fails and test.fn(()) is None
        )
        with compiler.dead_code(settled or never):
            branches.append(compiler.compile(arm.args["true"]))
        conditions.append(test)
        settled = settled or _is_constantly(compiler, test, True)
    default = node.args.get("default")
    with compiler.dead_code(settled):
        branches.append(compiler.compile(default) if default is not None else NO_ELSE)
    return choose(compiler, conditions, branches)


def _case_values(compiler: Compiler, node: exp.Case, subject: Code | None) -> Iterator[tuple[Code, Code]]:
    if subject is None:
        return
    if compiler.dialect.folds_constants:  # each value is understood, and may be refused, before the next
        for arm in node.args["ifs"]:
            yield from compiler.dialect.case_pairs(compiler, subject, [compiler.compile(arm.this)])
        return
    values = compiler.all([arm.this for arm in node.args["ifs"]])
    yield from compiler.dialect.case_pairs(compiler, subject, values)


def if_function(compiler: Compiler, node: exp.If) -> Code:
    """IF(condition, then, else)."""
    otherwise = node.args.get("false")
    last = compiler.compile(otherwise) if otherwise is not None else constant_code(NULL, None)
    return choose(compiler, [compiler.compile(node.this)], [compiler.compile(node.args["true"]), last])


def choose(compiler: Compiler, conditions: Sequence[Code], branches: Sequence[Code]) -> Code:
    """The first branch whose condition is TRUE, or the last branch, in their common type."""
    # The last branch comes first where the first one decides (PostgreSQL's CASE).
    type_, unified = compiler.dialect.chosen(compiler, [branches[-1], *branches[:-1]])
    unified = [*unified[1:], unified[0]]
    tests = [compiler.truth(code) for code in conditions]
    arms = list(zip(tests, [code.fn for code in unified], strict=False))
    last = unified[-1].fn

    def chosen(row: JoinedRow) -> Any:
        for test, branch in arms:
            if test(row) is True:
                return branch(row)
        return last(row)

    codes = _reachable(compiler, conditions, unified)
    return Code(
        type_,
        chosen,
        constant=all(code.constant for code in codes),
        fails=any(code.fails for code in codes),
    )


def _reachable(compiler: Compiler, conditions: Sequence[Code], branches: Sequence[Code]) -> list[Code]:
    """What a CASE may evaluate: constant conditions decide beforehand where constants come first."""
    if not compiler.dialect.folds_constants:
        return [*conditions, *branches]
    found: list[Code] = []
    for condition, branch in zip(conditions, branches, strict=False):
        if condition.constant and not condition.fails:
            if compiler.truth(condition)(()) is True:
                return [*found, branch]
            continue
        found += [condition, branch]
    return [*found, branches[-1]]


def coalesce(compiler: Compiler, node: exp.Coalesce) -> Code:
    """COALESCE and IFNULL."""
    codes: list[Code] = []
    settled = False
    for argument in (node.this, *node.expressions):
        with compiler.dead_code(settled):
            codes.append(compiler.compile(argument))
        last = codes[-1]
        settled = settled or (last.constant and not last.fails and last.fn(()) is not None)
    type_, unified = compiler.dialect.unify(compiler, codes)
    if compiler.dialect.folds_constants:
        unified = _until_settled(unified)
    fns = [code.fn for code in unified]

    def first(row: JoinedRow) -> Any:
        for fn in fns:
            value = fn(row)
            if value is not None:
                return value
        return None

    return Code(
        type_,
        first,
        constant=all(code.constant for code in unified),
        fails=any(code.fails for code in unified),
    )


def _until_settled(codes: Sequence[Code]) -> list[Code]:
    """Arguments of COALESCE up to the first constant that is not NULL; the rest is dropped."""
    kept: list[Code] = []
    for code in codes:
        kept.append(code)
        if code.constant and not code.fails and code.fn(()) is not None:
            break
    return kept


def nullif(compiler: Compiler, node: exp.Nullif) -> Code:
    """NULLIF: NULL if both are equal, else the first."""
    left, right = compiler.compile(node.this), compiler.compile(node.expression)
    equal = compiler.truth(compiler.equal(left, right))
    value = left.fn
    return Code(
        left.type,
        lambda row: None if equal(row) is True else value(row),
        constant=left.constant and right.constant,
        fails=left.fails or right.fails,
    )


SHARED: dict[type[Any], Handler] = {
    exp.Column: column,
    exp.Paren: parenthesis,
    exp.Null: null,
    exp.And: conjunction,
    exp.Or: disjunction,
    exp.Not: negation,
    **dict.fromkeys(TESTS, comparison),
    exp.NullSafeEQ: null_safe,
    exp.NullSafeNEQ: null_safe,
    exp.Is: is_test,
    exp.Between: between,
    exp.In: membership,
    exp.Case: case,
    exp.Coalesce: coalesce,
    exp.Nullif: nullif,
}
