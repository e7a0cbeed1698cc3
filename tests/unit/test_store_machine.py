"""A campaign's store under a state machine: whatever happens in whatever order, and a kill at any statement.

A kill -9 leaves what the files hold at that moment. So they are copied just then, and the copy is resumed.
"""

import os
import shutil
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from acidtest.campaign.plan import Chunk, Queue, Settings, cells_of
from acidtest.campaign.statistics import Statistics
from acidtest.campaign.store import FINDINGS, Listed, Store, Violation
from acidtest.report.folder import DATA

TARGETS = ("simulated", "sqlite")
REASONS = ("foreign keys", "SET")

MEMORY = Path("/dev/shm")
"""Where nothing waits for a disk."""

KILLS = st.sampled_from([*[None] * 12, *range(7)])
"""Before which SQL statement of an operation the kill comes; one that has fewer is killed when it is over."""


@dataclass
class Model:
    """What the store should hold."""

    positions: dict[tuple[str, str, int], int] = field(default_factory=dict)
    cases: int = 0
    judged: int = 0
    undecided: Counter[str] = field(default_factory=Counter)
    violations: dict[str, Violation] = field(default_factory=dict)
    findings: list[Listed] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    elapsed_s: float = 0.0


def key(chunk: Chunk) -> tuple[str, str, int]:
    return chunk.cell.target, chunk.cell.level, chunk.number


def held(store: Store) -> Model:
    """What the store does hold."""
    statistics = store.statistics()
    return Model(
        positions={key(chunk): chunk.position for chunk in store.chunks()},
        cases=statistics.cases,
        judged=statistics.judged,
        undecided=statistics.undecided,
        violations={one.case: one for one in store.violations()},
        findings=[
            Listed(number, target, folder.name.partition("-")[2], 0.0, folder.name)
            for number, target, folder in store.findings()
        ],
        versions=store.versions(),
        elapsed_s=store.elapsed_s(),
    )


