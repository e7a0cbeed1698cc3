"""Which tables the rows of a query come from, one by one, and which are only looked at."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlglot import exp

from acidtest.instrument.errors import NotInstrumentableError
from acidtest.sql.named import folded, known_as, table_name, tables_in

_SHAPES_ROWS = ("group", "having", "distinct")


@dataclass(frozen=True, slots=True)
class Source:
    """A stored table whose rows a query returns one by one, and what its columns are qualified with."""

    table: str
    alias: str


def shown_tables(tree: exp.Expression, grammar: str) -> Iterator[Source]:
    """The stored tables whose rows a query returns, also through a derived table of all columns."""
    if not isinstance(tree, exp.Select) or any(tree.args.get(part) for part in _SHAPES_ROWS):
        return
    if any(_is_aggregate(one) for one in tree.expressions):
        return
    stored = set(tables_in(tree, grammar))
    common = {folded(one.args["alias"].this, grammar): one.this for one in tree.ctes}
    for one in _sources(tree):
        if isinstance(one, exp.Table) and table_name(one, grammar) in common:
            yield from _through(common[table_name(one, grammar)], known_as(one, grammar), grammar)
        elif isinstance(one, exp.Table) and table_name(one, grammar) in stored:
            yield Source(table_name(one, grammar), known_as(one, grammar))
        elif isinstance(one, exp.Subquery) and one.alias:
            yield from _through(one.this, folded(one.args["alias"].this, grammar), grammar)


def _sources(tree: exp.Select) -> Iterator[exp.Expression]:
    source = tree.args.get("from_")
    if source is None:
        return
    yield source.this
    for one in (*(tree.args.get("joins") or ()), *(source.this.args.get("joins") or ())):
        if one.args.get("method") or one.args.get("kind") in ("SEMI", "ANTI"):
            raise NotInstrumentableError("a NATURAL JOIN, which more columns would change")
        yield one.this


def _through(query: exp.Expression, alias: str, grammar: str) -> Iterator[Source]:
    """The table of which a derived table has all columns."""
    if isinstance(query, exp.Select) and len(query.expressions) == 1 and is_whole(query):
        for one in shown_tables(query, grammar):
            yield Source(one.table, alias)


def _is_aggregate(item: exp.Expression) -> bool:
    for one in item.find_all(exp.AggFunc):
        above = one.parent
        if (
            isinstance(above, exp.Window)
            or one.find_ancestor(exp.Select, exp.Window) is not item.parent_select
        ):
            continue
        return True
    return False


def is_whole(tree: exp.Expression) -> bool:
    """Whether it is SELECT * of one source, which has the columns anyway."""
    source = tree.args.get("from_")
    table = None if source is None else source.this
    alone = table is not None and not tree.args.get("joins") and not table.args.get("joins")
    return alone and any(isinstance(one, exp.Star) for one in tree.expressions)


def refuse_stars(tree: exp.Expression) -> None:
    """More columns in the tables must not become more columns of a value or of a branch."""
    for select in tree.find_all(exp.Select):
        starred = any(
            isinstance(one, exp.Star) or (isinstance(one, exp.Column) and isinstance(one.this, exp.Star))
            for one in select.expressions
        )
        derived = isinstance(select.parent, exp.Subquery) and isinstance(
            select.parent.parent, exp.From | exp.Join
        )
        fits = select is tree or derived or isinstance(select.parent, exp.Exists | exp.CTE)
        if starred and not fits:
            raise NotInstrumentableError("SELECT * inside of a statement")


def hidden_tables(tree: exp.Expression, shown: Iterable[str], grammar: str) -> Iterator[str]:
    """Tables that a statement reads somewhere else than where their rows are shown."""
    known = Counter(shown)
    named = Counter(
        table_name(one, grammar) for one in tree.find_all(exp.Table) if isinstance(one.this, exp.Identifier)
    )
    return (name for name in tables_in(tree, grammar) if named[name] > known[name])
