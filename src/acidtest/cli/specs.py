"""`acidtest run FOLDER`: whole folders of isolation specs, as a table."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from acidtest.cli.options import chosen_levels
from acidtest.cli.progress import working
from acidtest.errors import UsageError
from acidtest.examine import Examiner
from acidtest.execute import Limits
from acidtest.model import Judgement, Level
from acidtest.report import verdict_to_json
from acidtest.specs import DBMS, SUFFIX, Ran, Result, SpecCase, Tally, load_spec_cases, run_specs, spec_files
from acidtest.targets import Target
from acidtest.targets.resolve import open_target

FORMAT = "acidtest-specs/1"


def run_folders(
    paths: Sequence[Path],
    compare: Path | None,
    targets: Sequence[str],
    level: Level | str | None,
    oracles: Sequence[str],
    ignore_known: bool,
    as_json: bool,
    limits: Limits,
) -> int:
    """Run all specs of folders and files, print the table, and give the exit code."""
    loaded = {path: load_spec_cases(path, compare) for one in paths for path in _files(one)}
    documents = []
    exit_code = 0
    for target in targets:
        ran = _run_all(list(loaded.values()), target, level, oracles, limits)
        exit_code = max(exit_code, _exit_code(ran, ignore_known))
        if as_json:
            documents.append(_document(target, ran))
        else:
            _print(target, ran)
    if as_json:
        click.echo(json.dumps({"format": FORMAT, "targets": documents}, indent=2))
    return exit_code


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return spec_files(path)
    if path.suffix != SUFFIX:
        raise UsageError(f"{path} is no isolation spec; a folder of specs is run with other specs only")
    return [path]


def _run_all(
    specs: Sequence[Sequence[SpecCase]],
    name: str,
    choice: Level | str | None,
    oracles: Sequence[str],
    limits: Limits,
) -> list[Ran]:
    found: list[Ran] = []
    with working() as say, open_target(name) as target:
        if target.dbms != DBMS:
            raise UsageError(f"isolation specs are written for PostgreSQL, and {name} is {target.dbms}")
        for position, cases in enumerate(specs, 1):
            spec = cases[0].permutation.spec.name
            say(f"{name}: {spec} ({position} of {len(specs)}, {len(cases)} permutations)")
            if not target.is_alive():
                target.restart()
            # A spec may leave a database in which nothing works any more, so each gets its own.
            with target.sibling() as private:
                for level in chosen_levels(choice, private):
                    found.extend(_run_one(cases, private, level, oracles, limits))
    return found


def _run_one(
    cases: Sequence[SpecCase], target: Target, level: Level | None, oracles: Sequence[str], limits: Limits
) -> list[Ran]:
    with Examiner(target, oracles, limits=limits) as examiner:
        return run_specs(examiner, cases, level)


def _exit_code(ran: Sequence[Ran], ignore_known: bool) -> int:
    """3 outweighs 1: of a target that failed nothing else can be said."""
    if any(one.server_failed for one in ran):
        return 3
    violations = (verdict for one in ran for verdict in one.verdicts if verdict.is_violation)
    broken = any(not (verdict.is_explained and ignore_known) for verdict in violations)
    return int(broken or any(one.result is Result.DIFFERS for one in ran))


# -- as text


def _print(target: str, ran: Sequence[Ran]) -> None:
    Console(width=None if sys.stdout.isatty() else 160).print(_table(ran))
    for line in _details(ran):
        click.echo(line)
    click.echo(summary(target, ran))


def _table(ran: Sequence[Ran]) -> Table:
    table = Table("spec", "permutations", "agree", "differ", "not run", "pass", "violation", "unknown")
    for column in table.columns[1:]:
        column.justify = "right"
    for name in dict.fromkeys(one.spec for one in ran):
        tally = Tally.of([one for one in ran if one.spec == name])
        table.add_row(name, *map(str, _numbers(tally)))
    return table


def _numbers(tally: Tally) -> Iterator[int]:
    yield tally.permutations
    yield from (tally.results[one] for one in (Result.AGREES, Result.DIFFERS, Result.NOT_RUN))
    yield from (tally.judgements[one] for one in (Judgement.PASS, Judgement.VIOLATION, Judgement.UNKNOWN))


def _details(ran: Sequence[Ran]) -> Iterator[str]:
    """Every permutation that differs, was not run, or broke a promise in the eyes of an oracle."""
    for one in ran:
        head = f"{one.spec} {one.number} ({' '.join(one.steps)})"
        if one.result is Result.NOT_RUN:
            yield f"{head}: not run: {one.why}"
        if one.differences:
            first = one.differences[0]
            more = f" (and {len(one.differences) - 1} more)" if len(one.differences) > 1 else ""
            what = f"expected {first.expected}, observed {first.observed}{more}"
            yield f"{head}: differs at {first.step}: {what}"
        for verdict in one.verdicts:
            if verdict.judgement is Judgement.VIOLATION:
                yield f"{head}: {verdict.oracle} found a violation: {verdict.kind}"


def summary(target: str, ran: Sequence[Ran]) -> str:
    """One line for all."""
    tally = Tally.of(ran)
    specs = len({one.spec for one in ran})
    ran_at_all = tally.permutations - tally.results[Result.NOT_RUN]
    line = f"{target}: {specs} specs, {ran_at_all} of {tally.permutations} permutations run"
    compared = tally.results[Result.AGREES] + tally.results[Result.DIFFERS]
    if compared:
        share = 100 * tally.results[Result.AGREES] / compared
        line += f", {tally.results[Result.AGREES]} agree ({share:.1f} %)"
        line += f", {tally.results[Result.DIFFERS]} differ"
    if tally.judgements:
        line += "; " + ", ".join(f"{tally.judgements[one]} {one.value}" for one in Judgement)
    return line


# -- as JSON


def _document(target: str, ran: Sequence[Ran]) -> dict[str, Any]:
    tally = Tally.of(ran)
    return {
        "target": target,
        "permutations": [_to_json(one) for one in ran],
        "results": {one.value: tally.results[one] for one in Result},
        "judgements": {one.value: tally.judgements[one] for one in Judgement},
    }


def _to_json(one: Ran) -> dict[str, Any]:
    return {
        "spec": one.spec,
        "number": one.number,
        "steps": list(one.steps),
        "result": one.result.value,
        "differences": [
            {"step": each.step, "expected": each.expected, "observed": each.observed}
            for each in one.differences
        ],
        "reason": one.why or None,
        "judgement": None if one.judgement is None else one.judgement.value,
        "verdicts": [verdict_to_json(verdict) for verdict in one.verdicts],
    }
