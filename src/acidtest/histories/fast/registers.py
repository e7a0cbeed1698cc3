"""Clean histories of registers in Plume's text by arrays: read committed with sessions, and read atomic."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from acidtest.histories.columns import Source
from acidtest.histories.fast.arrays import Ints, is_acyclic, numbers, session_edges
from acidtest.histories.formats.text import CHUNK, chunks
from acidtest.histories.models import Model

_MODELS = frozenset(
    {"read-committed", "strong-session-read-committed", "read-atomic", "session-read-committed"}
)
_ALLOWED = b"0123456789rw(),-\n"
_CELLS_MAX = 1 << 27


def clean_registers(source: Source, model: Model, say: Callable[[str], object]) -> tuple[int, int] | None:
    """The number of transactions and of committed ones, if the history keeps the model."""
    if source.format != "plume" or model.name not in _MODELS:
        return None
    rows = _read(source, say)
    if rows is None:
        return None
    say("tracing reads, by arrays")
    history = _History(*rows)
    return history.counts() if history.is_clean(model.name) else None


def _read(source: Source, say: Callable[[str], object]) -> tuple[Ints, ...] | None:
    """Columns: whether it writes, key, value, session, transaction."""
    pieces: list[tuple[Ints, ...]] = []
    count = 0
    for _, data in chunks(source.path, CHUNK):
        if data.translate(None, _ALLOWED):
            return None
        text = np.frombuffer(data, np.uint8)
        found = numbers(text)
        lines = data.count(b"\n") + (not data.endswith(b"\n"))
        if found is None or len(found[0]) != 4 * lines:
            return None
        values, starts = found[0].reshape(-1, 4), found[1].reshape(-1, 4)
        minus = text[starts - 1] == ord("-")
        kind = text[starts[:, 0] - 2]
        if bool(minus[:, :3].any()) or not bool(((kind == ord("r")) | (kind == ord("w"))).all()):
            return None
        transaction = np.where(minus[:, 3], -values[:, 3], values[:, 3])
        pieces.append(((kind == ord("w")).astype(np.int64), *values[:, :3].T, transaction))
        count += lines
        say(f"{count:,} operations read")
    return tuple(np.concatenate([piece[at] for piece in pieces]) for at in range(5)) if pieces else None


class _History:
    def __init__(self, writes: Ints, key: Ints, value: Ints, session: Ints, transaction: Ints) -> None:
        self._writes, self._key, self._value, self._session = writes == 1, key, value, session
        aborted = transaction == -1
        begins = np.ones(len(key), bool)
        begins[1:] = (session[1:] != session[:-1]) | (transaction[1:] != transaction[:-1]) | aborted[1:]
        self._owner = np.cumsum(begins) - 1
        heads = np.flatnonzero(begins)
        self._sessions = session[heads]
        self._aborted = aborted[heads]
        names = (session * (int(transaction.max(initial=0)) + 1) + transaction)[heads[~aborted[heads]]]
        self._is_whole = len(np.unique(names)) == len(names) and int(transaction.min(initial=0)) >= -1
        self._count = len(heads)

    def counts(self) -> tuple[int, int]:
        """Transactions as the plain path counts them, and the committed ones."""
        reads_of_aborted = self._aborted[self._owner] & ~self._writes
        committed = int((~self._aborted).sum())
        return self._count - int(reads_of_aborted.sum()), committed

    def is_clean(self, model: str) -> bool:
        """Whether every read is of a committed, last version, and no rule is broken."""
        keys, width = int(self._key.max(initial=0)) + 1, int(self._value.max(initial=0)) + 1
        if not self._is_whole or keys * width > _CELLS_MAX:
            return False
        cells = self._key * width + self._value
        rows = np.flatnonzero(self._writes)
        written_at = np.full(keys * width, -1, np.int32)
        written_at[cells[rows]] = rows
        if bool((written_at[cells[rows]] != rows).any()):
            return False  # a value is written twice
        replaced = self._replaced()
        if replaced is None:
            return False
        reads = np.flatnonzero(~self._writes & ~self._aborted[self._owner])
        row = written_at[cells[reads]].astype(np.int64)
        own = (row >= 0) & (self._owner[row] == self._owner[reads])
        if bool((row[own] > reads[own]).any()):
            return False  # read before it was written
        reads, row = reads[~own], row[~own]
        if bool(((row < 0) & (self._value[reads] != 0)).any()) or bool(replaced[row[row >= 0]].any()):
            return False
        writer = np.where(row >= 0, self._owner[row], -1)
        if bool(self._aborted[writer[writer >= 0]].any()):
            return False
        return self._keeps(model, reads, writer)

    def _replaced(self) -> npt.NDArray[np.bool_] | None:
        """Which writes their own transaction replaced; None if one contradicts its own reads or writes."""
        code = self._owner * (int(self._key.max(initial=0)) + 1) + self._key
        order = np.argsort(code, kind="stable")
        one, two = order[:-1], order[1:]
        again = (code[one] == code[two]) & ~self._writes[two]
        if bool((self._value[one[again]] != self._value[two[again]]).any()):
            return None
        writes = order[self._writes[order]]
        found = np.zeros(len(code), bool)
        found[writes[:-1][code[writes[:-1]] == code[writes[1:]]]] = True
        return found

    def _keeps(self, model: str, reads: Ints, writer: Ints) -> bool:
        reader, key = self._owner[reads], self._key[reads]
        known = writer >= 0
        edges = [(writer[known], reader[known])]
        if model != "read-committed":
            edges.append(session_edges(self._sessions, ~self._aborted))
        if model in ("read-atomic", "session-read-committed"):
            must = self._must(reads, reader, key, writer, sessions=model == "read-atomic")
            if must is None:
                return False
            edges.append(must)
        return is_acyclic(self._count, edges)

    def _must(
        self, reads: Ints, reader: Ints, key: Ints, writer: Ints, sessions: bool
    ) -> tuple[Ints, Ints] | None:
        """Who has to be committed before whom (rules.py). What a transaction sees is taken too wide for read
        committed: all that it reads from, and not only what it read before; that it steps aside too often is
        all that comes of it."""
        found = [self._seen_by_reads(reader, key, writer)]
        if sessions:
            found.append(self._seen_in_session(reads, key, writer))
        sources = np.concatenate([one for one, _ in found])
        targets = np.concatenate([two for _, two in found])
        if bool((targets < 0).any()):
            return None
        return sources, targets

    def _seen_by_reads(self, reader: Ints, key: Ints, writer: Ints) -> tuple[Ints, Ints]:
        """Pairs of reads of one transaction: whoever is read from and wrote the other's key comes first."""
        size = int(self._key.max(initial=0)) + 1
        wrote = np.unique(self._owner[self._writes] * size + self._key[self._writes])
        sources: list[Ints] = []
        targets: list[Ints] = []
        start = np.flatnonzero(np.concatenate(([True], reader[1:] != reader[:-1]))) if len(reader) else reader
        length = np.diff(np.append(start, len(reader)))
        place = np.arange(len(reader)) - np.repeat(start, length)
        total = np.repeat(length, length)
        for step in range(1, int(length.max(initial=0))):
            # The read and the one `step` places on, in a circle: every pair in both directions.
            chosen = np.flatnonzero(total > step)
            other = chosen + step - np.where(place[chosen] + step >= total[chosen], total[chosen], 0)
            two, one = writer[other], writer[chosen]
            candidates = (two >= 0) & (two != one)
            chosen, two, one = chosen[candidates], two[candidates], one[candidates]
            code = two * size + key[chosen]
            at = np.searchsorted(wrote, code)
            hit = wrote[np.minimum(at, len(wrote) - 1)] == code
            sources.append(two[hit])
            targets.append(one[hit])
        return _joined(sources), _joined(targets)

    def _seen_in_session(self, reads: Ints, key: Ints, writer: Ints) -> tuple[Ints, Ints]:
        """The last write of the key that the session made before comes before the one that was read."""
        writes = np.flatnonzero(self._writes & ~self._aborted[self._owner])
        size = int(self._key.max(initial=0)) + 1
        group = np.concatenate(
            (self._session[writes] * size + self._key[writes], self._session[reads] * size + key)
        )
        place = np.concatenate((writes, reads))
        is_read = np.concatenate((np.zeros(len(writes), bool), np.ones(len(reads), bool)))
        order = np.lexsort((place, group))
        # The place of the last write up to here, as long as the group is the same and it is another's.
        positions = np.arange(len(order))
        last = np.maximum.accumulate(np.where(is_read[order], -1, positions))
        at = positions[is_read[order] & (last >= 0)]
        before = order[last[at]]
        at = order[at]
        fits = (group[before] == group[at]) & (self._owner[place[before]] != self._owner[place[at]])
        before, at = before[fits], at[fits]
        source, target = self._owner[place[before]], writer[at - len(writes)]
        differ = source != target
        return source[differ], target[differ]


def _joined(arrays: list[Ints]) -> Ints:
    return np.concatenate(arrays) if arrays else np.zeros(0, np.int64)
