"""The smallest history of every anomaly, in every format that can tell it."""

from pathlib import Path

import pytest

from acidtest.histories import Assumption, Standing, find_model, strongest, weakest
from acidtest.histories.columns import Workload
from acidtest.histories.writing import to_edn
from acidtest.report.checked import checked_to_json, print_checked
from tests.unit.foreign_histories import FORMATS, check, edn, events, jepsen_json, labels, told

BY_RULES = {
    f"{one}{basis}"
    for one in ("fractured-read", "non-monotonic-read", "causality-violation")
    for basis in ("", "-process")
}
"""What a rule infers is told beside the cycles that show the same."""

REGISTERS = {
    "clean": ("0 ok: w x 5\n1 ok: r x 5, w x 1\n2 ok: r x 1", set()),
    "G1a": ("0 fail: w x 1\n1 ok: r x 1", {"G1a"}),
    "G1b": ("0 ok: w x 1, w x 2\n1 ok: r x 1", {"G1b"}),
    "G1c": ("0 ok: w x 1, r y 1\n1 ok: w y 1, r x 1", {"G1c"}),
    "G-single": (
        "0 ok: w x 5, w y 5\n1 ok: r x 5, w x 1, r y 5, w y 1\n2 ok: r x 5, r y 1",
        {"G-single", "fractured-read", "causality-violation"},
    ),
    "lost update": ("0 ok: w x 5\n1 ok: r x 5, w x 1\n2 ok: r x 5, w x 2", {"P4", "G2-item"}),
    "G2-item": ("0 ok: w x 5, w y 5\n1 ok: r x 5, r y 5, w x 1\n2 ok: r x 5, r y 5, w y 2", {"G2-item"}),
    "G-nonadjacent": (
        "0 ok: w x 5, w y 5\n1 ok: r x 5, w x 1\n2 ok: r y 5, w y 2\n3 ok: r x 1, r y 5\n4 ok: r x 5, r y 2",
        {"G-nonadjacent"},
    ),
    "internal": ("0 ok: w x 5\n1 ok: w x 6\n2 ok: r x 5, r x 6", {"internal"}),
    "not-my-own-write": ("0 ok: w x 5\n1 ok: w x 1, r x 5", {"internal", "not-my-own-write"}),
    "not-my-last-write": ("0 ok: w x 1, w x 2, r x 1", {"internal", "not-my-last-write"}),
    "thin-air-read": ("0 ok: w x 5\n1 ok: r x 77", {"thin-air-read"}),
    "future-read": ("0 ok: r x 1, w x 1", {"future-read"}),
    "G1c-process": ("0 ok: r x 1\n0 ok: w x 1", {"G1c-process"}),
}
UNABLE = {"awdit": {"G1a"}}
"""What a format cannot say: AWDIT's has no aborted transactions."""


@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.parametrize("name", REGISTERS)
def test_registers(name: str, format_name: str, tmp_path: Path) -> None:
    if name in UNABLE.get(format_name, ()):
        pytest.skip(f"{format_name} cannot tell {name}")
    text, expected = REGISTERS[name]
    checked = check(FORMATS[format_name](told(text), tmp_path))
    assert checked.format == format_name
    assert checked.workload is Workload.REGISTERS
    found = labels(checked)
    # Sessions and times strengthen what the data show already; only other names would be wrong.
    assert {one for one in found if not one.endswith("-realtime")} >= expected
    cycles = {
        f"{one}{basis}" for one in ("G1c", "G-single", "G2-item") for basis in ("-process", "-realtime")
    }
    assert not found - expected - cycles - BY_RULES


