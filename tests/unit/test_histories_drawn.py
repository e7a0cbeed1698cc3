"""Drawn histories: of simulated databases, changed ones, and arbitrary ones against the definitions."""

from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from acidtest.histories import Checked, Options, Standing, check_file, find_model
from acidtest.histories.columns import READ, WRITE, Workload
from acidtest.histories.generate import HappenedEvent, Isolation, Shape, simulate
from acidtest.histories.models import IMPLIED
from acidtest.histories.writing import to_edn, to_plume
from tests.unit.foreign_histories import Told, awdit, check, labels

SMALL = Shape(80, sessions=5, keys=4, writes=12, abort_share=0.05, unknown_share=0.05)
SEEDS = st.integers(0, 10**9)
QUICK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def _checked(lines: Iterator[str], name: str) -> Checked:
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text("".join(lines))
        return check(path)


def _edn(events: list[HappenedEvent] | Iterator[HappenedEvent], workload: Workload) -> Checked:
    return _checked(to_edn(events, workload), "history.edn")


# -- simulated databases


@given(SEEDS)
@QUICK
def test_a_serializable_database_shows_nothing(seed: int) -> None:
    lists = _edn(simulate(Isolation.SERIALIZABLE, Workload.LISTS, SMALL, seed), Workload.LISTS)
    assert labels(lists) == set()
    assert lists.models["strict-serializable"] is Standing.HOLDS
    events = list(simulate(Isolation.SERIALIZABLE, Workload.REGISTERS, SMALL, seed))
    registers = _edn(events, Workload.REGISTERS)
    assert labels(registers) == set()
    assert registers.models["causal"] is Standing.HOLDS
    plume = _checked(to_plume(events), "history.txt")
    assert labels(plume) == set()
    assert plume.models["causal"] is Standing.HOLDS


@given(SEEDS)
@QUICK
def test_a_snapshot_database_shows_write_skew_at_most(seed: int) -> None:
    lists = _edn(simulate(Isolation.SNAPSHOT, Workload.LISTS, SMALL, seed), Workload.LISTS)
    assert labels(lists) <= {"G2-item", "G2-item-process", "G2-item-realtime"}
    assert lists.models["strong-snapshot-isolation"] is Standing.HOLDS
    registers = _edn(simulate(Isolation.SNAPSHOT, Workload.REGISTERS, SMALL, seed), Workload.REGISTERS)
    assert labels(registers) <= {"G2-item", "G2-item-process", "G2-item-realtime"}
    assert registers.models["causal"] is Standing.HOLDS


@given(SEEDS)
@QUICK
def test_a_read_committed_database_keeps_read_committed(seed: int) -> None:
    for workload in Workload:
        checked = _edn(simulate(Isolation.READ_COMMITTED, workload, SMALL, seed), workload)
        assert checked.models["strong-read-committed"] is Standing.HOLDS
        assert checked.models["session-read-committed"] is Standing.HOLDS


def test_the_weaker_databases_do_show_their_anomalies() -> None:
    shape = Shape(600, sessions=8, keys=10)
    snapshot = _edn(simulate(Isolation.SNAPSHOT, Workload.LISTS, shape, 1), Workload.LISTS)
    assert "G2-item" in labels(snapshot)
    committed = _edn(simulate(Isolation.READ_COMMITTED, Workload.LISTS, shape, 1), Workload.LISTS)
    assert {"P4", "G-single", "G-cursor", "internal"} <= labels(committed)


# -- one change that makes an anomaly


def _lists(seed: int) -> list[HappenedEvent]:
    shape = Shape(60, sessions=4, keys=3, writes=15, abort_share=0, unknown_share=0)
    return list(simulate(Isolation.SERIALIZABLE, Workload.LISTS, shape, seed))


def _reads(events: list[HappenedEvent], longest: bool = False) -> list[list[Any]]:
    """Reads of others' appends; the longest of each key, if asked for."""
    found = []
    for event in events:
        own = {one[1] for one in event.operations if one[0] == WRITE}
        found += [
            one
            for one in event.operations
            if event.kind == "ok" and one[0] == READ and one[2] and one[1] not in own
        ]
    if longest:
        best: dict[Any, list[Any]] = {}
        for one in found:
            if len(one[2]) > len(best.get(one[1], [0, 0, []])[2]):
                best[one[1]] = one
        return list(best.values())
    return found


