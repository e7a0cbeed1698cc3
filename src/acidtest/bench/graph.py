"""`acidtest bench graph`: instrumented cases through the pipeline, and how many statements versions cost."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random

from acidtest.generate import profile_of
from acidtest.instrument import is_instrumented, probes_of
from acidtest.model import Judgement
from acidtest.pipeline import Pipeline, Trial
from acidtest.targets import Target

WARM_UP = 50


@dataclass(frozen=True, slots=True)
class GraphResult:
    """What was measured with one worker, cases of all levels in turn. Times are means of a case."""

    target: str
    version: str
    profile: str
    oracles: tuple[str, ...]
    cases: int
    instrumented: int
    """Cases that could carry versions."""
    judged_per_minute: float
    """Instrumented cases, as many as were judged."""
    round_trips: float
    """Statements that were sent / statements of the case without versions."""
    probes: int
    torn: int
    generate_ms: float
    execute_ms: float
    judge_ms: float
    undecided: int


def bench_graph(
    target: Target, oracles: Sequence[str], profile: str, cases: int, say: Callable[[str], object]
) -> GraphResult:
    """Run and judge instrumented cases at every level of the target."""
    say(f"instrumented cases, profile {profile}, {', '.join(oracles)}")
    trials: list[Trial] = []
    each = -(-cases // len(target.levels))
    with Pipeline(target, oracles, profile_of(profile), instrumented=1.0) as pipeline:
        for level in target.levels:
            examined = pipeline.examine(Random(f"bench {level}"), (level,), f"bench-{level.short}")
            trials += list(islice(examined, WARM_UP, WARM_UP + each))
    return _result(target, oracles, profile, trials)


def _result(target: Target, oracles: Sequence[str], profile: str, trials: Sequence[Trial]) -> GraphResult:
    examined = [
        (one, one.examined)
        for one in trials
        if one.examined is not None and is_instrumented(one.examined.history.schema)
    ]
    stages = {
        stage: sum(one.seconds[stage] for one, _ in examined) for stage in ("generate", "execute", "judge")
    }
    number = max(len(examined), 1)
    undecided = sum(one.judgement is Judgement.UNKNOWN for _, one in examined)
    found = [probes_of(one.history) for _, one in examined]
    sent = sum(len(one.history.records) for _, one in examined)
    probes = sum(one.count for one in found)
    return GraphResult(
        target=target.label,
        version=target.version,
        profile=profile,
        oracles=tuple(oracles),
        cases=len(trials),
        instrumented=len(examined),
        judged_per_minute=60 * (len(examined) - undecided) / max(sum(stages.values()), 1e-9),
        round_trips=sent / max(sent - probes, 1),
        probes=probes,
        torn=sum(len(one.torn) for one in found),
        generate_ms=1000 * stages["generate"] / number,
        execute_ms=1000 * stages["execute"] / number,
        judge_ms=1000 * stages["judge"] / number,
        undecided=undecided,
    )
