"""The kinds of cycles in a strongly connected part, a shortest one of each (Adya, Elle).

Existence is decided by strongly connected components of the subgraphs that a kind allows: so no cycles are
enumerated. Whether a cycle without two adjacent anti-dependencies exists, which snapshot isolation forbids
(Cerone and Gotsman), is a question of that sort on pairs of a transaction and whether an anti-dependency
led to it.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from acidtest.histories.anomalies import Basis, Relation
from acidtest.histories.columns import COMMITTED
from acidtest.histories.graphs import Graph, Part, tarjan
from acidtest.histories.models import implications
from acidtest.model import Phenomenon

Step = tuple[Relation, int, int]
_VISITS = 4_000_000
"""Nodes that the search for shortest cycles may look at in one part; after that it takes what it has."""

_WRITES = frozenset({Relation.WW})
_FLOW = frozenset({Relation.WW, Relation.WR})
_ALL = frozenset({Relation.WW, Relation.WR, Relation.RW})
_ORDERS: Mapping[Basis, frozenset[Relation]] = {
    Basis.DATA: frozenset(),
    Basis.SESSION: frozenset({Relation.SESSION}),
    Basis.REALTIME: frozenset({Relation.REALTIME, Relation.SESSION}),
}


@dataclass(frozen=True, slots=True)
class Cycle:
    """A cycle of a kind."""

    name: Phenomenon
    basis: Basis
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Searched:
    """What the search in a part found; `complete`: nothing was given up."""

    cycles: tuple[Cycle, ...]
    complete: bool


def search(graph: Graph, part: Part) -> Searched:
    """The kinds of cycles in a part, the worst first; what another one implies is left out."""
    web = _Web(graph, part)
    found: list[Cycle] = []
    implied: set[tuple[object, Basis]] = set()
    complete = True
    for basis in Basis:
        if basis is Basis.REALTIME and not graph.timed:
            break
        orders = _ORDERS[basis]
        for name, steps in _kinds(web, orders):
            if steps is None:
                complete = False
            elif (name, basis) not in implied:
                found.append(Cycle(name, basis, steps))
                implied |= implications((name, basis))
    return Searched(tuple(found), complete)


def shortest_commit_cycle(graph: Graph, part: Part) -> tuple[Step, ...] | None:
    """A shortest cycle with a pair in it that a rule gave. Others have names of their own."""
    return _Web(graph, part).cycle(_FLOW | {Relation.SESSION, Relation.COMMIT}, Relation.COMMIT)


def _kinds(web: "_Web", orders: frozenset[Relation]) -> Iterator[tuple[Phenomenon, tuple[Step, ...] | None]]:
    """The kinds of cycles that lean on these orders; None instead of a cycle if the search was given up."""
    writes = web.cycle(_WRITES | orders, Relation.WW)
    if writes is not None:
        yield Phenomenon.G0, writes
    flow = None if writes is not None else web.cycle(_FLOW | orders, Relation.WR)
    if flow is not None:
        yield Phenomenon.G1C, flow
    apart = web.candidates_apart(_FLOW | orders)
    if apart:
        single = web.shortest(apart, _FLOW | orders)
        if single is not None:
            yield Phenomenon.G_SINGLE, single
            return
        if web.exhausted:
            yield Phenomenon.G_SINGLE, None
        cycle = web.shortest_apart(apart, _FLOW | orders)
        if cycle is not None:
            yield Phenomenon.G_NONADJACENT, cycle
        return
    cycle = web.cycle(_ALL | orders, Relation.RW)
    if cycle is not None:
        yield Phenomenon.G2_ITEM, cycle


@dataclass(frozen=True, slots=True)
class _Edge:
    source: int
    target: int
    relation: Relation | None
    """None: it leads through a hub or along the chain of time, and costs nothing."""


class _Web:
    """The edges of a part, with the nodes for hubs and time between them."""

    def __init__(self, graph: Graph, part: Part) -> None:
        self._members = set(part.members)
        self._edges: dict[int, list[_Edge]] = {}
        self._visits = _VISITS
        self.exhausted = False
        for relation, pairs in part.edges.items():
            for source, target in pairs:
                self._add(source, target, relation)
        node = len(graph.transactions)
        for hub in part.hubs:
            for source in hub.sources:
                self._add(source, node, Relation.RW)
            for target in hub.targets:
                self._add(node, target, None)
            node += 1
        for number in part.members:
            before = graph.previous[number] if graph.previous else -1
            while before >= 0 and before not in self._members:
                before = graph.previous[before]
            if before >= 0:
                self._add(before, number, Relation.SESSION)
        if graph.timed:
            self._add_time(graph, part.members, node)

    def _add(self, source: int, target: int, relation: Relation | None) -> None:
        self._edges.setdefault(source, []).append(_Edge(source, target, relation))

    def _add_time(self, graph: Graph, members: Sequence[int], base: int) -> None:
        known = graph.transactions
        closed = sorted(
            (one for one in members if known.fates[one] == COMMITTED), key=known.ended.__getitem__
        )
        for place, number in enumerate(closed):
            self._add(number, base + place, Relation.REALTIME)
            if place + 1 < len(closed):
                self._add(base + place, base + place + 1, None)
        at = 0
        for number in sorted(members, key=known.began.__getitem__):
            while at < len(closed) and known.ended[closed[at]] < known.began[number]:
                at += 1
            if at:
                self._add(base + at - 1, number, None)

    def _followers(self, allowed: frozenset[Relation]) -> dict[int, list[int]]:
        return {
            node: [edge.target for edge in edges if edge.relation is None or edge.relation in allowed]
            for node, edges in self._edges.items()
        }

    def cycle(self, allowed: frozenset[Relation], through: Relation) -> tuple[Step, ...] | None:
        """A shortest cycle of allowed edges, one of them of this relation."""
        component: dict[int, int] = {}
        for number, nodes in enumerate(tarjan(self._followers(allowed))):
            component.update(dict.fromkeys(nodes, number))
        candidates = [
            edge
            for node in component
            for edge in self._edges.get(node, ())
            if edge.relation is through and component.get(edge.target) == component[node]
        ]
        return self.shortest(candidates, allowed)

    def candidates_apart(self, flow: frozenset[Relation]) -> list[_Edge]:
        """Anti-dependencies on cycles in which no two of them are adjacent."""
        followers: dict[int, list[int]] = {}
        for node, edges in self._edges.items():
            # Twice a node's number: a dependency led to it. One more: an anti-dependency did.
            plain, behind = followers.setdefault(2 * node, []), followers.setdefault(2 * node + 1, [])
            for edge in edges:
                if edge.relation is None:
                    plain.append(2 * edge.target)
                    behind.append(2 * edge.target + 1)
                elif edge.relation is Relation.RW:
                    plain.append(2 * edge.target + 1)
                elif edge.relation in flow:
                    plain.append(2 * edge.target)
                    behind.append(2 * edge.target)
        component: dict[int, int] = {}
        for number, nodes in enumerate(tarjan(followers)):
            component.update(dict.fromkeys(nodes, number))
        return [
            edge
            for node, edges in self._edges.items()
            for edge in edges
            if edge.relation is Relation.RW
            and 2 * node in component
            and component.get(2 * edge.target + 1) == component[2 * node]
        ]

    def shortest(self, through: Iterable[_Edge], allowed: frozenset[Relation]) -> tuple[Step, ...] | None:
        """A shortest cycle of one of these edges and a path of allowed ones."""
        best: list[_Edge] | None = None
        for edge in through:
            limit = None if best is None else len(best)
            path = self._path((edge.target, False), (edge.source, False), allowed, limit)
            if path is not None and (best is None or _length([edge, *path]) < _length(best)):
                best = [edge, *path]
                if _length(best) == 2:
                    break
            if self.exhausted:
                break
        return None if best is None else _steps(best)

    def shortest_apart(self, through: Iterable[_Edge], flow: frozenset[Relation]) -> tuple[Step, ...] | None:
        """A shortest cycle through one of these anti-dependencies, in which no two of them are adjacent."""
        self._visits = _VISITS
        best: list[_Edge] | None = None
        for edge in through:
            path = self._path(
                (edge.target, True), (edge.source, False), flow | {Relation.RW}, None, apart=True
            )
            if path is not None and (best is None or _length([edge, *path]) < _length(best)):
                best = [edge, *path]
        return None if best is None else _steps(best)

    def _path(
        self,
        start: tuple[int, bool],
        end: tuple[int, bool],
        allowed: frozenset[Relation],
        limit: int | None,
        apart: bool = False,
    ) -> list[_Edge] | None:
        """A shortest path. In states with True an anti-dependency led to the node (only with `apart`)."""
        reached: dict[tuple[int, bool], tuple[tuple[int, bool], _Edge] | None] = {start: None}
        distance = {start: 0}
        queue: deque[tuple[tuple[int, bool], int]] = deque([(start, 0)])
        closed: set[tuple[int, bool]] = set()
        while queue:
            state, length = queue.popleft()
            if state == end:
                return _back(reached, state)
            if state in closed or (limit is not None and length >= limit):
                continue
            closed.add(state)
            self._visits -= 1
            if self._visits < 0:
                self.exhausted = True
                return None
            node, behind = state
            for edge in self._edges.get(node, ()):
                if edge.relation is not None and edge.relation not in allowed:
                    continue
                anti = apart and edge.relation is Relation.RW
                if anti and behind:
                    continue
                following = edge.target, anti or (apart and edge.relation is None and behind)
                cost = length + (edge.relation is not None)
                if cost < distance.get(following, _VISITS):
                    distance[following] = cost
                    reached[following] = state, edge
                    if cost == length:
                        queue.appendleft((following, cost))
                    else:
                        queue.append((following, cost))
        return None


def _back(
    reached: Mapping[tuple[int, bool], tuple[tuple[int, bool], _Edge] | None], state: tuple[int, bool]
) -> list[_Edge]:
    path: list[_Edge] = []
    at = reached[state]
    while at is not None:
        path.append(at[1])
        at = reached[at[0]]
    return path[::-1]


def _length(edges: Iterable[_Edge]) -> int:
    return sum(edge.relation is not None for edge in edges)


def _steps(edges: Sequence[_Edge]) -> tuple[Step, ...]:
    """The edges between transactions: what leads through a hub or along time is one step."""
    steps: list[Step] = []
    for edge in edges:
        if edge.relation is not None:
            steps.append((edge.relation, edge.source, edge.target))
        else:
            relation, source, _ = steps[-1]
            steps[-1] = relation, source, edge.target
    return tuple(steps)
