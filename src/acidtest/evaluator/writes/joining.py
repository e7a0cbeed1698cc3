"""UPDATE and DELETE that join their target with other tables, or write several of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from acidtest.evaluator.code import JoinedRow
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.dialect import Dialect
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.query import compile_beside
from acidtest.evaluator.relations import compile_from
from acidtest.evaluator.scope import Runtime, Source
from acidtest.evaluator.writes.effect import Change, Effect, RowId, Run, Work
from acidtest.evaluator.writes.following import follow
from acidtest.evaluator.writes.keys import collisions
from acidtest.evaluator.writes.returning import Returning
from acidtest.evaluator.writes.target import Target, condition_of, empty_scope, has_strict_condition
from acidtest.evaluator.writes.values import Assignments, assignments_of, differ
from acidtest.model import ErrorKind, Row, Schema
from acidtest.sql.shape import Shape, Verb


@dataclass(frozen=True, slots=True)
class _Part:
    """One of the tables that are written. Without assignments its rows are deleted."""

    target: Target
    source: Source
    assignments: Assignments | None

    def split(self, row: JoinedRow) -> tuple[JoinedRow, Row, JoinedRow]:
        """A joined row as what stands before the table's columns, these, and what stands behind."""
        start = self.source.fields[0].slot
        end = start + len(self.source.fields)
        return row[:start], row[start:end], row[end:]


@dataclass(frozen=True, slots=True)
class _Changed:
    """Rows of one part with what becomes of them, and the joined rows of each that say so."""

    part: _Part
    rows: Work
    new: tuple[Row | None, ...]
    partners: tuple[Sequence[JoinedRow], ...]


def is_joined(tree: exp.Expression) -> bool:
    """Whether a write names further tables beside its target, outside of subqueries."""
    others = any(tree.args.get(part) for part in ("from_", "using", "tables"))
    return others or bool(isinstance(tree.this, exp.Table) and tree.this.args.get("joins"))


