"""Read committed, read atomic and causal consistency of Biswas and Enea, by AWDIT's rules (arXiv
2504.06975).

Each rule gives pairs of transactions of which the first has to be committed before the second: T3 reads x
of T1, and T2, which T3 sees, wrote x too; so T2 comes before T1, or T3 would have read T2's. The levels
differ in what T3 sees. The history conforms if these pairs, sessions and reads form no cycle.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import groupby
from typing import Any

from acidtest.histories.anomalies import Flaw
from acidtest.histories.resolved import INITIAL, Resolved

Reads = list[tuple[Any, int]]
"""Of one transaction, in order: keys, and whose versions were read."""


class Rule(StrEnum):
    """What a transaction sees of others."""

    COMMITTED = "session-read-committed"  # those that it has read from before
    ATOMIC = "read-atomic"  # those that it reads from, and what its session did before
    CAUSAL = "causal"  # all that comes before it in the order of sessions and reads

    @property
    def flaw(self) -> Flaw:
        """What breaks it."""
        return _FLAWS[self]


_FLAWS = {
    Rule.COMMITTED: Flaw.NON_MONOTONIC_READ,
    Rule.ATOMIC: Flaw.FRACTURED_READ,
    Rule.CAUSAL: Flaw.CAUSALITY,
}

Must = tuple[list[int], list[int], list[int]]
"""Who has to be committed before whom, and whose reads say so. INITIAL as a target: a contradiction."""


def commit_order(rule: Rule, resolved: Resolved, previous: Sequence[int], sessions: Sequence[int]) -> Must:
    """The pairs that a rule gives, each perhaps more than once."""
    found: Must = ([], [], [])
    written = resolved.written()
    if rule is Rule.CAUSAL:
        _causal(resolved, previous, sessions, written, found)
        return found
    last: dict[tuple[int, Any], int] = {}
    reads_of = _by_reader(resolved)
    upcoming = next(reads_of, None)
    for reader in range(len(resolved.transactions)):
        if upcoming is not None and upcoming[0] == reader:
            reads = upcoming[1]
            if rule is Rule.COMMITTED:
                _committed(reader, reads, written, found)
            else:
                _atomic(reader, sessions[reader], reads, written, last, found)
            upcoming = next(reads_of, None)
        if rule is Rule.ATOMIC:
            for key in written[reader]:
                last[sessions[reader], key] = reader
    return found


def _by_reader(resolved: Resolved) -> Iterator[tuple[int, Reads]]:
    readers, keys, writers = resolved.external()
    rows = zip(readers, keys, writers, strict=True)
    for reader, group in groupby(rows, lambda row: row[0]):
        yield reader, [(key, writer) for _, key, writer in group]


def _committed(reader: int, reads: Reads, written: Sequence[Sequence[Any]], found: Must) -> None:
    """From the last read to the first, with the next two writers of each key: the others follow."""
    if len(reads) < 2:
        return
    following: dict[Any, tuple[int, int]] = {}
    firsts: dict[int, int] = {}
    for at, (_, writer) in enumerate(reads):
        firsts.setdefault(writer, at)
    for at in range(len(reads) - 1, -1, -1):
        key, writer = reads[at]
        if writer != INITIAL and firsts[writer] == at and following:
            for other in _smaller(written[writer], following):
                one, two = following[other]
                target = two if one == writer else one
                if target not in (writer, _NONE):
                    _must(found, writer, target, reader)
        one, two = following.get(key, (_NONE, _NONE))
        if one != writer:
            following[key] = writer, one


_NONE = -3


def _smaller(keys: Sequence[Any], wanted: Mapping[Any, Any]) -> list[Any]:
    if len(keys) <= len(wanted):
        return [key for key in keys if key in wanted]
    own = set(keys)
    return [key for key in wanted if key in own]


def _must(found: Must, source: int, target: int, reader: int) -> None:
    found[0].append(source)
    found[1].append(target)
    found[2].append(reader)


def _atomic(
    reader: int,
    session: int,
    reads: Reads,
    written: Sequence[Sequence[Any]],
    last: Mapping[tuple[int, Any], int],
    found: Must,
) -> None:
    for key, writer in reads:
        before = last.get((session, key), writer)
        if before != writer:
            _must(found, before, writer, reader)
    if len(reads) < 2:
        return
    wanted: dict[Any, list[int]] = {}
    for key, writer in reads:
        wanted.setdefault(key, []).append(writer)
    for other in {writer for _, writer in reads}:
        if other == INITIAL:
            continue
        for key in _smaller(written[other], wanted):
            for writer in wanted[key]:
                if writer != other:
                    _must(found, other, writer, reader)


def _causal(
    resolved: Resolved,
    previous: Sequence[int],
    sessions: Sequence[int],
    written: Sequence[Sequence[Any]],
    found: Must,
) -> None:
    """A clock for each transaction: of every session the last transaction that comes before it."""
    known = resolved.transactions
    count = max(sessions, default=-1) + 1
    places = _places(sessions)
    history: dict[Any, dict[int, tuple[list[int], list[int]]]] = {}
    for number, keys in enumerate(written):
        for key in keys:
            at = history.setdefault(key, {}).setdefault(sessions[number], ([], []))
            at[0].append(places[number])
            at[1].append(number)
    reads_of = dict(_by_reader(resolved))
    clocks: dict[int, list[int]] = {}
    start = [-1] * count
    for number in _in_causal_order(reads_of, previous, len(known)):
        before = previous[number]
        clock = start if before < 0 else _with(clocks[before], sessions[before], places[before])
        for _, writer in reads_of.get(number, ()):
            if writer != INITIAL:
                clock = list(map(max, clock, _with(clocks[writer], sessions[writer], places[writer])))
        clocks[number] = clock
        for key, writer in reads_of.get(number, ()):
            for session, (times, numbers) in history.get(key, {}).items():
                latest = bisect_right(times, clock[session]) - 1
                if latest >= 0 and numbers[latest] not in (writer, number):
                    _must(found, numbers[latest], writer, number)


def _with(clock: list[int], session: int, place: int) -> list[int]:
    if clock[session] >= place:
        return clock
    return [*clock[:session], place, *clock[session + 1 :]]


def _places(sessions: Sequence[int]) -> list[int]:
    count: dict[int, int] = {}
    places = []
    for session in sessions:
        places.append(count.get(session, 0))
        count[session] = places[-1] + 1
    return places


def _in_causal_order(reads_of: Mapping[int, Reads], previous: Sequence[int], count: int) -> Iterator[int]:
    """Transactions after all that come before them; those on a cycle are left out."""
    waiting = [0] * count
    followers: dict[int, list[int]] = {}
    for number in range(count):
        sources = {writer for _, writer in reads_of.get(number, ()) if writer != INITIAL}
        if previous[number] >= 0:
            sources.add(previous[number])
        waiting[number] = len(sources)
        for source in sources:
            followers.setdefault(source, []).append(number)
    ready = [number for number in range(count) if not waiting[number]]
    while ready:
        number = ready.pop()
        yield number
        for other in followers.get(number, ()):
            waiting[other] -= 1
            if not waiting[other]:
                ready.append(other)
