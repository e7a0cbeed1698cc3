"""Probes of a run: to which statement each belongs, and whether something came between the two."""

from collections.abc import Mapping
from dataclasses import dataclass

from acidtest.instrument.columns import PROBE, PROBE_BEFORE, is_probe
from acidtest.model import EventKind, History, Record, Rows


@dataclass(frozen=True, slots=True)
class Probes:
    """Probes of a run by the step that they belong to. `torn`: another session did something in between."""

    before: Mapping[int, Record]
    after: Mapping[int, tuple[Record, ...]]
    torn: frozenset[int]
    count: int


def probes_of(history: History) -> Probes:
    """Find the probes; what a session answered only after a wait may be torn from what it belongs to."""
    before: dict[int, Record] = {}
    after: dict[int, list[Record]] = {}
    main: dict[str, Record] = {}
    waiting: dict[str, Record] = {}
    count = 0
    torn: set[int] = set()
    completed = _completions(history)
    for record in history.records:
        count += is_probe(record.sql)
        if PROBE_BEFORE in record.sql:
            waiting[record.session] = record
        elif PROBE in record.sql:
            if record.session in main and isinstance(record.outcome, Rows):
                after.setdefault(main[record.session].step, []).append(record)
                if _is_torn(completed, main[record.session], record):
                    torn.add(record.step)
        else:
            main[record.session] = record
            probe = waiting.pop(record.session, None)
            if probe is not None and isinstance(probe.outcome, Rows):
                before[record.step] = probe
                if _is_torn(completed, probe, record):
                    torn.add(probe.step)
    return Probes(before, {step: tuple(all_) for step, all_ in after.items()}, frozenset(torn), count)


def _completions(history: History) -> list[tuple[str, int]]:
    return [(one.session, one.step) for one in history.events if one.kind is EventKind.COMPLETED]


def _is_torn(completed: list[tuple[str, int]], first: Record, second: Record) -> bool:
    """Whether another session completed something between the two."""
    steps = [step for _, step in completed]
    if first.step not in steps or second.step not in steps:
        return True
    return any(
        session != first.session
        for session, _ in completed[steps.index(first.step) + 1 : steps.index(second.step)]
    )
