"""Modes of locks, and which of them do not go together."""

from enum import StrEnum


class Lock(StrEnum):
    """What a statement takes on the rows it works on, until its transaction ends.

    InnoDB and those like it have two modes, PostgreSQL four, by the same names: its FOR UPDATE is EXCLUSIVE.
    """

    NONE = "none"
    KEY_SHARE = "key share"
    SHARE = "share"
    NO_KEY_UPDATE = "no key update"
    EXCLUSIVE = "exclusive"

    def conflicts_with(self, other: "Lock") -> bool:
        """Whether two transactions cannot hold these on one row."""
        return other in _ROW_CONFLICTS[self]


# https://www.postgresql.org/docs/current/explicit-locking.html#LOCKING-ROWS
_ROW_CONFLICTS = {
    Lock.NONE: frozenset[Lock](),
    Lock.KEY_SHARE: frozenset({Lock.EXCLUSIVE}),
    Lock.SHARE: frozenset({Lock.NO_KEY_UPDATE, Lock.EXCLUSIVE}),
    Lock.NO_KEY_UPDATE: frozenset({Lock.SHARE, Lock.NO_KEY_UPDATE, Lock.EXCLUSIVE}),
    Lock.EXCLUSIVE: frozenset({Lock.KEY_SHARE, Lock.SHARE, Lock.NO_KEY_UPDATE, Lock.EXCLUSIVE}),
}


class TableLock(StrEnum):
    """PostgreSQL's locks on tables, from weak to strong, as LOCK TABLE names them."""

    ACCESS_SHARE = "ACCESS SHARE"
    ROW_SHARE = "ROW SHARE"
    ROW_EXCLUSIVE = "ROW EXCLUSIVE"
    SHARE_UPDATE_EXCLUSIVE = "SHARE UPDATE EXCLUSIVE"
    SHARE = "SHARE"
    SHARE_ROW_EXCLUSIVE = "SHARE ROW EXCLUSIVE"
    EXCLUSIVE = "EXCLUSIVE"
    ACCESS_EXCLUSIVE = "ACCESS EXCLUSIVE"

    def conflicts_with(self, other: "TableLock") -> bool:
        """Whether two transactions cannot hold these on one table."""
        if self is other is TableLock.SHARE:
            return False
        order = list(TableLock)
        return order.index(other) >= order.index(_WEAKEST_CONFLICT[self])


# https://www.postgresql.org/docs/current/explicit-locking.html#LOCKING-TABLES: each mode conflicts with this
# one and all that are stronger, except that SHARE goes together with itself.
_WEAKEST_CONFLICT = {
    TableLock.ACCESS_SHARE: TableLock.ACCESS_EXCLUSIVE,
    TableLock.ROW_SHARE: TableLock.EXCLUSIVE,
    TableLock.ROW_EXCLUSIVE: TableLock.SHARE,
    TableLock.SHARE_UPDATE_EXCLUSIVE: TableLock.SHARE_UPDATE_EXCLUSIVE,
    TableLock.SHARE: TableLock.ROW_EXCLUSIVE,
    TableLock.SHARE_ROW_EXCLUSIVE: TableLock.ROW_EXCLUSIVE,
    TableLock.EXCLUSIVE: TableLock.ROW_SHARE,
    TableLock.ACCESS_EXCLUSIVE: TableLock.ACCESS_SHARE,
}
