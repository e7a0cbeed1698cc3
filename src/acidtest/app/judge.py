"""Is what came of an interleaving what some serial order gives?

The definition of a concurrency failure (AGENDA, section 3): it could not occur if the operations ran one
after the other. So no invariant is needed; the serial orders are run first, and the final state and what
operations returned or raised must be those of one of them. An operation that the DBMS refused (deadlock,
serialization failure) counts as not run.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import permutations

from acidtest.app.matching import Matcher, Path, volatile_paths
from acidtest.model import Row, Schema, State
from acidtest.model.application import Difference, End, ForcedRun, Reason, Result

Names = tuple[str, ...]


class Judge:
    """Knows what the serial orders give, and compares."""

    def __init__(self, schema: Schema, initial: State, run_serially: Callable[[Names], ForcedRun]) -> None:
        self._schema = schema
        self._run_serially = run_serially
        self._matcher = Matcher(schema, initial)
        self._volatile: dict[str, frozenset[Path]] = {}
        self.serials: dict[Names, ForcedRun] = {}

    def learn(self, names: Names) -> ForcedRun:
        """Run all serial orders, and one of them twice, which tells what differs from run to run. What came
        of it the second time: the first time applications also set themselves up."""
        for order in permutations(names):
            self.serial(order)
        first, again = self.serials[names], self._run_serially(names)
        self._matcher.add_volatile(first.final, again.final)
        for name in names:
            self._volatile[name] = volatile_paths(first.results[name].value, again.results[name].value)
        return again

    def serial(self, order: Names) -> ForcedRun:
        """What a serial order gives; it is run when it is asked for the first time."""
        if order not in self.serials:
            self.serials[order] = self._run_serially(order)
        return self.serials[order]

    def judge(self, run: ForcedRun) -> tuple[Reason, ...]:
        """Why a run is wrong; nothing if some serial order gives the same."""
        if run.breaches:
            return (Reason.INVARIANT,)
        names = tuple(name for name, result in run.results.items() if not result.refused)
        orders = [self.serial(order) for order in permutations(names)]
        if any(self._same(run, serial, names) for serial in orders):
            return ()
        if len(names) < len(run.results):
            return ()  # what a refused operation had committed before is left; that is no matter of order
        if any(self._matcher.same_state(run.final, serial.final) for serial in orders):
            return (Reason.RESULT,)
        return (Reason.STATE,)

    def _same(self, run: ForcedRun, serial: ForcedRun, names: Sequence[str]) -> bool:
        if not self._matcher.same_state(run.final, serial.final):
            return False
        return all(self._same_result(name, run, serial) for name in names)

    def _same_result(self, name: str, run: ForcedRun, serial: ForcedRun) -> bool:
        mine, theirs = run.results[name], serial.results[name]
        if mine.end is not theirs.end or mine.error != theirs.error:
            return False
        if mine.end is not End.RETURNED:
            return True
        volatile = self._volatile.get(name, frozenset())
        return self._matcher.same_result(mine.value, run.final, theirs.value, serial.final, volatile)

    def differences(self, run: ForcedRun) -> tuple[Difference, ...]:
        """How the state differs from that of the nearest serial order."""
        names = tuple(run.results)
        best: Mapping[str, tuple[Sequence[Row], Sequence[Row]]] | None = None
        for order in permutations(names):
            if order not in self.serials:
                continue
            found = self._matcher.different_rows(run.final, self.serials[order].final)
            if best is None or _size(found) < _size(best):
                best = found
        return tuple(
            Difference(
                table,
                tuple(column.name for column in self._schema.table(table).columns),
                tuple(mine),
                tuple(theirs),
            )
            for table, (mine, theirs) in (best or {}).items()
        )


def _size(found: Mapping[str, tuple[Sequence[Row], Sequence[Row]]]) -> int:
    return sum(len(mine) + len(theirs) for mine, theirs in found.values())


def failed_alone(results: Mapping[str, Result]) -> tuple[str, Result] | None:
    """An operation that does not come to a good end although nobody else is there."""
    return next(((name, one) for name, one in results.items() if one.end is not End.RETURNED), None)
