"""Which bug shows where: what a run is taken for, and how the matrix is printed."""

import json

import pytest
from click.testing import CliRunner

from acidtest.bugs.cells import Cell, Found, judge, observe
from acidtest.casefile import parse_case
from acidtest.cli.bugs.matrix import matrix
from acidtest.errors import UsageError
from acidtest.execute import Executor
from acidtest.model import (
    Affected,
    Blocked,
    ErrorKind,
    Failed,
    History,
    Level,
    Outcome,
    Overran,
    Record,
    Rows,
    Schema,
    Undone,
    freeze_state,
)
from acidtest.report.matrix import matrix_as_html, matrix_as_markdown
from acidtest.targets.resolve import open_target

CASE = """-- id: x
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ SELECT value FROM t;  -- expect: (10)
/* tx2 */ SELECT value FROM t;  -- expect: (10)
-- final
-- expect t: (10)
"""
RIGHT, WRONG = Rows(("value",), ((10,),)), Rows(("value",), ((11,),))


def error(kind: ErrorKind, undone: Undone = Undone.TRANSACTION) -> Failed:
    return Failed(kind, "77", "no", undone)


def history(first: Outcome, second: Outcome, final: int | None = 10) -> History:
    case = parse_case(CASE, "x.sql")
    records = tuple(
        Record(step.index, step.session, step.sql, outcome)
        for step, outcome in zip(case.steps, (Affected(0), first, second), strict=True)
    )
    levels = {transaction.name: Level.READ_COMMITTED for transaction in case.transactions}
    state = freeze_state({"t": ((10,),)})
    end = None if final is None else freeze_state({"t": ((final,),)})
    return History(case, "a", "1", levels, Schema(), state, (), records, end)


@pytest.mark.parametrize(
    ("run", "found"),
    [
        (history(RIGHT, RIGHT), Found.HIDDEN),
        (history(WRONG, RIGHT), Found.SHOWS),
        (history(RIGHT, RIGHT, final=12), Found.SHOWS),
        (history(error(ErrorKind.BAD_VALUE, Undone.STATEMENT), RIGHT), Found.SHOWS),
        (history(error(ErrorKind.WRITE_CONFLICT), RIGHT), Found.ERROR),
        (history(error(ErrorKind.RECORD_CHANGED), RIGHT, final=12), Found.ERROR),
        (history(error(ErrorKind.DEADLOCK), WRONG), Found.ERROR),
        (history(error(ErrorKind.LOCK_TIMEOUT, Undone.STATEMENT), WRONG), Found.SHOWS),
        (history(error(ErrorKind.SYNTAX, Undone.STATEMENT), RIGHT), Found.UNKNOWN),
        (history(Overran(1.0), RIGHT), Found.UNKNOWN),
        (history(Blocked(), RIGHT), Found.UNKNOWN),
        (history(RIGHT, RIGHT, final=None), Found.UNKNOWN),
    ],
    ids=[
        "all expectations met",
        "a read differs",
        "the final state differs",
        "an error that is the bug",
        "an optimistic transaction was broken off",
        "the final state does not count after that",
        "nor does what others read",
        "a statement that was broken off leaves the rest as it is",
        "the version lacks what the case needs",
        "a statement overran",
        "a statement waited for good",
        "the server died",
    ],
)
def test_what_a_run_is_taken_for(run: History, found: Found) -> None:
    assert judge(run)[0] is found


def test_an_error_is_told_by_its_number() -> None:
    assert judge(history(error(ErrorKind.RECORD_CHANGED), RIGHT)) == (Found.ERROR, "error 77")


def test_markdown_has_a_row_for_every_bug_and_level_and_a_column_for_every_target() -> None:
    cells = [
        Cell("B-1", "RC", "mysql@9.7", "9.7", Found.HIDDEN),
        Cell("B-1", "RR", "mysql@9.7", "9.7", Found.SHOWS),
        Cell("B-1", "RR", "tidb@5", "5", Found.ERROR, "error 9007"),
    ]
    assert matrix_as_markdown(cells).splitlines() == [
        "| bug | level | mysql@9.7 | tidb@5 |",
        "|---|---|---|---|",
        "| B-1 | RC | no | - |",
        "| B-1 | RR | shows | error 9007 |",
    ]


def test_a_real_run_on_an_embedded_engine() -> None:
    case = parse_case(
        "-- id: sees-it\n-- setup\nCREATE TABLE t (a INT);\n-- schedule\n"
        "/* tx1 */ SELECT 1;  -- expect: (2)\n/* tx1 */ SELECT 1;  -- expect: (1)\n",
        "x.sql",
    )
    with open_target("sqlite") as target, Executor(target) as executor:
        cell = observe(executor, case, Level.SERIALIZABLE)
    assert (cell.case, cell.level, cell.found) == ("sees-it", "SER", Found.SHOWS)
    assert cell.detail == "expected (2), got (1)"


