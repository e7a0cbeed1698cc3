"""The graph of a whole history, and its strongly connected parts.

Transactions stand in an order that nearly every edge follows. A cycle needs an edge against that order, and
lies where such edges are: so only the stretches that backward edges span are searched, the rest is passed
over.
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


def ranks(transactions: Transactions) -> list[int]:
    """The place of each transaction in its session: the best guess at time where none was written down."""
    count: dict[int, int] = {}
    found = []
    for session in transactions.sessions:
        place = count.get(session, 0)
        count[session] = place + 1
        found.append(place)
    return found


def strong_parts(graph: Graph) -> list[Part]:
    """The strongly connected parts of more than one transaction."""
    places = None if graph.transactions.timed else ranks(graph.transactions)
    stretches = _merged(_backward(graph, places))
    if not stretches:
        return []
    owner = _owners(stretches, len(graph.transactions), places)
    chosen = {
        relation: [
            (source, target)
            for source, target in zip(*edges, strict=True)
            if owner[source] >= 0 and owner[source] == owner[target]
        ]
        for relation, edges in graph.edges.items()
    }
    hubs = [hub for hub in graph.hubs if any(owner[one] >= 0 for one in hub.sources)]
    members: dict[int, list[int]] = {}
    for number, stretch in enumerate(owner):
        if stretch >= 0:
            members.setdefault(stretch, []).append(number)
    followers = followers_of(chosen, hubs, len(owner))
    _follow_sessions(followers, graph.previous, owner)
    if graph.timed:
        for inside in members.values():
            follow_time(followers, graph.transactions, inside, time_node(len(owner), len(hubs)))
    parts = []
    for component in tarjan(followers):
        inside = sorted(one for one in component if one < len(owner))
        if len(inside) > 1:
            parts.append(_part(inside, chosen, hubs))
    return parts


def _backward(graph: Graph, places: Sequence[int] | None) -> list[tuple[int, int]]:
    """The stretches of edges that go against the order."""
    found: list[tuple[int, int]] = []
    for sources, targets in graph.edges.values():
        if places is None:
            found += [(two, one) for one, two in zip(sources, targets, strict=True) if one > two]
        else:
            found += [
                (places[two], places[one])
                for one, two in zip(sources, targets, strict=True)
                if places[one] >= places[two]
            ]
    for hub in graph.hubs:
        at = hub.sources if places is None else [places[one] for one in hub.sources]
        to = hub.targets if places is None else [places[one] for one in hub.targets]
        if max(at) >= min(to):
            found.append((min(to), max(at)))
    return found


def _merged(stretches: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for low, high in sorted(stretches):
        if merged and low <= merged[-1][1]:
            if high > merged[-1][1]:
                merged[-1] = merged[-1][0], high
        else:
            merged.append((low, high))
    return merged


def _owners(stretches: list[tuple[int, int]], count: int, places: Sequence[int] | None) -> list[int]:
    """The stretch that each transaction lies in, or -1."""
    size = count if places is None else max(places) + 1
    owner = [-1] * size
    for number, (low, high) in enumerate(stretches):
        owner[low : high + 1] = [number] * (high + 1 - low)
    return owner if places is None else [owner[place] for place in places]


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


def time_node(count: int, hubs: int) -> int:
    """The first number for nodes of time."""
    return count + hubs


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
