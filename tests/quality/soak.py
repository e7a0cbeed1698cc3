"""Runs generated cases on a real target for long and shows everything that the oracles say about them.

    .venv/bin/python -m tests.quality.soak --target mariadb@10.11 --profile simple --seed 1 --cases 2000

Prints cases a minute, verdicts, rejected statements and violations grouped by shape; the first examples of
each group are stored as case files with the observed run. `--without` switches a part of the conflict
construction off, so that its worth shows in the number of the case at which each group was first seen.
"""

import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import click

from acidtest.casefile import runs_on
from acidtest.corpus import bugs
from acidtest.execute import Executor
from acidtest.findings.signature import Signature, signature_of
from acidtest.generate import PROFILES, Profile, generate_cases, profile_of
from acidtest.generate.profile import SWITCHES, without
from acidtest.model import (
    ErrorKind,
    Failed,
    History,
    Judgement,
    Level,
    Reason,
    RowsWitness,
    Verdict,
    Violation,
)
from acidtest.oracles.registry import ORACLES, Oracle
from acidtest.oracles.walks import Walks
from acidtest.report import print_history, print_verdicts
from acidtest.sql import kind_of
from acidtest.targets import Target
from acidtest.targets.resolve import open_target

REJECTED = frozenset({ErrorKind.SYNTAX, ErrorKind.NO_SUCH_OBJECT, ErrorKind.UNSUPPORTED, ErrorKind.OTHER})
"""Errors that say that a statement was no valid SQL for the DBMS."""

EXAMPLES_MAX = 3

KnownBugs = Mapping[str, Signature]
"""Bugs of the corpus that show on the target, with the signatures they have there."""


