"""`acidtest fuzz`: conflicting transactions, generated, run and judged by the thousand; findings come out."""

import json
import os
import random
import re
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console

from acidtest.campaign import summary
from acidtest.campaign.coordinator import INTERRUPTED, Campaign, Ended
from acidtest.campaign.crew import share_out
from acidtest.campaign.defects import DefectLog, defect_at
from acidtest.campaign.plan import Settings, cells_of
from acidtest.campaign.status import make_status
from acidtest.campaign.store import Store
from acidtest.cli.baseline import baseline_option, load_baseline
from acidtest.cli.options import against_option, chosen_against, complete_target
from acidtest.cli.output import say
from acidtest.cli.progress import working
from acidtest.errors import DEFECT_EXIT_CODE, TargetFailedError, UsageError
from acidtest.findings.baseline import Baseline
from acidtest.findings.groups import Stored
from acidtest.generate import PROFILES
from acidtest.generate.profile import SWITCHES
from acidtest.investigation.elsewhere import look_elsewhere, other_specs
from acidtest.model import Level
from acidtest.oracles.registry import BY_THEMSELVES, DEFAULT, ORACLES, check_names
from acidtest.report.folder import read_finding
from acidtest.targets.resolve import expand_spec, is_own_file, require_target, without_password

DEFAULT_PROFILE = "mixed"
DEFAULT_INSTRUMENTED = 0.25
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_DAYS_MAX = 3650


