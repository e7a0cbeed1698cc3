"""The savepoints of a transaction, by name."""

from acidtest.model import ErrorKind
from acidtest.simulated.problems import StatementFailed
from acidtest.simulated.storage import Savepoint, Transaction


def add(transaction: Transaction, name: str, stacks: bool) -> None:
    """Set a savepoint; one of the same name is gone, or hidden by it where they stack."""
    if not stacks:
        transaction.savepoints = [one for one in transaction.savepoints if one.name != name]
    transaction.savepoints.append(Savepoint(name, len(transaction.log)))


def drop(transaction: Transaction | None, name: str, *, itself: bool) -> tuple[Transaction, int]:
    """Forget the savepoints set after one, or that one too; the transaction, and where it was set."""
    names = [one.name for one in transaction.savepoints] if transaction else []
    if transaction is None or name not in names:
        raise StatementFailed(ErrorKind.NO_SUCH_OBJECT, f"there is no savepoint {name}")
    place = max(i for i, one in enumerate(names) if one == name)
    position = transaction.savepoints[place].position
    del transaction.savepoints[place + (not itself) :]
    return transaction, position


def last_position(transaction: Transaction) -> int:
    """Where the last savepoint was set, or the beginning."""
    return transaction.savepoints[-1].position if transaction.savepoints else 0
