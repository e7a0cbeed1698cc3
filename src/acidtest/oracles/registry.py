"""All oracles by name. A new one is a file in this folder and a line here."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from acidtest.errors import UsageError
from acidtest.model import History, Verdict
from acidtest.oracles import crash, evaluating, serial, solver, views
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


class _Solver:
    name = "solver"

    def __init__(self, _target: Target) -> None:
        pass  # it asks no DBMS

    def judge(self, history: History) -> Verdict:
        return solver.judge(history)

    def close(self) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Entry:
    """An oracle in one line, and how to get one."""

    description: str
    make: Callable[[Target], Oracle]


ORACLES: Mapping[str, Entry] = {
    "solver": Entry("version chains and an evaluator of our own give every result and every wait", _Solver),
    "views": Entry(
        "the DBMS answers each statement again, alone on tables with just the rows it may see",
        views.ViewsOracle,
    ),
    "serial": Entry(
        "at SERIALIZABLE some serial order of the committed transactions gives the same results",
        serial.SerialOracle,
    ),
    "crash": Entry("the server neither dies nor breaks its protocol nor fails inside", crash.CrashOracle),
}


def default_oracles(dbms: str) -> tuple[str, ...]:
    """What judges fastest, and alone: our own evaluator where it knows the SQL, else the DBMS itself."""
    return ("solver",) if evaluating.knows(dbms) else ("views", "serial")


def make_oracles(names: Iterable[str], target: Target) -> list[Oracle]:
    """Oracles for a target, in the order named; refuses names that are not known."""
    return [ORACLES[name].make(target) for name in check_names(names)]


def judge_all(judges: Iterable[Oracle], history: History) -> tuple[Verdict, ...]:
    """The verdicts of those that have a say."""
    return tuple(verdict for judge in judges if (verdict := judge.judge(history)) is not None)


def check_names(names: Iterable[str]) -> list[str]:
    """The names, each once; `none` stands for no oracle. Refuses names that are not known."""
    wanted = list(dict.fromkeys(names))
    if wanted == ["none"]:
        return []
    for name in wanted:
        if name not in ORACLES:
            raise UsageError(f"unknown oracle {name!r}; known are {', '.join(ORACLES)}, or none")
    return wanted
