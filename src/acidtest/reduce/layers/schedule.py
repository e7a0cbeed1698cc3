"""Layer 5: fewer switches between sessions. The order of statements matters more than anything else to what
a case shows, so this layer goes by the stricter check."""

from collections.abc import Iterator
from itertools import groupby

from acidtest.reduce.layers.statements import frames
from acidtest.reduce.operations import Operation
from acidtest.reduce.script import Draft, Edit, Script


def _turns(script: Script) -> list[list[int]]:
    """The schedule as turns: places in a row of one session."""
    return [list(own) for _, own in groupby(script.schedule_places, script.session)]


def _joined_turns(script: Script) -> Iterator[Edit]:
    """A turn moved to the next or to the last one of its session."""
    turns = _turns(script)
    for position, turn in enumerate(turns):
        session = script.session(turn[0])
        for later in range(position + 1, len(turns)):
            if script.session(turns[later][0]) == session:
                between = turns[position + 1 : later]
                rest = [turns[:position], turns[later + 1 :]]
                yield _reorder(_flat([*rest[0], *between, turn, turns[later], *rest[1]]))
                yield _reorder(_flat([*rest[0], turn, turns[later], *between, *rest[1]]))
                break


def _turns_between(script: Script) -> Iterator[Edit]:
    """What stands between two turns of one session moves before or behind both."""
    turns = _turns(script)
    for position in range(1, len(turns) - 1):
        before, turn, after = turns[position - 1], turns[position], turns[position + 1]
        if script.session(before[0]) != script.session(after[0]):
            continue
        head, tail = turns[: position - 1], turns[position + 2 :]
        yield _reorder(_flat([*head, turn, before, after, *tail]))
        yield _reorder(_flat([*head, before, after, turn, *tail]))


def _lone_statements(script: Script) -> Iterator[Edit]:
    """A transaction of one statement commits by itself, at any place among the other sessions' statements."""
    for transaction in script.case.transactions:
        own = script.places_of(transaction.name)
        for begin, end in frames(script, transaction.name):
            inside = [place for place in own if end is not None and begin < place < end]
            if len(inside) == 1 and len(own) == 3:
                others = [place for place in script.schedule_places if place not in own]
                for position in range(len(others) + 1):
                    places = [*others[:position], *inside, *others[position:]]
                    yield _reorder([*places, own[0], own[2]], gone=(own[0], own[2]))


def _flat(turns: list[list[int]]) -> list[int]:
    return [place for turn in turns for place in turn]


def _reorder(places: list[int], gone: tuple[int, ...] = ()) -> Edit:
    def edit(draft: Draft) -> None:
        draft.order = places
        for place in gone:
            draft.drop(place)

    return edit


SCHEDULE = (
    Operation("joined turns", _joined_turns),
    Operation("turn between", _turns_between),
    Operation("lone statement", _lone_statements),
)
