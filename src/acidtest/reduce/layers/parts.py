"""Layer 2, statements: clauses, items of lists, joins, derived tables, arms of set operations, aliases."""

from collections.abc import Iterator

from sqlglot import exp

from acidtest.reduce.layers.edits import pop, replace, set_part, write
from acidtest.reduce.operations import Operation
from acidtest.reduce.script import Edit, Script, read, render, same_name
from acidtest.sql import StatementKind, kind_of

_CLAUSES = frozenset(
    [
        "where",
        "having",
        "group",
        "order",
        "limit",
        "offset",
        "distinct",
        "with_",
        "locks",
        "joins",
        "hint",
        "conflict",
        "returning",
        "properties",
        "windows",
        "qualify",
        "partition_by",
        "spec",
        "default",
        "laterals",
        "options",
    ]
)
"""Arguments of sqlglot's nodes that a statement can do without."""

_LISTS = (exp.Select, exp.Update, exp.Values, exp.Group, exp.Order, exp.With, exp.In, exp.OnConflict)
"""Nodes whose items may go as long as one is left."""


def _clauses(script: Script) -> Iterator[Edit]:
    for place, node in script.nodes():
        if node.arg_key in _CLAUSES and not isinstance(node, exp.ColumnDef):
            yield pop(place, node)


def _items(script: Script) -> Iterator[Edit]:
    for place, node in script.nodes():
        if isinstance(node, _LISTS) and len(node.expressions) > 1:
            yield from (pop(place, item) for item in node.expressions)


def _stars(script: Script) -> Iterator[Edit]:
    """SELECT * for whatever is selected."""
    for place, node in script.nodes():
        if isinstance(node, exp.Select) and not (len(node.expressions) == 1 and node.is_star):
            yield set_part(place, node, "expressions", [exp.Star()])


def _written_columns(script: Script) -> Iterator[Edit]:
    """One column of an INSERT with its values; or the list of all columns."""
    for place, node in script.nodes():
        if isinstance(node, exp.Insert) and isinstance(node.this, exp.Schema):
            yield replace(place, node.this, node.this.this)
            rows = [one.expressions for one in _rows(node)]
            for position, column in enumerate(node.this.expressions):
                values = [row[position] for row in rows if position < len(row)]
                yield pop(place, column, *values)


def _rows(insert: exp.Insert) -> list[exp.Expression]:
    """What gives an INSERT its values: rows, or the arms of a query without a star."""
    source = insert.expression
    if isinstance(source, exp.Values):
        return list(source.expressions)
    return [source] if isinstance(source, exp.Select) and not source.is_star else []


def _inner(script: Script) -> Iterator[Edit]:
    """The table in a derived table's or a CTE's place, and one arm in the place of a set operation."""
    for place, node in script.nodes():
        if isinstance(node, exp.SetOperation):
            yield replace(place, node, node.this)
            yield replace(place, node, node.expression)
        elif isinstance(node, exp.Subquery) and isinstance(node.parent, exp.From | exp.Join):
            yield from _by_its_table(place, node, node.this)
        elif isinstance(node, exp.CTE):
            tree = script.trees[place]
            assert tree is not None
            for table in tree.find_all(exp.Table):
                if same_name(table.name, node.alias):
                    yield from _by_its_table(place, table, node.this)


def _by_its_table(place: int, node: exp.Expression, query: exp.Expression) -> Iterator[Edit]:
    inner = query.find(exp.Table)
    if inner is not None:
        table = exp.Table(this=inner.this.copy())
        if node.args.get("alias"):
            table.set("alias", node.args["alias"].copy())
        yield replace(place, node, table)


def _without_aliases(script: Script) -> Iterator[Edit]:
    """Names as they are: no aliases of tables, no qualifiers; or a projection's alias alone."""
    for place, tree in enumerate(script.trees):
        if tree is not None and not isinstance(tree, exp.Create):
            aliases = [one for one in tree.find_all(exp.TableAlias) if isinstance(one.parent, exp.Table)]
            qualifiers = [one.args["table"] for one in tree.find_all(exp.Column) if one.args.get("table")]
            if aliases or qualifiers:
                yield pop(place, *aliases, *qualifiers)
            for alias in tree.find_all(exp.Alias):
                yield replace(place, alias, alias.this)


def _flags(script: Script) -> Iterator[Edit]:
    """INSERT for REPLACE and INSERT IGNORE, a plain lock for NOWAIT and SKIP LOCKED."""
    for place, node in script.nodes():
        if isinstance(node, exp.Insert):
            for flag in ("ignore", "alternative"):  # the latter is SQLite's INSERT OR ..
                if node.args.get(flag):
                    yield set_part(place, node, flag, None)
            if script.texts[place][:7].upper() == "REPLACE":
                yield write(place, "INSERT" + script.texts[place][7:])
        elif isinstance(node, exp.Lock) and node.args.get("wait") is not None:
            yield set_part(place, node, "wait", None)


def _control(script: Script) -> Iterator[Edit]:
    """The plainest words for how a transaction begins and ends."""
    words = {StatementKind.BEGIN: "BEGIN", StatementKind.ROLLBACK: "COMMIT", StatementKind.COMMIT: "COMMIT"}
    for place in script.schedule_places:
        word = words.get(kind_of(script.texts[place]))
        if word is not None and word != script.texts[place]:
            yield write(place, word)


def _plain_text(script: Script) -> Iterator[Edit]:
    """The text as sqlglot writes it: no comments, no double spaces."""
    for place, tree in enumerate(script.trees):
        if tree is not None:
            text = render(tree, script.texts[place], script.dialect)
            if text != script.texts[place] and read(text, script.dialect) is not None:
                yield write(place, text)


PARTS = (
    Operation("plain text", _plain_text, together=True),
    Operation("control", _control, together=True),
    Operation("clause", _clauses, together=True),
    Operation("inner query", _inner),
    Operation("item", _items, together=True),
    Operation("star", _stars, together=True),
    Operation("aliases", _without_aliases, together=True),
    Operation("written column", _written_columns),
    Operation("flag", _flags, together=True),
)
