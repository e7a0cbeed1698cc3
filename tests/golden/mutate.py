"""Golden histories with one thing in them changed, so that a right server cannot have made them.

    python -m tests.golden.mutate [SERVER...]

prints how many of them the oracles find, by what was changed and by server, and those that they do not find.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, time, timedelta
from enum import StrEnum

import click

from acidtest.model import (
    Affected,
    ErrorKind,
    EventKind,
    Failed,
    History,
    Judgement,
    Outcome,
    Record,
    Row,
    Rows,
    TransactionState,
    Undone,
    Value,
)
from acidtest.report import print_history
from acidtest.sql import StatementKind, kind_of
from tests.golden.judging import judge
from tests.golden.store import Golden, histories_of, servers


class Change(StrEnum):
    """What may be changed."""

    CELL = "a cell is changed"
    DROPPED = "a row is dropped"
    DOUBLED = "a row is doubled"
    COUNT = "a count is changed"
    TO_ERROR = "a success becomes an error"
    TO_SUCCESS = "an error becomes a success"
    WAIT = "a wait is removed"


@dataclass(frozen=True, slots=True)
class Mutant:
    """A history that is wrong at one place; `where` says which."""

    change: Change
    id: str
    where: str
    history: History


def mutants_of(golden: Golden, dice: random.Random) -> Iterator[Mutant]:
    """One mutant for each change that is possible."""
    for change, places in _PLACES.items():
        found = places(golden.history)
        if found:
            where, make = dice.choice(found)
            yield Mutant(change, golden.id, where, make(dice))


Make = Callable[[random.Random], History]
Place = tuple[str, Make]
EditRows = Callable[[tuple[Row, ...], random.Random], tuple[Row, ...]]


def _is_partial(record: Record) -> bool:
    """Whether any part of the rows would do."""
    return "SKIP LOCKED" in record.sql.upper()


def _row_places(edit: EditRows) -> Callable[[History], list[Place]]:
    """Every result and every table of the final state that has rows."""

    def places(history: History) -> list[Place]:
        found: list[Place] = []
        for record in history.records:
            outcome = record.outcome
            if not isinstance(outcome, Rows) or (_is_partial(record) and edit is _drop_row):
                continue
            if outcome.rows and _is_judged(record):
                found.append((f"step {record.step}", _with_rows(history, record, outcome, edit)))
        for table, rows in (history.final or {}).items():
            if rows:
                found.append((f"final {table}", _with_final(history, table, rows, edit)))
        return found

    return places


def _with_rows(history: History, record: Record, outcome: Rows, edit: EditRows) -> Make:
    return lambda dice: _with_outcome(history, record, replace(outcome, rows=edit(outcome.rows, dice)))


def _with_final(history: History, table: str, rows: tuple[Row, ...], edit: EditRows) -> Make:
    return lambda dice: replace(history, final={**(history.final or {}), table: edit(rows, dice)})


def _change_cell(rows: tuple[Row, ...], dice: random.Random) -> tuple[Row, ...]:
    at, column = dice.randrange(len(rows)), dice.randrange(len(rows[0]))
    others = [row[column] for row in rows if row[column] is not None]
    row = list(rows[at])
    row[column] = _another(row[column], others)
    return (*rows[:at], tuple(row), *rows[at + 1 :])


def _another(value: Value, others: list[Value]) -> Value:
    match value:
        case None:
            return others[0] if others else 1
        case bool():
            return not value
        case str():
            return value + "x"
        case bytes():
            return value + b"x"
        case date():
            return value + timedelta(days=1)
        case time():
            return value.replace(minute=(value.minute + 1) % 60)
        case timedelta():
            return value + timedelta(seconds=1)
        case _:
            return value + 1


def _drop_row(rows: tuple[Row, ...], dice: random.Random) -> tuple[Row, ...]:
    at = dice.randrange(len(rows))
    return rows[:at] + rows[at + 1 :]


def _double_row(rows: tuple[Row, ...], dice: random.Random) -> tuple[Row, ...]:
    at = dice.randrange(len(rows))
    return rows[: at + 1] + rows[at:]


def _counts(history: History) -> list[Place]:
    """Counts of writes; those of other statements say nothing."""
    return [
        (f"step {one.step}", _with_count(history, one, one.outcome))
        for one in history.records
        if isinstance(one.outcome, Affected) and kind_of(one.sql) is StatementKind.WRITE
    ]


def _with_count(history: History, record: Record, outcome: Affected) -> Make:
    def make(dice: random.Random) -> History:
        by = dice.choice((1, -1)) if outcome.count else 1
        matched = None if outcome.matched is None else outcome.matched + by
        return _with_outcome(history, record, Affected(outcome.count + by, matched))

    return make


UNCALLED = (ErrorKind.DUPLICATE_KEY, ErrorKind.NOT_NULL, ErrorKind.DIVISION_BY_ZERO, ErrorKind.FOREIGN_KEY)
"""Errors that have a reason in the statement: with a deadlock a server may break off whenever it likes."""


def _successes(history: History) -> list[Place]:
    return [
        (f"step {one.step}", _with_error(history, one))
        for one in history.records
        if isinstance(one.outcome, Affected | Rows) and _is_judged(one)
    ]


def _with_error(history: History, record: Record) -> Make:
    return lambda dice: _with_outcome(
        history, record, Failed(dice.choice(UNCALLED), "4711", "made up", Undone.STATEMENT)
    )


def _errors(history: History) -> list[Place]:
    """Errors that left the transaction as it was; after others what follows would have to change too."""
    return [
        (f"step {one.step}", _with_success(history, one))
        for one in history.records
        if isinstance(one.outcome, Failed) and one.before is one.after
        if _is_judged(one) and not _is_partial(one)
    ]


def _with_success(history: History, record: Record) -> Make:
    write = kind_of(record.sql) is StatementKind.WRITE
    return lambda _: _with_outcome(history, record, Affected(1) if write else Rows(("c",), ()))


def _waits(history: History) -> list[Place]:
    """Waits that ended because another session did something, and that were needed."""
    return [
        (f"step {one.step}", _without_wait(history, one))
        for one in history.records
        if one.waited and one.resumed_by is not None and _is_needed(history, one)
    ]


def _is_needed(history: History, record: Record) -> bool:
    """Whether the statement came to rows of a table of which the one that released it had changed some.

    Servers also wait for what no claim promises: gaps, rows that do not match, those of failed statements.
    """
    assert record.resumed_by is not None
    outcome, holder = record.outcome, history.records[record.resumed_by].session
    came_to_rows = (isinstance(outcome, Affected) and outcome.count) or (
        isinstance(outcome, Rows) and outcome.rows
    )
    changed: set[str] = set()
    for one in history.records[: record.step]:
        if one.session == holder and one.after is TransactionState.NONE:
            changed.clear()
        elif one.session == holder and isinstance(one.outcome, Affected) and one.outcome.count:
            changed |= _tables(history, one) if _FIRST.match(one.sql) else set()
    return bool(came_to_rows) and bool(changed & _tables(history, record))


_FIRST = re.compile(r"\s*(UPDATE|DELETE)\b", re.IGNORECASE)


def _tables(history: History, record: Record) -> set[str]:
    return {one.name for one in history.schema.tables} & set(re.findall(r"\w+", record.sql))


def _without_wait(history: History, record: Record) -> Make:
    others = [event for event in history.events if event.step != record.step]
    own = [event for event in history.events if event.step == record.step]
    kept = [event for event in own if event.kind not in (EventKind.BLOCKED, EventKind.RESUMED)]
    launched = next(event for event in own if event.kind is EventKind.LAUNCHED)
    before = [event for event in others if _index(history, event) < _index(history, launched)]
    after = others[len(before) :]
    records = _replaced(history, replace(record, waited=False, blocked_by=(), resumed_by=None))
    return lambda _: replace(history, events=(*before, *kept, *after), records=records)


def _index(history: History, event: object) -> int:
    return next(number for number, one in enumerate(history.events) if one is event)


def _is_judged(record: Record) -> bool:
    """Whether it reads or writes tables; SHOW and EXPLAIN are queries too."""
    word = record.sql.split(maxsplit=1)[0].upper()
    return kind_of(record.sql) in (StatementKind.QUERY, StatementKind.WRITE) and word not in _TELLS


_TELLS = {"SHOW", "EXPLAIN", "DESCRIBE", "DESC"}


def _with_outcome(history: History, record: Record, outcome: Outcome) -> History:
    return replace(history, records=_replaced(history, replace(record, outcome=outcome)))


def _replaced(history: History, record: Record) -> tuple[Record, ...]:
    return tuple(record if one.step == record.step else one for one in history.records)


_PLACES: dict[Change, Callable[[History], list[Place]]] = {
    Change.CELL: _row_places(_change_cell),
    Change.DROPPED: _row_places(_drop_row),
    Change.DOUBLED: _row_places(_double_row),
    Change.COUNT: _counts,
    Change.TO_ERROR: _successes,
    Change.TO_SUCCESS: _errors,
    Change.WAIT: _waits,
}


class Fate(StrEnum):
    """What becomes of a mutant."""

    FOUND = "found"
    EXPLAINED = "explained away"
    UNDECIDED = "undecided"
    PASSED = "passed"


def fate_of(mutant: Mutant) -> Fate:
    """What the oracles say of it."""
    verdicts = judge(mutant.history)
    if any(one.is_violation for one in verdicts):
        return Fate.EXPLAINED if all(one.is_explained for one in verdicts if one.is_violation) else Fate.FOUND
    return Fate.PASSED if verdicts[0].judgement is Judgement.PASS else Fate.UNDECIDED


@click.command()
@click.argument("names", nargs=-1)
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--every", type=int, default=1, show_default=True, help="take each nth history")
@click.option("--show", is_flag=True, help="print the histories that are not found")
def main(names: tuple[str, ...], seed: int, every: int, show: bool) -> None:
    """Make mutants of golden histories that pass, and judge them."""
    fates: Counter[tuple[str, Fate]] = Counter()
    for server in names or servers():
        for golden in histories_of(server)[::every]:
            if any(one.judgement is not Judgement.PASS for one in judge(golden.history)):
                continue
            for mutant in mutants_of(golden, random.Random(f"{seed} {server} {golden.id}")):
                fate = fate_of(mutant)
                fates[server, fate] += 1
                fates[mutant.change, fate] += 1
                fates["all", fate] += 1
                if fate is not Fate.FOUND:
                    click.echo(f"{server} {mutant.id}: {mutant.change} at {mutant.where}: {fate}")
                    if show:
                        click.echo(print_history(mutant.history))
    for row in dict.fromkeys(name for name, _ in fates):
        counts = {fate: fates[row, fate] for fate in Fate}
        share = counts[Fate.FOUND] / sum(counts.values())
        click.echo(f"{row:32} {share:7.2%}  " + ", ".join(f"{fate} {n}" for fate, n in counts.items()))


if __name__ == "__main__":
    main()
