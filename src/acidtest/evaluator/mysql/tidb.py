"""TiDB: MySQL's SQL, computed by an engine of its own. What differs in digits or types is unknown here."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from sqlglot import exp

from acidtest.evaluator.code import Code, unsure
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.dialect import Handler, Settings
from acidtest.evaluator.errors import Unknown
from acidtest.evaluator.mysql.dialect import MySQL
from acidtest.evaluator.mysql.quirks import Quirks
from acidtest.evaluator.types import Family, SqlType
from acidtest.model import Column


def _careful(handler: Handler) -> Handler:
    """An operator whose answer over unsigned integers and others, or over some DECIMALs, is TiDB's own."""

    def compiled(compiler: Compiler, node: Any) -> Code:
        operands = [compiler.compile(part) for part in (node.this, node.args.get("expression")) if part]
        types = [code.type for code in operands]
        mixed = any(one.unsigned for one in types) and not all(one.unsigned for one in types)
        if mixed and not all(_is_plain_integer(code) for code in operands):
            raise Unknown("arithmetic of unsigned integers and others in TiDB")
        if isinstance(node, exp.Mod) and any(one.family is Family.DECIMAL for one in types):
            raise Unknown("the remainder of DECIMALs in TiDB")
        code = handler(compiler, node)
        return replace(code, fn=unsure(code.fn)) if mixed else code

    return compiled


def _is_plain_integer(code: Code) -> bool:
    return code.type.family is Family.INTEGER and (code.column or code.literal)


def _of_integers(handler: Handler) -> Handler:
    """A function whose answer is as MySQL's over integers."""

    def compiled(compiler: Compiler, node: Any) -> Code:
        operands = compiler.all([node.this, *node.expressions])
        if not all(code.type.family in (Family.INTEGER, Family.NULL) for code in operands):
            raise Unknown(f"{node.key} of anything but integers in TiDB")
        return handler(compiler, node)

    return compiled


def _unknown(compiler: Compiler, node: Any) -> Code:  # noqa: ARG001 - a handler
    raise Unknown(f"{node.key} in TiDB")


def _cast(compiler: Compiler, node: exp.Cast) -> Code:
    if not node.to.is_type(exp.DataType.Type.DATE):
        raise Unknown("CAST in TiDB")
    return MySQL.handlers[exp.Cast](compiler, node)


class TiDB(MySQL):
    """TiDB 4 to 8."""

    name = "tidb"
    joins_on_subqueries = False
    writing = replace(
        MySQL.writing,
        assigns_in_sequence=False,
        joins_from_old_rows=True,
        refuses_own_reads=False,
        refuses_own_reads_of_joins=False,
    )
    handlers: ClassVar[Mapping[type[Any], Handler]] = {
        **MySQL.handlers,
        **{kind: _careful(MySQL.handlers[kind]) for kind in (exp.Add, exp.Sub, exp.Mul, exp.Mod)},
        **{kind: _of_integers(MySQL.handlers[kind]) for kind in (exp.Greatest, exp.Least)},
        **dict.fromkeys((exp.Div, exp.Round), _unknown),
        exp.Cast: _cast,
    }

    @classmethod
    def quirks_for(cls, version: tuple[int, ...]) -> Quirks:  # noqa: ARG003 - its numbers are not MySQL's
        return Quirks()

    @classmethod
    def settings_for(cls, version: tuple[int, ...]) -> Settings:
        return Settings(version=version, connection_collation="utf8mb4_bin", full_group_by=True, strict=True)

    def column_type(self, column: Column) -> SqlType:
        # Before 6.0 every collation compares bytes.
        if column.collation not in (None, "utf8mb4_bin"):
            raise Unknown(f"the collation {column.collation} in TiDB")
        return super().column_type(column)

    def unify(self, compiler: Compiler, codes: Sequence[Code]) -> tuple[SqlType, list[Code]]:
        types = {code.type for code in codes if code.type.family is not Family.NULL}
        families = {one.family for one in types}
        if len({one.unsigned for one in types if one.family is Family.INTEGER}) > 1:
            raise Unknown("the common type of signed and unsigned integers in TiDB")
        dates = families & {Family.DATE, Family.DATETIME}
        decimals = len(types) > 1 and Family.DECIMAL in families
        if dates or (decimals and len({(one.family, one.scale) for one in types}) > 1):
            raise Unknown("the common type of DECIMALs or dates in TiDB")
        return super().unify(compiler, codes)
