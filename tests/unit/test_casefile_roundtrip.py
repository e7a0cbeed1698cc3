"""A case that is written reads back as the same case; broken files give a UsageError and nothing else."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acidtest.casefile import load_case, parse_case, print_case
from acidtest.casefile.literals import LITERAL, format_value, read_literal
from acidtest.errors import UsageError
from acidtest.model import (
    Case,
    ExpectAffected,
    Expectation,
    ExpectBlocked,
    ExpectError,
    ExpectRows,
    FinalExpectation,
    Statement,
    TargetConstraint,
    Transaction,
    Value,
    same_rows,
)
from tests.unit.casefile_strategies import cases, rows, values

# How long an example takes says nothing: the machine may be busy.
UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

FULL = r"""-- id: DEMO-1
-- title: a case with everything
-- link: https://example.org/1
-- link: https://example.org/2
-- target: mariadb >=10.1 <11.6
-- target: mysql 8.0
-- level: REPEATABLE READ
-- level tx2: READ COMMITTED
-- The story, told in prose:
--   with an indented line
--
-- and an empty one.
-- setup
CREATE TABLE t (c1 INT, c2 VARCHAR(9));
INSERT INTO t VALUES (0, 'it\'s; -- 1'), (1, NULL);
-- schedule
/* tx1 */  BEGIN;
/* tx1 */  SELECT * FROM t;               -- expect: (0,'it''s; -- 1') (1,NULL)
/* tx2 */  UPDATE t SET c1 = 10
  WHERE c2 = /*+ hint; */ 1;              -- expect: affected 1
/* other */ DELETE FROM t # why; not
;
-- expect: blocked by tx1, tx2; error lock-timeout 1205 or ok; not blocked
-- expect RC, RU: error 1020
/* tx1 */  COMMIT;
-- final
-- expect t: (10,'it''s; -- 1') (10,NULL) or no rows
-- expect t at RC: (1.50,x'00ff',DATE '2020-01-02') ()
"""


@UNHURRIED
@given(cases())
def test_parse_of_print_is_the_case(case: Case) -> None:
    text = print_case(case)
    assert parse_case(text, "x") == case
    assert print_case(parse_case(text, "x")) == text


def test_print_of_parse_is_stable() -> None:
    once = print_case(parse_case(FULL, "x"))
    assert print_case(parse_case(once, "x")) == once


def test_print_is_aligned_and_short_expectations_stand_on_the_line() -> None:
    text = """-- id: A
