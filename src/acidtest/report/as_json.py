"""The stable JSON form of a run, documented in docs/json.md. Fields are added, never renamed or removed."""

from collections.abc import Mapping
from typing import Any

from acidtest.casefile import Unmet
from acidtest.codec import encode_value
from acidtest.model import (
    Affected,
    Blocked,
    Failed,
    History,
    Indeterminate,
    Omitted,
    Outcome,
    Overran,
    Record,
    Rows,
    State,
)

FORMAT = "acidtest-run/1"


def run_to_json(history: History, unmet: tuple[Unmet, ...] = ()) -> dict[str, Any]:
    """One run as JSON-ready data."""
    return {
        "case": history.case.id,
        "title": history.case.title,
        "target": history.target,
        "dbms": history.dbms,
        "server_version": history.version,
        "settings": dict(history.settings),
        "level": _common_level(history),
        "levels": {name: level.value for name, level in history.levels.items()},
        "statements": [_record(record) for record in history.records],
        "observed_order": list(history.observed_order),
        "events": [
            {
                "event": event.kind.value,
                "step": event.step,
                "session": event.session,
                "by": list(event.by),
                "cause": event.cause,
            }
            for event in history.events
        ],
        "initial_state": _state(history.initial),
        "final_state": None if history.final is None else _state(history.final),
        "server_died": history.server_died,
        "unmet": [
            {"step": u.step, "table": u.table, "expected": u.expected, "observed": u.observed} for u in unmet
        ],
        "teardown_failures": [{"sql": sql} | _outcome(outcome) for sql, outcome in history.teardown_failures],
    }


def _common_level(history: History) -> str:
    """The level of all transactions, or `mixed`."""
    levels = {level.value for level in history.levels.values()}
    return levels.pop() if len(levels) == 1 else "mixed"


def _record(record: Record) -> dict[str, Any]:
    return {
        "step": record.step,
        "session": record.session,
        "sql": record.sql,
        **_outcome(record.outcome),
        "parts": [_outcome(part) for part in record.parts],
        "waited": record.waited,
        "blocked_by": list(record.blocked_by),
        "resumed_by": record.resumed_by,
        "transaction_before": record.before.value,
        "transaction_after": record.after.value,
        "warnings": [{"level": w.level, "code": w.code, "message": w.message} for w in record.warnings],
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    """Every statement has the same fields; those that say nothing about its outcome are null."""
    data: dict[str, Any] = {
        "outcome": "",
        "columns": None,
        "rows": None,
        "affected": None,
        "matched": None,
        "error": None,
        "reason": None,
    }
    match outcome:
        case Rows():
            data |= {
                "outcome": "rows",
                "columns": list(outcome.columns),
                "rows": [[encode_value(value) for value in row] for row in outcome.rows],
            }
        case Affected():
            data |= {"outcome": "affected", "affected": outcome.count, "matched": outcome.matched}
        case Failed():
            data |= {
                "outcome": "error",
                "error": {
                    "kind": outcome.kind.value,
                    "code": outcome.code,
                    "message": outcome.message,
                    "undone": outcome.undone.value,
                },
            }
        case Indeterminate():
            why = f"the connection was lost before the reply: {outcome.message} {outcome.code}"
            data |= {"outcome": "indeterminate", "reason": why.rstrip()}
        case Blocked():
            data |= {"outcome": "blocked", "reason": "it still waited when the schedule ended"}
        case Overran():
            data |= {
                "outcome": "overran",
                "reason": f"no answer and no lock wait within {outcome.limit_s:g} s",
            }
        case Omitted():
            data |= {"outcome": "omitted", "reason": outcome.why}
    return data


def _state(state: State) -> Mapping[str, list[list[Any]]]:
    return {table: [[encode_value(value) for value in row] for row in rows] for table, rows in state.items()}