def test_a_case_for_another_dbms_is_left_out() -> None:
    result = CliRunner().invoke(matrix, ["TIDB-28092", "-t", "sqlite", "--json"], standalone_mode=False)
    assert result.exception is None
    (cell,) = json.loads(result.stdout)["cells"]
    assert cell["found"] == "not for it"
    assert cell["detail"] == "it is for tidb"


def test_a_case_that_expects_nothing_is_refused(tmp_path: pytest.TempPathFactory) -> None:
    file = tmp_path / "empty.sql"  # type: ignore[operator]
    file.write_text("-- id: e\n-- schedule\n/* tx1 */ SELECT 1;\n")
    result = CliRunner().invoke(matrix, [str(file), "-t", "sqlite"], standalone_mode=False)
    assert isinstance(result.exception, UsageError)
    assert "expects nothing" in str(result.exception)


def test_a_target_that_cannot_be_opened_is_unknown_and_no_end() -> None:
    wishes = ["MDEV-26642", "-t", "mysql://root@127.0.0.1:1/", "-t", "sqlite", "--json"]
    result = CliRunner().invoke(matrix, wishes, standalone_mode=False)
    assert result.exception is None
    cells = json.loads(result.stdout)["cells"]
    assert [cell["found"] for cell in cells] == ["unknown", "not for it"]
    assert "cannot reach" in cells[0]["detail"]


def told(text: str, *outcomes: Outcome, final: bool = True) -> History:
    """A run of a case in which its statements came to these outcomes."""
    case = parse_case(text, "x.sql")
    records = tuple(
        Record(step.index, step.session, step.sql, outcome)
        for step, outcome in zip(case.steps, outcomes, strict=True)
    )
    levels = {transaction.name: Level.READ_COMMITTED for transaction in case.transactions}
    state = freeze_state({})
    return History(case, "a", "1", levels, Schema(), state, (), records, state if final else None)


def test_a_crash_is_the_bug_where_the_bug_is_a_crash() -> None:
    text = "-- kind: {}\n-- schedule\n/* tx1 */ SELECT 1; -- expect: ok\n"
    assert judge(told(text.format("crash"), RIGHT, final=False))[0] is Found.SHOWS
    assert judge(told(text.format("wrong rows"), RIGHT, final=False))[0] is Found.UNKNOWN


def test_a_statement_that_must_end_and_does_not_is_the_bug() -> None:
    text = "-- schedule\n/* tx1 */ SELECT 1; -- expect: {}\n"
    for endless in (Overran(1.0), Blocked()):
        assert judge(told(text.format("ends"), endless))[0] is Found.SHOWS
        assert judge(told(text.format("ok"), endless))[0] is Found.UNKNOWN


def test_what_depends_on_chance_is_told_as_a_rate() -> None:
    case = parse_case("-- id: c\n-- repeat: 3\n-- schedule\n/* tx1 */ SELECT 1; -- expect: (2)\n", "x.sql")
    with open_target("sqlite") as target, Executor(target) as executor:
        cell = observe(executor, case, None)
    assert (cell.found, cell.shown, cell.runs) == (Found.SHOWS, 3, 3)
    assert cell.detail == "in 3 of 3 runs: expected (2), got (1)"
    assert "shows (3/3)" in matrix_as_markdown([cell])


@pytest.mark.parametrize(
    ("second", "found"),
    [("SELECT a FROM t", Found.HIDDEN), ("PRAGMA foreign_keys", Found.SHOWS)],
    ids=["rows", "a setting that a transaction cannot change"],
)
def test_statements_are_compared_with_their_run_without_transactions(second: str, found: Found) -> None:
    case = parse_case(
        "-- id: c\n-- compare: without transactions\n-- setup\nCREATE TABLE t (a INT);\n-- schedule\n"
        "/* tx1 */ BEGIN;\n/* tx1 */ INSERT INTO t VALUES (1);\n/* tx1 */ PRAGMA foreign_keys = OFF;\n"
        f"/* tx1 */ {second};\n/* tx1 */ COMMIT;\n",
        "x.sql",
    )
    with open_target("sqlite") as target, Executor(target) as executor:
        cell = observe(executor, case, None)
    assert cell.found is found


def test_the_page_escapes_what_it_shows() -> None:
    page = matrix_as_html([Cell("<b>", "RC", "x@1", "1", Found.SHOWS, "got '<script>'\"")])
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "<b>" not in page
