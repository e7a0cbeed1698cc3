"""A serial order as a proof: if the transactions, run one after the other, read what they did read, the
history is serializable. Finding such an order is hard in general; this goes one way, and that it fails says
nothing.

A transaction can come next if its reads show what its keys hold by now, and if nobody still has to read
what it writes over: values are unique, so whoever comes too late would never see his version again. Both
are necessary in every serial order. Of several that can come next the one with the earliest deadline does.
Where no times are known, the order of the file is taken for a hint at them.
"""

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import Any

from acidtest.histories.columns import COMMITTED
from acidtest.histories.resolved import INITIAL, Resolved, Transactions

_ROUNDS = 3


def is_serial(resolved: Resolved, previous: Sequence[int], *, in_time: bool = True) -> bool:
    """Whether a serial order is found that keeps the order of sessions, and of time if that is known."""
    if resolved.anomalies:
        return False
    schedule = _Schedule(resolved, previous, in_time and resolved.transactions.timed)
    return schedule.run()


class _Schedule:
    def __init__(self, resolved: Resolved, previous: Sequence[int], in_time: bool) -> None:
        self._in_time = in_time
        self._known: Transactions = resolved.transactions
        count = len(self._known)
        self._members = [number for number in range(count) if resolved.taking_part[number]]
        self._previous = previous
        self._written = resolved.written()
        self._reads: dict[int, dict[Any, int]] = {}
        self._left: dict[tuple[Any, int], int] = {}
        for reader, key, writer in zip(*resolved.external(), strict=True):
            reads = self._reads.setdefault(reader, {})
            if key not in reads:
                reads[key] = writer
                self._left[key, writer] = self._left.get((key, writer), 0) + 1
        self._current: dict[Any, int] = {}
        self._done = bytearray(count)
        self._waiting: dict[Any, list[int]] = {}
        self._ready = list(self._members)
        self._closed = [one for one in self._members if self._known.fates[one] == COMMITTED]
        self._oldest = 0
        self._early: list[tuple[int, int]] = []
        self._rank = self._deadlines()
        self._needed_at = self._last_needs()
        self._queues = self._by_deadline()
        self._heads = dict.fromkeys(self._queues, 0)

    def run(self) -> bool:
        """Whether everything could be run."""
        rank = self._rank
        ready = [(rank[one], one) for one in self._ready]
        heapify(ready)
        ran = 0
        while ready:
            _, number = heappop(ready)
            if self._done[number] or self._must_wait(number):
                continue
            ran += 1
            for other in self._execute(number):
                heappush(ready, (rank[other], other))
        return ran == len(self._members)

    def _deadlines(self) -> list[int]:
        """By when each has to be run, as far as that is easily seen: before it ended, and before whoever read
        from it or came after it in its session."""
        known = self._known
        found = list(known.ended) if known.timed else list(range(len(known)))
        for _ in range(_ROUNDS):
            for number in reversed(self._members):
                mine = found[number]
                before = self._previous[number]
                if before >= 0 and found[before] > mine:
                    found[before] = mine
                for writer in self._reads.get(number, {}).values():
                    if writer != INITIAL and found[writer] > mine:
                        found[writer] = mine
        return found

    def _last_needs(self) -> dict[tuple[Any, int], int]:
        """When the last reader of each version began: so long it has to stay."""
        began = self._known.began if self._known.timed else self._previous
        found: dict[tuple[Any, int], int] = {}
        for reader, reads in self._reads.items():
            for version in reads.items():
                if began[reader] > found.get(version, -1):
                    found[version] = began[reader]
        return found

    def _by_deadline(self) -> dict[Any, list[int]]:
        """The writers of each key, the one with the earliest deadline first."""
        found: dict[Any, list[int]] = {}
        for number in self._members:
            for key in self._written[number]:
                found.setdefault(key, []).append(number)
        for queue in found.values():
            queue.sort(key=self._rank.__getitem__)
        return found

    def _goes_ahead(self, number: int, key: Any) -> int:
        """Another writer of the key who has to come first, because afterwards it would be too late; or -1."""
        needed = self._needed_at.get((key, number), -1)
        queue, head = self._queues[key], self._heads[key]
        while head < len(queue) and self._done[queue[head]]:
            head += 1
        self._heads[key] = head
        while head < len(queue) and self._rank[queue[head]] < needed:
            if queue[head] != number and not self._done[queue[head]]:
                return queue[head]
            head += 1
        return -1

    def _must_wait(self, number: int) -> bool:
        """Whether it cannot be run yet; then it is noted what it waits for."""
        before = self._previous[number]
        if before >= 0 and not self._done[before]:
            self._waiting.setdefault(before, []).append(number)
            return True
        if self._in_time and self._too_early(number):
            return True
        current = self._current
        reads = self._reads.get(number, {})
        for key, writer in reads.items():
            if current.get(key, INITIAL) != writer:
                self._waiting.setdefault((key, writer), []).append(number)
                return True
        for key in self._written[number]:
            version = key, current.get(key, INITIAL)
            if self._left.get(version, 0) > (reads.get(key) == version[1]):
                self._waiting.setdefault((key, version[1], "read"), []).append(number)
                return True
            first = self._goes_ahead(number, key)
            if first >= 0:
                self._waiting.setdefault(first, []).append(number)
                return True
        return False

    def _too_early(self, number: int) -> bool:
        """Whether somebody ended before it began and was not run yet."""
        known, closed = self._known, self._closed
        while self._oldest < len(closed) and self._done[closed[self._oldest]]:
            self._oldest += 1
        if self._oldest < len(closed) and known.ended[closed[self._oldest]] < known.began[number]:
            heappush(self._early, (known.began[number], number))
            return True
        return False

    def _execute(self, number: int) -> list[int]:
        """Run it; who may be able to run now."""
        self._done[number] = 1
        woken = self._waiting.pop(number, [])
        for key, writer in self._reads.get(number, {}).items():
            self._left[key, writer] -= 1
            # One is left: that may be the one who writes over it.
            if self._left[key, writer] <= 1:
                woken += self._waiting.pop((key, writer, "read"), [])
        for key in self._written[number]:
            self._current[key] = number
            woken += self._waiting.pop((key, number), [])
        known = self._known
        if self._early:
            while self._oldest < len(self._closed) and self._done[self._closed[self._oldest]]:
                self._oldest += 1
            end = (
                known.ended[self._closed[self._oldest]]
                if self._oldest < len(self._closed)
                else known.ended[-1] + 1
            )
            while self._early and (self._oldest == len(self._closed) or self._early[0][0] < end):
                woken.append(heappop(self._early)[1])
        return woken
