"""What a dialect has to say; the compiler and the query engine ask only this."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sqlglot import exp

from acidtest.evaluator.code import Code, Convert, Fn, JoinedRow, strict
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.types import INTEGER, SqlType
from acidtest.model import Column, ErrorKind

if TYPE_CHECKING:
    from acidtest.evaluator.compiler import Compiler

Handler = Callable[["Compiler", Any], Code]


@dataclass(frozen=True, slots=True)
class Settings:
    """What of a session's settings decides answers; `Dialect.settings_for` gives those of a fresh server."""

    version: tuple[int, ...] = ()
    connection_collation: str | None = None
    database_collation: str | None = None
    division_digits: int = 4
    full_group_by: bool = False
    strict: bool = True


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A compiled aggregate: `collect` gives a row's value, `finish` the answer for the rows of a group."""

    type: SqlType
    collect: Fn
    finish: Callable[[list[Any]], Any]
    fails: bool = False


@dataclass(frozen=True, slots=True)
class Writing:
    """How a DBMS writes rows; the defaults are those of the standard."""

    counts_changes: bool = False
    """Rows that an UPDATE leaves as they are do not count."""

    assigns_in_sequence: bool = False
    """The assignments of an UPDATE see what those to their left have set."""

    upserts_in_sequence: bool = False
    """So do those of ON DUPLICATE KEY UPDATE."""

    joins_from_old_rows: bool = True
    """An UPDATE of several tables computes all assignments from the old rows. False: that is left open."""

    values_see_columns: bool = False
    """An expression in VALUES may name columns of the row: those set before it, others by their default."""

    nulls_last: bool = True
    """NOT NULL is checked once the whole row is computed, not at each assignment."""

    references_at_once: bool = False
    """Foreign keys are checked with each row, not after the statement."""

    references_first: bool = False
    """Of a new row, foreign keys are checked before unique keys; else only the primary key comes first."""

    upserts_twice: bool = False
    """An upsert may update a row of its own statement, or update one again."""

    ambiguous_excluded: bool = False
    """After ON CONFLICT a column without a table may mean the old row or EXCLUDED, and is refused."""

    checks_together: bool = False
    """The rows of a statement are checked together, so that which of several errors comes first is open."""

    refuses_own_reads: bool = False
    """A subquery that reads the table which is written is an error."""

    refuses_own_reads_of_joins: bool = False
    """The same in a DELETE that joins tables."""

    reads_while_writing: bool = False
    """A subquery may see what the statement itself has written so far."""

    bare_text_defaults: bool = False
    """The catalog gives the default of a text or a date without quotes."""

    refuses_generated: ErrorKind | None = None
    """The error for a value of a generated column; None: not known."""


