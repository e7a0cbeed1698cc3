"""Names what occurred: the phenomena of a history that its level allows, by their names in the literature.

The walk of `Replay` knows which versions every statement saw, so the direct dependencies between committed
transactions (Adya: ww, wr, rw, and rw by predicate) follow without guessing, and their cycles have names.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise

from acidtest.claims import claims_of
from acidtest.model import History, Record
from acidtest.mvcc import INITIAL, Seen, Version, Visible
from acidtest.oracles.engine import Engine, UndecidedError, Views
from acidtest.oracles.evaluating import engine_for
from acidtest.oracles.replay import Replay, Standing, ViolationError
from acidtest.sql.shape import Shape, Verb

CYCLE_LENGTH_MAX = 6


class Edge(IntEnum):
    """Direct dependencies, the strongest evidence first."""

    WW = 0
    WR = 1
    RW_ITEM = 2
    RW_PREDICATE = 3


@dataclass(frozen=True, slots=True)
class Reading:
    """A statement of a transaction saw these versions of a table; some of them met its condition."""

    transaction: int
    step: int
    table: str
    sql: str
    shape: Shape
    seen: dict[int, Version]
    matched: frozenset[int]
    dirty: frozenset[int]


class Bookkeeper(Replay):
    """A walk that keeps book of what every statement read."""

    def __init__(self, history: History, engine: Engine) -> None:
        claims = claims_of(history)
        if claims is None:
            raise UndecidedError(f"nothing is written down about what {history.dbms} promises")
        super().__init__(history, claims, engine)
        self.engine = engine
        self.readings: list[Reading] = []

    def saw(self, standing: Standing, record: Record, shape: Shape, views: Views, visible: Visible) -> None:
        assert standing.transaction is not None
        for table, rows in views.items():
            if shape.verb is Verb.INSERT and table == shape.target:
                continue  # it adds to the table without looking at it
            seen = self._seen(table, rows, visible)
            plain = shape.plain and table == shape.target
            matched = self.engine.matching(record.sql, shape, rows) if plain else [one.row for one in rows]
            dirty = frozenset(row for row in matched if self._is_foreign(standing, seen[row]))
            self.readings.append(
                Reading(
                    standing.transaction,
                    record.step,
                    table,
                    record.sql,
                    shape,
                    seen,
                    frozenset(matched),
                    dirty,
                )
            )

    def _seen(self, table: str, rows: Sequence[Seen], visible: Visible) -> dict[int, Version]:
        """The version of every row that the statement saw, tombstones included."""
        seen = {}
        for row, versions in self.chains.rows(table):
            found = next((one for one in reversed(versions) if visible(one)), None)
            if found is not None:
                seen[row] = found
        for one in rows:  # a re-check after a wait may have come upon newer versions
            versions = self.chains.versions(table, one.row)
            seen[one.row] = next(version for version in reversed(versions) if version.values is one.values)
        return seen


def phenomena(history: History) -> tuple[str, ...]:
    """What occurred, as far as the evaluator can follow; nothing if the history breaks the claim itself."""
    try:
        book = Bookkeeper(history, engine_for(history.dbms, history.schema, history.version))
        book.run()
    except (UndecidedError, ViolationError):
        return ()
    return tuple(dict.fromkeys([*_dirty(book), *_repeated(book), *_cycles(book)]))


def _dirty(book: Bookkeeper) -> Iterator[str]:
    """Reads of versions that were not committed then, or never."""
    for reading in book.readings:
        for row in reading.dirty & reading.matched:
            version = reading.seen[row]
            yield "dirty read (P1)"
            versions = _versions(book, reading.table, row)
            if version not in versions:
                yield "aborted read (G1a)"
            elif [one for one in versions if one.writer == version.writer][-1] is not version:
                yield "intermediate read (G1b)"


def _repeated(book: Bookkeeper) -> Iterator[str]:
    """A transaction that read the same twice, and it was not the same."""
    own: dict[int, list[Reading]] = {}
    for reading in book.readings:
        own.setdefault(reading.transaction, []).append(reading)
    for transaction, readings in own.items():
        for i, first in enumerate(readings):
            for second in readings[i + 1 :]:
                if first.table == second.table:
                    yield from _changed(transaction, first, second)


def _changed(transaction: int, first: Reading, second: Reading) -> Iterator[str]:
    both = first.matched & second.matched
    if any(_foreign_change(transaction, first.seen[row], second.seen[row]) for row in both):
        yield "fuzzy or non-repeatable read (P2)"
    if first.sql == second.sql:
        came = [second.seen[row] for row in second.matched - first.matched]
        left = [second.seen[row] for row in first.matched - second.matched if row in second.seen]
        gone = [one for one in left if one.deleted and one.writer != transaction]
        if any(one.writer not in (transaction, INITIAL) for one in came) or gone:
            yield "phantom (P3)"


def _foreign_change(transaction: int, before: Version, after: Version) -> bool:
    return before is not after and after.writer != transaction


# -- dependencies


def _cycles(book: Bookkeeper) -> Iterator[str]:
    edges = _edges(book)
    names: list[tuple[int, str]] = []
    for cycle in _simple_cycles(sorted({one for pair in edges for one in pair}), edges):
        kinds = [min(edges[pair]) for pair in pairwise([*cycle, cycle[0]])]
        anti = [kind for kind in kinds if kind >= Edge.RW_ITEM]
        if not anti:
            g0 = all(kind is Edge.WW for kind in kinds)
            names.append((0, "dirty write (G0)") if g0 else (1, "circular information flow (G1c)"))
        elif len(anti) == 1:
            lost = len(cycle) == 2 and _is_lost_update(book, cycle)
            names.append((2, "lost update (P4)" if lost else "read skew (G-single, A5A)"))
        elif Edge.RW_PREDICATE in anti:
            names.append((4, "anti-dependency cycle (G2)"))
        else:
            names.append((3, "write skew (G2-item, A5B)"))
    for _, name in sorted(set(names)):
        yield name


def _edges(book: Bookkeeper) -> dict[tuple[int, int], set[Edge]]:
    edges: dict[tuple[int, int], set[Edge]] = {}

    def add(source: int, target: int, kind: Edge) -> None:
        committed = book.chains.is_committed(source) and book.chains.is_committed(target)
        if committed and source != target and INITIAL not in (source, target):
            edges.setdefault((source, target), set()).add(kind)

    for table in book.chains.tables():
        for _, versions in book.chains.rows(table):
            for older, newer in pairwise(versions):
                add(older.writer, newer.writer, Edge.WW)
    for reading in book.readings:
        for row in reading.matched:
            add(reading.seen[row].writer, reading.transaction, Edge.WR)
            for later in _later(book, reading, row):
                add(reading.transaction, later.writer, Edge.RW_ITEM)
        for writer in _went_away(book, reading):
            add(writer, reading.transaction, Edge.WR)
        for writer in _came_under(book, reading):
            add(reading.transaction, writer, Edge.RW_PREDICATE)
    return edges


def _later(book: Bookkeeper, reading: Reading, row: int) -> Iterator[Version]:
    """The version that replaced what was read, if another transaction wrote it."""
    versions = _versions(book, reading.table, row)
    if reading.seen[row] in versions:
        position = versions.index(reading.seen[row])
        yield from (one for one in versions[position + 1 :][:1] if one.writer != reading.transaction)


def _went_away(book: Bookkeeper, reading: Reading) -> Iterator[int]:
    """Writers of versions that the statement saw by which a row left its condition."""
    if not reading.shape.plain or reading.table != reading.shape.target:
        return
    for row, versions in book.chains.rows(reading.table):
        for older, newer in pairwise(versions):
            if row in reading.matched or older.values is None or reading.seen.get(row) is not newer:
                continue
            if book.engine.matching(reading.sql, reading.shape, [Seen(row, older.values)]):
                yield newer.writer


def _came_under(book: Bookkeeper, reading: Reading) -> Iterator[int]:
    """Writers of later versions that meet the statement's condition where the seen ones did not."""
    if not reading.shape.plain or reading.table != reading.shape.target:
        return
    for row, versions in book.chains.rows(reading.table):
        if row in reading.matched:
            continue
        seen = reading.seen.get(row)
        start = versions.index(seen) + 1 if seen is not None and seen in versions else 0
        new = [one for one in versions[start:] if one.writer not in (INITIAL, reading.transaction)]
        candidates = [Seen(i, one.values) for i, one in enumerate(new) if one.values is not None]
        for i in book.engine.matching(reading.sql, reading.shape, candidates):
            yield new[i].writer


def _versions(book: Bookkeeper, table: str, row: int) -> Sequence[Version]:
    return dict(book.chains.rows(table)).get(row, ())


def _is_lost_update(book: Bookkeeper, cycle: Sequence[int]) -> bool:
    """Both wrote a row that one of them had read before the other's write."""
    for reading in book.readings:
        if reading.transaction not in cycle:
            continue
        other = next(one for one in cycle if one != reading.transaction)
        for row in reading.matched:
            writers = [version.writer for version in _versions(book, reading.table, row)]
            if other in writers and reading.transaction in writers[writers.index(other) :]:
                return reading.seen[row].writer not in cycle
    return False


def _simple_cycles(
    nodes: Sequence[int], edges: dict[tuple[int, int], set[Edge]]
) -> Iterator[tuple[int, ...]]:
    """Each cycle once, starting at its smallest node."""

    def walk(path: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if (path[-1], path[0]) in edges:
            yield path
        if len(path) < CYCLE_LENGTH_MAX:
            for node in nodes:
                if node > path[0] and node not in path and (path[-1], node) in edges:
                    yield from walk((*path, node))

    for node in nodes:
        yield from walk((node,))
