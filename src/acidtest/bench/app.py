"""`acidtest bench app`: what the gate costs a statement, and how many orders are forced in a second.

The base is the same application without a gate, in the same process and the same minute. Its operations: one
like TPC-C's New-Order (some 30 statements over 8 tables), one of two statements, and one of 40 statements in
a database of 100 tables.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from time import perf_counter
from typing import Any

from acidtest import servers
from acidtest.app.bench import Bench, Options
from acidtest.app.operation import operations_of
from acidtest.app.script import Script
from acidtest.errors import UsageError
from acidtest.model.application import Segment
from acidtest.servers.base import Endpoint

TABLES = 100
LINES = 8
"""Of an order; each takes three statements."""


@dataclass(frozen=True, slots=True)
class AppResult:
    """What was measured for one operation on one target."""

    target: str
    operation: str
    statements: int
    plain_ms: float
    """One operation without a gate, and with it, alone."""
    gated_ms: float
    gate_us: float
    """What the gate adds to a statement."""
    runs_per_second: float
    """Orders of two operations, forced, read and undone."""


class _Application:
    """A connection for each thread, autocommit off; the driver is the user's, so it is imported by name."""

    def __init__(self, place: Endpoint) -> None:
        self._place = place
        self._local = threading.local()

    @property
    def connection(self) -> Any:
        if not hasattr(self._local, "connection"):
            place = self._place
            self._local.connection = import_module("psycopg").connect(
                host=place.host,
                port=place.port,
                user=place.user,
                password=place.password,
                dbname=place.database or "postgres",
            )
        return self._local.connection

    def close(self) -> None:
        """Close the connection of the running thread."""
        if hasattr(self._local, "connection"):
            self._local.connection.close()
            del self._local.connection

    def fill(self) -> None:
        """Make the tables."""
        connection = self.connection
        for number in range(TABLES):
            connection.execute(f"CREATE TABLE t{number} (id int PRIMARY KEY, n int NOT NULL)")
            connection.execute(f"INSERT INTO t{number} SELECT i, 0 FROM generate_series(1, 20) i")
        connection.commit()

    def new_order(self) -> None:
        """Reads warehouse, district and customer, takes a number, and then works on each line."""
        run = self.connection.execute
        run("SELECT n FROM t0 WHERE id = 1")
        run("SELECT n FROM t1 WHERE id = 1 FOR UPDATE")
        run("UPDATE t1 SET n = n + 1 WHERE id = 1")
        run("SELECT n FROM t2 WHERE id = 1")
        run("UPDATE t3 SET n = n + 1 WHERE id = 1")
        run("UPDATE t4 SET n = n + 1 WHERE id = 1")
        for line in range(1, LINES + 1):
            run("SELECT n FROM t5 WHERE id = %s", [line])
            run("UPDATE t6 SET n = n + 1 WHERE id = %s", [line])
            run("UPDATE t7 SET n = n + 1 WHERE id = %s", [line])
        self.connection.commit()

    def two_statements(self) -> None:
        """Reads a number and writes it back."""
        (number,) = self.connection.execute("SELECT n FROM t0 WHERE id = 1").fetchone()
        self.connection.execute("UPDATE t0 SET n = %s WHERE id = 1", [number + 1])
        self.connection.commit()

    def forty_statements(self) -> None:
        """Goes over many tables."""
        for number in range(20):
            self.connection.execute(f"SELECT n FROM t{number} WHERE id = 1")
            self.connection.execute(f"UPDATE t{number + 20} SET n = n + 1 WHERE id = 1")
        self.connection.commit()


def bench_app(target: str, runs: int, on_step: Callable[[str], object]) -> list[AppResult]:
    """Measure all operations on a PostgreSQL server of our own."""
    with servers.start(target) as server:
        place = server.tcp_endpoint
        if place is None or place.dbms != "postgres":
            raise UsageError(f"{target} is no PostgreSQL; bench app runs on postgres@VERSION")
        application = _Application(place)
        application.fill()
        results = []
        for operation in (application.new_order, application.two_statements, application.forty_statements):
            on_step(operation.__name__)
            results.append(_measure(target, application, operation, runs))
        application.close()
        return results


def _measure(target: str, application: _Application, operation: Callable[[], None], runs: int) -> AppResult:
    plain_s = _time(operation, runs)
    options = Options(close=application.close)
    bench = Bench(operations_of([operation]), options)
    try:
        alone = Script((Segment("A"),))
        first = bench.run(alone, ("A",))
        assert bench.ground is not None
        bench.ground.watch_only(
            {t for call in first.calls for t in bench.reader.access(call.sql).tables}, first.final
        )
        gated_s = sum(bench.crew_seconds(alone, ("A",)) for _ in range(runs)) / runs
        bench.run(Script((Segment("A"), Segment("B"))))
        order = Script((Segment("A", 1), Segment("B"), Segment("A")))
        forced_s = _time(lambda: bench.run(order), runs)
    finally:
        bench.close()
    statements = len(first.calls)
    return AppResult(
        target=target,
        operation=operation.__name__,
        statements=statements,
        plain_ms=plain_s * 1e3,
        gated_ms=gated_s * 1e3,
        gate_us=(gated_s - plain_s) / statements * 1e6,
        runs_per_second=1 / forced_s,
    )


def _time(work: Callable[[], object], times: int) -> float:
    work()
    began = perf_counter()
    for _ in range(times):
        work()
    return (perf_counter() - began) / times
