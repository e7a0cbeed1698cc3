"""Which phenomena a trace shows, each with its witness: a cycle of dependencies, or a read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from acidtest.graph.cycles import inside, shortest_cycle, shortest_path, strong_parts
from acidtest.graph.dependencies import dependencies
from acidtest.model import CycleWitness, Dependency, DependencyKind, Phenomenon, Trace
from acidtest.model.trace import INITIAL_WRITER, Fate, PredicateRead, Read, TraceVersion, TxTrace


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A phenomenon that occurred, and its witness. Not `exact`: one of its dependencies is only likely."""

    phenomenon: Phenomenon
    witness: CycleWitness
    step: int | None
    """The step that completed it."""
    exact: bool = True


def phenomena(trace: Trace) -> list[Occurrence]:
    """The phenomena of a trace, the worst first, each once; exact witnesses are preferred."""
    edges = dependencies(trace)
    found: dict[Phenomenon, Occurrence] = {}
    for one in (*_of_reads(trace), *_of_cycles(trace, edges)):
        before = found.get(one.phenomenon)
        if before is None or (one.exact and not before.exact):
            found[one.phenomenon] = one
    return sorted(found.values(), key=lambda one: list(Phenomenon).index(one.phenomenon))


def _occurrence(trace: Trace, phenomenon: Phenomenon, cycle: Sequence[Dependency]) -> Occurrence:
    involved = {one for edge in cycle for one in (edge.source, edge.target)}
    sessions = tuple((one.id, one.session) for one in trace.transactions if one.id in involved)
    steps = [step for edge in cycle for step in (edge.source_step, edge.target_step) if step is not None]
    exact = all(edge.exact for edge in cycle)
    return Occurrence(phenomenon, CycleWitness(tuple(cycle), sessions), max(steps, default=None), exact)


# -- cycles


def _of_cycles(trace: Trace, edges: Sequence[Dependency]) -> Iterator[Occurrence]:
    for exact in (True, False):
        chosen = [one for one in edges if one.exact or not exact]
        for part in strong_parts(chosen):
            for phenomenon, cycle in _cycles(inside(chosen, part)):
                yield _occurrence(trace, phenomenon, cycle)
        if all(one.exact for one in edges):
            return


def _cycles(edges: Sequence[Dependency]) -> Iterator[tuple[Phenomenon, Sequence[Dependency]]]:
    """One shortest cycle of each kind."""
    writes = [one for one in edges if one.kind is DependencyKind.WW]
    flow = [one for one in edges if not one.kind.is_anti]
    reads = [one for one in flow if one.kind is not DependencyKind.WW]
    items = [one for one in edges if one.kind is DependencyKind.RW]
    predicates = [one for one in edges if one.kind is DependencyKind.RW_PREDICATE]
    if (cycle := shortest_cycle(writes, writes)) is not None:
        yield Phenomenon.G0, cycle
    if (cycle := shortest_cycle(reads, flow)) is not None:
        yield Phenomenon.G1C, cycle
    if (cycle := shortest_cycle([*items, *predicates], flow)) is not None:
        yield Phenomenon.G_SINGLE, cycle
    if (cycle := _lost_update(items, writes)) is not None:
        yield Phenomenon.P4, cycle
    if (cycle := _several_anti(items, [*flow, *items])) is not None:
        yield Phenomenon.G2_ITEM, cycle
    if (cycle := _several_anti(predicates, list(edges))) is not None:
        yield Phenomenon.G2, cycle


def _lost_update(items: Sequence[Dependency], writes: Sequence[Dependency]) -> tuple[Dependency, ...] | None:
    """A transaction overwrites a version that it has not seen of an object that it has read before."""
    for anti in items:
        for write in writes:
            back = (write.source, write.target) == (anti.target, anti.source)
            if back and write.version.object == anti.version.object:
                return (anti, write)
    return None


