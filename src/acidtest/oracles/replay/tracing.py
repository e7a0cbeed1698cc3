"""The trace of a walk: the walk knows which versions every statement saw, so nothing has to be guessed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from acidtest.evaluator.writes import Effect
from acidtest.model import Record, Schema, Trace
from acidtest.model.trace import (
    INITIAL_WRITER,
    Fate,
    ObjectId,
    Operation,
    PredicateRead,
    Purpose,
    Read,
    TraceVersion,
    TxTrace,
    Write,
)
from acidtest.oracles.chains import Chains, Seen, Version, Visible
from acidtest.oracles.engines.base import Engine, Views
from acidtest.oracles.replay.clustered import leaves_an_index
from acidtest.oracles.replay.one_table import about_its_rows
from acidtest.oracles.replay.transactions import SessionState, Transactions
from acidtest.sql.named import tables_in
from acidtest.sql.shape import Locking, Shape, Verb


@dataclass(frozen=True, slots=True)
class _Look:
    """A statement of a transaction saw these versions of a table; tombstones are among them.

    `under` are the versions of others beneath its own ones: those go if it goes back to a savepoint.
    """

    transaction: int
    record: Record
    shape: Shape
    table: str
    rows: Sequence[Seen]
    seen: dict[int, Version]
    under: dict[int, Version]
    dirty: frozenset[int]
    unnoticed: frozenset[int] = frozenset()
    """Rows that were gone without the statement noticing that they had been there."""
    only_rows: bool = False
    """It has read these rows, and says nothing of others that meet its condition."""


_NOTHING: Mapping[int, Version | None] = {}


class Tracer:
    """Keeps book of what every statement saw; `trace` then says what that comes to."""

    def __init__(
        self,
        chains: Chains,
        transactions: Transactions,
        engine: Engine,
        schema: Schema,
        keeps_book: bool = True,
    ) -> None:
        self._chains, self._transactions, self._engine = chains, transactions, engine
        self._schema = schema
        self._looks: list[_Look] = []
        self._met: list[tuple[int, int, str, Version, bool]] = []
        self._same: dict[int, Version] = {}
        self._keeps_book = keeps_book
        self.gaps: list[str] = []
        """What the trace will lack."""

    def give_up(self, reason: str) -> None:
        """What was seen until now and from now on cannot be told."""
        self._keeps_book = False
        self._looks.clear()
        self._met.clear()
        self.gaps.append(reason)

    def saw(
        self,
        state: SessionState,
        record: Record,
        shape: Shape,
        views: Views,
        visible: Visible,
        only_rows: bool = False,
        passed_by: Mapping[int, Version | None] = _NOTHING,
    ) -> None:
        """A statement was right on these views; `only_rows`: it may have left out others.

        It passed by rows of its target in these old versions (None: before they were there), because it had
        come along before it waited.
        """
        if not self._keeps_book:
            return
        assert state.transaction is not None
        if not state.claim.index_only_locks:  # else it may depend on less than whole rows
            shape = about_its_rows(shape, state.claim.grammar)
        for table, rows in views.items():
            if table == shape.target and _only_adds(shape, state.claim.grammar):
                continue  # it adds to the table without looking at it
            seen = self._seen(table, rows, visible)
            if table == shape.target:
                self._come_upon(record, shape, rows, seen)
                self._pass_by(record, shape, seen, passed_by)
            dirty = frozenset(
                row for row, version in seen.items() if self._transactions.is_foreign(state, version)
            )
            under = self._under(table, seen, state.transaction)
            unnoticed = self._unnoticed(state, shape, table, seen)
            self._looks.append(
                _Look(state.transaction, record, shape, table, rows, seen, under, dirty, unnoticed, only_rows)
            )

    def _unnoticed(
        self, state: SessionState, shape: Shape, table: str, seen: dict[int, Version]
    ) -> frozenset[int]:
        """Rows of the snapshot that a deviation lets a locking statement pass by, as they are gone."""
        locks = shape.verb is not Verb.READ or shape.locking is not Locking.NONE
        if not state.claim.misses_gone_over_index or not locks or not state.moments:
            return frozenset()
        definition, moment = self._schema.table(table), max(state.moments)
        found = set()
        for row, version in seen.items():
            versions = self._chains.versions(table, row)
            then = [one.values for one in versions if self._chains.committed_by(one.writer, moment)]
            old = then[-1] if then else None
            if old is None or self._chains.committed_by(version.writer, moment):
                continue
            if leaves_an_index(definition, shape, old, version.values):
                found.add(row)
        return frozenset(found)

    def _pass_by(
        self, record: Record, shape: Shape, seen: dict[int, Version], rows: Mapping[int, Version | None]
    ) -> None:
        for row, version in rows.items():
            seen.pop(row, None)
            if version is None:
                continue
            seen[row] = version
            values = version.values
            if values is not None and self._engine.matching(record.sql, shape, [Seen(row, values)]):
                self.gaps.append("in which of its versions a statement that waited passed a row by")

    def met(self, state: SessionState, record: Record, table: str, effect: Effect, visible: Visible) -> None:
        """An INSERT came upon the keys of living rows, in the versions that it could see."""
        if not self._keeps_book:
            return
        assert state.transaction is not None
        if effect.meets_several:
            self.gaps.append("which of several rows an INSERT came upon")
        for row in () if state.claim.upsert_reads_nothing else effect.met:
            versions = self._chains.versions(table, row)
            version = next((one for one in reversed(versions) if visible(one)), versions[-1])
            foreign = self._transactions.is_foreign(state, version)
            self._met.append((state.transaction, record.step, table, version, foreign))

    def _under(self, table: str, seen: dict[int, Version], own: int) -> dict[int, Version]:
        """The newest version of another beneath each own one."""
        found = {}
        for row in (row for row, version in seen.items() if version.writer == own):
            others = [one for one in self._chains.versions(table, row) if one.writer != own]
            if others:
                found[row] = others[-1]
        return found

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

    def _come_upon(
        self, record: Record, shape: Shape, rows: Sequence[Seen], seen: dict[int, Version]
    ) -> None:
        """A statement that waited has tested again what it had found; rows that it gave up then, it has seen
        as they are now."""
        if not record.waited or not shape.plain or shape.target is None:
            return
        kept = {one.row for one in rows}
        left = [
            Seen(row, one.values) for row, one in seen.items() if row not in kept and one.values is not None
        ]
        for row in self._engine.matching(record.sql, shape, left) if left else ():
            seen[row] = self._newest_committed(shape.target, row) or seen[row]

    def _newest_committed(self, table: str, row: int) -> Version | None:
        versions = reversed(self._chains.versions(table, row))
        return next((one for one in versions if self._chains.is_committed(one.writer)), None)

    # -- the trace

    def trace(self) -> Trace:
        """What the walk came to; call it when the walk is over."""
        self._same = dict(self._unchanged())
        operations: dict[int, list[Operation]] = {one: [] for one in self._transactions.owners}
        for look in self._looks:
            operations[look.transaction] += self._operations(look)
        for transaction, step, table, version, dirty in self._met:
            operations[transaction].append(Read(step, self._told(table, version), committed=not dirty))
        order: dict[ObjectId, tuple[TraceVersion, ...]] = {}
        for table in self._chains.tables():
            for row, versions in self._chains.rows(table):
                kept = [one for one in versions if id(one) not in self._same]
                order[ObjectId(table, row)] = tuple(_version(table, one) for one in kept)
        for installed in order.values():
            for one in installed:
                if one.writer != INITIAL_WRITER and one.step is not None:
                    operations[one.writer].append(Write(one.step, one))
        took_back = {one.writer for _, one in self._chains.undone}
        transactions = tuple(
            TxTrace(
                number,
                session,
                Fate.COMMITTED if self._chains.is_committed(number) else Fate.ABORTED,
                tuple(operations[number]),
                took_back=number in took_back,
            )
            for number, session in self._transactions.owners.items()
        )
        return Trace(transactions, order, tuple(self.gaps))

    def _unchanged(self) -> Iterator[tuple[int, Version]]:
        """Versions that hold what the one before them held, by identity, with that one. Whoever wrote them
        changed nothing that anybody could see, so nobody depends on it."""
        for table in self._chains.tables():
            for _, versions in self._chains.rows(table):
                kept = None
                for one in versions:
                    if kept is not None and one.values == kept.values:
                        yield id(one), kept
                    else:
                        kept = one

    def _told(self, table: str, version: Version) -> TraceVersion:
        return _version(table, self._same.get(id(version), version))

    def _operations(self, look: _Look) -> Iterator[Operation]:
        exact = look.shape.plain and look.table == look.shape.target and look.shape.verb is not Verb.INSERT
        purpose = _purpose(look)
        matched = (
            set(self._engine.matching(look.record.sql, look.shape, look.rows))
            if exact
            else {one.row for one in look.rows}
        )
        step, table = look.record.step, look.table
        for row in matched:
            version = self._told(table, look.seen[row])
            yield Read(step, version, committed=row not in look.dirty, exact=exact, purpose=purpose)
        if look.only_rows:
            return
        yield PredicateRead(
            step,
            table,
            look.record.sql,
            frozenset(ObjectId(table, row) for row in matched),
            {ObjectId(table, row): self._told(table, one) for row, one in look.seen.items()},
            made_by=tuple(self._told(table, one) for one in self._made_by(look, matched, exact)),
            changed_by=tuple(self._told(table, one) for one in self._changed_by(look, matched, exact)),
            exact=exact,
            purpose=purpose,
        )

    def _made_by(self, look: _Look, matched: set[int], exact: bool) -> Iterator[Version]:
        """Versions that the statement saw and by which a row left its condition, or the table."""
        for row, version in look.seen.items():
            if row in matched or row in look.unnoticed or version.writer == INITIAL_WRITER:
                continue
            before = self._before(look.table, row, version)
            if before is None or before.values is None or self._is_intermediate(look.table, row, version):
                continue
            if not exact or self._meets(look, row, before):
                yield version

    def _before(self, table: str, row: int, version: Version) -> Version | None:
        """The version of another transaction that this one's writer came upon."""
        versions = self._chains.find(table, row)
        others = [one for one in versions[: _place(versions, version)] if one.writer != version.writer]
        return others[-1] if others else None

    def _is_intermediate(self, table: str, row: int, version: Version) -> bool:
        """Whether its writer has replaced it itself: what a transaction did in between counts for nobody."""
        versions = self._chains.find(table, row)
        return any(one.writer == version.writer for one in versions[_place(versions, version) + 1 :])

    def _changed_by(self, look: _Look, matched: set[int], exact: bool) -> Iterator[Version]:
        """Of each row that the statement did not find, the first later version that it would have found."""
        for row, versions in self._chains.rows(look.table):
            if row in matched:
                continue  # what replaces a row that was found is an overwritten item
            seen = look.seen.get(row)
            if seen is not None and seen not in versions:
                seen = look.under.get(row)
            start = versions.index(seen) + 1 if seen is not None and seen in versions else 0
            for one in versions[start:]:
                if one.writer in (INITIAL_WRITER, look.transaction) or one.values is None:
                    continue
                if self._is_intermediate(look.table, row, one):
                    continue
                if not exact or self._meets(look, row, one):
                    yield one
                    break

    def _meets(self, look: _Look, row: int, version: Version) -> bool:
        assert version.values is not None
        return bool(self._engine.matching(look.record.sql, look.shape, [Seen(row, version.values)]))


