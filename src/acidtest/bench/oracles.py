"""`acidtest bench oracles`: what the default oracles cost against `solver` alone, at each level, in one run.

Both sides take cases through the whole pipeline on the same server and take turns, so that a busy machine
slows both. Each side has a seed of its own, so that none profits from what the other has parsed; then they
change seeds, so that both have had the same cases.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from statistics import median
from time import perf_counter, process_time

from acidtest.generate import profile_of
from acidtest.model import Level
from acidtest.pipeline import Pipeline, Trial
from acidtest.targets import Target

CASES_PER_TURN = 20
WARM_UP = 20

Cost = tuple[float, float]
"""Seconds by the clock, and of this process."""


@dataclass(frozen=True, slots=True)
class OraclesResult:
    """What was measured at one level. Ratios are throughputs: above 1, the second side is faster."""

    target: str
    version: str
    level: str
    profile: str
    cases: int
    """Of each side."""
    alone: str
    together: str
    alone_ms: float
    together_ms: float
    ratio: float
    """Of all the time by the clock."""
    median_ratio: float
    """Of the turns, by the clock."""
    cpu_ratio: float
    """Of all the time of this process; what the server takes is left out."""


def bench_oracles(
    target: Target,
    alone: Sequence[str],
    together: Sequence[str],
    profile: str,
    cases: int,
    say: Callable[[str], object],
) -> list[OraclesResult]:
    """Measure at every level of an open target; `cases` are those of each side."""
    results = []
    for level in target.levels:
        say(level.short)
        results.append(_measure(target, level, alone, together, profile, cases))
    return results


def _measure(
    target: Target, level: Level, alone: Sequence[str], together: Sequence[str], profile: str, cases: int
) -> OraclesResult:
    costs: tuple[list[Cost], list[Cost]] = ([], [])
    turns = max(1, cases // (2 * CASES_PER_TURN))
    generator = profile_of(profile)
    with Pipeline(target, alone, generator) as first, Pipeline(target, together, generator) as second:
        for seeds in ((1, 2), (2, 1)):
            streams = [_stream(one, seed, level) for one, seed in zip((first, second), seeds, strict=True)]
            for turn in range(turns):
                for side in (0, 1) if turn % 2 else (1, 0):
                    costs[side].append(_turn(streams[side]))
    done = 2 * turns * CASES_PER_TURN
    clock = [sum(one for one, _ in side) for side in costs]
    cpu = [sum(one for _, one in side) for side in costs]
    return OraclesResult(
        target=target.label,
        version=target.version,
        level=level.short,
        profile=profile,
        cases=done,
        alone=", ".join(alone),
        together=", ".join(together),
        alone_ms=1000 * clock[0] / done,
        together_ms=1000 * clock[1] / done,
        ratio=clock[0] / clock[1],
        median_ratio=median(one[0] / other[0] for one, other in zip(*costs, strict=True)),
        cpu_ratio=cpu[0] / cpu[1],
    )


def _stream(pipeline: Pipeline, seed: int, level: Level) -> Iterator[Trial]:
    trials = pipeline.examine(Random(f"{seed}/{level.short}"), (level,), f"bench-{seed}")
    for _ in islice(trials, WARM_UP):
        pass
    return trials


def _turn(trials: Iterator[Trial]) -> Cost:
    clock, cpu = perf_counter(), process_time()
    for _ in islice(trials, CASES_PER_TURN):
        pass
    return perf_counter() - clock, process_time() - cpu
