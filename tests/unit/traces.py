"""Traces by hand, as short lines: `1 r x` reads the newest version, `1 r x 0` that of transaction 0."""

from acidtest.model import Trace
from acidtest.model.trace import (
    INITIAL_WRITER,
    Fate,
    ObjectId,
    Operation,
    PredicateRead,
    Read,
    Span,
    TraceVersion,
    TxTrace,
    Write,
)


class Story:
    """Transactions step by step. Versions are installed in the order in which they are written."""

    def __init__(self, script: str, *, sessions: dict[int, str] | None = None) -> None:
        self._operations: dict[int, list[Operation]] = {}
        self._order: dict[ObjectId, list[TraceVersion]] = {}
        self._fates: dict[int, Fate] = {}
        self._began: dict[int, int] = {}
        self._ended: dict[int, int] = {}
        self._sessions = sessions or {}
        for step, line in enumerate(script.split("\n") if script else ()):
            number, verb, *rest = line.split()
            self._do(step, int(number), verb, rest)

    def _do(self, step: int, number: int, verb: str, rest: list[str]) -> None:
        own = self._operations.setdefault(number, [])
        self._began.setdefault(number, step)
        match verb:
            case "w":
                version = TraceVersion(self._object(rest[0]), number, step, (step,))
                self._order[version.object].append(version)
                own.append(Write(step, version))
            case "r":
                seen = self._seen(rest)
                own.append(Read(step, seen))
                own.append(PredicateRead(step, "t", rest[0], frozenset({seen.object}), {seen.object: seen}))
            case "misses":  # a condition that a later version of another transaction comes to meet
                later = self._seen(rest)
                own.append(PredicateRead(step, "u", rest[0], frozenset(), {}, changed_by=(later,)))
            case "commits":
                self._fates[number], self._ended[number] = Fate.COMMITTED, step
            case "aborts":
                self._fates[number] = Fate.ABORTED

    def _object(self, name: str) -> ObjectId:
        found = ObjectId("t", name)
        self._order.setdefault(found, [TraceVersion(found, INITIAL_WRITER, None, (0,))])
        return found

    def _seen(self, rest: list[str]) -> TraceVersion:
        versions = self._order[self._object(rest[0])]
        if len(rest) == 1:
            return versions[-1]
        return next(one for one in reversed(versions) if one.writer == int(rest[1]))

    def trace(self) -> Trace:
        transactions = tuple(
            TxTrace(
                number,
                self._sessions.get(number, f"tx{number}"),
                self._fates.get(number, Fate.OPEN),
                tuple(own),
                began=Span(self._began[number], self._began[number]),
                ended=Span(self._ended[number], self._ended[number]) if number in self._ended else None,
            )
            for number, own in self._operations.items()
        )
        known = {INITIAL_WRITER, *(one.id for one in transactions if one.fate is Fate.COMMITTED)}
        order = {
            name: tuple(one for one in versions if one.writer in known)
            for name, versions in self._order.items()
        }
        return Trace(transactions, order)