def parse_duration(text: str) -> float:
    """`90`, `90s`, `10m`, `1h30m` in seconds."""
    parts = re.findall(r"(\d+(?:\.\d+)?)([smhd]?)", text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise UsageError(f"--for {text!r} is no duration; write seconds, or e.g. 90s, 10m, 1h30m")
    seconds = sum(float(number) * _UNITS[unit or "s"] for number, unit in parts)
    if seconds <= 0:
        raise UsageError("--for needs a duration longer than nothing, e.g. 10m")
    if seconds > _DAYS_MAX * _UNITS["d"]:
        raise UsageError(f"--for is longer than {_DAYS_MAX} days; leave it out to run until Ctrl-C")
    return float(seconds)


def _duration(_context: click.Context, _param: click.Parameter, text: str | None) -> float | None:
    return None if text is None else parse_duration(text)


@click.command()
@click.argument("targets", nargs=-1, metavar="TARGET...", shell_complete=complete_target)
@click.option(
    "-l",
    "--level",
    "levels",
    metavar="LEVEL",
    multiple=True,
    help="RU, RC, RR, SI, SER (may be repeated), or `all`.  [default: all that the target has]",
)
@click.option("--mixed-levels", is_flag=True, help="Each transaction draws its own level of those chosen.")
@click.option(
    "--oracle",
    "oracles",
    metavar="ORACLE",
    multiple=True,
    help=f"Judge with {', '.join(ORACLES)} (may be repeated).  "
    f"[default: {', '.join(DEFAULT)}; ? means only where none before it decides]; crash always takes part.",
)
@against_option
@click.option(
    "--profile",
    metavar="PROFILE",
    default=None,
    help=f"What to generate: {', '.join(PROFILES)}.  [default: {DEFAULT_PROFILE}]",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Makes the run; the same seed gives the same cases.  [default: random, printed]",
)
@click.option("--cases", type=click.IntRange(min=1), metavar="N", help="Stop after N cases.")
@click.option(
    "--for",
    "seconds",
    metavar="TIME",
    callback=_duration,
    help="Stop after this time: 90s, 10m, 1h30m.  [default: run until Ctrl-C]",
)
@click.option(
    "--transactions",
    type=click.IntRange(2, 8),
    metavar="N",
    help="Transactions in a case.  [default: two to four]",
)
@click.option(
    "--orders", type=click.IntRange(1, 1000), metavar="K", help="Orders tried of each set.  [default: 10]"
)
@click.option(
    "--without",
    metavar="PART",
    multiple=True,
    help=f"Switch off a part of the conflict construction: {', '.join(SWITCHES)} (may be repeated).",
)
@click.option(
    "--instrument",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="Share of cases whose rows carry versions, so that `graph` also judges what the run shows "
    f"(docs/graphs.md).  [default: {DEFAULT_INSTRUMENTED}]",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 256),
    metavar="N",
    help="Processes, each with its own server or database.  [default: one for each core]",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where to keep the campaign; must be new or empty.  [default: acidtest-fuzz-SEED]",
)
@click.option(
    "--resume", type=click.Path(path_type=Path), metavar="DIR", help="Go on with the campaign in DIR."
)
@click.option(
    "--elsewhere/--no-elsewhere",
    default=True,
    help="At the end, try findings on all installed targets.  [default: yes]",
)
@click.option(
    "--ignore-known", is_flag=True, help="What known behaviour explains does not count for the exit code."
)
@baseline_option
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the summary as JSON (docs/json.md); the status goes to stderr.",
)
@click.option("--plain", is_flag=True, help="Plain lines instead of a screen.")
def fuzz(
    targets: tuple[str, ...],
    levels: tuple[str, ...],
    mixed_levels: bool,
    oracles: tuple[str, ...],
    against: tuple[str, ...],
    profile: str | None,
    seed: int | None,
    cases: int | None,
    seconds: float | None,
    transactions: int | None,
    orders: int | None,
    without: tuple[str, ...],
    instrument: float | None,
    workers: int | None,
    out: Path | None,
    resume: Path | None,
    elsewhere: bool,
    ignore_known: bool,
    baseline: Path | None,
    as_json: bool,
    plain: bool,
) -> int:
    """Fuzz TARGETs for transaction bugs: random conflicting transactions, run and judged by the thousand.

    Every violation is run again, reduced to a minimal case, named, compared with what was found before and
    with known bugs, and stored with a report that can be pasted into a tracker. The directory survives
    Ctrl-C and kill -9; --resume goes on. The exit code is 1 if there are findings, so that CI can use it.

    \b
    acidtest fuzz mariadb@10.11 --for 10m             every level of a real MariaDB, for ten minutes
    acidtest fuzz postgres -l SER --profile rich      the embedded PostgreSQL, until Ctrl-C
    acidtest fuzz mysql@9.7 mariadb@11.8 --cases 100000 --workers 4 --json
    acidtest fuzz mariadb@10.11 --against mysql@9.7   each case on both, and what no promise explains
    acidtest fuzz --resume acidtest-fuzz-42           go on with it
    acidtest findings acidtest-fuzz-42                what it found
    """
    before = load_baseline(baseline)
    if resume is not None:
        asked = {
            "--level": levels,
            "--oracle": oracles,
            "--profile": profile,
            "--seed": seed,
            "--out": out,
            "--transactions": transactions,
            "--orders": orders,
            "--without": without,
            "--instrument": instrument,
            "--mixed-levels": mixed_levels,
        }
        _refuse_with_resume(asked)
        store, specs = _resumed(resume, targets, against, cases, seconds, workers)
    else:
        specs = _specs(targets)
        other = _other_spec(against, specs)
        if oracles and not check_names(oracles, bool(other)):
            raise UsageError("a campaign without an oracle finds nothing; leave out --oracle none")
        _refuse_shared_files(specs, other, workers)
        settings = Settings(
            targets=tuple(specs),
            levels=_short_names(levels),
            oracles=oracles,
            profile=profile or DEFAULT_PROFILE,
            seed=random.SystemRandom().randrange(2**31) if seed is None else seed,
            mixed_levels=mixed_levels,
            transactions=transactions,
            orders=orders,
            without=without,
            cases=cases,
            seconds=seconds,
            against=next(iter(other), None),
            instrument=DEFAULT_INSTRUMENTED if instrument is None else instrument,
        )
        cells_of(settings)
        specs |= other
        store = Store.create(out or Path(f"acidtest-fuzz-{settings.seed}"), settings)
    with store:
        with make_status(sys.stderr, plain or None) as status:
            ended = Campaign(store, specs, workers or _workers(specs), status).run()
        failed = elsewhere and ended.stopped != INTERRUPTED and not _try_elsewhere(store)
        findings, unreadable = _stored(store)
    for problem in unreadable:
        say(f"acidtest: {problem}")
    # What cannot be read cannot be said to be known.
    counted = [one for _, one in findings if not (ignore_known and one.is_explained) and not before.has(one)]
    code = _exit_code(ended, bool(counted or unreadable), failed)
    _print(_summary(ended, findings, code, as_json, before))
    if ended.target_failed:
        say(f"acidtest: error: {ended.target_failed}")
    return code


def _specs(targets: tuple[str, ...]) -> dict[str, str]:
    """The targets by the names that may be stored; refuses what cannot be had."""
    if not targets:
        raise UsageError("name a target to fuzz, e.g. acidtest fuzz postgres, or --resume DIR")
    specs = {without_password(spec): spec for given in targets for spec in expand_spec(given)}
    for spec in specs.values():
        require_target(spec)
    return specs


def _other_spec(against: tuple[str, ...], specs: Mapping[str, str]) -> dict[str, str]:
    """The target to compare with by the name that may be stored; empty if there is none."""
    spec = chosen_against(against, [*specs, *specs.values()])
    if spec is None:
        return {}
    require_target(spec)
    return {without_password(spec): spec}


def _short_names(levels: tuple[str, ...]) -> tuple[str, ...]:
    """The levels that were asked for; none stands for all."""
    parsed = [Level.parse(name) for name in levels if name.lower() != "all"]
    return tuple(level.short for level in parsed) if len(parsed) == len(levels) else ()


