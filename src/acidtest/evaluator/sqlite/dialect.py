"""SQLite as handlers and rules."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from sqlglot import exp

from acidtest.evaluator.code import Code, Convert, Fn, JoinedRow
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.dialect import Aggregate, Dialect, Handler, Writing, required
from acidtest.evaluator.errors import Unknown
from acidtest.evaluator.sqlite import operators, values
from acidtest.evaluator.sqlite.aggregates import aggregate
from acidtest.evaluator.sqlite.values import DYNAMIC, MIXED, TRUTH
from acidtest.evaluator.types import Family, SqlType
from acidtest.model import Column, ErrorKind


class SQLite(Dialect):
    """SQLite 3: values have types, columns have affinities, conditions are numbers, next to nothing fails.

    The static type of a code is its affinity, which decides comparisons and nothing else.
    """

    name = "sqlite"
    writing = Writing(
        reads_while_writing=True, nulls_last=False, upserts_twice=True, refuses_generated=ErrorKind.OTHER
    )
    system_columns = frozenset({"rowid", "oid", "_rowid_"})
    rank_type = DYNAMIC
    handlers: ClassVar[Mapping[type[Any], Handler]] = operators.HANDLERS

    def column_type(self, column: Column) -> SqlType:
        if column.collation is not None:
            raise Unknown(f"the collation {column.collation}")
        return values.affinity_of(column.type)

    def truth(self, compiler: Compiler, code: Code) -> Fn:  # noqa: ARG002
        return code.fn if code.type.logical and not code.constant else operators.truth(code.fn)

    def logical(self, fn: Fn, *codes: Code) -> Code:
        return Code(
            TRUTH,
            fn,
            constant=all(code.constant for code in codes),
            fails=any(code.fails for code in codes),
        )

    def comparables(self, compiler: Compiler, codes: Sequence[Code], *, ordering: bool) -> list[Code]:  # noqa: ARG002
        return values.comparable(codes[0], codes[1])

    def list_pairs(self, compiler: Compiler, value: Code, items: Sequence[Code]) -> list[tuple[Code, Code]]:  # noqa: ARG002
        return [(value, item.typed(DYNAMIC)) for item in items]  # x IN (y) is x = +y

    def unify(self, compiler: Compiler, codes: Sequence[Code]) -> tuple[SqlType, list[Code]]:  # noqa: ARG002
        return DYNAMIC, list(codes)

    def merged(self, compiler: Compiler, sides: Sequence[Code]) -> tuple[SqlType, list[Code]]:  # noqa: ARG002
        types = {side.type for side in sides}
        return (types.pop() if len(types) == 1 else MIXED), list(sides)

    def key(self, type_: SqlType, *, ordering: bool) -> Convert:  # noqa: ARG002
        if type_.family is Family.OPAQUE:
            raise Unknown("grouping or ordering by a column that is not modelled")
        return values.sort_key

    def output(self, type_: SqlType) -> Convert | None:  # noqa: ARG002
        return values.plain

    def derived(self, type_: SqlType) -> SqlType:
        return DYNAMIC if type_.logical else type_

    def aggregate(self, compiler: Compiler, node: exp.Expression) -> Aggregate:
        return aggregate(compiler, node)

    def store(self, compiler: Compiler, column: Column, code: Code) -> Fn:  # noqa: ARG002
        fn = code.then(DYNAMIC, values.stored(self.column_type(column))).fn
        if column.nullable:
            return fn
        return _row_number(fn) if column.type.upper() == "INTEGER" else required(column, fn)

    def fold_table(self, identifier: exp.Identifier) -> str:
        return str(identifier.this).lower()

    def table_key(self, name: str) -> str:
        return name.lower()


def _row_number(fn: Fn) -> Fn:
    """A column that may be the INTEGER PRIMARY KEY, where NULL asks for a number and only integers fit."""

    def checked(row: JoinedRow) -> Any:
        value = fn(row)
        if not isinstance(value, int):
            raise Unknown("anything but an integer in a column that may be the row's number")
        return value

    return checked
