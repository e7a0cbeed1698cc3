"""The table anomaly x level of a target, and where it differs from what is documented."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from acidtest.corpus import anomalies
from acidtest.corpus.documented import Documented, documented
from acidtest.corpus.levels import Observed, classify
from acidtest.execute import Executor
from acidtest.model import Case, History, Level
from acidtest.oracles.walks import HistoryWalk


@dataclass(frozen=True, slots=True)
class Cell:
    """What came of an anomaly at a level, and what is said of it."""

    observed: Observed
    documented: Documented | None
    expected_to_occur: bool | None
    died: bool
    phenomena: tuple[str, ...] = ()
    """What occurred in the run, by its names in the literature."""

    @property
    def surprising(self) -> bool:
        """Whether it occurred against the documentation, or did not although it is said to."""
        if self.expected_to_occur is None or self.observed is Observed.UNKNOWN:
            return False
        return (self.observed is Observed.OCCURS) != self.expected_to_occur


@dataclass(frozen=True, slots=True)
class LevelTable:
    """All cells for one target."""

    target: str
    version: str
    anomalies: tuple[Case, ...]
    levels: tuple[Level, ...]
    cells: dict[tuple[str, Level], Cell]

    def notes(self) -> Iterator[str]:
        """A sentence for every surprising cell, and one for every unknown."""
        for (anomaly, level), cell in self.cells.items():
            if cell.surprising and cell.documented is not None:
                said = "occur" if cell.expected_to_occur else "not occur"
                yield (
                    f"{anomaly} at {level.value}: {cell.observed.value}, but is documented to {said}: "
                    f"{cell.documented.why} ({cell.documented.link})"
                )
            elif cell.observed is Observed.UNKNOWN:
                yield f"{anomaly} at {level.value}: the run went wrong; `acidtest run {anomaly}` shows how"

    def occurred(self, level: Level) -> tuple[str, ...]:
        """All phenomena that were seen at a level, in the order in which they came."""
        names = [name for (_, at), cell in self.cells.items() if at is level for name in cell.phenomena]
        return tuple(dict.fromkeys(names))

    def to_json(self) -> dict[str, Any]:
        """JSON-ready data; see docs/json.md."""
        return {
            "target": self.target,
            "server_version": self.version,
            "levels": [level.value for level in self.levels],
            "anomalies": [
                {
                    "anomaly": case.id,
                    "title": case.title,
                    "levels": {
                        level.value: {
                            "observed": self.cells[case.id, level].observed.value,
                            "documented_to_occur": self.cells[case.id, level].expected_to_occur,
                            "surprising": self.cells[case.id, level].surprising,
                            "phenomena": list(self.cells[case.id, level].phenomena),
                        }
                        for level in self.levels
                    },
                }
                for case in self.anomalies
            ],
            "notes": list(self.notes()),
        }


def observe_levels(
    executor: Executor, levels: Sequence[Level], on_progress: Callable[[int, int], None]
) -> LevelTable:
    """Run every anomaly at every level."""
    target = executor.target
    cases = anomalies()
    cells: dict[tuple[str, Level], Cell] = {}
    for case in cases:
        for level in levels:
            history = executor.run(case.at_level(level), fresh=True)
            said = documented(target.dbms, target.version, level)
            expected = None if said is None else case.id in said.occurs
            cells[case.id, level] = Cell(
                classify(history), said, expected, history.server_died, _phenomena(history)
            )
            on_progress(len(cells), len(cases) * len(levels))
    return LevelTable(target.label, target.version, cases, tuple(levels), cells)


def _phenomena(history: History) -> tuple[str, ...]:
    """What occurred, by name; nothing if the run could not be followed to its end."""
    occurred = HistoryWalk(history).occurrences or ()
    return tuple(dict.fromkeys(one.phenomenon.text for one in occurred))
