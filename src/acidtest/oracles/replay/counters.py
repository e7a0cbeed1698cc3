"""The automatic numbers that tables give to new rows."""

from acidtest.evaluator.writes import Effect
from acidtest.model import Table
from acidtest.oracles.replay.context import Context


class Counters:
    """The next automatic number of each table that has one and whose numbers can be told."""

    def __init__(self, context: Context) -> None:
        self._schema = context.history.schema
        self._next: dict[str, int] = {}
        if any(one.claim.numbers_from_sequence for one in context.transactions.sessions.values()):
            return
        for table in self._schema.tables:
            if any(column.auto_increment for column in table.columns):
                position = _counter_position(table)
                used = [row[position] for row in context.history.initial.get(table.name, ())]
                self._next[table.name] = max((one for one in used if isinstance(one, int)), default=0) + 1

    def next(self, table: str) -> int | None:
        """The number for the next row; None if the table does not count, or it is not known how."""
        return self._next.get(table)

    def advance(self, table: str, effect: Effect) -> None:
        """The counter never goes back, whatever becomes of the rows."""
        if table not in self._next:
            return
        position = _counter_position(self._schema.table(table))
        explicit = [
            value + 1
            for change in effect.changes
            if change.values is not None
            and not change.table
            and isinstance(value := change.values[position], int)
        ]
        self._next[table] = max([self._next[table] + effect.numbered, *explicit])


def _counter_position(table: Table) -> int:
    """The position of the column that counts by itself."""
    return next(i for i, column in enumerate(table.columns) if column.auto_increment)
