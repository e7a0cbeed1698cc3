"""`acidtest run`: run cases, print what really happened, and judge it."""

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from acidtest.casefile import Unmet, check, describe_constraints, printable, runs_on
from acidtest.casefile.isolation import Difference
from acidtest.cli.loading import load_cases
from acidtest.cli.options import (
    against_option,
    chosen_against,
    chosen_levels,
    level_option,
    oracle_option,
    target_option,
)
from acidtest.cli.output import say
from acidtest.cli.paint import paint
from acidtest.cli.specs import run_folders
from acidtest.errors import UsageError
from acidtest.examine import Examined, Examiner
from acidtest.execute import DiedLaterError, Limits
from acidtest.histories import write_history
from acidtest.instrument import NotInstrumentableError, Server, instrument
from acidtest.model import Case, History, Level, Verdict
from acidtest.oracles.registry import with_comparing
from acidtest.oracles.walks import HistoryWalk
from acidtest.report import (
    allowed_phenomena,
    disagreement,
    print_history,
    print_verdicts,
    run_to_json,
    verdict_to_json,
)
from acidtest.report.as_json import FORMAT
from acidtest.specs import SpecCase
from acidtest.targets import Target
from acidtest.targets.resolve import check_spec, open_target


@click.command()
@click.argument("cases", nargs=-1, required=True, metavar="CASE...")
@target_option(multiple=True)
@level_option
@oracle_option
@against_option
@click.option("--ignore-known", is_flag=True, help="Known, documented behaviour does not count as a finding.")
@click.option("--json", "as_json", is_flag=True, help="Print the runs as JSON (docs/json.md) instead.")
@click.option(
    "--compare",
    type=click.Path(exists=True, path_type=Path),
    metavar="FILE|FOLDER",
    help="Compare isolation specs with the outputs recorded there.  [default: expected/ beside their folder]",
)
@click.option(
    "--export-history",
    "export",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write what transactions read and wrote as a history for Elle and `acidtest check`: JSON if the "
    "name ends in .json, else EDN. Of several runs each gets a number.",
)
@click.option(
    "--instrument",
    "instrumented",
    is_flag=True,
    help="Give every row an identity and versions, so that `graph` also judges what the run shows.",
)
@click.option("--force", is_flag=True, help="Run also on targets that the case is not written for.")
@click.option(
    "--limit",
    "limit_s",
    type=click.FloatRange(min=0.1),
    default=Limits().statement_s,
    show_default=True,
    metavar="SECONDS",
    help="Give up on a statement that neither answers nor waits for a lock for so long.",
)
def run(
    cases: tuple[str, ...],
    targets: tuple[str, ...],
    level: Level | str | None,
    oracles: tuple[str, ...],
    against: tuple[str, ...],
    ignore_known: bool,
    as_json: bool,
    compare: Path | None,
    export: Path | None,
    instrumented: bool,
    force: bool,
    limit_s: float,
) -> int:
    """Run CASEs (files, or ids of the corpus) on real DBMSs, print what really happened, and judge it.

    The output has the shape of a case file: what blocked, what resumed it, results and errors stand behind
    the statements as comments. Then each oracle says whether the DBMS kept its promise. The exit code is 1 if
    one found a violation, or if an expectation of the case is not met.

    A CASE may also be an isolation spec of PostgreSQL (X.spec), of which every permutation is run, one of its
    permutations (X.spec#3), or a folder of specs, which gives a table. Runs that differ from the recorded
    output give exit code 1, too.

    \b
    acidtest run my-case.sql                               on the embedded PostgreSQL
    acidtest run MDEV-26642 -t mariadb@10.11 -l all        a known bug at every isolation level
    acidtest run my-case.sql -t mariadb@10.11 --against mysql@9.7       and what MySQL does with it
    acidtest run *.sql -t mysql://root@127.0.0.1:3306/ --json
    acidtest run postgresql/src/test/isolation/specs -t postgres@18
    """
    for spec in targets:
        check_spec(spec)
    other = chosen_against(against, targets)
    oracles = with_comparing(oracles, other is not None)
    limits = Limits(statement_s=limit_s)
    if any(Path(name).is_dir() for name in cases):
        if other is not None:
            raise UsageError("--against compares cases and single specs, no folders of specs; leave it out")
        paths = [Path(name) for name in cases]
        return run_folders(paths, compare, targets, level, oracles, ignore_known, as_json, limits)
    loaded = [one for name in cases for one in load_cases(name, compare)]
    output = JsonOutput(ignore_known) if as_json else TextOutput(ignore_known)
    output.exporter = None if export is None else Exporter(export)
    try:
        with ExitStack() as stack:
            compared = None if other is None else stack.enter_context(open_target(other))
            for spec in targets:
                with (
                    open_target(spec) as target,
                    Examiner(target, oracles, limits=limits, against=compared) as examiner,
                ):
                    for case in loaded:
                        _run_case(case, examiner, level, output, force, instrumented)
                    if (late := examiner.executor.late_death()) is not None:
                        output.died_later(Examined(late, examiner.judge(late)))
    finally:
        output.finish()  # whatever ended the last run, the others are not lost
    return output.exit_code