@given(SEEDS, st.data())
@QUICK
def test_every_change_is_found(seed: int, data: st.DataObject) -> None:
    events = _lists(seed)
    reads = _reads(events)
    assume(reads)
    read = data.draw(st.sampled_from(reads))
    change = data.draw(st.sampled_from(["thin air", "twice", "aborted", "stale", "torn"]))
    match change:
        case "thin air":
            read[2] = [*read[2], 10**9]
            wanted = {"thin-air-read", "incompatible-order"}
        case "twice":
            read[2] = [*read[2], read[2][0]]
            wanted = {"duplicate-elements", "incompatible-order"}
        case "aborted":
            events = _aborted(events, read[1], read[2][-1])
            wanted = {"G1a"}
        case "stale":
            reader = next(event for event in events if any(one is read for one in event.operations))
            reader.operations.append([READ, read[1], read[2][:-1] or None])
            wanted = {"internal"}
        case _:
            longer = [
                one for one in reads if len(one[2]) > len(read[2]) and one[1] == read[1] and len(read[2]) > 1
            ]
            assume(longer)
            read[2] = read[2][::-1]
            wanted = {"incompatible-order"}
    assert labels(_edn(events, Workload.LISTS)) & wanted


def _aborted(events: list[HappenedEvent], key: int, value: int) -> list[HappenedEvent]:
    """The same, but the append of this value failed."""
    return [
        HappenedEvent("fail", event.process, event.operations)
        if event.kind == "ok" and [WRITE, key, value] in event.operations
        else event
        for event in events
    ]


# -- arbitrary histories of registers, against the definitions (Biswas and Enea, section 2)


@st.composite
def arbitrary(draw: st.DrawFn) -> list[Told]:
    """Up to five transactions in up to three sessions, whose reads show any value that is ever written."""
    count = draw(st.integers(2, 5))
    keys = "xy"
    values = dict.fromkeys(keys, 0)
    plan: list[list[tuple[int, str]]] = []
    for _ in range(count):
        plan.append(
            draw(
                st.lists(
                    st.tuples(st.sampled_from([READ, WRITE]), st.sampled_from(keys)), min_size=1, max_size=3
                )
            )
        )
    transactions = [Told(9, "ok", [[WRITE, key, 100] for key in keys])]
    written: dict[str, list[int]] = {key: [100] for key in keys}
    for operations in plan:
        for kind, key in operations:
            if kind == WRITE:
                values[key] += 1
                written[key].append(values[key])
    counters = dict.fromkeys(keys, 0)
    for operations in plan:
        done: list[list[Any]] = []
        own: dict[str, int] = {}
        for kind, key in operations:
            if kind == WRITE:
                counters[key] += 1
                own[key] = counters[key]
                done.append([WRITE, key, counters[key]])
            else:
                value = own[key] if key in own else draw(st.sampled_from(written[key]))
                done.append([READ, key, value])
        transactions.append(Told(draw(st.integers(0, 2)), "ok", done))
    return transactions


class Definitions:
    """What the definitions say of a small history, by trying every order of its transactions."""

    def __init__(self, transactions: list[Told]) -> None:
        self.all = transactions
        self.writers = {
            (key, value): number
            for number, one in enumerate(transactions)
            for kind, key, value in one.operations
            if kind == WRITE
        }
        self.finals = [
            {key: value for kind, key, value in one.operations if kind == WRITE} for one in transactions
        ]
        self.reads = [list(self._reads(number)) for number in range(len(transactions))]
        self.sessions = {
            (one, two)
            for one in range(len(transactions))
            for two in range(one + 1, len(transactions))
            if transactions[one].session == transactions[two].session
        }
        self.flow = {(writer, number) for number, reads in enumerate(self.reads) for _, writer in reads}

    def _reads(self, number: int) -> Iterator[tuple[str, int]]:
        own: set[str] = set()
        for kind, key, value in self.all[number].operations:
            if kind == WRITE:
                own.add(key)
            elif key not in own:
                yield key, self.writers[key, value]

    def is_sound(self) -> bool:
        """No read of a version that its writer replaced, or of an own later write."""
        for number, reads in enumerate(self.reads):
            if any(writer == number for _, writer in reads):
                return False
            for kind, key, value in self.all[number].operations:
                writer = self.writers[key, value]
                if kind == READ and writer != number and self.finals[writer][key] != value:
                    return False
        return True

    def repeats(self) -> bool:
        """Whether every transaction reads the same version of a key each time."""
        return all(len({key for key, _ in reads}) == len(set(reads)) for reads in self.reads)

    def serial(self, sessions: bool) -> bool:
        for order in permutations(range(len(self.all))):
            if sessions and not self._keeps(order, self.sessions):
                continue
            last: dict[str, int] = {}
            for number in order:
                if any(last.get(key) != writer for key, writer in self.reads[number]):
                    break
                last.update(dict.fromkeys(self.finals[number], number))
            else:
                return True
        return False

    def conforms(self, level: str) -> bool:
        """Whether some order of commits keeps sessions, reads, and the level's axiom."""
        before = self._happens_before()
        for order in permutations(range(len(self.all))):
            if not self._keeps(order, self.sessions | self.flow):
                continue
            place = {number: at for at, number in enumerate(order)}
            if all(self._axiom(level, reader, place, before) for reader in range(len(self.all))):
                return True
        return False

    def _axiom(self, level: str, reader: int, place: dict[int, int], before: set[tuple[int, int]]) -> bool:
        reads = self.reads[reader]
        for at, (key, writer) in enumerate(reads):
            for other in range(len(self.all)):
                if other in (writer, reader) or key not in self.finals[other] or place[other] < place[writer]:
                    continue
                seen = {
                    "session-read-committed": any(each == other for _, each in reads[:at]),
                    "read-atomic": (other, reader) in self.sessions | self.flow,
                    "causal": (other, reader) in before,
                }[level]
                if seen:
                    return False
        return True

    def _happens_before(self) -> set[tuple[int, int]]:
        found = set(self.sessions | self.flow)
        while True:
            more = {(one, four) for one, two in found for three, four in found if two == three} - found
            if not more:
                return found
            found |= more

    @staticmethod
    def _keeps(order: tuple[int, ...], pairs: set[tuple[int, int]]) -> bool:
        place = {number: at for at, number in enumerate(order)}
        return all(place[one] < place[two] for one, two in pairs)


