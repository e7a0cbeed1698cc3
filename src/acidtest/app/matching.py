"""Whether two final states, or two results, are the same but for values that nobody chose.

Generated keys, sequence numbers, timestamps and random tokens differ from run to run. Such *opaque* values
are matched by what hangs on them: a value is known by the rows in which it stands (colour refinement). Two
states that correspond always get the same colours, so no difference is reported where there is none.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import date, datetime, time
from uuid import UUID

from acidtest.model import Row, Schema, State, Value

ROUNDS = 4

Colour = int
Opaque = tuple[str, Value]
"""A domain of values (columns that refer to each other share one) and a value in it."""
Path = tuple[str, ...]


class Matcher:
    """Compares states of one schema."""

    def __init__(self, schema: Schema, initial: State) -> None:
        self._columns = {table.name: [column.name for column in table.columns] for table in schema.tables}
        self._domains = _domains(schema)
        self._initial = initial
        self._known: dict[str, set[Value]] = {}
        self._note_known(initial)

    def _note_known(self, state: State) -> None:
        for table, rows in state.items():
            for row in rows:
                for column, value in zip(self._columns[table], row, strict=True):
                    domain = self._domains.get((table, column))
                    if domain is None and isinstance(value, datetime):
                        domain = f"{table}.{column}"
                    if domain is not None:
                        self._known.setdefault(domain, set()).add(value)

    def add_volatile(self, one: State, other: State) -> None:
        """Learn from two runs of the same order which columns hold values that nobody chose."""
        for table in one:
            names = self._columns[table]
            for position, name in enumerate(names):
                if (table, name) in self._domains:
                    continue
                first = Counter(row[position] for row in one[table])
                second = Counter(row[position] for row in other.get(table, ()))
                if first != second and len(one[table]) == len(other.get(table, ())):
                    self._domains[table, name] = f"{table}.{name}"
        self._note_known(self._initial)

    def colours(self, state: State) -> dict[Opaque, Colour]:
        """The colour of each opaque value of a state."""
        places = self._places(state)
        colours = {opaque: hash(opaque[0]) for opaque in places}
        for _ in range(ROUNDS):
            colours = {
                opaque: hash(
                    (colours[opaque], tuple(sorted(self._seen_from(place, colours) for place in own)))
                )
                for opaque, own in places.items()
            }
        return colours

    def _places(self, state: State) -> dict[Opaque, list[tuple[str, int, Row]]]:
        places: dict[Opaque, list[tuple[str, int, Row]]] = {}
        for table, rows in state.items():
            for row in rows:
                for position, value in enumerate(row):
                    opaque = self._opaque(table, position, value)
                    if opaque is not None:
                        places.setdefault(opaque, []).append((table, position, row))
        return places

    def _seen_from(self, place: tuple[str, int, Row], colours: Mapping[Opaque, Colour]) -> Colour:
        table, position, row = place
        return hash((table, position, self._shape(table, row, colours)))

    def _shape(self, table: str, row: Row, colours: Mapping[Opaque, Colour]) -> tuple[object, ...]:
        cells: list[object] = []
        for position, value in enumerate(row):
            opaque = self._opaque(table, position, value)
            cells.append(("=", type(value) is bool, value) if opaque is None else ("~", colours[opaque]))
        return tuple(cells)

    def _opaque(self, table: str, position: int, value: Value) -> Opaque | None:
        column = self._columns[table][position]
        domain = self._domains.get((table, column))
        if domain is None and isinstance(value, datetime):
            domain = f"{table}.{column}"  # a clock gave it, and no two runs are at the same time
        if domain is None or value is None or value in self._known.get(domain, ()):
            return None
        return domain, value

    def shapes(self, state: State) -> dict[str, Counter[tuple[object, ...]]]:
        """The rows of each table with colours for opaque values."""
        colours = self.colours(state)
        return {
            table: Counter(self._shape(table, row, colours) for row in rows) for table, rows in state.items()
        }

    def same_state(self, one: State, other: State) -> bool:
        """Whether two states correspond."""
        return one == other or self.shapes(one) == self.shapes(other)

    def different_rows(self, one: State, other: State) -> dict[str, tuple[list[Row], list[Row]]]:
        """Of each table the rows that only the first has, and those that only the second has."""
        mine, theirs = self.shapes(one), self.shapes(other)
        found: dict[str, tuple[list[Row], list[Row]]] = {}
        for table in one:
            if mine[table] != theirs.get(table, Counter()):
                found[table] = (
                    self._surplus(table, one, theirs.get(table, Counter())),
                    self._surplus(table, other, mine[table]),
                )
        return found

    def _surplus(self, table: str, state: State, others: Counter[tuple[object, ...]]) -> list[Row]:
        left, colours, rows = Counter(others), self.colours(state), []
        for row in state.get(table, ()):
            shape = self._shape(table, row, colours)
            if left[shape] > 0:
                left[shape] -= 1
            else:
                rows.append(row)
        return rows

    def same_result(
        self, one: object, state: State, other: object, others: State, volatile: frozenset[Path]
    ) -> bool:
        """Whether two results correspond, given the states that their runs left."""
        mine, theirs = _by_value(self.colours(state)), _by_value(self.colours(others))
        return _same(one, other, (), mine, theirs, volatile)


def volatile_paths(one: object, other: object, path: Path = ()) -> frozenset[Path]:
    """Where two results of the same order differ: nobody chose what stands there."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return frozenset().union(*(volatile_paths(one[key], other[key], (*path, str(key))) for key in one))
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        return frozenset().union(*(volatile_paths(a, b, (*path, str(i))) for i, (a, b) in pairs))
    return frozenset() if one == other else frozenset({path})


def _same(
    one: object,
    other: object,
    path: Path,
    mine: Mapping[object, set[Colour]],
    theirs: Mapping[object, set[Colour]],
    volatile: frozenset[Path],
) -> bool:
    if path in volatile:
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            _same(one[key], other[key], (*path, str(key)), mine, theirs, volatile) for key in one
        )
    if isinstance(one, list) and isinstance(other, list):
        pairs = enumerate(zip(one, other, strict=False))
        return len(one) == len(other) and all(
            _same(a, b, (*path, str(i)), mine, theirs, volatile) for i, (a, b) in pairs
        )
    if isinstance(one, datetime | date | time | UUID) and type(one) is type(other):
        return True
    if isinstance(one, dict | list) or isinstance(other, dict | list):
        return False
    return one == other or bool(mine.get(one, set()) & theirs.get(other, set()))


def _by_value(colours: Mapping[Opaque, Colour]) -> dict[object, set[Colour]]:
    found: dict[object, set[Colour]] = {}
    for (_, value), colour in colours.items():
        found.setdefault(value, set()).add(colour)
    return found


def _domains(schema: Schema) -> dict[tuple[str, str], str]:
    """Columns whose numbers the DBMS gives, and those that refer to them, by a name of their domain."""
    domains = {
        (table.name, column.name): f"{table.name}.{column.name}"
        for table in schema.tables
        for column in table.columns
        if column.auto_increment or _is_generated(column.default)
    }
    for _ in schema.tables:
        for table in schema.tables:
            for key in table.foreign_keys:
                for own, there in zip(key.columns, key.references, strict=True):
                    if (key.table, there) in domains:
                        domains.setdefault((table.name, own), domains[key.table, there])
    return domains


GENERATORS = ("nextval", "uuid", "now()", "current_timestamp", "random", "clock_timestamp")


def _is_generated(default: str | None) -> bool:
    return default is not None and any(word in default.lower() for word in GENERATORS)
