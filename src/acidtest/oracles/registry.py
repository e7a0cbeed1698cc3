"""All oracles by name. A new one is a file in this folder and a line here."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from acidtest.errors import UsageError
from acidtest.model import History, Verdict
from acidtest.oracles import crash, differential, graph, serial, solver, untransacted, views
from acidtest.oracles.walks import Walks
from acidtest.targets import Target


class Oracle(Protocol):
    """Judges histories of one target."""

    @property
    def name(self) -> str:
        """The name in the registry."""

    def judge(self, history: History) -> Verdict | None:
        """The verdict; None if the oracle has no say in such a history (which is not `unknown`)."""

    def close(self) -> None:
        """Give back what it holds on the server."""


Make = Callable[[Target, Walks, Target | None], Oracle]
"""How to get an oracle for a target, with the walks that it shares and another target to compare with."""


def _alone(make: Callable[[Target, Walks], Oracle]) -> Make:
    """For an oracle that compares with no other target."""
    return lambda target, walks, _against: make(target, walks)


@dataclass(frozen=True, slots=True)
class Entry:
    """An oracle in one line, and how to get one. What it judges: isolation, or only that the server lives."""

    description: str
    make: Make
    judges_isolation: bool = True
    reads_trace: bool = False
    compares: bool = False
    """It needs another target."""


ORACLES: Mapping[str, Entry] = {
    "solver": Entry(
        "version chains and an evaluator of our own give every result and every wait",
        _alone(solver.SolverOracle),
    ),
    "graph": Entry(
        "no phenomenon that the level excludes: cycles of dependencies, dirty and repeated reads",
        _alone(graph.GraphOracle),
        reads_trace=True,
    ),
    "views": Entry(
        "the DBMS answers each statement again, alone on tables with just the rows it may see",
        _alone(views.ViewsOracle),
    ),
    "serial": Entry(
        "at SERIALIZABLE some serial order of the committed transactions gives the same results",
        _alone(serial.SerialOracle),
        reads_trace=True,
    ),
    "replay": Entry(
        "one by one without transactions, in an order of their dependencies, statements do the same",
        _alone(untransacted.UntransactedOracle),
        reads_trace=True,
    ),
    "crash": Entry(
        "the server neither dies nor breaks its protocol nor fails inside",
        _alone(crash.CrashOracle),
        judges_isolation=False,
    ),
    "differential": Entry(
        "another DBMS or version does the same with the case, or both promises say why not",
        differential.DifferentialOracle,
        reads_trace=True,
        compares=True,
    ),
}

BY_THEMSELVES = tuple(name for name, entry in ORACLES.items() if not entry.compares)
"""Those that need no other target."""

IF_UNDECIDED = "?"
"""Behind a name: ask this oracle only where none before it decides."""

DEFAULT = ("crash", "solver", "graph", "serial", "views?")
"""Every oracle that decides something and costs little; `views` where the evaluator does not know the SQL."""


def check_names(names: Iterable[str], against: bool = True) -> list[str]:
    """The names, each once; `none` stands for no oracle. Refuses names that are not known, and oracles that
    compare unless there is a target to compare with."""
    wanted = list(dict.fromkeys(names))
    if wanted == ["none"]:
        return []
    for name in wanted:
        if name.removesuffix(IF_UNDECIDED) not in ORACLES:
            raise UsageError(f"unknown oracle {name!r}; known are {', '.join(ORACLES)}, or none")
        if ORACLES[name.removesuffix(IF_UNDECIDED)].compares and not against:
            raise UsageError(f"the oracle {name} compares with another target; name it with --against TARGET")
    return wanted


def with_comparing(names: Iterable[str], against: bool) -> tuple[str, ...]:
    """The names as they were asked for, and those that compare if there is something to compare with."""
    comparing = [name for name, entry in ORACLES.items() if entry.compares and against]
    chosen = check_names(names, against)
    return tuple(dict.fromkeys((*chosen, *comparing)))
