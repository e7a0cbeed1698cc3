"""PostgreSQL as handlers and rules."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from sqlglot import exp

from acidtest.evaluator import subqueries
from acidtest.evaluator.code import Code, Convert, Fn
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.dialect import Aggregate, Dialect, Handler, Settings, Writing, required
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.postgres import functions, operators, strings
from acidtest.evaluator.postgres.aggregates import aggregate
from acidtest.evaluator.postgres.types import (
    INT8,
    UNTYPED,
    as_text,
    common_type,
    fit,
    mismatch,
    settle,
    stored_type,
)
from acidtest.evaluator.types import BOOLEAN, Family, SqlType
from acidtest.model import Column, ErrorKind


class PostgreSQL(Dialect):
    """PostgreSQL 9.6 to 18."""

    name = "postgres"
    nulls_first = False
    folds_constants = True
    rank_type = INT8
    many_rows = ErrorKind.BAD_VALUE
    writing = Writing(ambiguous_excluded=True, refuses_generated=ErrorKind.SYNTAX)
    system_columns = frozenset({"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"})
    handlers: ClassVar[Mapping[type[Any], Handler]] = {
        **subqueries.SHARED,
        **operators.HANDLERS,
        **functions.HANDLERS,
        **strings.HANDLERS,
    }
    functions: ClassVar[Mapping[str, Handler]] = strings.FUNCTIONS

    @classmethod
    def settings_for(cls, version: tuple[int, ...]) -> Settings:
        return Settings(version=version, database_collation="C")

    def column_type(self, column: Column) -> SqlType:
        return stored_type(column, self.settings.database_collation or "C")

    def truth(self, compiler: Compiler, code: Code) -> Fn:  # noqa: ARG002
        return operators.truth(code)

    def logical(self, fn: Fn, *codes: Code) -> Code:
        return Code(
            BOOLEAN,
            fn,
            constant=all(code.constant for code in codes),
            fails=any(code.fails for code in codes),
        )

    def comparables(self, compiler: Compiler, codes: Sequence[Code], *, ordering: bool) -> list[Code]:
        return operators.comparables(compiler, codes, ordering=ordering)

    def list_pairs(self, compiler: Compiler, value: Code, items: Sequence[Code]) -> list[tuple[Code, Code]]:
        # Several constants become an array of one type and are compared before the other items.
        constants = [item for item in items if item.constant]
        others = [(value, item) for item in items if not item.constant]
        known = [code for code in (value, *constants) if code.type.family not in UNTYPED]
        if len(constants) < 2 or not known:
            return [(value, item) for item in items]
        try:
            target, _ = common_type(compiler, known)
        except EvaluationError:
            return [(value, item) for item in items]
        return [(settle(value, target), settle(item, target)) for item in constants] + others

    def case_pairs(
        self, compiler: Compiler, subject: Code, values: Sequence[Code]
    ) -> list[tuple[Code, Code]]:
        return [(self.settled(compiler, subject), value) for value in values]

    def unify(self, compiler: Compiler, codes: Sequence[Code]) -> tuple[SqlType, list[Code]]:
        return common_type(compiler, codes)

    def key(self, type_: SqlType, *, ordering: bool) -> Convert:
        if type_.family is Family.OPAQUE:
            raise Unknown("grouping or ordering by a type that is not modelled")
        if type_.is_text:
            if ordering and not type_.collation.orders:
                raise Unknown("the order of texts in this collation")
            return _unpadded if type_.padded else _same
        return _same

    def output(self, type_: SqlType) -> Convert | None:  # noqa: ARG002
        return None

    def settled(self, compiler: Compiler, code: Code) -> Code:
        return as_text(compiler, code) if code.type.family in UNTYPED else code

    def aggregate(self, compiler: Compiler, node: exp.Expression) -> Aggregate:
        return aggregate(compiler, node)

    def store(self, compiler: Compiler, column: Column, code: Code) -> Fn:
        target = self.column_type(column)
        converted = _assigned(compiler, code, target)
        fitted = fit(target, explicit=False)
        fn = compiler.folded(converted if fitted is None else converted.then(target, fitted)).fn
        return fn if column.nullable else required(column, fn)

    def ungrouped(self, name: str) -> None:
        raise EvaluationError(ErrorKind.SYNTAX, f"column {name} must appear in the GROUP BY clause")

    def column_key(self, name: str) -> str:
        return name

    def fold_name(self, identifier: exp.Identifier) -> str:
        return _folded(identifier)

    def fold_table(self, identifier: exp.Identifier) -> str:
        return _folded(identifier)


def _folded(identifier: exp.Identifier) -> str:
    name = str(identifier.this)
    return name if identifier.args.get("quoted") else name.lower()


def _assigned(compiler: Compiler, code: Code, target: SqlType) -> Code:
    """Assignment casts: numbers convert among themselves, and everything converts to text."""
    if code.type.family in UNTYPED:
        return settle(code, target)
    if target.is_text:
        keeps = code.type.is_text and code.type.padded and target.padded
        return code if keeps else as_text(compiler, code)
    if code.type.is_numeric and target.is_numeric:
        return functions.number_to(code, target)
    if code.type.family is target.family:
        return code
    if Family.OPAQUE in (code.type.family, target.family) or code.type.is_temporal or target.is_temporal:
        raise Unknown(f"storing {code.type.family} in {target.family}")
    raise mismatch("in an assignment")


def _same(value: Any) -> Any:
    return value


def _unpadded(value: str) -> str:
    return value.rstrip(" ")
