"""Phenomena that a single read shows: it saw what it must not, or another look showed something else."""

from collections.abc import Iterator

from acidtest.graph.order import key_of
from acidtest.model import Dependency, DependencyKind, Phenomenon, Trace
from acidtest.model.trace import (
    INITIAL_WRITER,
    Fate,
    ObjectId,
    PredicateRead,
    Read,
    TraceVersion,
    TxTrace,
    Write,
)

Shown = tuple[Phenomenon, Dependency]


def of_reads(trace: Trace) -> Iterator[Shown]:
    """What the reads of committed transactions show, with the read itself as a dependency."""
    fates = {one.id: one.fate for one in trace.transactions}
    finals = _final_versions(trace)
    for transaction in trace.transactions:
        if transaction.fate is not Fate.COMMITTED:
            continue
        for operation in transaction.operations:
            if isinstance(operation, Read) and _is_foreign(transaction, operation.version):
                for phenomenon in _of_version(operation, fates, finals):
                    yield phenomenon, _as_dependency(transaction, operation)
        yield from _repeated(transaction)
        yield from _own_unseen(transaction)


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


def _repeated(transaction: TxTrace) -> Iterator[Shown]:
    """A transaction that looked twice and saw something else the second time, by another's doing."""
    looks = [one for one in transaction.operations if isinstance(one, PredicateRead) and one.exact]
    for position, first in enumerate(looks):
        for second in looks[position + 1 :]:
            if first.table == second.table:
                yield from _changed(transaction, first, second)


def _changed(transaction: TxTrace, first: PredicateRead, second: PredicateRead) -> Iterator[Shown]:
    for one in first.matched & second.matched:
        before, after = first.seen[one], second.seen[one]
        if before != after and _is_foreign(transaction, after):
            yield Phenomenon.P2, _saw_another(transaction, first, second, after)
            break
    if first.condition != second.condition:
        return
    came = [second.seen[one] for one in second.matched - first.matched]
    left = [second.seen[one] for one in first.matched - second.matched if one in second.seen]
    new = [one for one in came if _is_foreign(transaction, one) and first.seen.get(one.object) != one]
    gone = [one for one in left if one.values is None and _is_foreign(transaction, one)]
    for version in (*new, *gone)[:1]:
        yield Phenomenon.P3, _saw_another(transaction, first, second, version)


def _saw_another(
    transaction: TxTrace, first: PredicateRead, second: PredicateRead, version: TraceVersion
) -> Dependency:
    return Dependency(DependencyKind.WR, version.writer, transaction.id, version, first.step, second.step)


def _own_unseen(transaction: TxTrace) -> Iterator[Shown]:
    """`internal`: a transaction has written an object, and a later look of its own shows another version."""
    if transaction.took_back:
        return  # a look may have shown what was taken back later
    written: dict[ObjectId, list[TraceVersion]] = {}
    for one in transaction.operations:
        if isinstance(one, Write):
            written.setdefault(one.version.object, []).append(one.version)
    for look in transaction.operations if written else ():
        if isinstance(look, PredicateRead):
            for name in (one for one in written if one.table == look.table):
                own = [one for one in written[name] if one.step is not None and one.step < look.step]
                newest = max(own, key=lambda one: one.step or 0, default=None)
                seen = look.seen.get(name)
                if newest is not None and not _is_right(newest, seen):
                    yield Phenomenon.INTERNAL, _missed(transaction, look, newest)


def _is_right(newest: TraceVersion, seen: TraceVersion | None) -> bool:
    """Whether a look shows the transaction's own newest version; a row that it deleted need not show."""
    return newest.values is None if seen is None else key_of(seen) == key_of(newest)


def _missed(transaction: TxTrace, look: PredicateRead, newest: TraceVersion) -> Dependency:
    return Dependency(
        DependencyKind.WR, transaction.id, transaction.id, newest, newest.step, look.step, look.exact
    )
