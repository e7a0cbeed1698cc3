"""What an oracle needs to know of a statement on given rows; how it finds out is what oracles differ in."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from acidtest.evaluator.writes import Effect, UniqueIndex
from acidtest.model import Column, ErrorKind, Row, Schema, Table, Value
from acidtest.oracles.chains import Seen
from acidtest.sql.shape import Shape

Views = Mapping[str, Sequence[Seen]]
"""The rows of each table that a statement sees."""


class UndecidedError(Exception):
    """The oracle cannot tell, and why. Counted and shown, never a pass."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Answer:
    """The right rows of a query in one of the admitted orders, or the errors it must end with."""

    rows: tuple[Row, ...] = ()
    errors: frozenset[ErrorKind] = frozenset()


class Engine(ABC):
    """Answers about single statements, as if each ran alone on just the rows it may see.

    Every method may raise `UndecidedError`.
    """

    name: str

    knows_all_constraints: bool = False
    """Whether its effects tell CHECK and other constraints that a schema does not list."""

    @abstractmethod
    def answer(self, sql: str, shape: Shape, views: Views) -> Answer:
        """The right answer of a query on these views."""

    @abstractmethod
    def admits(self, sql: str, shape: Shape, views: Views, observed: Sequence[Row]) -> bool:
        """Whether a query on these views may give these rows, in this order if it has one."""

    @abstractmethod
    def matching(self, sql: str, shape: Shape, rows: Sequence[Seen], views: Views | None = None) -> list[int]:
        """Which of these rows of its target a statement works on; what its subqueries read, if it has any."""

    @abstractmethod
    def effect(
        self,
        sql: str,
        shape: Shape,
        work: Sequence[Seen],
        existing: Sequence[Seen],
        views: Views,
        next_number: int | None,
        related: Views | None = None,
    ) -> Effect:
        """What a write does to `work`, where `existing` are all living rows of its table, and `related` those
        of the tables that foreign keys connect with it."""

    @abstractmethod
    def met(
        self, sql: str, shape: Shape, rows: Sequence[Seen], views: Views, effect: Effect
    ) -> Sequence[int]:
        """Upon which of these living rows of its table an INSERT with that effect came."""

    @abstractmethod
    def related(self, sql: str, shape: Shape) -> Sequence[str]:
        """Tables that foreign keys connect with the one that is written, itself perhaps among them."""

    def default_of(self, _table: Table, _column: Column) -> Value:
        """What rows hold in a column that is added to their table."""
        raise UndecidedError("a table whose definition has changed")

    def with_schema(self, _schema: Schema) -> "Engine":
        """The engine for tables whose definition has changed."""
        raise UndecidedError("a table whose definition has changed")

    @abstractmethod
    def unique_indexes(self, sql: str, shape: Shape) -> Sequence[UniqueIndex]:
        """The unique indexes of the table that is written."""
