"""RETURNING: the rows that a write answers with."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from acidtest.evaluator.code import JoinedRow
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.query import compile_list
from acidtest.evaluator.scope import Runtime
from acidtest.evaluator.writes.target import joined
from acidtest.model import Row


@dataclass(frozen=True, slots=True)
class Returning:
    """A compiled RETURNING clause, or none."""

    output: Callable[[JoinedRow], Row] | None

    @classmethod
    def of(cls, tree: exp.Expression, scope: Callable[[], Compiler]) -> "Returning":
        """The clause of a statement, over what the scope of a compiler has."""
        clause = tree.args.get("returning")
        if not clause:
            return cls(None)
        if clause.find(exp.Query) is not None or clause.args.get("into"):
            raise Unknown("RETURNING with a subquery")
        if any(column.table.upper() in ("OLD", "NEW") for column in clause.find_all(exp.Column)):
            raise Unknown("RETURNING of OLD and NEW rows")
        return cls(compile_list(scope(), clause.expressions))

    def rows(self, runtime: Runtime, rows: Sequence[Row]) -> tuple[Row, ...] | None:
        """What comes back for these rows."""
        if self.output is None:
            return None
        return self.joined([joined(runtime, row) for row in rows])

    def joined(self, rows: Sequence[JoinedRow]) -> tuple[Row, ...] | None:
        """The same for joined rows."""
        if self.output is None:
            return None
        try:
            return tuple(self.output(row) for row in rows)
        except EvaluationError as error:
            raise Unknown("an error in RETURNING") from error
