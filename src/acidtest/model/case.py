"""A case: a schema with its rows, transactions, and the schedule in which their statements are submitted."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from acidtest.model.bug import Bug
from acidtest.model.expect import Expectation, FinalExpectation
from acidtest.model.level import Level
from acidtest.model.value import Value


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement as it is sent, hints and inner comments included, without its semicolon.

    Several statements with semicolons between them are a *script*: one message, where the DBMS takes it.
    """

    sql: str
    expect: tuple[Expectation, ...] = ()
    joined: bool = False
    """It belongs to the step of the statement before it: no other session's statement is launched between
    the two, and if that one fails this one is omitted."""
    parameters: tuple[Value, ...] | None = None
    """Values for its placeholders, as the DBMS itself writes these; None: it goes as one text. Even no values
    at all make it go another way to the server than a plain text."""
    awaits: tuple[str, ...] = ()
    """Sessions (its own may be among them) that must have answered before the schedule goes on."""
    parallel: bool = False
    """The next statement of the schedule is launched at once, while the server works on this one."""


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
    """Concurrent transactions to run. `schedule` names a transaction once for each of its statements.

    A statement whose session still waits is overtaken by those of others, unless the order is `strict`: then
    it holds them up. The `teardown` runs when all is over, and takes no part in what is judged. `server` are
    options for the start of a server of our own. What depends on chance is run `repeat` times. With
    `compared`, each statement must give what it gives without transactions.
    """

    id: str
    setup: tuple[Statement, ...]
    transactions: tuple[Transaction, ...]
    schedule: tuple[str, ...]
    title: str = ""
    links: tuple[str, ...] = ()
    story: tuple[str, ...] = ()
    targets: tuple[TargetConstraint, ...] = ()
    expect_final: tuple[FinalExpectation, ...] = ()
    teardown: tuple[Statement, ...] = ()
    strict: bool = False
    server: tuple[str, ...] = ()
    repeat: int = 1
    compared: bool = False
    bug: Bug | None = None
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
    """Transactions and schedule from statements in submission order; `levels` names every session.

    A joined statement that no longer follows one of its own session stands for itself.
    """
    schedule: list[str] = []
    statements: dict[str, list[Statement]] = {}
    for session, statement in steps:
        if statement.joined and schedule[-1:] != [session]:
            statement = replace(statement, joined=False)  # noqa: PLW2901
        schedule.append(session)
        statements.setdefault(session, []).append(statement)
    transactions = tuple(Transaction(name, levels.get(name), tuple(own)) for name, own in statements.items())
    return transactions, tuple(schedule)
