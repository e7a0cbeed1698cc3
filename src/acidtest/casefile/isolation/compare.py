"""Whether a run of a permutation shows what isolationtester recorded: waits, rows and errors."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from acidtest.casefile.isolation.permutations import Permutation
from acidtest.casefile.isolation.recorded import RecordedPermutation, RecordedStep, Table
from acidtest.model import (
    Blocked,
    ErrorKind,
    EventKind,
    Failed,
    History,
    Indeterminate,
    Omitted,
    Overran,
    Record,
    Rows,
    Value,
)
from acidtest.sql import StatementKind, kind_of


@dataclass(frozen=True, slots=True)
class Difference:
    """A step that came to something else than was recorded."""

    step: str
    expected: str
    observed: str


@dataclass(frozen=True, slots=True)
class _Observed:
    """What a run shows of one step, in the terms of a recorded output."""

    records: tuple[Record, ...]
    ended_at: int | None

    @property
    def waited(self) -> bool:
        return any(record.waited or isinstance(record.outcome, Blocked) for record in self.records)


def compare(
    permutation: Permutation, history: History, recorded: RecordedPermutation
) -> tuple[Difference, ...]:
    """Where the run and the recorded output differ, in the order of the steps; notices come last."""
    observed = _observed_steps(permutation, history)
    return (
        *_failed_set_ups(permutation, history),
        *(
            difference
            for place, planned in enumerate(permutation.order)
            for difference in _differences(
                planned.name, bool(planned.markers), recorded.steps[place], observed[place], permutation
            )
        ),
        *_notice_differences(permutation, history, recorded.notices),
    )


def _notice_differences(
    permutation: Permutation, history: History, recorded: Sequence[str]
) -> Iterator[Difference]:
    """What was said to whom. When a notice is printed depends on who reads first, so no order counts."""
    names = dict(zip(permutation.session_names, (one.name for one in permutation.spec.sessions), strict=True))
    observed = Counter(
        f"{names[record.session]}: {one.level}{' ' if one.level == 'NOTIFY' else ':  '}{line}"
        for record in history.records
        for one in record.warnings
        for line in one.message.splitlines()[:1]
    )
    missing, extra = Counter(recorded) - observed, observed - Counter(recorded)
    if missing or extra:
        yield Difference(
            "notices",
            _as_text(list(missing.elements()), "no further notice"),
            _as_text(list(extra.elements()), "no further notice"),
        )


def _observed_steps(permutation: Permutation, history: History) -> list[_Observed]:
    ended = _ends(permutation, history)
    steps = []
    for place in range(len(permutation.order)):
        records = tuple(record for record in history.records if permutation.places[record.step] == place)
        steps.append(_Observed(records, ended.get(place, place if not records else None)))
    return steps


def _ends(permutation: Permutation, history: History) -> dict[int, int]:
    """For each step of the permutation the last step that had been launched when it ended."""
    launched = 0
    ends: dict[int, int] = {}
    for event in history.events:
        place = permutation.places[event.step]
        if place is None:
            continue
        if event.kind is EventKind.LAUNCHED:
            launched = max(launched, place)
        elif event.kind is EventKind.COMPLETED:
            ends[place] = launched
    return ends


def _failed_set_ups(permutation: Permutation, history: History) -> Iterator[Difference]:
    for record, place in zip(history.records, permutation.places, strict=True):
        if place is not None:
            return
        if isinstance(record.outcome, Failed):
            yield Difference(f"set-up of {record.session}", "no error", record.outcome.message)


def _differences(
    name: str, marked: bool, recorded: RecordedStep, observed: _Observed, permutation: Permutation
) -> Iterator[Difference]:
    if observed.records and (unfinished := _unfinished(observed)):
        yield Difference(name, "that it ends", unfinished)
        return
    yield from _wait_difference(name, marked, recorded, observed, permutation)
    tables, errors = tuple(_tables(observed.records)), tuple(_errors(observed.records))
    if recorded.errors[:1] != errors[:1]:
        yield Difference(name, _as_text(recorded.errors[:1], "no error"), _as_text(errors[:1], "no error"))
    elif recorded.tables != tables:
        yield Difference(name, _tables_as_text(recorded.tables), _tables_as_text(tables))


def _wait_difference(
    name: str, marked: bool, recorded: RecordedStep, observed: _Observed, permutation: Permutation
) -> Iterator[Difference]:
    """A marker makes isolationtester report a wait that there may not have been, and delays its end."""
    if recorded.waited != observed.waited:
        if not (marked and recorded.waited):
            yield Difference(name, _wait(recorded.waited), _wait(observed.waited))
    elif recorded.waited and not marked and recorded.ended_at != observed.ended_at:
        names = permutation.names
        ends = [
            "it waits for good" if end is None else f"it waits until {names[end]}"
            for end in (recorded.ended_at, observed.ended_at)
        ]
        yield Difference(name, *ends)


def _wait(waited: bool) -> str:
    return "it waits" if waited else "it does not wait"


def _unfinished(observed: _Observed) -> str | None:
    for record in observed.records:
        match record.outcome:
            case Indeterminate():
                return "the connection was lost"
            case Blocked():
                return "it waits for good"
            case Overran(limit_s):
                return f"no answer and no wait within {limit_s:g} s"
            case Omitted(why) if not any(isinstance(one.outcome, Failed) for one in observed.records):
                return f"not run: {why}"
    return None


def _tables(records: Sequence[Record]) -> Iterator[Table]:
    for record in records:
        for outcome in record.parts or (record.outcome,):
            if isinstance(outcome, Rows):
                rows = tuple(tuple(_printed(value) for value in row) for row in outcome.rows)
                yield Table(tuple(name.strip() for name in outcome.columns), rows)


def _errors(records: Sequence[Record]) -> Iterator[str]:
    for record in records:
        outcome = record.outcome
        if isinstance(outcome, Failed) and not _is_silent(record, outcome):
            yield outcome.message


def _is_silent(record: Record, outcome: Failed) -> bool:
    """The COMMIT of a failed transaction is answered with ROLLBACK, of which nothing is printed."""
    return outcome.kind is ErrorKind.TRANSACTION_STATE and kind_of(record.sql) is StatementKind.COMMIT


def _printed(value: Value) -> str:
    """A value as PostgreSQL writes it, without the space around it. Dates have the style that its test suites
    run with (`Postgres, MDY`)."""
    match value:
        case None:
            return ""
        case bool():
            return "t" if value else "f"
        case float():
            return repr(value).removesuffix(".0")
        case Decimal():
            return format(value, "f")
        case bytes():
            return f"\\x{value.hex()}"
        case datetime() if value.tzinfo is None:
            return _trimmed(value, "%a %b %d %H:%M:%S.%f %Y")
        case date() if not isinstance(value, datetime):
            return value.strftime("%m-%d-%Y")
        case datetime() | time():
            return value.isoformat()
        case timedelta():
            return str(value)
    return str(value).strip()


def _trimmed(value: datetime, style: str) -> str:
    """A point in time in that style, without digits of the second that say nothing."""
    text = value.strftime(style)
    digits = value.strftime(".%f")
    return text.replace(digits, digits.rstrip("0").rstrip("."))


def _tables_as_text(tables: Sequence[Table]) -> str:
    shown = [
        f"{'|'.join(table.columns)}: " + (" ".join(f"({','.join(row)})" for row in table.rows) or "no rows")
        for table in tables
    ]
    return _as_text(shown, "no result")


def _as_text(parts: Sequence[str], none: str) -> str:
    return "; ".join(parts) if parts else none
