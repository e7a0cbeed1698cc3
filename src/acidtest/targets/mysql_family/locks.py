"""From locks held and asked for to who waits for whom."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass

ThreadWaits = Mapping[int, frozenset[int]]
"""Waits by the server's own thread numbers."""


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock that a thread holds, or waits for, on something."""

    thread: int
    thing: Hashable
    mode: str
    waiting: bool


Conflict = Callable[[Lock, Lock], bool]
"""Whether the first lock, asked for, has to wait for the second on the same thing."""


def who_blocks(locks: Iterable[Lock], conflict: Conflict) -> ThreadWaits:
    """For each waiting thread those that hold a lock in its way.

    Where nobody holds one, a request that came earlier is in the way; the order of requests is not told, so
    only those count that wait for a holder themselves. That never closes a circle that is not there.
    """
    by_thing: dict[Hashable, list[Lock]] = {}
    waiting: list[Lock] = []
    for lock in locks:
        by_thing.setdefault(lock.thing, []).append(lock)
        if lock.waiting:
            waiting.append(lock)

    def in_the_way(lock: Lock, of_waiters: bool) -> set[int]:
        return {
            other.thread
            for other in by_thing[lock.thing]
            if other.thread != lock.thread and other.waiting == of_waiters and conflict(lock, other)
        }

    blockers: dict[int, set[int]] = {}
    for lock in waiting:
        blockers.setdefault(lock.thread, set()).update(in_the_way(lock, of_waiters=False))
    held_up = {thread for thread, own in blockers.items() if own}
    for lock in waiting:
        if lock.thread not in held_up:
            blockers[lock.thread] |= in_the_way(lock, of_waiters=True) & held_up
    return {thread: frozenset(own) for thread, own in blockers.items()}


# Metadata locks: for each kind asked for, the kinds held by others that it can share the object with.
# https://dev.mysql.com/doc/refman/8.4/en/performance-schema-metadata-locks-table.html names the kinds.
_READS = frozenset(("SHARED", "SHARED_HIGH_PRIO", "SHARED_READ"))
_WRITES = frozenset(("SHARED_WRITE", "SHARED_WRITE_LOW_PRIO"))
_METADATA_COMPATIBLE: dict[str, frozenset[str]] = {
    "SHARED": _READS
    | _WRITES
    | {"SHARED_UPGRADABLE", "SHARED_READ_ONLY", "SHARED_NO_WRITE", "SHARED_NO_READ_WRITE"},
    "SHARED_READ": _READS | _WRITES | {"SHARED_UPGRADABLE", "SHARED_READ_ONLY", "SHARED_NO_WRITE"},
    "SHARED_WRITE": _READS | _WRITES | {"SHARED_UPGRADABLE"},
    "SHARED_UPGRADABLE": _READS | _WRITES | {"SHARED_READ_ONLY"},
    "SHARED_READ_ONLY": _READS | {"SHARED_UPGRADABLE", "SHARED_READ_ONLY", "SHARED_NO_WRITE"},
    "SHARED_NO_WRITE": _READS | {"SHARED_READ_ONLY"},
    "SHARED_NO_READ_WRITE": frozenset(("SHARED", "SHARED_HIGH_PRIO")),
    "EXCLUSIVE": frozenset(),
    "INTENTION_EXCLUSIVE": frozenset(("INTENTION_EXCLUSIVE",)),
}
_METADATA_COMPATIBLE["SHARED_HIGH_PRIO"] = _METADATA_COMPATIBLE["SHARED"]
_METADATA_COMPATIBLE["SHARED_WRITE_LOW_PRIO"] = _METADATA_COMPATIBLE["SHARED_WRITE"]


def metadata_conflict(asked: Lock, other: Lock) -> bool:
    """Whether a metadata lock asked for has to wait for another; kinds unknown to us always do."""
    return other.mode not in _METADATA_COMPATIBLE.get(asked.mode, frozenset())
