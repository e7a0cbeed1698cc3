"""Orders of transactions that are no dependencies: in a session, and in time (Adya's start-dependencies)."""

from collections.abc import Iterable, Iterator
from itertools import pairwise

from acidtest.graph.order import committed
from acidtest.model import Dependency, DependencyKind, Trace
from acidtest.model.trace import TxTrace


def session_order(trace: Trace) -> list[Dependency]:
    """From each committed transaction to the next one of its session."""
    known = committed(trace)
    sessions: dict[str, list[TxTrace]] = {}
    for one in trace.transactions:
        if one.id in known:
            sessions.setdefault(one.session, []).append(one)
    return [
        _order(DependencyKind.SESSION, one, other)
        for own in sessions.values()
        for one, other in pairwise(own)
    ]


def time_order(trace: Trace) -> list[Dependency]:
    """From each committed transaction to those that surely began after it had ended.

    Only what does not follow from others is told, so there are few: about as many as ran side by side.
    """
    known = committed(trace)
    dated = [one for one in trace.transactions if one.id in known and one.began and one.ended]
    return list(_sweep(dated))


def _sweep(transactions: list[TxTrace]) -> Iterator[Dependency]:
    """Along the time: `latest` are the transactions that have ended, and none after them that began later."""
    begins = [(one.began.earliest, 0, one) for one in transactions if one.began]
    ends = [(one.ended.latest, 1, one) for one in transactions if one.ended]
    latest: list[TxTrace] = []
    for _, is_end, one in sorted([*begins, *ends], key=lambda event: event[:2]):
        if is_end:
            latest = [*(other for other in latest if not _is_before(other, one)), one]
        else:
            yield from (_order(DependencyKind.REAL_TIME, other, one) for other in latest)


def _is_before(one: TxTrace, other: TxTrace) -> bool:
    return one.ended is not None and other.began is not None and one.ended.is_before(other.began)


def _order(kind: DependencyKind, one: TxTrace, other: TxTrace) -> Dependency:
    return Dependency(kind, one.id, other.id, None, None, None)


def interference(trace: Trace, edges: Iterable[Dependency]) -> Iterator[Dependency]:
    """G-SIa: a transaction depends on one that surely committed when it had already begun."""
    transactions = {one.id: one for one in trace.transactions}
    for edge in edges:
        ended, began = transactions[edge.source].ended, transactions[edge.target].began
        if not edge.kind.is_anti and ended is not None and began is not None and began.is_before(ended):
            yield edge
