"""Recorded outputs are read, and runs that differ from them are told; runs are made up here."""

from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from acidtest.casefile.isolation import Recorded, find_recorded, load_recorded, load_spec, permutations
from acidtest.casefile.isolation.compare import compare
from acidtest.casefile.isolation.permutations import Permutation
from acidtest.casefile.isolation.recorded import Table
from acidtest.errors import UsageError
from acidtest.execute.log import Log
from acidtest.model import (
    Affected,
    Blocked,
    ErrorKind,
    EventKind,
    Failed,
    History,
    Omitted,
    Outcome,
    Record,
    Rows,
    Schema,
    Undone,
    Warning,
)

FOLDER = Path(__file__).parents[1] / "isolation"
SPEC = FOLDER / "specs" / "hold-and-wait.spec"
ORDERS = tuple(permutations(load_spec(SPEC)))
FIRST, SECOND, MARKED = ORDERS


def recorded_of(path: Path = FOLDER / "expected" / "hold-and-wait.out") -> Recorded:
    return load_recorded(path, load_spec(SPEC), ORDERS)


ACCOUNTS = Rows(
    ("id", "owner", "balance", "opened", "closed"),
    (
        (1, "Ann | co", Decimal("9.50"), date(2024, 2, 3), False),
        (2, None, Decimal("0.00"), None, True),
    ),
)
SUM = Rows(("sum", "count"), ((Decimal("14.50"), 1),))
RUN: dict[str, Outcome] = {
    "BEGIN": Affected(0),
    "take": Affected(1),
    "want it": Affected(1),
    "look": ACCOUNTS,
    "leave": Affected(0),
    "sum": SUM,
}


def history(
    permutation: Permutation = FIRST, waits: str = "want it", until: str = "leave", **outcomes: Outcome
) -> History:
    """A run of the first permutation as it was recorded, but for these outcomes (`want_it` is `want it`)."""
    changed = RUN | {name.replace("_", " "): outcome for name, outcome in outcomes.items()}
    log = Log()
    waiting = None
    for step, place in zip(permutation.case.steps, permutation.places, strict=True):
        name = step.sql if place is None else permutation.names[place]
        log.event(EventKind.LAUNCHED, step)
        log.records[step.index] = Record(
            step.index, step.session, step.sql, changed[name], waited=name == waits
        )
        if name == waits:
            waiting = step
        else:
            log.event(EventKind.COMPLETED, step)
        if name == until and waiting is not None:
            log.event(EventKind.COMPLETED, waiting)
    records = tuple(log.records.values())
    return History(permutation.case, "t", "1", {}, Schema(), {}, tuple(log.events), records, {})


def differences(run: History, permutation: Permutation = FIRST) -> list[str]:
    found = compare(permutation, run, recorded_of().permutations[permutation.number - 1])
    return [f"{one.step}: {one.expected} / {one.observed}" for one in found]


def test_a_recorded_output_is_read() -> None:
    first, second, _ = recorded_of().permutations
    assert [(step.waited, step.ended_at) for step in first.steps] == [
        (False, 0),
        (True, 3),
        (False, 2),
        (False, 3),
        (False, 4),
    ]
    assert first.steps[2].tables == (
        Table(
            ("id", "owner", "balance", "opened", "closed"),
            (("1", "Ann | co", "9.50", "02-03-2024", "f"), ("2", "", "0.00", "", "t")),
        ),
    )
    assert second.steps[4].tables == (Table(("balance",), (("14.50",),)),)


def test_results_of_teardowns_belong_to_no_step() -> None:
    path = FOLDER / "specs" / "several-statements.spec"
    spec = load_spec(path)
    orders = tuple(permutations(spec))
    (recorded,) = (load_recorded(one, spec, orders) for one in find_recorded(path, None))
    assert [len(one.steps[-1].tables) for one in recorded.permutations] == [1, 1, 1]
    assert recorded.permutations[2].steps[1].errors == (
        'duplicate key value violates unique constraint "t_pkey"',
    )


def test_a_run_as_recorded_does_not_differ() -> None:
    assert differences(history()) == []


LOCK_TIMEOUT = Failed(ErrorKind.LOCK_TIMEOUT, "55P03", "canceling statement", Undone.STATEMENT)


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (history(waits=""), ["want it: it waits / it does not wait"]),
        (
            history(waits="look"),
            ["want it: it waits / it does not wait", "look: it does not wait / it waits"],
        ),
        (history(until="look"), ["want it: it waits until leave / it waits until look"]),
        (history(look=LOCK_TIMEOUT), ["look: no error / canceling statement"]),
        (history(sum=Rows(("sum", "count"), ())), ["sum: sum|count: (14.50,1) / sum|count: no rows"]),
        (history(sum=Affected(0)), ["sum: sum|count: (14.50,1) / no result"]),
        (history(sum=Rows(("sum", "n"), SUM.rows)), ["sum: sum|count: (14.50,1) / sum|n: (14.50,1)"]),
        (history(look=replace(ACCOUNTS, rows=ACCOUNTS.rows[::-1])), None),
        (history(want_it=Blocked(("first",))), ["want it: that it ends / it waits for good"]),
        (history(sum=Omitted("its session is lost")), ["sum: that it ends / not run: its session is lost"]),
        (history(BEGIN=LOCK_TIMEOUT), ["set-up of first: no error / canceling statement"]),
    ],
)
def test_what_differs_is_told(run: History, expected: list[str] | None) -> None:
    found = differences(run)
    assert found == expected if expected is not None else len(found) == 1


