"""PostgreSQL's SQLSTATEs by meaning, and what an error undid.

The codes: https://www.postgresql.org/docs/current/errcodes-appendix.html
"""

from acidtest.model import ErrorKind, TransactionState, Undone

# A whole code is looked up first, then its class (the first two characters).
KINDS = {
    "08": ErrorKind.CONNECTION_LOST,
    "0A": ErrorKind.UNSUPPORTED,
    "21": ErrorKind.BAD_VALUE,  # cardinality violation: a scalar subquery with several rows
    "22": ErrorKind.BAD_VALUE,
    "22001": ErrorKind.TRUNCATION,
    "22003": ErrorKind.OUT_OF_RANGE,
    "22008": ErrorKind.OUT_OF_RANGE,  # date or time
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
    "25": ErrorKind.TRANSACTION_STATE,
    "25006": ErrorKind.READ_ONLY,
    "28": ErrorKind.ACCESS,
    "2B": ErrorKind.CONSTRAINT,  # other objects depend on it
    "3B": ErrorKind.TRANSACTION_STATE,  # no such savepoint
    "3D": ErrorKind.NO_SUCH_OBJECT,
    "3F": ErrorKind.NO_SUCH_OBJECT,
    "40001": ErrorKind.SERIALIZATION_FAILURE,
    "40002": ErrorKind.CONSTRAINT,
    "40P01": ErrorKind.DEADLOCK,
    "42": ErrorKind.SYNTAX,
    "42501": ErrorKind.ACCESS,
    "42703": ErrorKind.NO_SUCH_OBJECT,
    "42704": ErrorKind.NO_SUCH_OBJECT,
    "42701": ErrorKind.OBJECT_EXISTS,
    "42710": ErrorKind.OBJECT_EXISTS,
    "42723": ErrorKind.OBJECT_EXISTS,
    "42804": ErrorKind.BAD_VALUE,  # datatype mismatch
    "42846": ErrorKind.BAD_VALUE,  # no such cast
    "42883": ErrorKind.NO_SUCH_OBJECT,
    "42P01": ErrorKind.NO_SUCH_OBJECT,
    "42P03": ErrorKind.OBJECT_EXISTS,
    "42P04": ErrorKind.OBJECT_EXISTS,
    "42P05": ErrorKind.OBJECT_EXISTS,
    "42P06": ErrorKind.OBJECT_EXISTS,
    "42P07": ErrorKind.OBJECT_EXISTS,
    "44000": ErrorKind.CHECK,  # a view's WITH CHECK OPTION
    "53": ErrorKind.RESOURCES,
    "54": ErrorKind.RESOURCES,
    "55": ErrorKind.OTHER,
    "55006": ErrorKind.LOCK_NOT_AVAILABLE,  # object in use
    "55P03": ErrorKind.LOCK_NOT_AVAILABLE,
    "57014": ErrorKind.CANCELLED,
    "57P01": ErrorKind.CONNECTION_LOST,
    "57P02": ErrorKind.CONNECTION_LOST,
    "57P03": ErrorKind.CONNECTION_LOST,
    "57P05": ErrorKind.CONNECTION_LOST,
    "58": ErrorKind.INTERNAL,  # errors of the operating system
    "XX": ErrorKind.INTERNAL,
}

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