class Joined:
    """A write over a join."""

    def __init__(self, shape: Shape, schema: Schema, dialect: Dialect) -> None:
        tree = shape.tree
        if tree.args.get("order") or tree.args.get("limit"):
            raise Unknown("a write of several tables with LIMIT")
        compiler = empty_scope(schema, dialect, tree, strict=has_strict_condition(shape.verb, dialect))
        names = _written_names(shape, dialect)
        compiler.written = frozenset(names)
        query = _as_query(shape, lists_target=dialect.writing.counts_changes)
        self._relation = compile_from(compiler, query, compile_beside)
        self._test = condition_of(shape, compiler, simple=False)
        self._writing = dialect.writing
        self._parts = [_part(name, shape, compiler, schema) for name in names]
        tables = [part.target.table.name for part in self._parts]
        if len(set(tables)) != len(tables):
            raise Unknown("a table that is written under two names")
        self._main = next(part for part in self._parts if part.target.table.name == shape.target)
        if len(self._parts) > 1 and shape.verb is Verb.UPDATE:
            _refuse_crossing(shape, names, dialect)
        self._returning = Returning.of(tree, lambda: compiler)
        compiler.finish()

    @property
    def targets(self) -> list[Target]:
        """The tables that are written."""
        return [part.target for part in self._parts]

    @property
    def main(self) -> Target:
        """The one that the shape calls its target."""
        return self._main.target

    def run(self, run: Run) -> Effect:
        """The effect on the rows of a run."""
        works = {
            part.source.name: run.work if part is self._main else run.joined(part.target.table.name)
            for part in self._parts
        }
        views = {name: [values for _, values in work] for name, work in works.items()}
        runtime = Runtime(run.views, work=views)
        rows = [row for row in self._relation.rows((runtime,)) if self._test(row) is True]
        errors: set[ErrorKind] = set()
        changed = [self._change(part, works[part.source.name], rows, errors) for part in self._parts]
        may_fail: set[ErrorKind] = set()
        for one in changed:
            changes = [Change(row, new) for (row, _), new in zip(one.rows, one.new, strict=True)]
            existing = self._existing(run, one.part)
            certain, possible = collisions(one.part.target.unique, existing, changes)
            (errors if certain else may_fail).update(certain | possible)
            if errors and self._writing.references_at_once:
                errors |= follow(one.part.target, run, changes, existing).errors
        if errors:
            return Effect(errors=frozenset(errors | may_fail))
        return self._effect(run, changed, frozenset(may_fail))

    def _change(self, part: _Part, work: Work, rows: Sequence[JoinedRow], errors: set[ErrorKind]) -> _Changed:
        """What becomes of the rows of one table; all partners of a row must agree on it."""
        assert part.source.identity is not None
        partners: dict[int, list[JoinedRow]] = {}
        for row in rows:
            at = row[part.source.identity]
            if at is not None:  # an outer join may have found none
                partners.setdefault(at, []).append(row)
        found: list[tuple[RowId, Row]] = []
        new: list[Row | None] = []
        agreed: list[Sequence[JoinedRow]] = []
        for at, own in sorted(partners.items()):
            try:
                new.append(self._agreed(part, own))
            except EvaluationError as error:
                errors.add(error.kind)
                continue
            found.append(work[at])
            agreed.append(own)
        return _Changed(part, found, tuple(new), tuple(agreed))

    def _agreed(self, part: _Part, rows: Sequence[JoinedRow]) -> Row | None:
        if part.assignments is None:
            return None
        first = self._assigned(part, part.assignments, rows[0])
        if any(differ(first, self._assigned(part, part.assignments, row)) for row in rows[1:]):
            raise Unknown("an UPDATE of a row with several partners that differ")
        return first

    def _assigned(self, part: _Part, assignments: Assignments, joined: JoinedRow) -> Row:
        before, row, after = part.split(joined)
        new = part.target.rules.finished(assignments.apply(row, before, after))
        if not self._writing.joins_from_old_rows and len(assignments.parts) > 1:
            other = Assignments(assignments.parts, not assignments.in_sequence)
            if differ(new, part.target.rules.finished(other.apply(row, before, after))):
                raise Unknown("assignments that build on each other in an UPDATE of several tables")
        return new

    def _effect(self, run: Run, changed: Sequence[_Changed], may_fail: frozenset[ErrorKind]) -> Effect:
        changes: list[Change] = []
        touched: list[tuple[str, RowId]] = []
        referenced: list[tuple[str, RowId]] = []
        count = 0
        for one in changed:
            table = one.part.target.table.name
            other = "" if one.part is self._main else table
            own = [Change(row, new, other) for (row, _), new in zip(one.rows, one.new, strict=True)]
            changes += own
            touched += [(table, row) for row, _ in one.rows] if other else []
            count += self._count(one)
            if one.part.target.references.concerned:
                if len(changed) > 1:
                    raise Unknown("foreign keys of several tables that one statement writes")
                plain = [Change(change.row, change.values) for change in own]
                after = follow(one.part.target, run, plain, self._existing(run, one.part))
                if after.errors:
                    return Effect(errors=frozenset(after.errors))
                if other and any(not change.table for change in after.changes):
                    raise Unknown("a foreign key from a table to itself in a join")
                changes += after.changes
                touched += after.touched
                referenced += after.referenced
        main = next(one for one in changed if one.part is self._main)
        return Effect(
            tuple(changes),
            tuple(row for row, _ in main.rows),
            frozenset({count}),
            may_fail=may_fail,
            returned=self._returned(main),
            touched=tuple(touched),
            referenced=tuple(dict.fromkeys(referenced)),
        )

    def _count(self, one: _Changed) -> int:
        if not self._writing.counts_changes:
            return len(one.rows)
        return sum(new is None or differ(old, new) for (_, old), new in zip(one.rows, one.new, strict=True))

    def _existing(self, run: Run, part: _Part) -> Work:
        return run.existing if part is self._main else run.joined(part.target.table.name)

    def _returned(self, main: _Changed) -> tuple[Row, ...] | None:
        """RETURNING shows one partner of each row; they must look alike."""
        if self._returning.output is None:
            return None
        found: list[Row] = []
        for partners, new in zip(main.partners, main.new, strict=True):
            rows = [_with_new(main.part, joined, new) for joined in partners]
            shown = self._returning.joined(rows) or ()
            if any(differ(shown[0], one) for one in shown[1:]):
                raise Unknown("which of several partners RETURNING shows")
            found.append(shown[0])
        return tuple(found)


