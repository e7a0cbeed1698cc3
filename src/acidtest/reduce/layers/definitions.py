"""Layer 2, tables: columns with all that mentions them, keys, constraints, types, and rows of the set-up."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import cast

from sqlglot import exp

from acidtest.reduce.layers.edits import pop
from acidtest.reduce.operations import Operation
from acidtest.reduce.script import Draft, Edit, Script, is_table_definition, render, same_name, walk

_CONSTRAINTS = (
    exp.PrimaryKey,
    exp.UniqueColumnConstraint,
    exp.IndexColumnConstraint,
    exp.ForeignKey,
    exp.Constraint,
    exp.CheckColumnConstraint,
)


def _columns(script: Script) -> Iterator[Edit]:
    for table, (_, columns) in script.tables.items():
        if len(columns) > 1:
            yield from (_without_column(script, table, column) for column in columns)


def _without_column(script: Script, table: str, column: str) -> Edit:
    """Take a column out of its table, and out of every statement that names the table."""
    another = next(one for one in script.tables[table][1] if one != column)

    def edit(draft: Draft) -> None:
        for place, tree in enumerate(script.trees):
            if tree is None or not any(same_name(one.name, table) for one in tree.find_all(exp.Table)):
                continue
            if isinstance(tree, exp.Create):
                _undefine(draft, place, tree, column)
            else:
                if isinstance(tree, exp.Insert) and same_name(_written_table(tree), table):
                    _unwrite(draft, place, tree, column, script.tables[table][1])
                _unmention(draft, place, tree, column, another)

    return edit


def _written_table(insert: exp.Insert) -> str:
    target = insert.this.this if isinstance(insert.this, exp.Schema) else insert.this
    return str(target.name)


def _undefine(draft: Draft, place: int, tree: exp.Create, column: str) -> None:
    """Out of CREATE TABLE and CREATE INDEX; a key that has no other column goes as a whole."""
    if not is_table_definition(tree):
        parts = [one for one in tree.find_all(exp.Ordered) if _named(one, column)]
        if parts and len(parts) == len(list(tree.find_all(exp.Ordered))):
            draft.drop(place)
        else:
            _pop_all(draft, place, parts)
        return
    for item in tree.this.expressions:
        if isinstance(item, exp.ColumnDef):
            if any(same_name(one.name, column) for one in (item, *item.find_all(exp.Column))):
                draft.pop(place, item)
        elif isinstance(item, _CONSTRAINTS):
            keyed = _key_columns(item)
            own = [one for one in keyed if _named(one, column)]
            _pop_all(draft, place, [item] if len(own) == len(keyed) else own)


def _key_columns(constraint: exp.Expression) -> list[exp.Expression]:
    holder = constraint.this if isinstance(constraint.this, exp.Schema) else constraint
    return list(holder.expressions)


def _named(node: exp.Expression, column: str) -> bool:
    return any(same_name(one.name, column) for one in (node, *node.find_all(exp.Identifier)))


def _pop_all(draft: Draft, place: int, nodes: Iterable[exp.Expression]) -> None:
    for node in nodes:
        draft.pop(place, node)


def _unwrite(draft: Draft, place: int, tree: exp.Insert, column: str, columns: list[str]) -> None:
    """Out of an INSERT's list of columns and its values. If it is the only one, another takes its place."""
    position = columns.index(column)
    if tree.expression is None:  # DEFAULT VALUES
        return
    if isinstance(tree.this, exp.Schema):
        names = [one.name.lower() for one in tree.this.expressions]
        if column.lower() not in names:
            return
        position = names.index(column.lower())
        if len(names) == 1:
            other = next(one for one in columns if one != column)
            draft.replace(place, tree.this.expressions[0], exp.to_identifier(other))
            return
        draft.pop(place, tree.this.expressions[position])
    source = tree.expression
    rows = source.expressions if isinstance(source, exp.Values) else [source]
    for row in rows:
        if position < len(row.expressions) and not row.is_star:
            draft.pop(place, row.expressions[position])


def _unmention(draft: Draft, place: int, tree: exp.Expression, column: str, another: str) -> None:
    """Out of assignments, projections, orders and conditions; an UPDATE of it alone sets another."""
    done: set[int] = set()
    if isinstance(tree, exp.Update) and all(_sets(one, column) for one in tree.expressions):
        kept = tree.expressions[0]
        done.add(id(kept))
        draft.replace(place, kept.this, exp.column(another))
        if _named(kept.expression, column):
            draft.replace(place, kept.expression, exp.Literal.number(0))
    for node in tree.find_all(exp.Column):
        if not same_name(node.name, column):
            continue
        holder = _holder(node)
        if id(holder) in done:
            continue
        done.add(id(holder))
        if isinstance(holder.parent, exp.Select) and len(holder.parent.expressions) == 1:
            draft.replace(place, holder, exp.Star())
        elif holder.arg_key in ("expressions", "partition_by"):
            draft.pop(place, holder)
        else:
            draft.replace(place, holder, exp.true() if holder is not node else exp.Literal.number(0))


def _sets(assignment: exp.Expression, column: str) -> bool:
    return same_name(assignment.this.name, column)


_ITEM_HOLDERS = (exp.Select, exp.Order, exp.Group, exp.Window)


def _holder(column: exp.Expression) -> exp.Expression:
    """What has to go with a mention: an item, an assignment to it, or an arm of a condition."""
    node = column
    while node.parent is not None:
        parent = node.parent
        if isinstance(parent, _ITEM_HOLDERS) and node.arg_key in ("expressions", "partition_by"):
            return node
        if isinstance(parent, exp.Update | exp.OnConflict) and node.arg_key == "expressions":
            return node if _sets(node, column.name) else column
        if isinstance(parent, exp.Where | exp.Having | exp.Join | exp.And | exp.Or):
            return node
        node = cast(exp.Expression, parent)
    return column