@given(arbitrary())
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_arbitrary_registers_are_judged_as_defined(transactions: list[Told]) -> None:
    definitions = Definitions(transactions)
    assume(definitions.is_sound())
    with TemporaryDirectory() as folder:
        checked = check(awdit(transactions, Path(folder)))
    for level in ("session-read-committed", "read-atomic", "causal"):
        wanted = definitions.conforms(level)
        if level != "session-read-committed":
            wanted = wanted and definitions.repeats()
        assert checked.models[level] is (Standing.HOLDS if wanted else Standing.VIOLATED), level
    for level, sessions in (("serializable", False), ("strong-session-serializable", True)):
        found = checked.models[level]
        if found is not Standing.UNKNOWN:
            assert found is (Standing.HOLDS if definitions.serial(sessions) else Standing.VIOLATED), level


@given(arbitrary())
@QUICK
def test_a_model_that_holds_implies_the_weaker_ones(transactions: list[Told]) -> None:
    with TemporaryDirectory() as folder:
        checked = check(awdit(transactions, Path(folder)))
    for name, standing in checked.models.items():
        weaker = {checked.models[one] for one in IMPLIED[name]}
        if standing is Standing.HOLDS:
            assert weaker == {Standing.HOLDS}
        elif standing is Standing.UNKNOWN:
            assert Standing.VIOLATED not in weaker


# -- the two paths


SHAPES = st.builds(
    Shape,
    transactions=st.integers(1, 120),
    sessions=st.integers(1, 6),
    keys=st.integers(1, 6),
    writes=st.integers(1, 12),
    abort_share=st.sampled_from([0.0, 0.1]),
    unknown_share=st.sampled_from([0.0, 0.05]),
)


@given(SHAPES, SEEDS, st.sampled_from(Isolation), st.data())
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_arrays_and_the_plain_path_agree(
    shape: Shape, seed: int, isolation: Isolation, data: st.DataObject
) -> None:
    lists = list(simulate(isolation, Workload.LISTS, shape, seed))
    reads = _reads(lists)
    changes: bool = data.draw(st.booleans())
    if reads and changes:
        read = data.draw(st.sampled_from(reads))
        read[2] = data.draw(st.permutations(read[2]))[: data.draw(st.integers(0, len(read[2])))] or None
    registers = list(simulate(isolation, Workload.REGISTERS, shape, seed))
    with TemporaryDirectory() as folder:
        edn, plume = Path(folder) / "h.edn", Path(folder) / "h.txt"
        edn.write_text("".join(to_edn(lists, Workload.LISTS)))
        plume.write_text("".join(to_plume(registers)))
        assert _both(edn, None)
        if plume.stat().st_size:
            for model in ("read-committed", "strong-session-read-committed", "read-atomic"):
                assert _both(plume, model)
            # Too careful at this level: it may step aside, and then the plain path answers.
            assert _both(plume, "session-read-committed")


def _both(path: Path, name: str | None) -> bool:
    model = None if name is None else find_model(name)
    return check(path, model=model) == check(path, model=model, fast=False)


def test_the_arrays_are_used_where_nothing_is_wrong(tmp_path: Path) -> None:
    shape = Shape(300, unknown_share=0)
    said: list[str] = []
    edn, plume = tmp_path / "h.edn", tmp_path / "h.txt"
    edn.write_text(
        "".join(to_edn(simulate(Isolation.SERIALIZABLE, Workload.LISTS, shape, 1), Workload.LISTS))
    )
    plume.write_text("".join(to_plume(simulate(Isolation.SERIALIZABLE, Workload.REGISTERS, shape, 1))))
    assert check_file(edn, Options(), said.append).models["strict-serializable"] is Standing.HOLDS
    assert said[-1] == "looking for cycles, by arrays"
    assert (
        check_file(plume, Options(find_model("read-atomic")), said.append).models["read-atomic"]
        is Standing.HOLDS
    )
    assert said[-1] == "tracing reads, by arrays"
