"""Cycles of which every dependency is about the same object: lost updates (P4), and Adya's G-cursor."""

from collections.abc import Iterator, Sequence

from acidtest.graph.cycles import shortest_path
from acidtest.model import Dependency, DependencyKind, Phenomenon, Trace
from acidtest.model.trace import ObjectId

Labelled = tuple[Phenomenon, tuple[Dependency, ...]]


def labelled_cycles(trace: Trace, edges: Sequence[Dependency]) -> Iterator[Labelled]:
    """A transaction writes an object that it has read, and another has replaced what it read.

    P4 if it replaces what that other one wrote, so that two transactions are enough; G-cursor in any case.
    """
    writes: dict[ObjectId, list[Dependency]] = {}
    for edge in edges:
        if edge.kind is DependencyKind.WW and edge.version is not None:
            writes.setdefault(edge.version.object, []).append(edge)
    seen: set[Phenomenon] = set()
    for anti in edges:
        if anti.kind is not DependencyKind.RW or anti.version is None:
            continue
        own = writes.get(anti.version.object, ())
        path = shortest_path(own, anti.target, {anti.source}) if own else None
        if path is None or not _comes_later(trace, anti, path):
            continue
        for phenomenon in (Phenomenon.P4, Phenomenon.G_CURSOR) if len(path) == 1 else (Phenomenon.G_CURSOR,):
            if phenomenon not in seen:
                seen.add(phenomenon)
                yield phenomenon, (anti, *path)


def _comes_later(trace: Trace, anti: Dependency, path: Sequence[Dependency]) -> bool:
    """Whether what the reader wrote came after the version by which its own was replaced."""
    assert anti.version is not None
    versions = trace.order[anti.version.object]
    last = path[-1].version
    assert last is not None
    return versions.index(anti.version) < versions.index(last)