LISTS = {
    "clean": ("0 ok: a x 1\n1 ok: r x [1], a x 2\n2 ok: r x [1 2]", set()),
    "G0": ("0 ok: a x 1, a y 1\n1 ok: a x 2, a y 2\n2 ok: r x [1 2], r y [2 1]", {"G0"}),
    "G1a": ("0 fail: a x 1\n1 ok: r x [1]", {"G1a"}),
    "G1b": ("0 ok: a x 1, a x 2\n1 ok: r x [1]\n2 ok: r x [1 2]", {"G1b", "G-single"}),
    "G1c": ("0 ok: a x 1, r y [1]\n1 ok: a x 2, a y 1\n2 ok: r x [1 2]", {"G1c"}),
    "G-single": ("0 ok: a x 1, a y 1\n1 ok: a x 2, r y nil\n2 ok: r x [1 2]", {"G-single"}),
    "G2-item": ("0 ok: a x 1, r y nil\n1 ok: a y 1, r x nil", {"G2-item"}),
    "lost update": ("0 ok: a x 9\n1 ok: r x [9], a x 1\n2 ok: r x [9], a x 2", {"P4", "G2-item"}),
    "G-cursor": (
        "0 ok: a x 1\n1 ok: r x nil, a x 2\n2 ok: r x [1 2]",
        {"G-cursor", "G-single", "fractured-read"},
    ),
    "G-nonadjacent": (
        "1 ok: a x 1\n2 ok: a y 2\n3 ok: r x [1], r y nil\n4 ok: r x nil, r y [2]",
        {"G-nonadjacent"},
    ),
    "internal": ("0 ok: a x 1\n1 ok: a x 2\n2 ok: r x [1], r x [1 2]", {"internal", "G-single"}),
    "not-my-own-write": ("0 ok: a x 1\n1 ok: a x 2, r x [1]", {"internal", "not-my-own-write"}),
    "not-my-last-write": (
        "0 ok: a x 1, a x 2, r x [1]",
        {"internal", "not-my-last-write"},
    ),
    "incompatible-order": (
        "0 ok: a x 1\n1 ok: a x 2\n2 ok: r x [1 2]\n3 ok: r x [2]",
        {"incompatible-order"},
    ),
    "duplicate-elements": ("0 ok: a x 1\n1 ok: r x [1 1]", {"duplicate-elements"}),
    "thin-air-read": ("0 ok: a x 1\n1 ok: r x [1 7]", {"thin-air-read"}),
    "dirty-update": ("0 fail: a x 1\n1 ok: a x 2\n2 ok: r x [1 2]", {"G1a", "dirty-update"}),
    "future-read": ("0 ok: r x [1], a x 1", {"future-read"}),
    "G1c-process": ("0 ok: r x [1]\n0 ok: a x 1", {"G1c-process"}),
    "G-single-process": ("0 ok: a x 1\n0 ok: r x nil", {"G-single-process"}),
}


@pytest.mark.parametrize("writer", [edn, jepsen_json], ids=["edn", "json"])
@pytest.mark.parametrize("name", LISTS)
def test_lists(name: str, writer: object, tmp_path: Path) -> None:
    text, expected = LISTS[name]
    checked = check(writer(told(text), tmp_path, Workload.LISTS))  # type: ignore[operator]
    assert checked.workload is Workload.LISTS
    assert {one for one in labels(checked) if one not in BY_RULES} == expected - BY_RULES


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("r x nil", "G-single-realtime"),
        ("r x [1]", None),
    ],
)
def test_real_time(text: str, label: str | None, tmp_path: Path) -> None:
    """A read that begins after an append has ended has to show it."""
    first, second = told("0 ok: a x 1"), told(f"1 ok: {text}")
    path = tmp_path / "history.edn"
    path.write_text("".join(to_edn([*events(first), *events(second)], Workload.LISTS)))
    checked = check(path)
    assert labels(checked) == ({label} if label else set())
    standing = Standing.VIOLATED if label else Standing.HOLDS
    assert checked.models["strict-serializable"] is standing
    assert checked.models["strong-session-serializable"] is Standing.HOLDS


def test_a_real_time_chain_goes_through_others(tmp_path: Path) -> None:
    """T3 ended before T1 began, and T1 must come before T2 and T2 before T3: nobody overlaps both."""
    path = tmp_path / "history.edn"
    path.write_text(
        "{:type :invoke, :process 2, :value [[:r :x nil] [:append :y 1]]}\n"
        "{:type :invoke, :process 3, :value [[:r :y nil]]}\n"
        "{:type :ok, :process 3, :value [[:r :y [1]]]}\n"
        "{:type :invoke, :process 1, :value [[:append :x 1]]}\n"
        "{:type :ok, :process 1, :value [[:append :x 1]]}\n"
        "{:type :ok, :process 2, :value [[:r :x [1]] [:append :y 1]]}\n"
    )
    assert labels(check(path)) == {"G1c-realtime"}


# What AWDIT's own test histories say: the folder they lie in is the strongest level that holds.
AWDIT = {
    "non-repeatable read": ("0 ok: w x 8\n1 ok: w x 9\n2 ok: r x 8, r x 9", "session-read-committed"),
    "a part of another's writes": (
        "0 ok: w x 1, w y 1\n1 ok: w x 2, w y 2\n2 ok: w z 2\n3 ok: r x 1, r y 2, r z 2",
        "session-read-committed",
    ),
    "an older write of a session": (
        "0 ok: w x 1\n0 ok: w x 2\n1 ok: r x 2, w y 1\n2 ok: r x 1, r y 1",
        "read-atomic",
    ),
    "lost update": ("0 ok: w x 9\n1 ok: r x 9, w x 1\n2 ok: r x 9, w x 2", "causal"),
    "long fork": (
        "0 ok: w x 8, w y 8\n1 ok: w x 1\n1 ok: r x 1, r y 8\n2 ok: w y 1\n2 ok: r y 1, r x 8",
        "causal",
    ),
}


