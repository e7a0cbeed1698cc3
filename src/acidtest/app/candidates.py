"""Which orders can go wrong: AGENDA's interesting and legal schedules, on what was recorded.

AGENDA (TR-CIS-2003-03, section 4) looks for a pair of transactions of one instance that touch the same
element, and a transaction of another instance in between that conflicts (Tables 4 and 5). Recorded
statements stand for transactions here, so that faults of an isolation level show as well as faults of
transaction boundaries. An order <A up to s, all of B, rest of A> can differ from both serial orders only if
B conflicts with something of A before s *and* with something after it: else B commutes with one of the two
parts. Those are the candidates; orders between which no conflicting statement and no COMMIT lies are the
same one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product

from acidtest.app.access import Access, Element, Reader, conflict
from acidtest.model import TransactionState
from acidtest.model.application import Call, Order, Segment
from acidtest.sql import StatementKind, kind_of

PATTERNS = {"RWW": 6, "RWR": 3, "WWR": 3, "WWW": 2, "WRW": 3}
"""AGENDA's Table 4: what A, B, A do with one element where that can go wrong, the likeliest with most points.
A read that decides about a later write (RWW) is by far the commonest fault of applications."""

DECIDES = 4
"""Points where A reads what B writes, and then writes something else that B touches (Table 5: the value that
was read lives on in a host variable, or decided about a branch)."""

ENDS = (StatementKind.COMMIT, StatementKind.ROLLBACK)


@dataclass(frozen=True, slots=True)
class Candidate:
    """An order worth forcing, with the pair of statements of its first operation that B comes between."""

    order: Order
    points: int
    first: tuple[str, int] | None = None
    second: tuple[str, int] | None = None
    elements: frozenset[Element] = frozenset()


@dataclass(frozen=True, slots=True)
class Step:
    """One recorded statement of an operation with what it touches; a COMMIT touches what it publishes."""

    index: int
    access: Access
    is_end: bool
    sql: str


def steps_of(calls: Sequence[Call], reader: Reader) -> list[Step]:
    """The statements of one operation, in its own order."""
    steps: list[Step] = []
    open_writes: frozenset[Element] = frozenset()
    for call in calls:
        if kind_of(call.sql) in ENDS:
            steps.append(Step(call.index, Access(writes=open_writes), True, call.sql))
            open_writes = frozenset()
            continue
        access = reader.access(call.sql)
        steps.append(Step(call.index, access, False, call.sql))
        open_writes = open_writes | access.writes if call.after is TransactionState.OPEN else frozenset()
    return steps


def splits(mine: Sequence[Step], others: Iterable[Step], unique: frozenset[str]) -> list[Candidate]:
    """Places in one operation at which the other can come between to some effect, the likeliest first.

    A candidate's `order` is left empty: who comes between is the caller's to say."""
    others = [step for step in others if not step.is_end]
    touching = {
        step.index: frozenset().union(*(conflict(step.access, other.access, unique) for other in others))
        for step in mine
    }
    places = []
    for position, step in enumerate(mine[:-1], start=1):
        before = [one for one in mine[:position] if touching[one.index]]
        after = [one for one in mine[position:] if touching[one.index]]
        if not before or not after or not (touching[step.index] or step.is_end):
            continue
        points, first, second = _likelihood(before, after, others, unique)
        closeness = 1 if before[-1] is step else 0
        elements = touching[first.index] | touching[second.index]
        places.append(
            Candidate(
                (Segment("", position),),
                2 * points + closeness,
                ("", first.index),
                ("", second.index),
                elements,
            )
        )
    return sorted(places, key=lambda one: -one.points)


def _likelihood(
    before: Sequence[Step], after: Sequence[Step], others: Sequence[Step], unique: frozenset[str]
) -> tuple[int, Step, Step]:
    best = (0, before[-1], after[0])
    for first, second in product(reversed(before), after):
        if first.is_end or second.is_end:
            continue  # what is only left to be committed was decided before
        points = max((_pattern(first, other, second, unique) for other in others), default=0)
        if points > best[0]:
            best = (points, first, second)
    return best


def _pattern(first: Step, between: Step, second: Step, unique: frozenset[str]) -> int:
    mine = conflict(first.access, between.access, unique)
    again = conflict(second.access, between.access, unique)
    same = [_letters(first, between, second, element) for element in mine & again]
    points = max((PATTERNS.get(letters, 0) for letters in same), default=0)
    if first.access.reads & between.access.writes & mine and second.access.writes:
        points = max(points, DECIDES)
    return points or (1 if mine else 0)


def _letters(first: Step, between: Step, second: Step, element: Element) -> str:
    return "".join("W" if element in step.access.writes else "R" for step in (first, between, second))


# -- orders


def one_between(recorded: Mapping[str, Sequence[Sequence[Step]]], unique: frozenset[str]) -> list[Candidate]:
    """<A up to s, all of B, rest of A>, of every two operations; others come last, or between as well."""
    names = list(recorded)
    found: dict[Order, Candidate] = {}
    for mine, other in permutations(names, 2):
        rest = tuple(Segment(name) for name in names if name not in (mine, other))
        theirs = [step for path in recorded[other] for step in path]
        for path in recorded[mine]:
            for place in splits(path, theirs, unique):
                upto = place.order[0].upto
                for tail in dict.fromkeys([(Segment(mine), *rest), (*rest, Segment(mine))]):
                    order = (Segment(mine, upto), Segment(other), *tail)
                    named = _named(place, order, mine)
                    if order not in found or found[order].points < named.points:
                        found[order] = named
    return _alternating(sorted(found.values(), key=lambda one: -one.points))


def both_split(recorded: Mapping[str, Sequence[Sequence[Step]]], unique: frozenset[str]) -> list[Candidate]:
    """<A up to s, B up to t, rest of A, rest of B>, for anomalies in which neither lies within the other."""
    names = list(recorded)
    found: dict[Order, Candidate] = {}
    for mine, other in permutations(names, 2):
        rest = tuple(Segment(name) for name in names if name not in (mine, other))
        for own, their in product(recorded[mine], recorded[other]):
            for first, second in product(splits(own, their, unique), splits(their, own, unique)):
                order = (
                    Segment(mine, first.order[0].upto),
                    Segment(other, second.order[0].upto),
                    Segment(mine),
                    Segment(other),
                    *rest,
                )
                points = first.points + second.points
                named = Candidate(
                    order, points, (mine, first.first[1] if first.first else 0), None, first.elements
                )
                if order not in found or found[order].points < points:
                    found[order] = named
    return sorted(found.values(), key=lambda one: -one.points)


def exhaustive(lengths: Mapping[str, int], preemptions: int) -> Iterator[Candidate]:
    """Every order with so many preemptions at most, fewest first: operations are cut at will."""
    names = list(lengths)
    for count in range(1, preemptions + 1):
        for cut in _cuts(names, lengths, count):
            yield Candidate(cut, 0)


def _cuts(names: Sequence[str], lengths: Mapping[str, int], count: int) -> Iterator[Order]:
    places = [(name, place) for name in names for place in range(1, lengths[name])]
    for chosen in combinations(places, count):
        pieces = [Segment(name, place) for name, place in chosen] + [Segment(name) for name in names]
        for order in permutations(pieces):
            if _is_legal(order):
                yield order


def _is_legal(order: Order) -> bool:
    """Pieces of an operation in its own order, and never two of them side by side."""
    reached: dict[str, float] = {}
    previous = ""
    for segment in order:
        upto = float("inf") if segment.upto is None else segment.upto
        if upto <= reached.get(segment.operation, 0) or segment.operation == previous:
            return False
        reached[segment.operation] = upto
        previous = segment.operation
    return True


def _named(place: Candidate, order: Order, mine: str) -> Candidate:
    first = (mine, place.first[1]) if place.first else None
    second = (mine, place.second[1]) if place.second else None
    return Candidate(order, place.points, first, second, place.elements)


def _alternating(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The likeliest of each conflicting pair first, then the rest: variants of one fault come late."""
    seen: set[frozenset[Element]] = set()
    first: list[Candidate] = []
    later: list[Candidate] = []
    for one in candidates:
        (later if one.elements in seen else first).append(one)
        seen.add(one.elements)
    return first + later
