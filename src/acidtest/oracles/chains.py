"""Version chains: every row's versions with their writers, for any number of tables and transactions.

This is Troc's database change history and Fucci's external multi-version chain. It decides nothing: what a
statement may see is for the claim to say (`replay.visibility`); the caller tells what it did.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from acidtest.model import Row
from acidtest.model.trace import INITIAL_WRITER

INITIAL = INITIAL_WRITER
"""The writer of the rows that were there before."""


@dataclass(frozen=True, slots=True)
class Version:
    """What a row became by a step of a transaction; without values it is a tombstone."""

    row: int
    values: Row | None
    writer: int
    step: int | None
    columns: frozenset[int] | None = None
    """The columns that the step set, where only those count; None: all."""

    @property
    def deleted(self) -> bool:
        return self.values is None


class Seen(NamedTuple):
    """A row as some statement sees it."""

    row: int
    values: Row


Visible = Callable[[Version], bool]


@dataclass(slots=True)
class Chains:
    """All versions so far. Transactions are numbers; a commit gets the next tick of the clock."""

    clock: int = 0
    _tables: dict[str, dict[int, list[Version]]] = field(default_factory=dict)
    _committed_at: dict[int, int] = field(default_factory=lambda: {INITIAL: 0})
    _written: dict[int, list[tuple[str, int]]] = field(default_factory=dict)
    _next_row: int = 1
    deletes_win: bool = False
    """Whether a row that anybody has deleted stays deleted, whoever commits last."""
    undone: list[tuple[str, Version]] = field(default_factory=list)
    """Versions that were taken back, with their tables, in the order in which that happened."""

    @classmethod
    def of(cls, state: Mapping[str, Sequence[Row]]) -> "Chains":
        """Chains that hold just these rows, as committed."""
        chains = cls()
        for table, rows in state.items():
            own = chains._tables[table] = {}
            for values in rows:
                own[chains._next_row] = [Version(chains._next_row, values, INITIAL, None)]
                chains._next_row += 1
        return chains

    # -- reading

    def tables(self) -> Sequence[str]:
        """Names of all tables."""
        return tuple(self._tables)

    def view(self, table: str, visible: Visible) -> list[Seen]:
        """Each row's newest visible version, in the order in which rows came to be; tombstones left out."""
        seen = []
        for row, versions in self._tables[table].items():
            for version in reversed(versions):
                if visible(version):
                    if version.values is not None:
                        seen.append(Seen(row, version.values))
                    break
        return seen

    def newest(self, table: str, row: int) -> Version:
        """The last version of a row, whoever wrote it."""
        return self._tables[table][row][-1]

    def versions(self, table: str, row: int) -> Sequence[Version]:
        """All versions of a row, oldest first."""
        return self._tables[table][row]

    def find(self, table: str, row: int) -> Sequence[Version]:
        """The versions of a row; none if it was taken back."""
        return self._tables[table].get(row, ())

    def rows(self, table: str) -> Iterator[tuple[int, Sequence[Version]]]:
        """All rows of a table with their versions."""
        yield from self._tables[table].items()

    def is_committed(self, writer: int) -> bool:
        """Whether a transaction has committed."""
        return writer in self._committed_at

    def committed_by(self, writer: int, moment: int) -> bool:
        """Whether a transaction had committed when the clock stood at `moment`."""
        return self._committed_at.get(writer, moment + 1) <= moment

    def committed_at(self, writer: int) -> int | None:
        """The tick at which a transaction committed; None if it did not."""
        return self._committed_at.get(writer)

    # -- writing

    def insert(self, table: str, values: Row, writer: int, step: int) -> int:
        """A new row."""
        row = self._next_row
        self._next_row += 1
        self._tables[table][row] = []
        self._append(table, Version(row, values, writer, step))
        return row

    def write(
        self,
        table: str,
        row: int,
        values: Row | None,
        writer: int,
        step: int,
        columns: frozenset[int] | None = None,
    ) -> None:
        """A new version of a row, or its tombstone. With `columns` only these are set, and the others are
        whatever they are when it commits."""
        self._append(table, Version(row, values, writer, step, columns))

    def reshape(self, table: str, change: Callable[[Row], Row]) -> None:
        """The table has got other columns: change every version of its rows."""
        for versions in self._tables[table].values():
            versions[:] = [
                one if one.values is None else replace(one, values=change(one.values)) for one in versions
            ]

    def mark(self, writer: int) -> int:
        """A savepoint: how much the transaction has written."""
        return len(self._written.get(writer, ()))

    def undo(self, writer: int, mark: int = 0) -> None:
        """Take back what the transaction wrote after a mark, or all of it."""
        written = self._written.get(writer, [])
        while len(written) > mark:
            table, row = written.pop()
            versions = self._tables[table][row]
            last_own = max(i for i, version in enumerate(versions) if version.writer == writer)
            self.undone.append((table, versions.pop(last_own)))
            if not versions:
                del self._tables[table][row]

    def commit(self, writer: int) -> None:
        """From now on others may see what the transaction wrote, as the newest versions of their rows."""
        self.clock += 1
        self._committed_at[writer] = self.clock
        for table, row in dict.fromkeys(self._written.get(writer, ())):
            # On engines that let two transactions write one row, the order of commits decides.
            versions = self._tables[table][row]
            versions.sort(key=lambda version: (self._is_final(version), version.writer == writer))
            self._put_together(versions, writer)

    def _put_together(self, versions: list[Version], writer: int) -> None:
        """Where only some columns were set, the others are as the last one to commit left them."""
        others = [one for one in versions if one.writer != writer and one.writer in self._committed_at]
        base = others[-1].values if others else None
        own = [one for one in versions if one.writer == writer and one.columns is not None]
        if base is None or not own or any(one.values is None for one in own):
            return
        columns = frozenset().union(*(one.columns or frozenset() for one in own))
        last = own[-1]
        assert last.values is not None
        merged = tuple(value if i in columns else base[i] for i, value in enumerate(last.values))
        versions[versions.index(last)] = replace(last, values=merged)

    def _is_final(self, version: Version) -> bool:
        return self.deletes_win and version.deleted and version.writer in self._committed_at

    def _append(self, table: str, version: Version) -> None:
        self._tables[table][version.row].append(version)
        self._written.setdefault(version.writer, []).append((table, version.row))
