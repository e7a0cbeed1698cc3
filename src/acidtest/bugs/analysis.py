"""The thesis' correlation study from our own matrix: at which levels bugs show, and what goes with that.

A bug counts at a level if it shows there on at least one target. Only DBMSs with all four levels of the SQL
standard take part in the subsets, as in the thesis.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from acidtest.bugs.cells import Cell, Found
from acidtest.model import Case, Level

FOUR = (Level.READ_UNCOMMITTED, Level.READ_COMMITTED, Level.REPEATABLE_READ, Level.SERIALIZABLE)
ALL = "RU+RC+RR+SER"

THESIS_SUBSETS: Mapping[str, int] = {
    ALL: 100,
    "RC+RR": 5,
    "RR": 4,
    "RU+RC": 2,
    "RC": 2,
    "SER": 1,
    "RR+SER": 1,
}
"""ReplBug thesis (ETH 2024), chapter 4: 115 bugs by the levels at which they were replicated."""

THESIS_DBMS: Mapping[str, int] = {"tidb": 65, "mariadb": 33, "mysql": 17}

WHY_IT_DIFFERS = (
    "Of the thesis' 116 scripts 105 set the level with SET GLOBAL, which does not change the session that "
    "issues it. Their first session ran at the default level whatever the script says, so a bug of that "
    "session shows at all four levels. acidtest sets the level of every session."
)


@dataclass(frozen=True, slots=True)
class Profile:
    """A bug that shows somewhere."""

    id: str
    dbms: str
    levels: tuple[Level, ...]
    kind: str
    paper: str
    sessions: int

    @property
    def subset(self) -> str:
        """Its levels in short."""
        return "+".join(level.short for level in self.levels)


@dataclass(frozen=True, slots=True)
class Analysis:
    """Bugs that show, bugs that do not, and the targets that were asked."""

    profiles: tuple[Profile, ...]
    hidden: tuple[str, ...]
    targets: tuple[str, ...]

    def subsets(self) -> Counter[str]:
        """How many bugs show at exactly which of the four levels."""
        return Counter(one.subset for one in self.profiles if set(one.levels) <= set(FOUR))

    def by(self, key: Callable[[Profile], str]) -> Counter[str]:
        """How many bugs there are of each sort."""
        return Counter(key(one) or "unknown" for one in self.profiles)

    def at_all_levels_by(self, key: Callable[[Profile], str]) -> Counter[str]:
        """The same for bugs that show at all four levels."""
        return Counter(key(one) or "unknown" for one in self.profiles if one.subset == ALL)


def analyse(cases: Sequence[Case], cells: Iterable[Cell], dbms_of: Callable[[str], str]) -> Analysis:
    """What a matrix at all levels says about the bugs."""
    shown: dict[str, list[Cell]] = {case.id: [] for case in cases}
    targets: dict[str, None] = {}
    for cell in cells:
        targets[cell.target] = None
        if cell.found is Found.SHOWS:
            shown[cell.case].append(cell)
    profiles = tuple(_profile(case, shown[case.id], dbms_of) for case in cases if shown[case.id])
    hidden = tuple(case.id for case in cases if not shown[case.id])
    return Analysis(profiles, hidden, tuple(targets))


def _profile(case: Case, cells: Sequence[Cell], dbms_of: Callable[[str], str]) -> Profile:
    levels = {level for cell in cells for level in Level if level.short == cell.level}
    named = next((one.dbms for one in case.targets), "")  # the DBMS that it was reported for comes first
    seen = [dbms_of(cell.target) for cell in cells]
    return Profile(
        case.id,
        named if named in seen else seen[0],
        tuple(level for level in Level if level in levels),
        case.bug.kind or "" if case.bug is not None else "",
        case.bug.paper if case.bug is not None else "",
        len(case.transactions),
    )
