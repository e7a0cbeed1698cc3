"""Atomicity and durability (AGENDA, section 5): what is left when an operation stops half-way.

An operation is stopped right after each of its COMMITs, and its session is killed right before each. Then the
invariants of the user must still hold: acidtest cannot know what half an operation may leave.
"""

from collections.abc import Iterator, Sequence

from acidtest.app.bench import Bench
from acidtest.app.script import Cut, Script
from acidtest.model import TransactionState
from acidtest.model.application import Call, ForcedRun, Nature, Race, Reason, Remedy, Segment, Tried
from acidtest.sql import StatementKind, kind_of


def cuts_of(calls: Sequence[Call]) -> Iterator[Cut]:
    """The places at which one operation is to be cut."""
    for call in calls:
        kind = kind_of(call.sql)
        if kind is StatementKind.COMMIT:
            yield Cut(call.operation, call.index, before=True)
            yield Cut(call.operation, call.index, before=False)
        elif kind is StatementKind.WRITE and call.after is TransactionState.NONE:
            yield Cut(call.operation, call.index, before=False)  # it commits by itself


def run_cut(bench: Bench, cut: Cut, one_transaction: bool = False) -> ForcedRun:
    """One operation alone, cut at a place."""
    order = (Segment(cut.operation),)
    script = Script(order, bench.options.level, one_transaction=one_transaction, cut=cut)
    return bench.run(script, (cut.operation,))


def race_of(bench: Bench, cut: Cut, run: ForcedRun) -> Race:
    """An operation that leaves its data broken when it stops."""
    again = run_cut(bench, cut, one_transaction=True)
    detail = "the operation as one transaction"
    if again.hold_lost:
        remedy = Remedy("one transaction", detail, Tried.NOT_TRIED, why="it uses several connections")
    else:
        tried = Tried.FAILED if again.breaches else Tried.HELD
        remedy = Remedy("one transaction", detail, tried, 1)
    return Race(
        run=run,
        reasons=(Reason.INVARIANT,),
        differences=(),
        serials={},
        nature=Nature.SCOPE,
        remedies=(remedy,),
        replay=f"{cut.operation}{cut.index + 1}-{'kill' if cut.before else 'stop'}",
    )
