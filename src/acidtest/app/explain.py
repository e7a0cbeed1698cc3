"""From an interleaving that goes wrong to what a developer wants to know about it."""

from collections.abc import Sequence

from acidtest.app.access import Reader, conflict
from acidtest.app.bench import Bench
from acidtest.app.candidates import Candidate
from acidtest.app.casewriting import CannotWriteError, case_of
from acidtest.app.judge import Judge
from acidtest.app.naming import name_of
from acidtest.app.remedies import ORDERS_MOST, plans, try_remedies
from acidtest.app.replay import replay_id
from acidtest.app.script import Script
from acidtest.model import Level, Phenomenon
from acidtest.model.application import (
    Call,
    ForcedRun,
    LevelResult,
    Nature,
    Order,
    Race,
    Reason,
    Remedy,
)
from acidtest.sql import StatementKind, kind_of


def explain(
    bench: Bench,
    judge: Judge,
    reader: Reader,
    run: ForcedRun,
    reasons: tuple[Reason, ...],
    candidate: Candidate | None,
    others: Sequence[Candidate],
) -> Race:
    """Name it, see which levels prevent it, and try remedies."""
    explainer = _Explainer(bench, judge, reader, run)
    orders = [run.order, *(one.order for one in others if one.order != run.order)]
    levels = explainer.levels(orders)
    nature = _nature(levels)
    remedies = explainer.remedies(nature, orders, candidate) if bench.options.remedies else ()
    phenomenon = name_of(run, reader)
    case, problem = explainer.case(phenomenon)
    return Race(
        run=run,
        reasons=reasons,
        differences=judge.differences(run),
        serials={
            "-".join(order): one for order, one in judge.serials.items() if len(order) == len(run.results)
        },
        phenomenon=phenomenon,
        nature=nature,
        levels=levels,
        remedies=remedies,
        replay=replay_id(run.order),
        case=case,
        case_problem=problem,
    )


class _Explainer:
    def __init__(self, bench: Bench, judge: Judge, reader: Reader, run: ForcedRun) -> None:
        self._bench = bench
        self._judge = judge
        self._reader = reader
        self._run = run
        assert bench.guest is not None
        self._guest = bench.guest

    def _own_level(self) -> Level | None:
        own = self._bench.conductor.own_level
        return self._bench.options.level or (Level.parse(own) if own else None)

    def levels(self, orders: Sequence[Order]) -> tuple[LevelResult, ...]:
        """The same order at every level that the DBMS has. A level prevents it if the likeliest other orders
        do not go wrong either: it may just happen elsewhere."""
        own = self._own_level()
        found = []
        for level in self._guest.levels:
            if level is own:
                found.append(LevelResult(level, True, "as it ran"))
                continue
            found.append(self._at(level, orders[:ORDERS_MOST]))
        return tuple(found)

    def _at(self, level: Level, orders: Sequence[Order]) -> LevelResult:
        prevented = ""
        for order in orders:
            run, wrong = self._force(Script(order, level))
            if wrong:
                return LevelResult(level, True, "" if order == self._run.order else f"as {replay_id(order)}")
            prevented = prevented or _prevented_by(run)
        return LevelResult(level, False, prevented)

    def _force(self, script: Script) -> tuple[ForcedRun, bool]:
        run = self._bench.run(script)
        return run, bool(self._judge.judge(run))

    def remedies(
        self, nature: Nature, orders: Sequence[Order], candidate: Candidate | None
    ) -> tuple[Remedy, ...]:
        """What was tried, and what became of it."""
        deciding = self._deciding(candidate)
        known = [
            *plans(self._run, deciding, nature, self._guest.levels, self._own_level(), self._guest.dialect)
        ]
        base = Script(self._run.order, self._bench.options.level, retries=self._bench.options.retry)
        return try_remedies(known, orders, self._force, base)

    def _deciding(self, candidate: Candidate | None) -> Call | None:
        """The read of the operation that was cut which the other operations made stale."""
        cut = self._run.order[0]
        before = [call for call in self._run.of(cut.operation) if cut.upto is None or call.index < cut.upto]
        others = [call for call in self._run.calls if call.operation != cut.operation]
        if candidate is not None and candidate.first is not None and candidate.first[0] == cut.operation:
            before.sort(key=lambda call: call.index != candidate.first[1])  # type: ignore[index]
        else:
            before.reverse()
        for call in before:
            mine = self._reader.access(call.sql)
            if kind_of(call.sql) is not StatementKind.QUERY:
                continue
            if any(conflict(mine, self._reader.access(other.sql), self._reader.unique) for other in others):
                return call
        return None

    def case(self, phenomenon: Phenomenon | None) -> tuple[str, str]:
        """A case file of plain SQL that shows the same, or why there is none."""
        assert self._bench.ground is not None
        title = phenomenon.text if phenomenon else "an interleaving that no serial order explains"
        try:
            return case_of(
                self._run, self._bench.ground, self._reader, self._guest, self._own_level(), title
            ), ""
        except CannotWriteError as error:
            return "", str(error)


def _prevented_by(run: ForcedRun) -> str:
    for name, result in run.results.items():
        if result.refused and result.kind is not None:
            return f"operation {name} is refused: {result.kind.value.replace('-', ' ')}"
    if run.prevented is not None and not run.prevented.sql:
        return f"operation {run.prevented.operation} waits for something outside the database"
    if run.prevented is not None:
        return f"operation {run.prevented.operation} waits for {', '.join(run.prevented.by) or 'a lock'}"
    return "the outcome is that of a serial order"


def _nature(levels: Sequence[LevelResult]) -> Nature:
    """Whether the strongest level prevents it."""
    strongest = levels[-1] if levels else None
    if strongest is None:
        return Nature.UNKNOWN
    return Nature.SCOPE if strongest.violated else Nature.LEVEL
