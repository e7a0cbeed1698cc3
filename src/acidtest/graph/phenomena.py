"""Which phenomena a trace shows, each with its witness: a cycle of dependencies, or a read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from acidtest.graph.cycles import Pattern, inside, shortest_cycle, strong_parts
from acidtest.graph.dependencies import all_dependencies, one_of_each
from acidtest.graph.labelled import labelled_cycles
from acidtest.graph.monotonic import non_monotonic
from acidtest.graph.orders import interference, session_order, time_order
from acidtest.graph.reads import of_reads
from acidtest.model import CycleWitness, Dependency, DependencyKind, Phenomenon, Trace, Variant


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A phenomenon that occurred, and its witness. Not `exact`: one of its dependencies is only likely."""

    phenomenon: Phenomenon
    witness: CycleWitness
    step: int | None
    """The step that completed it."""
    exact: bool = True
    variant: Variant = Variant.PLAIN


def phenomena(trace: Trace) -> list[Occurrence]:
    """The phenomena of a trace, the worst first, each once; exact witnesses are preferred.

    A variant is told only of a phenomenon that does not occur without it.
    """
    found: dict[tuple[Phenomenon, Variant], Occurrence] = {}
    for one in (*_of_reads(trace), *_of_cycles(trace)):
        key = (one.phenomenon, one.variant)
        before = found.get(key)
        if before is None or (one.exact and not before.exact):
            found[key] = one
    plain = {one for one, variant in found if variant is Variant.PLAIN}
    told = [one for one in found.values() if one.variant is Variant.PLAIN or one.phenomenon not in plain]
    return sorted(told, key=lambda one: (list(Phenomenon).index(one.phenomenon), one.variant.value))


def _of_reads(trace: Trace) -> Iterator[Occurrence]:
    for phenomenon, dependency in of_reads(trace):
        yield _occurrence(trace, phenomenon, [dependency])


def _occurrence(
    trace: Trace, phenomenon: Phenomenon, cycle: Sequence[Dependency], variant: Variant = Variant.PLAIN
) -> Occurrence:
    involved = {one for edge in cycle for one in (edge.source, edge.target)}
    sessions = tuple((one.id, one.session) for one in trace.transactions if one.id in involved)
    steps = [step for edge in cycle for step in (edge.source_step, edge.target_step) if step is not None]
    exact = all(edge.exact for edge in cycle)
    return Occurrence(
        phenomenon, CycleWitness(tuple(cycle), sessions), max(steps, default=None), exact, variant
    )


# -- cycles

_FLOW = frozenset({DependencyKind.WW, DependencyKind.WR, DependencyKind.WR_PREDICATE})
_ITEM = frozenset({DependencyKind.RW})
_PREDICATE = frozenset({DependencyKind.RW_PREDICATE})
_ANTI = _ITEM | _PREDICATE
_WRITES = frozenset({DependencyKind.WW})
_SESSION = frozenset({DependencyKind.SESSION})
_TIME = frozenset({DependencyKind.REAL_TIME})

PATTERNS: Mapping[Phenomenon, Pattern] = {
    Phenomenon.G0: Pattern(_WRITES, _WRITES),
    Phenomenon.G1C: Pattern(_FLOW - _WRITES, _FLOW),
    Phenomenon.G_SINGLE: Pattern(_ANTI, _FLOW, antis=1),
    Phenomenon.G_NONADJACENT: Pattern(_ANTI, _FLOW | _ANTI, antis=2, apart=True),
    Phenomenon.G2_ITEM: Pattern(_ITEM, _FLOW | _ITEM, antis=2),
    Phenomenon.G2: Pattern(_PREDICATE, _FLOW | _ANTI, antis=2),
}
"""Adya's cycles. G2-item and G2 have another anti-dependency, because with a single one they are G-single."""

MISSED_EFFECTS = Pattern(_ANTI, _FLOW | _TIME, antis=1, needs=_TIME)
"""G-SIb where the order of time is needed; else it is G-single, whose variant in real time this is."""


def _of_cycles(trace: Trace) -> Iterator[Occurrence]:
    evidence = all_dependencies(trace)
    edges = one_of_each(evidence)
    yield from (_occurrence(trace, Phenomenon.G_SIA, [one]) for one in interference(trace, evidence))
    ordered = [*edges, *session_order(trace), *time_order(trace)]
    parts = strong_parts(ordered)
    if not parts:
        return
    for exact in (True, False):
        for part in parts:
            own = [one for one in inside(ordered, part) if one.exact or not exact]
            for phenomenon, variant, cycle in _cycles(own):
                yield _occurrence(trace, phenomenon, cycle, variant)
            all_of_it = [one for one in inside(evidence, part) if one.exact or not exact]
            for phenomenon, cycle in labelled_cycles(trace, all_of_it):
                yield _occurrence(trace, phenomenon, cycle)
            for cycle in non_monotonic(all_of_it):
                yield _occurrence(trace, Phenomenon.G_MONOTONIC, cycle)
        if all(one.exact for one in edges):
            return


def _cycles(edges: Sequence[Dependency]) -> Iterator[tuple[Phenomenon, Variant, Sequence[Dependency]]]:
    """One shortest cycle of each kind; with the orders of sessions and of time where there is no other."""
    plain: set[Phenomenon] = set()
    for phenomenon, pattern in PATTERNS.items():
        for variant, tried in _variants(phenomenon, pattern):
            if (cycle := shortest_cycle(edges, tried)) is not None:
                yield phenomenon, variant, cycle
                plain |= {phenomenon} if variant is Variant.PLAIN else set()
                break
    if Phenomenon.G_SINGLE not in plain and (cycle := shortest_cycle(edges, MISSED_EFFECTS)) is not None:
        yield Phenomenon.G_SIB, Variant.PLAIN, cycle


def _variants(phenomenon: Phenomenon, pattern: Pattern) -> Iterator[tuple[Variant, Pattern]]:
    yield Variant.PLAIN, pattern
    yield Variant.SESSION, _with(pattern, _SESSION, _SESSION)
    if phenomenon is not Phenomenon.G_SINGLE:
        yield Variant.REAL_TIME, _with(pattern, _SESSION | _TIME, _TIME)


def _with(pattern: Pattern, orders: frozenset[DependencyKind], needs: frozenset[DependencyKind]) -> Pattern:
    return Pattern(pattern.first, pattern.rest | orders, pattern.antis, pattern.apart, needs)
