"""The engine that asks the DBMS itself, on scratch tables (Troc III-E)."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from acidtest.errors import UsageError
from acidtest.evaluator.writes import Change, Effect, UniqueIndex
from acidtest.model import Affected, ErrorKind, Failed, History, Row, Rows, Table
from acidtest.oracles.chains import Seen
from acidtest.oracles.engines import questions
from acidtest.oracles.engines.base import Answer, Engine, UndecidedError, Views
from acidtest.oracles.engines.evaluating import engine_for
from acidtest.oracles.engines.pairing import are_whole, difference, new_versions, pair
from acidtest.oracles.engines.scratch import Contents, Scratch, UnfitError, connected_tables
from acidtest.oracles.engines.stability import (
    is_ordered_part_of,
    is_part_of,
    may_stand_for_equals,
    same_answer,
    why_unstable,
)
from acidtest.sql.shape import Shape, Verb

_SAYS_NOTHING = frozenset(
    {
        ErrorKind.CANCELLED,
        ErrorKind.RESOURCES,
        ErrorKind.INTERNAL,
        ErrorKind.ACCESS,
        ErrorKind.DEADLOCK,
        ErrorKind.LOCK_TIMEOUT,
        ErrorKind.LOCK_NOT_AVAILABLE,
        ErrorKind.SCHEMA_CHANGED,
        ErrorKind.TRANSACTION_STATE,
        ErrorKind.OTHER,
    }
)
"""Errors on scratch tables that are no answer."""

_DUPLICATE = frozenset({ErrorKind.DUPLICATE_KEY})


class AskingEngine(Engine):
    """Answers from scratch tables. Views that break a key of their table (InnoDB and PostgreSQL allow a
    transaction to see such) are read from tables without constraints."""

    name = "views"
    knows_all_constraints = True

    def __init__(self, history: History, strict: Scratch, loose: Callable[[], Scratch]) -> None:
        self._dbms = history.dbms
        self._schema = history.schema
        self._strict = strict
        self._loose = loose
        self._dialect = strict.target.dialect

    def answer(self, sql: str, shape: Shape, views: Views) -> Answer:
        del shape  # the DBMS reads the text
        outcome = self._ask(sql, views)
        if isinstance(outcome, Failed):
            return Answer(errors=_error(outcome))
        if not isinstance(outcome, Rows):
            raise UndecidedError("a query without a result set")
        return Answer(outcome.rows)

    def admits(self, sql: str, shape: Shape, views: Views, observed: Sequence[Row]) -> bool:
        answer = self.answer(sql, shape, views)
        if answer.errors:
            return False
        if same_answer(shape.tree, answer.rows, observed):
            return True
        if reason := why_unstable(shape):
            raise UndecidedError(reason)
        if may_stand_for_equals(shape.tree, answer.rows, observed):
            raise UndecidedError("which of several equal values stands for all of them")
        if questions.has_limit(shape):
            return self._admits_cut(shape, views, answer.rows, observed)
        return False

    def matching(self, sql: str, shape: Shape, rows: Sequence[Seen], views: Views | None = None) -> list[int]:
        del sql  # another question is asked
        assert shape.target is not None
        if views is not None and questions.reads_its_target(shape) and not _same(rows, views[shape.target]):
            raise UndecidedError("a statement that reads another version of its table than it works on")
        return self._matching(shape, {**(views or {}), shape.target: rows}, rows)

    def effect(
        self,
        sql: str,
        shape: Shape,
        work: Sequence[Seen],
        existing: Sequence[Seen],
        views: Views,
        next_number: int | None,
        related: Views | None = None,
    ) -> Effect:
        assert shape.target is not None
        if reason := why_unstable(shape):
            raise UndecidedError(reason)
        if shape.verb is Verb.MERGE:
            raise UndecidedError("which rows MERGE works on")
        self._require_checks_at_once(shape, related or {})
        if related:
            if shape.replaces:
                raise UndecidedError("what REPLACE takes along by foreign keys")
            self._require_one_version(shape, existing, views, related)
            views = {**views, **related}
        there = existing if shape.verb is Verb.INSERT else work
        if questions.reads_its_target(shape) and not _same(there, views[shape.target]):
            raise UndecidedError("a write that reads another version of its table than it writes")
        if shape.verb is Verb.INSERT:
            return self._insert(sql, shape, {**views, shape.target: existing}, next_number)
        if set(work) <= set(existing):
            # Among all living rows, so that keys are checked as well, if it then leaves the others alone.
            effect = self._change(sql, shape, {**views, shape.target: existing})
            if len(work) == len(existing) or _only_on(work, effect):
                return effect
        effect = self._change(sql, shape, {**views, shape.target: work})
        if not effect.errors and shape.verb is Verb.UPDATE:
            effect = self._held_against(shape.target, existing, effect)
        return effect

    def met(
        self, sql: str, shape: Shape, rows: Sequence[Seen], views: Views, effect: Effect
    ) -> Sequence[int]:
        """Those beside which, each alone, it does something else than in an empty table."""
        assert shape.target is not None
        if not rows or effect.errors or not questions.treats_duplicates(shape):
            return ()
        if questions.reads_its_target(shape) or questions.takes_numbers(
            shape, self._schema.table(shape.target)
        ):
            raise UndecidedError("which rows an INSERT came upon")
        new = Counter(self._after(sql, shape, views, ()))
        return [
            seen.row
            for seen in rows
            if Counter(self._after(sql, shape, views, (seen,))) != new + Counter([repr(seen.values)])
        ]

    def related(self, sql: str, shape: Shape) -> Sequence[str]:
        del sql
        assert shape.target is not None
        return connected_tables(self._schema, shape.target)

    def _require_checks_at_once(self, shape: Shape, related: Views) -> None:
        """What runs alone also commits, and is checked for what may wait until COMMIT elsewhere."""
        tables = [one for one in self._schema.tables if one.name in (*shape.writes, *related)]
        keys = any(key.deferrable for table in tables for key in table.foreign_keys)
        if keys or any(index.deferrable for table in tables for index in table.indexes):
            raise UndecidedError("a constraint that may be checked at COMMIT")

    def _require_one_version(
        self, shape: Shape, existing: Sequence[Seen], views: Views, related: Views
    ) -> None:
        """A scratch table holds one version of its rows: what is read must be what foreign keys look up."""
        for name, rows in related.items():
            read = existing if name == shape.target else views.get(name, rows)
            if not _same(read, rows):
                raise UndecidedError("a write that reads other versions than its foreign keys look up")

    def unique_indexes(self, sql: str, shape: Shape) -> Sequence[UniqueIndex]:
        try:
            return engine_for(self._dbms, self._schema).unique_indexes(sql, shape)
        except UndecidedError:
            return ()

    # -- reading

    def _ask(self, sql: str, views: Views) -> Rows | Affected | Failed:
        """What the DBMS answers on these rows; nothing is written."""
        contents = _plain(views)
        try:
            self._strict.hold(contents)
        except UnfitError:
            return self._ask_loose(sql, contents)
        return self._strict.run(sql)

    def _ask_loose(self, sql: str, contents: Mapping[str, Sequence[Row]]) -> Rows | Affected | Failed:
        try:
            scratch = self._loose()
            scratch.hold(contents)
        except (UsageError, UnfitError) as error:
            raise UndecidedError("rows that cannot stand in tables together") from error
        return scratch.run(sql)

    def _admits_cut(
        self, shape: Shape, views: Views, expected: Sequence[Row], observed: Sequence[Row]
    ) -> bool:
        """LIMIT may cut where rows tie, or anywhere if there is no order."""
        whole = self._ask(questions.without_limit(shape, self._dialect), views)
        if not isinstance(whole, Rows):
            raise UndecidedError("a query that fails without its LIMIT")
        if len(observed) != len(expected) or not is_part_of(observed, whole.rows):
            return False
        fits = is_ordered_part_of(shape.tree, observed, expected)
        if fits is None:
            raise UndecidedError("LIMIT after an order that the rows do not show")
        return fits

    def _matching(self, shape: Shape, contents: Views, rows: Sequence[Seen]) -> list[int]:
        outcome = self._ask(questions.rows_of_interest(shape, self._dialect), contents)
        if not isinstance(outcome, Rows):
            return []
        found = set(map(repr, outcome.rows))
        return [seen.row for seen in rows if repr(seen.values) in found]

    # -- writing

    def _write(self, sql: str, contents: Views, before: str | None = None) -> Affected | Failed:
        """Run a write on these rows; `before` is what the session has to be told first."""
        try:
            self._strict.hold(_plain(contents))
        except UnfitError as error:
            raise UndecidedError("a write on rows that break a constraint together") from error
        if before is not None:
            self._strict.run(before)
        outcome = self._strict.run(sql)
        if isinstance(outcome, Rows):
            self._strict.forget()
            raise UndecidedError("a write with a result set")
        return outcome

    def _insert(self, sql: str, shape: Shape, contents: Views, next_number: int | None) -> Effect:
        assert shape.target is not None
        table = self._schema.table(shape.target)
        numbered = questions.takes_numbers(shape, table)
        outcome = self._write(sql, contents, self._number(shape, next_number) if numbered else None)
        if isinstance(outcome, Failed):
            if numbered or (questions.has_counter(table) and questions.may_fail_half_way(shape)):
                raise UndecidedError("how many automatic numbers a failed INSERT took")
            return Effect(errors=_error(outcome))
        after = self._strict.read([shape.target])[shape.target]
        gone, new = difference(contents[shape.target], after)
        return _inserted(table, gone, new, outcome.count)

    def _after(self, sql: str, shape: Shape, views: Views, rows: Sequence[Seen]) -> list[str]:
        """The table after an INSERT into just these rows."""
        assert shape.target is not None
        if isinstance(self._write(sql, {**views, shape.target: rows}), Failed):
            raise UndecidedError("which rows an INSERT came upon: alone it fails")
        return list(map(repr, self._strict.read([shape.target])[shape.target]))

    def _number(self, shape: Shape, next_number: int | None) -> str:
        assert shape.target is not None
        statement = None if next_number is None else self._strict.target.numbers_from(next_number)
        table = self._schema.table(shape.target)
        if statement is None or not questions.numbers_only_new_rows(shape, table):
            raise UndecidedError("which automatic numbers an INSERT takes")
        return statement

    def _change(self, sql: str, shape: Shape, contents: Views) -> Effect:
        """UPDATE and DELETE: which rows, and what became of them."""
        assert shape.target is not None
        if questions.has_limit(shape):
            self._require_certain_cut(shape, contents)
        outcome = self._write(sql, contents)
        if isinstance(outcome, Failed):
            return self._failed_change(sql, shape, contents, outcome)
        if _matched(outcome) == 0:
            return Effect(counts=frozenset({outcome.count}))
        after = self._strict.read(list(contents))
        if any(difference(rows, after[name])[0] for name, rows in contents.items() if name != shape.target):
            return self._change_several(shape, contents, after, outcome)
        before = contents[shape.target]
        worked_on = difference(before, after[shape.target])[0]
        if len(worked_on) != _matched(outcome) or not are_whole(worked_on, before):
            # A row that the statement leaves as it is has been written, too.
            worked_on = self._worked_on(shape, contents)
            if len(worked_on) != _matched(outcome):
                raise UndecidedError("which rows a write works on")
        changes = self._changes(sql, shape, contents, worked_on, after[shape.target])
        return Effect(
            changes,
            tuple(seen.row for seen in worked_on),
            frozenset({outcome.count}),
            may_fail=self._may_collide(shape, worked_on),
        )

    def _require_certain_cut(self, shape: Shape, contents: Views) -> None:
        """LIMIT takes just these rows if there are no more, or if the last of them comes surely before the
        next one."""
        outcome = self._ask(questions.rows_in_order(shape, self._dialect), contents)
        limit = questions.limit_of(shape)
        assert shape.target is not None
        keys = questions.order_columns(shape, self._schema.table(shape.target))
        if not isinstance(outcome, Rows) or limit is None:
            raise UndecidedError("a write with LIMIT: which rows it takes is left open")
        if limit < len(outcome.rows):
            last, following = outcome.rows[max(limit - 1, 0) :][:2]
            # Texts that differ may tie in their collation; whatever else differs decides.
            if not any(last[i] != following[i] and not isinstance(last[i], str) for i in keys or ()):
                raise UndecidedError("a write with LIMIT: which rows it takes is left open")

    def _worked_on(self, shape: Shape, contents: Views) -> list[Seen]:
        assert shape.target is not None
        before = contents[shape.target]
        rows = set(self._matching(shape, contents, before))
        return [seen for seen in before if seen.row in rows]

    def _changes(
        self, sql: str, shape: Shape, contents: Views, worked_on: Sequence[Seen], after: Sequence[Row]
    ) -> tuple[Change, ...]:
        assert shape.target is not None
        if shape.verb is Verb.DELETE:
            return tuple(Change(seen.row, None) for seen in worked_on)
        new = new_versions(worked_on, contents[shape.target], after)
        if new is None:
            raise UndecidedError("which rows a write works on")
        table = self._schema.table(shape.target)
        pairs = pair(table, worked_on, new, questions.assigned_columns(shape))
        if pairs is None:
            pairs = {seen.row: self._alone(sql, shape, contents, seen)[0] for seen in worked_on}
        return tuple(Change(row, values) for row, values in pairs.items())

    def _alone(self, sql: str, shape: Shape, contents: Views, seen: Seen) -> tuple[Row, int]:
        """What an UPDATE makes of one row that is alone in its table, and what it counts."""
        assert shape.target is not None
        if questions.reads_its_target(shape):
            raise UndecidedError("which row an UPDATE made of which")
        outcome = self._write(sql, {**contents, shape.target: [seen]})
        after = self._strict.read([shape.target])[shape.target]
        if isinstance(outcome, Failed) or len(after) != 1:
            raise UndecidedError("which row an UPDATE made of which")
        return after[0], outcome.count

    def _change_several(self, shape: Shape, contents: Views, after: Contents, outcome: Affected) -> Effect:
        """A statement that changes rows of several tables: each of its rows must have changed visibly."""
        changes: list[Change] = []
        worked_on: list[int] = []
        total = 0
        for name, before in contents.items():
            gone, new = difference(before, after[name])
            total += len(gone)
            if not are_whole(gone, before):
                raise UndecidedError("which rows a write of several tables works on")
            other = "" if name == shape.target else name
            if shape.verb is Verb.DELETE:
                changes += [Change(seen.row, None, other) for seen in gone]
            else:
                pairs = pair(self._schema.table(name), gone, new, questions.assigned_columns(shape))
                if pairs is None:
                    raise UndecidedError("which row an UPDATE made of which")
                changes += [Change(row, values, other) for row, values in pairs.items()]
            worked_on += [] if other else [seen.row for seen in gone]
        if total != _matched(outcome):
            raise UndecidedError("which rows a write of several tables works on")
        return Effect(tuple(changes), tuple(worked_on), frozenset({outcome.count}))

    # -- keys

    def _may_collide(self, shape: Shape, worked_on: Sequence[Seen]) -> frozenset[ErrorKind]:
        """Several rows that get new keys may meet on the way, depending on the order in which they go."""
        assert shape.target is not None
        if shape.verb is not Verb.UPDATE or len(worked_on) < 2:
            return frozenset()
        assigned = questions.assigned_columns(shape)
        indexes = self._schema.table(shape.target).indexes
        keys = {name.lower() for index in indexes if index.unique for name in index.columns}
        return _DUPLICATE if keys & assigned else frozenset()

    def _failed_change(self, sql: str, shape: Shape, contents: Views, outcome: Failed) -> Effect:
        errors = _error(outcome)
        if errors != _DUPLICATE or shape.verb is not Verb.UPDATE:
            return Effect(errors=errors)
        worked_on = self._worked_on(shape, contents)
        if not self._may_collide(shape, worked_on):
            return Effect(errors=errors)
        alone = {seen.row: self._alone(sql, shape, contents, seen) for seen in worked_on}
        assert shape.target is not None
        changes = tuple(Change(row, values) for row, (values, _) in alone.items())
        count = frozenset({sum(count for _, count in alone.values())})
        effect = Effect(changes, tuple(alone), count, may_fail=errors)
        return self._held_against(shape.target, contents[shape.target], effect)

    def _held_against(self, target: str, existing: Sequence[Seen], effect: Effect) -> Effect:
        """The same effect, or a duplicate key if its rows cannot live together with all others."""
        end = {seen.row: seen.values for seen in existing}
        for change in effect.changes:
            if change.row is not None and change.values is not None and not change.table:
                end[change.row] = change.values
        try:
            self._strict.hold({target: list(end.values())})
        except UnfitError:
            return Effect(errors=_DUPLICATE, worked_on=effect.worked_on)
        return effect


def _plain(views: Views) -> dict[str, list[Row]]:
    return {table: [seen.values for seen in rows] for table, rows in views.items()}


def _only_on(work: Sequence[Seen], effect: Effect) -> bool:
    return not effect.errors and set(effect.worked_on) <= {seen.row for seen in work}


def _same(left: Sequence[Seen], right: Sequence[Seen]) -> bool:
    return dict(left) == dict(right)


def _error(outcome: Failed) -> frozenset[ErrorKind]:
    if outcome.kind in _SAYS_NOTHING:
        raise UndecidedError(f"alone it fails with an error of kind {outcome.kind.value}")
    return frozenset({outcome.kind})


def _matched(outcome: Affected) -> int:
    return outcome.count if outcome.matched is None else outcome.matched


def _inserted(table: Table, gone: Sequence[Seen], new: Sequence[Row], count: int) -> Effect:
    """The effect of an INSERT; a row that went and came back under its primary key was updated."""
    names = [column.name for column in table.columns]
    keys = [index.columns for index in table.indexes if index.primary]
    positions = [names.index(name) for name in keys[0] if name in names] if keys else []
    comers = list(new)
    changes = []
    for seen in gone:
        key = [seen.values[i] for i in positions]
        twin = next((row for row in comers if positions and [row[i] for i in positions] == key), None)
        if twin is not None:
            comers.remove(twin)
        changes.append(Change(seen.row, twin))
    changes += [Change(None, row) for row in comers]
    return Effect(tuple(changes), tuple(seen.row for seen in gone), frozenset({count}))