class Output:
    """Collects what the runs came to. 3 outweighs 1: of a target that died nothing else can be said."""

    exit_code = 0
    exporter: "Exporter | None" = None

    def __init__(self, ignore_known: bool) -> None:
        self._ignore_known = ignore_known

    def ran(
        self,
        run: Examined,
        unmet: tuple[Unmet, ...],
        differences: tuple[Difference, ...] | None,
    ) -> None:
        """One run ended. `differences` from its recorded output, if it has one."""
        if self.exporter is not None:
            self.exporter.write(run.history)
        if run.history.server_died:
            self.exit_code = 3
        elif (unmet or differences or any(map(self._counts, run.verdicts))) and self.exit_code == 0:
            self.exit_code = 1

    def died_later(self, run: Examined) -> None:
        """The run that was told last has to be told again: the server died of it."""
        del run
        self.exit_code = 3

    def skipped(self, case: Case, target: Target, why: str) -> None:
        """A case was not run."""

    def finish(self) -> None:
        """All runs ended."""

    def _counts(self, verdict: Verdict) -> bool:
        return verdict.is_violation and not (verdict.is_explained and self._ignore_known)


class Exporter:
    """Writes runs as histories: the first one to the file, later ones beside it with a number."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._count = 0

    def write(self, history: History) -> None:
        """Write one run, or say why it cannot be written."""
        self._count += 1
        number = "" if self._count == 1 else f"-{self._count}"
        path = self._path.with_name(f"{self._path.stem}{number}{self._path.suffix}")
        walk = HistoryWalk(history)
        if walk.trace is None:
            reason = walk.verdict.reason or "the run breaks the level's promise, so its rows cannot be traced"
            say(f"{history.case.id} is not written to {path}: {reason}")
            return
        try:
            workload = write_history(walk.trace, path)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from error
        say(f"{history.case.id} is written to {path} ({workload.value})")


class TextOutput(Output):
    """Runs as case files with comments, one after the other."""

    def ran(
        self,
        run: Examined,
        unmet: tuple[Unmet, ...],
        differences: tuple[Difference, ...] | None,
    ) -> None:
        super().ran(run, unmet, differences)
        text = print_history(run.history, unmet)
        if run.verdicts:
            text += print_verdicts(run.history, run.verdicts)
        if differences is not None:
            text += _print_comparison(differences)
        click.echo(paint(text))

    def died_later(self, run: Examined) -> None:
        super().died_later(run)
        click.echo(f"-- {run.history.case.id}: the server died when this run was over\n")
        click.echo(paint(print_history(run.history, ()) + print_verdicts(run.history, run.verdicts)))

    def skipped(self, case: Case, target: Target, why: str) -> None:
        click.echo(f"-- {case.id}: skipped on {target.label}: {why}\n")


class JsonOutput(Output):
    """One JSON document with all runs."""

    def __init__(self, ignore_known: bool) -> None:
        super().__init__(ignore_known)
        self._runs: list[dict[str, Any]] = []
        self._skipped: list[dict[str, str]] = []

    def ran(
        self,
        run: Examined,
        unmet: tuple[Unmet, ...],
        differences: tuple[Difference, ...] | None,
    ) -> None:
        super().ran(run, unmet, differences)
        told = None if differences is None else [_difference_to_json(one) for one in differences]
        self._runs.append(run_to_json(run.history, unmet) | _verdicts_to_json(run) | {"differences": told})

    def died_later(self, run: Examined) -> None:
        super().died_later(run)
        self._runs[-1] |= run_to_json(run.history, check(run.history)) | _verdicts_to_json(run)

    def skipped(self, case: Case, target: Target, why: str) -> None:
        self._skipped.append({"case": case.id, "target": target.label, "reason": why})

    def finish(self) -> None:
        click.echo(json.dumps({"format": FORMAT, "runs": self._runs, "skipped": self._skipped}, indent=2))


def _verdicts_to_json(run: Examined) -> dict[str, Any]:
    return {
        "verdicts": [verdict_to_json(verdict) for verdict in run.verdicts],
        "disagreement": disagreement(run.verdicts),
        "occurred": [one.text for one in allowed_phenomena(run.verdicts)],
    }


def _difference_to_json(one: Difference) -> dict[str, Any]:
    return {"step": one.step, "expected": one.expected, "observed": one.observed}


def _print_comparison(differences: tuple[Difference, ...]) -> str:
    if not differences:
        return "-- as recorded\n"
    lines = [
        f"-- DIFFERS from the recorded output at {one.step}: expected {one.expected}, observed {one.observed}"
        for one in differences
    ]
    return "".join(f"{printable(line)}\n" for line in lines)


def _run_case(
    loaded: Case | SpecCase,
    examiner: Examiner,
    choice: Level | str | None,
    output: Output,
    force: bool,
    instrumented: bool,
) -> None:
    target = examiner.target
    case = loaded.case if isinstance(loaded, SpecCase) else loaded
    if not force and not runs_on(case, target.dbms, target.version):
        output.skipped(case, target, f"it is for {describe_constraints(case)} (--force runs it all the same)")
        return
    for level in chosen_levels(choice, target):
        one = case.at_level(level)
        try:
            one = instrument(one, Server.of(target)) if instrumented else one
        except NotInstrumentableError as problem:
            output.skipped(case, target, f"its rows cannot carry versions: {problem.reason}")
            continue
        try:
            run = examiner.examine(one, fresh=True)
        except DiedLaterError as late:
            output.died_later(Examined(late.history, examiner.judge(late.history)))
            run = examiner.examine(one, fresh=True)
        differences = loaded.differences(run.history) if isinstance(loaded, SpecCase) else None
        output.ran(run, check(run.history), differences)