def test_a_marked_step_may_have_been_reported_as_waiting_and_later_than_it_ended() -> None:
    assert differences(history(MARKED, until="look"), MARKED) == []
    assert differences(history(MARKED, waits=""), MARKED) == []


def test_the_commit_of_a_failed_transaction_prints_nothing() -> None:
    rolled_back = Failed(ErrorKind.TRANSACTION_STATE, "25P02", "had failed", Undone.TRANSACTION)
    assert differences(history(leave=rolled_back)) == []
    assert differences(history(look=rolled_back)) == ["look: no error / had failed"]


def test_values_as_postgresql_prints_them() -> None:
    row = (2.0, b"\x01", datetime(2024, 2, 3, 4, 5, 6, 500000))
    recorded = recorded_of().permutations[0]
    table = Table(("a", "b", "c"), (("2", "\\x01", "Sat Feb 03 04:05:06.5 2024"),))
    steps = recorded.steps
    changed = replace(recorded, steps=(*steps[:2], replace(steps[2], tables=(table,)), *steps[3:]))
    assert compare(FIRST, history(look=Rows(("a", "b", "c"), (row,))), changed) == ()


def test_notices_are_compared_whatever_their_order(tmp_path: Path) -> None:
    text = (FOLDER / "expected" / "hold-and-wait.out").read_text()
    place = text.index("step look")
    other = tmp_path / "x.out"
    lines = 'second: NOTICE:  one\nfirst: WARNING:  two\nsecond: NOTIFY "c" with payload "x" from first\n'
    other.write_text(text[:place] + lines + text[place:])
    recorded = recorded_of(other).permutations[0]
    said = {
        "take": ("WARNING", "two"),
        "want it": ("NOTICE", "one"),
        "look": ("NOTIFY", '"c" with payload "x"'),
    }

    def run(*names: str) -> History:
        plain = history()
        records = [
            replace(record, warnings=(Warning(said[name][0], "00000", said[name][1]),))
            if place is not None and (name := FIRST.names[place]) in names
            else record
            for record, place in zip(plain.records, FIRST.places, strict=True)
        ]
        return replace(plain, records=tuple(records))

    sessions = {name: FIRST.spec.session_of(name).name for name in said}
    expected = [
        f"{sessions['take']}: WARNING:  two",
        f"{sessions['want it']}: NOTICE:  one",
        f'{sessions["look"]}: NOTIFY "c" with payload "x"',
    ]
    assert recorded.notices == (*lines.splitlines()[:2], 'second: NOTIFY "c" with payload "x"')
    differing = compare(FIRST, run("take", "want it"), replace(recorded, notices=tuple(expected)))
    assert [(one.step, one.expected, one.observed) for one in differing] == [
        ("notices", expected[2], "no further notice")
    ]
    assert compare(FIRST, run(*said), replace(recorded, notices=tuple(reversed(expected)))) == ()


def test_the_output_of_another_spec_is_refused(tmp_path: Path) -> None:
    text = (FOLDER / "expected" / "hold-and-wait.out").read_text()
    other = tmp_path / "x.out"
    other.write_text(
        text.replace("starting permutation: take want it look", "starting permutation: take look")
    )
    with pytest.raises(
        UsageError, match=r"x\.out:3:1: expected the output of hold-and-wait, permutation 1: "
    ):
        recorded_of(other)
    other.write_text(text[: text.rindex("starting permutation")])
    with pytest.raises(UsageError, match=r"x\.out:\d+:1: expected permutation 3: take want it look leave"):
        recorded_of(other)
    other.write_text(text.replace("balance - 1", "balance - 2"))
    with pytest.raises(UsageError, match="expected the step take as the spec has it"):
        recorded_of(other)
    other.write_text(text + "\nstarting permutation: take\n")
    with pytest.raises(UsageError, match="hold-and-wait, no further permutation"):
        recorded_of(other)


def test_where_recorded_outputs_are_looked_for(tmp_path: Path) -> None:
    expected = FOLDER / "expected"
    alternatives = (expected / "two-outputs.out", expected / "two-outputs_1.out")
    spec = FOLDER / "specs" / "two-outputs.spec"
    assert find_recorded(spec, None) == alternatives
    assert find_recorded(spec, expected) == alternatives
    assert find_recorded(spec, expected / "two-outputs_1.out") == alternatives[1:]
    assert find_recorded(tmp_path / "specs" / "new.spec", None) == ()
    with pytest.raises(UsageError, match=r"there is no recorded output new\.out in "):
        find_recorded(tmp_path / "new.spec", expected)
