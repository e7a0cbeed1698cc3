"""The graph of a whole history, and its strongly connected parts.

Transactions are numbered so that nearly every edge leads to a higher number. The level of a transaction is
the lowest number that can be reached from it. All transactions on a cycle reach the same ones, so they have
the same level: only transactions that share a level with another one are searched.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from acidtest.histories.anomalies import Relation
from acidtest.histories.columns import COMMITTED
from acidtest.histories.resolved import Edges, Hub, Transactions


@dataclass(frozen=True, slots=True)
class Graph:
    """Edges between transactions by relation. `previous`: the transaction before, in the same session.

    `timed`: whether transactions that ended before others began count as earlier.
    """

    transactions: Transactions
    edges: Mapping[Relation, Edges]
    hubs: Sequence[Hub] = ()
    previous: Sequence[int] = ()
    timed: bool = False


@dataclass(slots=True)
class Part:
    """A strongly connected part: its transactions, and the edges between them."""

    members: list[int]
    edges: dict[Relation, list[tuple[int, int]]] = field(default_factory=dict)
    hubs: list[Hub] = field(default_factory=list)


def previous_in_session(transactions: Transactions, takes_part: Sequence[int]) -> list[int]:
    """The committed transaction before each one in its session, or -1."""
    last: dict[int, int] = {}
    found = [-1] * len(transactions)
    fates = transactions.fates
    for number, session in enumerate(transactions.sessions):
        if takes_part[number]:
            found[number] = last.get(session, -1)
            if fates[number] == COMMITTED:
                last[session] = number
    return found


def strong_parts(graph: Graph) -> list[Part]:
    """The strongly connected parts of more than one transaction."""
    numbers = _numbering(graph.transactions)
    levels = _levels(graph, numbers)
    if levels is None:
        return _parts_among(graph, [list(range(len(graph.transactions)))])
    groups: dict[int, list[int]] = {}
    for number, level in enumerate(levels):
        if level != (number if numbers is None else numbers[number]):
            groups.setdefault(level, []).append(number)
    if not groups:
        return []
    names = range(len(levels)) if numbers is None else _inverse(numbers)
    return _parts_among(graph, [[names[level], *members] for level, members in groups.items()])


def _numbering(transactions: Transactions) -> list[int] | None:
    """Numbers that grow with time, as far as that can be guessed; None: those that the transactions have.

    A file that tells one session after the other gets the first transactions of all sessions first.
    """
    if transactions.timed:
        return None
    sessions = transactions.sessions
    if 2 * sum(one == two for one, two in pairwise(sessions)) < len(sessions):
        return None
    count: dict[int, int] = {}
    places = []
    for session in sessions:
        place = count.get(session, 0)
        count[session] = place + 1
        places.append(place)
    return _inverse(sorted(range(len(places)), key=places.__getitem__))


def _inverse(order: Sequence[int]) -> list[int]:
    found = [0] * len(order)
    for place, number in enumerate(order):
        found[number] = place
    return found


def _levels(graph: Graph, numbers: Sequence[int] | None) -> list[int] | None:
    """The lowest number that each transaction leads to; None if that takes too long to find out, or if the
    order of time is broken."""
    count = len(graph.transactions)
    levels = list(range(count)) if numbers is None else list(numbers)
    hubs = [(max(hub.sources), min(hub.targets), hub) for hub in graph.hubs]
    for _ in range(_PASSES):
        changed = False
        for sources, targets in graph.edges.values():
            lower = [
                (levels[two], one)
                for one, two in zip(sources, targets, strict=True)
                if levels[one] > levels[two]
            ]
            changed = changed or bool(lower)
            for level, one in sorted(lower):
                levels[one] = min(levels[one], level)
        changed = _lower_by_hubs(hubs, levels) or changed
        changed = _lower_by_sessions(graph.previous, levels) or changed
        if not changed:
            return None if graph.timed and _breaks_time(graph.transactions, levels) else levels
    return None


_PASSES = 40


def _lower_by_hubs(hubs: Sequence[tuple[int, int, Hub]], levels: list[int]) -> bool:
    changed = False
    for _, _, hub in hubs:
        level = min(map(levels.__getitem__, hub.targets))
        for one in hub.sources:
            if levels[one] > level:
                levels[one] = level
                changed = True
    return changed


def _lower_by_sessions(previous: Sequence[int], levels: list[int]) -> bool:
    lower = [
        (number, before)
        for number, before in enumerate(previous)
        if before >= 0 and levels[before] > levels[number]
    ]
    for number, before in reversed(lower):
        levels[before] = min(levels[before], levels[number])
    return bool(lower)


def _breaks_time(transactions: Transactions, levels: Sequence[int]) -> bool:
    """Whether a transaction leads to one before which another had ended when it began: then time is part of
    a cycle, or at least of the way to the lowest number."""
    lowered = [(number, level) for number, level in enumerate(levels) if level != number]
    if not lowered:
        return False
    ends = list(transactions.ended)
    for number in range(len(ends) - 2, -1, -1):
        ends[number] = min(ends[number], ends[number + 1])
    began = transactions.began
    return any(ends[level] < began[number] for number, level in lowered)


def _parts_among(graph: Graph, groups: list[list[int]]) -> list[Part]:
    """The strongly connected parts inside of groups of transactions."""
    count = len(graph.transactions)
    owner = [-1] * count
    for group, members in enumerate(groups):
        for one in members:
            owner[one] = group
    chosen = {
        relation: [
            (one, two)
            for one, two in zip(sources, targets, strict=True)
            if owner[one] >= 0 and owner[one] == owner[two]
        ]
        for relation, (sources, targets) in graph.edges.items()
    }
    hubs = [hub for hub in graph.hubs if any(owner[one] >= 0 for one in hub.sources)]
    followers = followers_of(chosen, hubs, count)
    _follow_sessions(followers, graph.previous, owner)
    if graph.timed:
        for members in groups:
            follow_time(followers, graph.transactions, members, count + len(hubs))
    parts = []
    for component in tarjan(followers):
        inside = sorted(one for one in component if one < count)
        if len(inside) > 1:
            parts.append(_part(inside, chosen, hubs))
    return parts


def followers_of(
    edges: Mapping[Relation, Iterable[tuple[int, int]]], hubs: Sequence[Hub], count: int
) -> dict[int, list[int]]:
    """Who comes directly after whom; hubs are nodes behind the transactions."""
    followers: dict[int, list[int]] = {}
    for pairs in edges.values():
        for source, target in pairs:
            followers.setdefault(source, []).append(target)
    for number, hub in enumerate(hubs, count):
        for source in hub.sources:
            followers.setdefault(source, []).append(number)
        followers.setdefault(number, []).extend(hub.targets)
    return followers


def _follow_sessions(followers: dict[int, list[int]], previous: Sequence[int], owner: Sequence[int]) -> None:
    for number, before in enumerate(previous):
        if before >= 0 and owner[number] >= 0 and owner[number] == owner[before]:
            followers.setdefault(before, []).append(number)


def follow_time(
    followers: dict[int, list[int]], transactions: Transactions, members: Sequence[int], base: int
) -> None:
    """Who ended before whom began, by a chain of nodes: one for each end, each leading to the next one.

    That takes three edges a transaction; writing down all pairs takes as many as there are sessions.
    """
    ended = transactions.ended
    began = transactions.began
    closed = sorted((one for one in members if transactions.fates[one] == COMMITTED), key=ended.__getitem__)
    for number in closed:
        followers.setdefault(number, []).append(base + number)
    for one, other in pairwise(closed):
        followers.setdefault(base + one, []).append(base + other)
    at = 0
    for number in sorted(members, key=began.__getitem__):
        while at < len(closed) and ended[closed[at]] < began[number]:
            at += 1
        if at:
            followers.setdefault(base + closed[at - 1], []).append(number)


def tarjan(followers: Mapping[int, Sequence[int]]) -> list[list[int]]:
    """Strongly connected components of more than one node, without recursion (Tarjan 1972).

    They come in reverse order: what a component leads to comes before it.
    """
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    done: set[int] = set()
    stack: list[int] = []
    components: list[list[int]] = []
    nothing: tuple[int, ...] = ()
    for root in followers:
        if root in index:
            continue
        index[root] = low[root] = len(index)
        stack.append(root)
        work = [(root, iter(followers[root]))]
        while work:
            node, rest = work[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    work.append((other, iter(followers.get(other, nothing))))
                    break
                if other not in done and index[other] < low[node]:
                    low[node] = index[other]
            else:
                work.pop()
                lowest = low[node]
                if work and lowest < low[work[-1][0]]:
                    low[work[-1][0]] = lowest
                if lowest == index[node]:
                    at = len(stack) - 1
                    while stack[at] != node:
                        at -= 1
                    component = stack[at:]
                    del stack[at:]
                    done.update(component)
                    if len(component) > 1:
                        components.append(component)
    return components


def _part(members: list[int], edges: Mapping[Relation, list[tuple[int, int]]], hubs: Sequence[Hub]) -> Part:
    inside = set(members)
    part = Part(members)
    for relation, pairs in edges.items():
        part.edges[relation] = list(
            dict.fromkeys(pair for pair in pairs if pair[0] in inside and pair[1] in inside)
        )
    for hub in hubs:
        sources = tuple(one for one in hub.sources if one in inside)
        targets = tuple(one for one in hub.targets if one in inside)
        if sources and targets:
            part.hubs.append(Hub(sources, targets))
    return part
