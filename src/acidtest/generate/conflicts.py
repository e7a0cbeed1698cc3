"""Random conflict construction (Fucci, section 3.1): edits conditions so that transactions meet on rows.

Which rows a condition holds for is asked of our own evaluator; where it cannot tell, the condition stays.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random

from sqlglot import exp

from acidtest.evaluator import Dialect, EvaluationError, Unknown, compile_predicate, dialect_of
from acidtest.generate.flavour import Can, Flavour
from acidtest.generate.profile import Conflicts
from acidtest.generate.statements import Draft, Kind
from acidtest.generate.tables import TableDef
from acidtest.model import Row, Schema


class Strategy(StrEnum):
    """How two statements are made to meet."""

    FULLY_SHARED = "FSF"
    PARTIALLY_SHARED = "PSF"
    CONTAINED = "CTC"
    CONTAINED_INSERT = "CTC-INSERT"


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two statements, each by transaction and position, that were made to meet."""

    strategy: Strategy
    first: tuple[int, int]
    second: tuple[int, int]


Transactions = Sequence[Sequence[Draft]]
_WITHOUT_EFFECT = ({Kind.READ}, {Kind.INSERT})
"""Pairs of these do not conflict (table 2 of the paper has no row for them)."""


class ConflictConstruction:
    """Edits drafts in place."""

    def __init__(self, rng: Random, flavour: Flavour, switches: Conflicts) -> None:
        self._rng = rng
        self._switches = switches
        self._dialect: Dialect = dialect_of(flavour.semantics)
        self._reads_own_target = flavour.can(Can.READ_OWN_TARGET)
        self._catalog = Schema()
        self._rows: Mapping[str, tuple[Row, ...]] = {}

    def construct(
        self,
        transactions: Transactions,
        tables: Sequence[TableDef],
        rows: Mapping[str, tuple[Row, ...]],
    ) -> list[Conflict]:
        """Make a pair of statements meet for every transaction beyond the first; `rows` have all columns."""
        conflicts: list[Conflict] = []
        self._catalog, self._rows = Schema(tuple(table.described() for table in tables)), rows
        if self._rng.random() >= self._switches.share:
            return conflicts
        for _ in range(len(transactions) - 1):
            conflict = self._one(transactions)
            if conflict is not None:
                conflicts.append(conflict)
        return conflicts

    def _one(self, transactions: Transactions) -> Conflict | None:
        here, there = self._rng.sample(range(len(transactions)), 2)
        pairs = [
            (i, j)
            for i, a in enumerate(transactions[here])
            for j, b in enumerate(transactions[there])
            if self._may_conflict(a, b)
        ]
        if not pairs:
            return None
        i, j = self._rng.choice(pairs)
        first, second = transactions[here][i], transactions[there][j]
        strategies = self._strategies(first, second)
        if not strategies:
            return None
        strategy = self._rng.choice(strategies)
        self._apply(strategy, first, second)
        return Conflict(strategy, (here, i), (there, j))

    def _may_conflict(self, first: Draft, second: Draft) -> bool:
        if first.table is None or second.table is None or first.table.name != second.table.name:
            return False
        if not self._reads_own_target and any(_has_subquery(one) for one in (first, second)):
            return False  # in the other statement the subquery might read the table that this one writes
        return {first.kind, second.kind} not in _WITHOUT_EFFECT

    def _strategies(self, first: Draft, second: Draft) -> list[Strategy]:
        switches = self._switches
        if Kind.INSERT in (first.kind, second.kind):
            return [Strategy.CONTAINED_INSERT] if switches.contained_insert else []
        options = {
            Strategy.FULLY_SHARED: switches.fully_shared,
            Strategy.PARTIALLY_SHARED: switches.partially_shared,
            Strategy.CONTAINED: switches.contained,
        }
        return [strategy for strategy, on in options.items() if on]

    def _apply(self, strategy: Strategy, first: Draft, second: Draft) -> None:
        match strategy:
            case Strategy.FULLY_SHARED:
                second.condition = _copy(first.condition)
            case Strategy.PARTIALLY_SHARED:
                second.condition = _either(first.condition, second.condition)
            case Strategy.CONTAINED:
                assert first.table is not None
                found = self._rows[first.table.name]
                chosen = self._rng.sample(found, min(len(found), self._rng.randint(1, 2)))
                for draft in (first, second):
                    self._contain(draft, chosen)
            case Strategy.CONTAINED_INSERT:
                insert, other = (first, second) if first.kind is Kind.INSERT else (second, first)
                self._contain(other, insert.rows)

    def _contain(self, draft: Draft, rows: Sequence[Row]) -> None:
        """Change the condition so that it holds for one of these rows: p, NOT p or p IS NULL."""
        node = draft.condition
        if node is None or draft.table is None or not rows:
            return
        truths = self._truths(node, draft.table, rows)
        if not truths:
            return
        truth = self._rng.choice(truths)
        if truth is None:
            draft.condition = exp.Is(this=exp.Paren(this=node), expression=exp.Null())
        elif not truth:
            draft.condition = exp.Not(this=exp.Paren(this=node))

    def _truths(self, node: exp.Expression, table: TableDef, rows: Sequence[Row]) -> list[bool | None]:
        try:
            described = self._catalog.table(table.name)
            test = compile_predicate(node, described, self._dialect, catalog=self._catalog).bind(self._rows)
            return [test(row) for row in rows]
        except (Unknown, EvaluationError):
            return []


def _has_subquery(draft: Draft) -> bool:
    return draft.condition is not None and draft.condition.find(exp.Select) is not None


def come_back(rng: Random, earlier: Sequence[Draft], later: Draft) -> None:
    """Give a statement the condition of an earlier one of its transaction, where there is one that fits."""
    if later.kind is Kind.INSERT or later.table is None or _has_subquery(later):
        return
    fitting = [
        one
        for one in earlier
        if one.table is later.table and one.kind is not Kind.INSERT and not _has_subquery(one)
    ]
    if fitting:
        later.condition = _copy(rng.choice(fitting).condition)


def _copy(node: exp.Expression | None) -> exp.Expression | None:
    return None if node is None else node.copy()


def _either(shared: exp.Expression | None, own: exp.Expression | None) -> exp.Expression | None:
    """`(shared) OR (own)`: without parentheses an AND in one of them would take the other apart."""
    if shared is None or own is None:
        return None
    return exp.Or(this=exp.Paren(this=shared.copy()), expression=exp.Paren(this=own))


def shifted(conflicts: Sequence[Conflict], by: int) -> list[Conflict]:
    """The same conflicts when that many statements (BEGIN) come before each transaction's own."""
    return [
        replace(
            one,
            first=(one.first[0], one.first[1] + by),
            second=(one.second[0], one.second[1] + by),
        )
        for one in conflicts
    ]
