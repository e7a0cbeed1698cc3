"""Our own runs as histories: what the graph oracle says of a run, `acidtest check` says of its file."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from acidtest import corpus
from acidtest.cli import cli
from acidtest.execute import Executor
from acidtest.histories.columns import Workload
from acidtest.histories.export import export, write_history
from acidtest.model import History, Level, Phenomenon
from acidtest.model.trace import (
    DependencyKind,
    Fate,
    ObjectId,
    Read,
    Span,
    Trace,
    TraceVersion,
    TxTrace,
    Write,
)
from acidtest.oracles.walks import HistoryWalk
from acidtest.targets.resolve import open_target
from tests.unit.foreign_histories import check, labels

ANOMALIES = {case.id: case for case in corpus.anomalies()}
LEVELS = [Level.READ_UNCOMMITTED, Level.READ_COMMITTED, Level.REPEATABLE_READ, Level.SERIALIZABLE]
CYCLES = {Phenomenon.G0, Phenomenon.G1C, Phenomenon.G_SINGLE, Phenomenon.G2_ITEM}
READS = {Phenomenon.G1A, Phenomenon.G1B}


def _run(anomaly: str, level: Level) -> History:
    with open_target("simulated") as target, Executor(target) as executor:
        return executor.run(ANOMALIES[anomaly].at_level(level))


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.short)
@pytest.mark.parametrize("anomaly", ANOMALIES)
def test_the_file_shows_what_the_graph_shows(anomaly: str, level: Level, tmp_path: Path) -> None:
    walk = HistoryWalk(_run(anomaly, level))
    if walk.trace is None:
        pytest.skip("no trace")
    items = {
        one.phenomenon
        for one in walk.occurrences or ()
        if one.phenomenon in CYCLES | READS and all(each.kind in _ITEMS for each in one.witness.dependencies)
    }
    path = tmp_path / "history.edn"
    write_history(walk.trace, path)
    found = {Phenomenon.parse(one) for one in labels(check(path))}
    assert items <= found
    # A cycle that leans on a condition is not in the file, and no other one may be.
    assert found & (CYCLES | READS) <= {one.phenomenon for one in walk.occurrences or ()}


_ITEMS = {DependencyKind.WW, DependencyKind.WR, DependencyKind.RW}
ROW = ObjectId("t", 1)
FIRST = TraceVersion(ROW, 0, None)


def test_reads_of_what_was_rolled_back_make_registers(tmp_path: Path) -> None:
    dirty = TraceVersion(ROW, 1, 0)
    trace = Trace(
        (
            TxTrace(1, "tx1", Fate.ABORTED, (Write(0, dirty),)),
            TxTrace(2, "tx2", Fate.COMMITTED, (Read(1, dirty, committed=False),), ended=Span(1, 1)),
        ),
        {ROW: (FIRST,)},
    )
    assert export(trace).workload is Workload.REGISTERS
    path = tmp_path / "history.json"
    write_history(trace, path)
    assert json.loads(path.read_text().splitlines()[0])["type"] == "invoke"
    assert labels(check(path)) == {"G1a"}


def test_reads_of_what_was_committed_make_lists(tmp_path: Path) -> None:
    """Two transactions read the first version and both write: the order of their writes is told as well."""
    one, two = TraceVersion(ROW, 1, 2), TraceVersion(ROW, 2, 3)
    trace = Trace(
        (
            TxTrace(1, "tx1", Fate.COMMITTED, (Write(2, one), Read(0, FIRST)), ended=Span(4, 4)),
            TxTrace(2, "tx2", Fate.COMMITTED, (Read(1, FIRST), Write(3, two)), ended=Span(5, 5)),
        ),
        {ROW: (FIRST, one, two)},
    )
    assert export(trace).workload is Workload.LISTS
    path = tmp_path / "history.edn"
    write_history(trace, path)
    assert {"P4", "G2-item"} <= labels(check(path))


def test_the_command_writes_each_run(tmp_path: Path) -> None:
    path = tmp_path / "skew.edn"
    run = CliRunner().invoke(
        cli,
        ["run", "g2-item-write-skew", "-t", "simulated", "-l", "all", "--export-history", str(path)],
        standalone_mode=False,
    )
    assert run.exception is None
    assert sorted(one.name for one in tmp_path.iterdir()) == [
        f"skew{number}.edn" for number in ("-2", "-3", "-4", "")
    ]
    assert "G2-item" in labels(check(path))
