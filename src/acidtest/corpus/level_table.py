"""The table anomaly x level of a target, and where it differs from what is documented."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from acidtest.claims import claim_for
from acidtest.corpus import anomalies
from acidtest.corpus.documented import Documented, documented
from acidtest.corpus.levels import Observed, classify
from acidtest.execute import Executor
from acidtest.model import Case, History, Level, Phenomenon, Variant
from acidtest.oracles.walks import HistoryWalk


class Promise(StrEnum):
    """What a DBMS promises about a phenomenon at a level, and whether the runs of the anomalies show it."""

    OCCURS = "occurs"
    ALLOWED = "allowed"  # not excluded, and not seen
    EXCLUDED = "excluded"
    BROKEN = "excluded, and occurs"


@dataclass(frozen=True, slots=True)
class Cell:
    """What came of an anomaly at a level, and what is said of it."""

    observed: Observed
    documented: Documented | None
    expected_to_occur: bool | None
    died: bool
    phenomena: tuple[Phenomenon, ...] = ()
    """What occurred in the run."""

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
    excluded: dict[Level, frozenset[Phenomenon]]
    """What the DBMS promises at each level; empty where nothing is written down."""

    def promise(self, phenomenon: Phenomenon, level: Level) -> Promise:
        """What is said and seen of a phenomenon at a level."""
        seen = phenomenon in self.occurred(level)
        if phenomenon in self.excluded[level]:
            return Promise.BROKEN if seen else Promise.EXCLUDED
        return Promise.OCCURS if seen else Promise.ALLOWED

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

    def occurred(self, level: Level) -> tuple[Phenomenon, ...]:
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
                            "phenomena": [one.text for one in self.cells[case.id, level].phenomena],
                        }
                        for level in self.levels
                    },
                }
                for case in self.anomalies
            ],
            "phenomena": [
                {
                    "phenomenon": one.value,
                    "title": one.words,
                    "levels": {level.value: self.promise(one, level).value for level in self.levels},
                }
                for one in Phenomenon
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
    claims = {level: claim_for(target.dbms, level, target.settings()) for level in levels}
    excluded = {level: frozenset() if one is None else one.excludes for level, one in claims.items()}
    return LevelTable(target.label, target.version, cases, tuple(levels), cells, excluded)


def _phenomena(history: History) -> tuple[Phenomenon, ...]:
    """What occurred; nothing if the run could not be followed to its end."""
    occurred = HistoryWalk(history).occurrences or ()
    plain = [one.phenomenon for one in occurred if one.exact and one.variant is Variant.PLAIN]
    return tuple(dict.fromkeys(plain))
