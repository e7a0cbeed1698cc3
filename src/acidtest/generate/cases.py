"""From dice to cases: tables, rows, transactions, conflicts, then several orders of each transaction set."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from random import Random

from sqlglot import exp

from acidtest.errors import UsageError
from acidtest.generate.conflicts import Conflict, ConflictConstruction, come_back, shifted
from acidtest.generate.flavour import Flavour, flavour_of
from acidtest.generate.grammar import Context, produce
from acidtest.generate.orders import sample_orders
from acidtest.generate.profile import Profile
from acidtest.generate.statements import Draft, Kind, random_statement, whole_read
from acidtest.generate.tables import TableDef, random_rows, random_tables, setup_statements
from acidtest.model import Case, Level, Statement, Transaction

Levels = tuple[Level | None, ...]
"""One level for all transactions, or several of which each transaction draws its own."""


@dataclass(frozen=True, slots=True)
class TransactionSet:
    """Tables, rows and transactions; a case is made of it by an order."""

    setup: tuple[Statement, ...]
    transactions: tuple[Transaction, ...]
    conflicts: tuple[Conflict, ...]
    productions: dict[str, frozenset[str]] = field(repr=False)
    """Which productions made each statement, by its text."""

    def cases(self, rng: Random, profile: Profile, name: str) -> Iterator[Case]:
        """Different cases of these transactions; `name` is the beginning of their ids."""
        orders = sample_orders(
            rng,
            [len(transaction.statements) for transaction in self.transactions],
            self.conflicts,
            profile.orders_per_set,
            filtered=profile.conflicts.order_filters,
        )
        for number, order in enumerate(orders):
            schedule = tuple(self.transactions[transaction].name for transaction in order)
            # Case files list transactions in the order of their first statements.
            transactions = tuple(self.transactions[transaction] for transaction in dict.fromkeys(order))
            yield Case(f"{name}-{number}", self.setup, transactions, schedule)


class Generator:
    """Makes transaction sets without end. The same dice, profile and flavour give the same sets."""

    def __init__(self, rng: Random, profile: Profile, flavour: Flavour, levels: Levels) -> None:
        if not levels:
            raise UsageError("a case needs at least one isolation level to run at")
        self._rng, self._profile, self._flavour, self._levels = rng, profile, flavour, levels
        self._renderer = flavour.renderer()
        self._construction = ConflictConstruction(rng, flavour, profile.conflicts)

    def sets(self) -> Iterator[TransactionSet]:
        """Transaction sets; several in a row share their tables, so that the server builds fewer."""
        while True:
            profile = self._profile.drawn(self._rng)
            tables = random_tables(self._rng, profile, self._flavour)
            for _ in range(profile.sets_per_schema):
                yield self._set(tables, profile)

    def _set(self, tables: tuple[TableDef, ...], profile: Profile) -> TransactionSet:
        rng = self._rng
        rows = random_rows(rng, tables, profile)
        counts, weights = zip(*profile.transactions, strict=True)
        number: int = rng.choices(counts, weights)[0]
        context = Context(rng, self._flavour, profile, tables)
        bodies = [self._body(context) for _ in range(number)]
        whole = {table.name: tuple(map(table.whole, rows[table.name])) for table in tables}
        conflicts = self._construction.construct(bodies, tables, whole)
        drafts = [[self._begin(context), *body, self._end(profile)] for body in bodies]
        productions: dict[str, frozenset[str]] = {}
        transactions = []
        for position, own in enumerate(drafts, start=1):
            statements = [self._statement(draft, productions) for draft in own]
            transactions.append(Transaction(f"tx{position}", self._level(), tuple(statements)))
        if len(self._levels) == 1:
            transactions = [replace(one, level=self._levels[0]) for one in transactions]
        setup = tuple(Statement(text) for text in setup_statements(tables, rows, self._renderer))
        return TransactionSet(setup, tuple(transactions), tuple(shifted(conflicts, by=1)), productions)

    def _body(self, context: Context) -> list[Draft]:
        profile = context.profile
        wanted = self._rng.randint(1, profile.statements_max)
        body: list[Draft] = []
        while len(body) < wanted:
            drafts = random_statement(context)
            if len(drafts) == 1 and context.chance(profile.again_share):
                come_back(self._rng, body, drafts[0])
            body += drafts
        opening = [whole_read(context)] if context.chance(profile.opening_read_share) else []
        closing = [whole_read(context)] if context.chance(profile.closing_read_share) else []
        return opening + body + closing

    def _begin(self, context: Context) -> Draft:
        used: set[str] = set()
        text: str = produce("begin", replace(context, used=used))
        return Draft(Kind.CONTROL, exp.Command(this=text, expression=""), productions=frozenset(used))

    def _end(self, profile: Profile) -> Draft:
        word = "ROLLBACK" if self._rng.random() < profile.rollback_share else "COMMIT"
        return Draft(Kind.CONTROL, exp.Command(this=word, expression=""))

    def _level(self) -> Level | None:
        return self._rng.choice(self._levels)

    def _statement(self, draft: Draft, productions: dict[str, frozenset[str]]) -> Statement:
        text = self._renderer.text(draft.tree)
        productions[text] = productions.get(text, frozenset()) | draft.productions
        return Statement(text)


def generate_cases(
    rng: Random, profile: Profile, dbms: str, levels: Levels, version: str = ""
) -> Iterator[Case]:
    """Cases without end; each transaction set gives up to `profile.orders_per_set` of them in a row.

    `version` is what the server says of itself; without one the newest is assumed.
    """
    generator = Generator(rng, profile, flavour_of(dbms, version), levels)
    for number, transactions in zip(count(), generator.sets(), strict=False):
        yield from transactions.cases(rng, profile, f"{profile.name}-{number}")


def generate_case(rng: Random, profile: Profile, dbms: str, levels: Levels, version: str = "") -> Case:
    """One case."""
    return next(generate_cases(rng, profile, dbms, levels, version))
