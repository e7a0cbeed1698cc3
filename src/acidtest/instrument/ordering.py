"""In which order the versions of a row were installed: each says which one it replaced."""

from collections.abc import Mapping
from dataclasses import dataclass

from acidtest.instrument.transactions import Transactions
from acidtest.model.trace import INITIAL_WRITER, Fate, ObjectId, TraceVersion


@dataclass(frozen=True, slots=True)
class Installed:
    """The committed versions of each object in their order, and what is not sure about it."""

    installed: Mapping[ObjectId, tuple[TraceVersion, ...]]
    doubts: tuple[str, ...]


Numbered = tuple[ObjectId, int]


def in_order(
    versions: Mapping[Numbered, TraceVersion],
    replaced: Mapping[Numbered, int | None],
    tombstones: Mapping[ObjectId, list[tuple[TraceVersion, int]]],
    found: Transactions,
    at_commit: bool,
) -> Installed:
    """The order in which writes took effect, or commits where the DBMS decides then.

    What each version says of its predecessor must fit; where it does not, the order is in doubt.
    """
    chains: dict[ObjectId, list[tuple[TraceVersion, int | None, int | None]]] = {}
    for (name, number), version in versions.items():
        chains.setdefault(name, []).append((version, number, replaced.get((name, number))))
    for name, gone in tombstones.items():
        chains.setdefault(name, []).extend((one, None, number) for one, number in gone)
    installed: dict[ObjectId, tuple[TraceVersion, ...]] = {}
    doubts: list[str] = []
    for name, all_of_it in chains.items():
        kept = [one for one in all_of_it if _is_installed(one[0], found)]
        kept.sort(key=lambda one: _effect(one[0], found, at_commit))
        aborted = {number: before for _, number, before in all_of_it if number is not None}
        known = {number for _, number, _ in kept}
        if not _fits(kept, aborted, known):
            doubts.append("a version that did not replace the one before it")
        if kept:
            installed[name] = tuple(one for one, _, _ in kept)
    return Installed(installed, tuple(dict.fromkeys(doubts)))


def _is_installed(version: TraceVersion, found: Transactions) -> bool:
    if version.writer == INITIAL_WRITER:
        return True
    writer = found.all[version.writer - 1]
    return writer.fate is Fate.COMMITTED and version.step not in writer.undone


def _effect(version: TraceVersion, found: Transactions, at_commit: bool) -> tuple[int, int]:
    if version.writer == INITIAL_WRITER or version.step is None:
        return (-1, -1)
    own = found.places[version.step]
    ended = found.all[version.writer - 1].ended_at
    return (ended if at_commit and ended is not None else own, own)


def _fits(
    chain: list[tuple[TraceVersion, int | None, int | None]],
    before: Mapping[int, int | None],
    known: set[int | None],
) -> bool:
    """Whether every version replaced the one before it. What was rolled back in between does not count, and
    one that names itself was written by a statement that assigns in an order of its own."""
    last: int | None = None
    for _, number, claimed in chain:
        while claimed is not None and claimed not in known and claimed in before:
            claimed = before[claimed]  # noqa: PLW2901
        if claimed is not None and claimed not in (number, last):
            return False
        last = number
    return True
