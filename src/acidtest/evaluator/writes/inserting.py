"""The rows that live while an INSERT goes from row to row."""

from dataclasses import dataclass, field

from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.writes.effect import Change, RowId, UniqueIndex, Work
from acidtest.evaluator.writes.links import Move
from acidtest.evaluator.writes.numbers import Numbers
from acidtest.model import ErrorKind, Row


@dataclass(slots=True)
class InsertRun:
    """Rows that live while an INSERT goes from row to row; its own new rows have negative identities."""

    table: str
    unique: tuple[UniqueIndex, ...]
    existing: Work
    numbers: Numbers | None
    live: dict[RowId, Row] = field(init=False)
    changes: list[Change] = field(default_factory=list)
    touched: list[RowId] = field(default_factory=list)
    updated: set[RowId] = field(default_factory=set)
    moves: list[Move] = field(default_factory=list)
    also: set[ErrorKind] = field(default_factory=set)
    """Errors that the row which fails may end with as well."""
    count: int = 0
    uncounted: int = 0
    """Rows that the DBMS may or may not count."""
    returned: list[Row] = field(default_factory=list)
    offered: list[Row] = field(default_factory=list)
    met: list[RowId] = field(default_factory=list)
    """Living rows whose keys new rows came upon."""
    meets_several: bool = False

    def __post_init__(self) -> None:
        self.live = dict(self.existing)

    def take_number(self) -> int:
        """The next automatic number."""
        if self.numbers is None:
            raise Unknown("the next automatic number")
        return self.numbers.take()

    def first_twins(self, row: Row, primary: frozenset[str]) -> list[RowId]:
        """The row that is met first: by the primary key, which is looked at before other keys."""
        found = self.twins(row, primary) if primary else []
        if found:
            return found
        others = [one.name for one in self.unique if one.name not in primary]
        met = [twins for name in others if (twins := self.twins(row, frozenset({name})))]
        if len(met) > 1 and any(twins != met[0] for twins in met):
            raise Unknown("an upsert that meets several rows")
        return met[0] if met else []

    def twins(self, row: Row, names: frozenset[str] = frozenset()) -> list[RowId]:
        """Living rows that have a key of the row, in these indexes or in all, by index."""
        found: dict[RowId, None] = {}
        for index in self.unique:
            if names and index.name not in names:
                continue
            key = index.key(row)
            if key is not None:
                found |= {one: None for one, values in self.live.items() if index.key(values) == key}
        return list(found)

    def offered_twin(self, row: Row, *, nulls_are_equal: bool) -> bool:
        """Whether the statement had a row with a key of this one before. DuckDB looks at all rows together,
        NULLs being equal, and keeps one of such a group, not always the first (measured on 2.0)."""
        found = any(
            index.key(other) == key
            for index in self.unique
            if (key := index.key(row)) is not None or nulls_are_equal
            for other in self.offered
        )
        self.offered.append(row)
        return found

    def add(self, row: Row) -> None:
        own = -len(self.changes) - 1
        self.live[own] = row
        self.moves.append(Move(self.table, own, None, row))
        self.changes.append(Change(None, row))
        self.returned.append(row)
        self.count += 1

    def remove(self, row: RowId) -> None:
        """End a row; one of the statement's own was never there."""
        values = self.live.pop(row)
        self.moves.append(Move(self.table, row, values, None))
        if row < 0:
            self.changes[-row - 1] = Change(None, None)
        else:
            self.changes.append(Change(row, None))
            self.touched.append(row)

    def replace(self, row: RowId, values: Row) -> None:
        """A new version of a row, of one of the statement's own too."""
        others = {other: own for other, own in self.live.items() if other != row}
        for index in self.unique:
            key = index.key(values)
            if key is not None and any(index.key(own) == key for own in others.values()):
                raise EvaluationError(ErrorKind.DUPLICATE_KEY)
        self.moves.append(Move(self.table, row, self.live[row], values))
        self.live[row] = values
        self.returned.append(values)
        if row < 0:
            self.changes[-row - 1] = Change(None, values)
        else:
            self.changes.append(Change(row, values))
            self.touched.append(row)
            self.updated.add(row)

    def made(self) -> tuple[Change, ...]:
        """The changes that are left."""
        return tuple(one for one in self.changes if one.row is not None or one.values is not None)
