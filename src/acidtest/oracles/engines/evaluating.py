"""The engine that asks no DBMS: our own evaluator (Fucci's statement solver)."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeVar

from acidtest.evaluator import DIALECTS as MODELLED
from acidtest.evaluator import (
    CompiledExpression,
    CompiledQuery,
    EvaluationError,
    Unknown,
    compile_predicate,
    compile_query,
    dialect_of,
)
from acidtest.evaluator.result import Result
from acidtest.evaluator.writes import Effect, UniqueIndex, Write, compile_write
from acidtest.evaluator.writes.defaults import default_of
from acidtest.model import Column, Row, Schema, Table, Value
from acidtest.oracles.chains import Seen
from acidtest.oracles.engines.base import Answer, Engine, UndecidedError, Views
from acidtest.sql.shape import Shape, Verb

T = TypeVar("T")

DIALECTS = {"simulated": "mariadb", "seekdb": "mysql"}
"""DBMSs that speak another's SQL."""


def knows(dbms: str) -> bool:
    """Whether the evaluator speaks the SQL of a DBMS."""
    return DIALECTS.get(dbms, dbms) in MODELLED


class EvaluatingEngine(Engine):
    """Compiles each statement once and evaluates it on the rows. One per DBMS and schema: `engine_for`."""

    name = "solver"

    def __init__(self, dbms: str, schema: Schema, version: str = "") -> None:
        self._schema, self._made_for = schema, (dbms, version)
        known = "" if dbms in DIALECTS else version  # its numbers are not those of the DBMS it speaks like
        self._dialect = _decided(lambda: dialect_of(DIALECTS.get(dbms, dbms), version=known))
        self._queries: dict[str, CompiledQuery] = {}
        self._conditions: dict[str, CompiledExpression] = {}
        self._writes: dict[str, Write] = {}

    def answer(self, sql: str, shape: Shape, views: Views) -> Answer:
        try:
            return Answer(self._result(sql, shape, views).rows)
        except EvaluationError as error:
            return Answer(errors=frozenset({error.kind}))

    def admits(self, sql: str, shape: Shape, views: Views, observed: Sequence[Row]) -> bool:
        try:
            return self._result(sql, shape, views).admits(observed)
        except EvaluationError:
            return False

    def matching(self, sql: str, shape: Shape, rows: Sequence[Seen], views: Views | None = None) -> list[int]:
        if shape.target is None or (views is None and not shape.plain):
            raise UndecidedError("which rows a statement over several tables works on")
        try:
            condition = self._condition(sql, shape)
            test = condition if views is None else condition.bind(_plain(views))
            return _decided(lambda: [seen.row for seen in rows if test(seen.values)])
        except EvaluationError:
            return []

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
        write = self._write(sql, shape)
        others = related or {}
        try:
            return _decided(
                lambda: write.run(work, existing, _plain(views), next_number, seen=views, related=others)
            )
        except EvaluationError as error:
            raise UndecidedError(f"an error of kind {error.kind.value} on the way") from error

    def met(
        self, sql: str, shape: Shape, rows: Sequence[Seen], views: Views, effect: Effect
    ) -> Sequence[int]:
        del sql, shape, views  # the effect tells
        return [seen.row for seen in rows if seen.row in effect.met]

    def related(self, sql: str, shape: Shape) -> tuple[str, ...]:
        return self._write(sql, shape).related

    def unique_indexes(self, sql: str, shape: Shape) -> Sequence[UniqueIndex]:
        return self._write(sql, shape).unique

    def default_of(self, table: Table, column: Column) -> Value:
        try:
            return _decided(lambda: default_of(column, table, self._dialect))
        except EvaluationError as error:
            raise UndecidedError("a new column without a value for the rows that are there") from error

    def with_schema(self, schema: Schema) -> "EvaluatingEngine":
        dbms, version = self._made_for
        return engine_for(dbms, schema, version)

    def _result(self, sql: str, shape: Shape, views: Views) -> Result:
        query = self._queries.get(sql)
        if query is None:
            query = _decided(lambda: compile_query(shape.tree, self._schema, self._dialect))
            self._queries[sql] = query
        found = query
        return _decided(lambda: found.run(_plain(views)))

    def _condition(self, sql: str, shape: Shape) -> CompiledExpression:
        condition = self._conditions.get(sql)
        if condition is None:
            assert shape.target is not None
            table = self._schema.table(shape.target)
            condition = _decided(
                lambda: compile_predicate(
                    shape.where,
                    table,
                    self._dialect,
                    catalog=self._schema,
                    writes=shape.verb is not Verb.READ,
                    alias=shape.alias,
                )
            )
            self._conditions[sql] = condition
        return condition

    def _write(self, sql: str, shape: Shape) -> Write:
        write = self._writes.get(sql)
        if write is None:
            write = _decided(lambda: compile_write(shape, self._schema, self._dialect))
            self._writes[sql] = write
        return write


@lru_cache(maxsize=32)
def engine_for(dbms: str, schema: Schema, version: str = "") -> EvaluatingEngine:
    """The engine of a DBMS for a schema, with what it has compiled before."""
    return EvaluatingEngine(dbms, schema, version)


def _plain(views: Views) -> dict[str, list[Row]]:
    return {table: [seen.values for seen in rows] for table, rows in views.items()}


def _decided(work: Callable[[], T]) -> T:
    try:
        return work()
    except Unknown as unknown:
        raise UndecidedError(unknown.reason) from unknown
