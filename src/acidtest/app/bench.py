"""The bench: everything that is open while operations of one application are explored."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic

from acidtest.app.access import Reader
from acidtest.app.conductor import Conductor
from acidtest.app.crew import Crew
from acidtest.app.frontends import install
from acidtest.app.frontends.frameworks import check_surroundings, close_connections
from acidtest.app.gate import Link, current, put_in_place, take_away
from acidtest.app.ground import Ground
from acidtest.app.invariants import Invariant, breaches_of
from acidtest.app.judge import Names, failed_alone
from acidtest.app.operation import Operation
from acidtest.app.rest import Limits
from acidtest.app.script import Script
from acidtest.app.shapes import without_values
from acidtest.errors import UsageError
from acidtest.model import Level, Schema, State
from acidtest.model.application import Breach, End, ForcedRun, Result, Segment
from acidtest.servers.base import Endpoint
from acidtest.targets import Guest
from acidtest.targets.resolve import open_guest

SECONDS = 20.0
RUNS = 200
PREEMPTIONS = 2


@dataclass(frozen=True, slots=True)
class Options:
    """What a user can say about an exploration."""

    always: tuple[Invariant, ...] = ()
    at_end: tuple[Invariant, ...] = ()
    reset: Callable[[], object] | None = None
    close: Callable[[], object] | None = None
    """Runs in each worker when it ends, to close what the application keeps for its thread."""
    level: Level | None = None
    levels: tuple[Level, ...] = ()
    retry: int = 0
    seconds: float = SECONDS
    runs: int = RUNS
    exhaustive: bool = False
    preemptions: int = PREEMPTIONS
    accept: tuple[str, ...] = ()
    remedies: bool = True
    crash: bool = False
    limits: Limits = field(default_factory=Limits)
    replay: str | None = None


class Bench:
    """Everything that is open during an exploration: the gate, the workers, the guest and its tables."""

    def __init__(
        self, operations: Sequence[Operation], options: Options, loop: asyncio.AbstractEventLoop | None = None
    ) -> None:
        if current() is not None:
            raise UsageError(
                "interleave is already at work; one exploration at a time, not one inside another"
            )
        check_surroundings()
        self.operations = operations
        self.options = options
        self.guest: Guest | None = None
        self.ground: Ground | None = None
        self.reader: Reader = Reader(Schema(), "")
        self._touching: dict[str, bool] = {}
        self._endpoint: Endpoint | None = None
        self._breaches: list[Breach] = []
        look = self._look if options.always else None
        self.conductor = Conductor(self._guest_of, options.limits, look)
        self.crew = Crew(operations, self.conductor, self._close_thread, loop)
        self._patches = install()
        put_in_place(self.conductor)
        self.runs = 0

    @property
    def names(self) -> Names:
        return tuple(one.name for one in self.operations)

    def _guest_of(self, link: Link) -> Guest:
        """The guest in the database of the first connection; the tables are looked at before it does
        anything."""
        endpoint = link.endpoint()
        if self.guest is None or self._endpoint is None:
            self._endpoint = endpoint
            self.guest = open_guest(endpoint)
            self.ground = Ground(self.guest, self.options.reset)
            self.ground.remember()
            self.reader = Reader(self.ground.schema, self.guest.dialect)
            self.conductor.touches_tables = self._touches_tables
        elif (endpoint.database, endpoint.port) != (self._endpoint.database, self._endpoint.port):
            raise UsageError(
                f"the operations use two databases, {self._endpoint.database} and {endpoint.database};"
                " acidtest interleaves on one"
            )
        return self.guest

    def _touches_tables(self, sql: str) -> bool:
        shape = without_values(sql)  # values do not matter, and a parse takes longer than most statements
        if shape not in self._touching:
            self._touching[shape] = bool(self.reader.access(sql).tables)
        return self._touching[shape]

    def _close_thread(self) -> None:
        if self.options.close is not None:
            self.options.close()
        close_connections()

    def _look(self) -> None:
        self._breaches += breaches_of(self.options.always, self.guest, self.conductor.turns)

    def run(self, script: Script, names: Names | None = None) -> ForcedRun:
        """One run, judged by nobody yet; the tables are as before when it is over."""
        began = monotonic()
        self._breaches = []
        self.runs += 1
        results, calls, prevented = self.crew.run(script, names or self.names)
        if self.crew.problem is not None:
            raise self.crew.problem
        self.crew.roll_back()
        final: State = {}
        died = self.guest is not None and self.crew.lost and not self.guest.is_alive()
        if self.ground is not None and not died:
            final = self.ground.state()
            if all(one.end is not End.HUNG for one in results.values()):
                self._breaches += breaches_of(self.options.at_end, self.guest)
            self.ground.restore(final)
        return ForcedRun(
            script.order,
            calls,
            results,
            final,
            prevented,
            tuple(self._breaches),
            died,
            monotonic() - began,
            self.conductor.hold_lost,
        )

    def crew_seconds(self, script: Script, names: Names) -> float:
        """How long operations take under the gate, without looking at the tables and undoing."""
        began = monotonic()
        self.crew.run(script, names)
        seconds = monotonic() - began
        if self.ground is not None:
            self.ground.restore(self.ground.state())
        return seconds

    def run_serially(self, names: Names) -> ForcedRun:
        """These operations one after the other."""
        order = tuple(Segment(name) for name in names)
        run = self.run(Script(order, self.options.level, retries=self.options.retry), tuple(sorted(names)))
        self._refuse_failure(run)
        return run

    def _refuse_failure(self, run: ForcedRun) -> None:
        if run.server_died:
            raise UsageError("the server died while an operation ran alone")
        first = run.order[0].operation
        failure = failed_alone({first: run.results[first]})
        title = next(one.title for one in self.operations if one.name == first)
        if failure is not None:
            raise UsageError(
                f"the operation {title} fails when it runs alone: {_words(failure[1])}; it must work first"
            )

    def close(self) -> None:
        """Let go of everything; the application's statements pass as before."""
        self.crew.close()
        take_away(self.conductor)
        self._patches.take_back()
        self.conductor.close()
        if self.guest is not None:
            self.guest.close()


def _words(result: Result) -> str:
    if result.end is End.HUNG:
        return "it never ends"
    return f"{result.error}: {result.message}" if result.error else f"it {result.end.value}"
