"""What the subqueries of a locking read see. Unless they lock rows themselves, they are plain reads:
https://dev.mysql.com/doc/refman/8.4/en/innodb-locking-reads.html"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from acidtest.claims import Claim, Sees, SnapshotAt
from acidtest.model import Record
from acidtest.oracles.chains import Visible
from acidtest.oracles.engines.base import UndecidedError, Views
from acidtest.oracles.replay.context import HALF_DONE, Context
from acidtest.oracles.replay.one_table import reads_its_table_again
from acidtest.oracles.replay.transactions import SessionState
from acidtest.sql.shape import Shape

_SUBQUERIES = (exp.Subquery, exp.Exists)


@dataclass(frozen=True, slots=True)
class Way:
    """A view that subqueries may have had, and the moments of the snapshots that show it."""

    views: Views
    visible: Visible
    moments: list[int]
    apart: bool = False
    """They also read the table that the statement locks, in other versions."""


class Subqueries:
    """The subqueries of locking reads that work on the newest rows themselves."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._chains = context.chains
        self._timeline = context.timeline
        self._visibility = context.visibility
        self._choices = context.choices

    def way(self, state: SessionState, record: Record, shape: Shape, alone: bool) -> Way | None:
        """What a locking read finds in the tables that only its subqueries read; None if it has none,
        or sees all in one view. `shape` has a target if the read is about one table."""
        if _locks_all(state.claim, alone) or not _has_subqueries(shape):
            return None
        again = shape.target is None or reads_its_table_again(shape, state.claim.grammar)
        tables = [one for one in shape.reads if again or one != shape.target]
        ways = list(self._ways(state, record, tables))
        now = self._visibility.views(tables, self._visibility.committed(state))
        differ = record.waited or any(way.views != now for way in ways)
        told_apart = not again or (shape.target is not None and _only_in_condition(shape))
        if differ and not (told_apart and (state.claim.predicate_locks or not record.waited)):
            raise UndecidedError("a locking read with a subquery that may see other versions")
        way = ways[self._choices.pick(len(ways)) if len(ways) > 1 else 0]
        self._open_snapshot(state, way.moments)
        if again:
            return replace(way, apart=True) if differ else None
        return way

    def _ways(self, state: SessionState, record: Record, tables: Sequence[str]) -> Iterator[Way]:
        """Each view that the subqueries may have."""
        if state.claim.plain_read is Sees.NEWEST and self._context.is_half_done(record, tables):
            raise UndecidedError(HALF_DONE)
        either = (Sees.COMMITTED,) if state.claim.subqueries_read_either else ()
        known: list[Way] = []
        for moment in self._moments(state, record):
            for sees in dict.fromkeys((state.claim.plain_read, Sees.SNAPSHOT, *either)):
                visible = self._visibility.visible(state, sees, moment)
                views = self._visibility.views(tables, visible)
                same = next((way for way in known if way.views == views), None)
                if same is None:
                    known.append(Way(views, visible, [moment]))
                else:
                    same.moments.append(moment)
        yield from known

    def _moments(self, state: SessionState, record: Record) -> Sequence[int]:
        """When the snapshot may have been taken; a statement that waited takes it before or after."""
        opened = () if state.claim.snapshot is SnapshotAt.STATEMENT else state.moments
        if opened and not state.maybe_unopened:
            return opened
        launched = self._timeline.launched_at[record.step]
        last = self._chains.clock if record.waited else launched
        return tuple(dict.fromkeys((*opened, *range(launched, last + 1))))

    def _open_snapshot(self, state: SessionState, moments: Sequence[int]) -> None:
        """A plain read opens a snapshot; a subquery that was not needed has read nothing."""
        if state.claim.snapshot is SnapshotAt.FIRST_READ and (not state.moments or state.maybe_unopened):
            state.moments, state.maybe_unopened = tuple(dict.fromkeys((*state.moments, *moments))), True


def _locks_all(claim: Claim, alone: bool) -> bool:
    """Whether subqueries see what the statement itself sees: its snapshot, or what all of it locks. Alone,
    plain reads lock nothing at any level."""
    if claim.locking_read is Sees.SNAPSHOT:
        return True
    return claim.plain_read is claim.locking_read and claim.predicate_locks and not alone


def _only_in_condition(shape: Shape) -> bool:
    """Whether only the condition has subqueries, so that what it gives can be told from the rows it finds."""
    where = shape.where
    return where is not None and all(
        one is where or where in _ancestors(one) for one in shape.tree.find_all(*_SUBQUERIES)
    )


def _ancestors(node: exp.Expr) -> Iterator[exp.Expr]:
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent


def without_condition(record: Record, shape: Shape, grammar: str) -> tuple[Record, Shape]:
    """The statement as it would be asked of the rows that it has found."""
    assert shape.target is not None
    tree = shape.tree.copy()
    tree.set("where", None)
    bare = replace(shape, tree=tree, where=None, reads=(shape.target,), plain=True)
    return replace(record, sql=tree.sql(dialect=grammar)), bare


def _has_subqueries(shape: Shape) -> bool:
    return not shape.plain and shape.tree.find(*_SUBQUERIES) is not None
