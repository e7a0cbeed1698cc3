"""What an INSERT does about a row whose key exists: ON CONFLICT and ON DUPLICATE KEY UPDATE."""

from typing import Any

from sqlglot import exp

from acidtest.evaluator.code import Fn
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.filters import compile_condition
from acidtest.evaluator.scope import Runtime
from acidtest.evaluator.writes.target import Target
from acidtest.evaluator.writes.values import assignments_of
from acidtest.model import Row

_OFFERED = "values()"
"""The name under which VALUES(c) is looked up; no table can have it."""


class Upsert:
    """DO UPDATE SET .. WHERE .., over the row that is there and the one that came in vain."""

    def __init__(self, tree: exp.Expression, conflict: exp.Expression, target: Target) -> None:
        self._target = target
        is_mysql = bool(conflict.args.get("duplicate"))
        name = _row_alias(tree) or _OFFERED if is_mysql else "excluded"
        compiler = target.scope(tree, excluded=name)
        nodes = [_with_offered(node) for node in conflict.expressions]
        if is_mysql and name != _OFFERED and _has_bare_columns(nodes):
            raise Unknown("a column without a table beside the alias of new rows")
        try:
            in_sequence = target.dialect.writing.upserts_in_sequence
            self._set = assignments_of(nodes, target, compiler, in_sequence=in_sequence)
        except EvaluationError as error:
            if is_mysql and isinstance(tree.args.get("expression"), exp.Query):
                raise Unknown("an upsert that may name columns of its query") from error
            raise
        where = conflict.args.get("where")
        self._test: Fn | None = None
        if where is not None:
            self._test = compile_condition(compiler, where.this, simple=True).test
        compiler.finish()

    def updated(self, old: Row, offered: Row, runtime: Runtime) -> Row | None:
        """The new version of the row that is there, or None if it is left alone."""
        after: tuple[Any, ...] = (0, *offered, 0)
        if self._test is not None and self._test((runtime, *old, *after)) is not True:
            return None
        return self._target.rules.finished(self._set.apply(old, (runtime,), after))


def _row_alias(tree: exp.Expression) -> str:
    """VALUES .. AS new."""
    source = tree.args.get("expression")
    alias = source.args.get("alias") if isinstance(source, exp.Values) else None
    if alias is None:
        return ""
    if alias.args.get("columns"):
        raise Unknown("an alias of new rows with names for its columns")
    return str(alias.this.this)


def _has_bare_columns(nodes: list[exp.Expression]) -> bool:
    return any(
        not column.args.get("table") for node in nodes for column in node.expression.find_all(exp.Column)
    )


def _with_offered(node: exp.Expression) -> exp.Expression:
    """VALUES(c) as a column of the row that could not be inserted."""

    def fill(one: exp.Expression) -> exp.Expression:
        if not isinstance(one, exp.Anonymous) or str(one.this).upper() != "VALUES":
            return one
        named = one.expressions[0]
        identifier = named.this if isinstance(named, exp.Column) else named
        return exp.Column(this=identifier.copy(), table=exp.Identifier(this=_OFFERED, quoted=True))

    return node.transform(fill)
