"""Cases on many targets, a few servers at a time. What was observed before is not run again."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event

from acidtest.bugs.cache import CellCache
from acidtest.bugs.cells import Cell, Found, label_of, levels_for, observe
from acidtest.errors import AcidtestError
from acidtest.execute import Executor, Limits
from acidtest.model import Case, Level
from acidtest.targets.resolve import default_level_of, levels_of, open_target

Told = Callable[[str, int], None]
"""Told which target goes on, and how many cells of it are done since it was last told."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to observe: cases, targets, levels (as written, one, or `all`), servers at a time."""

    cases: Sequence[Case]
    specs: Sequence[str]
    choice: Level | str | None = None
    at_once: int = 2
    fresh: bool = False
    """Run everything, whatever was observed before."""

    def size(self) -> int:
        """How many cells there will be."""
        return sum(len(self.cases) * len(levels_for(self.choice, levels_of(spec))) for spec in self.specs)


def observe_all(plan: Plan, told: Told, limits: Limits | None = None) -> list[Cell]:
    """All cells, target by target; one that cannot be opened gives unknown cells, not an end.

    A server belongs to the thread that started it, so each target has one thread from start to stop.
    """
    stop = Event()
    with ThreadPoolExecutor(plan.at_once) as pool:
        columns = [pool.submit(_column, plan, spec, told, limits or Limits(), stop) for spec in plan.specs]
        try:
            return [cell for column in columns for cell in column.result()]
        except BaseException:  # Ctrl-C: what is done is kept, and nothing new begins
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise


def _column(plan: Plan, spec: str, told: Told, limits: Limits, stop: Event) -> list[Cell]:
    levels = levels_for(plan.choice, levels_of(spec))
    wanted = [(case, level) for case in plan.cases for level in levels]
    try:
        cache = CellCache(spec)
        known = {} if plan.fresh else _known(cache, wanted)
        told(spec, len(known))
        if len(known) < len(wanted):
            missing = [number for number in range(len(wanted)) if number not in known]
            known |= _run(spec, wanted, missing, cache, told, limits, stop)
    except AcidtestError as error:
        return [_unopened(spec, case, level, str(error)) for case, level in wanted]
    return [known[number] for number in range(len(wanted)) if number in known]


def _known(cache: CellCache, wanted: Sequence[tuple[Case, Level | None]]) -> dict[int, Cell]:
    found = ((number, cache.get(case, level)) for number, (case, level) in enumerate(wanted))
    return {number: cell for number, cell in found if cell is not None}


def _run(
    spec: str,
    wanted: Sequence[tuple[Case, Level | None]],
    missing: Sequence[int],
    cache: CellCache,
    told: Told,
    limits: Limits,
    stop: Event,
) -> dict[int, Cell]:
    """Run what is missing; cases with the same start options follow each other, since a change restarts."""
    cells: dict[int, Cell] = {}
    with open_target(spec) as target, Executor(target, limits) as executor:
        for number in sorted(missing, key=lambda one: (wanted[one][0].server, one)):
            if stop.is_set():
                break
            case, level = wanted[number]
            cells[number] = observe(executor, case, level)
            cache.put(case, level, cells[number])
            told(spec, 1)
    return cells


def _unopened(spec: str, case: Case, level: Level | None, why: str) -> Cell:
    label = label_of(case, level, default_level_of(spec))
    return Cell(case.id, label, spec, "", Found.UNKNOWN, why)
