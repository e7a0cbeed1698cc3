"""The smallest trace of every phenomenon has its name, and its shortest cycle as witness."""

import random

import pytest

from acidtest.graph import Occurrence, phenomena
from acidtest.graph.cycles import Pattern, shortest_cycle, strong_parts
from acidtest.graph.phenomena import PATTERNS
from acidtest.model import Dependency, Phenomenon, Variant
from acidtest.model import DependencyKind as Kind
from tests.unit.traces import Story

ENDS = "\n1 commits\n2 commits"

SMALLEST = {
    # two transactions replaced each other's writes
    Phenomenon.G0: "1 w x\n2 w x\n2 w y\n1 w y" + ENDS,
    Phenomenon.G1A: "1 w x\n2 r x\n1 aborts\n2 commits",
    Phenomenon.G1B: "1 w x\n2 r x\n1 w x" + ENDS,
    Phenomenon.G1C: "1 w x\n2 r x\n2 w y\n1 r y" + ENDS,
    Phenomenon.INTERNAL: "1 w x\n1 r x 0\n1 commits",
    Phenomenon.G_SIA: "1 r y\n2 w x\n2 commits\n1 r x\n1 commits",
    Phenomenon.P4: "1 r x\n2 w x\n1 w x" + ENDS,
    Phenomenon.G_CURSOR: "1 r x\n2 w x\n2 commits\n3 w x\n3 commits\n1 w x\n1 commits",
    # the second read went back before what the first had seen
    Phenomenon.G_MONOTONIC: "2 w x\n2 w y\n1 r x\n1 r y 0" + ENDS,
    # it began when the other had committed, and did not see it; no read of its own shows that
    Phenomenon.G_SIB: "2 w x\n2 commits\n1 r x 0\n1 commits",
    Phenomenon.G_SINGLE: "1 r x\n2 w x\n2 w y\n1 r y" + ENDS,
    Phenomenon.P2: "1 r x\n2 w x\n1 r x" + ENDS,
    # two readers saw two writes in different orders
    Phenomenon.G_NONADJACENT: "1 w x\n2 w y\n3 r x\n3 r y 0\n4 r y\n4 r x 0"
    "\n1 commits\n2 commits\n3 commits\n4 commits",
    Phenomenon.G2_ITEM: "1 r x\n2 r y\n1 w y\n2 w x" + ENDS,
    Phenomenon.G2: "1 w a\n2 w b\n1 misses b\n2 misses a" + ENDS,
}


def names(script: str, **how: dict[int, str]) -> dict[tuple[Phenomenon, Variant], Occurrence]:
    found = phenomena(Story(script, **how).trace())
    return {(one.phenomenon, one.variant): one for one in found}


@pytest.mark.parametrize("phenomenon", SMALLEST, ids=lambda one: one.value)
def test_the_smallest_trace_of_a_phenomenon_has_its_name(phenomenon: Phenomenon) -> None:
    found = names(SMALLEST[phenomenon])
    one = found[phenomenon, Variant.PLAIN]
    assert one.exact
    edges = one.witness.dependencies
    if len(edges) > 1:
        assert [edge.target for edge in edges] == [edge.source for edge in (*edges[1:], edges[0])]
        assert len({edge.source for edge in edges}) == len(edges)


@pytest.mark.parametrize("phenomenon", SMALLEST, ids=lambda one: one.value)
def test_a_phenomenon_is_gone_with_one_of_its_transactions(phenomenon: Phenomenon) -> None:
    rest = [line for line in SMALLEST[phenomenon].splitlines() if not line.startswith("1")]
    rest = [line for line in rest if "r x 0" not in line]
    assert (phenomenon, Variant.PLAIN) not in names("\n".join(rest))


ALLOWED_TOGETHER = {
    Phenomenon.G_SINGLE: {Phenomenon.G_SINGLE, Phenomenon.G_SIA},
    Phenomenon.G2_ITEM: {Phenomenon.G2_ITEM},
    Phenomenon.G2: {Phenomenon.G2},
    Phenomenon.G_CURSOR: {Phenomenon.G_CURSOR, Phenomenon.G_SIA, Phenomenon.G_SINGLE},
    Phenomenon.G_SIA: {Phenomenon.G_SIA},
    Phenomenon.G_SIB: {Phenomenon.G_SIB},
}


@pytest.mark.parametrize("phenomenon", ALLOWED_TOGETHER, ids=lambda one: one.value)
def test_nothing_else_is_named_where_only_that_happened(phenomenon: Phenomenon) -> None:
    assert {one for one, _ in names(SMALLEST[phenomenon])} <= ALLOWED_TOGETHER[phenomenon]


def test_a_write_over_another_object_loses_no_update() -> None:
    found = names("1 r x\n2 w x\n2 w y\n1 w y" + ENDS)
    assert (Phenomenon.P4, Variant.PLAIN) not in found
    assert (Phenomenon.G_CURSOR, Variant.PLAIN) not in found


def test_an_update_is_lost_whichever_of_several_objects_it_is() -> None:
    assert (Phenomenon.P4, Variant.PLAIN) in names("1 r x\n1 r y\n2 w x\n2 w y\n1 w y" + ENDS)


def test_a_view_that_goes_forward_is_monotonic() -> None:
    assert (Phenomenon.G_MONOTONIC, Variant.PLAIN) not in names("1 r y\n2 w x\n2 w y\n1 r x" + ENDS)


