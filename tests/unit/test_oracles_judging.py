"""What every oracle that walks along a history has in common."""

from dataclasses import replace

import pytest

from acidtest.casefile import parse_case
from acidtest.examine import Examiner
from acidtest.model import Judgement
from acidtest.oracles import judging
from acidtest.targets.resolve import open_target

CASE = """\
-- level: SERIALIZABLE
-- setup
CREATE TABLE t (a INT PRIMARY KEY);
INSERT INTO t VALUES (1), (2), (3);
-- schedule
/* tx1 */ SELECT * FROM t;
"""


def test_tables_that_are_too_big_are_left_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        open_target("sqlite") as target,
        Examiner(target, ("crash", "solver", "graph", "serial", "views")) as examiner,
    ):
        history = examiner.executor.run(parse_case(CASE, "case"))
        assert {one.judgement for one in examiner.judge(history)} == {Judgement.PASS}
        monkeypatch.setattr(judging, "ROWS_MAX", 2)
        verdicts = examiner.judge(replace(history))
    assert {one.oracle for one in verdicts if one.judgement is Judgement.PASS} == {"crash"}
    assert {one.reason for one in verdicts if one.oracle != "crash"} == {judging.TOO_BIG}
