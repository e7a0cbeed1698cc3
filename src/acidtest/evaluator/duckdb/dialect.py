"""DuckDB as handlers and rules."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from sqlglot import exp

from acidtest.evaluator.code import Code, Convert, Fn, unsure_strict
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.dialect import Aggregate, Dialect, Handler, Writing, required
from acidtest.evaluator.duckdb import operators
from acidtest.evaluator.duckdb.aggregates import aggregate
from acidtest.evaluator.duckdb.types import INT8, UNTYPED, assigned, common, comparable, stored_type
from acidtest.evaluator.errors import Unknown
from acidtest.evaluator.types import BOOLEAN, Family, SqlType
from acidtest.model import Column


class DuckDB(Dialect):
    """DuckDB 2: strict types, booleans, decimals of a fixed scale; names do not mind their case."""

    name = "duckdb"
    writing = Writing(checks_together=True)
    system_columns = frozenset({"rowid"})
    nulls_first = False
    rank_type = INT8
    strict = staticmethod(unsure_strict)
    handlers: ClassVar[Mapping[type[Any], Handler]] = operators.HANDLERS

    def column_type(self, column: Column) -> SqlType:
        if column.collation is not None:
            raise Unknown(f"the collation {column.collation}")
        return stored_type(column.type)

    def truth(self, compiler: Compiler, code: Code) -> Fn:  # noqa: ARG002
        if code.type.family not in (Family.BOOLEAN, Family.NULL):
            raise Unknown(f"{code.type.family} as a condition")
        return code.fn

    def logical(self, fn: Fn, *codes: Code) -> Code:
        return Code(
            BOOLEAN,
            fn,
            constant=all(code.constant for code in codes),
            fails=any(code.fails for code in codes),
        )

    def comparables(self, compiler: Compiler, codes: Sequence[Code], *, ordering: bool) -> list[Code]:  # noqa: ARG002
        return comparable(codes[0], codes[1])

    def unify(self, compiler: Compiler, codes: Sequence[Code]) -> tuple[SqlType, list[Code]]:  # noqa: ARG002
        return common(codes)

    def key(self, type_: SqlType, *, ordering: bool) -> Convert:  # noqa: ARG002
        if type_.family is Family.OPAQUE:
            raise Unknown("grouping or ordering by a type that is not modelled")
        return _same

    def output(self, type_: SqlType) -> Convert | None:  # noqa: ARG002
        return None

    def settled(self, compiler: Compiler, code: Code) -> Code:  # noqa: ARG002
        return common([code])[1][0] if code.type.family in UNTYPED else code

    def aggregate(self, compiler: Compiler, node: exp.Expression) -> Aggregate:
        return aggregate(compiler, node)

    def store(self, compiler: Compiler, column: Column, code: Code) -> Fn:
        fn = compiler.folded(assigned(code, self.column_type(column))).fn
        return fn if column.nullable else required(column, fn)

    def ungrouped(self, name: str) -> None:
        raise Unknown(f"column {name}, which is not grouped")

    def fold_table(self, identifier: exp.Identifier) -> str:
        return str(identifier.this).lower()

    def table_key(self, name: str) -> str:
        return name.lower()


def _same(value: Any) -> Any:
    return value
