"""TxCheck's dependencies between the statements of a trace, and the transactions' graph that they make.

Jiang et al., OSDI 2023, appendix A. Nodes are the statements of committed transactions; statements of one
transaction depend on each other, too. A row that misses a condition counts only where a version changes
that (`PredicateRead.meets`); where it is not known which do, every version that was looked at counts, as in
TxCheck, and the dependency is not exact.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from acidtest.graph.order import VersionOrder, committed
from acidtest.model import Dependency, DependencyKind, StatementDependency, StatementDependencyKind, Trace
from acidtest.model.trace import (
    INITIAL_WRITER,
    ObjectId,
    PredicateRead,
    Purpose,
    Read,
    TraceVersion,
    TxTrace,
)

_ITEM = {
    Purpose.ANSWER: (StatementDependencyKind.ITEM_READ, StatementDependencyKind.ITEM_ANTI),
    Purpose.CHOICE: (StatementDependencyKind.PREDICATE_WRITE, StatementDependencyKind.PREDICATE_WRITE),
    Purpose.VALUE: (StatementDependencyKind.VALUE_WRITE, StatementDependencyKind.VALUE_WRITE),
}
"""The kinds of dependency on who wrote a version that was seen, and of whoever replaced it."""
_PREDICATE = {
    **_ITEM,
    Purpose.ANSWER: (StatementDependencyKind.PREDICATE_READ, StatementDependencyKind.PREDICATE_ANTI),
}


def statement_dependencies(trace: Trace) -> list[StatementDependency]:
    """All direct dependencies between statements of committed transactions, in the order of their steps.

    Of several with the same ends and kind, the first exact one. Nothing depends on the set-up.
    """
    found: dict[tuple[StatementDependencyKind, int, int], StatementDependency] = {}
    for one in _Statements(trace).all():
        key = (one.kind, one.source, one.target)
        before = found.get(key)
        if before is None or (one.exact and not before.exact):
            found[key] = one
    return sorted(found.values(), key=lambda one: (one.source, one.target, one.kind.value))


def project(edges: Iterable[StatementDependency]) -> list[Dependency]:
    """What dependencies between statements come to between their transactions (TxCheck, section 4)."""
    found: dict[tuple[DependencyKind, int, int], Dependency] = {}
    for one in edges:
        if one.source_transaction == one.target_transaction:
            continue
        kind = _kind(one)
        edge = Dependency(
            kind,
            one.source_transaction,
            one.target_transaction,
            one.version,
            one.source,
            one.target,
            one.exact,
        )
        before = found.get((kind, edge.source, edge.target))
        if before is None or (edge.exact and not before.exact):
            found[kind, edge.source, edge.target] = edge
    return list(found.values())


_PROJECTED = {
    StatementDependencyKind.ITEM_READ: DependencyKind.WR,
    StatementDependencyKind.ITEM_WRITE: DependencyKind.WW,
    StatementDependencyKind.ITEM_ANTI: DependencyKind.RW,
    StatementDependencyKind.PREDICATE_READ: DependencyKind.WR_PREDICATE,
    StatementDependencyKind.PREDICATE_ANTI: DependencyKind.RW_PREDICATE,
}


def _kind(edge: StatementDependency) -> DependencyKind:
    """A write that looks is a read to Adya: of its version, or of what that replaced."""
    if edge.kind in _PROJECTED:
        return _PROJECTED[edge.kind]
    wrote = edge.version.step == edge.source
    return DependencyKind.WR_PREDICATE if wrote else DependencyKind.RW_PREDICATE


class _Statements:
    """Finds the dependencies; a class only because all of it looks at the same chains."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._committed = committed(trace)
        self._order = VersionOrder(trace)
        self._objects: dict[str, list[ObjectId]] = {}
        for name in trace.order:
            self._objects.setdefault(name.table, []).append(name)

    def all(self) -> Iterator[StatementDependency]:
        for versions in self._trace.order.values():
            for older, newer in pairwise(versions):
                yield from self._edge(
                    StatementDependencyKind.ITEM_WRITE,
                    (older.writer, older.step),
                    (newer.writer, newer.step),
                    newer,
                    True,
                )
        for transaction in self._trace.transactions:
            if transaction.id not in self._committed:
                continue
            for operation in transaction.operations:
                if isinstance(operation, Read):
                    yield from self._of_read(transaction, operation)
                elif isinstance(operation, PredicateRead):
                    yield from self._of_predicate(transaction, operation)

    def _of_read(self, reader: TxTrace, read: Read) -> Iterator[StatementDependency]:
        seen, missed = _ITEM[read.purpose]
        version = read.version
        following = self._order.after(version)
        if following is not None and following.step == read.step:
            return  # the statement replaced it itself: the order of versions has it
        own = (reader.id, read.step)
        yield from self._edge(seen, (version.writer, version.step), own, version, read.exact)
        if following is not None:
            yield from self._edge(missed, own, (following.writer, following.step), following, read.exact)

    def _of_predicate(self, reader: TxTrace, read: PredicateRead) -> Iterator[StatementDependency]:
        seen, missed = _PREDICATE[read.purpose]
        own = (reader.id, read.step)
        for version in read.made_by:
            yield from self._edge(seen, (version.writer, version.step), own, version, read.exact)
        for version in read.changed_by:
            yield from self._edge(missed, own, (version.writer, version.step), version, read.exact)
        for name in self._objects.get(read.table, ()):
            if name in read.matched:
                continue  # a read of its own
            seen_version = read.seen.get(name)
            place = -1 if seen_version is None else self._order.place(seen_version)
            if place is None:
                continue  # it was taken back again
            before, after = _around(self._trace.order[name], place, read.meets)
            exact = read.meets is not None
            if before is not None:
                yield from self._edge(seen, (before.writer, before.step), own, before, exact)
            if after is not None:
                yield from self._edge(missed, own, (after.writer, after.step), after, exact)

    def _edge(
        self,
        kind: StatementDependencyKind,
        source: tuple[int, int | None],
        target: tuple[int, int | None],
        version: TraceVersion,
        exact: bool,
    ) -> Iterator[StatementDependency]:
        (writer, first), (other, second) = source, target
        if first is None or second is None or first == second:
            return
        if {writer, other} - {INITIAL_WRITER} <= self._committed:
            yield StatementDependency(kind, first, second, writer, other, version, exact)


def _around(
    versions: Sequence[TraceVersion], place: int, meets: frozenset[TraceVersion] | None
) -> tuple[TraceVersion | None, TraceVersion | None]:
    """The versions between which a row that was not found has to stay: up to one at a place, and after."""
    if meets is None:
        later = versions[place + 1 : place + 2]
        return (versions[place] if place >= 0 else None), (later[0] if later else None)
    left = next((one for one in range(place, 0, -1) if versions[one - 1] in meets), None)
    come = next((one for one in versions[place + 1 :] if one in meets), None)
    return (None if left is None else versions[left]), come
