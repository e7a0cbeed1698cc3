"""The dialects of the family, as handlers and flags."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from sqlglot import exp

from acidtest.model import Column
from acidtest.sql.evaluate import logic, subqueries
from acidtest.sql.evaluate.code import Code, Convert, Fn
from acidtest.sql.evaluate.compiler import Compiler
from acidtest.sql.evaluate.dialect import Aggregate, Dialect, Handler, Settings
from acidtest.sql.evaluate.errors import Unknown
from acidtest.sql.evaluate.mysql import arithmetic, numbers, strings, values
from acidtest.sql.evaluate.mysql.aggregates import aggregate
from acidtest.sql.evaluate.mysql.compare import comparables
from acidtest.sql.evaluate.mysql.store import store
from acidtest.sql.evaluate.mysql.types import as_double, common_type, stored_type
from acidtest.sql.evaluate.types import LOGICAL, Family, SqlType


class MySQL(Dialect):
    """MySQL 5.6 to 9.7 in its default SQL mode."""

    name = "mysql"
    pairwise_between = False
    division_keeps_digits: ClassVar[bool] = False
    narrow_literals: ClassVar[bool] = False
    folds_signs: ClassVar[bool] = False
    handlers: ClassVar[Mapping[type[exp.Expression], Handler]] = {
        **subqueries.SHARED,
        exp.Xor: logic.exclusive,
        exp.If: logic.if_function,
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

    def unify(self, compiler: Compiler, codes: Sequence[Code]) -> tuple[SqlType, list[Code]]:
        return common_type(compiler, codes)

    def key(self, type_: SqlType, *, ordering: bool) -> Convert:  # noqa: ARG002
        if type_.is_text:
            return type_.collation.key
        if type_.family is Family.OPAQUE:
            raise Unknown("grouping or ordering by a type that is not modelled")
        if type_.loose:
            scale = type_.scale or 0
            return lambda value: values.round_decimal(value, scale)
        return _same

    def output(self, type_: SqlType) -> Convert | None:
        if type_.family is Family.INTEGER:
            return int
        if type_.family is Family.DECIMAL:
            scale = type_.scale or 0
            return lambda value: values.checked_decimal(values.round_decimal(value, scale))
        return None

    def aggregate(self, compiler: Compiler, node: exp.Expression) -> Aggregate:
        return aggregate(compiler, node)

    def store(self, compiler: Compiler, column: Column, code: Code) -> Fn:
        return store(compiler, column, code)

    def derived(self, type_: SqlType) -> SqlType:
        # A merged derived table computes with all digits of a quotient, a materialised one does not.
        if type_.loose:
            raise Unknown("quotients in a derived table")
        return type_.but(logical=False) if type_.logical else type_


class MariaDB(MySQL):
    """MariaDB 10.1 to 11.8: computes on with all digits of a quotient."""

    name = "mariadb"
    division_keeps_digits = True
    narrow_literals = True
    folds_signs = True
    default_settings = Settings(connection_collation="utf8mb4_general_ci", full_group_by=False)


def _same(value: Any) -> Any:
    return value


def _not_zero(fn: Fn) -> Fn:
    def truth(row: tuple[Any, ...]) -> bool | None:
        value = fn(row)
        return None if value is None else value != 0

    return truth
