"""The dialects of the family, as handlers and flags."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, ClassVar

from sqlglot import exp

from acidtest.model import Column
from acidtest.sql.evaluate import logic, subqueries
from acidtest.sql.evaluate.code import Code, Convert, Fn, unsure_strict
from acidtest.sql.evaluate.compiler import Compiler
from acidtest.sql.evaluate.dialect import Aggregate, Dialect, Handler, Settings
from acidtest.sql.evaluate.errors import Unknown
from acidtest.sql.evaluate.mysql import arithmetic, numbers, strings, values
from acidtest.sql.evaluate.mysql.aggregates import aggregate
from acidtest.sql.evaluate.mysql.compare import comparables
from acidtest.sql.evaluate.mysql.store import store
from acidtest.sql.evaluate.mysql.types import as_double, common_collation, common_type, stored_type
from acidtest.sql.evaluate.types import DOUBLE, LOGICAL, Family, SqlType


def _nullif(compiler: Compiler, node: exp.Nullif) -> Code:
    """NULLIF; over different kinds of types, that of the answer is not the first operand's."""
    left, right = (compiler.compile(part).type for part in (node.this, node.expression))
    if left.is_text != right.is_text and Family.NULL not in (left.family, right.family):
        raise Unknown("NULLIF over texts and others")
    return logic.nullif(compiler, node)


def _mixes_signs(codes: Sequence[Code]) -> bool:
    """Whether a signed integer may meet an unsigned one with the same 64 bits."""
    integers = [
        code.type
        for code in codes
        if code.type.family is Family.INTEGER and not (code.literal and code.fn(()) >= 0)
    ]
    wide = any(type_.unsigned and type_.bits == 64 for type_ in integers)
    return wide and any(not type_.unsigned and not type_.logical for type_ in integers)


def _exclusive(compiler: Compiler, node: exp.Xor) -> Code:
    """XOR looks at integers; what it makes of others differs."""
    for operand in (node.this, node.expression):
        if compiler.compile(operand).type.family not in (Family.INTEGER, Family.NULL):
            raise Unknown("XOR of anything but integers")
    return logic.exclusive(compiler, node)


def _if_function(compiler: Compiler, node: exp.If) -> Code:
    """IF; with a constant condition, only the branch that is taken may decide the type."""
    code = logic.if_function(compiler, node)
    if compiler.compile(node.this).constant:
        types = {compiler.compile(branch).type for branch in (node.args["true"], node.args["false"])}
        if len(types) > 1:
            raise Unknown("IF with a constant condition over different types")
    return code


def _output_with_sign(scale: int) -> Convert:
    """MariaDB takes the sign from a zero only if it rounds decimals away."""

    def shown(value: Decimal) -> Decimal:
        rounded = values.round_decimal(value, scale)
        rounds = -int(value.as_tuple().exponent) > scale
        return values.checked_decimal(rounded) if rounds else rounded

    return shown


def _fixed(scale: int, keeps_sign: bool) -> Convert:
    """A DOUBLE that is printed with so many decimals."""

    def shown(value: float) -> float:
        rounded = float(f"{value:.{scale}f}")
        return rounded if keeps_sign else rounded + 0.0

    return shown


def _unsigned_zero(value: float) -> float:
    return value + 0.0


