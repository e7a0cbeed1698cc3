"""Which phenomenon a run shows: its operations as the transactions of a trace, and the cycles between them.

Objects are columns of rows where keys tell; who looks for rows by a condition depends on all that is written
to the table. A version that a statement saw is the last one that was
committed when it ran, or the last of its own. At levels with a snapshot that is a guess, so a name is a help
to the reader and decides nothing: the judge has run the serial orders.
"""

from dataclasses import dataclass
from itertools import product

from acidtest.app.access import EXISTENCE, Access, Reader
from acidtest.graph import phenomena
from acidtest.model import Failed, Phenomenon, Rows, TransactionState
from acidtest.model.application import Call, End, ForcedRun
from acidtest.model.trace import (
    INITIAL_WRITER,
    Fate,
    ObjectId,
    Operation,
    PredicateRead,
    Read,
    Trace,
    TraceVersion,
    TxTrace,
    Write,
)
from acidtest.sql import StatementKind, kind_of

PREFERRED = (
    Phenomenon.P4,
    Phenomenon.G1A,
    Phenomenon.G1B,
    Phenomenon.G_SINGLE,
    Phenomenon.G2_ITEM,
    Phenomenon.G2,
    Phenomenon.G0,
    Phenomenon.G1C,
)
"""What tells a developer most comes first."""


def name_of(run: ForcedRun, reader: Reader) -> Phenomenon | None:
    """The most telling phenomenon of a run."""
    found = {one.phenomenon for one in phenomena(_Tracer(run, reader).trace())}
    return next((one for one in PREFERRED if one in found), next(iter(found), None))


@dataclass(frozen=True, slots=True)
class _Look:
    """A statement that looked at rows which its text does not name."""

    call: Call
    table: str
    columns: frozenset[str]
    committed: int
    """How many versions had been committed by then."""


class _Tracer:
    """Follows the statements of a run in the order in which they were answered."""

    def __init__(self, run: ForcedRun, reader: Reader) -> None:
        self._run = run
        self._reader = reader
        self._ids = {name: number for number, name in enumerate(run.results, start=1)}
        self._order: dict[ObjectId, list[TraceVersion]] = {}
        self._committed: list[TraceVersion] = []
        self._columns: dict[TraceVersion, frozenset[str]] = {}
        self._pending: dict[str, list[TraceVersion]] = {}
        self._operations: dict[str, list[Operation]] = {name: [] for name in run.results}
        self._looks: list[_Look] = []

    def trace(self) -> Trace:
        for call in sorted(self._run.calls, key=lambda call: call.ended):
            self._follow(call)
        for look in self._looks:
            self._operations[look.call.operation].append(self._predicate(look))
        transactions = tuple(
            TxTrace(number, name, self._fate(name), tuple(self._operations[name]))
            for name, number in self._ids.items()
        )
        return Trace(transactions, {one: tuple(versions) for one, versions in self._order.items()})

    def _fate(self, name: str) -> Fate:
        return Fate.ABORTED if self._run.results[name].end is not End.RETURNED else Fate.COMMITTED

    def _follow(self, call: Call) -> None:
        kind = kind_of(call.sql)
        if kind is StatementKind.ROLLBACK or isinstance(call.outcome, Failed):
            self._pending.pop(call.session, None)
            return
        access = self._reader.access(call.sql)
        self._read(call, access)
        self._write(call, access)
        if kind is StatementKind.COMMIT or call.after is TransactionState.NONE:
            for version in self._pending.pop(call.session, []):
                self._versions(version.object).append(version)
                self._committed.append(version)

    def _read(self, call: Call, access: Access) -> None:
        for table, columns in _by_table(access.reads).items():
            keys = self._keys(access, table, call)
            if keys is None:
                self._looks.append(_Look(call, table, columns, len(self._committed)))
                continue
            for key, column in product(sorted(keys), sorted(columns - {EXISTENCE})):
                one = ObjectId(table, f"{key}.{column}")
                own = [version for version in self._pending.get(call.session, []) if version.object == one]
                seen = own[-1] if own else self._versions(one)[-1]
                self._operations[call.operation].append(Read(call.turn, seen))

    def _write(self, call: Call, access: Access) -> None:
        for table, columns in _by_table(access.writes).items():
            keys = self._keys(access, table, call)
            if table in access.fresh:
                objects = [(ObjectId(table, f"new.{call.turn}"), columns)]
            elif keys is None:
                objects = [(ObjectId(table, column), frozenset({column})) for column in sorted(columns)]
            else:
                named = product(sorted(keys), sorted(columns - {EXISTENCE}))
                objects = [(ObjectId(table, f"{key}.{one}"), frozenset({one})) for key, one in named]
            for one, touched in objects:
                version = TraceVersion(one, self._ids[call.operation], call.turn)
                self._columns[version] = touched
                self._operations[call.operation].append(Write(call.turn, version))
                self._pending.setdefault(call.session, []).append(version)

    def _versions(self, one: ObjectId) -> list[TraceVersion]:
        return self._order.setdefault(one, [TraceVersion(one, INITIAL_WRITER, None)])

    def _predicate(self, look: _Look) -> PredicateRead:
        own = self._ids[look.call.operation]
        touching = [
            (position, version)
            for position, version in enumerate(self._committed)
            if version.object.table == look.table
            and version.writer != own
            and self._columns[version] & look.columns
        ]
        return PredicateRead(
            step=look.call.turn,
            table=look.table,
            condition=look.call.sql,
            matched=frozenset(),
            seen={},
            made_by=tuple(version for position, version in touching if position < look.committed),
            changed_by=tuple(version for position, version in touching if position >= look.committed),
        )

    def _keys(self, access: Access, table: str, call: Call) -> frozenset[str] | None:
        """The rows that a statement touched, by its condition or by what it answered."""
        if table in access.rows:
            return access.rows[table]
        key = self._reader.key_of(table)
        if key is None or not isinstance(call.outcome, Rows) or len(access.tables) != 1:
            return None
        if key not in call.outcome.columns or not call.outcome.rows or access.writes:
            return None
        position = call.outcome.columns.index(key)
        return frozenset(str(row[position]) for row in call.outcome.rows)


def _by_table(elements: frozenset[tuple[str, str]]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for table, column in elements:
        found.setdefault(table, set()).add(column)
    return {table: frozenset(columns) for table, columns in sorted(found.items())}
