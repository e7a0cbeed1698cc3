"""What a condition did not find: between which versions the rows that it missed must have stood.

A statement over one table returned some rows. Of every other row it saw a version that does not meet its
condition, and our evaluator says which of the known versions do. Most of the time this leaves one stretch of
versions, and so it is known exactly who came before the statement and who after it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from acidtest.instrument.shown import Shown
from acidtest.model import Record, Row
from acidtest.model.trace import (
    INITIAL_WRITER,
    ObjectId,
    Operation,
    PredicateRead,
    Purpose,
    Read,
    TraceVersion,
)
from acidtest.sql.shape import Patience, Shape, Verb

Order = Mapping[ObjectId, tuple[TraceVersion, ...]]
Meets = Callable[[Record, Shape, Sequence[Row]], Sequence[bool] | None]


@dataclass(frozen=True, slots=True)
class Look:
    """A statement, the objects that it found, and what looks at whole tables beside it showed."""

    transaction: int
    record: Record
    shape: Shape
    found: Mapping[ObjectId, TraceVersion]
    sets: tuple[Shown, ...]


def predicate_reads(
    look: Look,
    order: Order,
    versions: Mapping[tuple[ObjectId, int], TraceVersion],
    places: Mapping[int, int],
    unclear: set[str],
    meets: Meets,
    gaps: list[str],
) -> Iterator[Operation]:
    """What a statement says of the rows that it did not find."""
    shape = look.shape
    for shown in look.sets:
        yield from _of_version_set(look, shown, order, versions)
    hidden = set(shape.reads) - {one.table for one in look.sets}
    if not shape.plain or shape.target is None:
        if hidden - {shape.target}:
            gaps.append("which versions a statement over several tables looked at")
        return
    if shape.verb is Verb.INSERT or shape.target in unclear:
        return
    if shape.patience in (Patience.SKIP, Patience.MIXED):
        return  # what it did not return, others may just have locked
    met = _meeting(look, order, meets)
    if met is None:
        gaps.append("which versions meet a condition")
        return
    yield from _of_condition(look, order, places, met)


def _meeting(look: Look, order: Order, meets: Meets) -> frozenset[TraceVersion] | None:
    rows = [
        one
        for name, all_of_it in order.items()
        if name.table == look.shape.target
        for one in all_of_it
        if one.values is not None
    ]
    told = meets(look.record, look.shape, [one.values for one in rows if one.values is not None])
    if told is None:
        return None
    return frozenset(one for one, yes in zip(rows, told, strict=True) if yes)


def _of_condition(
    look: Look, order: Order, places: Mapping[int, int], met: frozenset[TraceVersion]
) -> Iterator[PredicateRead]:
    assert look.shape.target is not None
    seen: dict[ObjectId, TraceVersion] = {}
    made: list[TraceVersion] = []
    changed: list[TraceVersion] = []
    doubtful: list[ObjectId] = []
    for name, chain in order.items():
        if name.table != look.shape.target or name in look.found:
            continue
        stretches = _stretches(chain, met, look, places)
        if len(stretches) != 1:
            doubtful.append(name)
            continue
        first, last = stretches[0]
        if last >= 0:
            seen[name] = chain[last]
        if first > 0 and not _is_intermediate(chain, first) and chain[first].writer != look.transaction:
            made.append(chain[first])
        changed += _coming(chain, last, met, look.transaction)
    yield PredicateRead(
        look.record.step,
        look.shape.target,
        look.record.sql,
        frozenset(look.found),
        {**seen, **look.found},
        tuple(made),
        tuple(changed),
        exact=not doubtful,
        purpose=Purpose.ANSWER if look.shape.verb is Verb.READ else Purpose.CHOICE,
        meets=met,
    )


def _stretches(
    chain: Sequence[TraceVersion],
    met: frozenset[TraceVersion],
    look: Look,
    places: Mapping[int, int],
) -> list[tuple[int, int]]:
    """Stretches of versions that do not meet the condition and were there by then, -1 being no version yet.

    A transaction sees at least what it wrote itself."""
    now = places[look.record.step]
    there = [
        place
        for place, one in enumerate(chain)
        if one.step is None or (one.step != look.record.step and places[one.step] < now)
    ]
    own = [place for place in there if chain[place].writer == look.transaction]
    start = -1 if chain[0].writer != INITIAL_WRITER else 0
    found: list[tuple[int, int]] = []
    for place in range(start, (there[-1] if there else -1) + 1):
        if place >= 0 and chain[place] in met:
            continue
        if found and found[-1][1] == place - 1:
            found[-1] = (found[-1][0], place)
        else:
            found.append((place, place))
    return [one for one in found if not own or one[1] >= own[-1]] or found


def _is_intermediate(chain: Sequence[TraceVersion], place: int) -> bool:
    """Whether its writer has replaced it itself: what a transaction did in between counts for nobody."""
    return any(one.writer == chain[place].writer for one in chain[place + 1 :])


def _coming(
    chain: Sequence[TraceVersion], last: int, met: frozenset[TraceVersion], own: int
) -> Iterator[TraceVersion]:
    """The first later version that meets the condition, if another transaction left it so."""
    for place in range(last + 1, len(chain)):
        one = chain[place]
        if one in met and one.writer not in (INITIAL_WRITER, own) and not _is_intermediate(chain, place):
            yield one
            return


def _of_version_set(
    look: Look,
    shown: Shown,
    order: Order,
    versions: Mapping[tuple[ObjectId, int], TraceVersion],
) -> Iterator[Operation]:
    """Everything that a statement may have used of a table; which of it, is not known."""
    purpose = Purpose.ANSWER if look.shape.verb is Verb.READ else Purpose.VALUE
    seen = {name: versions[name, number] for name, number in shown.versions if (name, number) in versions}
    others = {name: one for name, one in seen.items() if one.step != look.record.step}
    for version in others.values():
        yield Read(look.record.step, version, exact=False, purpose=purpose)
    later = [
        chain[0]
        for name, chain in order.items()
        if name.table == shown.table
        and name not in seen
        and chain[0].writer not in (INITIAL_WRITER, look.transaction)
    ]
    yield PredicateRead(
        look.record.step,
        shown.table,
        look.record.sql,
        frozenset(others),
        others,
        changed_by=tuple(later),
        exact=False,
        purpose=purpose,
    )
