"""What a statement reads and writes: columns by table, and rows where keys tell.

From sqlglot's tree and the live schema, for statements of ORMs as for others. Where a statement does more
than it says (triggers, functions of the schema) or cannot be read, it counts as reading and writing whole
tables.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from acidtest.model import Action, Schema, Table
from acidtest.sql import StatementKind, kind_of
from acidtest.sql.named import folded, known_as, table_name
from acidtest.sql.shape import Shape, Verb, shape_of

EXISTENCE = "*"
"""Stands among the columns of a table for which rows it has."""

Element = tuple[str, str]
"""A table and a column."""


@dataclass(frozen=True, slots=True)
class Access:
    """What one statement touches. `rows`: of a table, the keys of the only rows it can touch. `fresh`: tables
    into which it only puts rows with new keys. `refers`: tables in which a row must exist. `removes`: tables
    from which it takes rows."""

    reads: frozenset[Element] = frozenset()
    writes: frozenset[Element] = frozenset()
    rows: Mapping[str, frozenset[str]] = field(default_factory=dict)
    fresh: frozenset[str] = frozenset()
    refers: frozenset[str] = frozenset()
    removes: frozenset[str] = frozenset()
    sure: bool = True
    """False where it could not be read and counts by table."""

    @property
    def tables(self) -> frozenset[str]:
        return frozenset(table for table, _ in self.reads | self.writes)


NOTHING = Access()


class Reader:
    """Reads statements against one schema."""

    def __init__(self, schema: Schema, dialect: str) -> None:
        self._schema = schema
        self._dialect = dialect
        self._tables = {table.name: table for table in schema.tables}
        self._known: dict[str, Access] = {}
        self.unique = frozenset(
            one.name for one in schema.tables if any(_is_second_key(i) for i in one.indexes)
        )
        """Tables in which two new rows can collide."""

    def access(self, sql: str) -> Access:
        """What a statement touches."""
        found = self._known.get(sql)
        if found is None:
            found = self._known[sql] = self._read(sql)
        return found

    def _read(self, sql: str) -> Access:
        kind = kind_of(sql)
        if sql.lstrip()[:5].upper() == "SHOW ":
            return NOTHING
        if kind not in (StatementKind.QUERY, StatementKind.WRITE, StatementKind.OTHER):
            return NOTHING if kind is not StatementKind.DDL else self._by_names(sql)
        shape = shape_of(sql, self._dialect)
        if shape is None or set(shape.calls) & set(self._schema.functions):
            return self._by_names(sql) if shape is None else self._everything()
        if any(self._tables[one].triggers for one in shape.writes if one in self._tables):
            return self._everything()
        return self._of_shape(shape)

    def _by_names(self, sql: str) -> Access:
        """All columns of all tables that the text names."""
        words = set(re.findall(r"\w+", sql.lower()))
        named = [table for table in self._schema.tables if table.name.lower() in words]
        elements = frozenset(one for table in named for one in _all_of(table))
        return Access(elements, elements, removes=frozenset(one.name for one in named), sure=False)

    def _everything(self) -> Access:
        elements = frozenset(one for table in self._schema.tables for one in _all_of(table))
        return Access(elements, elements, removes=frozenset(self._tables), sure=False)

    def _of_shape(self, shape: Shape) -> Access:
        reads = self._columns_read(shape)
        reads |= {
            (name, EXISTENCE)
            for name in shape.reads
            if name in self._tables and not _only_inserted(shape, name)
        }
        writes: set[Element] = set()
        refers: set[str] = set()
        removes: set[str] = set()
        for name in shape.writes:
            if name not in self._tables:
                continue
            table = self._tables[name]
            if shape.verb is Verb.UPDATE and not shape.writes_inside:
                changed = self._columns_set(shape, table)
                writes |= {(name, column) for column in changed}
                refers |= {key.table for key in table.foreign_keys if set(key.columns) & changed}
            else:
                writes |= set(_all_of(table))
                refers |= {key.table for key in table.foreign_keys}
            if shape.verb in (Verb.DELETE, Verb.MERGE) or shape.replaces:
                removes.add(name)
                writes |= set(self._cascades(name))
        fresh = frozenset(shape.writes) if self._is_fresh(shape) else frozenset()
        return Access(
            frozenset(reads),
            frozenset(writes),
            self._rows(shape),
            fresh,
            frozenset(refers),
            frozenset(removes),
        )

    def _cascades(self, parent: str, seen: frozenset[str] = frozenset()) -> Iterator[Element]:
        """What goes with a row that is removed."""
        if parent in seen:
            return
        for table in self._schema.tables:
            for key in table.foreign_keys:
                if key.table == parent and key.on_delete not in (Action.NO_ACTION, Action.RESTRICT):
                    yield from _all_of(table)
                    yield from self._cascades(table.name, seen | {parent})

    def _columns_read(self, shape: Shape) -> set[Element]:
        names = {
            known_as(node, self._dialect): table_name(node, self._dialect)
            for node in shape.tree.find_all(exp.Table)
            if isinstance(node.this, exp.Identifier)
        }
        assigned = {id(one.this) for one in _assignments(shape.tree)}
        fresh = shape.verb is Verb.INSERT
        found: set[Element] = set()
        for node in shape.tree.find_all(exp.Column):
            if id(node) in assigned or (fresh and node.find_ancestor(exp.Returning)):
                continue  # a new row is told, not read
            column = folded(node.this, self._dialect) if isinstance(node.this, exp.Identifier) else EXISTENCE
            qualifier = node.args.get("table")
            wanted = (
                [names.get(folded(qualifier, self._dialect), "")]
                if qualifier is not None
                else list(shape.reads)
            )
            for name in wanted:
                table = self._tables.get(name)
                if table is None:
                    continue
                if column == EXISTENCE:
                    found |= set(_all_of(table))
                elif any(one.name == column for one in table.columns):
                    found.add((name, column))
        if any(not isinstance(star.parent, exp.Count | exp.Column) for star in shape.tree.find_all(exp.Star)):
            found |= {
                one for name in shape.reads if name in self._tables for one in _all_of(self._tables[name])
            }
        return found

    def _columns_set(self, shape: Shape, table: Table) -> set[str]:
        named = {
            folded(one.this.this, self._dialect)
            for one in _assignments(shape.tree)
            if isinstance(one.this, exp.Column) and isinstance(one.this.this, exp.Identifier)
        }
        own = {column.name for column in table.columns}
        return (named & own) or own

    def _is_fresh(self, shape: Shape) -> bool:
        """Whether an INSERT only makes rows whose keys the DBMS chooses."""
        if shape.verb is not Verb.INSERT or shape.replaces or shape.writes_inside:
            return False
        if shape.tree.args.get("conflict") or shape.target not in self._tables:
            return False
        table = self._tables[shape.target]
        listed = shape.tree.this.expressions if isinstance(shape.tree.this, exp.Schema) else None
        if listed is None:
            return False
        given = {folded(one, self._dialect) for one in listed if isinstance(one, exp.Identifier)}
        keys = next((index.columns for index in table.indexes if index.primary), ())
        return bool(keys) and not set(keys) & given

    def _rows(self, shape: Shape) -> dict[str, frozenset[str]]:
        """The rows that a condition on a key leaves."""
        rows: dict[str, frozenset[str]] = {}
        if shape.verb is Verb.INSERT:
            return self._rows_inserted(shape)
        if shape.where is None or shape.writes_inside or shape.tree.find(exp.Union):
            return rows
        conditions = [shape.where]
        aliases = {
            known_as(node, self._dialect): table_name(node, self._dialect)
            for node in shape.tree.find_all(exp.Table)
            if isinstance(node.this, exp.Identifier)
        }
        for part in (leaf for one in conditions for leaf in _conjuncts(one)):
            pinned = _pinned(part)
            if pinned is None:
                continue
            column, values = pinned
            qualifier = column.args.get("table")
            names = (
                [aliases.get(folded(qualifier, self._dialect), "")]
                if qualifier is not None
                else [*dict.fromkeys(aliases.values())]
            )
            if len(names) == 1 and self._is_key(names[0], folded(column.this, self._dialect)):
                rows[names[0]] = rows.get(names[0], values) & values
        return rows if len(aliases) == len(set(aliases.values())) else {}

    def _rows_inserted(self, shape: Shape) -> dict[str, frozenset[str]]:
        """The keys that an INSERT of values gives itself."""
        tree, target = shape.tree, shape.target or ""
        key = self.key_of(target)
        values = tree.args.get("expression")
        if key is None or not isinstance(tree.this, exp.Schema) or not isinstance(values, exp.Values):
            return {}
        names = [
            folded(one, self._dialect) for one in tree.this.expressions if isinstance(one, exp.Identifier)
        ]
        if key not in names or shape.writes_inside or tree.find(exp.Select):
            return {}
        position = names.index(key)
        texts = [
            _value(row.expressions[position]) for row in values.expressions if isinstance(row, exp.Tuple)
        ]
        return {} if None in texts or not texts else {target: frozenset(map(str, texts))}

    def key_of(self, table: str) -> str | None:
        """The column that is the primary key of a table by itself."""
        found = self._tables.get(table)
        keys = [one.columns for one in found.indexes if one.primary] if found else []
        return keys[0][0] if keys and len(keys[0]) == 1 else None

    def _is_key(self, table: str, column: str) -> bool:
        return self.key_of(table) == column


def conflict(one: Access, other: Access, unique: frozenset[str]) -> frozenset[Element]:
    """The elements on which two statements of different operations conflict: both touch them, one writes."""
    shared = (one.writes & (other.reads | other.writes)) | (one.reads & other.writes)
    found = {element for element in shared if _may_meet(one, other, element[0], unique)}
    found |= {(name, EXISTENCE) for name in (one.refers & other.removes) | (other.refers & one.removes)}
    return frozenset(found)


def _may_meet(one: Access, other: Access, table: str, unique: frozenset[str]) -> bool:
    """Whether the two can touch the same row, or one the rows that the other looks for."""
    mine, theirs = one.rows.get(table), other.rows.get(table)
    if mine is not None and theirs is not None:
        return bool(mine & theirs)
    if table in one.fresh and table in other.fresh:
        return table in unique
    return not ((table in one.fresh and theirs is not None) or (table in other.fresh and mine is not None))


def _all_of(table: Table) -> Iterable[Element]:
    yield table.name, EXISTENCE
    for column in table.columns:
        yield table.name, column.name


def _only_inserted(shape: Shape, name: str) -> bool:
    return (
        shape.verb is Verb.INSERT
        and name == shape.target
        and shape.plain
        and not shape.tree.args.get("conflict")
    )


def _is_second_key(index: object) -> bool:
    return bool(getattr(index, "unique", False)) and not getattr(index, "primary", False)


def _assignments(tree: exp.Expression) -> Iterator[exp.EQ]:
    for node in tree.find_all(exp.Update, exp.OnConflict):
        yield from (one for one in node.expressions if isinstance(one, exp.EQ))


def _conjuncts(condition: exp.Expression) -> Iterator[exp.Expression]:
    if isinstance(condition, exp.And):
        yield from _conjuncts(condition.this)
        yield from _conjuncts(condition.expression)
    elif isinstance(condition, exp.Paren):
        yield from _conjuncts(condition.this)
    else:
        yield condition


def _pinned(condition: exp.Expression) -> tuple[exp.Column, frozenset[str]] | None:
    """A column that a condition pins to given values."""
    if isinstance(condition, exp.EQ):
        for column, value in ((condition.this, condition.expression), (condition.expression, condition.this)):
            if isinstance(column, exp.Column) and (text := _value(value)) is not None:
                return column, frozenset({text})
    if isinstance(condition, exp.In) and isinstance(condition.this, exp.Column) and condition.expressions:
        texts = [_value(one) for one in condition.expressions]
        if all(text is not None for text in texts):
            return condition.this, frozenset(text for text in texts if text is not None)
    return None


def _value(node: exp.Expression) -> str | None:
    if isinstance(node, exp.Cast | exp.Paren):
        return _value(node.this)
    if isinstance(node, exp.Neg):
        inner = _value(node.this)
        return None if inner is None else f"-{inner}"
    return str(node.this) if isinstance(node, exp.Literal) else None
