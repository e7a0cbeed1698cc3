"""The evaluator against a real server, cell by cell.

    python -m tests.evaluator.differential --target mariadb@10.11 --cells 1000000 --seed 1

The same seed gives the same expressions, rows and queries. Prints what was compared, what the evaluator
does not know and why, and every disagreement, shrunk to its smallest part that still disagrees.
"""

import argparse
import sys
import time
from random import Random

from tests.evaluator.scalars import compare_batch
from tests.evaluator.server import Server, open_server
from tests.evaluator.statements import compare_query, compare_update
from tests.evaluator.tally import Tally

BATCH = 20
DISAGREEMENTS_MAX = 25


def run(server: Server, random: Random, cells: int, tally: Tally) -> None:
    """Compare until so many cells are done or too much disagrees."""
    while tally.cells < cells and len(tally.disagreements) < DISAGREEMENTS_MAX:
        server.refill(random)
        for _ in range(25):
            maker = server.expressions(random)
            texts = [maker.any(random.choice([1, 2, 2, 3])) for _ in range(BATCH)]
            compare_batch(server, texts, tally)
            for _ in range(4):
                compare_query(server, random, tally)
            for _ in range(2):
                compare_update(server, random, tally)
            if tally.cells >= cells or len(tally.disagreements) >= DISAGREEMENTS_MAX:
                break


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", required=True, help="e.g. mariadb@10.11, or an address")
    parser.add_argument("--cells", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"seed {options.seed}")  # noqa: T201
    tally = Tally()
    server = open_server(options.target)
    started = time.monotonic()
    try:
        run(server, Random(options.seed), options.cells, tally)
    finally:
        server.close()
    seconds = time.monotonic() - started
    print(f"{server.target.label}, server {server.target.version}, {seconds:.0f} s\n{tally.report()}")  # noqa: T201
    return 1 if tally.disagreements else 0


if __name__ == "__main__":
    sys.exit(main())
