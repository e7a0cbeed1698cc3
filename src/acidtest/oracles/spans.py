"""When the transactions of a trace began and ended, as far as the run tells.

Places are positions among the events of the history. A statement took effect somewhere between its launch and
its completion. What counts as the beginning is when the claim says that the snapshot is taken. At a level
whose snapshots last for one statement it is no single moment: anywhere from the first statement to the last.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from acidtest.claims import Claim, Claims, SnapshotAt
from acidtest.model import Affected, EventKind, History, Record, Rows, Trace, TransactionState
from acidtest.model.trace import Span, TxTrace
from acidtest.sql.shape import Locking, Shape, Verb, shape_of


def with_spans(trace: Trace, history: History, claims: Claims) -> Trace:
    """The same trace with the beginnings and ends of its transactions."""
    times = _Times(history)
    return replace(trace, transactions=tuple(times.dated(one, claims) for one in trace.transactions))


class _Times:
    """Where every step stands among the events."""

    def __init__(self, history: History) -> None:
        self._spans: dict[int, Span] = {}
        launched: dict[int, int] = {}
        for place, event in enumerate(history.events):
            if event.kind is EventKind.LAUNCHED:
                launched[event.step] = place
            elif event.kind is EventKind.COMPLETED:
                self._spans[event.step] = Span(launched.get(event.step, place), place)
        self._sessions: dict[str, list[Record]] = {}
        for record in history.records:
            if record.step in self._spans:
                self._sessions.setdefault(record.session, []).append(record)

    def dated(self, transaction: TxTrace, claims: Claims) -> TxTrace:
        steps = [one.step for one in transaction.operations]
        if not steps:
            return transaction
        own = self._records(transaction.session, min(steps), max(steps))
        if not own:
            return transaction
        claim = claims.at(transaction.session, own[-1].step)
        return replace(transaction, began=self._began(own, claim), ended=self._spans[own[-1].step])

    def _records(self, session: str, first: int, last: int) -> Sequence[Record]:
        """The records of the transaction that these steps belong to, from its beginning to its end."""
        records = self._sessions.get(session, [])
        start = next((i for i, one in enumerate(records) if one.step == first), None)
        if start is None:
            return ()
        while start > 0 and records[start].before is not TransactionState.NONE:
            start -= 1
        end = start
        while end + 1 < len(records) and (
            records[end].step < last or records[end].after is not TransactionState.NONE
        ):
            end += 1
        return records[start : end + 1]

    def _began(self, own: Sequence[Record], claim: Claim) -> Span | None:
        match claim.snapshot:
            case SnapshotAt.BEGIN:
                return self._spans[own[0].step]
            case SnapshotAt.STATEMENT:
                return Span(self._spans[own[0].step].earliest, self._spans[own[-1].step].latest)
            case SnapshotAt.FIRST_STATEMENT:
                return self._first(own[1:] or own, claim, _works_on_rows)
            case SnapshotAt.FIRST_READ:
                # BEGIN may take one, too: WITH CONSISTENT SNAPSHOT.
                return self._first(own, claim, _surely_reads)

    def _first(
        self, own: Sequence[Record], claim: Claim, opens: Callable[[Record, Shape], bool]
    ) -> Span | None:
        """From the first of these statements to the first of which it is sure that it had a snapshot."""
        for record in own:
            shape = shape_of(record.sql, claim.grammar)
            if shape is not None and shape.reads and opens(record, shape):
                return Span(self._spans[own[0].step].earliest, self._spans[record.step].latest)
        return None


def _works_on_rows(record: Record, _shape: Shape) -> bool:
    return isinstance(record.outcome, Rows | Affected)


def _surely_reads(record: Record, shape: Shape) -> bool:
    """A read of InnoDB's whose condition cannot be met opens no snapshot, so rows must have come."""
    plain = shape.verb is Verb.READ and shape.locking is Locking.NONE and shape.plain
    return plain and isinstance(record.outcome, Rows) and bool(record.outcome.rows)
