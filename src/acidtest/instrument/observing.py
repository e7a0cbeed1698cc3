"""The trace of an instrumented run, from the versions that its statements showed: nothing is computed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from acidtest.instrument.columns import PREVIOUS, ROW, VERSION, is_probe, whole
from acidtest.instrument.conditions import Look, predicate_reads
from acidtest.instrument.ordering import in_order
from acidtest.instrument.probes import Probes, probes_of
from acidtest.instrument.shown import Shown, rows_of, shown_by
from acidtest.instrument.transactions import Observed as ObservedTransaction
from acidtest.instrument.transactions import transactions_of
from acidtest.model import Affected, History, Record, Row, Rows, Trace, Value
from acidtest.model.trace import (
    INITIAL_WRITER,
    Fate,
    ObjectId,
    Operation,
    Purpose,
    Read,
    TraceVersion,
    TxTrace,
    Write,
)
from acidtest.sql import StatementKind, kind_of
from acidtest.sql.shape import Shape, Verb, shape_of

Meets = Callable[[Record, Shape, Sequence[Row]], Sequence[bool] | None]
"""Which rows meet the condition of a statement over one table; None if that cannot be said."""


@dataclass(frozen=True, slots=True)
class Observed:
    """What an instrumented run shows: its trace, and how its probes fared."""

    trace: Trace
    probes: Probes


def observe(history: History, grammar: str, meets: Meets, at_commit: bool) -> Observed:
    """Read off an instrumented run. `at_commit`: the DBMS installs versions when transactions commit."""
    reader = _Reader(history, grammar, meets)
    reader.go()
    return Observed(reader.trace(at_commit), reader.probes)


@dataclass(slots=True)
class _Known:
    """Every version that was seen, by its object and number, and the one that each says it replaced."""

    versions: dict[tuple[ObjectId, int], TraceVersion] = field(default_factory=dict)
    replaced: dict[tuple[ObjectId, int], int | None] = field(default_factory=dict)
    tombstones: dict[ObjectId, list[tuple[TraceVersion, int]]] = field(default_factory=dict)


class _Reader:
    """Goes along the completed steps twice: first for what was written, then for what was read."""

    def __init__(self, history: History, grammar: str, meets: Meets) -> None:
        self._history, self._grammar, self._meets = history, grammar, meets
        self._records = {record.step: record for record in history.records}
        self._found = transactions_of(history)
        self.probes = probes_of(history)
        self._known = _Known()
        self._operations: dict[int, list[Operation]] = {one.id: [] for one in self._found.all}
        self._looks: list[Look] = []
        self._unclear: set[str] = set()
        """Tables from which rows vanished that nobody saw go."""
        self._gaps: list[str] = []

    # -- reading

    def go(self) -> None:
        for table in self._history.schema.tables:
            for row in self._history.initial.get(table.name, ()):
                self._keep(table.name, row, INITIAL_WRITER, None)
        steps = [
            (self._records[step], shape)
            for step in self._history.observed_order
            if (shape := self._shape(step)) is not None
        ]
        for record, shape in steps:
            if shape.verb is not Verb.READ:
                self._write(record, shape)
        for record, shape in steps:
            if shape.verb is Verb.READ:
                self._read(record, shape)

    def _shape(self, step: int) -> Shape | None:
        """The shape of a statement that took effect and is no probe."""
        record = self._records[step]
        if is_probe(record.sql) or not isinstance(record.outcome, Rows | Affected):
            return None
        shape = shape_of(record.sql, self._grammar)
        return shape if shape is not None and shape.reads else None

    def _keep(self, table: str, values: Row, writer: int, step: int | None) -> tuple[TraceVersion, int]:
        names = [column.name for column in self._history.schema.table(table).columns]
        name = ObjectId(table, _integer(values[names.index(ROW)]))
        number = _integer(values[names.index(VERSION)])
        version = TraceVersion(name, writer, step, values)
        self._known.versions[name, number] = version
        previous = values[names.index(PREVIOUS)]
        self._known.replaced[name, number] = None if previous is None else _integer(previous)
        return version, number

    def _write(self, record: Record, shape: Shape) -> None:
        own = self._found.of_step[record.step]
        assert shape.target is not None
        if shape.verb is Verb.DELETE:
            self._delete(record, shape.target, own)
        else:
            self._images(record, shape, own)
        self._look(record, shape, own)

    def _images(self, record: Record, shape: Shape, own: ObservedTransaction) -> None:
        """The versions that a write made, as it returned them or as the read after it did."""
        probes = self.probes.after.get(record.step, ())
        images = [record] if shape.returns else [one for one in probes if VERSION + " =" in one.sql]
        if not images and not (isinstance(record.outcome, Affected) and record.outcome.count == 0):
            self._unclear.update(shape.writes)
            self._gaps.append("a write of which nobody saw the rows")
        for one in images:
            table = shape.target if shape.returns else (shape_of(one.sql, self._grammar) or shape).target
            assert table is not None
            for row in rows_of(one, self._history.schema.table(table)):
                version, number = self._keep(table, row, own.id, record.step)
                self._wrote(own, version)
                self._chose(record, own, version.object, number)
        if shape.replaces:
            # REPLACE deletes what is in its way, and says nothing of it.
            self._unclear.update(shape.writes)
            self._gaps.append("which rows a REPLACE took the place of")

    def _wrote(self, own: ObservedTransaction, version: TraceVersion) -> None:
        """What was taken back within a transaction may have been read, but it was never installed."""
        assert version.step is not None
        if version.step not in own.undone:
            self._operations[own.id].append(Write(version.step, version))

    def _chose(self, record: Record, own: ObservedTransaction, name: ObjectId, number: int) -> None:
        """A write that replaced a version has seen it."""
        previous = self._known.replaced.get((name, number))
        if previous is not None and previous != number and (name, previous) in self._known.versions:
            seen = self._known.versions[name, previous]
            self._operations[own.id].append(self._as_read(record, own, seen, Purpose.CHOICE))

    def _delete(self, record: Record, table: str, own: ObservedTransaction) -> None:
        source = record if isinstance(record.outcome, Rows) else self.probes.before.get(record.step)
        rows = source.outcome.rows if source is not None and isinstance(source.outcome, Rows) else ()
        if isinstance(record.outcome, Affected) and record.outcome.count != len(rows):
            self._unclear.add(table)
            self._gaps.append("a DELETE of other rows than were seen before it")
            return
        for row in rows:
            name, number = ObjectId(table, _integer(row[0])), _integer(row[1])
            tombstone = TraceVersion(name, own.id, record.step, None)
            self._known.tombstones.setdefault(name, []).append((tombstone, number))
            self._wrote(own, tombstone)
            if (name, number) in self._known.versions:
                seen = self._known.versions[name, number]
                self._operations[own.id].append(self._as_read(record, own, seen, Purpose.CHOICE))

    def _read(self, record: Record, shape: Shape) -> None:
        own = self._found.of_step[record.step]
        for shown in shown_by(record, shape, self._grammar):
            for name, number in shown.versions:
                version = self._known.versions.get((name, number))
                if version is None:
                    self._gaps.append("a version of which nobody saw the write")
                elif (read := self._as_read(record, own, version)) not in self._operations[own.id]:
                    self._operations[own.id].append(read)
        self._look(record, shape, own)

    def _as_read(
        self,
        record: Record,
        own: ObservedTransaction,
        version: TraceVersion,
        purpose: Purpose = Purpose.ANSWER,
        exact: bool = True,
    ) -> Read:
        return Read(record.step, version, self._is_committed(version, own, record), exact, purpose)

    def _is_committed(self, version: TraceVersion, own: ObservedTransaction, record: Record) -> bool:
        """Whether its writer had committed when a step completed; one's own versions are no dirty reads."""
        if version.writer in (INITIAL_WRITER, own.id):
            return True
        writer = self._found.all[version.writer - 1]
        ended = writer.ended_at
        return writer.fate is Fate.COMMITTED and ended is not None and ended < self._found.places[record.step]

    def _look(self, record: Record, shape: Shape, own: ObservedTransaction) -> None:
        """What a statement looked at besides the rows that it found."""
        found = {
            one.version.object: one.version
            for one in self._operations[own.id]
            if isinstance(one, Read) and one.step == record.step
        }
        self._looks.append(Look(own.id, record, shape, found, tuple(self._version_sets(record))))

    def _version_sets(self, record: Record) -> Iterator[Shown]:
        for probe in self.probes.after.get(record.step, ()):
            shape = shape_of(probe.sql, self._grammar)
            if shape is not None and shape.where is None:
                if probe.step in self.probes.torn:
                    self._gaps.append("a look at versions that something came before")
                else:
                    yield from shown_by(probe, shape, self._grammar)

    # -- the trace

    def trace(self, at_commit: bool) -> Trace:
        order = in_order(
            self._known.versions, self._known.replaced, self._known.tombstones, self._found, at_commit
        )
        self._gaps += order.doubts
        for look in self._looks:
            self._operations[look.transaction] += predicate_reads(
                look,
                order.installed,
                self._known.versions,
                self._found.places,
                self._unclear,
                self._meets,
                self._gaps,
            )
        took_back = {one.session for one in self._history.records if _takes_back(one.sql)}
        transactions = tuple(
            TxTrace(
                one.id,
                one.session,
                one.fate,
                tuple(self._in_turn(one.id)),
                took_back=one.session in took_back,
            )
            for one in self._found.all
        )
        return Trace(transactions, order.installed, tuple(dict.fromkeys(self._gaps)))

    def _in_turn(self, transaction: int) -> list[Operation]:
        return sorted(self._operations[transaction], key=lambda one: self._found.places[one.step])


def _takes_back(sql: str) -> bool:
    return kind_of(sql) is StatementKind.SAVEPOINT and sql.lstrip()[:8].upper() == "ROLLBACK"


def _integer(value: Value) -> int:
    number = whole(value)
    assert number is not None, value
    return number
