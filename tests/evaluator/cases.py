"""The statements of generated cases, one after the other, on a server and by the evaluator.

    python -m tests.evaluator.cases --target mariadb@10.11 --profile rich --statements 10000 --seed 1

Every statement runs alone on what the ones before it have left, so that nothing but SQL is compared.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from random import Random

from acidtest.generate import generate_cases, profile_of
from acidtest.model import Case, Failed, Undone
from acidtest.sql import StatementKind, kind_of
from tests.evaluator.features import feature_cases
from tests.evaluator.server import Server, open_server
from tests.evaluator.tally import Tally
from tests.evaluator.writes import Judge

DISAGREEMENTS_MAX = 15
_ON_ROWS = (StatementKind.QUERY, StatementKind.WRITE)


def scripts(server: Server, random: Random, profile: str) -> Iterator[tuple[list[str], list[str]]]:
    """Endless set-ups with statements on rows."""
    if profile == "features":
        yield from feature_cases(random, server.target.dbms, server.target.version)
    levels = server.target.levels[:1]
    for case in generate_cases(
        random, profile_of(profile), server.target.dbms, levels, server.target.version
    ):
        yield _of_case(case)


def _of_case(case: Case) -> tuple[list[str], list[str]]:
    statements = [step.sql for step in case.steps if kind_of(step.sql) in _ON_ROWS]
    return [statement.sql for statement in case.setup], statements


def run(server: Server, random: Random, profile: str, statements: int, tally: Tally) -> int:
    """Compare until so many statements are done or too much disagrees; how many were done."""
    done = 0
    previous: list[str] = []
    for setup, script in scripts(server, random, profile):
        if setup == previous and random.random() < 0.8:
            continue  # the orders of one set of transactions differ little
        previous = setup
        server.target.rebuild(setup)
        schema = server.target.schema()
        judge = Judge(server.target.dbms, schema, server.dialect, tally, setup)
        names = [table.name for table in schema.tables]
        for sql in script:
            before = server.target.state(names)
            expected = judge.expect(sql, before)
            outcome = server.ask(sql)
            if isinstance(outcome, Failed):
                if outcome.undone is Undone.CONNECTION:
                    tally.disagreements.append(f"  the connection was lost at {sql}")
                    server.session = server.target.open_session()
                server.ask("ROLLBACK")
            if expected is not None:
                judge.compare(sql, expected, outcome, before, server.target.state(names))
            done += 1
        if done >= statements or len(tally.disagreements) >= DISAGREEMENTS_MAX:
            break
    return done


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", required=True, help="e.g. mariadb@10.11, or an address")
    parser.add_argument("--profile", default="rich")
    parser.add_argument("--statements", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"seed {options.seed}")  # noqa: T201
    tally = Tally()
    server = open_server(options.target, tables=False)
    started = time.monotonic()
    try:
        done = run(server, Random(options.seed), options.profile, options.statements, tally)
    finally:
        server.close()
    seconds = time.monotonic() - started
    lost = sum(tally.unknown.values())
    print(f"{server.target.label}, server {server.target.version}, {seconds:.0f} s")  # noqa: T201
    print(f"statements: {done}, unknown {lost} ({lost / max(done, 1):.1%})\n{tally.report()}")  # noqa: T201
    return 1 if tally.disagreements else 0


if __name__ == "__main__":
    sys.exit(main())
