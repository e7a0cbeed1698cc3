"""Runs bugs of the corpus at every level and writes down in their files where they showed.

    .venv/bin/python -m tests.quality.seen duckdb -t duckdb@1.4.3 -t duckdb@2.0.0

What was written about other targets stays. A target on which a case says nothing is left out.
"""

import re
from collections import defaultdict
from pathlib import Path

import click

from acidtest import corpus
from acidtest.bugs.cells import Cell, Found
from acidtest.bugs.observing import Plan, observe_all
from acidtest.cli.bugs.choosing import choose_cases, choose_targets
from acidtest.cli.bugs.options import progress
from acidtest.model import Level
from acidtest.targets.resolve import dbms_of

_KEY = re.compile(r"-- [a-z]+( \w+)?:( |$)")
_SEEN = re.compile(r"-- seen: (\S+) ")


@click.command()
@click.argument("patterns", nargs=-1)
@click.option("-t", "--target", "targets", multiple=True)
@click.option("--dry", is_flag=True, help="Only print.")
def main(patterns: tuple[str, ...], targets: tuple[str, ...], dry: bool) -> None:
    """Write `-- seen:` lines."""
    cases = choose_cases(patterns)
    plan = Plan(cases, choose_targets(targets, cases), "all")
    with progress(plan) as told:
        cells = observe_all(plan, told)
    found: dict[str, dict[str, list[Cell]]] = defaultdict(lambda: defaultdict(list))
    for cell in cells:
        if cell.found in (Found.SHOWS, Found.HIDDEN, Found.ERROR):
            found[cell.case][label(cell)].append(cell)
        elif cell.found is Found.UNKNOWN:
            click.echo(
                f"{cell.case} on {cell.target} at {cell.level}: unknown: {cell.detail.splitlines()[0][:150]}"
            )
    for case in cases:
        lines = {target: line(target, own) for target, own in found[case.id].items()}
        for one in lines.values():
            click.echo(f"{case.id} {one}")
        if not dry:
            path = corpus.find(case.id)
            path.write_text(rewritten(path, lines), "utf-8")


def label(cell: Cell) -> str:
    """The target with the release that it really is, and its options."""
    options = cell.target.partition("?")[2]
    version = re.match(r"[\d.]+", cell.version)
    tidb = re.search(r"TiDB-v([\d.]+)", cell.version)
    number = tidb[1] if tidb else version[0] if version else ""
    return f"{dbms_of(cell.target)}@{number}" + (f"?{options}" if options else "")


def line(target: str, cells: list[Cell]) -> str:
    levels = [
        level.short
        for level in Level
        if any(c.level == level.short and c.found is Found.SHOWS for c in cells)
    ]
    return f"-- seen: {target} {', '.join(levels) or 'no level'}"


def rewritten(path: Path, lines: dict[str, str]) -> str:
    """The text of a case file with these lines in its front block."""
    text = path.read_text("utf-8").splitlines()
    kept = [one for one in text if not ((seen := _SEEN.match(one)) and seen[1] in lines)]
    front = next(number for number, one in enumerate(kept) if one in ("-- setup", "-- schedule"))
    last = max(number for number in range(front) if _KEY.match(kept[number]))
    every = sorted([*(one for one in kept[:front] if _SEEN.match(one)), *lines.values()], key=_order)
    before = [one for one in kept[: last + 1] if not _SEEN.match(one)]
    after = [one for one in kept[last + 1 :] if not _SEEN.match(one)]
    return "\n".join([*before, *every, *after]) + "\n"


def _order(seen: str) -> tuple[str, list[int], str]:
    target = seen.split()[2]
    return target.partition("@")[0], [int(one) for one in re.findall(r"\d+", target)], seen


if __name__ == "__main__":
    main()
