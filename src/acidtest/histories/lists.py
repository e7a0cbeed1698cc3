"""Histories of lists: a read shows the whole order in which its elements were appended.

The order of a key's versions is its longest read; every other read is a beginning of it (Elle, VLDB 2020).
Batches are taken in one after the other, so of every key only the longest read is kept.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from acidtest.errors import UsageError
from acidtest.histories.anomalies import Flaw, Key, Link, Relation, Value
from acidtest.histories.columns import ABORTED, COMMITTED, INDETERMINATE, WRITE, Batch, Operations
from acidtest.histories.resolved import INITIAL, Hub, Pair, Resolved, Tally, Transactions
from acidtest.model import Phenomenon

_IS_COMMITTED = bytes([1]) + bytes(255)
NOBODY = -2
"""The writer of an element that nobody appended."""


class Lists:
    """Takes a history in, batch by batch, and traces its reads."""

    def __init__(self, where: str, timed: bool) -> None:
        self._where = where
        self.transactions = Transactions(timed=timed)
        self._longest: dict[Key, list[Value]] = {}
        self._shown_by: dict[Key, int] = {}
        self._trusted: dict[Key, int] = {}
        self._writers: dict[Key, dict[Value, int]] = {}
        self._overwritten: dict[Key, dict[Value, int]] = {}
        self._updates: list[tuple[int, Key, int, Value]] = []
        self._readers: list[int] = []
        self._keys: list[Key] = []
        self._lengths: list[int] = []
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
                    self._add_read(number, key, value)

    def _add_read(self, number: int, key: Key, value: list[Value] | None) -> None:
        length = 0
        if value:
            if value.__class__ is not list:
                raise self._no_list(number, key, value)
            length = len(value)
            longest = self._longest.get(key)
            if longest is None:
                self._longest[key] = value
                self._shown_by[key] = number
            elif length <= len(longest):
                if longest[:length] != value:
                    self._torn(number, key, value)
            elif value[: len(longest)] == longest:
                self._longest[key] = value
                self._shown_by[key] = number
            else:
                self._torn(number, key, value)
                self._longest[key] = value
                self._shown_by[key] = number
        self._readers.append(number)
        self._keys.append(key)
        self._lengths.append(length)

    def _no_list(self, number: int, key: Key, value: object) -> UsageError:
        line = self.transactions.lines[number]
        return UsageError(
            f"{self._where}, line {line}: the read of {key!r} gives {value!r}; with appends, reads give lists"
        )

    def _torn(self, number: int, key: Key, value: list[Value]) -> None:
        """Two reads contradict each other. Only what both have in common is taken for the order."""
        longest = self._longest[key]
        common = next(
            (at for at, pair in enumerate(zip(longest, value, strict=False)) if pair[0] != pair[1]), 0
        )
        self._trusted[key] = min(self._trusted.get(key, common), common)
        self._tally.add(
            Flaw.INCOMPATIBLE_ORDER, number, key, value, other=self._shown_by[key], expected=longest
        )
        if len(set(value)) < len(value):
            self._tally.add(Flaw.DUPLICATE_ELEMENTS, number, key, value)

    def _twice(self, number: int, key: Key, value: Value) -> UsageError:
        lines = self.transactions.lines
        return UsageError(
            f"{self._where}, line {lines[number]}: {value!r} is appended to {key!r} a second time "
            f"(first on line {lines[self._writers[key][value]]}); appends have to be unique"
        )

    def _append(self, number: int, key: Key, value: Value) -> None:
        mine = self._writers.setdefault(key, {})
        if value in mine:
            raise self._twice(number, key, value)
        mine[value] = number

    # -- transactions that use a key more than once

    def _add_repeated(self, number: int, operations: Operations) -> None:
        expected: dict[Key, list[Value]] = {}
        own: dict[Key, list[Value]] = {}
        first_read: dict[Key, list[Value]] = {}
        for kind, key, value in operations:
            if kind == WRITE:
                self._append(number, key, value)
                mine = own.setdefault(key, [])
                if mine:
                    self._overwritten.setdefault(key, {})[mine[-1]] = number
                elif key in first_read:
                    self._updates.append((number, key, len(first_read[key]), value))
                if value in first_read.get(key, ()):
                    self._tally.add(Flaw.FUTURE_READ, number, key, first_read[key], expected=value)
                mine.append(value)
                if key in expected:
                    expected[key] = [*expected[key], value]
                continue
            seen: list[Value] = value or []
            self._compare(number, key, seen, expected.get(key), own.get(key, []))
            if key not in own:
                first_read.setdefault(key, seen)
                self._add_read(number, key, value)
            elif seen:
                self._add_read(number, key, value)  # it shows the order, and is no read of another's version
                del self._readers[-1], self._keys[-1], self._lengths[-1]
            expected[key] = seen

    def _compare(
        self, number: int, key: Key, seen: list[Value], expected: list[Value] | None, own: list[Value]
    ) -> None:
        if expected is not None:
            if seen == expected:
                return
            self._tally.add(Phenomenon.INTERNAL, number, key, seen, expected=expected)
        elif own and seen[-len(own) :] != own:
            self._tally.add(Phenomenon.INTERNAL, number, key, seen, expected=["...", *own])
        else:
            return
        if own and own[-1] not in seen:
            name = Flaw.NOT_MY_LAST_WRITE if any(one in seen for one in own) else Flaw.NOT_MY_OWN_WRITE
            self._tally.add(name, number, key, seen, expected=own)

    # -- the whole history

    def finish(self) -> Resolved:
        """Everything was taken in: the dependencies."""
        return _Finished(
            self.transactions,
            self._longest,
            self._shown_by,
            self._trusted,
            self._writers,
            self._overwritten,
            self._updates,
            (self._readers, self._keys, self._lengths),
            self._tally,
        ).resolved()


class _Finished:
    """The order of every key's versions, and the dependencies that follow from it."""

    def __init__(
        self,
        transactions: Transactions,
        longest: dict[Key, list[Value]],
        shown_by: dict[Key, int],
        trusted: dict[Key, int],
        writers: dict[Key, dict[Value, int]],
        overwritten: dict[Key, dict[Value, int]],
        updates: list[tuple[int, Key, int, Value]],
        reads: tuple[list[int], list[Key], list[int]],
        tally: Tally,
    ) -> None:
        self._transactions = transactions
        self._fates = transactions.fates
        self._orders = longest
        self._shown_by = shown_by
        self._trusted = trusted
        self._writers = writers
        self._overwritten = overwritten
        self._updates = updates
        self._reads = reads
        self._tally = tally
        self._observed = bytearray(len(transactions))
        self._unread: dict[Key, list[int]] = {}
        self._chains: dict[Key, list[int]] = {}
        self._odd: dict[Key, list[int]] = {}

    def resolved(self) -> Resolved:
        self._trace()
        ww = self._write_order()
        wr, rw, tails = self._read_order()
        hubs = self._after_the_last(tails, ww, rw)
        self._find_lost_updates()
        self._find_intermediate_reads()
        return Resolved(
            self._transactions,
            self._taking_part(),
            ww,
            wr,
            rw,
            tuple(hubs),
            tuple(self._tally.anomalies()),
            self._external,
            self._written,
            self._explain,
            ordered=True,
        )

    def _taking_part(self) -> bytearray:
        found = bytearray(self._fates.translate(_IS_COMMITTED))
        for number in range(len(found)) if any(self._observed) else ():
            found[number] |= self._observed[number]
        return found

    def _takes_part(self, number: int) -> bool:
        return self._fates[number] == COMMITTED or bool(self._observed[number])

    def _trace(self) -> None:
        """Who appended the elements of each key, in order. Odd keys hold something that needs care."""
        fates = self._fates
        nothing: dict[Value, int] = {}
        for key in self._reads[1]:
            if key not in self._orders and key not in self._writers:
                self._chains[key] = []
        for key in self._writers:
            if key not in self._orders:
                self._chains[key] = []
        for key, order in self._orders.items():
            writers = self._writers.get(key, nothing)
            chain = [writers.get(value, NOBODY) for value in order]
            if len(set(order)) < len(order):
                self._tally.add(Flaw.DUPLICATE_ELEMENTS, self._shown_by[key], key, order)
                self._trusted[key] = min(self._trusted.get(key, len(order)), _first_double(order))
            if key in self._trusted or NOBODY in chain or any(map(fates.__getitem__, chain)):
                self._take_apart(key, order, chain)
            else:
                self._chains[key] = chain
        self._find_unread()

    def _take_apart(self, key: Key, order: list[Value], chain: list[int]) -> None:
        """Elements of aborted transactions, of nobody, and those after which the order is not known."""
        reader = self._shown_by[key]
        aborted = None
        for at, writer in enumerate(chain):
            if writer == NOBODY:
                self._tally.add(Flaw.THIN_AIR_READ, reader, key, order[at])
            elif self._fates[writer] == INDETERMINATE:
                self._observed[writer] = 1
            elif self._fates[writer] == ABORTED:
                aborted = writer
            elif aborted is not None:
                self._tally.add(Flaw.DIRTY_UPDATE, writer, key, order[at], writer=aborted)
                aborted = None
        self._odd[key] = chain[: self._trusted.get(key, len(chain))]

    def _find_unread(self) -> None:
        """Committed appends that no read shows: they come after all that were seen."""
        fates = self._fates
        for key, writers in self._writers.items():
            order = self._orders.get(key, ())
            if len(writers) > len(order) and key not in self._trusted:
                seen = set(order)
                unread = {
                    number
                    for value, number in writers.items()
                    if fates[number] == COMMITTED and value not in seen
                }
                if unread:
                    self._unread[key] = sorted(unread)

    def _valid(self, chain: Sequence[int]) -> list[int]:
        return [one for one in chain if one != NOBODY and self._fates[one] != ABORTED]

    def _write_order(self) -> tuple[list[int], list[int]]:
        sources: list[int] = []
        targets: list[int] = []
        for chain in self._chains.values():
            for one, other in pairwise(chain):
                if one != other:
                    sources.append(one)
                    targets.append(other)
        for chain in self._odd.values():
            for one, other in pairwise(self._valid(chain)):
                if one != other:
                    sources.append(one)
                    targets.append(other)
        return sources, targets

    def _read_order(
        self,
    ) -> tuple[tuple[list[int], list[int]], tuple[list[int], list[int]], dict[Key, list[int]]]:
        wr_sources: list[int] = []
        wr_targets: list[int] = []
        rw_sources: list[int] = []
        rw_targets: list[int] = []
        tails: dict[Key, list[int]] = {}
        chains, unread = self._chains, self._unread
        for reader, key, length in zip(*self._reads, strict=True):
            chain = chains.get(key)
            if chain is None:
                writer, follower = self._of_odd(reader, key, length)
                if writer >= 0 and writer != reader:
                    wr_sources.append(writer)
                    wr_targets.append(reader)
                if follower >= 0 and follower != reader:
                    rw_sources.append(reader)
                    rw_targets.append(follower)
                elif follower == NOBODY and key in unread:
                    tails.setdefault(key, []).append(reader)
                continue
            if length:
                writer = chain[length - 1]
                if writer != reader:
                    wr_sources.append(writer)
                    wr_targets.append(reader)
            if length < len(chain):
                writer = chain[length]
                if writer != reader:
                    rw_sources.append(reader)
                    rw_targets.append(writer)
            elif key in unread:
                tails.setdefault(key, []).append(reader)
        return (wr_sources, wr_targets), (rw_sources, rw_targets), tails

    def _of_odd(self, reader: int, key: Key, length: int) -> tuple[int, int]:
        """Whose version was read, and who wrote the next one (NOBODY: it was the last)."""
        chain = self._odd[key]
        order = self._orders[key]
        fates = self._fates
        for at in range(min(length, len(chain))):
            if chain[at] != NOBODY and fates[chain[at]] == ABORTED and chain[at] != reader:
                self._tally.add(Phenomenon.G1A, reader, key, order[at], writer=chain[at])
                break
        if length > len(chain):
            return INITIAL, INITIAL  # beyond what is known of the order
        writer = INITIAL if length == 0 else chain[length - 1]
        if writer >= 0 and fates[writer] == ABORTED:
            writer = INITIAL
        follower = next((one for one in chain[length:] if one != NOBODY and fates[one] != ABORTED), NOBODY)
        if follower == NOBODY and key in self._trusted:
            follower = INITIAL
        return writer, follower

    def _after_the_last(
        self,
        tails: dict[Key, list[int]],
        ww: tuple[list[int], list[int]],
        rw: tuple[list[int], list[int]],
    ) -> list[Hub]:
        hubs: list[Hub] = []
        for key, unread in self._unread.items():
            chain = self._valid(self._odd.get(key) or self._chains.get(key) or ())
            if chain:
                for one in unread:
                    if one != chain[-1]:
                        ww[0].append(chain[-1])
                        ww[1].append(one)
            link_all(tails.get(key, []), unread, rw, hubs)
        return hubs

    def _find_lost_updates(self) -> None:
        """Of two transactions that read the same version and both wrote the key, one is lost; so is what was
        written between a transaction's read and its own write."""
        first: dict[tuple[Key, int], int] = {}
        for number, key, length, value in self._updates:
            if self._fates[number] != COMMITTED:
                continue
            other = first.setdefault((key, length), number)
            order = self._orders.get(key, [])
            if other != number:
                self._tally.add(Phenomenon.P4, number, key, order[:length], other=other)
            chain = self._chains.get(key) or self._odd.get(key, [])
            if length < len(chain) and chain[length] not in (number, NOBODY):
                between = chain[length]
                if self._fates[between] != ABORTED:
                    self._tally.add(
                        Phenomenon.G_CURSOR, number, key, value, other=between, expected=order[length]
                    )

    def _find_intermediate_reads(self) -> None:
        """Reads that end in an element after which its writer appended another one."""
        overwritten = self._overwritten
        reads = [read for read in zip(*self._reads, strict=True) if read[1] in overwritten and read[2]]
        for reader, key, length in reads:
            order = self._orders[key]
            if length > self._trusted.get(key, length):
                continue
            writer = overwritten[key].get(order[length - 1], reader)
            if writer != reader:
                self._tally.add(Phenomenon.G1B, reader, key, order[length - 1], writer=writer)

    # -- for the rules that do without the order of versions

    def _external(self) -> tuple[list[int], list[Key], list[int]]:
        readers, keys, writers = [], [], []
        for reader, key, length in zip(*self._reads, strict=True):
            chain = self._chains.get(key)
            if chain is None:
                chain = self._odd[key]
                if length > len(chain):
                    continue
            writer = chain[length - 1] if length else INITIAL
            if writer in (reader, NOBODY) or (writer >= 0 and self._fates[writer] == ABORTED):
                continue
            readers.append(reader)
            keys.append(key)
            writers.append(writer)
        return readers, keys, writers

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
        for key, order in self._orders.items():
            chain = self._chains.get(key) or self._odd.get(key, [])
            steps = [(value, one) for value, one in zip(order, chain, strict=False) if self._counts(one)]
            for (value, one), (successor, other) in pairwise(steps):
                self._note(found, wanted, Relation.WW, one, other, key, value, successor)
        for key, unread in self._unread.items():
            self._explain_unread(found, wanted, key, unread)
        for reader, key, length in zip(*self._reads, strict=True):
            self._explain_read(found, wanted, reader, key, length)
        return found

    def _counts(self, number: int) -> bool:
        return number != NOBODY and self._fates[number] != ABORTED

    def _note(
        self,
        found: dict[Pair, Link],
        wanted: set[Pair],
        relation: Relation,
        source: int,
        target: int,
        key: Key,
        value: Value,
        successor: Value = None,
    ) -> None:
        pair = relation, source, target
        if pair in wanted and pair not in found:
            found[pair] = Link(relation, source, target, key, value, successor)

    def _explain_unread(
        self, found: dict[Pair, Link], wanted: set[Pair], key: Key, unread: list[int]
    ) -> None:
        order = self._orders.get(key, [])
        chain = self._chains.get(key) or self._odd.get(key, [])
        last = [(value, one) for value, one in zip(order, chain, strict=False) if self._counts(one)]
        for one in unread:
            if last:
                self._note(
                    found,
                    wanted,
                    Relation.WW,
                    last[-1][1],
                    one,
                    key,
                    last[-1][0],
                    self._first_unread(key, one),
                )

    def _first_unread(self, key: Key, number: int) -> Value:
        seen = set(self._orders.get(key, ()))
        return next(v for v, one in self._writers[key].items() if one == number and v not in seen)

    def _explain_read(
        self, found: dict[Pair, Link], wanted: set[Pair], reader: int, key: Key, length: int
    ) -> None:
        order = self._orders.get(key, [])
        chain = self._chains.get(key)
        if chain is None:
            chain = self._odd.get(key, [])
        if length > len(chain):
            return
        value = order[length - 1] if length else None
        if length:
            self._note(found, wanted, Relation.WR, chain[length - 1], reader, key, value)
        for at in range(length, len(chain)):
            if self._counts(chain[at]):
                self._note(found, wanted, Relation.RW, reader, chain[at], key, value, order[at])
                return
        for one in self._unread.get(key, ()):
            pair = Relation.RW, reader, one
            if pair in wanted and pair not in found:
                self._note(found, wanted, *pair, key, value, self._first_unread(key, one))


def _first_double(order: list[Value]) -> int:
    seen: set[Value] = set()
    for at, one in enumerate(order):
        if one in seen:
            return at
        seen.add(one)
    return len(order)


def link_all(
    readers: list[int], writers: list[int], rw: tuple[list[int], list[int]], hubs: list[Hub]
) -> None:
    """Anti-dependencies of all readers on all writers, by way of a hub where that is shorter."""
    both = set(readers) & set(writers)
    alone = [one for one in readers if one not in both]
    if len(alone) > 1 and len(writers) > 1:
        hubs.append(Hub(tuple(dict.fromkeys(alone)), tuple(writers)))
        alone = []
    for reader in (*alone, *both):
        for writer in writers:
            if writer != reader:
                rw[0].append(reader)
                rw[1].append(writer)
