"""Reads waits and blockers from SHOW ENGINE INNODB STATUS, for servers that tell them nowhere else in time.

With innodb_status_output_locks=ON each transaction is printed with its locks, at most ten of them; where the
lock in the way is not printed, the waiter is still named, without a blocker.
"""

import re
from collections.abc import Hashable, Iterator

from acidtest.targets.mysql_family.locks import Lock, ThreadWaits, who_blocks

_TRANSACTIONS = "LIST OF TRANSACTIONS FOR EACH SESSION:"
_WAITS = "\nLOCK WAIT "
_THREAD = re.compile(r"\n(?:MySQL|MariaDB) thread id (\d+)")
_LOCK_LINE = re.compile(
    r"\n(?:Record lock, heap no (\d+)"
    r"|RECORD LOCKS space id (\d+) page no (\d+) .* lock[_ ]mode (.*)"
    r"|TABLE LOCK table (.*) trx id \S+ lock[_ ]mode (.*))"
)
_WAITING = " waiting"
_HELD_FOR = " lock hold time "
_TIMES = re.compile(r" lock hold time \d+ wait time before grant \d+ *$")  # XtraDB, in MariaDB 10.1

_SUPREMUM = "1"  # the heap number of the end of a page: locks on it cover the gap before it only
_GAP = "locks gap before rec"
_RECORD = "locks rec but not gap"
_INSERT = "insert intention"

_Printed = tuple[int, Hashable, str, bool]
"""The fields of a `Lock`: few of the locks that are printed are in anybody's way."""

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
    printed: list[_Printed] = []
    waiting: set[int] = set()
    for transaction in listed.split("\n---TRANSACTION ")[1:]:
        thread = _THREAD.search(transaction)
        if thread is None:
            continue
        printed += _read_locks(int(thread[1]), transaction)
        if _WAITS in transaction:
            waiting.add(int(thread[1]))
    waited_for = {thing for _thread, thing, _mode, waits in printed if waits}
    blockers = who_blocks([Lock(*one) for one in printed if one[1] in waited_for], record_conflict)
    return {thread: blockers.get(thread, frozenset()) for thread in waiting}


def transactions_of(status: str) -> str:
    """The list of transactions; what stands above it may be about old ones (the latest deadlock)."""
    return status[status.rfind(_TRANSACTIONS) :]


def _read_locks(thread: int, transaction: str) -> Iterator[_Printed]:
    page = ("", "")
    mode, waiting = "", False
    for found in _LOCK_LINE.finditer(transaction):
        heap, space, number, record_mode, table, table_mode = found.groups()
        if heap is not None:
            yield thread, (*page, heap), mode, waiting
        elif table is not None:
            yield thread, table, *_read_mode(table_mode)
        else:
            page = (space, number)
            mode, waiting = _read_mode(record_mode)


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
