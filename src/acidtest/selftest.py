"""Proof that the oracles work: planted faults must be noticed, and so must a level that was not really set.

A fault of the simulated target is *killed* by an oracle that finds a violation in some run with the fault, of
a kind that the fault shows as; the same runs without it must all be clean. A *downgrade* runs on a real
server at a level weaker than the one claimed: what the oracles should see is then there, with no code of ours
in the server.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from random import Random

from acidtest.casefile import load_case
from acidtest.corpus import anomalies
from acidtest.examine import Examiner
from acidtest.generate import SIMPLE, generate_cases
from acidtest.model import Case, Level, Verdict
from acidtest.simulated import BEHAVIOURS, Fault, case_file, faults_of, levels_of, spec_of
from acidtest.targets import Target
from acidtest.targets.resolve import open_target

SPEAKS = "mariadb"
"""The SQL that the simulated target understands."""

CLEAN = "none"
"""Stands for the simulated target without a fault."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Kill:
    """Which oracles noticed a fault of an engine, in how many of its runs.

    `noticed` counts violations of a kind that the fault can show as, `mistaken` those of any other kind.
    """

    target: str
    engine: str
    fault: str
    sentence: str
    runs: int
    noticed: dict[str, int]
    mistaken: dict[str, int]

    @property
    def killed_by(self) -> list[str]:
        return [oracle for oracle, times in self.noticed.items() if times]


def kill_table(
    engines: Sequence[str], oracles: Sequence[str], seed: int, random_cases: int, on_progress: Progress
) -> list[Kill]:
    """Run every fault's own case at its levels, and random cases; the last row of an engine has no fault."""
    trials: list[tuple[str, Fault | None]] = [
        (engine, fault) for engine in engines for fault in (*faults_of(engine), None)
    ]
    kills = []
    for done, (engine, fault) in enumerate(trials):
        if fault is None:
            kills.append(_try_clean(engine, oracles, seed, random_cases))
        else:
            kills.append(_try_fault(engine, fault, oracles, seed, random_cases))
        on_progress(done + 1, len(trials))
    return kills


def _try_fault(engine: str, fault: Fault, oracles: Sequence[str], seed: int, random_cases: int) -> Kill:
    levels = levels_of(fault, engine)
    own = load_case(case_file(fault, engine))
    cases = [own.at_level(level) for level in levels]
    cases += list(_random_cases(SPEAKS, levels, seed, random_cases))
    noticed, mistaken = _judge_all(engine, fault, cases, oracles)
    spec = spec_of(engine, fault)
    return Kill(spec, engine, fault.name, fault.sentence, len(cases), noticed, mistaken)


def _try_clean(engine: str, oracles: Sequence[str], seed: int, random_cases: int) -> Kill:
    """Every case of every fault without the fault: an oracle that notices something raises a false alarm."""
    cases = [
        load_case(case_file(fault, engine)).at_level(level)
        for fault in faults_of(engine)
        for level in levels_of(fault, engine)
    ]
    cases += list(_random_cases(SPEAKS, BEHAVIOURS[engine].levels, seed, random_cases))
    noticed, mistaken = _judge_all(engine, None, cases, oracles)
    sentence = "no fault: whatever is noticed is a false alarm"
    return Kill(spec_of(engine), engine, CLEAN, sentence, len(cases), noticed, mistaken)


def _judge_all(
    engine: str, fault: Fault | None, cases: Sequence[Case], oracles: Sequence[str]
) -> tuple[dict[str, int], dict[str, int]]:
    """How often each oracle found a violation: of a kind that the fault shows as, and of others."""
    noticed, mistaken = dict.fromkeys(oracles, 0), dict.fromkeys(oracles, 0)
    spec = spec_of(engine) if fault is None else spec_of(engine, fault)
    with (
        open_target(spec) as target,
        open_target(spec_of(engine)) as faultless,
        Examiner(target, oracles, against=faultless) as examiner,
    ):
        for case in cases:
            for verdict in _violations(examiner.examine(case, fresh=True).verdicts):
                right = fault is None or fault.shows_as(verdict.kind)
                (noticed if right else mistaken)[verdict.oracle] += 1
    return noticed, mistaken


def _violations(verdicts: Sequence[Verdict]) -> Iterator[Verdict]:
    return (verdict for verdict in verdicts if verdict.is_violation)


def _random_cases(dbms: str, levels: Sequence[Level], seed: int, count: int) -> Iterator[Case]:
    for number, level in enumerate(levels):
        cases = generate_cases(Random(f"{seed}/{number}"), SIMPLE, dbms, (level,))
        yield from islice(cases, count)


# -- downgrade


@dataclass(slots=True)
class Downgrade:
    """Runs at one level that were judged as if at a stronger one."""

    claimed: Level
    ran: Level
    cases: int = 0
    noticed: dict[str, int] = field(default_factory=dict)


def downgrades(
    target: Target, oracles: Sequence[str], seed: int, random_cases: int, on_progress: Progress
) -> list[Downgrade]:
    """Each pair of a claimed level and the next weaker one that the target has, on the same cases."""
    pairs = [
        Downgrade(claimed, ran, noticed=dict.fromkeys(oracles, 0))
        for i, claimed in enumerate(target.levels)
        for ran in target.levels[:i]
    ]
    cases = [*anomalies(), *_random_cases(target.dbms, target.levels[:1], seed, random_cases)]
    with Examiner(target, oracles) as examiner:
        for done, pair in enumerate(pairs):
            for case in cases:
                history = examiner.executor.run(case.at_level(pair.ran))
                claimed = replace(history, levels=dict.fromkeys(history.levels, pair.claimed))
                pair.cases += 1
                for verdict in _violations(examiner.judge(claimed)):
                    pair.noticed[verdict.oracle] += 1
            on_progress(done + 1, len(pairs))
    return pairs
