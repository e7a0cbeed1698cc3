"""record -> analyse -> schedule -> force -> judge -> explain, on the operations of one application."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from time import monotonic
from typing import Any

from acidtest.app import candidates as orders
from acidtest.app.bench import Bench, Options
from acidtest.app.candidates import Candidate, Step, steps_of
from acidtest.app.crashing import cuts_of, race_of, run_cut
from acidtest.app.explain import explain
from acidtest.app.judge import Judge
from acidtest.app.naming import name_of
from acidtest.app.operation import Operation, operations_of
from acidtest.app.options import read_options
from acidtest.app.replay import order_of
from acidtest.app.script import Script
from acidtest.app.shapes import without_values
from acidtest.errors import UsageError
from acidtest.model import Level
from acidtest.model.application import (
    Call,
    Coverage,
    End,
    Exploration,
    ForcedRun,
    Judgement,
    Order,
    Race,
)

Progress = Callable[[str, int, int], None]
"""Is told what is done, how many runs are over, and how many there may be."""

ASSUMPTIONS = (
    "operations take the paths that were recorded, with these arguments and rows",
    "statements do what their text and the schema say",
    "two operations at a time stand for more",
)


class Explorer:
    """One exploration, step by step."""

    def __init__(self, bench: Bench, progress: Progress) -> None:
        self._bench = bench
        self._options = bench.options
        self._progress = progress
        self._began = monotonic()
        self._paths: dict[str, list[Sequence[Step]]] = {}
        self._seen: set[tuple[str, ...]] = set()
        self._notes: list[str] = []
        self._known: tuple[int, list[Candidate]] = (-1, [])
        self._inconclusive: list[str] = []
        self._alone: dict[str, Sequence[Call]] = {}

    def explore(self) -> Exploration:
        """Record, then force what can go wrong until something does, or nothing is left."""
        self.record()
        if self._options.replay is not None:
            return self._replay(order_of(self._options.replay, self._bench.names))
        if self._options.crash and (broken := self._crash()) is not None:
            return self._answer(broken, 0, 0, 0, 0, 0)
        tried: set[Order] = set()
        prevented = refused = forced = 0
        total = 0
        found: Race | None = None
        for candidate, left in self._candidates(tried):
            total = max(total, forced + 1 + left)
            if self._is_over(forced):
                return self._answer(None, forced, prevented, refused, left + 1, total)
            self._progress("forcing", forced, total)
            run = self._force(candidate.order)
            forced += 1
            prevented += run.prevented is not None
            refused += any(one.refused for one in run.results.values())
            found = self._judge(run, candidate)
            if found is not None:
                break
        return self._answer(found, forced, prevented, refused, 0, total)

    # -- record

    def record(self) -> None:
        """Run all serial orders, and learn what each operation sends."""
        self._progress("recording", 0, 0)
        bench = self._bench
        first = bench.run_serially(bench.names)
        if bench.ground is None or bench.guest is None:
            raise UsageError(
                "the operations sent no statement that acidtest saw; it knows psycopg 3 and 2, asyncpg"
                " and PyMySQL, and what is built on them, on connections that operations open or use"
            )
        self.reader = bench.reader
        bench.ground.watch_only(self._written(first), first.final)
        self.judge = Judge(bench.ground.schema, bench.ground.initial, self._serially)
        kept = {name: first.final[name] for name in bench.ground.tables}
        self.judge.serials[bench.names] = replace(first, final=kept)
        again = self.judge.learn(bench.names)
        self._alone = {order[0]: run.of(order[0]) for order, run in self.judge.serials.items()}
        self._alone[bench.names[0]] = again.of(bench.names[0])
        self._take_in(again)
        for order, run in self.judge.serials.items():
            if order != bench.names:
                self._take_in(run)
        if any(not step.access.sure for paths in self._paths.values() for path in paths for step in path):
            self._notes.append(
                "statements that could not be read, or call functions or triggers, count by table"
            )

    def alone(self) -> list[tuple[ForcedRun, Sequence[Call]]]:
        """Of each operation a run in which it came first, and what it sent in it."""
        serials = self.judge.serials
        return [
            (next(run for order, run in serials.items() if order[0] == name), self._alone[name])
            for name in self._bench.names
        ]

    def _serially(self, names: tuple[str, ...]) -> ForcedRun:
        run = self._bench.run_serially(names)
        assert self._bench.ground is not None
        self._bench.ground.also_watch(self._written(run))
        return run

    def _written(self, run: ForcedRun) -> set[str]:
        return {table for call in run.calls for table, _ in self.reader.access(call.sql).writes}

    def _take_in(self, run: ForcedRun) -> bool:
        """Learn the paths that operations took; whether one is new."""
        new = False
        for name in run.results:
            calls = run.of(name)
            texts = (name, *(without_values(call.sql) for call in calls))
            if calls and texts not in self._seen:
                self._seen.add(texts)
                self._paths.setdefault(name, []).append(steps_of(calls, self.reader))
                new = True
        return new

    # -- crash

    def _crash(self) -> Race | None:
        if not (self._options.at_end or self._options.always):
            raise UsageError(
                "crash=True needs an invariant: give at_end= what must hold even if an operation stops"
                " half-way"
            )
        for name in self._bench.names:
            for cut in cuts_of(self._alone[name]):
                self._progress("crashing", cut.index, 0)
                run = run_cut(self._bench, cut)
                if run.breaches:
                    return race_of(self._bench, cut, run)
        return None

    # -- schedule

    def _candidates(self, tried: set[Order]) -> Iterator[tuple[Candidate, int]]:
        """Orders that were not tried, each with how many more are known; new paths give new ones."""
        while True:
            pending = [one for one in self.candidates() if one.order not in tried]
            if not pending:
                return
            tried.add(pending[0].order)
            yield pending[0], len(pending) - 1

    def candidates(self) -> list[Candidate]:
        """All orders that can differ, as far as paths are known."""
        key = sum(map(len, self._paths.values()))
        if self._known[0] != key:
            unique = self.reader.unique
            guided = [*orders.one_between(self._paths, unique), *orders.both_split(self._paths, unique)]
            if self._options.exhaustive or self._options.always:
                lengths = {name: max(map(len, paths)) for name, paths in self._paths.items()}
                guided += orders.exhaustive(lengths, self._options.preemptions)
            self._known = (key, list({one.order: one for one in reversed(guided)}.values())[::-1])
        return self._known[1]

    def _is_over(self, forced: int) -> bool:
        return forced >= self._options.runs or monotonic() - self._began > self._options.seconds

    # -- force and judge

    def _force(self, order: Order) -> ForcedRun:
        return self._bench.run(Script(order, self._options.level, retries=self._options.retry))

    def _judge(self, run: ForcedRun, candidate: Candidate | None) -> Race | None:
        assert self._bench.ground is not None
        if run.server_died:
            self._inconclusive.append("the server died")
            return None
        for name, result in run.results.items():
            if result.end in (End.HUNG, End.DIED):
                self._inconclusive.append(f"operation {name} {_ENDS[result.end]} in the order {run.order}")
                return None
        self._take_in(run)
        if self._bench.ground.also_watch(self._written(run)):
            self._rejudge_serials()
            return self._judge(self._force(run.order), candidate)
        reasons = self.judge.judge(run)
        if not reasons or self._is_accepted(run):
            return None
        return explain(self._bench, self.judge, self.reader, run, reasons, candidate, self.candidates())

    def _rejudge_serials(self) -> None:
        assert self._bench.ground is not None
        self.judge = Judge(self._bench.ground.schema, self._bench.ground.initial, self._serially)
        self.judge.learn(self._bench.names)

    def _is_accepted(self, run: ForcedRun) -> bool:
        """Whether the user tolerates what happened: an error by its class, or a phenomenon by its name."""
        if not self._options.accept:
            return False
        if any(result.error in self._options.accept for result in run.results.values() if result.error):
            return True
        phenomenon = name_of(run, self.reader)
        return phenomenon is not None and phenomenon.value in self._options.accept

    def _replay(self, order: Order) -> Exploration:
        run = self._force(order)
        return self._answer(self._judge(run, None), 1, int(run.prevented is not None), 0, 0, 1)

    # -- answer

    def _answer(
        self, race: Race | None, runs: int, prevented: int, refused: int, left: int, total: int
    ) -> Exploration:
        bench = self._bench
        assert bench.guest is not None
        assert bench.ground is not None
        coverage = Coverage(
            total,
            runs,
            prevented,
            refused,
            left,
            monotonic() - self._began,
            self._options.preemptions if self._options.exhaustive else None,
        )
        judgement, why = self._judgement(race, coverage)
        own_level = bench.conductor.own_level
        return Exploration(
            operations=tuple(one.title for one in bench.operations),
            target=bench.guest.label,
            dbms=bench.guest.dbms,
            version=bench.guest.version,
            level=self._options.level or (Level.parse(own_level) if own_level else None),
            judgement=judgement,
            coverage=coverage,
            race=race,
            why=why,
            safe_by_analysis=judgement is Judgement.HOLDS and total == 0,
            notes=tuple(self._notes),
            schema=bench.ground.schema,
            initial=bench.ground.initial,
        )

    def _judgement(self, race: Race | None, coverage: Coverage) -> tuple[Judgement, tuple[str, ...]]:
        if race is not None:
            return Judgement.VIOLATED, ()
        if self._inconclusive:
            return Judgement.INCONCLUSIVE, tuple(self._inconclusive)
        if coverage.unexplored and not coverage.runs:
            return Judgement.INCONCLUSIVE, ("the budget was spent before an order was forced",)
        return Judgement.HOLDS, ASSUMPTIONS if coverage.candidates == 0 else ()


_ENDS = {End.HUNG: "never ended", End.DIED: "lost its worker"}


def explore_with(
    operations: Sequence[Operation],
    options: Options,
    progress: Progress | None = None,
    loop: asyncio.AbstractEventLoop | None = None,
) -> Exploration:
    """Explore operations with given options: once, or at each of the levels that are asked for."""
    tell = progress or (lambda *_: None)
    if not options.levels:
        return _explore_once(operations, options, tell, loop)
    found: dict[str, Exploration] = {}
    for level in options.levels:
        chosen = replace(options, level=level, levels=())
        found[level.value] = _explore_once(operations, chosen, tell, loop)
    ranked = sorted(found.values(), key=lambda one: list(_WORST).index(one.judgement))
    return replace(ranked[0], at_levels={name: one.judgement for name, one in found.items()})


_WORST = (Judgement.VIOLATED, Judgement.INCONCLUSIVE, Judgement.HOLDS)


def _explore_once(
    operations: Sequence[Operation],
    options: Options,
    progress: Progress,
    loop: asyncio.AbstractEventLoop | None,
) -> Exploration:
    with closing(Bench(operations, options, loop)) as bench:
        return Explorer(bench, progress).explore()


def record_with(operations: Sequence[Operation], options: Options) -> list[ForcedRun]:
    """What came of each operation when it ran first, in their order."""
    with closing(Bench(operations, options)) as bench:
        explorer = Explorer(bench, lambda *_: None)
        explorer.record()
        return [replace(run, calls=tuple(calls)) for run, calls in explorer.alone()]


def analyse_with(operations: Sequence[Operation], options: Options) -> list[Candidate]:
    """The orders that can differ from a serial one, the likeliest first."""
    with closing(Bench(operations, options)) as bench:
        explorer = Explorer(bench, lambda *_: None)
        explorer.record()
        return explorer.candidates()


def explore(*calls: Callable[[], Any], **options: Any) -> Exploration:
    """Find the interleavings of these operations that break the data. See docs/app.md for the options."""
    return explore_with(operations_of(calls), read_options(options))


async def explore_async(*calls: Callable[[], Any], **options: Any) -> Exploration:
    """The same from a coroutine: operations that are coroutines run on the caller's loop."""
    loop = asyncio.get_running_loop()
    chosen, operations = read_options(options), operations_of(calls)
    return await asyncio.to_thread(explore_with, operations, chosen, None, loop)
