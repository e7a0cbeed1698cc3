"""Our own runs as histories for others: a trace written down as Elle's EDN or JSON.

Rows are keys, and every version of a row gets a number of its own. If every version that was read was
committed, or there from the start, the history is one of lists: a read shows all versions up to the one that
was seen, so that the order of versions is told too. Otherwise it is one of registers. Conditions, and that a
row was not there, cannot be said in either; nor that a version was read before its writer had committed.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from acidtest.histories.columns import READ, WRITE, Operations, Workload
from acidtest.histories.generate import HappenedEvent
from acidtest.histories.writing import to_edn, to_json
from acidtest.model import Trace
from acidtest.model.trace import INITIAL_WRITER, Fate, ObjectId, Read, Span, TraceVersion, TxTrace, Write

_KINDS = {Fate.COMMITTED: "ok", Fate.ABORTED: "fail", Fate.OPEN: "info", Fate.INDETERMINATE: "info"}


@dataclass(frozen=True, slots=True)
class Exported:
    """A run as a history of others' form."""

    workload: Workload
    events: tuple[HappenedEvent, ...]


def export(trace: Trace) -> Exported:
    """A trace as invocations and completions."""
    names = _Names(trace)
    workload = Workload.LISTS if names.is_ordered() else Workload.REGISTERS
    return Exported(workload, tuple(_events(trace, names, workload)))


def write_history(trace: Trace, path: Path) -> Workload:
    """Write a trace to a file: JSON if its name ends so, else EDN."""
    exported = export(trace)
    write = to_json if path.suffix == ".json" else to_edn
    path.write_text("".join(write(exported.events, exported.workload)), encoding="utf-8")
    return exported.workload


class _Names:
    """Numbers for the versions of each row, in the order of their commits as far as that is known."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._orders = {
            one: [version for version in versions if version.writer != INITIAL_WRITER]
            for one, versions in trace.order.items()
        }
        self._numbers: dict[TraceVersion, int] = {}
        count: dict[ObjectId, int] = {}
        operations = [one for each in trace.transactions for one in each.operations]
        written = dict.fromkeys(one.version for one in operations if isinstance(one, Write))
        read = dict.fromkeys(one.version for one in operations if isinstance(one, Read))
        self.untold: dict[int, list[Write]] = {}
        """Writes that only show because somebody read them: those of transactions that were rolled back."""
        for version in read:
            if version.writer != INITIAL_WRITER and version not in written:
                self.untold.setdefault(version.writer, []).append(Write(version.step or 0, version))
        ordered = [version for versions in self._orders.values() for version in versions]
        for version in (*ordered, *written, *read):
            if version not in self._numbers and version.writer != INITIAL_WRITER:
                count[version.object] = count.get(version.object, 0) + 1
                self._numbers[version] = count[version.object]

    def is_ordered(self) -> bool:
        """Whether every version that somebody else read has its place in the order of its row."""
        for transaction in self._trace.transactions:
            for one in transaction.operations:
                if isinstance(one, Read) and not self._is_placed(transaction, one.version):
                    return False
        return True

    def _is_placed(self, reader: TxTrace, version: TraceVersion) -> bool:
        if version.writer == INITIAL_WRITER:
            return True
        if version not in self._orders.get(version.object, ()):
            return False
        # What a transaction reads of its own is not in its place yet if others commit before it does.
        return version.writer != reader.id or reader.fate is Fate.COMMITTED

    def number(self, version: TraceVersion) -> int | None:
        return None if version.writer == INITIAL_WRITER else self._numbers[version]

    def up_to(self, version: TraceVersion) -> list[int] | None:
        """The numbers of all versions up to this one."""
        if version.writer == INITIAL_WRITER:
            return None
        order = self._orders[version.object]
        return [self._numbers[one] for one in order[: order.index(version) + 1]]


def _events(trace: Trace, names: _Names, workload: Workload) -> Iterator[HappenedEvent]:
    """In the order of commits. When a transaction began is not known for sure, so it is taken to have begun
    as soon as its session was free: no order of time is claimed that there was not."""
    sessions = dict.fromkeys(one.session for one in trace.transactions)
    processes = {session: number for number, session in enumerate(sessions)}
    queues: dict[str, deque[TxTrace]] = {}
    for one in trace.transactions:
        queues.setdefault(one.session, deque()).append(one)

    def invoke(session: str) -> Iterator[HappenedEvent]:
        if queues[session]:
            asked = _asked(_operations(queues[session][0], names, workload))
            yield HappenedEvent("invoke", processes[session], asked)

    def complete(session: str) -> Iterator[HappenedEvent]:
        one = queues[session].popleft()
        operations, kind = _operations(one, names, workload), _KINDS[one.fate]
        yield HappenedEvent(kind, processes[session], operations if kind == "ok" else _asked(operations))
        yield from invoke(session)

    for session in queues:
        yield from invoke(session)
    committed = [one for one in trace.transactions if one.fate is Fate.COMMITTED]
    if all(one.ended is not None for one in committed):
        committed.sort(key=lambda one: one.ended or Span(0, 0))
    for one in (*committed, *trace.transactions):
        while one in queues[one.session]:
            yield from complete(one.session)


def _asked(operations: Operations) -> Operations:
    return [[kind, key, value if kind == WRITE else None] for kind, key, value in operations]


def _operations(transaction: TxTrace, names: _Names, workload: Workload) -> Operations:
    found: Operations = []
    operations = [*transaction.operations, *names.untold.get(transaction.id, ())]
    # A statement reads before it writes.
    for one in sorted(operations, key=lambda each: (each.step, isinstance(each, Write))):
        match one:
            case Read(version=version):
                value = names.up_to(version) if workload is Workload.LISTS else names.number(version)
                found.append([READ, _key(version.object), value])
            case Write(version=version):
                found.append([WRITE, _key(version.object), names.number(version)])
    return found


def _key(one: ObjectId) -> str:
    return f"{one.table}.{one.row}"
