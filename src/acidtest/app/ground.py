"""The application's tables: what stands in them, and how to bring that back after a run.

The rows of every table that may be written are read once. After a run they are read again (the judge needs
them anyway), and the difference is taken back by primary key: added rows are deleted, lost ones inserted,
changed ones replaced. Then they are read once more, because a reset that is trusted is worth nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from acidtest.errors import UsageError
from acidtest.model import Row, Schema, State, Table, same_rows
from acidtest.sql.rendering import insert_rows, literal, quote_name
from acidtest.targets import Guest

ROWS_MOST = 20_000
"""Tables with more rows are too large to be read after each run."""


class Ground:
    """The tables under an exploration."""

    def __init__(self, guest: Guest, reset: Callable[[], object] | None) -> None:
        self._guest = guest
        self._reset = reset
        self.schema: Schema = guest.schema()
        self._tables = {table.name: table for table in self.schema.tables}
        self._all: State = {}
        self._large: frozenset[str] = frozenset()
        self.initial: dict[str, tuple[Row, ...]] = {}
        """The rows of the tables that operations write."""

    def remember(self) -> None:
        """Read all tables, before any operation has done anything."""
        names = [*self._tables]
        counts = self._guest.ask(";".join(f"SELECT count(*) FROM {self._quoted(name)}" for name in names))
        sizes = {name: int(str(count.rows[0][0])) for name, count in zip(names, counts, strict=True)}
        self._large = frozenset(name for name, size in sizes.items() if size > ROWS_MOST)
        self._all = self._guest.state([name for name in names if name not in self._large])
        self.initial = dict(self._all)

    def watch_only(self, written: Iterable[str], after: State) -> None:
        """From now on compare only tables that statements write, or that did change in a first run."""
        names = set(written)
        if large := sorted(names & self._large):
            raise UsageError(
                f"the table {large[0]} has more than {ROWS_MOST} rows, which is too many to compare after"
                " each run; test with fewer rows"
            )
        changed = {name for name, rows in self._all.items() if not same_rows(rows, after[name])}
        self.initial = {name: rows for name, rows in self._all.items() if name in names | changed}

    def also_watch(self, written: Iterable[str]) -> bool:
        """Compare these tables too; whether there were new ones."""
        new = {name for name in written if name in self._all and name not in self.initial}
        self.initial |= {name: self._all[name] for name in new}
        return bool(new)

    def check_all(self) -> None:
        """See that no table at all has changed."""
        self.initial = dict(self._all)
        self.check()

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables whose rows are kept in mind."""
        return tuple(sorted(self.initial))

    def rows_before(self, table: str) -> tuple[Row, ...]:
        """What stood in a table before the first run."""
        return self._all.get(table, ())

    def state(self) -> State:
        """What stands in them now."""
        return self._guest.state(self.tables)

    def restore(self, now: State) -> None:
        """Bring back what was there before; `now` is what was read last."""
        if self._reset is not None:
            self._reset()
        else:
            self._guest.change([*self._undo(now)])
        self.check()

    def check(self) -> None:
        """Refuse to go on if the tables are not as they were."""
        after = self.state()
        wrong = [name for name in self.tables if not same_rows(after[name], self.initial[name])]
        if wrong:
            how = "the reset does not restore" if self._reset is not None else "cannot restore"
            raise UsageError(
                f"{how} the table {wrong[0]}: it has {len(after[wrong[0]])} rows that differ from the"
                f" {len(self.initial[wrong[0]])} of before; give reset= a function that brings them back"
            )

    def _undo(self, now: State) -> Iterable[str]:
        deletes: list[tuple[str, str]] = []
        inserts: list[tuple[str, str]] = []
        for name in self.tables:
            table = self._tables[name]
            before, after = list(self.initial[name]), list(now[name])
            lost, added = _difference(before, after)
            if added:
                deletes.append(self._delete(table, added))
            if lost:
                inserts.append((name, insert_rows(table, lost, self._guest.dialect)))
        order = {name: position for position, name in enumerate(_parents_first(self._tables))}
        deletes.sort(key=lambda pair: -order[pair[0]])
        yield from (sql for _, sql in deletes)
        inserts.sort(key=lambda pair: order[pair[0]])
        yield from (sql for _, sql in inserts)

    def _delete(self, table: Table, rows: Sequence[Row]) -> tuple[str, str]:
        names = [column.name for column in table.columns]
        keys = next((index.columns for index in table.indexes if index.primary), None)
        positions = (
            [names.index(key) for key in keys] if keys and set(keys) <= set(names) else range(len(names))
        )
        conditions = " OR ".join(
            "(" + " AND ".join(self._equals(names[i], row[i]) for i in positions) + ")" for row in rows
        )
        return table.name, f"DELETE FROM {self._quoted(table.name)} WHERE {conditions}"

    def _equals(self, name: str, value: object) -> str:
        text = literal(value, self._guest.dialect)  # type: ignore[arg-type]
        return f"{self._quoted(name)} IS NULL" if value is None else f"{self._quoted(name)} = {text}"

    def _quoted(self, name: str) -> str:
        return quote_name(name, self._guest.dialect)


def _difference(before: Sequence[Row], after: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Rows that are gone, and rows that came."""
    left = list(after)
    lost = []
    for row in before:
        if row in left:
            left.remove(row)
        else:
            lost.append(row)
    return lost, left


def _parents_first(tables: Mapping[str, Table]) -> list[str]:
    """Tables so that those which others refer to come first, as far as there is no circle."""
    ordered: list[str] = []

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in ordered or name in path or name not in tables:
            return
        for key in tables[name].foreign_keys:
            visit(key.table, (*path, name))
        ordered.append(name)

    for name in tables:
        visit(name, ())
    return ordered
