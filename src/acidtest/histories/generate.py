"""Histories made by simulated databases of known isolation: what the checker and its speed are proved with.

Sessions run transactions at the same time; one seed makes one history. A serializable database runs a
transaction at one point in time. A snapshot database reads as of the begin and lets the first committer
win. A read committed one reads what is committed at the moment, and locks what it writes.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random
from typing import Any

from acidtest.histories.columns import READ, WRITE, Operations, Workload


class Isolation(StrEnum):
    """How the simulated database isolates transactions."""

    SERIALIZABLE = "serializable"
    SNAPSHOT = "snapshot"
    READ_COMMITTED = "read-committed"


@dataclass(frozen=True, slots=True)
class Shape:
    """What a history looks like. `writes`: of one key, before another takes its place."""

    transactions: int
    sessions: int = 20
    keys: int = 100
    writes: int = 40
    operations_max: int = 4
    read_share: float = 0.5
    abort_share: float = 0.01
    unknown_share: float = 0.001


@dataclass(frozen=True, slots=True)
class HappenedEvent:
    """An invocation (`invoke`) or a completion (`ok`, `fail`, `info`) with what was asked for or read."""

    kind: str
    process: int
    operations: Operations


def simulate(isolation: Isolation, workload: Workload, shape: Shape, seed: int) -> Iterator[HappenedEvent]:
    """The events of one history, in the order of time."""
    return _Simulation(isolation, workload, shape, Random(f"{seed} {isolation} {workload}")).events()


@dataclass(slots=True)
class _Running:
    process: int
    operations: Operations
    began: int
    done: Operations = field(default_factory=list)
    fate: str = ""


class _Database:
    """Committed versions of every key with the times at which they came."""

    def __init__(self, workload: Workload) -> None:
        self._lists = workload is Workload.LISTS
        self.clock = 0
        self._times: dict[int, list[int]] = {}
        self._values: dict[int, list[int]] = {}

    def read(self, key: int, at: int) -> Any:
        count = bisect_right(self._times.get(key, ()), at)
        if self._lists:
            return self._values[key][:count] if count else None
        return self._values[key][count - 1] if count else None

    def changed_since(self, key: int, at: int) -> bool:
        times = self._times.get(key)
        return times is not None and times[-1] > at

    def commit(self, writes: list[tuple[int, int]]) -> None:
        self.clock += 1
        for key, value in writes:
            self._times.setdefault(key, []).append(self.clock)
            self._values.setdefault(key, []).append(value)

    def forget(self, key: int) -> None:
        del self._times[key], self._values[key]


class _Simulation:
    def __init__(self, isolation: Isolation, workload: Workload, shape: Shape, dice: Random) -> None:
        self._isolation = isolation
        self._lists = workload is Workload.LISTS
        self._shape = shape
        self._dice = dice
        self._database = _Database(workload)
        self._keys = list(range(1, shape.keys + 1))
        self._next_key = shape.keys + 1
        self._written = dict.fromkeys(self._keys, 0)
        self._locks: dict[int, int] = {}

    def events(self) -> Iterator[HappenedEvent]:
        shape, dice = self._shape, self._dice
        running: list[_Running | None] = [None] * shape.sessions
        processes = list(range(shape.sessions))
        started = ended = 0
        while ended < shape.transactions:
            at = int(dice.random() * shape.sessions)
            one = running[at]
            if one is None:
                if started == shape.transactions:
                    continue
                started += 1
                one = running[at] = _Running(processes[at], self._draw(), self._database.clock)
                yield HappenedEvent("invoke", one.process, [_asked(each) for each in one.operations])
            elif one.fate:
                running[at] = None
                ended += 1
                yield HappenedEvent(one.fate, one.process, one.done)
                if one.fate == "info":
                    processes[at] += shape.sessions  # its process is never heard of again
            else:
                self._advance(one)

    def _draw(self) -> Operations:
        dice, shape = self._dice, self._shape
        operations: Operations = []
        for _ in range(1 + int(dice.random() * shape.operations_max)):
            place = int(dice.random() * shape.keys)
            key = self._keys[place]
            if dice.random() < shape.read_share:
                operations.append([READ, key, None])
                continue
            self._written[key] += 1
            operations.append([WRITE, key, self._written[key]])
            if self._written[key] == shape.writes:
                self._keys[place] = self._next_key
                self._written[self._next_key] = 0
                self._next_key += 1
        return operations

    def _advance(self, one: _Running) -> None:
        """One step: all operations, or one of them where each sees what is committed at the moment."""
        if self._isolation is Isolation.READ_COMMITTED:
            operation = one.operations[len(one.done)]
            if operation[0] == WRITE and self._locks.setdefault(operation[1], one.process) != one.process:
                self._give_up(one)
                return
            self._run(one, operation, self._database.clock)
            if len(one.done) < len(one.operations):
                return
        else:
            snapshot = self._isolation is Isolation.SNAPSHOT
            at = one.began if snapshot else self._database.clock
            for operation in one.operations:
                self._run(one, operation, at)
            if snapshot and self._conflicts(one):
                self._give_up(one)
                return
        self._end(one)
        self._unlock(one)

    def _give_up(self, one: _Running) -> None:
        one.fate = "fail"
        one.done = [_asked(each) for each in one.operations]
        self._unlock(one)

    def _unlock(self, one: _Running) -> None:
        for kind, key, _ in one.operations:
            if kind == WRITE and self._locks.get(key) == one.process:
                del self._locks[key]

    def _run(self, one: _Running, operation: list[Any], at: int) -> None:
        kind, key, value = operation
        if kind == READ:
            own = [each[2] for each in one.done if each[0] == WRITE and each[1] == key]
            seen = self._database.read(key, at)
            value = ([*(seen or ()), *own] or None) if self._lists else (own[-1] if own else seen)
        one.done.append([kind, key, value])

    def _conflicts(self, one: _Running) -> bool:
        return any(
            kind == WRITE and self._database.changed_since(key, one.began) for kind, key, _ in one.operations
        )

    def _end(self, one: _Running) -> None:
        chance = self._dice.random()
        one.fate = "ok"
        if chance < self._shape.abort_share:
            one.fate = "fail"
        elif chance < self._shape.abort_share + self._shape.unknown_share:
            one.fate = "info"
        if one.fate == "ok" or (one.fate == "info" and self._dice.random() < 0.5):
            self._database.commit([(key, value) for kind, key, value in one.done if kind == WRITE])
        if one.fate != "ok":
            one.done = [_asked(each) for each in one.operations]


def _asked(operation: list[Any]) -> list[Any]:
    """An operation as it is asked for: nothing was read yet."""
    kind, key, value = operation
    return [kind, key, value if kind == WRITE else None]