def test_what_overlaps_in_time_is_no_interference() -> None:
    assert (Phenomenon.G_SIA, Variant.PLAIN) not in names("1 r y\n2 w x\n1 r x\n1 commits")


def test_what_ran_side_by_side_misses_no_effects() -> None:
    assert (Phenomenon.G_SIB, Variant.PLAIN) not in names("2 w x\n1 r x 0\n2 commits\n1 commits")


STALE = "1 w x\n2 r x 0\n1 commits\n2 commits"


def test_a_session_that_does_not_see_what_it_wrote_before() -> None:
    found = names(STALE, sessions={1: "a", 2: "a"})
    assert set(found) == {(Phenomenon.G_SINGLE, Variant.SESSION)}
    kinds = [edge.kind for edge in found[Phenomenon.G_SINGLE, Variant.SESSION].witness.dependencies]
    assert kinds == [Kind.RW, Kind.SESSION]
    assert names(STALE) == {}


def test_write_skew_that_only_the_time_closes() -> None:
    # 1 -rw-> 2 -rw-> 3, and 3 had ended when 1 began
    script = "2 r y\n3 w y\n3 commits\n1 r x\n2 w x\n2 commits\n1 commits"
    assert (Phenomenon.G2_ITEM, Variant.REAL_TIME) in names(script)


# -- the search itself


def edge(kind: Kind, source: int, target: int) -> Dependency:
    return Dependency(kind, source, target, None, None, None)


def test_the_shortest_cycle_is_found() -> None:
    ring = [edge(Kind.WW, one, (one + 1) % 6) for one in range(6)]
    short = [edge(Kind.WR, 3, 2)]
    cycle = shortest_cycle([*ring, *short], PATTERNS[Phenomenon.G1C])
    assert cycle is not None
    assert [(one.source, one.target) for one in cycle] == [(3, 2), (2, 3)]


def test_anti_dependencies_that_follow_each_other_are_not_apart() -> None:
    skew = [edge(Kind.RW, 1, 2), edge(Kind.RW, 2, 1)]
    assert shortest_cycle(skew, PATTERNS[Phenomenon.G2_ITEM]) is not None
    assert shortest_cycle(skew, PATTERNS[Phenomenon.G_NONADJACENT]) is None


def test_two_cycles_that_share_a_transaction_are_not_one() -> None:
    eight = [edge(Kind.RW, 1, 2), edge(Kind.WR, 2, 1), edge(Kind.RW, 1, 3), edge(Kind.WR, 3, 1)]
    assert shortest_cycle(eight, PATTERNS[Phenomenon.G_SINGLE]) is not None
    assert shortest_cycle(eight, PATTERNS[Phenomenon.G2_ITEM]) is None


def _matches(cycle: tuple[Dependency, ...], pattern: Pattern) -> bool:
    antis = [one.kind.is_anti for one in cycle]
    apart = not any(one and other for one, other in zip(antis, [*antis[1:], antis[0]], strict=True))
    return (
        cycle[0].kind in pattern.first
        and all(one.kind in pattern.rest for one in cycle[1:])
        and sum(antis) >= pattern.antis
        and (apart or not pattern.apart)
        and len({one.source for one in cycle}) == len(cycle)
        and all(one.target == other.source for one, other in zip(cycle, [*cycle[1:], cycle[0]], strict=True))
    )


def _exists(edges: list[Dependency], pattern: Pattern) -> bool:
    """Whether any simple cycle of the pattern exists, by trying them all."""

    def extend(path: tuple[Dependency, ...]) -> bool:
        if path[-1].target == path[0].source:
            return _matches(path, pattern)
        visited = {one.source for one in path}
        return any(
            extend((*path, one))
            for one in edges
            if one.source == path[-1].target and (one.target == path[0].source or one.target not in visited)
        )

    return any(extend((one,)) for one in edges if one.kind in pattern.first)


@pytest.mark.parametrize("seed", range(60))
def test_what_is_found_is_there_and_what_is_there_is_found(seed: int) -> None:
    dice = random.Random(seed)
    nodes, kinds = range(5), [Kind.WW, Kind.WR, Kind.RW, Kind.RW_PREDICATE]
    pairs = [(one, other) for one in nodes for other in nodes if one != other]
    edges = [edge(dice.choice(kinds), *dice.choice(pairs)) for _ in range(dice.randint(3, 9))]
    for phenomenon, pattern in PATTERNS.items():
        cycle = shortest_cycle(edges, pattern)
        if cycle is not None:
            assert _matches(cycle, pattern)
        elif phenomenon in (Phenomenon.G0, Phenomenon.G1C, Phenomenon.G_SINGLE):
            assert not _exists(edges, pattern)
        elif _exists(edges, pattern):  # left to the smaller cycles that it is made of
            assert shortest_cycle(edges, PATTERNS[Phenomenon.G_SINGLE]) is not None


def test_a_long_chain_is_gone_through_without_recursion() -> None:
    length = 20_000
    chain = [edge(Kind.WW, one, one + 1) for one in range(length)]
    assert strong_parts(chain) == []
    (part,) = strong_parts([*chain, edge(Kind.WR, length, 0)])
    assert len(part) == length + 1
