"""Reads waits and blockers from SHOW ENGINE INNODB STATUS, for servers that tell them nowhere else in time.

With innodb_status_output_locks=ON each transaction is printed with its locks, at most ten of them; where the
lock in the way is not printed, the waiter is still named, without a blocker.
"""

import re
from collections.abc import Iterator

from acidtest.targets.mysql_family.locks import Lock, ThreadWaits, who_blocks

_TRANSACTIONS = "LIST OF TRANSACTIONS FOR EACH SESSION:"
_WAITS = "\nLOCK WAIT "
_THREAD = re.compile(r"^(?:MySQL|MariaDB) thread id (\d+)", re.MULTILINE)
_RECORD_LOCKS = re.compile(r"RECORD LOCKS space id (\d+) page no (\d+) .* lock[_ ]mode (.*)")
_TABLE_LOCK = re.compile(r"TABLE LOCK table (.*) trx id \S+ lock[_ ]mode (.*)")
_HEAP = re.compile(r"Record lock, heap no (\d+)")
_WAITING = " waiting"
_TIMES = re.compile(r" lock hold time \d+ wait time before grant \d+ *$")  # XtraDB, in MariaDB 10.1

_SUPREMUM = "1"  # the heap number of the end of a page: locks on it cover the gap before it only
_GAP = "locks gap before rec"
_RECORD = "locks rec but not gap"
_INSERT = "insert intention"

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
    locks: list[Lock] = []
    waiting: set[int] = set()
    for transaction in listed.split("\n---TRANSACTION ")[1:]:
        thread = _THREAD.search(transaction)
        if thread is None:
            continue
        locks += _read_locks(int(thread[1]), transaction)
        if _WAITS in transaction:
            waiting.add(int(thread[1]))
    blockers = who_blocks(locks, record_conflict)
    return {thread: blockers.get(thread, frozenset()) for thread in waiting}


def transactions_of(status: str) -> str:
    """The list of transactions; what stands above it may be about old ones (the latest deadlock)."""
    return status[status.rfind(_TRANSACTIONS) :]


def _read_locks(thread: int, transaction: str) -> Iterator[Lock]:
    page = ("", "")
    mode, waiting = "", False
    for line in (_TIMES.sub("", line) for line in transaction.splitlines()):
        if heap := _HEAP.match(line):
            yield Lock(thread, (*page, heap[1]), mode, waiting)
        elif found := _RECORD_LOCKS.match(line):
            page = (found[1], found[2])
            mode, waiting = found[3].removesuffix(_WAITING), found[3].endswith(_WAITING)
        elif found := _TABLE_LOCK.match(line):
            text = found[2]
            yield Lock(thread, found[1], text.removesuffix(_WAITING), text.endswith(_WAITING))


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
