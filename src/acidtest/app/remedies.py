"""Remedies, tried by rewriting at the gate and forcing the same orders again. The application is not
touched."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from sqlglot import exp

from acidtest.app.script import Rewrite, Script
from acidtest.app.shapes import without_values
from acidtest.model import Level, Rows
from acidtest.model.application import Call, ForcedRun, Nature, Order, Remedy, Tried
from acidtest.sql.named import folded, table_name
from acidtest.sql.shape import Shape, Verb, shape_of

RETRIES = 3
ORDERS_MOST = 6
"""A remedy must hold in so many of the likeliest orders, the one that went wrong first."""

STRONGER = (Level.REPEATABLE_READ, Level.SERIALIZABLE)


@dataclass(frozen=True, slots=True)
class Plan:
    """A remedy to try: what to change in a script, or why it cannot be tried."""

    name: str
    detail: str
    change: Callable[[Script], Script] | None
    why: str = ""


def try_remedies(
    plans: Sequence[Plan],
    orders: Sequence[Order],
    force: Callable[[Script], tuple[ForcedRun, bool]],
    base: Script,
) -> tuple[Remedy, ...]:
    """Force the orders with each remedy in place. `force` tells whether the run is wrong."""
    return tuple(_try(plan, orders[:ORDERS_MOST], force, base) for plan in plans)


def _try(
    plan: Plan, orders: Sequence[Order], force: Callable[[Script], tuple[ForcedRun, bool]], base: Script
) -> Remedy:
    if plan.change is None:
        return Remedy(plan.name, plan.detail, Tried.NOT_TRIED, why=plan.why)
    for count, order in enumerate(orders, start=1):
        run, wrong = force(plan.change(replace(base, order=order)))
        if run.hold_lost:
            why = "an operation gives its connection back in between, or uses several"
            return Remedy(plan.name, plan.detail, Tried.NOT_TRIED, why=why)
        problem = _problem(run)
        if wrong or problem:
            why = problem or ("it still goes wrong" if count == 1 else "another order goes wrong")
            return Remedy(plan.name, plan.detail, Tried.FAILED, count, why)
    return Remedy(plan.name, plan.detail, Tried.HELD, len(orders))


def _problem(run: ForcedRun) -> str:
    for name, result in run.results.items():
        if result.refused:
            return f"operation {name} is refused ({result.kind}) even after {result.attempts} attempts"
    return ""


def plans(
    run: ForcedRun,
    deciding: Call | None,
    nature: Nature,
    levels: Sequence[Level],
    own: Level | None,
    dialect: str,
) -> Iterator[Plan]:
    """The remedies that are known, in the order in which one would try them by hand."""
    locking = _locking(deciding, dialect)
    yield Plan("lock", locking.detail, locking.change, locking.why)
    yield Plan(
        "one transaction",
        "each operation as one transaction",
        lambda script: replace(script, one_transaction=True),
    )
    if locking.change is not None:
        change = locking.change
        yield Plan(
            "one transaction and lock",
            f"each operation as one transaction, with {locking.detail}",
            lambda script: replace(change(script), one_transaction=True),
        )
    stronger = [
        level
        for level in levels
        if level in STRONGER and (own is None or levels.index(level) > levels.index(own))
    ]
    for level in stronger:
        yield Plan(
            f"{level.short} with retry", f"{level.value}, and try again when refused", _at(level, False)
        )
    if nature is not Nature.LEVEL:
        for level in stronger:
            detail = f"each operation as one transaction at {level.value}, and try again when refused"
            yield Plan(f"one transaction at {level.short} with retry", detail, _at(level, True))
    yield _atomic(run, dialect)


def _at(level: Level, one: bool) -> Callable[[Script], Script]:
    return lambda script: replace(
        script, level=level, one_transaction=one, retries=max(RETRIES, script.retries)
    )


def _locking(deciding: Call | None, dialect: str) -> Plan:
    if deciding is None:
        return Plan("lock", "FOR UPDATE on the deciding read", None, "no read decides about a later write")
    shape = shape_of(deciding.sql, dialect)
    if shape is None or shape.verb is not Verb.READ:
        return Plan("lock", "FOR UPDATE on the deciding read", None, "the deciding statement is no query")
    if shape.locks:
        return Plan("lock", "FOR UPDATE on the deciding read", None, "the deciding read locks already")
    if shape.tree.find(exp.AggFunc, exp.Group, exp.Distinct, exp.Union):
        return Plan(
            "lock", "FOR UPDATE on the deciding read", None, "it is an aggregate, which has no rows to lock"
        )
    wanted = without_values(deciding.sql)

    def rewrite(sql: str, before: Sequence[Call]) -> str | None:
        del before
        return f"{sql.rstrip().rstrip(';')} FOR UPDATE" if without_values(sql) == wanted else None

    return Plan("lock", "FOR UPDATE on the deciding read", lambda script: replace(script, rewrite=rewrite))


# -- an atomic UPDATE


def _atomic(run: ForcedRun, dialect: str) -> Plan:
    """UPDATE .. SET c = value becomes SET c = c + difference, and never lets c become negative that was
    not."""
    detail = "an atomic conditional UPDATE instead of writing back what was read"
    found = next(
        (call for call in run.calls if _relative(call.sql, run.of(call.operation)[: call.index], dialect)),
        None,
    )
    if found is None:
        return Plan(
            "atomic update", detail, None, "no UPDATE writes back a number that was read from the same row"
        )
    wanted = without_values(found.sql)

    def rewrite(sql: str, before: Sequence[Call]) -> str | None:
        return _relative(sql, before, dialect) if without_values(sql) == wanted else None

    return Plan("atomic update", detail, _rewriting(rewrite))


def _rewriting(rewrite: Rewrite) -> Callable[[Script], Script]:
    return lambda script: replace(script, rewrite=rewrite)


def _relative(sql: str, before: Sequence[Call], dialect: str) -> str | None:
    """An UPDATE that sets a column relative to what stands there, if what stood there was read before."""
    shape = shape_of(sql, dialect)
    if shape is None or shape.verb is not Verb.UPDATE or not shape.plain or shape.where is None:
        return None
    tree = shape.tree.copy()
    changed = False
    for one in tree.expressions:
        number = _number(one.expression) if isinstance(one, exp.EQ) else None
        if number is None or not isinstance(one.this, exp.Column):
            continue
        was = _last_read(shape, folded(one.this.this, dialect), before, dialect)
        if was is None or was == number:
            continue
        difference = number - was
        column = exp.column(one.this.this.copy())
        one.set(
            "expression",
            exp.Add(this=column, expression=exp.Literal.number(str(difference)))
            if difference >= 0
            else exp.Sub(this=column, expression=exp.Literal.number(str(-difference))),
        )
        if difference < 0 <= number:
            enough = exp.GTE(this=column.copy(), expression=exp.Literal.number(str(-difference)))
            tree.set("where", exp.Where(this=exp.and_(shape.where.copy(), enough)))
        changed = True
    return tree.sql(dialect=dialect) if changed else None


def _last_read(shape: Shape, column: str, before: Sequence[Call], dialect: str) -> Decimal | None:
    """What the operation read last of this column of the table that is written, if it was one row."""
    for call in reversed(before):
        read = shape_of(call.sql, dialect)
        if read is None or read.verb is not Verb.READ or not isinstance(call.outcome, Rows):
            continue
        tables = {table_name(node, dialect) for node in read.tree.find_all(exp.Table)}
        if shape.target in tables and column in call.outcome.columns and len(call.outcome.rows) == 1:
            value = call.outcome.rows[0][call.outcome.columns.index(column)]
            if isinstance(value, int | Decimal) and not isinstance(value, bool):
                return Decimal(value)
    return None


def _number(node: exp.Expression) -> Decimal | None:
    if isinstance(node, exp.Neg):
        inner = _number(node.this)
        return None if inner is None else -inner
    return Decimal(str(node.this)) if isinstance(node, exp.Literal) and not node.is_string else None
