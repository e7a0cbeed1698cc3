"""What a deviation answers whose scans from the end of a table see the newest rows, not the snapshot."""

from collections.abc import Iterator, Sequence

from sqlglot import exp

from acidtest.model import Row
from acidtest.oracles.engines.base import Engine, Views
from acidtest.sql.rendering import literal
from acidtest.sql.shape import Shape, shape_of
from acidtest.sql.trees import parse


def admits_backwards(
    engine: Engine, grammar: str, shape: Shape, snapshot: Views, newest: Views, rows: Sequence[Row]
) -> bool:
    """Whether a query gives these rows if it, or one subquery of it, goes backwards over the newest rows."""
    sql = shape.tree.sql(grammar)
    if isinstance(shape.tree, exp.Select) and _goes_backwards(shape.tree):
        return engine.admits(sql, shape, newest, rows)
    return any(
        engine.admits(text, other, snapshot, rows)
        for text in _with_answers(engine, grammar, shape, newest)
        if (other := shape_of(text, grammar)) is not None
    )


def _with_answers(engine: Engine, grammar: str, shape: Shape, newest: Views) -> Iterator[str]:
    """The query with the answer in the place of each subquery that goes backwards, by itself."""
    for place, subquery in enumerate(shape.tree.find_all(exp.Subquery)):
        inner = subquery.this
        if not isinstance(inner, exp.Select) or not _goes_backwards(inner):
            continue
        sql = inner.sql(grammar)
        own = shape_of(sql, grammar)
        found = () if own is None else engine.answer(sql, own, newest).rows
        if own is None or len(found) > 1 or len(inner.expressions) != 1:
            continue
        answer = parse(f"SELECT {literal(found[0][0] if found else None, grammar)}", grammar)
        if answer is not None:
            whole = shape.tree.copy()
            list(whole.find_all(exp.Subquery))[place].replace(answer.expressions[0].copy())
            yield whole.sql(grammar)


def _goes_backwards(query: exp.Select) -> bool:
    """Whether a query of one table may begin at its end: for a greatest value, or for a descending order."""
    if query.args.get("joins") or query.args.get("group"):
        return False
    order = query.args.get("order")
    descends = order is not None and any(one.args.get("desc") for one in order.expressions)
    return descends or any(isinstance(one.unalias(), exp.Max) for one in query.expressions)
