"""All oracles by name. A new one is a file in this folder and a line here."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from acidtest.errors import UsageError
from acidtest.model import History, Verdict
from acidtest.oracles import crash, graph, serial, solver, views
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


@dataclass(frozen=True, slots=True)
class Entry:
    """An oracle in one line, and how to get one. What it judges: isolation, or only that the server lives."""

    description: str
    make: Callable[[Target, Walks], Oracle]
    judges_isolation: bool = True
    reads_trace: bool = False


ORACLES: Mapping[str, Entry] = {
    "solver": Entry(
        "version chains and an evaluator of our own give every result and every wait", solver.SolverOracle
    ),
    "graph": Entry(
        "no phenomenon that the level excludes: cycles of dependencies, dirty and repeated reads",
        graph.GraphOracle,
        reads_trace=True,
    ),
    "views": Entry(
        "the DBMS answers each statement again, alone on tables with just the rows it may see",
        views.ViewsOracle,
    ),
    "serial": Entry(
        "at SERIALIZABLE some serial order of the committed transactions gives the same results",
        serial.SerialOracle,
        reads_trace=True,
    ),
    "crash": Entry(
        "the server neither dies nor breaks its protocol nor fails inside",
        crash.CrashOracle,
        judges_isolation=False,
    ),
}

IF_UNDECIDED = "?"
"""Behind a name: ask this oracle only where none before it decides."""

DEFAULT = ("crash", "solver", "graph", "serial", "views?")
"""Every oracle that decides something and costs little; `views` where the evaluator does not know the SQL."""


def check_names(names: Iterable[str]) -> list[str]:
    """The names, each once; `none` stands for no oracle. Refuses names that are not known."""
    wanted = list(dict.fromkeys(names))
    if wanted == ["none"]:
        return []
    for name in wanted:
        if name.removesuffix(IF_UNDECIDED) not in ORACLES:
            raise UsageError(f"unknown oracle {name!r}; known are {', '.join(ORACLES)}, or none")
    return wanted
