"""How a statement ends that does not succeed: it fails with an error of the DBMS, or it has to wait."""

from acidtest.model import ErrorKind, Failed, Undone
from acidtest.simulated.storage import Transaction

# MariaDB's number for each kind that the engine raises.
_NUMBERS = {
    ErrorKind.DEADLOCK: 1213,
    ErrorKind.LOCK_NOT_AVAILABLE: 3572,
    ErrorKind.DUPLICATE_KEY: 1062,
    ErrorKind.NOT_NULL: 1048,
    ErrorKind.OUT_OF_RANGE: 1264,
    ErrorKind.TRUNCATION: 1406,
    ErrorKind.DIVISION_BY_ZERO: 1365,
    ErrorKind.BAD_VALUE: 1292,
    ErrorKind.SYNTAX: 1064,
    ErrorKind.NO_SUCH_OBJECT: 1146,
    ErrorKind.OBJECT_EXISTS: 1050,
    ErrorKind.READ_ONLY: 1792,
    ErrorKind.CANCELLED: 1317,
    ErrorKind.CONNECTION_LOST: 2013,
}
_UNSUPPORTED = 1235


class StatementFailed(Exception):
    """The statement ends with this error and is undone."""

    def __init__(self, kind: ErrorKind, message: str = "") -> None:
        super().__init__(message or kind.value)
        self.kind = kind

    def outcome(self, undone: Undone = Undone.STATEMENT) -> Failed:
        """What the client is told."""
        return Failed(self.kind, str(_NUMBERS.get(self.kind, _UNSUPPORTED)), str(self), undone)


class MustWait(Exception):
    """The statement cannot go on before these transactions end."""

    def __init__(self, blockers: frozenset[Transaction]) -> None:
        super().__init__("waits")
        self.blockers = blockers


def unsupported(what: str) -> StatementFailed:
    """An error for SQL that the engine does not know."""
    return StatementFailed(ErrorKind.UNSUPPORTED, f"the simulated DBMS does not know {what}")
