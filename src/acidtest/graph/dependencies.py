"""The direct dependencies between committed transactions, each with its evidence (Adya, section 4.4).

Predicate dependencies hold only where a version *changed the matches* of a condition (Adya, Liskov, O'Neil,
ICDE 2000), so they are exact. Whoever made the trace has found those versions.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise

from acidtest.graph.order import VersionOrder, committed
from acidtest.model import Dependency, DependencyKind, Trace
from acidtest.model.trace import PredicateRead, Read, TxTrace, Write


def dependencies(trace: Trace) -> list[Dependency]:
    """All direct dependencies; of several with the same ends and kind the first exact one."""
    return one_of_each(all_dependencies(trace))


def all_dependencies(trace: Trace) -> list[Dependency]:
    """All direct dependencies with all their evidence: several may have the same ends and kind."""
    known = committed(trace)
    return [
        one for one in _all(trace) if one.source != one.target and one.source in known and one.target in known
    ]


def one_of_each(edges: Iterable[Dependency]) -> list[Dependency]:
    """Of several dependencies with the same ends and kind the first exact one."""
    found: dict[tuple[DependencyKind, int, int], Dependency] = {}
    for one in edges:
        key = (one.kind, one.source, one.target)
        before = found.get(key)
        if before is None or (one.exact and not before.exact):
            found[key] = one
    return list(found.values())


def _all(trace: Trace) -> Iterator[Dependency]:
    for versions in trace.order.values():
        for older, newer in pairwise(versions):
            yield Dependency(DependencyKind.WW, older.writer, newer.writer, newer, older.step, newer.step)
    order = VersionOrder(trace)
    for transaction in trace.transactions:
        for operation in transaction.operations:
            match operation:
                case Read():
                    yield from _of_read(order, transaction, operation)
                case PredicateRead():
                    yield from _of_predicate(transaction, operation)
                case Write():
                    pass  # the order of versions has it


def _of_read(order: VersionOrder, reader: TxTrace, read: Read) -> Iterator[Dependency]:
    version = read.version
    yield Dependency(
        DependencyKind.WR, version.writer, reader.id, version, version.step, read.step, read.exact
    )
    following = order.after(version)
    if following is not None and version.writer != reader.id:  # what replaced one's own version is a ww
        yield Dependency(
            DependencyKind.RW, reader.id, following.writer, following, read.step, following.step, read.exact
        )


def _of_predicate(reader: TxTrace, read: PredicateRead) -> Iterator[Dependency]:
    for one in read.made_by:
        yield Dependency(
            DependencyKind.WR_PREDICATE, one.writer, reader.id, one, one.step, read.step, read.exact
        )
    for one in read.changed_by:
        yield Dependency(
            DependencyKind.RW_PREDICATE, reader.id, one.writer, one, read.step, one.step, read.exact
        )
