"""A finding as a bug report: a document, and as Markdown that is ready to paste into a tracker."""

import shlex
from collections.abc import Iterator

from acidtest import corpus
from acidtest.casefile import load_case, parse_case
from acidtest.errors import UsageError
from acidtest.findings.finding import Finding, Sighting
from acidtest.model import ComparisonWitness, Level, ViolationKind
from acidtest.report.document import Block, Code, CodeBlock, Document, Folded, Heading, Items, grid, paragraph
from acidtest.report.markdown import to_markdown
from acidtest.report.side_by_side import compared_runs
from acidtest.report.timeline import as_grid, timeline
from acidtest.report.titles import naming_verdict, title


def report(finding: Finding) -> str:
    """The whole report in Markdown."""
    return to_markdown(document_of(finding))


def document_of(finding: Finding) -> Document:
    """The whole report."""
    sections: tuple[tuple[str, Iterator[Block]], ...] = (
        ("Summary", _summary(finding)),
        ("How to repeat", _how_to_repeat(finding)),
        ("Timeline", _timeline(finding)),
        ("Both runs", _both_runs(finding)),
        ("Expected and observed", _expected_and_observed(finding)),
        ("Why it is wrong", map(paragraph, finding.explanation)),
        ("Where it shows", _where(finding)),
        ("Known as", _known(finding)),
        ("How it was found", _provenance(finding)),
    )
    blocks: list[Block] = [Heading(title(finding), 1)]
    for heading, content in sections:
        if said := list(content):
            blocks += [Heading(heading), *said]
    return Document(tuple(blocks))


def replay_command(finding: Finding, file: str = "minimal.sql") -> str:
    """The line that runs the minimal case again, for a shell."""
    level = [] if _level(finding) is None else ["--level", finding.level]
    path = f"./{file}" if file.startswith("-") else file  # else it would be read as an option
    other = _other_target(finding)
    against = [] if other is None else ["--against", other]
    return shlex.join(["acidtest", "run", path, "--target", finding.target, *level, *against])


def rate(finding: Finding) -> str:
    """How often it shows, in words."""
    return f"{finding.shown} of {finding.runs} runs" if finding.runs else "once; not run again"


NEW, DISAGREE = "NEW", "oracles disagree"


def status_of(finding: Finding) -> str:
    """Whether it is explained, new (and resembles something), or perhaps a defect of ours."""
    if finding.explained_by:
        return f"explained by {', '.join(f'{one.id} ({one.status.value})' for one in finding.explained_by)}"
    if finding.disagreement:
        return DISAGREE
    return f"{NEW}, resembles {', '.join(finding.resembles)}" if finding.resembles else NEW


def _level(finding: Finding) -> Level | None:
    """The level of all sessions; None if they differ."""
    return Level.of_short(finding.level)


def _summary(finding: Finding) -> Iterator[Block]:
    yield paragraph(f"{finding.dbms} {finding.version}: {finding.summary}.")
    if finding.is_flaky:
        yield paragraph(f"It does not always show: seen in {rate(finding)}.")
    yield grid(
        ("", ""),
        [
            ("DBMS", finding.dbms),
            ("version", finding.version),
            ("isolation level", _level(finding) or "mixed, see below"),
            *((f"setting {name}", value) for name, value in finding.settings.items()),
            ("shows in", rate(finding)),
        ],
    )


def _how_to_repeat(finding: Finding) -> Iterator[Block]:
    yield paragraph(
        "Every name in ",
        Code("/* */"),
        " is a client session of its own. Enter the statements in this order, each when the one before has "
        "answered or waits for a lock; the comments tell what the server answered.",
    )
    if (level := _level(finding)) is not None:
        yield paragraph(f"All sessions run at {level.value}.")
    else:
        yield paragraph(f"Isolation levels: {_session_levels(finding)}.")
    yield CodeBlock(_run_only(finding.observed), "sql")
    yield paragraph("Or, in the folder of this finding: ", Code(replay_command(finding)))


def _timeline(finding: Finding) -> Iterator[Block]:
    """A lane for each session; nothing if the run was not stored."""
    if finding.run is not None and finding.run.history.events:
        yield as_grid(timeline(finding.run.history))


def _both_runs(finding: Finding) -> Iterator[Block]:
    """Beside each other, if the run was compared with one on another target."""
    if finding.run is None:
        return
    for verdict in finding.run.verdicts:
        if (runs := compared_runs(finding.run.history, verdict)) is not None:
            yield runs


