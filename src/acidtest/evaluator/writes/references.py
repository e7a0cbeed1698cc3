"""The foreign keys that have to do with one table."""

from collections.abc import Callable, Mapping, Sequence

from acidtest.evaluator.dialect import Dialect
from acidtest.evaluator.writes.cascading import Cascade
from acidtest.evaluator.writes.effect import RowId, Run
from acidtest.evaluator.writes.links import Consequences, Link, Move, Rows, links_around
from acidtest.model import Row, Schema, Table


class References:
    """The foreign keys that connect a table with others, and those with further ones."""

    def __init__(self, table: Table, schema: Schema, dialect: Dialect) -> None:
        self._table = table
        self._schema = schema
        self._dialect = dialect
        self._links = (
            links_around(table, schema, dialect) if any(t.foreign_keys for t in schema.tables) else []
        )
        names = {one.name for link in self._links for one in (link.child, link.parent)}
        self.tables = tuple(sorted(names))

    @property
    def concerned(self) -> bool:
        """Whether any foreign key has to do with the table."""
        return bool(self._links)

    def has_parents(self, row: Row, live: Mapping[RowId, Row], run: Run) -> bool:
        """Whether a new row refers to rows that are there; it may refer to itself."""
        return all(
            self._parent(link, row, self._rows(link.parent, {**live, 0: row}, run)) is not None
            for link in self._links
            if link.child is self._table and link.child_key(row) is not None
        )

    def follow(self, moves: Sequence[Move], live: Mapping[RowId, Row], run: Run) -> Consequences:
        """What follows from the moves of a statement, where `live` are the rows of its table afterwards."""
        found = Consequences()
        if self._links and moves:
            Cascade(self._links, self._schema, self._dialect, found, self._states(live, run), moves).run()
        return found

    def _states(self, live: Mapping[RowId, Row], run: Run) -> Callable[[Table], Rows]:
        cache: dict[str, Rows] = {self._table.name: dict(live)}

        def rows(table: Table) -> Rows:
            if table.name not in cache:
                cache[table.name] = dict(run.referred(table.name))
            return cache[table.name]

        return rows

    def _rows(self, table: Table, live: Mapping[RowId, Row], run: Run) -> Mapping[RowId, Row]:
        return live if table is self._table else dict(run.referred(table.name))

    def _parent(self, link: Link, row: Row, parents: Mapping[RowId, Row]) -> RowId | None:
        key = link.child_key(row)
        return next((one for one, values in parents.items() if link.parent_key(values) == key), None)