def _several_anti(first: Sequence[Dependency], edges: Sequence[Dependency]) -> tuple[Dependency, ...] | None:
    """A shortest cycle through one of the first edges with another anti-dependency in the rest of it."""
    best: tuple[Dependency, ...] | None = None
    anti = [one for one in edges if one.kind.is_anti]
    for edge in first:
        for other in anti:
            if other is edge:
                continue
            cycle = _through_both(edge, other, edges)
            if cycle is not None and (best is None or len(cycle) < len(best)):
                best = cycle
    return best


def _through_both(
    edge: Dependency, other: Dependency, edges: Sequence[Dependency]
) -> tuple[Dependency, ...] | None:
    """A simple cycle through both edges; None if the shortest paths between them meet."""
    there = shortest_path(edges, edge.target, other.source)
    back = shortest_path(edges, other.target, edge.source)
    if there is None or back is None:
        return None
    cycle = (edge, *there, other, *back)
    sources = [one.source for one in cycle]
    return cycle if len(set(sources)) == len(sources) else None


# -- reads


def _of_reads(trace: Trace) -> Iterator[Occurrence]:
    fates = {one.id: one.fate for one in trace.transactions}
    finals = _final_versions(trace)
    for transaction in trace.transactions:
        if transaction.fate is not Fate.COMMITTED:
            continue
        for operation in transaction.operations:
            if isinstance(operation, Read) and _is_foreign(transaction, operation.version):
                for phenomenon in _of_version(operation, fates, finals):
                    yield _occurrence(trace, phenomenon, [_as_dependency(transaction, operation)])
        yield from _repeated(trace, transaction)


def _is_foreign(transaction: TxTrace, version: TraceVersion) -> bool:
    return version.writer not in (transaction.id, INITIAL_WRITER)


def _as_dependency(reader: TxTrace, read: Read) -> Dependency:
    version = read.version
    return Dependency(
        DependencyKind.WR, version.writer, reader.id, version, version.step, read.step, read.exact
    )


def _final_versions(trace: Trace) -> set[TraceVersion]:
    """The last version that each transaction installed of each object."""
    last = {(one.object, one.writer): one for versions in trace.order.values() for one in versions}
    return set(last.values())


def _of_version(read: Read, fates: dict[int, Fate], finals: set[TraceVersion]) -> Iterator[Phenomenon]:
    fate = fates.get(read.version.writer)
    if not read.committed:
        yield Phenomenon.P1
    if fate in (Fate.ABORTED, Fate.OPEN):
        yield Phenomenon.G1A
    elif fate is Fate.COMMITTED and read.version not in finals:
        yield Phenomenon.G1B


def _repeated(trace: Trace, transaction: TxTrace) -> Iterator[Occurrence]:
    """A transaction that looked twice and saw something else the second time, by another's doing."""
    looks = [one for one in transaction.operations if isinstance(one, PredicateRead) and one.exact]
    for position, first in enumerate(looks):
        for second in looks[position + 1 :]:
            if first.table == second.table:
                yield from _changed(trace, transaction, first, second)


def _changed(
    trace: Trace, transaction: TxTrace, first: PredicateRead, second: PredicateRead
) -> Iterator[Occurrence]:
    for one in first.matched & second.matched:
        before, after = first.seen[one], second.seen[one]
        if before != after and _is_foreign(transaction, after):
            yield _occurrence(trace, Phenomenon.P2, [_saw_another(transaction, first, second, after)])
            break
    if first.condition != second.condition:
        return
    came = [second.seen[one] for one in second.matched - first.matched]
    left = [second.seen[one] for one in first.matched - second.matched if one in second.seen]
    new = [one for one in came if _is_foreign(transaction, one) and first.seen.get(one.object) != one]
    gone = [one for one in left if one.values is None and _is_foreign(transaction, one)]
    for version in (*new, *gone)[:1]:
        yield _occurrence(trace, Phenomenon.P3, [_saw_another(transaction, first, second, version)])


def _saw_another(
    transaction: TxTrace, first: PredicateRead, second: PredicateRead, version: TraceVersion
) -> Dependency:
    return Dependency(DependencyKind.WR, version.writer, transaction.id, version, first.step, second.step)
