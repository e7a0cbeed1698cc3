"""Reads waits and blockers from SHOW ENGINE INNODB STATUS, for servers that tell them nowhere else in time.

With innodb_status_output_locks=ON each transaction is printed with its locks, at most ten of them; where the
lock in the way is not printed, the waiter is still named, without a blocker.
"""

import re
from collections.abc import Iterator

from acidtest.targets.mysql_family.locks import Lock, ThreadWaits, who_blocks

_TRANSACTIONS = "LIST OF TRANSACTIONS FOR EACH SESSION:"
_WAITS = "\nLOCK WAIT "
_THREAD = re.compile(r"\n(?:MySQL|MariaDB) thread id (\d+)")
_RECORD_LOCKS = "\nRECORD LOCKS "
_WAITED_RECORD = re.compile(
    r"\nRECORD LOCKS space id (\d+) page no (\d+) .* lock[_ ]mode .* waiting.*\nRecord lock, heap no (\d+)"
)
_TABLE_LOCK = re.compile(r"\nTABLE LOCK table (.*) trx id \S+ lock[_ ]mode (.*)")
_MODE = re.compile(r".* lock[_ ]mode (.*)")
_HEAPS = re.compile(r"\nRecord lock, heap no (\d+)")
_WAITING = " waiting"
_HELD_FOR = " lock hold time "
_TIMES = re.compile(r" lock hold time \d+ wait time before grant \d+ *$")  # XtraDB, in MariaDB 10.1

_SUPREMUM = "1"  # the heap number of the end of a page: locks on it cover the gap before it only
_GAP = "locks gap before rec"
_RECORD = "locks rec but not gap"
_INSERT = "insert intention"

_Record = tuple[str, str, str]
"""A record by its space, its page and its heap number there."""

_COMPATIBLE = {
    "IS": {"IS", "IX", "S", "AUTO-INC"},
    "IX": {"IS", "IX", "AUTO-INC"},
    "S": {"IS", "S"},
    "AUTO-INC": {"IS", "IX"},
}


def read_status(status: str) -> ThreadWaits:
    """Who waits for whom, by thread number."""
    listed = transactions_of(status)
    if _WAITS not in listed:
        return {}
    transactions = [
        (int(thread[1]), text)
        for text in listed.split("\n---TRANSACTION ")[1:]
        if (thread := _THREAD.search(text)) is not None
    ]
    waiting = [(thread, text) for thread, text in transactions if _WAITS in text]
    # Few of the locks that are printed are in anybody's way, so only those are read that are waited for.
    waited_for = {thing for _thread, text in waiting for thing in _waited_for(text)}
    locks = [
        lock
        for thing in waited_for
        for thread, text in transactions
        for lock in _locks_on(thing, thread, text)
    ]
    blockers = who_blocks(locks, record_conflict)
    return {thread: blockers.get(thread, frozenset()) for thread, _text in waiting}


def transactions_of(status: str) -> str:
    """The list of transactions; what stands above it may be about old ones (the latest deadlock)."""
    return status[status.rfind(_TRANSACTIONS) :]


def _waited_for(transaction: str) -> Iterator[_Record | str]:
    """The record or table whose lock a waiting transaction waits for, if it is printed."""
    if found := _WAITED_RECORD.search(transaction):
        yield found[1], found[2], found[3]
        return
    for table, mode in _TABLE_LOCK.findall(transaction):
        if _read_mode(mode)[1]:
            yield table


def _locks_on(thing: _Record | str, thread: int, transaction: str) -> Iterator[Lock]:
    """The locks that a transaction has, or waits for, on a record or a table."""
    if isinstance(thing, str):
        for table, mode in _TABLE_LOCK.findall(transaction):
            if table == thing:
                yield Lock(thread, thing, *_read_mode(mode))
        return
    space, number, heap = thing
    page = f"space id {space} page no {number} "
    for part in transaction.split(_RECORD_LOCKS)[1:]:
        if part.startswith(page) and heap in _HEAPS.findall(part) and (mode := _MODE.match(part)):
            yield Lock(thread, thing, *_read_mode(mode[1]))


def _read_mode(text: str) -> tuple[str, bool]:
    """The mode, and whether it is only asked for."""
    if _HELD_FOR in text:
        text = _TIMES.sub("", text)
    return text.removesuffix(_WAITING), text.endswith(_WAITING)


def record_conflict(asked: Lock, other: Lock) -> bool:
    """InnoDB's rule for two locks on one record (with the gap before it) or on one table."""
    if other.mode.split()[0] in _COMPATIBLE.get(asked.mode.split()[0], ()):
        return False
    if isinstance(asked.thing, str):  # a table
        return True
    if _INSERT in other.mode:
        return False  # an insert holds up nobody's lock on the gap
    if _INSERT in asked.mode:
        return _RECORD not in other.mode
    on_gap_only = _GAP in asked.mode or asked.thing[2] == _SUPREMUM  # type: ignore[index]
    return not on_gap_only and _GAP not in other.mode