def _constraints(script: Script) -> Iterator[Edit]:
    """Keys, defaults, NOT NULL, and the columns of composite keys."""
    for place, tree in enumerate(script.trees):
        if not isinstance(tree, exp.Create):
            continue
        for node in walk(tree):
            if isinstance(node, exp.ColumnConstraint) or (
                isinstance(node, _CONSTRAINTS) and isinstance(node.parent, exp.Schema)
            ):
                yield pop(place, node)
                parts = [] if isinstance(node, exp.ColumnConstraint) else _key_columns(node)
                if len(parts) > 1:
                    yield from (pop(place, part) for part in parts)
            elif isinstance(node, exp.Ordered) and len(list(tree.find_all(exp.Ordered))) > 1:
                yield pop(place, node)


def _inline_keys(script: Script) -> Iterator[Edit]:
    """`a INT PRIMARY KEY` for a key of its own in the table's definition."""
    for place, node in script.nodes():
        if isinstance(node, exp.PrimaryKey) and isinstance(node.parent, exp.Schema):
            for column in node.parent.find_all(exp.ColumnDef):
                if [column.name.lower()] == [one.name.lower() for one in node.expressions]:
                    yield _inline_key(place, node, column)


def _inline_key(place: int, key: exp.Expression, column: exp.ColumnDef) -> Edit:
    def edit(draft: Draft) -> None:
        draft.pop(place, key)
        constraint = exp.ColumnConstraint(kind=exp.PrimaryKeyColumnConstraint())
        # A primary key is NOT NULL by itself.
        others = [
            one
            for one in column.args["constraints"]
            if not isinstance(one.args.get("kind"), exp.NotNullColumnConstraint)
        ]
        draft.at(place, column).set("constraints", [*(one.copy() for one in others), constraint])

    return edit


def _types(script: Script) -> Iterator[Edit]:
    """INT for any other type, INT(11) too; texts and fractions of that column become small numbers."""
    for table, (place, columns) in script.tables.items():
        tree = script.trees[place]
        assert tree is not None
        for position, column in enumerate(tree.find_all(exp.ColumnDef)):
            kind = column.kind
            if kind is not None and (kind.expressions or not kind.is_type(exp.DataType.Type.INT)):
                yield _as_integer(script, place, column, {})
                yield _as_integer(script, place, column, _numbers_for(script, table, columns, position))


def _numbers_for(script: Script, table: str, columns: list[str], position: int) -> dict[str, int]:
    """Small numbers for the values that a column holds, is set to or is compared with, by their text."""
    found = [
        node
        for tree in script.trees
        if isinstance(tree, exp.Insert) and same_name(_written_table(tree), table)
        for node in _inserted(tree, columns, columns[position])
    ]
    for _, node in script.nodes():
        if isinstance(node, exp.Column) and same_name(node.name, columns[position]):
            found += _together_with(node)
    return {text: number for number, text in enumerate(dict.fromkeys(one.sql() for one in found), start=1)}


def _inserted(tree: exp.Insert, columns: list[str], column: str) -> Iterator[exp.Literal]:
    """What the rows of an INSERT have for a column."""
    listed = [one.name for one in tree.this.expressions] if isinstance(tree.this, exp.Schema) else columns
    names = [name.lower() for name in listed]
    if column.lower() in names and isinstance(tree.expression, exp.Values):
        position = names.index(column.lower())
        for row in tree.expression.expressions:
            value = row.expressions[position] if position < len(row.expressions) else None
            if isinstance(value, exp.Literal):
                yield value


def _together_with(column: exp.Column) -> Iterator[exp.Literal]:
    """The constants in the comparison or assignment that a column is in."""
    around = column.find_ancestor(exp.Predicate)
    if around is not None:
        yield from around.find_all(exp.Literal)


def _as_integer(script: Script, place: int, column: exp.ColumnDef, numbers: dict[str, int]) -> Edit:
    def edit(draft: Draft) -> None:
        own = draft.at(place, column)
        own.set("kind", exp.DataType.build("INT"))
        own.set("constraints", [one.copy() for one in column.args["constraints"] if not _of_texts(one)])
        for other, node in script.nodes():
            if isinstance(node, exp.Literal) and node.sql() in numbers and other != place:
                draft.replace(other, node, exp.Literal.number(numbers[node.sql()]))

    return edit


def _of_texts(constraint: exp.ColumnConstraint) -> bool:
    kinds = (exp.CharacterSetColumnConstraint, exp.CollateColumnConstraint, exp.DefaultColumnConstraint)
    return isinstance(constraint.args.get("kind"), kinds)


def _merged_rows(script: Script) -> Iterator[Edit]:
    """Two INSERTs of the set-up into one table as one."""
    places = [
        (place, tree)
        for place, tree in enumerate(script.trees)
        if place in script.setup_places
        and isinstance(tree, exp.Insert)
        and isinstance(tree.expression, exp.Values)
        and not tree.args.get("conflict")
    ]
    for (place, one), (other_place, other) in pairwise(places):
        if one.this == other.this:
            merged = one.copy()
            rows = [*one.expression.expressions, *other.expression.expressions]
            merged.expression.set("expressions", [row.copy() for row in rows])
            yield _put(place, render(merged, script.texts[place], script.dialect), other_place)


def _put(place: int, text: str, gone: int) -> Edit:
    def edit(draft: Draft) -> None:
        draft.write(place, text)
        draft.drop(gone)

    return edit


DEFINITIONS = (
    Operation("column", _columns, together=True),
    Operation("constraint", _constraints, together=True),
    Operation("inline key", _inline_keys),
    Operation("type", _types),
    Operation("merged rows", _merged_rows),
)
