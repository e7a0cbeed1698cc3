"""Statements that test each row of one table by itself, with subqueries beside it or not."""

from dataclasses import replace
from functools import lru_cache

from sqlglot import exp

from acidtest.sql.named import alias_of, table_name
from acidtest.sql.shape import Shape, Verb

_MORE_THAN_ONE = ("joins", "group", "having", "offset", "distinct", "with_", "laterals")
_MORE_THAN_A_WRITE = ("order", "limit", "from_", "using", "tables", "with_")


@lru_cache(maxsize=2048)
def about_one_table(shape: Shape, grammar: str, *, limited: bool = False) -> Shape:
    """The shape with its one table as target, if which rows a query works on is told by WHERE alone, or,
    `limited`, by WHERE and a LIMIT."""
    tree = shape.tree
    if shape.target is not None or not isinstance(tree, exp.Select) or shape.only or shape.lateral:
        return shape
    source = tree.args.get("from_")
    table = source.this if source is not None else None
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        return shape
    parts = [table.args.get(part) for part in ("joins", "sample", "partition", "version")]
    if any(parts) or any(tree.args.get(part) for part in _MORE_THAN_ONE):
        return shape
    if tree.args.get("limit") and not limited:
        return shape
    if any(one.parent_select is tree for one in tree.find_all(exp.AggFunc, exp.Window)):
        return shape
    name = table_name(table, grammar)
    return shape if name not in shape.reads else replace(shape, target=name, alias=alias_of(table, grammar))


@lru_cache(maxsize=2048)
def about_its_rows(shape: Shape, grammar: str) -> Shape:
    """The shape as if its query gave the rows themselves, if it only sums up those under its condition."""
    tree = shape.tree
    if shape.plain or not isinstance(tree, exp.Select) or shape.only or shape.lateral or shape.locks:
        return shape
    source = tree.args.get("from_")
    table = source.this if source is not None else None
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        return shape
    if any(table.args.get(part) for part in ("joins", "sample", "partition", "version")):
        return shape
    if any(tree.args.get(part) for part in ("joins", "limit", "offset", "with_", "laterals")):
        return shape
    name = table_name(table, grammar)
    if len(list(tree.find_all(exp.Select))) != 1 or shape.reads != (name,):
        return shape
    return replace(shape, target=name, alias=alias_of(table, grammar), plain=True)


def tests_rows_alone(shape: Shape) -> bool:
    """Whether a statement with a target finds its rows by a condition on each."""
    if shape.target is None or shape.verb in (Verb.INSERT, Verb.MERGE) or shape.writes_inside or shape.only:
        return False
    if shape.verb is Verb.READ:
        return True
    tree = shape.tree
    return not tree.this.args.get("joins") and not any(tree.args.get(part) for part in _MORE_THAN_A_WRITE)


def chooses_among_rows(shape: Shape) -> bool:
    """Whether a write of one table takes the first rows in some order of those that meet a condition on
    each."""
    tree = shape.tree
    if shape.verb not in (Verb.UPDATE, Verb.DELETE) or shape.only or tree.this.args.get("joins"):
        return False
    more = (part for part in _MORE_THAN_A_WRITE if part not in ("order", "limit"))
    return not any(tree.args.get(part) for part in more) and tree.find(exp.Query) is None


def read_beside(shape: Shape, grammar: str) -> tuple[str, ...]:
    """The tables that a write reads besides the rows that it works on."""
    again = shape.verb is not Verb.MERGE and reads_its_table_again(shape, grammar)
    return tuple(table for table in shape.reads if table != shape.target or again)


def reads_its_table_again(shape: Shape, grammar: str) -> bool:
    """Whether a subquery or another place of a join reads the target, too."""
    named = [
        table
        for table in shape.tree.find_all(exp.Table)
        if isinstance(table.this, exp.Identifier) and not isinstance(table.parent, exp.Lock)
    ]
    deleted_from = {id(table) for table in shape.tree.args.get("tables") or ()}
    places = [
        one for one in named if id(one) not in deleted_from and table_name(one, grammar) == shape.target
    ]
    return len(places) > 1
