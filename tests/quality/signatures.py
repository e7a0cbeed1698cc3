"""Measures whether one planted fault is taken for one or two causes, and writes down the cases for the tests.

    .venv/bin/python -m tests.quality.signatures                      # find, reduce, tell; takes half an hour
    .venv/bin/python -m tests.quality.signatures --again              # reduce the stored cases again
    .venv/bin/python -m tests.quality.signatures --engine fail --table-only

For every fault of an engine and every seed, generated cases run until one shows a violation. That one is
reduced and signed as a campaign does it. Prints a table by fault: seeds that found something, different
signatures, different causes. The cases of the engine `locking` are stored in `tests/golden/faults.jsonl.xz`,
which `tests/unit/test_findings_causes.py` reads.
"""

import json
import lzma
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from random import Random

import click

from acidtest.casefile import parse_case, print_case
from acidtest.errors import UsageError
from acidtest.examine import Examined, Examiner
from acidtest.findings.signature import Signature, signature_of
from acidtest.generate import RICH, SIMPLE, generate_cases
from acidtest.investigation.same_bug import SameBug, Seen
from acidtest.reduce import reduce_case
from acidtest.selftest import SPEAKS
from acidtest.simulated import BEHAVIOURS, LOCKING, Fault, fault_named, faults_of, levels_of, spec_of
from acidtest.targets.resolve import open_target

STORED = Path(__file__).parents[1] / "golden" / "faults.jsonl.xz"
SEEDS, CASES_MAX = 20, 300
RARE = frozenset(
    {
        "skip-locked-skips-nothing",
        "savepoint-releases-locks",
        "savepoint-too-deep",
        "savepoint-too-shallow",
        "no-unique-key-lock",
        "insert-without-lock",
        "resumed-insert-unchecked",
    }
)
"""Faults of statements that the profile `simple` makes rarely or never."""


@dataclass(frozen=True, slots=True)
class Found:
    """A case that a seed found, as a case file, before and after its reduction."""

    fault: str
    seed: int
    original: str
    reduced: str


def examiner_of(engine: str) -> tuple[str, ...]:
    """The oracles that judge an engine; its level decides whether cycles count."""
    return ("solver", "graph") if engine == "ssi" else ("solver",)


def find(fault: Fault, engine: str, seed: int, examiner: Examiner) -> Examined | None:
    """The first violation among generated cases of a seed."""
    levels = levels_of(fault, engine)
    profile = RICH if fault.name in RARE else SIMPLE
    dice = Random(f"{seed}")
    for case in islice(generate_cases(dice, profile, SPEAKS, (levels[seed % len(levels)],)), CASES_MAX):
        try:
            examined = examiner.examine(case)
        except UsageError:
            continue  # it does not know such tables
        if examined.violation is not None:
            return examined
    return None


def reduced(examined: Examined, examiner: Examiner) -> Seen:
    """The smallest run that shows the same, as an investigation gets it."""
    verdict = examined.violation
    assert verdict is not None
    gate = SameBug(examiner, verdict.oracle, signature_of(examined.history, verdict))
    start = gate.start_from(examined.history)
    reduce_case(start, examiner.target.dialect, gate.interesting, reordering=gate.reordering, rng=Random(1))
    return gate.last_seen or (examined.history, verdict)


def read_stored() -> list[Found]:
    """What was found when the cases were last written down."""
    return [Found(**json.loads(line)) for line in lzma.decompress(STORED.read_bytes()).splitlines()]


def _store(found: Iterable[Found]) -> None:
    lines = "".join(json.dumps(asdict(one)) + "\n" for one in found)
    STORED.write_bytes(lzma.compress(lines.encode(), preset=9))


def _suspects(
    fault: Fault, engine: str, seeds: int, stored: list[Found] | None, examiner: Examiner
) -> Iterator[tuple[int, Examined]]:
    if stored is None:
        for seed in range(seeds):
            if (examined := find(fault, engine, seed, examiner)) is not None:
                yield seed, examined
        return
    for one in stored:
        if one.fault == fault.name:
            examined = examiner.examine(parse_case(one.original, one.fault), fresh=True)
            assert examined.violation is not None, f"{one.fault} with seed {one.seed} does not show any more"
            yield one.seed, examined


def _row(fault: Fault, signatures: list[Signature], runs: int) -> str:
    causes = len({one.cause for one in signatures})
    return f"| `{fault.name}` | {len(signatures)} of {runs} | {len(set(signatures))} | {causes} |"


@click.command()
@click.option("--engine", default=LOCKING.name, type=click.Choice(list(BEHAVIOURS)), show_default=True)
@click.option("--seeds", default=SEEDS, show_default=True)
@click.option("--again", is_flag=True, help="Reduce the stored cases again instead of finding new ones.")
@click.option("--table-only", is_flag=True, help="Store nothing.")
@click.argument("faults", nargs=-1)
def main(engine: str, seeds: int, again: bool, table_only: bool, faults: tuple[str, ...]) -> None:
    """Print the table for the faults of an engine, or for those named."""
    stored = read_stored() if again else None
    chosen = [fault_named(name, engine) for name in faults] or list(faults_of(engine))
    found: list[Found] = []
    click.echo("| fault | found | signatures | causes |\n|---|---|---|---|")
    for fault in filter(None, chosen):
        signatures = []
        oracles = examiner_of(engine)
        with open_target(spec_of(engine, fault)) as target, Examiner(target, oracles) as examiner:
            for seed, examined in _suspects(fault, engine, seeds, stored, examiner):
                seen = reduced(examined, examiner)
                signatures.append(signature_of(*seen))
                original, smallest = print_case(examined.history.case), print_case(seen[0].case)
                found.append(Found(fault.name, seed, original, smallest))
        click.echo(_row(fault, signatures, seeds))
    if not table_only and engine == LOCKING.name and not faults:
        _store(found)


if __name__ == "__main__":
    main()