-- schedule
/* t */ SELECT 1; -- expect: (1)
/* longer */ SELECT 1;
-- expect: (1)
-- expect RC: (2)
"""
    assert print_case(parse_case(text, "x")) == (
        "-- id: A\n"
        "-- schedule\n"
        "/* t */      SELECT 1;                   -- expect: (1)\n"
        "/* longer */ SELECT 1;\n"
        "-- expect: (1)\n"
        "-- expect RC: (2)\n"
    )


def test_long_expectations_stand_on_the_next_line() -> None:
    rows_text = " ".join(f"({number},'some text')" for number in range(5))
    text = f"-- id: A\n-- schedule\n/* t */ SELECT 1;\n-- expect: {rows_text}\n"
    assert print_case(parse_case(text, "x")) == text


def test_levels_print_as_the_common_one_and_exceptions() -> None:
    text = "-- id: A\n-- level: SERIALIZABLE\n-- level b: SNAPSHOT\n-- schedule\n"
    text += "".join(f"/* {name} */ SELECT 1;\n" for name in "abc")
    assert print_case(parse_case(text, "x")) == text


@UNHURRIED
@given(values())
def test_a_literal_reads_as_the_value(value: Value) -> None:
    text = format_value(value)
    match = LITERAL.fullmatch(text)
    assert match is not None
    again = read_literal(match)
    assert again == value
    assert "\n" not in text
    assert isinstance(again, bool) is isinstance(value, bool)
    assert isinstance(again, float) is isinstance(value, float)


@UNHURRIED
@given(rows())
def test_rows_of_a_result_can_be_pasted(result: tuple[tuple[Value, ...], ...]) -> None:
    case = parse_case("-- schedule\n/* a */ SELECT 1;\n", "x")
    expectation = Expectation(((ExpectRows(result),),))
    case = _with_statement(case, Statement("SELECT 1", (expectation,)))
    read = parse_case(print_case(case), "x").steps[0].statement.expect[0].alternatives[0][0]
    assert isinstance(read, ExpectRows)
    assert same_rows(read.rows, result)


def _with_statement(case: Case, statement: Statement) -> Case:
    return replace(case, transactions=(Transaction("a", None, (statement,)),))


SIMPLE = parse_case("-- id: A\n-- schedule\n/* a */ SELECT 1;\n", "x")


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (_with_statement(SIMPLE, Statement("SELECT 'open")), "the string is never closed"),
        (_with_statement(SIMPLE, Statement("SELECT /* open")), "the comment is never closed"),
        (_with_statement(SIMPLE, Statement("SELECT 1", joined=True)), "would not be read"),
        (_with_statement(SIMPLE, Statement("SELECT 1", awaits=("nobody",))), "would not be read"),
        (_with_statement(SIMPLE, Statement(" SELECT 1")), "transactions would be read differently"),
        (_with_statement(SIMPLE, Statement("SELECT 1\r\n+ 1")), "transactions would be read differently"),
        (_with_statement(SIMPLE, Statement("")), "would not be read"),
        (_with_statement(SIMPLE, Statement("SELECT 1 -- expect: (1)")), "would not be read"),
        (_with_statement(SIMPLE, Statement("SELECT '\ud800'")), "UTF-8"),
        (_with_statement(SIMPLE, Statement("SELECT 1", (Expectation(()),))), "would not be read"),
        (_with_statement(SIMPLE, Statement("SELECT 1", (Expectation(((),)),))), "would not be read"),
        (
            _with_statement(
                SIMPLE, Statement("SELECT 1", (Expectation(((ExpectBlocked(False, ("a",)),),)),))
            ),
            "cannot name sessions",
        ),
        (
            _with_statement(SIMPLE, Statement("SELECT 1", (Expectation(((ExpectAffected(-1),),)),))),
            "would not be read",
        ),
        (
            _with_statement(
                SIMPLE, Statement("SELECT 1", (Expectation(((ExpectError(code="deadlock"),),)),))
            ),
            "read differently",
        ),
        (replace(SIMPLE, id=""), "would not be read"),
        (replace(SIMPLE, title="two\nlines"), "would not be read"),
        (replace(SIMPLE, story=("key: value",)), "would not be read"),
        (replace(SIMPLE, story=("setup",)), "read differently"),
        (replace(SIMPLE, story=("trailing ",)), "story would be read differently"),
        (replace(SIMPLE, targets=(TargetConstraint("oracle"),)), "unknown target 'oracle'"),
        (replace(SIMPLE, targets=(TargetConstraint("mysql", ("~8",)),)), "would not be read"),
        (replace(SIMPLE, setup=(Statement("SELECT 1", (Expectation(()),)),)), "a set-up or teardown"),
        (replace(SIMPLE, teardown=(Statement("SELECT 1", joined=True),)), "a set-up or teardown"),
        (replace(SIMPLE, transactions=(), schedule=()), "without statements"),
        (
            replace(SIMPLE, transactions=(Transaction("b", None, ()), *SIMPLE.transactions)),
            "order of their first statements",
        ),
        (replace(SIMPLE, expect_final=(FinalExpectation("", (((1,),),)),)), "would not be read"),
    ],
)
def test_what_cannot_be_written_is_refused(case: Case, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        print_case(case)


@UNHURRIED
@given(st.integers(0, len(FULL)))
def test_truncation_gives_a_case_or_a_usage_error(length: int) -> None:
    with suppress(UsageError):
        parse_case(FULL[:length], "x")


@UNHURRIED
@given(
    changes=st.lists(
        st.tuples(st.integers(0, len(FULL) - 1), st.integers(0, 255), st.integers(0, 3)),
        min_size=1,
        max_size=4,
    )
)
def test_mutation_gives_a_case_that_prints_or_a_usage_error(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, int, int]]
) -> None:
    data = bytearray(FULL.encode())
    for place, byte, removed in changes:
        data[place : place + removed] = bytes([byte])
    path = tmp_path_factory.getbasetemp() / "mutated.sql"
    path.write_bytes(data)
    with suppress(UsageError):
        case = load_case(path)
        # What was read can be written: only cases made in other ways may have no place in the format.
        assert parse_case(print_case(case), "x") == case


@UNHURRIED
@given(st.text(alphabet="-/*x expct:t(1,')\n;ornofialsedu\\E.", max_size=80))
def test_any_tail_gives_a_case_or_a_usage_error(tail: str) -> None:
    with suppress(UsageError):
        parse_case("-- schedule\n/* a */ SELECT 1; -- expect" + tail, "x")


def test_every_complaint_has_its_place() -> None:
    complaints = []
    for length in range(len(FULL)):
        with suppress(UsageError):
            parse_case(FULL[:length], "dir/x.sql")
            continue
        with pytest.raises(UsageError) as caught:
            parse_case(FULL[:length], "dir/x.sql")
        complaints.append((FULL[:length], str(caught.value)))
    assert complaints
    for text, complaint in complaints:
        name, line, column, rest = complaint.split(":", 3)
        assert name == "dir/x.sql"
        assert 1 <= int(column) <= len(text.split("\n")[int(line) - 1]) + 1
        assert rest.startswith(" expected ")


def test_file_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "x.sql"
    case = parse_case(FULL, "x")
    path.write_text(print_case(case), encoding="utf-8")
    assert load_case(path) == case
