"""The flow on one target: generate -> schedule -> execute -> judge -> reduce -> report."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Self

from acidtest.errors import UsageError
from acidtest.examine import Examined, Examiner, OnDefect
from acidtest.execute import DiedLaterError
from acidtest.findings.finding import Finding
from acidtest.generate import Flavour, Generator, Profile, flavour_of
from acidtest.instrument import NotInstrumentableError, Server, instrument
from acidtest.investigation.investigate import Investigator
from acidtest.model import Case, History, Level
from acidtest.targets import Target


@dataclass(frozen=True, slots=True)
class Trial:
    """A generated case and what became of it; nothing was examined if the DBMS refused its set-up.

    `conflicting`: two of its transactions were made to meet. `seconds` by stage.
    """

    case: Case
    examined: Examined | None
    conflicting: bool
    seconds: Mapping[str, float]
    refusal: str = ""
    late: Examined | None = None
    """The case before this one, examined again: the server died of it after it had been told."""


@dataclass(frozen=True, slots=True)
class Instrumentation:
    """Which share of the schemas gets cases that show versions, on which server. What cannot carry versions
    stays plain."""

    share: float
    server: Server

    def of(self, case: Case) -> Case:
        """The case with versions, if it can have them."""
        try:
            return instrument(case, self.server)
        except NotInstrumentableError:
            return case


def make_cases(
    dice: Random,
    profile: Profile,
    flavour: Flavour,
    levels: tuple[Level, ...],
    name: str,
    instrumentation: Instrumentation | None = None,
) -> Iterator[tuple[Case, bool]]:
    """Cases without end, and whether two of their transactions were made to meet; `name` begins their ids.

    Whether they are instrumented is drawn by dice of its own, so the cases are the same ones either way; it
    stays as long as the tables do, because tables take long to build."""
    chooser = Random(f"{dice.getstate()}")
    generator = Generator(dice, profile, flavour, levels)
    tables: tuple[str, ...] = ()
    chosen = False
    for number, transactions in enumerate(generator.sets()):
        definitions = tuple(one.sql for one in transactions.setup if one.sql.startswith("CREATE"))
        if definitions != tables:
            tables, chosen = definitions, _is_chosen(chooser, instrumentation)
        for case in transactions.cases(dice, profile, f"{name}-{number}"):
            made = instrumentation.of(case) if chosen and instrumentation is not None else case
            yield made, bool(transactions.conflicts)


def _is_chosen(chooser: Random, instrumentation: Instrumentation | None) -> bool:
    return instrumentation is not None and chooser.random() < instrumentation.share


class Pipeline:
    """From dice to findings, on one target. Holds its sessions and scratch tables; close it."""

    def __init__(
        self,
        target: Target,
        oracles: Sequence[str],
        profile: Profile,
        on_defect: OnDefect | None = None,
        against: Target | None = None,
        instrumented: float = 0.0,
    ) -> None:
        self._target, self._profile = target, profile
        self._instrumentation = Instrumentation(instrumented, Server.of(target)) if instrumented else None
        self._examiner = Examiner(target, oracles, on_defect=on_defect, against=against)
        self._investigator = Investigator(self._examiner)

    def examine(self, dice: Random, levels: tuple[Level, ...], name: str, start: int = 0) -> Iterator[Trial]:
        """Cases without end, from the one at `start` on, each run and judged; `name` begins their ids."""
        watch = _StopWatch()
        flavour = flavour_of(self._target.dbms, self._target.version)
        cases = make_cases(dice, self._profile, flavour, levels, name, self._instrumentation)
        for case, conflicting in islice(cases, start, None):
            watch.lap("generate")
            late = None
            try:
                history, refusal = self._execute(case)
            except DiedLaterError as error:
                late = Examined(error.history, self._examiner.judge(error.history))
                history, refusal = self._execute(case)
            watch.lap("execute")
            examined = None if history is None else Examined(history, self._examiner.judge(history))
            watch.lap("judge")
            yield Trial(case, examined, conflicting, watch.laps, refusal, late)
            watch = _StopWatch()

    def _execute(self, case: Case) -> tuple[History | None, str]:
        try:
            return self._examiner.executor.run(case), ""
        except UsageError as refused:
            return None, str(refused)

    def investigate(self, suspect: Examined, seed: int, progress: Callable[[str], None]) -> Finding:
        """Re-run, reduce and tell what an examined case with a violation comes to."""
        return self._investigator.investigate(suspect, seed=seed, progress=progress)

    def shows_again(self, suspect: Examined) -> bool:
        """Whether a violation of a finding that is there shows again."""
        return self._investigator.shows_again(suspect)

    def close(self) -> None:
        """Give back sessions and scratch tables; the target stays open."""
        self._examiner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class _StopWatch:
    """How long each stage of one case took."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        """A stage ends here."""
        now = time.perf_counter()
        self.laps[stage], self._last = now - self._last, now
