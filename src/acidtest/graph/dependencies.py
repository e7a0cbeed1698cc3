"""The direct dependencies between committed transactions, each with its evidence (Adya, section 4.4).

Predicate dependencies hold only where a version *changed the matches* of a condition (Adya, Liskov, O'Neil,
ICDE 2000), so they are exact. Whoever made the trace has found those versions.
"""

from collections.abc import Iterator
from itertools import pairwise

from acidtest.model import Dependency, DependencyKind, Trace
from acidtest.model.trace import Fate, PredicateRead, Read, TraceVersion, TxTrace, Write


def dependencies(trace: Trace) -> list[Dependency]:
    """All direct dependencies; of several with the same ends and kind the first exact one."""
    committed = {one.id for one in trace.transactions if one.fate is Fate.COMMITTED}
    found: dict[tuple[DependencyKind, int, int], Dependency] = {}
    for one in _all(trace):
        if one.source == one.target or one.source not in committed or one.target not in committed:
            continue
        key = (one.kind, one.source, one.target)
        before = found.get(key)
        if before is None or (one.exact and not before.exact):
            found[key] = one
    return list(found.values())


def _all(trace: Trace) -> Iterator[Dependency]:
    for versions in trace.order.values():
        for older, newer in pairwise(versions):
            yield Dependency(DependencyKind.WW, older.writer, newer.writer, newer, older.step, newer.step)
    for transaction in trace.transactions:
        for operation in transaction.operations:
            match operation:
                case Read():
                    yield from _of_read(trace, transaction, operation)
                case PredicateRead():
                    yield from _of_predicate(transaction, operation)
                case Write():
                    pass  # the order of versions has it


def _of_read(trace: Trace, reader: TxTrace, read: Read) -> Iterator[Dependency]:
    version = read.version
    yield Dependency(
        DependencyKind.WR, version.writer, reader.id, version, version.step, read.step, read.exact
    )
    following = _next(trace, version)
    if following is not None:
        yield Dependency(
            DependencyKind.RW, reader.id, following.writer, following, read.step, following.step, read.exact
        )


def _next(trace: Trace, version: TraceVersion) -> TraceVersion | None:
    """The version that replaced one, if that was installed at all."""
    versions = trace.order.get(version.object, ())
    for older, newer in pairwise(versions):
        if older == version:
            return newer
    return None


def _of_predicate(reader: TxTrace, read: PredicateRead) -> Iterator[Dependency]:
    for one in read.made_by:
        yield Dependency(
            DependencyKind.WR_PREDICATE, one.writer, reader.id, one, one.step, read.step, read.exact
        )
    for one in read.changed_by:
        yield Dependency(
            DependencyKind.RW_PREDICATE, reader.id, one.writer, one, read.step, one.step, read.exact
        )
