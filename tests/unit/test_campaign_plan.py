"""Chunks: handed out evenly, within the limit, and the same for the same seed."""

from dataclasses import replace
from itertools import islice

import pytest

from acidtest.campaign.crew import share_out
from acidtest.campaign.plan import CHUNK_CASES, Cell, Chunk, Queue, Settings, cells_of
from acidtest.campaign.suspects import Suspects
from acidtest.errors import UsageError
from acidtest.findings.deeds import Act, Deed
from acidtest.findings.parts import WrongCount
from acidtest.findings.signature import Signature
from acidtest.generate import generate_cases, profile_of
from acidtest.model import Level, ViolationKind
from acidtest.model.trace import Fate
from acidtest.oracles.registry import DEFAULT

RC, RR = Level.READ_COMMITTED, Level.REPEATABLE_READ
SETTINGS = Settings(targets=("mariadb@10.11",), levels=("RC", "RR"), oracles=(), profile="simple", seed=1)
A, B = Cell("mariadb@10.11", (RC,)), Cell("mariadb@10.11", (RR,))


def test_a_cell_for_every_target_and_level() -> None:
    assert cells_of(SETTINGS) == [A, B]
    assert cells_of(replace(SETTINGS, mixed_levels=True)) == [Cell("mariadb@10.11", (RC, RR))]
    everything = cells_of(replace(SETTINGS, levels=(), targets=("mariadb@10.11", "duckdb")))
    assert [cell.level for cell in everything] == ["RU", "RC", "RR", "SER", "SI"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"levels": ("SI",)}, "has no isolation level SNAPSHOT"),
        ({"oracles": ("psychic",)}, "unknown oracle 'psychic'"),
        ({"profile": "baroque"}, "unknown profile 'baroque'"),
        ({"targets": ("oracle",)}, "unknown target 'oracle'"),
    ],
)
def test_what_cannot_be_meant_is_refused(change: dict[str, tuple[str, ...]], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        cells_of(replace(SETTINGS, **change))  # type: ignore[arg-type]


def test_cells_take_turns_and_the_limit_holds() -> None:
    queue = Queue([A, B], cases_max=2 * CHUNK_CASES + 50)
    chunks = list(iter(lambda: queue.next(["mariadb@10.11"]), None))
    assert [(chunk.cell, chunk.number, chunk.size) for chunk in chunks] == [
        (A, 0, CHUNK_CASES),
        (B, 0, CHUNK_CASES),
        (A, 1, 50),
    ]


def test_a_campaign_that_goes_on_finishes_what_was_begun_first() -> None:
    done = [Chunk(A, 0, CHUNK_CASES, CHUNK_CASES), Chunk(A, 1, CHUNK_CASES, CHUNK_CASES)]
    begun = Chunk(B, 0, CHUNK_CASES, position=150)
    queue = Queue([A, B], cases_max=4 * CHUNK_CASES + 10, begun=[*done, begun])
    chunks = list(iter(lambda: queue.next(["mariadb@10.11"]), None))
    assert chunks == [begun, Chunk(B, 1, CHUNK_CASES), Chunk(A, 2, 10)]


def all_chunks(queue: Queue, *turns: list[str]) -> set[Chunk]:
    """What workers get who ask in these turns until nobody gets anything."""
    chunks: set[Chunk] = set()
    while got := [chunk for targets in turns if (chunk := queue.next(targets)) is not None]:
        chunks.update(got)
    return chunks


def test_which_chunks_there_are_does_not_depend_on_who_works_how_fast() -> None:
    cells = [A, B, Cell("mysql@9.7", (RC,))]
    both, fast, slow = ["mariadb@10.11", "mysql@9.7"], ["mariadb@10.11"], ["mysql@9.7"]
    limit = 7 * CHUNK_CASES + 30
    chunks = all_chunks(Queue(cells, limit), both)
    assert chunks == all_chunks(Queue(cells, limit), fast, fast, fast, slow)
    assert chunks == all_chunks(Queue(cells, limit), slow, fast, slow)
    assert sum(chunk.size for chunk in chunks) == limit


@pytest.mark.parametrize("more", [251, 400, 1000])
def test_a_higher_limit_goes_on_in_the_chunk_that_the_old_one_clipped(more: int) -> None:
    done = [Chunk(A, 0, CHUNK_CASES, CHUNK_CASES), Chunk(B, 0, CHUNK_CASES, 50)]
    assert not all_chunks(Queue([A, B], 250, done), ["mariadb@10.11"])
    chunks = all_chunks(Queue([A, B], more, done), ["mariadb@10.11"])
    examined = {(one.cell, one.number, place) for one in chunks for place in range(one.position, one.size)}
    fresh = all_chunks(Queue([A, B], more), ["mariadb@10.11"])
    wanted = {(one.cell, one.number, place) for one in fresh for place in range(one.size)}
    before = {(one.cell, one.number, place) for one in done for place in range(one.position)}
    assert examined == wanted - before


def test_a_chunk_that_is_given_back_comes_next() -> None:
    queue = Queue([A], None)
    first = queue.next(["mariadb@10.11"])
    assert first is not None
    queue.next(["mariadb@10.11"])
    queue.give_back(replace(first, position=7))
    assert queue.next(["mariadb@10.11"]) == replace(first, position=7)
    assert queue.next(["postgres"]) is None


def test_the_dice_of_a_chunk_depend_on_seed_cell_and_number_alone() -> None:
    def cases(chunk: Chunk, seed: int) -> list[str]:
        stream = generate_cases(chunk.dice(seed), profile_of("simple"), "mariadb", chunk.cell.levels)
        return [str(case) for case in islice(stream, 5)]

    chunk = Chunk(A, 3, CHUNK_CASES)
    assert cases(chunk, 1) == cases(replace(chunk, position=100, size=7), 1)
    assert cases(chunk, 1) != cases(chunk, 2)
    assert cases(chunk, 1) != cases(replace(chunk, number=4), 1)


@pytest.mark.parametrize(
    ("targets", "workers", "shares"),
    [
        (["a"], 2, [["a"], ["a"]]),
        (["a", "b", "c"], 2, [["a", "c"], ["b"]]),
        (["a", "b"], 3, [["a"], ["b"], ["a"]]),
    ],
)
def test_workers_get_as_few_targets_as_can_be(
    targets: list[str], workers: int, shares: list[list[str]]
) -> None:
    assert share_out(targets, workers) == shares


def test_the_default_oracles_judge_and_crash_always_takes_part() -> None:
    assert SETTINGS.all_oracles() == DEFAULT
    assert replace(SETTINGS, oracles=("views",)).all_oracles() == ("views", "crash")
    assert replace(SETTINGS, oracles=("none",)).all_oracles() == ("crash",)


HERE, THERE = ("t", "RC"), ("t", "RR")


def signature(*acts: str) -> Signature:
    deeds = frozenset(Deed(Act(act), Fate.COMMITTED) for act in acts)
    return Signature(ViolationKind.WRONG_AFFECTED_COUNT, WrongCount(True), others=deeds)


def test_one_signature_is_investigated_more_and_more_rarely() -> None:
    suspects = Suspects()
    unexplained = [number for number in range(1, 20) if suspects.is_worth_it(HERE, signature("update"))]
    assert unexplained == [1, 2, 4, 8, 16]


def test_what_goes_wrong_at_a_level_for_the_first_time_is_always_looked_at() -> None:
    suspects = Suspects()
    suspects.found(1, signature("update"))
    noisy = signature("update", "insert", "delete")
    assert suspects.is_worth_it(HERE, noisy, spent=0.9)
    assert not suspects.is_worth_it(HERE, noisy, spent=0.9)
    assert suspects.is_worth_it(THERE, noisy, spent=0.9)
    assert suspects.is_worth_it(("another target", "RC"), noisy, spent=0.9)


def test_what_a_finding_may_explain_is_looked_at_again_now_and_then() -> None:
    suspects = Suspects()
    suspects.found(1, signature("update"))
    assert not suspects.is_worth_it(HERE, signature("update"))
    assert suspects.finding_of(signature("update")) == 1
    noisy = signature("update", "insert", "delete")
    assert [number for number in range(1, 20) if suspects.is_worth_it(HERE, noisy)] == [1, 4, 16]
    assert (suspects.finding_of(noisy), suspects.likely_finding_of(noisy)) == (None, 1)


def test_the_more_time_was_spent_the_choosier() -> None:
    suspects = Suspects()
    suspects.found(1, signature("update"))
    assert suspects.is_worth_it(HERE, signature("update", "insert"))
    assert not suspects.is_worth_it(HERE, signature("update", "delete", "insert"), spent=0.3)
    assert suspects.is_worth_it(HERE, signature("update", "delete"), spent=0.3)
    assert suspects.is_worth_it(HERE, signature("delete"), spent=0.3)
    assert not suspects.is_worth_it(HERE, signature("update", "delete", "locking read"), spent=0.5)
    assert suspects.is_worth_it(HERE, replace(signature("insert"), waited=True), spent=0.5)
