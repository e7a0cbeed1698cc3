"""A broken promise, and which errors of statements can be one."""

from acidtest.model import ErrorKind, Witness

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

OF_AN_EXPRESSION = frozenset(
    {ErrorKind.OUT_OF_RANGE, ErrorKind.TRUNCATION, ErrorKind.DIVISION_BY_ZERO, ErrorKind.BAD_VALUE}
)
"""Those of them that a read can end with too."""

NOT_IN_THE_SCHEMA = frozenset({ErrorKind.CHECK, ErrorKind.CONSTRAINT})
"""Errors of constraints that a schema as we read it does not list."""


class ViolationError(Exception):
    """The DBMS broke its promise at a step (None: in the final state); `because` says which rule, for people.

    `table` is the one whose rows a witness lists, if they are rows of one table.
    """

    def __init__(self, step: int | None, witness: Witness, because: str, table: str = "") -> None:
        super().__init__(because)
        self.step, self.witness, self.because, self.table = step, witness, because, table
