"""G-monotonic (Adya, section 4.2.3): a transaction saw something, and then what was before it.

The transaction is unfolded into its operations. A later read missed what a transaction wrote on which an
earlier operation depends, so its view of the database went back.
"""

from collections.abc import Iterator, Sequence

from acidtest.graph.cycles import shortest_path
from acidtest.model import Dependency


def non_monotonic(edges: Sequence[Dependency]) -> Iterator[tuple[Dependency, ...]]:
    """One such cycle of each pair of a reader and a transaction that it missed.

    Steps of one statement happen together, so what a single statement saw is never held against it.
    """
    flow = [one for one in edges if not one.kind.is_anti]
    latest: dict[tuple[int, int], Dependency] = {}
    for one in edges:
        before = latest.get((one.source, one.target))
        if one.kind.is_anti and (before is None or _step(one) > _step(before)):
            latest[one.source, one.target] = one
    for (reader, missed), anti in latest.items():
        others = [one for one in flow if reader not in (one.source, one.target)]
        seen = {
            one.source: one
            for one in flow
            if one.target == reader and one.target_step is not None and one.target_step < _step(anti)
        }
        path = shortest_path(others, missed, seen) if seen else None
        if path is not None:
            yield (anti, *path, seen[path[-1].target if path else missed])


def _step(anti: Dependency) -> int:
    return -1 if anti.source_step is None else anti.source_step
