"""The trace that an instrumented run shows, with what the evaluator and the claims add to it."""

from collections.abc import Sequence

from acidtest.claims import Claims, OnConflict
from acidtest.instrument import Observed, is_instrumented, observe
from acidtest.model import History, Record, Row, Trace
from acidtest.oracles.chains import Seen
from acidtest.oracles.engines.base import UndecidedError
from acidtest.oracles.engines.evaluating import engine_for, knows
from acidtest.oracles.spans import with_spans
from acidtest.sql.shape import Shape


def observed_run(history: History, claims: Claims) -> Observed | None:
    """What an instrumented run shows; None if the run is none."""
    if not is_instrumented(history.schema) or history.final is None:
        return None
    claim = next(iter(claims.values()))

    def meets(record: Record, shape: Shape, rows: Sequence[Row]) -> Sequence[bool] | None:
        if not knows(history.dbms):
            return None
        engine = engine_for(history.dbms, history.schema, history.version)
        try:
            found = set(engine.matching(record.sql, shape, [Seen(i, row) for i, row in enumerate(rows)]))
        except UndecidedError:
            return None
        return [place in found for place in range(len(rows))]

    return observe(history, claim.grammar, meets, claim.on_conflict is OnConflict.AT_COMMIT)


def observed_trace(history: History, claims: Claims) -> Trace | None:
    """The trace that a run shows by itself; None if it is not instrumented."""
    observed = observed_run(history, claims)
    return None if observed is None else with_spans(observed.trace, history, claims)
