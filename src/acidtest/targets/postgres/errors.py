"""PostgreSQL's SQLSTATEs by meaning, and what an error undid.

The codes: https://www.postgresql.org/docs/current/errcodes-appendix.html
"""

from acidtest.model import ErrorKind, TransactionState, Undone

# A whole code is looked up first, then its class (the first two characters).
KINDS = {
    "08": ErrorKind.CONNECTION_LOST,
    "09": ErrorKind.CONSTRAINT,  # an action that was triggered
    "0A": ErrorKind.UNSUPPORTED,
    "0B": ErrorKind.TRANSACTION_STATE,
    "0F": ErrorKind.BAD_VALUE,  # a locator
    "0L": ErrorKind.ACCESS,
    "0P": ErrorKind.ACCESS,
    "0Z": ErrorKind.SYNTAX,  # GET STACKED DIAGNOSTICS outside of a handler
    "20": ErrorKind.BAD_VALUE,  # CASE without a branch that fits
    "21": ErrorKind.BAD_VALUE,  # cardinality violation: a scalar subquery with several rows
    "22": ErrorKind.BAD_VALUE,
    "22001": ErrorKind.TRUNCATION,
    "22003": ErrorKind.OUT_OF_RANGE,
    "22008": ErrorKind.OUT_OF_RANGE,  # date or time
    "2200H": ErrorKind.OUT_OF_RANGE,  # a sequence has reached its limit
    "22012": ErrorKind.DIVISION_BY_ZERO,
    "22015": ErrorKind.OUT_OF_RANGE,  # interval
    "22026": ErrorKind.TRUNCATION,  # bit string of the wrong length
    "23": ErrorKind.CONSTRAINT,
    "23001": ErrorKind.FOREIGN_KEY,  # its RESTRICT, since 18
    "23502": ErrorKind.NOT_NULL,
    "23503": ErrorKind.FOREIGN_KEY,
    "23505": ErrorKind.DUPLICATE_KEY,
    "23514": ErrorKind.CHECK,
    "23P01": ErrorKind.CONSTRAINT,  # exclusion
    "24": ErrorKind.TRANSACTION_STATE,  # a cursor
    "25": ErrorKind.TRANSACTION_STATE,
    "25006": ErrorKind.READ_ONLY,
    "26": ErrorKind.NO_SUCH_OBJECT,  # a prepared statement
    "27": ErrorKind.CONSTRAINT,  # a row that a trigger of the same command has changed
    "28": ErrorKind.ACCESS,
    "2B": ErrorKind.CONSTRAINT,  # other objects depend on it
    "2D": ErrorKind.TRANSACTION_STATE,
    "2F": ErrorKind.BAD_VALUE,  # a function did what it must not
    "34": ErrorKind.NO_SUCH_OBJECT,  # a cursor
    "38": ErrorKind.BAD_VALUE,
    "39": ErrorKind.BAD_VALUE,
    "3B": ErrorKind.TRANSACTION_STATE,  # no such savepoint
    "3D": ErrorKind.NO_SUCH_OBJECT,
    "3F": ErrorKind.NO_SUCH_OBJECT,
    "40": ErrorKind.SERIALIZATION_FAILURE,
    "40002": ErrorKind.CONSTRAINT,
    "40003": ErrorKind.CONNECTION_LOST,  # nobody knows whether the statement was completed
    "40P01": ErrorKind.DEADLOCK,
    "42": ErrorKind.SYNTAX,
    "42501": ErrorKind.ACCESS,
    "42703": ErrorKind.NO_SUCH_OBJECT,
    "42704": ErrorKind.NO_SUCH_OBJECT,
    "42701": ErrorKind.OBJECT_EXISTS,
    "42710": ErrorKind.OBJECT_EXISTS,
    "42712": ErrorKind.OBJECT_EXISTS,
    "42723": ErrorKind.OBJECT_EXISTS,
    "42804": ErrorKind.BAD_VALUE,  # datatype mismatch
    "42846": ErrorKind.BAD_VALUE,  # no such cast
    "42883": ErrorKind.NO_SUCH_OBJECT,
    "428C9": ErrorKind.CONSTRAINT,  # a value for a generated column
    "42P01": ErrorKind.NO_SUCH_OBJECT,
    "42P02": ErrorKind.NO_SUCH_OBJECT,
    "42P03": ErrorKind.OBJECT_EXISTS,
    "42P04": ErrorKind.OBJECT_EXISTS,
    "42P05": ErrorKind.OBJECT_EXISTS,
    "42P06": ErrorKind.OBJECT_EXISTS,
    "42P07": ErrorKind.OBJECT_EXISTS,
    "44000": ErrorKind.CHECK,  # a view's WITH CHECK OPTION
    "53": ErrorKind.RESOURCES,
    "54": ErrorKind.RESOURCES,
    "55": ErrorKind.UNSUPPORTED,  # not in the state that it would have to be in
    "55006": ErrorKind.LOCK_NOT_AVAILABLE,  # object in use
    "55P03": ErrorKind.LOCK_NOT_AVAILABLE,
    "55P04": ErrorKind.TRANSACTION_STATE,  # a new value of an enum, before COMMIT
    "57": ErrorKind.CANCELLED,
    "57P01": ErrorKind.CONNECTION_LOST,
    "57P02": ErrorKind.CONNECTION_LOST,
    "57P03": ErrorKind.CONNECTION_LOST,
    "57P04": ErrorKind.CONNECTION_LOST,
    "57P05": ErrorKind.CONNECTION_LOST,
    "58": ErrorKind.INTERNAL,  # errors of the operating system
    "72": ErrorKind.TRANSACTION_STATE,  # the snapshot is too old
    "F0": ErrorKind.RESOURCES,  # its configuration
    "HV": ErrorKind.UNSUPPORTED,  # foreign data
    "P0": ErrorKind.BAD_VALUE,
    "P0001": ErrorKind.CONSTRAINT,  # RAISE of the case's own
    "P0004": ErrorKind.CHECK,  # ASSERT
    "XX": ErrorKind.INTERNAL,
}

IDLE_TIMEOUTS = frozenset({"25P03", "57P05"})
"""The server ended a session that was idle for too long, and its transaction with it. What was sent after
that never ran."""

LOCK_TIMEOUT_RAISED_IN = "ProcessInterrupts"
"""NOWAIT and lock_timeout share SQLSTATE 55P03; the server's function that raised it tells them apart."""

IN_FAILED_TRANSACTION = "25P02"


def classify(sqlstate: str, raised_in: str = "") -> ErrorKind:
    """The kind of an error from its SQLSTATE and the server function that raised it."""
    if sqlstate == "55P03" and raised_in == LOCK_TIMEOUT_RAISED_IN:
        return ErrorKind.LOCK_TIMEOUT
    return KINDS.get(sqlstate) or KINDS.get(sqlstate[:2], ErrorKind.OTHER)


def undone(before: TransactionState, after: TransactionState) -> Undone:
    """What an error took back, from where the transaction stood before and after it.

    Within a transaction block any error fails the whole transaction: PostgreSQL will refuse to commit it.
    That is TRANSACTION here, although ROLLBACK TO a savepoint can still revive the work before it (the
    session's state then goes from FAILED back to OPEN). In a transaction that has failed already an error
    takes back nothing more.
    """
    if before is TransactionState.FAILED and after is TransactionState.FAILED:
        return Undone.NOTHING
    if before is TransactionState.NONE and after is TransactionState.NONE:
        return Undone.STATEMENT
    if before is TransactionState.OPEN and after is TransactionState.OPEN:
        return Undone.STATEMENT
    return Undone.TRANSACTION