class Dialect(ABC):
    """The semantics of one DBMS. Subclasses add handlers and override what differs."""

    name: ClassVar[str]
    handlers: ClassVar[Mapping[type[Any], Handler]]
    functions: ClassVar[Mapping[str, Handler]] = {}
    nulls_first: ClassVar[bool] = True
    """NULLs come first in an ascending order."""

    folds_constants: ClassVar[bool] = False
    """Errors in constant expressions are raised before any row is read."""

    pairwise_between: ClassVar[bool] = True
    """`a BETWEEN b AND c` compares each pair by its own types."""

    joins_on_subqueries: ClassVar[bool] = True
    """The condition of a JOIN may have subqueries."""

    many_rows: ClassVar[ErrorKind] = ErrorKind.SYNTAX
    """The kind of the error that a scalar subquery with several rows raises."""

    rank_type: ClassVar[SqlType] = INTEGER

    writing: Writing = Writing()

    system_columns: ClassVar[frozenset[str]] = frozenset()
    """Columns that every table has, and whose values are the server's own business."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or self.settings_for(())
        self.made: dict[int, Any] = {}
        """What was made for tables that statements write, by their identity: statements come in numbers."""

    @classmethod
    def settings_for(cls, version: tuple[int, ...]) -> Settings:
        """The settings of a session on a fresh server of that version; none means the newest."""
        return Settings(version=version)

    strict = staticmethod(strict)
    """How an operator that is NULL for a NULL operand meets errors."""

    @abstractmethod
    def column_type(self, column: Column) -> SqlType:
        """The static type of a stored column; `Unknown` for types that are not modelled."""

    @abstractmethod
    def truth(self, compiler: "Compiler", code: Code) -> Fn:
        """A condition as True, False or None."""

    @abstractmethod
    def logical(self, fn: Fn, *codes: Code) -> Code:
        """A condition over operands as a value of the DBMS's own type."""

    @abstractmethod
    def comparables(self, compiler: "Compiler", codes: Sequence[Code], *, ordering: bool) -> list[Code]:
        """Operands converted so that Python compares their values as the DBMS does."""

    def list_pairs(
        self,
        compiler: "Compiler",  # noqa: ARG002 - for overriding
        value: Code,
        items: Sequence[Code],
    ) -> list[tuple[Code, Code]]:
        """The operand of IN with each item of its list, in the order in which they are compared."""
        return [(value, item) for item in items]

    def case_pairs(
        self,
        compiler: "Compiler",  # noqa: ARG002 - for overriding
        subject: Code,
        values: Sequence[Code],
    ) -> list[tuple[Code, Code]]:
        """The operand of a simple CASE with each of its values, before they are compared."""
        return [(subject, value) for value in values]

    def sought(self, left: Code, right: Code) -> Code:  # noqa: ARG002 - for overriding
        """The operand of IN as it is looked for in the column of a subquery."""
        return left

    @abstractmethod
    def unify(self, compiler: "Compiler", codes: Sequence[Code]) -> tuple[SqlType, list[Code]]:
        """The common type of the branches of a CASE or the sides of a UNION, and the branches in it."""

    @abstractmethod
    def key(self, type_: SqlType, *, ordering: bool) -> Convert:
        """Values of a type to keys that are equal (and ordered) as the DBMS groups (and sorts) them."""

    @abstractmethod
    def output(self, type_: SqlType) -> Convert | None:
        """What the client is sent for a value; None if that is the value itself."""

    @abstractmethod
    def aggregate(self, compiler: "Compiler", node: exp.Expression) -> Aggregate:
        """A compiled aggregate function."""

    @abstractmethod
    def store(self, compiler: "Compiler", column: Column, code: Code) -> Fn:
        """The value that a column holds after the assignment, or an `EvaluationError`."""

    def chosen(self, compiler: "Compiler", branches: Sequence[Code]) -> tuple[SqlType, list[Code]]:
        """The branches of a CASE or IF in their common type."""
        return self.unify(compiler, branches)

    def nullness(self, code: Code) -> Fn:
        """The operand of IS NULL."""
        return code.fn

    def merged(self, compiler: "Compiler", sides: Sequence[Code]) -> tuple[SqlType, list[Code]]:
        """The columns of both sides of a set operation in their common type."""
        return self.unify(compiler, sides)

    def buffered(self, type_: SqlType) -> None:  # noqa: B027 - for overriding
        """A column of a result that the DBMS may keep in a temporary table: raise what is not known of it."""

    def require(self, feature: str) -> None:  # noqa: B027 - for overriding
        """Raise `Unknown` if this version may lack a feature: WITH, window functions, INTERSECT, EXCEPT."""

    def settled(self, compiler: "Compiler", code: Code) -> Code:  # noqa: ARG002 - for overriding
        """An expression of a select list, whose type nothing around it decides any more."""
        return code

    def derived(self, type_: SqlType) -> SqlType:
        """The type of a column of a derived table whose expression had this type."""
        return type_

    def column_key(self, name: str) -> str:
        """The name of a stored column as it is looked up."""
        return name.lower()

    def fold_name(self, identifier: exp.Identifier) -> str:
        """A column name in a statement as it is looked up."""
        return str(identifier.this).lower()

    def fold_table(self, identifier: exp.Identifier) -> str:
        """A table name or alias as the DBMS compares it."""
        return str(identifier.this)

    def table_key(self, name: str) -> str:
        """The name of a stored table as it is looked up."""
        return name

    def ungrouped(self, name: str) -> None:
        """A column is read that is neither grouped nor aggregated: allow it (each group must then agree),
        or raise what is known of it."""
        if self.settings.full_group_by:
            raise Unknown(f"whether column {name} depends on the grouped ones")


def required(column: Column, fn: Fn) -> Fn:
    """A value for a column that takes no NULL."""

    def checked(row: JoinedRow) -> Any:
        value = fn(row)
        if value is None:
            raise EvaluationError(ErrorKind.NOT_NULL, f"column {column.name} takes no NULL")
        return value

    return checked