def _with_new(part: _Part, joined: JoinedRow, new: Row | None) -> JoinedRow:
    before, old, after = part.split(joined)
    return (*before, *(old if new is None else new), *after)


def _part(name: str, shape: Shape, compiler: Compiler, schema: Schema) -> _Part:
    source = next((one for one in compiler.scope.sources if one.name == name), None)
    if source is None or source.table is None:
        raise Unknown("which table a join writes")
    dialect = compiler.dialect
    target = Target.of(schema.table(source.table), name, schema, dialect)
    if shape.verb is Verb.DELETE:
        return _Part(target, source, None)
    nodes = [
        one
        for one in shape.tree.expressions
        if not one.this.args.get("table") or dialect.fold_table(one.this.args["table"]) == name
    ]
    return _Part(target, source, assignments_of(nodes, target, compiler))


def _written_names(shape: Shape, dialect: Dialect) -> list[str]:
    """The names under which tables are written, in a join of MySQL's family perhaps several."""
    tree = shape.tree
    own = dialect.table_key(shape.alias or shape.target or "")
    if isinstance(tree, exp.Delete):
        tables = tree.args.get("tables") or []
        return [dialect.fold_table(one.this) for one in tables] or [own]
    named = [one.this.args.get("table") for one in tree.expressions if isinstance(one.this, exp.Column)]
    names = [dialect.fold_table(one) for one in named if one is not None]
    return list(dict.fromkeys(names)) if tree.this.args.get("joins") and names else [own]


def _as_query(shape: Shape, *, lists_target: bool) -> exp.Select:
    """The join as the FROM clause of a query."""
    tree = shape.tree
    first = tree.this.copy()
    joins = first.args.pop("joins", None) or []
    others = tree.args.get("from_")
    sources = [others.this] if others is not None else list(tree.args.get("using") or [])
    if isinstance(tree, exp.Delete) and sources and lists_target:
        # DELETE FROM a USING t AS a: the target is one of the tables that follow.
        first = sources[0].copy()
        joins = first.args.pop("joins", None) or []
        sources = sources[1:]
    for source in sources:
        table = source.copy()
        own = table.args.pop("joins", None) or []
        joins += [exp.Join(this=table, kind="CROSS"), *own]
    return exp.Select(expressions=[exp.Star()], from_=exp.From(this=first), joins=joins)


def _refuse_crossing(shape: Shape, names: Sequence[str], dialect: Dialect) -> None:
    """Of several tables that are written, which one comes first is left open, and whether what one of them
    is set to counts when the next rows are joined (seen on MariaDB 10.11)."""
    assigned = {dialect.fold_name(one.this.this) for one in shape.tree.expressions}
    conditions = [shape.where, *(join.args.get("on") for join in shape.tree.this.args.get("joins") or ())]
    read = {
        dialect.fold_name(column.this)
        for condition in conditions
        if condition is not None
        for column in condition.find_all(exp.Column)
    }
    if assigned & read:
        raise Unknown("an UPDATE of several tables that sets what they are joined by")
    for one in shape.tree.expressions:
        own = dialect.fold_table(one.this.args["table"])
        tables = {
            dialect.fold_table(column.args["table"]) if column.args.get("table") else ""
            for column in one.expression.find_all(exp.Column)
        }
        if tables & ({*names, ""} - {own}):
            raise Unknown("assignments between the tables of an UPDATE")
