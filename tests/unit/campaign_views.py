"""Moments of campaigns for tests: one in its middle, and the first one of all."""

from collections import Counter

from acidtest.campaign.statistics import Statistics
from acidtest.campaign.view import FoundLine, View, WorkerLine

MARKUP = "[bold red]wrong[/bold red] rows at SELECT '[/]' \x1b[31mFROM t\nWHERE a"
"""What a case may hold: rich's markup, a terminal's escape, a line break."""


def found(number: int, *, known: str = "", flaky: str = "", seconds: float = 41.0) -> FoundLine:
    return FoundLine(
        number,
        f"{number:08x}",
        "mariadb@10.11",
        "RR",
        MARKUP,
        known,
        flaky,
        seconds,
        f"out/findings/{number}",
    )


def middle() -> View:
    """A campaign after 70 seconds."""
    statistics = Statistics(
        cases=12_345,
        judged=12_270,
        undecided=Counter({"foreign keys": 20, "the evaluator does not know [b]JSON[/b]": 50, "SET": 5}),
        conflicting=11_000,
        blocked=5_061,
        deadlocks=120,
        statements=123_456,
        rejected=300,
        violations=19,
        oracles=Counter(
            {"solver pass": 12_250, "solver violation": 19, "solver unknown": 76, "crash pass": 12_345}
        ),
        seconds={"execute": 75.0, "judge": 20.0, "generate": 5.0},
    )
    return View(
        targets=("mariadb@10.11 10.11.19-MariaDB",),
        levels=("RC", "RR"),
        oracles=("solver", "views", "crash"),
        profile="simple",
        seed=4_711,
        folder="out",
        elapsed_s=70.0,
        session_s=70.0,
        session_cases=12_345,
        limit_cases=None,
        limit_s=600.0,
        statistics=statistics,
        found=(found(1, known="MDEV-26642", seconds=10.0), found(2, flaky="3 of 10", seconds=40.0)),
        new=1,
        known=1,
        duplicates=14,
        unreduced=2,
        workers=(WorkerLine(1, "mariadb@10.11 RR, case 1,240", 6_000), WorkerLine(2, "reducing", 6_345)),
    )


def first() -> View:
    """Nothing has happened yet, and no server has told its version."""
    return View(
        targets=("mariadb@10.11",),
        levels=("RR",),
        oracles=("solver",),
        profile="simple",
        seed=1,
        folder="out",
        elapsed_s=0.0,
        session_s=0.0,
        session_cases=0,
        limit_cases=100,
        limit_s=None,
        statistics=Statistics(),
        found=(),
        new=0,
        known=0,
        duplicates=0,
        unreduced=0,
        workers=(),
    )
