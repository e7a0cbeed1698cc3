"""Layer 1: whole transactions, then statements.

BEGIN goes only together with the COMMIT or ROLLBACK that ends it: what is left then commits by itself. A
COMMIT is never dropped alone. The executor would roll back in its stead, so the case would stay valid, but
it would show another story than it tells.
"""

import re
from collections.abc import Iterable, Iterator

from sqlglot import exp

from acidtest.reduce.operations import Operation
from acidtest.reduce.script import Draft, Edit, Script
from acidtest.sql import StatementKind, kind_of

_WORD = re.compile(r"\w+")
_ENDS = (StatementKind.COMMIT, StatementKind.ROLLBACK)


def frames(script: Script, session: str) -> Iterator[tuple[int, int | None]]:
    """The places of every BEGIN of a session and of what ends it, if something does."""
    begin: int | None = None
    for place in script.places_of(session):
        kind = kind_of(script.texts[place])
        if kind is StatementKind.BEGIN:
            if begin is not None:
                yield begin, None  # a second BEGIN ends the transaction as well
            begin = place
        elif kind in _ENDS and begin is not None:
            yield begin, place
            begin = None
    if begin is not None:
        yield begin, None


def _drop(places: Iterable[int]) -> Edit:
    gone = tuple(places)

    def edit(draft: Draft) -> None:
        for place in gone:
            draft.drop(place)

    return edit


def _transactions(script: Script) -> Iterator[Edit]:
    for transaction in script.case.transactions:
        yield _drop(script.places_of(transaction.name))


def _blocks(script: Script) -> Iterator[Edit]:
    """From BEGIN to its end, in sessions with several transactions."""
    for transaction in script.case.transactions:
        for begin, end in frames(script, transaction.name):
            if end is not None:
                yield _drop(one for one in script.places_of(transaction.name) if begin <= one <= end)


def _frames(script: Script) -> Iterator[Edit]:
    """BEGIN and its end, so that the statements between them commit by themselves."""
    for transaction in script.case.transactions:
        for begin, end in frames(script, transaction.name):
            yield _drop((begin,) if end is None else (begin, end))


def _statements(script: Script) -> Iterator[Edit]:
    """Every statement of the schedule, last ones first: what comes after a violation rarely matters to it.
    Ends without a BEGIN count among them."""
    framed = {
        place
        for transaction in script.case.transactions
        for frame in frames(script, transaction.name)
        for place in frame
    }
    yield from (_drop((place,)) for place in reversed(script.schedule_places) if place not in framed)


def _into_setup(script: Script) -> Iterator[Edit]:
    """Writes that commit by themselves, to the end of the set-up."""
    for place in script.schedule_places:
        within = any(
            begin < place and (end is None or place < end)
            for begin, end in frames(script, script.session(place))
        )
        if not within and isinstance(script.trees[place], exp.Insert | exp.Update | exp.Delete):
            yield _set_up(place)


def _set_up(place: int) -> Edit:
    return lambda draft: draft.set_up(place)


def _savepoints(script: Script) -> Iterator[Edit]:
    """All that concerns savepoints, by session: a ROLLBACK TO needs its SAVEPOINT."""
    for transaction in script.case.transactions:
        own = [
            place
            for place in script.places_of(transaction.name)
            if kind_of(script.texts[place]) is StatementKind.SAVEPOINT
        ]
        if own:
            yield _drop(own)


def _setup(script: Script) -> Iterator[Edit]:
    """Statements of the set-up, but no table that something else names."""
    needed = {
        place
        for name, (place, _) in script.tables.items()
        if any(one != place for one in _naming(script, name))
    }
    yield from (_drop((place,)) for place in script.setup_places if place not in needed)


def _tables(script: Script) -> Iterator[Edit]:
    """A table with every statement that names it, where there are others."""
    for name in script.tables if len(script.tables) > 1 else ():
        yield _drop(_naming(script, name))


def _naming(script: Script, name: str) -> list[int]:
    """Where a table is named: in a tree as such, in a text that is none as a word."""
    return [place for place in range(len(script.texts)) if name.lower() in _names_at(script, place)]


def _names_at(script: Script, place: int) -> set[str]:
    tree = script.trees[place]
    if tree is None:
        return {word.lower() for word in _WORD.findall(script.texts[place])}
    return {one.name.lower() for one in tree.find_all(exp.Identifier)}


def _sessions(script: Script) -> Iterator[Edit]:
    """One session does the work of another, where their transactions do not overlap."""
    for one in script.case.transactions:
        for other in script.case.transactions:
            if one is not other and one.level is other.level and not _overlap(script, one.name, other.name):
                yield _move(script, other.name, one.name)


def _overlap(script: Script, one: str, other: str) -> bool:
    """Whether a transaction of one is open while the other does something, or the other way round."""
    return _busy_during(script, one, other) or _busy_during(script, other, one)


def _busy_during(script: Script, one: str, other: str) -> bool:
    places = script.places_of(other)
    last = script.schedule_places[-1]
    return any(
        begin < place <= (last if end is None else end)
        for begin, end in frames(script, one)
        for place in places
    )


def _move(script: Script, session: str, to: str) -> Edit:
    positions = [position for position, name in enumerate(script.case.schedule) if name == session]

    def edit(draft: Draft) -> None:
        for position in positions:
            draft.sessions[position] = to

    return edit


STATEMENTS = (
    Operation("transaction", _transactions, together=True),
    Operation("block", _blocks, together=True),
    Operation("statement", _statements, together=True),
    Operation("savepoints", _savepoints),
    Operation("frame", _frames, together=True),
    Operation("table", _tables),
    Operation("setup", _setup, together=True),
    Operation("into set-up", _into_setup, together=True),
    Operation("session", _sessions),
)