def _only_adds(shape: Shape, grammar: str) -> bool:
    """Whether a statement adds rows to its table without looking at the others."""
    if not isinstance(shape.tree, exp.Insert):
        return False
    source = shape.tree.args.get("expression")
    return source is None or shape.target not in tables_in(source, grammar)


def _purpose(look: _Look) -> Purpose:
    """What a table is looked at for: what only the condition of a write names helps to choose rows."""
    shape = look.shape
    if shape.verb is Verb.READ:
        return Purpose.ANSWER
    if look.table == shape.target and shape.verb is not Verb.INSERT:
        return Purpose.CHOICE
    inside = [] if shape.where is None else [one.name for one in shape.where.find_all(exp.Table)]
    all_of_it = [one.name for one in shape.tree.find_all(exp.Table)]
    wanted = look.table.rpartition(".")[2]
    return Purpose.CHOICE if inside.count(wanted) == all_of_it.count(wanted) else Purpose.VALUE


def _place(versions: Sequence[Version], version: Version) -> int:
    """Its position; behind all if it is not among them."""
    return next((place for place, one in enumerate(versions) if one is version), len(versions))


def _version(table: str, version: Version) -> TraceVersion:
    return TraceVersion(ObjectId(table, version.row), version.writer, version.step, version.values)
