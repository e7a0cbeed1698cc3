"""Records golden histories on real servers and shows what changed since the last time.

    python -m tests.golden.record postgres@18 'tidb@5.4.2?mode=optimistic'
    python -m tests.golden.record --judge

The corpus is taken as it is now. Generated cases are those that were recorded before; `--draw` makes others.
`--judge` runs nothing: it judges the kept histories and writes down what is said of them now.
"""

import random
import re
from collections.abc import Iterator
from itertools import islice

import click

from acidtest import corpus
from acidtest.casefile import runs_on
from acidtest.errors import UsageError
from acidtest.execute import Executor
from acidtest.execute.acts import act_of
from acidtest.generate import PROFILES, Generator, flavour_of, profile_of
from acidtest.model import Case, History, Level
from acidtest.targets import Target
from acidtest.targets.resolve import open_target
from tests.golden.judging import UNEXPLAINED, said_of
from tests.golden.store import (
    Golden,
    histories_of,
    server_name,
    servers,
    verdicts_of,
    write_histories,
    write_verdicts,
)

GENERATED = 192
"""Generated cases a server, divided over its levels and the profiles."""


_MANY_ROWS = re.compile(r"\b(range|generate_series|repeat)\s*\([^)]*\d{4,}", re.IGNORECASE)


def to_be_recorded(dbms: str, version: str) -> list[Case]:
    """Bugs and anomalies for this server whose histories are small, and the same each time."""
    found = []
    for case in (*corpus.bugs(), *corpus.anomalies()):
        plain = not case.server and case.repeat == 1 and not any(act_of(step.sql) for step in case.steps)
        small = not any(_MANY_ROWS.search(statement.sql) for statement in case.setup)
        if plain and small and runs_on(case, dbms, version):
            found.append(case)
    return found


def corpus_cases(target: Target) -> Iterator[tuple[str, Case]]:
    """Bugs and anomalies at every level, as far as they are for this server."""
    for case in to_be_recorded(target.dbms, target.version):
        for level in target.levels:
            yield f"{case.id}@{level.short}", case.at_level(level)


def drawn_cases(target: Target) -> Iterator[tuple[str, Case]]:
    """Generated cases of every profile at every level; one order of each set of transactions."""
    number = GENERATED // len(target.levels) // len(PROFILES)
    for level in target.levels:
        for name in PROFILES:
            for case in islice(_drawn(target, level, name), number):
                yield f"{case.id}@{level.short}", case


def _drawn(target: Target, level: Level, name: str) -> Iterator[Case]:
    dice, profile = random.Random(f"golden {name} {level}"), profile_of(name)
    sets = Generator(dice, profile, flavour_of(target.dbms, target.version), (level,)).sets()
    for number, transactions in enumerate(sets):
        yield next(transactions.cases(dice, profile, f"{name}-{number}"))


def kept_cases(server: str) -> Iterator[tuple[str, Case]]:
    """The generated cases that were recorded before."""
    for one in histories_of(server):
        if one.id.partition("-")[0] in PROFILES:
            yield one.id, one.history.case


def record(spec: str, draw: bool) -> list[Golden]:
    """Run all cases on a server. What it refuses to set up is left out, and told."""
    kept = server_name(spec) in servers() and not draw
    with open_target(spec) as target, Executor(target) as executor:
        generated = kept_cases(server_name(spec)) if kept else drawn_cases(target)
        recorded = []
        for name, case in (*corpus_cases(target), *generated):
            try:
                recorded.append(Golden(name, executor.run(case, fresh=True)))
            except UsageError as refused:
                click.echo(f"{spec} {name} is left out: {refused}")
    return recorded


def outcomes(history: History) -> list[object]:
    """What of a run should be the same the next time: no order of events, no message."""
    return [(type(one.outcome).__name__, getattr(one.outcome, "rows", None)) for one in history.records]


def show_changes(server: str, new: list[Golden]) -> None:
    """How many histories are new or gone, and which went another way."""
    old = {one.id: one.history for one in histories_of(server)}
    names = {one.id for one in new}
    click.echo(f"{server}: {len(names - old.keys())} are new, {len(old.keys() - names)} are gone")
    for one in new:
        if one.id in old and outcomes(one.history) != outcomes(old[one.id]):
            click.echo(f"{server} {one.id} went another way")


def judge_again(server: str) -> None:
    """Write down what is said of a server's histories now. Show what changed, and what is wrong and new."""
    before = verdicts_of(server)
    now = {one.id: said_of(one.history) for one in histories_of(server)}
    for name, said in now.items():
        if name in before and before[name] != said:
            click.echo(f"{server} {name}\n  was {before[name]}\n  is  {said}")
        elif name not in before and said.endswith(UNEXPLAINED):
            click.echo(f"{server} {name}\n  is  {said}")
    write_verdicts(server, now)


@click.command()
@click.argument("specs", nargs=-1)
@click.option("--judge", "only_judge", is_flag=True, help="run nothing; judge what is kept")
@click.option("--draw", is_flag=True, help="generate other cases")
def main(specs: tuple[str, ...], only_judge: bool, draw: bool) -> None:
    """Record golden histories, or judge them again."""
    if only_judge:
        for server in map(server_name, specs) if specs else servers():
            judge_again(server)
        return
    for spec in specs:
        recorded = record(spec, draw)
        if server_name(spec) in servers():
            show_changes(server_name(spec), recorded)
        write_histories(server_name(spec), recorded)
        judge_again(server_name(spec))
        click.echo(f"{spec}: {len(recorded)} histories")


if __name__ == "__main__":
    main()
