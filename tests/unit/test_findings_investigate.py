"""What an investigation makes of a suspicious history, when the server does not play along."""

import pytest

from acidtest import examine
from acidtest.casefile import parse_case
from acidtest.errors import TargetFailedError
from acidtest.examine import Examiner
from acidtest.execute import Executor
from acidtest.findings.finding import Finding
from acidtest.investigation.investigate import RERUNS, Investigator
from acidtest.model import Case, History, Level
from acidtest.report.findings import report
from acidtest.targets.resolve import open_target

DIRTY = parse_case(
    """\
-- setup
CREATE TABLE t (a INT);
INSERT INTO t VALUES (1);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 2;
/* tx2 */ SELECT * FROM t;
/* tx1 */ SELECT 1;
/* tx1 */ ROLLBACK;
""",
    "dirty",
).at_level(Level.READ_COMMITTED)


class GoneExecutor(Executor):
    """Its server stays away after so many runs."""

    left = 0

    def run(self, case: Case, fresh: bool = False) -> History:
        GoneExecutor.left -= 1
        if GoneExecutor.left < 0:
            raise TargetFailedError("it does not answer any more")
        return super().run(case, fresh)


@pytest.fixture(autouse=True)
def gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examine, "Executor", GoneExecutor)


@pytest.mark.parametrize("runs", [1, 5])
def test_a_finding_is_not_lost_with_its_server(runs: int) -> None:
    finding = investigate_for(runs)
    assert (finding.shown, finding.runs, finding.levels) == (0, 0, ())
    assert finding.broken_off == "it does not answer any more"
    assert finding.minimal == finding.original
    assert finding.oracles == ("solver",)
    assert not finding.is_flaky
    told = report(finding)
    assert "it does not answer any more" in told
    assert "not compared with known bugs" in told


@pytest.mark.parametrize("left_out", [1, 15])
def test_what_was_known_before_the_server_went_is_kept(left_out: int) -> None:
    whole = investigate_for(10_000)
    needed = 10_000 - GoneExecutor.left
    part = investigate_for(needed - left_out)
    assert part.broken_off
    assert (part.minimal, part.signature) == (whole.minimal, whole.signature)
    assert len(part.minimal) < len(part.original)
    assert part.shown == RERUNS


def test_with_a_server_that_stays_it_is_run_again_and_reduced() -> None:
    finding = investigate_for(10_000)
    assert (finding.shown, finding.runs) == (RERUNS, RERUNS)
    assert [sighting.found for sighting in finding.levels].count("shows") >= 1


def investigate_for(runs: int) -> Finding:
    """What comes of it if the server takes that many runs."""
    with open_target("simulated@dirty-read") as target, Examiner(target, ["solver"]) as examiner:
        GoneExecutor.left = runs
        return Investigator(examiner).investigate(examiner.examine(DIRTY), progress=lambda _: None)
