"""A broken promise, and which errors of statements can be one."""

from collections.abc import Sequence

from acidtest.model import ErrorKind, Row, ViolationKind

NOT_OF_THE_DATA = frozenset(
    {
        ErrorKind.SYNTAX,
        ErrorKind.NO_SUCH_OBJECT,
        ErrorKind.OBJECT_EXISTS,
        ErrorKind.UNSUPPORTED,
        ErrorKind.READ_ONLY,
        ErrorKind.TRANSACTION_STATE,
        ErrorKind.CANCELLED,
        ErrorKind.RESOURCES,
        ErrorKind.ACCESS,
        ErrorKind.OTHER,
    }
)
"""Errors about which isolation says nothing: the statement just did not happen."""

OF_THE_DATA = frozenset(
    {
        ErrorKind.DUPLICATE_KEY,
        ErrorKind.NOT_NULL,
        ErrorKind.FOREIGN_KEY,
        ErrorKind.CHECK,
        ErrorKind.CONSTRAINT,
        ErrorKind.OUT_OF_RANGE,
        ErrorKind.TRUNCATION,
        ErrorKind.DIVISION_BY_ZERO,
        ErrorKind.BAD_VALUE,
    }
)
"""Where several of these apply, which comes first is not laid down."""

NOT_IN_THE_SCHEMA = frozenset({ErrorKind.CHECK, ErrorKind.CONSTRAINT})
"""Errors of constraints that a schema as we read it does not list."""


class ViolationError(Exception):
    """The DBMS broke its promise: what, where, and the two sides."""

    def __init__(
        self,
        kind: ViolationKind,
        step: int | None,
        expected: str,
        observed: str,
        explanation: str,
        *,
        expected_rows: Sequence[Row] = (),
        table: str = "",
    ) -> None:
        super().__init__(explanation)
        self.kind, self.step = kind, step
        self.expected, self.observed, self.explanation = expected, observed, explanation
        self.expected_rows, self.table = expected_rows, table


def error_text(errors: frozenset[ErrorKind]) -> str:
    """The errors of which one must come, for a violation."""
    return " or ".join(f"error {kind.value}" for kind in sorted(errors))