@dataclass(slots=True)
class Tally:
    """What was seen."""

    out: Path
    known: KnownBugs = field(default_factory=dict)
    cases: int = 0
    statements: int = 0
    waited: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)
    passed: Counter[str] = field(default_factory=Counter)
    unknown: Counter[tuple[str, str]] = field(default_factory=Counter)
    violations: Counter[tuple[str, ...]] = field(default_factory=Counter)
    first: dict[tuple[str, ...], int] = field(default_factory=dict)
    """The number of the case at which each group of violations was first seen."""
    sets: dict[tuple[str, ...], set[str]] = field(default_factory=lambda: defaultdict(set))
    """The transaction sets that showed each group; the orders of one set often show the same."""
    bugs: dict[str, list[int]] = field(default_factory=dict)
    """The numbers of cases that may reduce to a bug of the corpus. An upper bound: look at the examples."""
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Add what is done within to the seconds of a part."""
        started = time.perf_counter()
        yield
        self.seconds[part] += time.perf_counter() - started

    def ran(self, history: History) -> None:
        """Count what became of the statements."""
        self.cases += 1
        if any(
            isinstance(one.outcome, Failed) and one.outcome.kind is ErrorKind.LOCK_TIMEOUT
            for one in history.records
        ):
            (self.out / f"lock-timeout-{self.cases}.sql").write_text(print_history(history), encoding="utf-8")
        for record in history.records:
            self.statements += 1
            self.waited += record.waited
            if isinstance(record.outcome, Failed):
                self.errors[record.outcome.kind.value] += 1
                if record.outcome.kind in REJECTED:
                    self.rejected[f"{record.outcome.message[:90]} | {record.sql[:200]}"] += 1

    def judged(self, history: History, verdict: Verdict) -> None:
        """Count a verdict, and keep the first examples of a kind of violation."""
        if verdict.judgement is Judgement.PASS:
            self.passed[verdict.oracle] += 1
        elif verdict.judgement is Judgement.UNKNOWN:
            self.unknown[verdict.oracle, verdict.reason] += 1
            if self.unknown[verdict.oracle, verdict.reason] == 1:
                self._store(history, verdict, ("unknown", verdict.reason))
        else:
            group = _group(history, verdict)
            self.violations[group] += 1
            self.first.setdefault(group, self.cases)
            self.sets[group].add(history.case.id.rpartition("-")[0])
            signature = signature_of(history, verdict)
            for bug, known in self.known.items():
                if signature.may_become(known):
                    self.bugs.setdefault(bug, []).append(self.cases)
                    if len(self.bugs[bug]) <= EXAMPLES_MAX:
                        self._store(history, verdict, ("may be", group[1], bug, str(self.cases)))
            if self.violations[group] <= EXAMPLES_MAX:
                self._store(history, verdict, group)

    def _store(self, history: History, verdict: Verdict, group: tuple[str, ...]) -> None:
        name = "-".join("".join(c if c.isalnum() else "_" for c in part) for part in group if part)
        path = self.out / f"{name[:150]}-{max(self.violations[group], 1)}.sql"
        path.write_text(print_history(history) + print_verdicts(history, [verdict]), encoding="utf-8")

    def lines(self) -> Iterator[str]:
        """The summary."""
        total = sum(self.seconds.values()) or 1.0
        yield f"{self.cases} cases in {total:.1f} s, {60 * self.cases / total:.0f} a minute"
        yield "  " + ", ".join(
            f"{part} {1000 * own / self.cases:.2f} ms" for part, own in self.seconds.items()
        )
        share = 100 * sum(self.rejected.values()) / max(self.statements, 1)
        yield f"  {self.statements} statements, {self.waited} waited, rejected {share:.2f} %"
        yield f"  errors: {dict(self.errors.most_common())}"
        for text, count in self.rejected.most_common(25):
            yield f"  rejected {count}: {text}"
        for oracle, count in self.passed.items():
            yield f"  {oracle}: {count} passed ({100 * count / self.cases:.2f} %)"
        for (oracle, why), count in self.unknown.most_common():
            yield f"  {oracle}: unknown {count} ({100 * count / self.cases:.2f} %): {why}"
        if self.violations:
            yield f"  {sum(self.violations.values())} violations in {len(self.violations)} groups"
        for group, count in self.violations.most_common():
            seen = f"in {len(self.sets[group])} sets, first at case {self.first[group]}"
            yield f"  VIOLATION {count} {seen}: {' | '.join(filter(None, group))}"
        for bug, numbers in sorted(self.bugs.items()):
            yield f"  MAY BE {bug}: {len(numbers)}, first at case {numbers[0]}"


def _group(history: History, verdict: Verdict) -> tuple[str, ...]:
    """Oracle, level, kind, known behaviour, the kind of statement at which it shows, and what stands out."""
    levels = "+".join(sorted({level.short for level in history.levels.values()}))
    violation = verdict.violation
    assert violation is not None
    known = ", ".join(one.id for one in violation.explained_by)
    phenomenon = violation.phenomenon.value if violation.phenomenon else ""
    if verdict.step is None:
        shape = "final state"
    else:
        sql = history.records[verdict.step].sql
        shape = f"{kind_of(sql).value} {sql.split()[0]}" + (" locking" if _locks(sql) else "")
    repeated = "row repeated" if Reason.REPEATED in _reasons(violation) else ""
    after = "after a deadlock" if _had_deadlock(history) else ""
    return verdict.oracle, levels, str(verdict.kind), known, phenomenon, shape, repeated, after


def _reasons(violation: Violation) -> set[Reason]:
    witness = violation.witness
    return {one.reason for one in witness.differences} if isinstance(witness, RowsWitness) else set()


def _had_deadlock(history: History) -> bool:
    """A victim goes on without its transaction, which is a story of its own."""
    outcomes = (record.outcome for record in history.records)
    return any(isinstance(one, Failed) and one.kind is ErrorKind.DEADLOCK for one in outcomes)


def _locks(sql: str) -> bool:
    return "FOR UPDATE" in sql or "SHARE" in sql


def bugs_that_show(executor: Executor, oracle: Oracle) -> KnownBugs:
    """Run the corpus on a target, to know what its bugs look like there."""
    target, found = executor.target, {}
    for case in bugs():
        levels = {one.level for one in case.transactions if one.level is not None}
        if runs_on(case, target.dbms, target.version) and levels <= set(target.levels):
            history = executor.run(case, fresh=True)
            verdict = oracle.judge(history)
            if verdict is not None and verdict.judgement is Judgement.VIOLATION:
                found[case.id] = signature_of(history, verdict)
    return found


def soak(
    target: Target,
    profile: Profile,
    seed: int,
    cases: int,
    level: Level,
    oracles: Sequence[Oracle],
    out: Path,
) -> Tally:
    """Run that many cases at a level."""
    rng = random.Random(f"{seed}-{level}")
    stream = generate_cases(rng, profile, target.dbms, (level,), target.version)
    with Executor(target) as executor:
        tally = Tally(out, bugs_that_show(executor, oracles[0]))
        for _ in range(cases):
            with tally.timed("generate"):
                case = next(stream)
            with tally.timed("run"):
                history = executor.run(case)
            tally.ran(history)
            for oracle in oracles:
                with tally.timed(oracle.name):
                    verdict = oracle.judge(history)
                if verdict is not None:
                    tally.judged(history, verdict)
    return tally


@click.command()
@click.option("--target", "specs", multiple=True, required=True)
@click.option("--profile", type=click.Choice(list(PROFILES)), default="simple", show_default=True)
@click.option("--level", "names", multiple=True, help="default: every level of the target")
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--cases", type=int, default=1000, show_default=True, help="per level")
@click.option(
    "--oracle",
    "chosen",
    type=click.Choice(list(ORACLES)),
    multiple=True,
    default=("solver",),
    show_default=True,
)
@click.option("--without", "parts", type=click.Choice(list(SWITCHES)), multiple=True, help="switch off")
@click.option("--out", type=click.Path(path_type=Path), default=Path("soak-out"), show_default=True)
def main(
    specs: tuple[str, ...],
    profile: str,
    names: tuple[str, ...],
    seed: int,
    cases: int,
    chosen: tuple[str, ...],
    parts: tuple[str, ...],
    out: Path,
) -> None:
    """Soak targets in generated cases."""
    for spec in specs:
        folder = out / "".join(c if c.isalnum() else "-" for c in f"{spec}-{profile}-{seed}")
        folder.mkdir(parents=True, exist_ok=True)
        with open_target(spec) as target, ExitStack() as stack:
            walks = Walks()
            oracles = [
                stack.enter_context(closing(ORACLES[name].make(target, walks, None))) for name in chosen
            ]
            for level in tuple(map(Level.parse, names)) or target.levels:
                reduced = without(profile_of(profile), parts)
                tally = soak(target, reduced, seed, cases, level, oracles, folder)
                named = " without ".join((profile, *parts))
                click.echo(f"{spec} {named} seed {seed} {level.short}: " + "\n".join(tally.lines()))


if __name__ == "__main__":
    main()
