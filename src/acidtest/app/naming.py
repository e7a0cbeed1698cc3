"""Which phenomenon a run shows: its operations as the transactions of a trace, and the cycles between them.

Objects are rows where keys tell, else whole tables; a version that a statement saw is the last one that was
committed when it ran, or the last of its own. At levels with a snapshot that is a guess, so a name is a help
to the reader and decides nothing: the judge has run the serial orders.
"""

from collections.abc import Sequence

from acidtest.app.access import EXISTENCE, Access, Reader
from acidtest.graph import phenomena
from acidtest.model import Failed, Phenomenon, Rows, TransactionState
from acidtest.model.application import Call, End, ForcedRun
from acidtest.model.trace import (
    INITIAL_WRITER,
    Fate,
    ObjectId,
    Operation,
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


class _Tracer:
    """Follows the statements of a run in the order in which they were answered."""

    def __init__(self, run: ForcedRun, reader: Reader) -> None:
        self._run = run
        self._reader = reader
        self._ids = {name: number for number, name in enumerate(run.results, start=1)}
        self._committed: dict[ObjectId, list[TraceVersion]] = {}
        self._pending: dict[str, list[TraceVersion]] = {}
        self._operations: dict[str, list[Operation]] = {name: [] for name in run.results}
        self._whole = self._tables_without_keys()

    def trace(self) -> Trace:
        for call in sorted(self._run.calls, key=lambda call: call.ended):
            self._follow(call)
        transactions = tuple(
            TxTrace(number, name, self._fate(name), tuple(self._operations[name]))
            for name, number in self._ids.items()
        )
        return Trace(transactions, {one: tuple(versions) for one, versions in self._committed.items()})

    def _fate(self, name: str) -> Fate:
        return Fate.ABORTED if self._run.results[name].end is not End.RETURNED else Fate.COMMITTED

    def _follow(self, call: Call) -> None:
        kind = kind_of(call.sql)
        if kind is StatementKind.ROLLBACK or isinstance(call.outcome, Failed):
            self._pending.pop(call.session, None)
            return
        access = self._reader.access(call.sql)
        for one in self._objects(access, access.reads, call):
            self._read(call, one)
        for one in self._objects(access, access.writes, call):
            version = TraceVersion(one, self._ids[call.operation], call.turn)
            self._operations[call.operation].append(Write(call.turn, version))
            self._pending.setdefault(call.session, []).append(version)
        if kind is StatementKind.COMMIT or call.after is TransactionState.NONE:
            for version in self._pending.pop(call.session, []):
                self._versions(version.object).append(version)

    def _read(self, call: Call, one: ObjectId) -> None:
        own = [version for version in self._pending.get(call.session, []) if version.object == one]
        seen = own[-1] if own else self._versions(one)[-1]
        self._operations[call.operation].append(Read(call.turn, seen))

    def _versions(self, one: ObjectId) -> list[TraceVersion]:
        return self._committed.setdefault(one, [TraceVersion(one, INITIAL_WRITER, None)])

    def _objects(
        self, access: Access, elements: frozenset[tuple[str, str]], call: Call
    ) -> Sequence[ObjectId]:
        found: dict[ObjectId, None] = {}
        for table, column in sorted(elements):
            keys = None if table in self._whole else self._keys(access, table, call)
            if keys is not None:
                if column != EXISTENCE:
                    found.update(dict.fromkeys(ObjectId(table, f"{key}.{column}") for key in sorted(keys)))
            elif table not in access.fresh or column == EXISTENCE:
                found[ObjectId(table, column)] = None
        return list(found)

    def _keys(self, access: Access, table: str, call: Call) -> frozenset[str] | None:
        """The rows that a statement touched, by its condition or by what it answered."""
        if table in access.rows:
            return access.rows[table]
        key = self._reader.key_of(table)
        if key is None or not isinstance(call.outcome, Rows) or len(access.tables) != 1:
            return None
        if key not in call.outcome.columns or not call.outcome.rows:
            return None
        position = call.outcome.columns.index(key)
        return frozenset(str(row[position]) for row in call.outcome.rows)

    def _tables_without_keys(self) -> frozenset[str]:
        """Tables of which some statement touches rows that are not known: they count as one object."""
        found = set()
        for call in self._run.calls:
            access = self._reader.access(call.sql)
            for table in access.tables - access.fresh:
                if self._keys(access, table, call) is None:
                    found.add(table)
        return frozenset(found)
