"""A case: a schema with its rows, transactions, and the schedule in which their statements are submitted."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from acidtest.model.expect import Expectation, FinalExpectation
from acidtest.model.level import Level


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement as it is sent, hints and inner comments included, without its semicolon."""

    sql: str
    expect: tuple[Expectation, ...] = ()


@dataclass(frozen=True, slots=True)
class Transaction:
    """The statements of one session, in order; `level` None means the target's default.

    BEGIN and COMMIT are statements like any other, so a session may also run outside a transaction,
    or run several.
    """

    name: str
    level: Level | None
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class TargetConstraint:
    """A DBMS that the case is for, with version bounds such as `>=10.5`; `<11` or none."""

    dbms: str
    versions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One position of the schedule."""

    index: int
    session: str
    statement: Statement

    @property
    def sql(self) -> str:
        return self.statement.sql


@dataclass(frozen=True, slots=True)
class Case:
    """Concurrent transactions to run. `schedule` names a transaction once for each of its statements."""

    id: str
    setup: tuple[Statement, ...]
    transactions: tuple[Transaction, ...]
    schedule: tuple[str, ...]
    title: str = ""
    links: tuple[str, ...] = ()
    story: tuple[str, ...] = ()
    targets: tuple[TargetConstraint, ...] = ()
    expect_final: tuple[FinalExpectation, ...] = ()
    steps: tuple[Step, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        queues = {tx.name: iter(tx.statements) for tx in self.transactions}
        steps = tuple(Step(index, name, next(queues[name])) for index, name in enumerate(self.schedule))
        leftover = [name for name, queue in queues.items() if next(queue, None) is not None]
        if leftover:
            raise ValueError(f"the schedule leaves out statements of {', '.join(leftover)}")
        object.__setattr__(self, "steps", steps)

    def transaction(self, name: str) -> Transaction:
        """The transaction of that name; a KeyError is a bug of the caller."""
        for transaction in self.transactions:
            if transaction.name == name:
                return transaction
        raise KeyError(name)

    def at_level(self, level: Level | None) -> "Case":
        """The same case with every transaction at that level; None leaves it as written."""
        if level is None:
            return self
        return replace(self, transactions=tuple(replace(tx, level=level) for tx in self.transactions))


def interleave(
    steps: Iterable[tuple[str, Statement]], levels: "dict[str, Level | None]"
) -> tuple[tuple[Transaction, ...], tuple[str, ...]]:
    """Transactions and schedule from statements in submission order; `levels` names every session."""
    schedule: list[str] = []
    statements: dict[str, list[Statement]] = {}
    for session, statement in steps:
        schedule.append(session)
        statements.setdefault(session, []).append(statement)
    transactions = tuple(Transaction(name, levels.get(name), tuple(own)) for name, own in statements.items())
    return transactions, tuple(schedule)