def _other_target(finding: Finding) -> str | None:
    """The target that the run was compared with, if the finding comes of that."""
    if finding.run is None or finding.kind != ViolationKind.DIFFERENT_RUN:
        return None
    witnesses = (one.violation.witness for one in finding.run.verdicts if one.violation is not None)
    return next((one.other.target for one in witnesses if isinstance(one, ComparisonWitness)), None)


def _session_levels(finding: Finding) -> str:
    transactions = parse_case(finding.minimal, "minimal.sql").transactions
    return ", ".join(f"{one.name} {one.level or 'at the default of the server'}" for one in transactions)


def _run_only(observed: str) -> str:
    """The observed run without the front block and without the verdicts, which the report tells in words."""
    lines = observed.splitlines()
    begin = next((i for i, line in enumerate(lines) if line in ("-- setup", "-- schedule")), 0)
    end = max((i for i, line in enumerate(lines) if line == "-- verdicts"), default=len(lines))
    return "\n".join(lines[begin:end])


def _expected_and_observed(finding: Finding) -> Iterator[Block]:
    verdict = naming_verdict(finding)
    if not verdict:
        yield paragraph("No verdict was stored.")
        return
    if finding.kind != ViolationKind.CRASH:
        yield from _judged_statement(finding, verdict)
    yield CodeBlock(f"expected: {verdict.get('expected') or '-'}\nobserved: {verdict.get('observed') or '-'}")


def _judged_statement(finding: Finding, verdict: dict[str, object]) -> Iterator[Block]:
    step = verdict.get("statement")
    steps = parse_case(finding.minimal, "minimal.sql").steps
    if step is None:
        yield paragraph("Of the final state:")
    elif isinstance(step, int) and 0 <= step < len(steps):
        statement = Code(f"/* {steps[step].session} */ {steps[step].sql}")
        yield paragraph("Of ", statement, f" (step {step}; steps count from 0):")


def _where(finding: Finding) -> Iterator[Block]:
    if not finding.levels and not finding.elsewhere:
        yield paragraph("Other levels and targets were not tried.")
    if finding.levels:
        yield paragraph(f"The same case at every level of {finding.target}:")
        rows = [(one.level, one.found, one.detail) for one in finding.levels]
        yield grid(("level", "found", "detail"), rows)
    if finding.elsewhere:
        yield paragraph("The same case on other servers:")
        yield grid(("target", "version", "level", "found", "detail"), map(_cells, finding.elsewhere))


def _cells(one: Sighting) -> tuple[str, ...]:
    return one.target, one.version, one.level, one.found, one.detail


def _known(finding: Finding) -> Iterator[Block]:
    if finding.explained_by:
        yield paragraph("Everything that was observed is right on a server that has this known behaviour:")
        names = (f"{one.id} ({one.status.value}): {one.title}, {one.link}" for one in finding.explained_by)
        yield Items(tuple(names))
    else:
        yield paragraph("No known behaviour of this server explains it.")
    if finding.disagreement:
        yield paragraph(f"The oracles disagree: {finding.disagreement}. It may be a defect of acidtest.")
    if finding.resembles:
        yield paragraph("It resembles, and that is a hint only:")
        yield Items(tuple(f"{name}{_about(name)}" for name in finding.resembles))
    elif finding.broken_off:
        yield paragraph("It was not compared with known bugs.")


def _about(name: str) -> str:
    """Title and links of a corpus bug; nothing if this version of the corpus lacks it."""
    try:
        case = load_case(corpus.find(name))
    except UsageError:
        return ""
    return ", ".join([f": {case.title}", *case.links])


def _provenance(finding: Finding) -> Iterator[Block]:
    seed = "" if finding.seed is None else f", seed {finding.seed}"
    yield paragraph(
        f"Found by acidtest {finding.acidtest} (oracles: {', '.join(finding.oracles) or 'none'}{seed}) "
        f"after {finding.seconds:.0f} s; reduction: {finding.reduction}."
    )
    if finding.broken_off:
        yield paragraph(f"The investigation was broken off: {finding.broken_off}.")
    yield paragraph(f"Signature {finding.digest}: {finding.signature}.")
    found = f"The case as it was found{f', {finding.case}' if finding.case else ''}"
    yield Folded(found, CodeBlock(finding.original, "sql"))
    if finding.log:
        yield Folded("The end of the server's log", CodeBlock(finding.log))
