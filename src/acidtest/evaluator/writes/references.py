"""Foreign keys: what a row refers to, and what happens to rows that refer to one which goes or moves."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from acidtest.evaluator.dialect import Dialect
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.writes.effect import Change, RowId, Run
from acidtest.evaluator.writes.keys import collisions, unique_index
from acidtest.evaluator.writes.rules import RowRules
from acidtest.model import Action, ErrorKind, ForeignKey, Row, Schema, Table

Key = tuple[Any, ...]
Rows = dict[RowId, Row]

_DEPTH_MAX = 1000
"""Steps of a cascade before it counts as endless."""


@dataclass(frozen=True, slots=True)
class Move:
    """A row of a table before and after; None where it was not there, or is not any more."""

    table: str
    row: RowId
    old: Row | None
    new: Row | None


@dataclass(frozen=True, slots=True)
class Link:
    """A foreign key with its keys as functions of rows; a key with a NULL refers to nothing."""

    child: Table
    parent: Table
    rule: ForeignKey
    child_key: Callable[[Row], Key | None]
    parent_key: Callable[[Row], Key | None]
    columns: tuple[int, ...]
    parent_columns: tuple[int, ...]

    @property
    def is_own(self) -> bool:
        """Whether a table refers to itself."""
        return self.child.name == self.parent.name


@dataclass(slots=True)
class Consequences:
    """What foreign keys make of the changes of a statement."""

    changes: list[Change] = field(default_factory=list)
    touched: list[tuple[str, RowId]] = field(default_factory=list)
    referenced: list[tuple[str, RowId]] = field(default_factory=list)
    errors: set[ErrorKind] = field(default_factory=set)


class References:
    """The foreign keys that connect a table with others, and those with further ones."""

    def __init__(self, table: Table, schema: Schema, dialect: Dialect) -> None:
        self._table = table
        self._schema = schema
        self._dialect = dialect
        self._links = _reachable(table, schema, dialect) if any(t.foreign_keys for t in schema.tables) else []
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
            _Cascade(self._links, self._schema, self._dialect, found, self._states(live, run), moves).run()
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


class _Cascade:
    """Walks from changed rows to those that refer to them, as far as it goes."""

    def __init__(
        self,
        links: Sequence[Link],
        schema: Schema,
        dialect: Dialect,
        found: Consequences,
        rows: Callable[[Table], Rows],
        moves: Sequence[Move],
    ) -> None:
        self._links = links
        self._schema = schema
        self._dialect = dialect
        self._at_once = dialect.writing.references_at_once
        self._found = found
        self._rows = rows
        self._own = frozenset(move.row for move in moves)
        self._queue = list(moves)
        self._direct = len(moves)
        self._restricted: list[tuple[Link, Key, Action]] = []
        self._children: list[tuple[Link, Move]] = []

    def run(self) -> None:
        """All consequences; the checks that the DBMS makes after the statement come last."""
        steps = 0
        while steps < len(self._queue):
            if steps > _DEPTH_MAX:
                raise Unknown("a cascade without an end")
            move = self._queue[steps]
            steps += 1
            for link in self._links:
                if link.parent.name == move.table and move.old is not None:
                    self._leave(link, move)
                if link.child.name == move.table and move.new is not None:
                    self._arrive(link, move)
        self._check_the_end()

    # -- rows that refer to the row

    def _leave(self, link: Link, move: Move) -> None:
        assert move.old is not None
        key = link.parent_key(move.old)
        if key is None or (move.new is not None and link.parent_key(move.new) == key):
            return
        children = [one for one, row in self._rows(link.child).items() if link.child_key(row) == key]
        if link.is_own and self._at_once:
            children = [one for one in children if one != move.row or move.new is not None]
            if self._own & set(children):
                raise Unknown("a foreign key between rows that one statement changes")
        if not children:
            return
        action = link.rule.on_delete if move.new is None else link.rule.on_update
        if action in (Action.NO_ACTION, Action.RESTRICT):
            if self._at_once:
                self._found.errors.add(ErrorKind.FOREIGN_KEY)
            self._restricted.append((link, key, action))
        else:
            for child in children:
                self._act(link, child, move, action)

    def _act(self, link: Link, child: RowId, move: Move, action: Action) -> None:
        rows = self._rows(link.child)
        old = rows[child]
        if action is Action.CASCADE and move.new is None:
            del rows[child]
            new = None
        else:
            new = self._moved(link, old, move, action)
            rows[child] = new
        if link.is_own and child in self._own:
            raise Unknown("a foreign key between rows that one statement changes")
        table = link.child.name
        self._found.changes.append(Change(child, new, table))
        self._found.touched.append((table, child))
        self._queue.append(Move(table, child, old, new))

    def _moved(self, link: Link, old: Row, move: Move, action: Action) -> Row:
        values = list(old)
        for at, parent_at in zip(link.columns, link.parent_columns, strict=True):
            if action is Action.CASCADE:
                assert move.new is not None
                values[at] = move.new[parent_at]
            elif action is Action.SET_NULL:
                values[at] = None
            else:
                raise Unknown("ON .. SET DEFAULT")
        try:
            return RowRules(link.child, self._schema, self._dialect).finished(tuple(values))
        except EvaluationError as error:
            raise Unknown("a cascade that breaks another rule") from error

    # -- rows that it refers to

    def _arrive(self, link: Link, move: Move) -> None:
        assert move.new is not None
        key = link.child_key(move.new)
        if key is None or (move.old is not None and link.child_key(move.old) == key):
            return
        self._children.append((link, move))

    def _check_the_end(self) -> None:
        for link, key, action in self._restricted:
            stays = any(link.parent_key(row) == key for row in self._rows(link.parent).values())
            left = any(link.child_key(row) == key for row in self._rows(link.child).values())
            if link.rule.deferrable and left:
                raise Unknown("a foreign key that may be checked at COMMIT")
            if left and not (stays and action is Action.NO_ACTION):
                self._found.errors.add(ErrorKind.FOREIGN_KEY)
        for link, move in self._children:
            self._check_child(link, move)
        self._check_keys()

    def _check_child(self, link: Link, move: Move) -> None:
        assert move.new is not None
        if self._rows(link.child).get(move.row) != move.new:
            return  # gone, or changed again
        key = link.child_key(move.new)
        parents = [one for one, row in self._rows(link.parent).items() if link.parent_key(row) == key]
        if not parents:
            if link.rule.deferrable:
                raise Unknown("a foreign key that may be checked at COMMIT")
            self._found.errors.add(ErrorKind.FOREIGN_KEY)
        elif link.is_own and self._at_once and parents[0] in self._own and parents[0] != move.row:
            raise Unknown("a foreign key between rows that one statement changes")
        elif parents[0] >= 0:
            self._found.referenced.append((link.parent.name, parents[0]))

    def _check_keys(self) -> None:
        """Cascades may run into unique keys of the tables that they change."""
        for name in {change.table for change in self._found.changes}:
            table = self._schema.table(name)
            unique = tuple(
                unique_index(one, table, self._schema, self._dialect) for one in table.indexes if one.unique
            )
            errors, may_fail = collisions(unique, list(self._rows(table).items()), ())
            if errors or may_fail:
                raise Unknown("a cascade that breaks another rule")


def _reachable(table: Table, schema: Schema, dialect: Dialect) -> list[Link]:
    """The foreign keys of a table, those that refer to it, and those of tables that a cascade may change."""
    links: list[Link] = []
    names, open_names = {table.name}, [table.name]
    while open_names:
        name = open_names.pop()
        for child in schema.tables:
            for rule in child.foreign_keys:
                if name not in (rule.table, child.name):
                    continue
                if not any(link.rule is rule and link.child is child for link in links):
                    links.append(_link(child, rule, schema, dialect))
                if rule.table == name and child.name not in names:
                    names.add(child.name)
                    open_names.append(child.name)
    return links


def _link(child: Table, rule: ForeignKey, schema: Schema, dialect: Dialect) -> Link:
    try:
        parent = schema.table(rule.table)
    except KeyError:
        raise Unknown("a foreign key to a table that is not one of the case") from None
    own, other = _positions(child, rule.columns), _positions(parent, rule.references)
    to_keys = [dialect.key(dialect.column_type(parent.columns[at]), ordering=False) for at in other]

    def key_of(positions: tuple[int, ...]) -> Callable[[Row], Key | None]:
        def key(row: Row) -> Key | None:
            values = [row[at] for at in positions]
            if any(value is None for value in values):
                return None
            return tuple(to_key(value) for to_key, value in zip(to_keys, values, strict=True))

        return key

    return Link(child, parent, rule, key_of(own), key_of(other), own, other)


def _positions(table: Table, names: Sequence[str]) -> tuple[int, ...]:
    at = {column.name: position for position, column in enumerate(table.columns)}
    if any(name not in at for name in names):
        raise Unknown("a foreign key over columns that are not told")
    return tuple(at[name] for name in names)