class MySQL(Dialect):
    """MySQL 5.6 to 9.7 in its default SQL mode."""

    name = "mysql"
    pairwise_between = False
    strict = staticmethod(unsure_strict)
    division_keeps_digits: ClassVar[bool] = False
    narrow_literals: ClassVar[bool] = False
    folds_signs: ClassVar[bool] = False
    mixes_signs_as_decimal: ClassVar[bool] = False
    replaces_lazily: ClassVar[bool] = False
    limits_double_text: ClassVar[bool] = True
    subject_decides_collation: ClassVar[bool] = True
    confuses_signs_in_lists: ClassVar[bool] = True
    rounds_to_fixed: ClassVar[bool] = False
    branches_keep_decimals: ClassVar[bool] = True
    keeps_signed_zero: ClassVar[bool] = True
    handlers: ClassVar[Mapping[type[exp.Expression], Handler]] = {
        **subqueries.SHARED,
        exp.Xor: _exclusive,
        exp.If: _if_function,
        exp.Nullif: _nullif,
        **arithmetic.HANDLERS,
        **numbers.HANDLERS,
        **strings.HANDLERS,
    }
    functions: ClassVar[Mapping[str, Handler]] = {**numbers.FUNCTIONS, **strings.FUNCTIONS}
    default_settings: ClassVar[Settings] = Settings(
        connection_collation="utf8mb4_0900_ai_ci", full_group_by=True
    )

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__(settings or self.default_settings)

    def column_type(self, column: Column) -> SqlType:
        return stored_type(column)

    def truth(self, compiler: Compiler, code: Code) -> Fn:
        if code.type.logical and not code.constant:
            return code.fn
        if code.type.is_temporal:
            raise Unknown("dates as conditions")
        if compiler.writes and code.type.is_text:
            return _not_zero(code.then(DOUBLE, values.text_to_double_or_unknown).fn)
        return _not_zero((code if code.type.is_numeric else as_double(compiler, code)).fn)

    def logical(self, fn: Fn, *codes: Code) -> Code:
        return Code(
            LOGICAL,
            fn,
            constant=all(code.constant for code in codes),
            fails=any(code.fails for code in codes),
        )

    def comparables(self, compiler: Compiler, codes: Sequence[Code], *, ordering: bool) -> list[Code]:  # noqa: ARG002
        return comparables(compiler, codes)

    def listed(self, compiler: Compiler, codes: Sequence[Code]) -> list[Code]:  # noqa: ARG002
        if self.confuses_signs_in_lists and _mixes_signs(codes):
            raise Unknown("IN over signed and unsigned integers")
        texts = [code for code in codes if code.type.is_text]
        if len(texts) < 2:
            return list(codes)
        collation, strength = common_collation(texts)
        return [
            replace(code, type=code.type.but(collation=collation, strength=strength)) if code.type.is_text else code
            for code in codes
        ]

    def case_pairs(
        self, compiler: Compiler, subject: Code, values: Sequence[Code]
    ) -> list[tuple[Code, Code]]:
        if _mixes_signs((subject, *values)):
            raise Unknown("CASE of a signed integer against an unsigned one")
        operand, *others = self.listed(compiler, (subject, *values))
        return [(operand, value) for value in others]

    def unify(self, compiler: Compiler, codes: Sequence[Code]) -> tuple[SqlType, list[Code]]:
        return common_type(compiler, codes)

    def key(self, type_: SqlType, *, ordering: bool) -> Convert:  # noqa: ARG002
        if type_.is_text:
            return type_.collation.key
        if type_.family is Family.OPAQUE:
            raise Unknown("grouping or ordering by a type that is not modelled")
        self.buffered(type_)
        if type_.loose and type_.family is Family.DECIMAL:
            scale = type_.scale or 0
            return lambda value: values.round_decimal(value, scale)
        return _same

    def output(self, type_: SqlType) -> Convert | None:
        if type_.family is Family.INTEGER:
            return int
        if type_.family is Family.DOUBLE and type_.scale is not None:
            return _fixed(type_.scale, self.keeps_signed_zero)
        if type_.family is Family.DOUBLE and not self.keeps_signed_zero:
            return _unsigned_zero
        if type_.ragged:
            return None
        if self.division_keeps_digits and type_.family is Family.DECIMAL:
            return _output_with_sign(type_.scale or 0)
        if type_.family is Family.DECIMAL:
            scale = type_.scale or 0
            return lambda value: values.checked_decimal(values.round_decimal(value, scale))
        return None

    def aggregate(self, compiler: Compiler, node: exp.Expression) -> Aggregate:
        return aggregate(compiler, node)

    def store(self, compiler: Compiler, column: Column, code: Code) -> Fn:
        return store(compiler, column, code)

    def chosen(self, compiler: Compiler, branches: Sequence[Code]) -> tuple[SqlType, list[Code]]:
        if not self.branches_keep_decimals:
            return self.unify(compiler, branches)
        shown = [_shown(self, code) for code in branches]
        type_, unified = self.unify(compiler, shown)
        if type_.family is not Family.DECIMAL:
            return type_, unified
        same = len({code.type for code in branches if code.type.family is not Family.NULL}) == 1
        return type_.but(ragged=not same), unified

    def merged(self, compiler: Compiler, sides: Sequence[Code]) -> tuple[SqlType, list[Code]]:
        if {side.type.family for side in sides} >= {Family.DOUBLE, Family.TEXT}:
            raise Unknown("a set operation over DOUBLEs and texts")
        return self.unify(compiler, sides)

    def buffered(self, type_: SqlType) -> None:
        if type_.family is Family.DOUBLE and type_.scale is not None:
            raise Unknown("a DOUBLE with a fixed number of decimals in a temporary table")
        if type_.ragged:
            raise Unknown("a CASE over different decimals in a temporary table")

    def derived(self, type_: SqlType) -> SqlType:
        # A merged derived table computes with all digits of a quotient, a materialised one does not.
        if type_.loose and type_.family is Family.DECIMAL:
            raise Unknown("quotients in a derived table")
        self.buffered(type_)
        return type_.but(logical=False) if type_.logical else type_


class MariaDB(MySQL):
    """MariaDB 10.1 to 11.8: computes on with all digits of a quotient."""

    name = "mariadb"
    division_keeps_digits = True
    narrow_literals = True
    folds_signs = True
    mixes_signs_as_decimal = True
    replaces_lazily = True
    limits_double_text = False
    subject_decides_collation = False
    confuses_signs_in_lists = False
    rounds_to_fixed = True
    branches_keep_decimals = False
    keeps_signed_zero = False
    default_settings = Settings(connection_collation="utf8mb4_general_ci", full_group_by=False)

    def sought(self, left: Code, right: Code) -> Code:
        # A subquery's rows are looked up by a key of their own type; a value that does not fit finds nothing,
        # not even the NULLs that would make NOT IN unknown.
        return left.then(left.type, _fitting(right.type)) if left.type.is_numeric else left


def _fitting(target: SqlType) -> Convert:
    def check(value: Any) -> Any:
        low, high = target.integer_bounds if target.family is Family.INTEGER else (0, 0)
        if target.family is Family.INTEGER and not (low <= value <= high and value == int(value)):
            raise Unknown("IN a subquery of a type that the value does not fit")
        if target.family is Family.DECIMAL:
            limit = 10 ** ((target.precision or 65) - (target.scale or 0))
            if abs(value) >= limit or values.round_decimal(Decimal(value), target.scale or 0) != value:
                raise Unknown("IN a subquery of a type that the value does not fit")
        return value

    return check


def _shown(dialect: MySQL, code: Code) -> Code:
    output = dialect.output(code.type) if code.type.family is Family.DECIMAL else None
    return code if output is None else code.then(code.type, output)


def _same(value: Any) -> Any:
    return value


def _not_zero(fn: Fn) -> Fn:
    def truth(row: tuple[Any, ...]) -> bool | None:
        value = fn(row)
        return None if value is None else value != 0

    return truth
