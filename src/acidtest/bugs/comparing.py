"""The same statements in a transaction and without any: they must come to the same.

This is for bugs whose right outcome is what the DBMS itself answers outside of a transaction.
"""

from dataclasses import replace

from acidtest.casefile import Unmet, format_record
from acidtest.casefile.check import matches
from acidtest.model import Affected, Case, Failed, History, Outcome, Rows, interleave
from acidtest.sql import StatementKind, kind_of

_CONTROL = frozenset(
    {StatementKind.BEGIN, StatementKind.COMMIT, StatementKind.ROLLBACK, StatementKind.SAVEPOINT}
)


def without_transactions(case: Case) -> Case:
    """The case with its statements in the same order, each committing by itself, and nothing expected."""
    steps = [
        (step.session, replace(step.statement, expect=())) for step in case.steps if not _controls(step.sql)
    ]
    levels = {tx.name: tx.level for tx in case.transactions}
    transactions, schedule = interleave(steps, levels)
    return replace(case, transactions=transactions, schedule=schedule, expect_final=())


def difference(history: History, plain: History) -> Unmet | None:
    """The first statement, of those without expectations, that came to something else in the transaction."""
    case = history.case
    records = iter(sorted(plain.records, key=lambda one: one.step))
    for step in case.steps:
        if _controls(step.sql):
            continue
        alone = next(records)
        own = next(one for one in history.records if one.step == step.index)
        if not step.statement.expect and not _same(own.outcome, alone.outcome):
            return Unmet(step.index, None, format_record(alone), format_record(own))
    return None


def _controls(sql: str) -> bool:
    return kind_of(sql) in _CONTROL


def _same(one: Outcome, other: Outcome) -> bool:
    match one, other:
        case Rows(_, rows), Rows(_, others):
            return matches(rows, others)
        case Affected(count), Affected(others_count):
            return count == others_count
        case Failed(kind, code), Failed(other_kind, other_code):
            return (kind, code) == (other_kind, other_code)
    return type(one) is type(other)