@pytest.mark.parametrize("name", AWDIT)
@pytest.mark.parametrize("format_name", ["awdit", "plume"])
def test_what_awdit_says(name: str, format_name: str, tmp_path: Path) -> None:
    text, strongest_level = AWDIT[name]
    checked = check(FORMATS[format_name](told(text), tmp_path))
    levels = ["session-read-committed", "read-atomic", "causal"]
    at = levels.index(strongest_level)
    for number, level in enumerate(levels):
        wanted = Standing.HOLDS if number <= at else Standing.VIOLATED
        assert checked.models[level] is wanted, level
        # Asked for one level alone, the answer is the same.
        alone = check(checked.path, model=find_model(level))
        assert alone.models[level] is wanted


def test_a_happens_before_cycle_is_not_even_read_committed_with_sessions(tmp_path: Path) -> None:
    checked = check(FORMATS["awdit"](told("0 ok: r x 1\n0 ok: w y 2\n1 ok: r y 2\n1 ok: w x 1"), tmp_path))
    assert checked.models["session-read-committed"] is Standing.VIOLATED
    assert checked.models["read-committed"] is Standing.HOLDS


def test_long_fork_violates_snapshot_isolation_and_not_consistent_view(tmp_path: Path) -> None:
    checked = check(edn(told(LISTS["G-nonadjacent"][0]), tmp_path, Workload.LISTS))
    assert checked.models["snapshot-isolation"] is Standing.VIOLATED
    assert checked.models["consistent-view"] is Standing.HOLDS
    assert [one.name for one in weakest(checked.models)] == ["repeatable-read", "snapshot-isolation"]


def test_snapshot_isolation_allows_write_skew(tmp_path: Path) -> None:
    checked = check(edn(told(LISTS["G2-item"][0]), tmp_path, Workload.LISTS))
    assert [one.name for one in strongest(checked.models)] == ["strong-snapshot-isolation"]


def test_what_a_register_history_cannot_tell_is_unknown(tmp_path: Path) -> None:
    """Two blind writes: nobody saw their order, but some serial order explains all reads."""
    text = "0 ok: w x 1\n1 ok: w x 2\n2 ok: r x 1\n3 ok: r x 2"
    checked = check(FORMATS["awdit"](told(text), tmp_path))
    assert checked.models["serializable"] is Standing.HOLDS  # a serial order was found
    assert checked.models["strict-serializable"] is Standing.UNKNOWN  # no times
    crossed = "0 ok: w x 1\n0 ok: r x 2\n1 ok: w x 2\n1 ok: r x 1"
    found = check(FORMATS["awdit"](told(crossed), tmp_path))
    assert found.models["serializable"] is Standing.HOLDS
    assert found.models["read-atomic"] is Standing.VIOLATED


def test_what_needs_a_solver_is_unknown(tmp_path: Path) -> None:
    """Whichever of two blind writes of z comes first, one of the two readers contradicts it: nobody's order
    of versions is inferred, so nothing is proved and nothing refuted."""
    text = (
        "0 ok: w z 1, w a 1\n1 ok: w z 2, w b 1\n2 ok: r z 1, w c 1\n3 ok: r z 2, w d 1\n"
        "4 ok: r a 1, r d 1, w e 1, r c nil\n5 ok: r b 1, r c 1, w f 1, r d nil\n"
        "6 ok: r z 1, r f 1\n7 ok: r z 2, r e 1"
    )
    checked = check(FORMATS["dbcop-hist"](told(text), tmp_path))
    assert checked.models["serializable"] is not Standing.HOLDS
    assert any("order of the versions" in gap for gap in checked.gaps)


def test_keys_that_are_taken_for_linearizable(tmp_path: Path) -> None:
    first, second, third = told("0 ok: w x 1"), told("1 ok: w x 2"), told("2 ok: r x 1")
    path = tmp_path / "history.edn"
    text = "".join(to_edn([*events(first), *events(second), *events(third)], Workload.REGISTERS))
    path.write_text(text)
    assert "cyclic-versions" in labels(check(path, assume=Assumption.LINEARIZABLE))
    assert "cyclic-versions" not in labels(check(path))


def test_keys_that_are_taken_for_sequential(tmp_path: Path) -> None:
    text = "0 ok: w x 1\n0 ok: w x 2\n0 ok: w y 1\n1 ok: r y 1, r x 1"
    path = edn(told(text), tmp_path)
    checked = check(path, assume=Assumption.SEQUENTIAL)
    assert "G-single-process" in labels(checked)


def test_the_witness_in_words_and_as_data(tmp_path: Path) -> None:
    checked = check(edn(told(LISTS["G-single"][0]), tmp_path, Workload.LISTS))
    text = print_checked(checked, None)
    assert "G-single, read skew" in text
    assert "T2 (line 5) read y before T1 (line 4)'s append of 1" in text
    assert "T2 appended 2 to x after T1's 1" in text
    assert "strongest that hold: cursor-stability" in text
    data = checked_to_json(checked, find_model("serializable"))
    assert data["format"] == "acidtest-check/1"
    assert data["verdict"] == "violated"
    cycle = data["anomalies"][0]["cycle"]
    assert [step["relation"] for step in cycle] == ["rw", "ww"]
    assert cycle[0]["source"] == {"transaction": 2, "session": 1, "line": 5}
