"""Statements turned into other statements, to ask a DBMS about them."""

from functools import lru_cache

from sqlglot import exp

from acidtest.model import Table
from acidtest.sql.shape import Shape, Verb


@lru_cache(maxsize=2048)
def rows_of_interest(shape: Shape, dialect: str) -> str:
    """A query for the rows of its target that a statement works on (Troc III-E1), whole."""
    tree = shape.tree
    if shape.verb is Verb.READ:
        query = tree.copy()
        for part in ("locks", "order", "limit", "offset"):
            query.set(part, None)
        query.set("expressions", [exp.Star()])
        return query.sql(dialect)
    target = tree.this
    query = exp.Select(expressions=[exp.column(exp.Star(), table=exp.to_identifier(target.alias_or_name))])
    source = target.copy()
    source.set("joins", None)
    query.set("from_", exp.From(this=source))
    joined = [join.copy() for join in target.args.get("joins") or ()]
    if more := tree.args.get("from_"):
        table = more.this.copy()
        nested = table.args.get("joins") or []
        table.set("joins", None)
        joined += [exp.Join(this=table), *nested]
    joined += [exp.Join(this=table.copy()) for table in tree.args.get("using") or ()]
    query.set("joins", joined)
    for part in ("where", "with_"):
        if tree.args.get(part):
            query.set(part, tree.args[part].copy())
    return query.sql(dialect)


@lru_cache(maxsize=2048)
def rows_in_order(shape: Shape, dialect: str) -> str:
    """A query for the rows that an UPDATE or DELETE would work on without its LIMIT, in its order."""
    order = shape.tree.args.get("order")
    question = rows_of_interest(shape, dialect)
    return f"{question} {order.sql(dialect)}" if order else question


def limit_of(shape: Shape) -> int | None:
    """How many rows a LIMIT lets pass; None if that is no plain number, or there is an OFFSET."""
    limit = shape.tree.args.get("limit")
    number = limit.expression if isinstance(limit, exp.Limit) else None
    plain = isinstance(number, exp.Literal) and number.is_int and not shape.tree.args.get("offset")
    return int(number.this) if plain and number is not None else None


def order_columns(shape: Shape, table: Table) -> list[int] | None:
    """Positions of the columns that a write is ordered by; None if it goes by anything else."""
    order = shape.tree.args.get("order")
    names = [column.name.lower() for column in table.columns]
    keys = [one.this for one in order.expressions] if order else []
    if not keys or not all(isinstance(key, exp.Column) and key.name.lower() in names for key in keys):
        return None
    return [names.index(key.name.lower()) for key in keys]


@lru_cache(maxsize=2048)
def without_limit(shape: Shape, dialect: str) -> str:
    """The same query without its LIMIT."""
    query = shape.tree.copy()
    for part in ("limit", "offset"):
        query.set(part, None)
    return query.sql(dialect)


def has_limit(shape: Shape) -> bool:
    """Whether the statement as a whole has a LIMIT."""
    return any(shape.tree.args.get(part) for part in ("limit", "offset"))


def assigned_columns(shape: Shape) -> frozenset[str]:
    """Names, in lower case, of the columns that an UPDATE sets."""
    return frozenset(
        column.name.lower() for one in shape.tree.expressions for column in one.this.find_all(exp.Column)
    )


def reads_its_target(shape: Shape) -> bool:
    """Whether a write also reads the table that it writes, in a subquery or another place of a join."""
    tables = [
        table
        for table in shape.tree.find_all(exp.Table)
        if table.name.lower() == (shape.target or "").lower()
    ]
    deleted_from = {id(table) for table in shape.tree.args.get("tables") or ()}
    return len([table for table in tables if id(table) not in deleted_from]) > 1


def takes_numbers(shape: Shape, table: Table) -> bool:
    """Whether an INSERT lets the table number a row by itself."""
    if not has_counter(table) or shape.verb is not Verb.INSERT:
        return False
    position = _counter_place(shape, table)
    if position is None or not isinstance(shape.tree.expression, exp.Values):
        return True
    return not all(_is_number(row, position) for row in shape.tree.expression.expressions)


def has_counter(table: Table) -> bool:
    """Whether the table can number rows by itself."""
    return any(column.auto_increment for column in table.columns)


def numbers_only_new_rows(shape: Shape, table: Table) -> bool:
    """Whether each row of an INSERT surely takes one number: no query, no way to treat duplicates, and no
    rows among them with numbers of their own, because then numbers are lost."""
    source = shape.tree.expression
    if not isinstance(source, exp.Values) or treats_duplicates(shape):
        return False
    position = _counter_place(shape, table)
    return position is None or all(_asks(row, position) for row in source.expressions)


def treats_duplicates(shape: Shape) -> bool:
    """Whether an INSERT goes on, in some way, where a key exists."""
    return shape.replaces or any(shape.tree.args.get(way) for way in ("conflict", "ignore", "alternative"))


def may_fail_half_way(shape: Shape) -> bool:
    """Whether an INSERT that failed may have got past some of its rows."""
    source = shape.tree.expression
    return not isinstance(source, exp.Values) or len(source.expressions) > 1


def _counter_place(shape: Shape, table: Table) -> int | None:
    """Where among the values of an INSERT the column stands that counts by itself; None if it is left out."""
    into = shape.tree.this
    columns = into.expressions if isinstance(into, exp.Schema) else table.columns
    counter = next(column.name.lower() for column in table.columns if column.auto_increment)
    return next((i for i, column in enumerate(columns) if column.name.lower() == counter), None)


def _asks(row: exp.Expression, position: int) -> bool:
    values = row.expressions if isinstance(row, exp.Tuple) else [row]
    return position < len(values) and values[position].sql().upper() in ("NULL", "0", "DEFAULT")


def _is_number(row: exp.Expression, position: int) -> bool:
    values = row.expressions if isinstance(row, exp.Tuple) else [row]
    return (
        position < len(values) and isinstance(values[position], exp.Literal) and values[position].this != "0"
    )
