"""Isolation specs on a target: every permutation is run, judged, and compared with what was recorded."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from acidtest.casefile.isolation import (
    Difference,
    Permutation,
    Recorded,
    compare,
    find_recorded,
    load_recorded,
    load_spec,
    permutations,
)
from acidtest.errors import TargetFailedError, UsageError
from acidtest.execute import Executor
from acidtest.model import Case, History, Judgement, Level, Verdict

SUFFIX = ".spec"
DBMS = "postgres"
"""The only one that such specs are written for."""

DATABASE = "isolation_regression"
"""What the suite's database is called. Ours has a name of its own, so what names that one cannot be run."""

Judge = Callable[[History], Sequence[Verdict]]


@dataclass(frozen=True, slots=True)
class SpecCase:
    """A permutation and what was recorded of it, once for each alternative output."""

    permutation: Permutation
    recorded: tuple[Recorded, ...] = ()

    @property
    def case(self) -> Case:
        return self.permutation.case

    def differences(self, history: History) -> tuple[Difference, ...] | None:
        """Where the run differs from the recorded output that is nearest to it; None if there is none."""
        found = [
            compare(self.permutation, history, one.permutations[self.permutation.number - 1])
            for one in self.recorded
        ]
        return min(found, key=len) if found else None


class Result(StrEnum):
    """What a permutation came to."""

    AGREES = "agrees"
    DIFFERS = "differs"
    RAN = "ran"  # there is no recorded output to compare with
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class Ran:
    """One permutation after its run. `why` says why it was not run."""

    spec: str
    number: int
    steps: tuple[str, ...]
    result: Result
    differences: tuple[Difference, ...] = ()
    why: str = ""
    verdicts: tuple[Verdict, ...] = ()
    server_failed: bool = False

    @property
    def judgement(self) -> Judgement | None:
        """What the oracles say together: a violation of one, else unknown if none but `crash` passed it; None
        if nobody judged."""
        if not self.verdicts:
            return None
        if any(one.judgement is Judgement.VIOLATION for one in self.verdicts):
            return Judgement.VIOLATION
        decided = any(one.judgement is Judgement.PASS and one.oracle != "crash" for one in self.verdicts)
        return Judgement.PASS if decided else Judgement.UNKNOWN


def spec_files(folder: Path) -> list[Path]:
    """The specs of a folder, or of its folder `specs`."""
    for place in (folder, folder / "specs"):
        if found := sorted(place.glob(f"*{SUFFIX}")):
            return found
    raise UsageError(f"{folder} holds no isolation specs (*{SUFFIX})")


def load_spec_cases(path: Path, where: Path | None) -> tuple[SpecCase, ...]:
    """The permutations of a spec; `where` says where recorded outputs are (see `find_recorded`)."""
    spec = load_spec(path)
    orders = tuple(permutations(spec))
    recorded = tuple(load_recorded(one, spec, orders) for one in find_recorded(path, where))
    return tuple(SpecCase(one, recorded) for one in orders)


def run_specs(
    executor: Executor, cases: Sequence[SpecCase], level: Level | None, judge: Judge
) -> Iterator[Ran]:
    """Run permutations one after the other. What the target cannot run is said and left out."""
    for one in cases:
        yield _run(executor, one, level, judge)


def _run(executor: Executor, one: SpecCase, level: Level | None, judge: Judge) -> Ran:
    permutation = one.permutation
    about = (permutation.spec.name, permutation.number, permutation.names)
    if any(DATABASE in text for text in permutation.spec.texts):
        return Ran(*about, Result.NOT_RUN, why=f"it names the database {DATABASE}, and ours has another name")
    try:
        history = executor.run(one.case.at_level(level), fresh=True)
    except UsageError as refused:
        return Ran(*about, Result.NOT_RUN, why=str(refused))
    except TargetFailedError as failed:
        return Ran(*about, Result.NOT_RUN, why=str(failed), server_failed=True)
    differences = one.differences(history)
    result = Result.RAN if differences is None else Result.DIFFERS if differences else Result.AGREES
    return Ran(
        *about, result, differences or (), verdicts=tuple(judge(history)), server_failed=history.server_died
    )


@dataclass(frozen=True, slots=True)
class Tally:
    """Permutations by what they came to."""

    permutations: int
    results: Counter[Result]
    judgements: Counter[Judgement]

    @classmethod
    def of(cls, ran: Sequence[Ran]) -> "Tally":
        judgements = Counter(one.judgement for one in ran if one.judgement is not None)
        return cls(len(ran), Counter(one.result for one in ran), judgements)
