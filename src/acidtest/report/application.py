"""Explorations of applications as text, Markdown and JSON."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from acidtest.casefile import format_outcome, format_row
from acidtest.codec import encode
from acidtest.model import Affected, Rows, TransactionState
from acidtest.model.application import (
    Call,
    Coverage,
    Difference,
    End,
    Exploration,
    ForcedRun,
    Judgement,
    Nature,
    Order,
    Race,
    Reason,
    Remedy,
    Result,
    Tried,
)
from acidtest.sql import StatementKind, kind_of


class OrderToTry(Protocol):
    """An order that is worth forcing."""

    @property
    def order(self) -> Order:
        """Which operation runs when."""

    @property
    def elements(self) -> frozenset[tuple[str, str]]:
        """Tables and columns on which the operations conflict."""


FORMAT = "acidtest-app/1"
_ROWS_SHOWN = 6
_SQL_SHOWN = 160

_REASONS = {
    Reason.STATE: "no serial order leaves these rows",
    Reason.RESULT: "no serial order gives these results",
    Reason.INVARIANT: "an invariant does not hold",
}

_NATURES = {
    Nature.LEVEL: "level: a stronger isolation level or a lock prevents it",
    Nature.SCOPE: "scope: no isolation level prevents it, because what was read is used after its transaction"
    " ended; change the transaction's boundary, check again, or use an atomic statement",
    Nature.UNKNOWN: "unknown",
}


def exploration_text(exploration: Exploration) -> str:
    """All that was found, for a terminal."""
    return "\n".join(_lines(exploration)).rstrip() + "\n"


def exploration_json(exploration: Exploration) -> dict[str, Any]:
    """JSON-ready data."""
    return {"format": FORMAT, **encode(exploration)}


def coverage_words(coverage: Coverage) -> str:
    """How much was explored, in one sentence."""
    if coverage.candidates == 0:
        return "no order of their statements can differ from a serial one (safe by analysis)"
    parts = [f"{coverage.runs} of {coverage.candidates} orders that can differ were forced"]
    if coverage.prevented:
        parts.append(f"{coverage.prevented} were prevented by locks")
    if coverage.refused:
        parts.append(f"in {coverage.refused} the DBMS refused an operation")
    if coverage.unexplored:
        parts.append(f"{coverage.unexplored} were left unexplored")
    if coverage.bound is not None:
        parts.append(f"all orders with up to {coverage.bound} preemptions count")
    return ", ".join(parts) + f" ({coverage.seconds:.1f} s)"


def _lines(exploration: Exploration) -> Iterator[str]:
    names = ", ".join(
        f"{letter} = {title}" for letter, title in zip("ABCD", exploration.operations, strict=False)
    )
    level = f" at {exploration.level.value}" if exploration.level else ""
    yield f"acidtest: {exploration.judgement.value}: {names}"
    yield f"on {exploration.dbms} {exploration.version}{level}; {coverage_words(exploration.coverage)}"
    for why in exploration.why:
        lead = "assuming that" if exploration.judgement is Judgement.HOLDS else "because"
        yield f"  {lead} {why}"
    for note in exploration.notes:
        yield f"  note: {note}"
    for name, judgement in exploration.at_levels.items():
        yield f"  at {name}: {judgement.value}"
    if exploration.race is not None:
        yield from race_lines(exploration.race)


def race_lines(race: Race) -> Iterator[str]:
    """An interleaving that goes wrong, and all that is known of it."""
    yield ""
    yield f"What went wrong: {', '.join(_REASONS[reason] for reason in race.reasons)}."
    for breach in race.run.breaches:
        after = "" if breach.after is None else f" after statement {breach.after}"
        yield f"  {breach.invariant}: {breach.detail}{after}"
    yield ""
    yield "The schedule:"
    yield from schedule_lines(race.run)
    yield ""
    yield from _outcomes(race)
    yield ""
    if race.phenomenon is not None:
        yield f"Phenomenon: {race.phenomenon.text}"
    yield f"Nature: {_NATURES[race.nature]}"
    if race.levels:
        yield "Levels:"
        yield from (
            f"  {one.level.value}: {'goes wrong' if one.violated else 'prevented'}"
            + (f" ({one.detail})" if one.detail else "")
            for one in race.levels
        )
    if race.remedies:
        yield "Remedies, tried on this schedule without changing the application:"
        yield from map(_remedy, race.remedies)
    yield ""
    yield f"Replay: pytest --acidtest-replay {race.replay}"


def candidate_lines(candidates: Sequence[OrderToTry]) -> Iterator[str]:
    """Orders that can go wrong, and on what the operations meet in them."""
    if not candidates:
        yield "no order of their statements can differ from a serial one"
    for one in candidates:
        elements = ", ".join(sorted({f"{table}.{column}" for table, column in one.elements if column != "*"}))
        yield f"{order_words(one.order):16} {elements}"


def order_words(order: Order) -> str:
    """An order as its replay id writes it."""
    return "-".join(f"{one.operation}{'' if one.upto is None else one.upto}" for one in order)


def race_summary(exploration: Exploration) -> str:
    """One sentence: what goes wrong."""
    race = exploration.race
    if race is None:
        return f"{' and '.join(exploration.operations)} {exploration.judgement.value}"
    name = f": {race.phenomenon.text}" if race.phenomenon else ""
    operations = " and ".join(dict.fromkeys(exploration.operations))
    return f"an interleaving of {operations} gives what no serial order gives{name} ({race.nature.value})"


def schedule_lines(run: ForcedRun) -> Iterator[str]:
    """The statements in the order in which they were sent, with results and places in the source."""
    begun: dict[str, bool] = {}
    for call in sorted(run.calls, key=lambda call: call.turn):
        if not begun.get(call.session) and _begins(call):
            yield f"  {call.session}: BEGIN"
        begun[call.session] = call.after is not TransactionState.NONE
        sql = " ".join(call.sql.split())
        shown = sql if len(sql) <= _SQL_SHOWN else sql[: _SQL_SHOWN - 2] + ".."
        yield f"  {call.session}: {shown}{_result(call)}"
        if call.source is not None:
            place = f"{call.source.file}:{call.source.line} in {call.source.function}"
            yield f"       {place}: {call.source.text}"


def _begins(call: Call) -> bool:
    if kind_of(call.sql) in (StatementKind.BEGIN, StatementKind.COMMIT, StatementKind.ROLLBACK):
        return False
    return call.after is not TransactionState.NONE or call.before is not TransactionState.NONE


def _result(call: Call) -> str:
    waited = f" [waited for {', '.join(call.blocked_by) or 'a lock'}]" if call.waited else ""
    outcome = call.outcome
    if isinstance(outcome, Rows):
        rows = " ".join(format_row(row) for row in outcome.rows[:_ROWS_SHOWN]) or "no rows"
        more = f" .. {len(outcome.rows)} rows" if len(outcome.rows) > _ROWS_SHOWN else ""
        return f"  -> {rows}{more}{waited}"
    if isinstance(outcome, Affected):
        writes = kind_of(call.sql) is StatementKind.WRITE
        return (f"  -> {outcome.count} row{'s' * (outcome.count != 1)}" if writes else "") + waited
    return f"  -> {format_outcome(outcome)}{waited}"


def _outcomes(race: Race) -> Iterator[str]:
    yield "Outcome:"
    yield f"  {'this order' if race.serials else 'here'}: {_results(race.run.results)}"
    for order, serial in race.serials.items():
        yield f"  {order.replace('-', ' then ')}: {_results(serial.results)}"
    for one in race.differences:
        yield from _difference(one)


def _difference(one: Difference) -> Iterator[str]:
    yield f"  {one.table} ({', '.join(one.columns)})"
    yield f"    this order: {_rows(one.observed)}"
    yield f"    the nearest serial order: {_rows(one.serial)}"


def _rows(rows: Iterable[tuple[Any, ...]]) -> str:
    return " ".join(format_row(row) for row in rows) or "no such row"


def _results(results: Mapping[str, Result]) -> str:
    return ", ".join(f"{name} {_ending(one)}" for name, one in results.items())


def _ending(result: Result) -> str:
    if result.end is End.RETURNED:
        return f"returned {_short(result.value)}"
    if result.end is End.RAISED:
        return f"raised {result.error}: {_short_text(result.message)}"
    return result.end.value


def _short(value: object) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f"{key}={one!r}" for key, one in value.items() if key != "<class>")
        return _short_text(f"{value.get('<class>', '')}({inner})")
    return _short_text(repr(value))


def _short_text(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 100 else line[:98] + ".."


def _remedy(remedy: Remedy) -> str:
    counts = f" in {remedy.runs} order{'s' * (remedy.runs != 1)}" if remedy.tried is Tried.HELD else ""
    why = f" ({remedy.why})" if remedy.why else ""
    return f"  {remedy.tried.value}: {remedy.detail}{counts}{why}"
