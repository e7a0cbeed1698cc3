"""What foreign keys do and check when rows change."""

from collections.abc import Callable, Sequence

from acidtest.evaluator.dialect import Dialect
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.writes.defaults import default_of
from acidtest.evaluator.writes.effect import Change, RowId
from acidtest.evaluator.writes.keys import collisions, unique_index
from acidtest.evaluator.writes.links import Consequences, Key, Link, Move, Rows
from acidtest.evaluator.writes.rules import RowRules
from acidtest.model import Action, ErrorKind, Row, Schema, Table, Value

_STEPS_MAX = 1000
"""Steps of a cascade before it counts as endless."""


class Cascade:
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
        self._moves = moves
        self._own = frozenset(move.row for move in moves)
        self._queue = list(moves)
        self._restricted: list[tuple[Link, Key, Action]] = []
        self._children: list[tuple[Link, Move]] = []

    def run(self) -> None:
        """All consequences; the checks that the DBMS makes after the statement come last."""
        steps = 0
        while steps < len(self._queue):
            if steps > _STEPS_MAX:
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
        if link.is_own and self._at_once and self._was_referred_to_by_moved(link, move, key):
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
            if action is Action.SET_DEFAULT:  # the defaults may be the very key that is gone
                self._restricted.append((link, key, Action.NO_ACTION))

    def _was_referred_to_by_moved(self, link: Link, move: Move, key: Key) -> bool:
        """Whether another row that the statement changes has referred to the row, or does so now."""
        others = [one for one in self._moves if one.row != move.row or move.new is not None]
        versions = [row for one in others for row in (one.old, one.new) if row is not None]
        return any(link.child_key(row) == key for row in versions)

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
                values[at] = self._default(link, at)
        try:
            return RowRules(link.child, self._schema, self._dialect).finished(tuple(values))
        except EvaluationError as error:
            raise Unknown("a cascade that breaks another rule") from error

    def _default(self, link: Link, at: int) -> Value:
        column = link.child.columns[at]
        if self._at_once or column.auto_increment or column.generated:
            raise Unknown("ON .. SET DEFAULT")  # InnoDB has no such action
        return default_of(column, link.child, self._dialect)

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
