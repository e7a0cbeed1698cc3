"""Clean histories of lists by arrays: see lists.py for what is looked for, and how."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from acidtest.histories.columns import ABORTED, COMMITTED, Source
from acidtest.histories.fast.arrays import Ints, is_acyclic, numbers, session_edges, time_edges
from acidtest.histories.formats.jepsen import Lines, usual_lines
from acidtest.histories.formats.text import CHUNK, chunks
from acidtest.histories.lists import link_all
from acidtest.histories.resolved import Hub

_ALLOWED = b"0123456789 \n[]:apendril"
_BLOCK = 4_000_000
_CELLS_MAX = 1 << 27


@dataclass(slots=True)
class _Operations:
    """Operations of all transactions: appends with a value, reads with a stretch of `elements`."""

    transaction: Ints
    key: Ints
    is_append: Ints
    value: Ints
    start: Ints
    length: Ints
    elements: Ints


@dataclass(slots=True)
class _Transactions:
    fates: Ints
    sessions: Ints
    began: Ints
    ended: Ints


def clean_lists(source: Source, say: Callable[[str], object]) -> tuple[int, int] | None:
    """The number of transactions and of committed ones, if nothing is wrong with a history of lists."""
    if source.format != "edn":
        return None
    reading = usual_lines(source.path)
    taken = None if reading is None else _read(source, reading, say)
    if taken is None:
        return None
    transactions, operations = taken
    say(f"tracing the reads of {len(transactions.fates):,} transactions, by arrays")
    history = _History(transactions, operations)
    if not history.is_traced():
        return None
    say("looking for cycles, by arrays")
    if not history.is_acyclic():
        return None
    return len(transactions.fates), int((transactions.fates == COMMITTED).sum())


def _read(
    source: Source, reading: Lines, say: Callable[[str], object]
) -> tuple[_Transactions, _Operations] | None:
    columns: list[list[Ints]] = [[], [], [], []]
    pieces: list[tuple[Ints, ...]] = []
    count = elements = told = 0
    for line, data in chunks(source.path, CHUNK):
        paired = reading.paired(data, line)
        if paired is None:
            return None
        batch, values = paired
        piece = _parse(values, count, elements)
        if piece is None:
            return None
        pieces.append(piece)
        elements += len(piece[-1])
        for column, values_of in zip(
            columns, (batch.fates, batch.sessions, batch.began, batch.ended), strict=True
        ):
            column.append(np.array(values_of, np.int64))
        count += len(values)
        if count - told >= 100_000:
            told = count
            say(f"{count:,} transactions read")
    if reading.rest().fates or not count:
        return None  # what never ended is rare, and the plain path knows what to do
    joined = [np.concatenate([piece[at] for piece in pieces]) for at in range(7)]
    return _Transactions(*(np.concatenate(column) for column in columns)), _Operations(*joined)


def _parse(values: list[bytes], first: int, elements_before: int) -> tuple[Ints, ...] | None:
    """Columns of the operations in a list of values such as `[[:append 1 2] [:r 3 [4 5]]]`."""
    text = b"\n".join(values)
    if text.translate(None, _ALLOWED):
        return None
    data = np.frombuffer(b"  " + text, np.uint8)
    found = numbers(data)
    if found is None:
        return None
    tokens, starts = found
    marks = data[starts - 2]
    appended, read = marks == ord("d"), marks == ord("r")
    heads = np.flatnonzero(appended | read)
    opened = int(((data[:-1] == ord("[")) & (data[1:] == ord(":"))).sum())
    if opened != len(heads) or (len(starts) and not len(heads)):
        return None  # a key that is no number
    following = np.append(heads[1:], len(tokens)) - heads - 1
    is_append = appended[heads]
    if not bool((following[is_append] == 1).all()):
        return None
    listed = starts[heads[~is_append & (following > 0)] + 1]
    if not bool((data[listed - 1] == ord("[")).all()):
        return None  # a read that gives a number, and no list
    line_ends = np.flatnonzero(data == ord("\n"))
    transaction = first + np.searchsorted(line_ends, starts[heads])
    value = np.where(is_append, tokens[np.minimum(heads + 1, len(tokens) - 1)], 0)
    element = np.ones(len(tokens), bool)
    element[heads] = False
    element[heads[is_append] + 1] = False
    length = np.where(is_append, 0, following)
    start = elements_before + np.concatenate(([0], np.cumsum(length)[:-1])) if len(heads) else length
    return transaction, tokens[heads], is_append.astype(np.int64), value, start, length, tokens[element]


class _History:
    def __init__(self, transactions: _Transactions, operations: _Operations) -> None:
        self._all = transactions
        self._operations = operations
        self._edges: list[tuple[Ints, Ints]] = []
        self._hubs: list[Hub] = []
        self._taking_part = transactions.fates == COMMITTED

    def is_traced(self) -> bool:
        """Whether every read is what it should be; finds the dependencies on the way."""
        ops = self._operations
        committed = self._all.fates[ops.transaction] == COMMITTED
        reads = np.flatnonzero((ops.is_append == 0) & committed)
        appends = np.flatnonzero(ops.is_append == 1)
        keys, width = int(ops.key.max(initial=0)) + 1, int(ops.value.max(initial=0)) + 2
        if int(ops.elements.max(initial=0)) + 1 >= width or keys * width > _CELLS_MAX:
            return False
        repeated = self._repeated()
        if repeated is None:
            return False
        own_reads, overwritten, updates = repeated
        writers = np.full(keys * width, -1, np.int32)
        cells = ops.key[appends] * width + ops.value[appends]
        writers[cells] = appends
        if bool((writers[cells] != appends).any()):
            return False  # a value is appended twice
        longest = self._longest(reads, keys)
        if not self._are_beginnings(reads, longest):
            return False
        is_own = np.zeros(len(ops.key), bool)
        is_own[own_reads] = True
        others = reads[~is_own[reads]]
        return self._link(others, longest, writers, cells, width, overwritten, updates)

    def _repeated(self) -> tuple[Ints, Ints, list[tuple[int, int, int]]] | None:
        """Of transactions that use a key again: reads of what they appended themselves, appends that they
        built on, and reads that they wrote after. None if one contradicts itself."""
        ops = self._operations
        code = ops.transaction * (int(ops.key.max(initial=0)) + 1) + ops.key
        order = np.argsort(code, kind="stable")
        same = code[order[1:]] == code[order[:-1]]
        again = np.zeros(len(code), bool)
        again[order[1:][same]] = again[order[:-1][same]] = True
        mine: list[int] = []
        overwritten: list[int] = []
        updates: list[tuple[int, int, int]] = []
        places = order[again[order]]
        states: dict[int, _State] = {}
        fates = self._all.fates
        columns = (code, ops.transaction, ops.is_append, ops.value, ops.start, ops.length)
        for at, pair, transaction, is_append, value, start, length in zip(
            places.tolist(), *(column[places].tolist() for column in columns), strict=True
        ):
            state = states.get(pair)
            if state is None:
                state = states[pair] = _State()
            if is_append:
                if state.last >= 0:
                    overwritten.append(state.last)
                elif state.seen is not None:
                    updates.append((transaction, int(ops.key[at]), state.read))
                if state.seen is not None and value in state.seen:
                    return None
                state.last = at
                state.own.append(value)
                if state.seen is not None:
                    state.seen = [*state.seen, value]
            elif fates[transaction] == COMMITTED:
                seen = ops.elements[start : start + length].tolist()
                if (state.seen is not None and seen != state.seen) or (
                    state.own and seen[-len(state.own) :] != state.own
                ):
                    return None
                if state.own:
                    mine.append(at)
                elif state.seen is None:
                    state.read = length
                state.seen = seen
        return np.array(mine, np.int64), np.array(overwritten, np.int64), updates

    def _longest(self, reads: Ints, keys: int) -> tuple[Ints, Ints]:
        """Where the longest read of each key begins in the elements, and how long it is."""
        ops = self._operations
        length = np.zeros(keys, np.int64)
        np.maximum.at(length, ops.key[reads], ops.length[reads])
        start = np.zeros(keys, np.int64)
        full = reads[ops.length[reads] == length[ops.key[reads]]]
        start[ops.key[full]] = ops.start[full]
        return start, length

    def _are_beginnings(self, reads: Ints, longest: tuple[Ints, Ints]) -> bool:
        """Whether every read is a beginning of the longest one of its key. The elements of all reads lie one
        after the other, so each is compared with the one that lies as far on as the longest read does."""
        ops = self._operations
        if int(ops.length[reads].sum()) != len(ops.elements):
            return False  # something that was not committed shows what it read
        shift = (longest[0][ops.key[reads]] - ops.start[reads]).astype(np.int32)
        length = ops.length[reads]
        ends = np.cumsum(length)
        at = done = 0
        while at < len(reads):
            until = max(at + 1, int(np.searchsorted(ends, done + _BLOCK, side="right")))
            end = int(ends[until - 1])
            others = np.repeat(shift[at:until], length[at:until])
            others += np.arange(done, end, dtype=np.int32)
            if not np.array_equal(ops.elements[done:end], ops.elements[others]):
                return False
            at, done = until, end
        return True

    def _link(
        self,
        reads: Ints,
        longest: tuple[Ints, Ints],
        writers: np.ndarray[tuple[int], np.dtype[np.int32]],
        cells: Ints,
        width: int,
        overwritten: Ints,
        updates: list[tuple[int, int, int]],
    ) -> bool:
        ops = self._operations
        start, length = longest
        keys = np.arange(len(length))
        key_of = np.repeat(keys, length)
        first = np.cumsum(length) - length
        places = np.arange(len(key_of)) - np.repeat(first - start, length)
        seen = key_of * width + ops.elements[places]
        shown = np.zeros(len(writers), bool)
        shown[seen] = True
        rows = writers[seen]
        if int(np.count_nonzero(shown)) < len(seen) or bool((rows < 0).any()):
            return False
        chain = ops.transaction[rows]
        if bool((self._all.fates[chain] == ABORTED).any()):
            return False
        self._taking_part[chain] = True
        same = (key_of[1:] == key_of[:-1]) & (chain[1:] != chain[:-1])
        self._edges.append((chain[:-1][same], chain[1:][same]))
        reader, key, size = ops.transaction[reads], ops.key[reads], ops.length[reads]
        last = first[key] + size
        some = size > 0
        replaced = np.zeros(len(ops.key), bool)
        replaced[overwritten] = True
        if bool(replaced[rows[last[some] - 1]].any()):
            return False
        source, target = chain[last[some] - 1], reader[some]
        self._edges.append((source[source != target], target[source != target]))
        more = size < length[key]
        source, target = reader[more], chain[last[more]]
        self._edges.append((source[source != target], target[source != target]))
        if not self._keeps_updates(updates, first, length, chain):
            return False
        self._link_unread(reader[~more], key[~more], shown[cells], chain, first, length)
        return True

    def _keeps_updates(
        self, updates: list[tuple[int, int, int]], first: Ints, length: Ints, chain: Ints
    ) -> bool:
        """Whether nobody came between the read and the write of a transaction, and no two wrote after the
        same version."""
        seen: set[tuple[int, int]] = set()
        for transaction, key, read in updates:
            if self._all.fates[transaction] != COMMITTED:
                continue
            if (key, read) in seen or (read < length[key] and chain[first[key] + read] != transaction):
                return False
            seen.add((key, read))
        return True

    def _link_unread(
        self,
        readers: Ints,
        keys: Ints,
        shown: npt.NDArray[np.bool_],
        chain: Ints,
        first: Ints,
        length: Ints,
    ) -> None:
        """Committed appends that no read shows come after all that were seen."""
        ops = self._operations
        appends = np.flatnonzero(ops.is_append == 1)
        unread = appends[~shown & (self._all.fates[ops.transaction[appends]] == COMMITTED)]
        key, writer = ops.key[unread], ops.transaction[unread]
        known = length[key] > 0
        source = chain[(first[key] + length[key] - 1)[known]]
        target = writer[known]
        self._edges.append((source[source != target], target[source != target]))
        by_key: dict[int, set[int]] = {}
        for one, number in zip(key.tolist(), writer.tolist(), strict=True):
            by_key.setdefault(one, set()).add(number)
        is_late = np.zeros(len(length), bool)
        is_late[key] = True
        late = is_late[keys]
        tails: dict[int, list[int]] = {}
        for one, number in zip(keys[late].tolist(), readers[late].tolist(), strict=True):
            tails.setdefault(one, []).append(number)
        rw: tuple[list[int], list[int]] = ([], [])
        for one, numbers_of in tails.items():
            link_all(list(dict.fromkeys(numbers_of)), sorted(by_key[one]), rw, self._hubs)
        self._edges.append((np.array(rw[0], np.int64), np.array(rw[1], np.int64)))

    def is_acyclic(self) -> bool:
        """Whether data, sessions and time are in no contradiction."""
        known = self._all
        count = len(known.fates)
        node = count
        for hub in self._hubs:
            sources, targets = np.array(hub.sources, np.int64), np.array(hub.targets, np.int64)
            self._edges.append((sources, np.full(len(sources), node)))
            self._edges.append((np.full(len(targets), node), targets))
            node += 1
        self._edges.append(session_edges(known.sessions, known.fates == COMMITTED))
        closed = np.flatnonzero(known.fates == COMMITTED)
        self._edges += time_edges(known.began, known.ended, np.flatnonzero(self._taking_part), closed, node)
        return is_acyclic(node + len(closed), self._edges)


class _State:
    """What a transaction has done to a key so far."""

    __slots__ = ("last", "own", "read", "seen")

    def __init__(self) -> None:
        self.seen: list[int] | None = None
        self.own: list[int] = []
        self.last = -1
        self.read = -1
