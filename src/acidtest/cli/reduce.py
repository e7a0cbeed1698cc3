"""`acidtest reduce`: the smallest case that still shows the same violation."""

import sys
from pathlib import Path
from random import Random

import click

from acidtest.casefile import print_case
from acidtest.cli.loading import load_one
from acidtest.cli.options import level_option, oracle_option, target_option
from acidtest.cli.paint import paint
from acidtest.errors import UsageError
from acidtest.examine import Examiner
from acidtest.findings.signature import signature_of
from acidtest.investigation.same_bug import SameBug
from acidtest.model import Case, Level
from acidtest.oracles.registry import check_names
from acidtest.reduce import DEFAULT_POLICY, POLICIES, Progress, Reduction, characters, reduce_case
from acidtest.report import print_history, print_verdicts
from acidtest.report.signatures import describe
from acidtest.targets.resolve import check_spec, open_target

RERUNS = 5
"""Runs that tell how often a violation shows, before anything is changed."""


@click.command()
@click.argument("case", metavar="CASE")
@target_option(multiple=False)
@level_option
@oracle_option
@click.option(
    "--policy",
    type=click.Choice(list(POLICIES)),
    default=DEFAULT_POLICY,
    show_default=True,
    help="How the next simplification is chosen (docs/reducer.md).",
)
@click.option("--seed", type=int, default=1, show_default=True, help="For the policies that use chance.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Also write the result here.")
def reduce(
    case: str,
    target: str,
    level: Level | str | None,
    oracles: tuple[str, ...],
    policy: str,
    seed: int,
    out: Path | None,
) -> int:
    """Shrink CASE (a file, or an id of the corpus) to the smallest one that shows the same violation.

    Every candidate is run again and judged again. Prints the result with its observed run; the exit code is
    1, as for any finding. Ctrl-C ends the search with the smallest case so far.

    \b
    acidtest reduce finding.sql -t mariadb@10.11 --out minimal.sql
    """
    loaded = load_one(case)
    if level == "all":
        raise UsageError("a case is reduced at one level; `--level all` names several")
    names = check_names(oracles)
    if not names:
        raise UsageError("without an oracle there is no violation to keep; leave `--oracle none` out")
    check_spec(target)
    _check_writable(out)
    with open_target(target) as opened, Examiner(opened, names) as examiner:
        wanted = loaded.at_level(Level(level) if level is not None else None)
        reduction, gate = _reduce(wanted, examiner, policy, Random(seed))
        text = _report(reduction, gate, examiner)
    _show(text, reduction, out)
    return 1


def _check_writable(out: Path | None) -> None:
    if out is None:
        return
    if out.exists():
        raise UsageError(f"{out} exists already; name another file for --out, or remove it")
    if not out.absolute().parent.is_dir():
        raise UsageError(f"the folder of --out {out} does not exist")


def _reduce(case: Case, examiner: Examiner, policy: str, rng: Random) -> tuple[Reduction, SameBug]:
    examined = examiner.examine(case, fresh=True)
    violation = examined.violation
    if violation is None:
        raise UsageError(f"no violation to keep: no oracle objects to {case.id} on {examiner.target.label}")
    signature = signature_of(examined.history, violation)
    once = SameBug(examiner, violation.oracle, signature)
    shown = sum(once.look(case) is not None for _ in range(RERUNS))
    if not shown:
        raise UsageError(f"the violation of {case.id} did not show again in {RERUNS} runs")
    click.echo(f"keeping: {describe(signature)} (shown in {shown} of {RERUNS} runs)", err=True)
    gate = SameBug(examiner, violation.oracle, signature, rate=shown / RERUNS)
    reduction = reduce_case(
        gate.start_from(examined.history),
        examiner.target.dialect,
        gate.interesting,
        rng=rng,
        policy=policy,
        reordering=gate.reordering,
        progress=_Teller(),
    )
    return reduction, gate


class _Teller:
    """Progress on standard error: one line that changes on a terminal, else a line for every step forward."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._kept = 0

    def __call__(self, progress: Progress) -> None:
        line = (
            f"{progress.layer}: {progress.statements} statements, {progress.characters} characters "
            f"after {progress.runs} runs"
        )
        if self._live:
            click.echo(f"\r{line:<76}", err=True, nl=False)
        elif progress.kept > self._kept:
            click.echo(line, err=True)
        self._kept = progress.kept


def _report(reduction: Reduction, gate: SameBug, examiner: Examiner) -> str:
    """The reduced case as it ran once more."""
    seen = gate.look(reduction.case)
    if seen is None:
        click.echo("it did not show in the last run of the reduced case: it comes and goes", err=True)
        return print_case(reduction.case)
    history, _ = seen
    return print_history(history) + print_verdicts(history, examiner.judge(history))


def _show(text: str, reduction: Reduction, out: Path | None) -> None:
    before, after = characters(reduction.original), characters(reduction.case)
    summary = (
        f"{len(reduction.original.schedule)} to {len(reduction.case.schedule)} scheduled statements, "
        f"{before} to {after} characters ({1 - after / before:.0%} removed), {reduction.runs} runs, "
        f"{reduction.kept} steps kept; stopped: {reduction.stopped}"
    )
    newline = "\n" if sys.stderr.isatty() else ""
    click.echo(newline + summary, err=True)
    click.echo(paint(text))
    if out is not None:
        try:
            out.write_text(text, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write {out}: {error.strerror}") from error
