"""Scripts: several statements that were sent as one message, told as if each had been sent by itself."""

from collections.abc import Iterator
from dataclasses import replace

from acidtest.claims.characteristics import Characteristics, characteristics_of
from acidtest.model import Failed, Record, TransactionState
from acidtest.oracles.engines.base import UndecidedError
from acidtest.oracles.replay.transactions import SessionState
from acidtest.sql import StatementKind, kind_of, split_script

ENDS = (StatementKind.COMMIT, StatementKind.ROLLBACK)


def statements_of(state: SessionState, record: Record, others_wait: bool) -> Iterator[Record]:
    """The statements of a script, one record for each that was run; `others_wait`: sessions are under way.

    Nobody else comes between the statements of a script that did not wait, and for which nobody waited.
    """
    statements = split_script(record.sql)
    _require_clear(record, statements, others_wait)
    for at, sql in enumerate(statements[: len(record.parts)]):
        last = at == len(record.parts) - 1
        part = record.parts[at]
        outcome = record.outcome if last and isinstance(part, Failed) else part
        begins = kind_of(sql) is StatementKind.BEGIN and state.transaction is None
        before = TransactionState.NONE if begins else TransactionState.OPEN
        after = TransactionState.NONE if kind_of(sql) in ENDS else TransactionState.OPEN
        if last and (record.after is TransactionState.FAILED or kind_of(sql) in ENDS):
            after = record.after
        yield replace(record, sql=sql, outcome=outcome, parts=(), before=before, after=after)


def _require_clear(record: Record, statements: tuple[str, ...], others_wait: bool) -> None:
    if record.waited:
        raise UndecidedError("a script that waited: which of its statements did is not told")
    if len(record.parts) != len(statements) and not isinstance(record.parts[-1], Failed):
        raise UndecidedError("a script of which not every result is known")
    if others_wait and any(kind_of(sql) in ENDS for sql in statements):
        raise UndecidedError("a script that ends a transaction for which others wait")
    if any((said := characteristics_of(sql)) and said[1] != Characteristics() for sql in statements):
        raise UndecidedError("a script that says how its transactions run")
