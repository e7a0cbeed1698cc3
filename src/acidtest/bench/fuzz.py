"""`acidtest bench fuzz`: generated cases through the pipeline, with one worker process and with several.

What a violation costs is left out: how many there are depends on the DBMS. Now and then a case in which
nobody waited is replayed by the bare driver in the same process, so that the ratio is one of equal
circumstances. One that waited cannot be: who gets a lock, or falls victim to a deadlock, may be another.
"""

import os
import resource
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.synchronize import Barrier
from random import Random
from statistics import median
from threading import BrokenBarrierError

from acidtest.bench.execute import Bare, time_of
from acidtest.campaign.crew import core_for
from acidtest.errors import TargetFailedError
from acidtest.generate import profile_of
from acidtest.model import Judgement
from acidtest.pipeline import Pipeline
from acidtest.targets.resolve import open_target

BARE_EVERY = 10
WARM_UP = 200
CLOSING_S = 20.0
_PROCESSES = get_context("spawn")


@dataclass(frozen=True, slots=True)
class FuzzResult:
    """What was measured with a number of workers. Times are means of a case and of a worker."""

    target: str
    version: str
    profile: str
    oracle: str
    workers: int
    cases: int
    judged_per_minute: float
    speedup: float
    """Against one worker in the same run."""
    ratio: float
    """Median of: wall time of a case in which nobody waits / the bare driver with its statements."""
    generate_ms: float
    execute_ms: float
    judge_ms: float
    undecided: int
    memory_growth_mb: float
    """Of a worker, from the end of the warm-up on."""


@dataclass(frozen=True, slots=True)
class _Share:
    """What one worker measured."""

    version: str
    stages: dict[str, float]
    ratios: list[float]
    """Of those cases that the bare driver ran, too."""
    undecided: int
    memory_growth_mb: float


def bench_fuzz(
    spec: str, profile: str, oracle: str, cases: int, workers: Sequence[int], say: Callable[[str], object]
) -> list[FuzzResult]:
    """Measure with each number of workers; `cases` are a worker's."""
    results: list[FuzzResult] = []
    for number in workers:
        say(f"{number} worker{'s' if number > 1 else ''}")
        shares = _work(spec, profile, oracle, cases, number)
        results.append(_result(spec, profile, oracle, cases, shares, results[0] if results else None))
    return results


def _work(spec: str, profile: str, oracle: str, cases: int, number: int) -> list[_Share]:
    barrier = _PROCESSES.Barrier(number)
    pipes = [_PROCESSES.Pipe(duplex=False) for _ in range(number)]
    processes = [
        _PROCESSES.Process(
            target=_worker,
            args=(theirs, barrier, spec, profile, oracle, cases, seed, core_for(seed + 1, number)),
        )
        for seed, (_ours, theirs) in enumerate(pipes)
    ]
    for process, (_ours, theirs) in zip(processes, pipes, strict=True):
        process.start()
        theirs.close()
    try:
        return _told([ours for ours, _theirs in pipes])
    except EOFError:
        barrier.abort()  # the others may wait there for the one that died
        raise TargetFailedError(f"a worker on {spec} died while it was measured") from None
    finally:
        for process in processes:
            process.join(CLOSING_S)  # it gives its server back
            process.terminate()
            process.join()


def _told(pipes: Sequence[Connection]) -> list[_Share]:
    """What the workers measured; `EOFError` as soon as one of them has died."""
    shares: dict[Connection, _Share] = {}
    while waiting := [pipe for pipe in pipes if pipe not in shares]:
        ready = wait(waiting)
        shares.update((pipe, pipe.recv()) for pipe in waiting if pipe in ready)
    return [shares[pipe] for pipe in pipes]


def _worker(
    pipe: Connection,
    barrier: Barrier,
    spec: str,
    profile: str,
    oracle: str,
    cases: int,
    seed: int,
    core: int | None,
) -> None:
    if core is not None:
        os.sched_setaffinity(0, {core})
    with open_target(spec) as target, Pipeline(target, [oracle], profile_of(profile)) as pipeline:
        examined = pipeline.examine(Random(seed), (target.default_level,), f"bench-{seed}")
        for _ in islice(examined, WARM_UP):
            pass
        stages = dict.fromkeys(("generate", "execute", "judge"), 0.0)
        ratios: list[float] = []
        undecided = compared = 0
        memory = _resident_mb()
        try:
            barrier.wait()
        except BrokenBarrierError:
            return  # another worker died
        for number, case in enumerate(islice(examined, cases)):
            for stage, spent in case.seconds.items():
                stages[stage] += spent
            undecided += case.examined is not None and case.examined.judgement is Judgement.UNKNOWN
            history = None if case.examined is None else case.examined.history
            due = number // BARE_EVERY > compared
            if due and history is not None and not any(record.waited for record in history.records):
                compared = number // BARE_EVERY
                bare = Bare(target, history)
                ratios.append(sum(case.seconds.values()) / time_of(bare.run, 1))
                bare.close()
        grown = _resident_mb() - memory
        share = _Share(target.version, stages, ratios, undecided, grown)
        pipe.send(share)


def _resident_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _result(
    spec: str, profile: str, oracle: str, cases: int, shares: Sequence[_Share], single: FuzzResult | None
) -> FuzzResult:
    # The stages alone: what the bare driver took in between is not the pipeline's.
    per_minute = sum(60 * cases / sum(share.stages.values()) for share in shares)
    means = {
        stage: 1000 * sum(share.stages[stage] for share in shares) / (cases * len(shares))
        for stage in ("generate", "execute", "judge")
    }
    return FuzzResult(
        target=spec,
        version=shares[0].version,
        profile=profile,
        oracle=oracle,
        workers=len(shares),
        cases=cases * len(shares),
        judged_per_minute=per_minute,
        speedup=per_minute / single.judged_per_minute if single is not None else 1.0,
        ratio=median([ratio for share in shares for ratio in share.ratios] or [0.0]),
        generate_ms=means["generate"],
        execute_ms=means["execute"],
        judge_ms=means["judge"],
        undecided=sum(share.undecided for share in shares),
        memory_growth_mb=max(share.memory_growth_mb for share in shares),
    )
