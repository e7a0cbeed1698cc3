"""The trace of a walk: the walk knows which versions every statement saw, so nothing has to be guessed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from acidtest.evaluator.writes import Effect
from acidtest.model import Record, Trace
from acidtest.model.trace import (
    INITIAL_WRITER,
    Fate,
    ObjectId,
    Operation,
    PredicateRead,
    Read,
    TraceVersion,
    TxTrace,
    Write,
)
from acidtest.oracles.chains import Chains, Seen, Version, Visible
from acidtest.oracles.engines.base import Engine, Views
from acidtest.oracles.replay.transactions import SessionState, Transactions
from acidtest.sql.shape import Shape, Verb


@dataclass(frozen=True, slots=True)
class _Look:
    """A statement of a transaction saw these versions of a table; tombstones are among them."""

    transaction: int
    record: Record
    shape: Shape
    table: str
    rows: Sequence[Seen]
    seen: dict[int, Version]
    dirty: frozenset[int]


class Tracer:
    """Keeps book of what every statement saw; `trace` then says what that comes to."""

    def __init__(self, chains: Chains, transactions: Transactions, engine: Engine) -> None:
        self._chains, self._transactions, self._engine = chains, transactions, engine
        self._looks: list[_Look] = []
        self._met: list[tuple[int, int, str, Version, bool]] = []
        self.gaps: list[str] = []
        """What the trace will lack."""

    def saw(self, state: SessionState, record: Record, shape: Shape, views: Views, visible: Visible) -> None:
        """A statement was right on these views."""
        assert state.transaction is not None
        for table, rows in views.items():
            if shape.verb is Verb.INSERT and table == shape.target and shape.plain:
                continue  # it adds to the table without looking at it
            seen = self._seen(table, rows, visible)
            dirty = frozenset(
                row for row, version in seen.items() if self._transactions.is_foreign(state, version)
            )
            self._looks.append(_Look(state.transaction, record, shape, table, rows, seen, dirty))

    def met(self, state: SessionState, record: Record, table: str, effect: Effect) -> None:
        """An INSERT came upon the keys of living rows."""
        assert state.transaction is not None
        if effect.meets_several:
            self.gaps.append("which of several rows an INSERT came upon")
        for row in () if state.claim.upsert_reads_nothing else effect.met:
            version = self._chains.newest(table, row)
            foreign = self._transactions.is_foreign(state, version)
            self._met.append((state.transaction, record.step, table, version, foreign))

    def _seen(self, table: str, rows: Sequence[Seen], visible: Visible) -> dict[int, Version]:
        """The version of every row that the statement saw, tombstones included."""
        seen = {}
        for row, versions in self._chains.rows(table):
            for version in reversed(versions):
                if visible(version):
                    seen[row] = version
                    break
        for one in rows:  # a re-check after a wait may have come upon newer versions
            if (found := seen.get(one.row)) is not None and found.values is one.values:
                continue
            versions = self._chains.versions(table, one.row)
            seen[one.row] = next(version for version in reversed(versions) if version.values is one.values)
        return seen

    # -- the trace

    def trace(self) -> Trace:
        """What the walk came to; call it when the walk is over."""
        operations: dict[int, list[Operation]] = {one: [] for one in self._transactions.owners}
        for look in self._looks:
            operations[look.transaction] += self._operations(look)
        for transaction, step, table, version, dirty in self._met:
            operations[transaction].append(Read(step, _version(table, version), committed=not dirty))
        order: dict[ObjectId, tuple[TraceVersion, ...]] = {}
        for table in self._chains.tables():
            for row, versions in self._chains.rows(table):
                order[ObjectId(table, row)] = tuple(_version(table, one) for one in versions)
        for installed in order.values():
            for one in installed:
                if one.writer != INITIAL_WRITER and one.step is not None:
                    operations[one.writer].append(Write(one.step, one))
        transactions = tuple(
            TxTrace(
                number,
                session,
                Fate.COMMITTED if self._chains.is_committed(number) else Fate.ABORTED,
                tuple(operations[number]),
                ended=self._chains.committed_at(number),
            )
            for number, session in self._transactions.owners.items()
        )
        return Trace(transactions, order, tuple(self.gaps))

    def _operations(self, look: _Look) -> Iterator[Operation]:
        exact = look.shape.plain and look.table == look.shape.target
        matched = (
            set(self._engine.matching(look.record.sql, look.shape, look.rows))
            if exact
            else {one.row for one in look.rows}
        )
        step, table = look.record.step, look.table
        for row in matched:
            yield Read(step, _version(table, look.seen[row]), committed=row not in look.dirty, exact=exact)
        yield PredicateRead(
            step,
            table,
            look.record.sql,
            frozenset(ObjectId(table, row) for row in matched),
            {ObjectId(table, row): _version(table, one) for row, one in look.seen.items()},
            made_by=tuple(_version(table, one) for one in self._made_by(look, matched, exact)),
            changed_by=tuple(_version(table, one) for one in self._changed_by(look, matched, exact)),
            exact=exact,
        )

    def _made_by(self, look: _Look, matched: set[int], exact: bool) -> Iterator[Version]:
        """Versions that the statement saw and by which a row left its condition, or the table."""
        for row, version in look.seen.items():
            if row in matched or version.writer == INITIAL_WRITER:
                continue
            before = self._before(look.table, row, version)
            if before is None or before.values is None:
                continue
            if not exact or self._meets(look, row, before):
                yield version

    def _before(self, table: str, row: int, version: Version) -> Version | None:
        versions = self._chains.find(table, row)
        if version not in versions:
            return None
        place = versions.index(version)
        return versions[place - 1] if place else None

    def _changed_by(self, look: _Look, matched: set[int], exact: bool) -> Iterator[Version]:
        """Of each row that the statement did not find, the first later version that it would have found."""
        for row, versions in self._chains.rows(look.table):
            if row in matched:
                continue  # what replaces a row that was found is an overwritten item
            seen = look.seen.get(row)
            start = versions.index(seen) + 1 if seen is not None and seen in versions else 0
            for one in versions[start:]:
                if one.writer in (INITIAL_WRITER, look.transaction) or one.values is None:
                    continue
                if not exact or self._meets(look, row, one):
                    yield one
                    break

    def _meets(self, look: _Look, row: int, version: Version) -> bool:
        assert version.values is not None
        return bool(self._engine.matching(look.record.sql, look.shape, [Seen(row, version.values)]))


def _version(table: str, version: Version) -> TraceVersion:
    return TraceVersion(ObjectId(table, version.row), version.writer, version.step, version.values)
