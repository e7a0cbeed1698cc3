"""Isolation specs are read as isolationtester reads them, and what is wrong is told with its place."""

import pytest

from acidtest.casefile.isolation import parse_spec
from acidtest.casefile.isolation.spec import Marker, PlannedStep, SpecStep
from acidtest.errors import UsageError

WHOLE = '''# a comment { setup
setup { CREATE TABLE t (a int); }
setup
{
  VACUUM t;
}
teardown	{ DROP TABLE t; }

session s1
setup { BEGIN; }
step r1 { SELECT '#', "x" FROM t; } # another
step "w 1" {
  UPDATE t SET a = 1; }
teardown { COMMIT; }

session "step"
step "say ""x""" { }
step S$2 { SELECT 1; }

permutation r1 "w 1"(*) S$2
permutation r1 S$2 ( "w 1" , r1 notices 3 )
  # in the middle
  "w 1" r1 "say ""x"""
'''


def test_a_whole_spec() -> None:
    spec = parse_spec(WHOLE, "dir/whole.spec")
    assert spec.name == "whole"
    assert spec.setups == ("CREATE TABLE t (a int);", "\n  VACUUM t;\n")
    assert spec.teardown == "DROP TABLE t;"
    first, second = spec.sessions
    assert (first.name, first.setup, first.teardown) == ("s1", "BEGIN;", "COMMIT;")
    assert first.steps == (
        SpecStep("r1", "SELECT '#', \"x\" FROM t;"),
        SpecStep("w 1", "\n  UPDATE t SET a = 1;"),
    )
    assert (second.name, second.setup, second.teardown) == ("step", None, None)
    assert second.steps == (SpecStep('say "x"', ""), SpecStep("S$2", "SELECT 1;"))
    assert spec.orders == (
        (PlannedStep("r1"), PlannedStep("w 1", (Marker(),)), PlannedStep("S$2")),
        (
            PlannedStep("r1"),
            PlannedStep("S$2", (Marker("w 1"), Marker("r1", 3))),
            PlannedStep("w 1"),
            PlannedStep("r1"),
            PlannedStep('say "x"'),
        ),
    )


SESSIONS = "session a step a1 { SELECT 1 }\nsession b step b1 { SELECT 2 }\n"


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("", "1:1", "`setup`, `teardown` or `session`, found the end of the file"),
        ("setup BEGIN", "1:7", "`{ SQL }` after `setup`, found `BEGIN`"),
        ("setup {\nBEGIN;", "1:7", "`}` at the end of the SQL block, found only `{`"),
        ("session a", "1:10", "`step` in the session a, found the end of the file"),
        ("session step", "1:9", "the name of the session .*double quotes.*, found `step`"),
        ('session "a\n', "1:9", '`"` at the end of the name'),
        ("session a step { }", "1:16", "the name of the step, found `{ }`"),
        ("session a step x { } step x { }", "1:27", "a name that no other step has, found `x` again"),
        ("setup { } ; session", "1:11", "a keyword, a name or `{ SQL }`, found only `; session`"),
        ("session a step x { } setup { }", "1:22", "`step`, `teardown`, `session` or `permutation`"),
        ("teardown { } setup { }", "1:14", "`setup`, `teardown` or `session`, found `setup"),
        (SESSIONS + "permutation", "3:12", "the name of a step, found the end of the file"),
        (SESSIONS + "permutation a1 c1", "3:16", "a step that is defined above, found `c1`"),
        (SESSIONS + "permutation a1 (", "3:17", r"`\*` or the name of a step in the marker"),
        (SESSIONS + "permutation a1 (b1", "3:19", r"`,` or `\)` after the marker"),
        (SESSIONS + "permutation a1 (b1 notices) b1", "3:27", "a number after `notices`"),
        (SESSIONS + "permutation a1 (b1)", "3:13", r"found a1 \(b1\), but the permutation has no b1"),
        (SESSIONS + "permutation a1 (a1) b1", "3:13", r"found a1 \(a1\), and both belong to a"),
        (SESSIONS + "permutation a1\nsession c", "4:1", "`permutation` or the end of the file"),
    ],
)
def test_malformed(text: str, place: str, words: str) -> None:
    with pytest.raises(UsageError, match=rf"^dir/x\.spec:{place}: expected .*{words}"):
        parse_spec(text, "dir/x.spec")
