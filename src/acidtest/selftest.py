"""Proof that the oracles work: planted faults must be noticed, and so must a level that was not really set.

A fault of the simulated target is *killed* by an oracle that finds a violation in some run with the fault;
the same runs without it must all be clean. A *downgrade* runs on a real server at a level weaker than the
one claimed: what the oracles should see is then there, with no code of ours in the server.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from random import Random

from acidtest.casefile import load_case
from acidtest.corpus import anomalies
from acidtest.execute import Executor
from acidtest.generate import SIMPLE, generate_cases
from acidtest.model import Case, History, Judgement, Level
from acidtest.oracles.registry import Oracle
from acidtest.simulated import FAULTS, Fault, case_file
from acidtest.targets import Target
from acidtest.targets.resolve import open_target

SPEAKS = "mariadb"
"""The SQL that the simulated target understands."""

CLEAN = "none"
"""Stands for the simulated target without a fault."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Kill:
    """Which oracles noticed a fault, in how many of its runs."""

    fault: str
    sentence: str
    runs: int
    noticed: dict[str, int]

    @property
    def killed_by(self) -> list[str]:
        return [oracle for oracle, times in self.noticed.items() if times]


def kill_table(oracles: Sequence[str], seed: int, random_cases: int, on_progress: Progress) -> list[Kill]:
    """Run every fault's own case at its levels, and random cases; the last row has no fault."""
    kills = []
    for done, fault in enumerate(FAULTS):
        kills.append(_try_fault(fault, oracles, seed, random_cases))
        on_progress(done + 1, len(FAULTS) + 1)
    kills.append(_try_clean(oracles, seed, random_cases))
    on_progress(len(FAULTS) + 1, len(FAULTS) + 1)
    return kills


def _try_fault(fault: Fault, oracles: Sequence[str], seed: int, random_cases: int) -> Kill:
    own = load_case(case_file(fault))
    cases = [own.at_level(level) for level in fault.levels]
    cases += list(_random_cases(SPEAKS, fault.levels, seed, random_cases))
    return _judge_all(f"simulated@{fault.name}", fault.name, fault.sentence, cases, oracles)


def _try_clean(oracles: Sequence[str], seed: int, random_cases: int) -> Kill:
    """Every case of every fault without the fault: an oracle that notices something raises a false alarm."""
    cases = [load_case(case_file(fault)).at_level(level) for fault in FAULTS for level in fault.levels]
    cases += list(_random_cases(SPEAKS, tuple(Level), seed, random_cases))
    return _judge_all("simulated", CLEAN, "no fault: whatever is noticed is a false alarm", cases, oracles)


def _judge_all(spec: str, name: str, sentence: str, cases: Sequence[Case], oracles: Sequence[str]) -> Kill:
    noticed = dict.fromkeys(oracles, 0)
    with open_target(spec) as target, Executor(target) as executor:
        judges = make_oracles(oracles, target)
        for case in cases:
            for oracle in _noticing(judges, executor.run(case, fresh=True)):
                noticed[oracle] += 1
        for judge in judges:
            judge.close()
    return Kill(name, sentence, len(cases), noticed)


def _noticing(judges: Sequence[Oracle], history: History) -> Iterator[str]:
    for judge in judges:
        verdict = judge.judge(history)
        if verdict is not None and verdict.judgement is Judgement.VIOLATION:
            yield verdict.oracle


def _random_cases(dbms: str, levels: Sequence[Level], seed: int, count: int) -> Iterator[Case]:
    known = [level for level in levels if level is not Level.SNAPSHOT]
    for number, level in enumerate(known):
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
    with Executor(target) as executor:
        judges = make_oracles(oracles, target)
        for done, pair in enumerate(pairs):
            for case in cases:
                history = executor.run(case.at_level(pair.ran))
                claimed = replace(history, levels=dict.fromkeys(history.levels, pair.claimed))
                pair.cases += 1
                for oracle in _noticing(judges, claimed):
                    pair.noticed[oracle] += 1
            on_progress(done + 1, len(pairs))
        for judge in judges:
            judge.close()
    return pairs