def _refuse_with_resume(asked: Mapping[str, object]) -> None:
    for option, value in asked.items():
        if value is not None and value != () and value is not False:
            raise UsageError(
                f"{option} cannot be changed in a campaign that goes on; leave it out with --resume"
            )


def _resumed(
    folder: Path,
    targets: tuple[str, ...],
    against: tuple[str, ...],
    cases: int | None,
    seconds: float | None,
    workers: int | None,
) -> tuple[Store, dict[str, str]]:
    """The stored campaign, perhaps with a new limit. Passwords are not stored, so they are given again."""
    store = Store.resume(folder)
    try:
        settings = store.settings()
        specs = {name: name for name in settings.targets}
        other = {settings.against: settings.against} if settings.against is not None else {}
        for name, spec in _other_spec(against, specs).items():
            if name not in other:
                had = settings.against or "none"
                raise UsageError(f"--against cannot be changed in a campaign that goes on; it has {had}")
            other[name] = spec
        given = {without_password(spec): spec for spec in targets}
        for name, spec in given.items():
            if name not in specs:
                raise UsageError(
                    f"{name} is no target of the campaign in {folder}; it has {', '.join(specs)}"
                )
            specs[name] = spec
        for spec in (*specs.values(), *other.values()):
            require_target(spec)
        _refuse_shared_files(specs, other, workers)
        specs |= other
        if cases is not None or seconds is not None:
            store.change_limits(replace(settings, cases=cases, seconds=seconds))
        cells_of(store.settings())
    except BaseException:
        store.close()
        raise
    return store, specs


def _refuse_shared_files(specs: Mapping[str, str], other: Mapping[str, str], workers: int | None) -> None:
    """A file that the user named can be had by one process only; every worker has the `other` one."""
    for name, spec in other.items():
        if is_own_file(spec) and (workers or 1) > 1:
            raise UsageError(f"{name} can be had by one process only; leave out --workers")
    shares = share_out(list(specs), workers or 1)
    for name, spec in specs.items():
        if is_own_file(spec) and sum(name in share for share in shares) > 1:
            raise UsageError(f"{name} can be had by one process only; leave out --workers")


def _workers(specs: Mapping[str, str]) -> int:
    """One for each core; but a file that the user named can be had by one process only."""
    if any(map(is_own_file, specs.values())):
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _stored(store: Store) -> tuple[list[Stored], list[str]]:
    """The findings of a campaign, and what is wrong with those that cannot be read any more."""
    findings: list[Stored] = []
    unreadable: list[str] = []
    for _number, _target, folder in store.findings():
        try:
            findings.append((folder, read_finding(folder)))
        except UsageError as problem:
            unreadable.append(str(problem))
    return findings, unreadable


def _try_elsewhere(store: Store) -> bool:
    """Add to the findings on which other installed targets they show; False if that failed through a defect
    of ours, which must not cost the summary."""
    stored = _stored(store)[0]
    if not stored:
        return True
    try:
        with _interrupted_by_sigterm(), working() as progress:
            progress("trying the findings on the other installed targets; Ctrl-C leaves that out")
            look_elsewhere(stored, other_specs(), BY_THEMSELVES, progress)
    except UsageError as error:
        say(f"acidtest: {error}")  # the findings themselves are stored
    except KeyboardInterrupt:
        say("the other targets are left out; acidtest findings DIR --elsewhere tries them")
    except Exception as error:
        sentence = DefectLog(store.folder).add(defect_at("trying the findings elsewhere", error))
        say(f"acidtest: {sentence}")
        return False
    return True


@contextmanager
def _interrupted_by_sigterm() -> Iterator[None]:
    """SIGTERM does what Ctrl-C does."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _exit_code(ended: Ended, found: bool, failed: bool) -> int:
    """Not all was tested as asked: that outweighs what was found."""
    if ended.target_failed:
        return TargetFailedError.exit_code
    return DEFECT_EXIT_CODE if failed or ended.view.statistics.defects else int(found)


def _summary(ended: Ended, findings: list[Stored], code: int, as_json: bool, before: Baseline) -> str:
    if as_json:
        data = summary.to_json(ended.view, findings, stopped=ended.stopped, exit_code=code, before=before)
        return json.dumps(data, indent=2) + "\n"
    console = Console()
    ascii_only = console.options.ascii_only
    text = summary.text(
        ended.view,
        findings,
        stopped=ended.stopped,
        width=console.width,
        ascii_only=ascii_only,
        before=before,
    )
    return text.encode(console.encoding, "backslashreplace").decode(console.encoding)


def _print(text: str) -> None:
    """To stdout, whether anybody reads it or not."""
    try:
        click.echo(text, nl=False)
    except BrokenPipeError:
        pass  # the reader went away (`| head`)
    except OSError as error:
        raise UsageError(f"the summary cannot be written: {error.strerror}") from error
