"""Histories of registers: a read shows one value, and the value shows its writer, because writes are
unique.

The order of a key's versions is not seen. It is inferred: what was there from the start comes first, and
what a transaction writes comes after what it read of the same key; on request also that every key by itself
is sequentially consistent or linearizable, as Elle has it.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from acidtest.errors import UsageError
from acidtest.histories.anomalies import Flaw, Key, Link, Relation, Value
from acidtest.histories.columns import ABORTED, COMMITTED, INDETERMINATE, WRITE, Batch, Operations
from acidtest.histories.graphs import tarjan
from acidtest.histories.lists import link_all
from acidtest.histories.resolved import INITIAL, Hub, Pair, Resolved, Tally, Transactions
from acidtest.model import Phenomenon

Edge = tuple[list[int], list[int]]
_IS_COMMITTED = bytes([1]) + bytes(255)


class Assumption(StrEnum):
    """What may be taken for granted of every key by itself, to know more about the order of its versions."""

    NOTHING = "nothing"
    SEQUENTIAL = "sequential"
    LINEARIZABLE = "linearizable"


class Registers:
    """Takes a history in, batch by batch, and traces its reads."""

    def __init__(self, where: str, timed: bool, initial: Value, assume: Assumption) -> None:
        self._where = where
        self._initial = initial
        self._assume = assume
        self.transactions = Transactions(timed=timed)
        self._writers: dict[Key, dict[Value, int]] = {}
        self._overwritten: dict[Key, dict[Value, int]] = {}
        self._readers: list[int] = []
        self._keys: list[Key] = []
        self._values: list[Value] = []
        self._updates: list[tuple[int, Key, Value, Value]] = []
        self._tally = Tally()

    def add(self, batch: Batch) -> None:
        """Take in some transactions."""
        known = self.transactions
        number = len(known)
        known.fates.extend(batch.fates)
        known.sessions.extend(batch.sessions)
        known.began.extend(batch.began)
        known.ended.extend(batch.ended)
        known.lines.extend(batch.lines)
        writers = self._writers
        readers, keys, values = self._readers, self._keys, self._values
        for number, operations in enumerate(batch.operations, number):  # noqa: B020
            if len(operations) > 1 and len({one[1] for one in operations}) < len(operations):
                self._add_repeated(number, operations)
                continue
            for kind, key, value in operations:
                if kind:
                    mine = writers.get(key)
                    if mine is None:
                        writers[key] = {value: number}
                    elif value in mine:
                        raise self._twice(number, key, value)
                    else:
                        mine[value] = number
                else:
                    readers.append(number)
                    keys.append(key)
                    values.append(value)

    def _twice(self, number: int, key: Key, value: Value) -> UsageError:
        lines = self.transactions.lines
        return UsageError(
            f"{self._where}, line {lines[number]}: {value!r} is written to {key!r} a second time "
            f"(first on line {lines[self._writers[key][value]]}); values have to be unique"
        )

    def _add_repeated(self, number: int, operations: Operations) -> None:
        """A transaction that uses a key more than once."""
        own: dict[Key, list[Value]] = {}
        seen: dict[Key, Value] = {}
        reads: dict[Key, list[Value]] = {}
        for kind, key, value in operations:
            if kind == WRITE:
                mine = self._writers.setdefault(key, {})
                if value in mine:
                    raise self._twice(number, key, value)
                mine[value] = number
                if key in own:
                    self._overwritten.setdefault(key, {})[own[key][-1]] = number
                if value in reads.get(key, ()):
                    self._tally.add(Flaw.FUTURE_READ, number, key, value, expected=value)
                own.setdefault(key, []).append(value)
                seen[key] = value
                continue
            if key in seen and seen[key] != value:
                self._tally.add(Phenomenon.INTERNAL, number, key, value, expected=seen[key])
                if key in own:
                    older = value in own[key]
                    name = Flaw.NOT_MY_LAST_WRITE if older else Flaw.NOT_MY_OWN_WRITE
                    self._tally.add(name, number, key, value, expected=own[key][-1])
            if key not in own:
                reads.setdefault(key, []).append(value)
                self._readers.append(number)
                self._keys.append(key)
                self._values.append(value)
            seen[key] = value
        for key, values in own.items():
            if key in reads:
                self._updates.append((number, key, reads[key][0], values[-1]))

    def finish(self) -> Resolved:
        """Everything was taken in: the dependencies."""
        return _Finished(self).resolved()

    # What the second part works on.

    @property
    def parts(self) -> tuple[Any, ...]:
        return (
            self.transactions,
            self._writers,
            self._overwritten,
            (self._readers, self._keys, self._values),
            self._updates,
            self._tally,
            self._initial,
            self._assume,
        )


class _Finished:
    def __init__(self, taken_in: Registers) -> None:
        (
            self._transactions,
            self._writers,
            self._overwritten,
            self._reads,
            self._updates,
            self._tally,
            self._initial,
            self._assume,
        ) = taken_in.parts
        self._fates: bytearray = self._transactions.fates
        self._observed = bytearray(len(self._transactions))
        self._sources: list[int] = []
        self._usable: tuple[list[int], list[Key], list[int]] = ([], [], [])
        self._version_edges: dict[Key, dict[Value, set[Value]]] = {}
        self._evidence: dict[Pair, tuple[Key, Value, Value]] = {}

    def resolved(self) -> Resolved:
        wr = self._trace()
        ww: Edge = ([], [])
        rw: Edge = ([], [])
        hubs = self._infer(ww, rw)
        self._find_lost_updates()
        return Resolved(
            self._transactions,
            self._taking_part(),
            ww,
            wr,
            rw,
            tuple(hubs),
            tuple(self._tally.anomalies()),
            lambda: self._usable,
            self._written,
            self._explain,
            ordered=self._is_ordered(),
        )

    def _taking_part(self) -> bytearray:
        found = bytearray(self._fates.translate(_IS_COMMITTED))
        for number in range(len(found)) if any(self._observed) else ():
            found[number] |= self._observed[number]
        return found

    def _takes_part(self, number: int) -> bool:
        return self._fates[number] == COMMITTED or bool(self._observed[number])

    def _trace(self) -> Edge:
        """Who wrote what was read; keeps the reads of committed versions."""
        sources: list[int] = []
        targets: list[int] = []
        readers, keys, writers_found = self._usable
        writers, overwritten, fates = self._writers, self._overwritten, self._fates
        nothing: dict[Value, int] = {}
        for reader, key, value in zip(*self._reads, strict=True):
            writer = writers.get(key, nothing).get(value, INITIAL)
            if writer == INITIAL:
                if value is not None and value != self._initial:
                    self._tally.add(Flaw.THIN_AIR_READ, reader, key, value)
                    continue
            elif writer == reader:
                continue  # it was told when the transaction was taken in
            else:
                fate = fates[writer]
                if fate == ABORTED:
                    self._tally.add(Phenomenon.G1A, reader, key, value, writer=writer)
                    continue
                if fate == INDETERMINATE:
                    self._observed[writer] = 1
                if key in overwritten and value in overwritten[key]:
                    self._tally.add(Phenomenon.G1B, reader, key, value, writer=writer)
                sources.append(writer)
                targets.append(reader)
            readers.append(reader)
            keys.append(key)
            writers_found.append(writer)
        return sources, targets

    # -- the order of versions

    def _infer(self, ww: Edge, rw: Edge) -> list[Hub]:
        initial_readers: dict[Key, list[int]] = {}
        readers_of: dict[tuple[Key, int], list[int]] = {}
        follows = {(key, self._writer(key, value)) for _, key, value, _ in self._updates}
        for reader, key, writer in zip(*self._usable, strict=True):
            if writer == INITIAL:
                initial_readers.setdefault(key, []).append(reader)
            elif (key, writer) in follows:
                readers_of.setdefault((key, writer), []).append(reader)
        self._write_follows_read(ww, rw, readers_of)
        if self._assume is not Assumption.NOTHING:
            self._assume_more(ww, rw)
        hubs: list[Hub] = []
        for key, readers in initial_readers.items():
            writers = sorted({one for one in self._writers.get(key, {}).values() if self._takes_part(one)})
            if writers:
                link_all(list(dict.fromkeys(readers)), writers, rw, hubs)
        return hubs

    def _writer(self, key: Key, value: Value) -> int:
        found: int = self._writers.get(key, {}).get(value, INITIAL)
        return found

    def _write_follows_read(
        self, ww: Edge, rw: Edge, readers_of: Mapping[tuple[Key, int], list[int]]
    ) -> None:
        for number, key, value, written in self._updates:
            writer = self._writer(key, value)
            if (
                writer in (INITIAL, number)
                or self._fates[number] != COMMITTED
                or not self._takes_part(writer)
            ):
                continue
            self._order(key, value, written)
            self._link(ww, Relation.WW, writer, number, key, value, written)
            for reader in readers_of.get((key, writer), ()):
                self._link(rw, Relation.RW, reader, number, key, value, written)

    def _order(self, key: Key, value: Value, successor: Value) -> None:
        self._version_edges.setdefault(key, {}).setdefault(value, set()).add(successor)

    def _link(
        self,
        edges: Edge,
        relation: Relation,
        source: int,
        target: int,
        key: Key,
        value: Value,
        successor: Value,
    ) -> None:
        if source != target:
            edges[0].append(source)
            edges[1].append(target)
            self._evidence.setdefault((relation, source, target), (key, value, successor))

    def _assume_more(self, ww: Edge, rw: Edge) -> None:
        """Order versions as each session, or time, saw them; do without where that is a circle."""
        first, last = self._touched()
        pairs = (
            self._in_sessions(first, last)
            if self._assume is Assumption.SEQUENTIAL
            else self._in_time(first, last)
        )
        readers: dict[tuple[Key, Value], list[int]] = {}
        for reader, key, value in zip(*self._reads, strict=True):
            readers.setdefault((key, value), []).append(reader)
        for key, edges in pairs.items():
            merged = {one: list(others) for one, others in self._version_edges.get(key, {}).items()}
            for one, other in edges:
                merged.setdefault(one, []).append(other)
            names = {
                value: at
                for at, value in enumerate(
                    dict.fromkeys([*merged, *(v for vs in merged.values() for v in vs)])
                )
            }
            circles = tarjan({names[one]: [names[v] for v in others] for one, others in merged.items()})
            if circles:
                values = list(names)
                shown = [values[at] for at in sorted(circles[0])]
                writer = next((w for v in shown if (w := self._writer(key, v)) >= 0), 0)
                self._tally.add(Flaw.CYCLIC_VERSIONS, writer, key, shown)
                continue
            for one, other in edges:
                target = self._writer(key, other)
                if target == INITIAL:
                    continue
                source = self._writer(key, one)
                if source != INITIAL:
                    self._link(ww, Relation.WW, source, target, key, one, other)
                for reader in readers.get((key, one), ()):
                    self._link(rw, Relation.RW, reader, target, key, one, other)

    def _touched(self) -> tuple[dict[int, dict[Key, Value]], dict[int, dict[Key, Value]]]:
        """The first and the last version of each key that a transaction has to do with."""
        first: dict[int, dict[Key, Value]] = {}
        last: dict[int, dict[Key, Value]] = {}
        for reader, key, value in zip(*self._reads, strict=True):
            shown = None if value == self._initial and self._writer(key, value) == INITIAL else value
            first.setdefault(reader, {}).setdefault(key, shown)
            last.setdefault(reader, {}).setdefault(key, shown)
        for key, writers in self._writers.items():
            for value, number in writers.items():
                if self._takes_part(number):
                    first.setdefault(number, {}).setdefault(key, value)
                    last.setdefault(number, {})[key] = value
        return first, last

    def _in_sessions(
        self, first: Mapping[int, dict[Key, Value]], last: Mapping[int, dict[Key, Value]]
    ) -> dict[Key, list[tuple[Value, Value]]]:
        found: dict[Key, list[tuple[Value, Value]]] = {}
        latest: dict[tuple[int, Key], Value] = {}
        for number in sorted(first):
            session = self._transactions.sessions[number]
            for key, value in first[number].items():
                if (session, key) in latest and latest[session, key] != value:
                    found.setdefault(key, []).append((latest[session, key], value))
            for key, value in last[number].items():
                latest[session, key] = value
        return found

    def _in_time(
        self, first: Mapping[int, dict[Key, Value]], last: Mapping[int, dict[Key, Value]]
    ) -> dict[Key, list[tuple[Value, Value]]]:
        """Of each key: whoever ended before another began saw an older version, or the same."""
        known = self._transactions
        by_key: dict[Key, list[int]] = {}
        for number, touched in first.items():
            for key in touched:
                by_key.setdefault(key, []).append(number)
        found: dict[Key, list[tuple[Value, Value]]] = {}
        for key, numbers in by_key.items():
            frontier: list[int] = []
            pending = sorted(numbers, key=known.ended.__getitem__)
            at = 0
            for number in sorted(numbers, key=known.began.__getitem__):
                while at < len(pending) and known.ended[pending[at]] < known.began[number]:
                    ended = pending[at]
                    frontier = [one for one in frontier if known.ended[one] >= known.began[ended]]
                    frontier.append(ended)
                    at += 1
                for one in frontier:
                    if last[one][key] != first[number][key]:
                        found.setdefault(key, []).append((last[one][key], first[number][key]))
        return found

    def _is_ordered(self) -> bool:
        """Whether the versions of every key stand in one line, each known to follow the one before."""
        followed: dict[Key, set[int]] = {}
        for number, key, value, _ in self._updates:
            if self._fates[number] != COMMITTED:
                continue
            before = self._writer(key, value)
            if before in followed.setdefault(key, set()):
                return False
            followed[key].add(before)
        for key, writers in self._writers.items():
            versions = len({one for one in writers.values() if self._takes_part(one)})
            after = followed.get(key, set())
            blind = versions - len(after)
            if blind > (0 if INITIAL in after else 1):
                return False
        return True

    def _find_lost_updates(self) -> None:
        first: dict[tuple[Key, Value], int] = {}
        for number, key, value, _ in self._updates:
            if self._fates[number] != COMMITTED:
                continue
            read = None if self._writer(key, value) == INITIAL else value
            other = first.setdefault((key, read), number)
            if other != number:
                self._tally.add(Phenomenon.P4, number, key, read, other=other)

    def _written(self) -> list[list[Key]]:
        found: list[list[Key]] = [[] for _ in range(len(self._transactions))]
        for key, writers in self._writers.items():
            for number in set(writers.values()):
                if self._takes_part(number):
                    found[number].append(key)
        return found

    # -- evidence

    def _explain(self, pairs: Iterable[Pair]) -> Mapping[Pair, Link]:
        wanted = set(pairs)
        found: dict[Pair, Link] = {}
        for pair in wanted:
            if pair in self._evidence:
                key, value, successor = self._evidence[pair]
                found[pair] = Link(*pair, key, value, successor)
        reads = {pair[2] for pair in wanted if pair[0] is Relation.WR}
        reads |= {pair[1] for pair in wanted if pair[0] is Relation.RW and pair not in found}
        for reader, key, value in zip(*self._reads, strict=True):
            if reader in reads:
                self._explain_read(found, wanted, reader, key, value)
        return found

    def _explain_read(
        self, found: dict[Pair, Link], wanted: set[Pair], reader: int, key: Key, value: Value
    ) -> None:
        writer = self._writer(key, value)
        pair = Relation.WR, writer, reader
        if pair in wanted:
            found.setdefault(pair, Link(*pair, key, value))
        if writer != INITIAL:
            return
        finals: dict[int, Value] = {}
        for successor, number in self._writers.get(key, {}).items():
            finals[number] = successor
        for number, successor in finals.items():
            pair = Relation.RW, reader, number
            if pair in wanted:
                found.setdefault(pair, Link(*pair, key, None, successor))
