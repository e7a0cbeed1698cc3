"""Rows as chains of versions, and what the ends of transactions do to them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from acidtest.model import Level, Row, Schema, Table
from acidtest.simulated import faults
from acidtest.simulated.faults import Planted


@dataclass(slots=True, eq=False)
class Transaction:
    """Lives from BEGIN (or from a statement outside of one) to its end. `log`: all it wrote, in order."""

    level: Level
    implicit: bool = False
    read_only: bool = False
    snapshot: int | None = None
    log: list["Version"] = field(default_factory=list)
    savepoints: list["Savepoint"] = field(default_factory=list)
    rolled_back: bool = False
    failed: bool = False
    """An error undid what it did; it waits for its ROLLBACK."""


@dataclass(frozen=True, slots=True)
class Savepoint:
    """A point to go back to: how many versions were written by then."""

    name: str
    position: int


@dataclass(slots=True, eq=False)
class Version:
    """A row as one write left it; no values: it ended the row. Undone versions stay, and nobody sees them."""

    row: "StoredRow"
    values: Row | None
    writer: Transaction
    committed_at: int | None = None
    undone: bool = False


Sees = Callable[[Version], bool]


@dataclass(slots=True, eq=False)
class StoredRow:
    """One row through time, oldest version first."""

    heap: "Heap"
    number: int
    versions: list[Version] = field(default_factory=list)

    def version(self, sees: Sees) -> Version | None:
        """The newest version that is seen."""
        return next((version for version in reversed(self.versions) if sees(version)), None)

    def values(self, sees: Sees) -> Row | None:
        """The row as it is seen; None if it is deleted or not there yet."""
        version = self.version(sees)
        return version.values if version else None

    def buried(self) -> Row | None:
        """What it was before it was deleted, by whomever; None if it lives."""
        versions = [version for version in self.versions if not version.undone]
        if not versions or versions[-1].values is not None:
            return None
        return next((one.values for one in reversed(versions) if one.values is not None), None)

    def pending(self, but: Transaction) -> Iterator[Row]:
        """What other transactions wrote here and may yet commit or take back."""
        for version in self.versions:
            open_ = version.committed_at is None and not version.undone and version.writer is not but
            if open_ and version.values is not None:
                yield version.values


@dataclass(slots=True, eq=False)
class Heap:
    """A table with its rows by number."""

    table: Table
    rows: dict[int, StoredRow] = field(default_factory=dict)
    next_number: int = 1
    """The next value of the AUTO_INCREMENT column."""

    @property
    def kept_by(self) -> str | None:
        """The index that rows are kept by: the primary key, or the only unique one without NULLs."""
        nullable = {column.name for column in self.table.columns if column.nullable}
        sure = [one for one in self.table.indexes if one.unique and nullable.isdisjoint(one.columns)]
        primary = [one for one in sure if one.primary]
        chosen = primary or sure
        return chosen[0].name if len(chosen) == 1 else None

    def new_row(self) -> StoredRow:
        """A row without any version."""
        row = StoredRow(self, len(self.rows))
        self.rows[row.number] = row
        return row

    def seen(self, sees: Sees) -> list[tuple[int, Row]]:
        """Numbers and values of the rows that are seen."""
        found = ((number, row.values(sees)) for number, row in self.rows.items())
        return [(number, values) for number, values in found if values is not None]


class Database:
    """All tables, and the clock that counts commits."""

    def __init__(self, planted: Planted) -> None:
        self._planted = planted
        self.heaps: dict[str, Heap] = {}
        self.clock = 0
        self.schema = Schema()

    def define(self, table: Table) -> None:
        """Make a table, or change how one is described."""
        if table.name in self.heaps:
            self.heaps[table.name].table = table
        else:
            self.heaps[table.name] = Heap(table)
        self._describe()

    def drop(self, name: str) -> None:
        """Remove a table with its rows."""
        del self.heaps[name]
        self._describe()

    def _describe(self) -> None:
        self.schema = Schema(tuple(self.heaps[name].table for name in sorted(self.heaps)))

    def write(self, transaction: Transaction, row: StoredRow, values: Row | None) -> None:
        """Add a version to a row."""
        version = Version(row, values, transaction)
        row.versions.append(version)
        transaction.log.append(version)

    def commit(self, transaction: Transaction) -> None:
        """Make all that it wrote visible at once."""
        log = transaction.log
        if not log:
            return
        self.clock += 1
        for version in log:
            version.committed_at = self.clock
        if self._planted.has(faults.TORN_COMMIT):
            for version in log[(len(log) + 1) // 2 :]:
                version.committed_at = self.clock + 1
        if self._planted.has(faults.COMMIT_LOSES_ROW) and len(log) > 1:
            log[-1].undone = True

    def put_last(self, transaction: Transaction) -> None:
        """Make what it wrote the newest of each row: where nobody waits, the order of commits decides."""
        for row in dict.fromkeys(version.row for version in transaction.log):
            row.versions.sort(key=lambda version: version.writer is transaction)

    def roll_back(self, transaction: Transaction) -> None:
        """Undo all that it wrote."""
        transaction.rolled_back = True
        log = list(transaction.log)
        self.undo(transaction, 0)
        if self._planted.has(faults.ROLLBACK_KEEPS_ROW) and log:
            log[0].undone, log[0].committed_at = False, self.clock
        if self._planted.has(faults.ROLLBACK_DUPLICATES_ROW):
            self._duplicate_deleted(log)

    def undo(self, transaction: Transaction, down_to: int) -> None:
        """Undo what it wrote after its first `down_to` versions."""
        for version in transaction.log[down_to:]:
            version.undone = True
        del transaction.log[down_to:]

    def _duplicate_deleted(self, log: list[Version]) -> None:
        deleted = next((version.row for version in log if version.values is None), None)
        values = deleted.values(is_committed) if deleted else None
        if deleted and values is not None:
            twin = deleted.heap.new_row()
            twin.versions.append(Version(twin, values, log[0].writer, committed_at=self.clock))

    def committed_rows(self, name: str) -> list[Row]:
        """The rows of a table that a new transaction would find."""
        return [values for _, values in self.heaps[name].seen(is_committed)]

    def settle(self) -> None:
        """Forget the past: each row keeps its committed version, which every snapshot shows."""
        for heap in self.heaps.values():
            for row in heap.rows.values():
                row.versions = [version for version in (row.version(is_committed),) if version is not None]
                for version in row.versions:
                    version.committed_at = 0


def is_committed(version: Version) -> bool:
    """Whether everybody may come to see it."""
    return version.committed_at is not None and not version.undone
