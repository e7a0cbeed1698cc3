"""A run is printed as a case file that reads back, marks and teardown included."""

from acidtest.casefile import parse_case
from acidtest.execute import Executor
from acidtest.report import print_history
from acidtest.targets.resolve import open_target

TEXT = """\
-- id: marks
-- target: sqlite
-- level: SERIALIZABLE
-- order: strict
-- setup
CREATE TABLE t (a INT PRIMARY KEY);
-- schedule
/* a */ BEGIN;
/* a+ */ INSERT INTO t VALUES (1);
-- await b
/* b */ INSERT INTO t VALUES (2);
/* a */ INSERT INTO t VALUES (1);
/* a+ */ SELECT a FROM t;
/* a */ COMMIT;
-- teardown
DROP TABLE t;
DROP TABLE nowhere;
"""


def test_marks_and_the_teardown_are_printed() -> None:
    case = parse_case(TEXT, "marks.sql")
    with open_target("sqlite") as target, Executor(target) as executor:
        history = executor.run(case)
    lines = print_history(history).splitlines()
    assert "-- order: strict" in lines
    schedule = lines[lines.index("-- schedule") + 1 : lines.index("-- final")]
    assert [line.split(";")[0] for line in schedule if not line.startswith("--   ")] == [
        "/* a */ BEGIN",
        "/* a+ */ INSERT INTO t VALUES (1)",
        "-- await b",
        "/* b */ INSERT INTO t VALUES (2)",
        "/* a */ INSERT INTO t VALUES (1)",
        "/* a */ COMMIT",
        # What was never sent stands last, and there it follows another step.
        "/* a+ */ SELECT a FROM t",
    ]
    teardown = lines[lines.index("-- teardown") + 1 :]
    assert teardown[:2] == ["DROP TABLE t;", "DROP TABLE nowhere;"]
    assert teardown[2].startswith("--   error no-such-object")
    again = parse_case("\n".join(lines), "marks.sql")
    assert (again.setup, again.teardown, again.strict) == (case.setup, case.teardown, True)
