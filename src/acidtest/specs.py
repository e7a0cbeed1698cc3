"""Isolation specs on a target: every permutation is run, judged, and compared with what was recorded."""

from collections import Counter
from collections.abc import Sequence
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
from acidtest.examine import Examined, Examiner
from acidtest.execute import DiedLaterError
from acidtest.model import Case, History, Judgement, Level, Verdict

SUFFIX = ".spec"
DBMS = "postgres"
"""The only one that such specs are written for."""

DATABASE = "isolation_regression"
"""What the suite's database is called. Ours has a name of its own, so what names that one cannot be run."""


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
    judgement: Judgement | None = None
    """What the oracles say together; None if nobody judged."""
    server_failed: bool = False


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


def run_specs(examiner: Examiner, cases: Sequence[SpecCase], level: Level | None) -> list[Ran]:
    """Run permutations one after the other. What the target cannot run is said and left out."""
    ran: list[Ran] = []
    for one in cases:
        try:
            ran.append(_run(examiner, one, level))
        except DiedLaterError as late:
            ran[-1] = _examined(cases[len(ran) - 1], Examined(late.history, examiner.judge(late.history)))
            if examiner.target.is_alive():
                ran.append(_run(examiner, one, level))
        if ran[-1].server_failed and not examiner.target.is_alive():
            break
    if (history := examiner.executor.late_death()) is not None:
        ran[-1] = _examined(cases[len(ran) - 1], Examined(history, examiner.judge(history)))
    died = f"the server died at permutation {len(ran)}"
    return [*ran, *(Ran(*_about(one), Result.NOT_RUN, why=died) for one in cases[len(ran) :])]


def _about(one: SpecCase) -> tuple[str, int, tuple[str, ...]]:
    return one.permutation.spec.name, one.permutation.number, one.permutation.names


def _run(examiner: Examiner, one: SpecCase, level: Level | None) -> Ran:
    if any(DATABASE in text for text in one.permutation.spec.texts):
        why = f"it names the database {DATABASE}, and ours has another name"
        return Ran(*_about(one), Result.NOT_RUN, why=why)
    try:
        return _examined(one, examiner.examine(one.case.at_level(level), fresh=True))
    except DiedLaterError:
        raise
    except UsageError as refused:
        return Ran(*_about(one), Result.NOT_RUN, why=str(refused))
    except TargetFailedError as failed:
        return Ran(*_about(one), Result.NOT_RUN, why=str(failed), server_failed=True)


def _examined(one: SpecCase, run: Examined) -> Ran:
    differences = one.differences(run.history)
    return Ran(
        *_about(one),
        Result.RAN if differences is None else Result.DIFFERS if differences else Result.AGREES,
        differences or (),
        verdicts=run.verdicts,
        judgement=run.judgement if run.verdicts else None,
        server_failed=run.history.server_died,
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