class StoreMachine(RuleBasedStateMachine):
    """A coordinator that does what any may do, in any order, and is killed at any moment."""

    def __init__(self) -> None:
        super().__init__()
        self._root = TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None)
        self._lives = 0
        self._model = Model()
        self._handed_out: list[Chunk] = []

    @initialize(limit=st.integers(1, 900))
    def create(self, limit: int) -> None:
        self._settings = Settings(TARGETS, ("SER",), (), "simple", 7, cases=limit)
        self._store = Store.create(self._place(), self._settings)
        self._queue = Queue(cells_of(self._settings), limit)

    # -- what a coordinator does

    @rule(kill=KILLS, spec=st.sampled_from(TARGETS))
    def a_server_says_its_version(self, kill: int | None, spec: str) -> None:
        version = f"{len(self._model.versions)}.0"

        def change(model: Model) -> None:
            model.versions[spec] = version

        self._do(lambda store: store.opened(spec, version), change, kill)

    @rule(kill=KILLS, spec=st.sampled_from(TARGETS))
    def a_chunk_is_handed_out(self, kill: int | None, spec: str) -> None:
        chunk = self._queue.next([spec])
        if chunk is None:
            return

        def change(model: Model) -> None:
            model.positions.setdefault(key(chunk), 0)

        if self._do(lambda store: store.began(chunk), change, kill):
            self._handed_out.append(chunk)

    @rule(kill=KILLS, data=st.data())
    def cases_are_examined(self, kill: int | None, data: st.DataObject) -> None:
        if (chunk := self._chunk(data)) is None:
            return
        number = data.draw(st.integers(0, chunk.size - chunk.position))
        undecided = data.draw(st.integers(0, number))
        reason = data.draw(st.sampled_from(REASONS))
        position = chunk.position + number
        counted = Statistics(
            cases=number,
            judged=number - undecided,
            undecided=Counter({reason: undecided} if undecided else {}),
        )
        elapsed_s = self._model.elapsed_s + 1.0

        def change(model: Model) -> None:
            model.positions[key(chunk)] = position
            model.cases += counted.cases
            model.judged += counted.judged
            model.undecided.update(counted.undecided)
            model.elapsed_s = elapsed_s

        if self._do(lambda store: store.advanced(chunk, position, counted, elapsed_s), change, kill):
            self._handed_out.remove(chunk)
            if position < chunk.size:
                self._handed_out.append(replace(chunk, position=position))

    @rule(kill=KILLS, data=st.data(), became=st.sampled_from(["duplicate", "unreduced"]))
    def a_case_breaks_a_promise(self, kill: int | None, data: st.DataObject, became: str) -> None:
        """The same case again after a kill, which came before its position was stored."""
        if (violation := self._violation(data, became)) is None:
            return

        def change(model: Model) -> None:
            model.violations[violation.case] = violation

        self._do(lambda store: store.violated(violation, 1.0), change, kill)

    @rule(kill=KILLS, data=st.data())
    def a_finding_is_listed(self, kill: int | None, data: st.DataObject) -> None:
        if (violation := self._violation(data, "finding")) is None:
            return
        number = self._store.next_number()
        listed = Listed(number, violation.target, f"{number:08x}", 0.0, f"{number:03d}-{number:08x}")
        self._write_folder(listed.folder)

        def change(model: Model) -> None:
            model.violations[violation.case] = violation
            model.findings.append(listed)

        self._do(lambda store: store.violated(violation, 1.0, listed), change, kill)

    @rule(kill=KILLS)
    def a_session_ends(self, kill: int | None) -> None:
        elapsed_s = self._model.elapsed_s + 1.0

        def change(model: Model) -> None:
            model.elapsed_s = elapsed_s

        self._do(lambda store: store.ended(elapsed_s), change, kill)

    @rule()
    def it_is_killed_before_a_finding_is_listed(self) -> None:
        self._write_folder(f"{self._store.next_number():03d}-unlisted")
        self._resume(self._copy())

    @rule()
    def it_is_closed_and_resumed(self) -> None:
        self._resume(self._store.folder)

    # -- what always holds

    @invariant()
    def nothing_is_lost_and_nothing_counted_twice(self) -> None:
        assert held(self._store) == self._model

    @invariant()
    def positions_and_counts_agree(self) -> None:
        chunks, statistics = self._store.chunks(), self._store.statistics()
        assert sum(chunk.position for chunk in chunks) == statistics.cases
        assert statistics.judged + sum(statistics.undecided.values()) == statistics.cases
        assert statistics.cases <= (self._settings.cases or 0)

    @invariant()
    def every_listed_finding_has_its_folder(self) -> None:
        numbers = [number for number, _, _ in self._store.findings()]
        assert numbers == list(range(1, len(numbers) + 1))
        assert {folder.name for _, _, folder in self._store.findings()} == self._folders()

    def teardown(self) -> None:
        """Killed once more and left alone, the campaign examines every case that is left, and no other."""
        if self._lives:
            self._resume(self._copy())
            while chunk := self._queue.next(TARGETS):
                self._store.began(chunk)
                rest = chunk.size - chunk.position
                self._store.advanced(chunk, chunk.size, Statistics(cases=rest, judged=rest), 1.0)
            assert self._store.statistics().cases == self._settings.cases
            assert sum(chunk.position for chunk in self._store.chunks()) == self._settings.cases
            self._store.close()
        self._root.cleanup()

    # -- how it is done

    def _do(
        self, operation: Callable[[Store], None], change: Callable[[Model], None], kill: int | None
    ) -> bool:
        """An operation and what it should change; killed before its statement of that number, if any.
        Whether the coordinator lives on."""
        before = deepcopy(self._model)
        change(self._model)
        if kill is None:
            operation(self._store)
            return True
        copies: list[Path] = []
        statements = 0

        def count(_sql: str) -> None:
            nonlocal statements
            if statements == kill:
                copies.append(self._copy())
            statements += 1

        self._store._database.set_trace_callback(count)
        operation(self._store)
        self._store._database.set_trace_callback(None)
        assert statements, "the operation was traced"
        if copies:
            self._model = before  # the kill came before the COMMIT was made
        self._resume(copies[0] if copies else self._copy())
        return False

    def _chunk(self, data: st.DataObject) -> Chunk | None:
        """One that a worker has, or the next one; None if all are done."""
        if not self._handed_out:
            chunk = self._queue.next(TARGETS)
            if chunk is None:
                return None
            self._store.began(chunk)
            self._model.positions.setdefault(key(chunk), 0)
            self._handed_out.append(chunk)
        return data.draw(st.sampled_from(self._handed_out))

    def _violation(self, data: st.DataObject, became: str) -> Violation | None:
        """Of the next case of a chunk, or the one after."""
        if (chunk := self._chunk(data)) is None:
            return None
        at = data.draw(st.integers(chunk.position, min(chunk.position + 1, chunk.size - 1)))
        return Violation(f"{chunk.name}-{at}", chunk.cell.target, "wrong rows", became)

    def _write_folder(self, name: str) -> None:
        folder = self._store.folder / FINDINGS / name
        folder.mkdir()
        (folder / DATA).write_text("{}")

    def _folders(self) -> set[str]:
        return {one.name for one in (self._store.folder / FINDINGS).iterdir()}

    def _place(self) -> Path:
        self._lives += 1
        return Path(self._root.name) / str(self._lives)

    def _copy(self) -> Path:
        """What a kill leaves."""
        place = self._place()
        shutil.copytree(self._store.folder, place)
        return place

    def _resume(self, place: Path) -> None:
        self._store.close()
        self._store = Store.resume(place)
        self._store.sweep()
        self._handed_out.clear()
        self._queue = Queue(cells_of(self._settings), self._settings.cases, self._store.chunks())


def test_the_store_survives_whatever_happens_in_whatever_order() -> None:
    run_state_machine_as_test(
        StoreMachine, settings=settings(max_examples=60, stateful_step_count=30, deadline=None)
    )
