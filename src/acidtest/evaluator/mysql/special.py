"""Expressions that the family treats in a way of its own."""

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from acidtest.evaluator import logic
from acidtest.evaluator.code import Code
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.dialect import Handler
from acidtest.evaluator.errors import Unknown
from acidtest.evaluator.mysql.quirks import quirks_of
from acidtest.evaluator.types import Family, Strength


def _nullif(compiler: Compiler, node: exp.Nullif) -> Code:
    """NULLIF; over different kinds of types, that of the answer is not the first operand's."""
    left, right = (compiler.compile(part).type for part in (node.this, node.expression))
    if quirks_of(compiler).is_old and left.is_temporal:
        raise Unknown("NULLIF of dates before MySQL 8")
    if left.is_text != right.is_text and Family.NULL not in (left.family, right.family):
        raise Unknown("NULLIF over texts and others")
    column_and_literal = left.strength is Strength.COLUMN and right.strength is Strength.LITERAL
    if left.is_text and right.is_text and left.collation != right.collation and not column_and_literal:
        raise Unknown("NULLIF over texts of different collations")
    return logic.nullif(compiler, node)


def mixes_signs(codes: Sequence[Code]) -> bool:
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


HANDLERS: dict[type[Any], Handler] = {
    exp.Xor: _exclusive,
    exp.If: _if_function,
    exp.Nullif: _nullif,
}
