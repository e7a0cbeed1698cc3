"""A finding as a bug report in Markdown, ready to paste into a tracker."""

import shlex
from collections.abc import Iterator, Sequence

from acidtest import corpus
from acidtest.casefile import load_case, parse_case
from acidtest.errors import UsageError
from acidtest.findings.finding import Finding, Sighting
from acidtest.model import Level, ViolationKind
from acidtest.report.markup import block, code, folded, inline, table
from acidtest.report.titles import naming_verdict, title


def report(finding: Finding) -> str:
    """The whole report."""
    sections: tuple[tuple[str, Iterator[str]], ...] = (
        ("Summary", _summary(finding)),
        ("How to repeat", _how_to_repeat(finding)),
        ("Expected and observed", _expected_and_observed(finding)),
        ("Why it is wrong", map(inline, finding.explanation)),
        ("Where it shows", _where(finding)),
        ("Known as", _known(finding)),
        ("How it was found", _provenance(finding)),
    )
    paragraphs = [f"# {inline(title(finding))}"]
    for heading, content in sections:
        paragraphs += [f"## {heading}", *content]
    return "\n\n".join(paragraphs) + "\n"


def replay_command(finding: Finding, file: str = "minimal.sql") -> str:
    """The line that runs the minimal case again, for a shell."""
    level = [] if _level(finding) is None else ["--level", finding.level]
    path = f"./{file}" if file.startswith("-") else file  # else it would be read as an option
    return shlex.join(["acidtest", "run", path, "--target", finding.target, *level])


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


def _summary(finding: Finding) -> Iterator[str]:
    yield inline(f"{finding.dbms} {finding.version}: {finding.summary}.")
    if finding.is_flaky:
        yield inline(f"It does not always show: seen in {rate(finding)}.")
    yield table(
        ("", ""),
        [
            ("DBMS", finding.dbms),
            ("version", finding.version),
            ("isolation level", _level(finding) or "mixed, see below"),
            *((f"setting {name}", value) for name, value in finding.settings.items()),
            ("shows in", rate(finding)),
        ],
    )


def _how_to_repeat(finding: Finding) -> Iterator[str]:
    yield (
        "Every name in `/* */` is a client session of its own. Enter the statements in this order, each when "
        "the one before has answered or waits for a lock; the comments tell what the server answered."
    )
    if (level := _level(finding)) is not None:
        yield f"All sessions run at {level.value}."
    else:
        yield inline(f"Isolation levels: {_session_levels(finding)}.")
    yield block(_run_only(finding.observed), "sql")
    yield f"Or, in the folder of this finding: {code(replay_command(finding))}"


def _session_levels(finding: Finding) -> str:
    transactions = parse_case(finding.minimal, "minimal.sql").transactions
    return ", ".join(f"{one.name} {one.level or 'at the default of the server'}" for one in transactions)


def _run_only(observed: str) -> str:
    """The observed run without the front block and without the verdicts, which the report tells in words."""
    lines = observed.splitlines()
    begin = next((i for i, line in enumerate(lines) if line in ("-- setup", "-- schedule")), 0)
    end = max((i for i, line in enumerate(lines) if line == "-- verdicts"), default=len(lines))
    return "\n".join(lines[begin:end])


def _expected_and_observed(finding: Finding) -> Iterator[str]:
    verdict = naming_verdict(finding)
    if not verdict:
        yield "No verdict was stored."
        return
    if finding.kind != ViolationKind.CRASH and (place := _judged_statement(finding, verdict)):
        yield f"Of {place}:"
    yield block(f"expected: {verdict.get('expected') or '-'}\nobserved: {verdict.get('observed') or '-'}")


def _judged_statement(finding: Finding, verdict: dict[str, object]) -> str:
    step = verdict.get("statement")
    if step is None:
        return "the final state"
    steps = parse_case(finding.minimal, "minimal.sql").steps
    if not isinstance(step, int) or not 0 <= step < len(steps):
        return ""
    return f"{code(f'/* {steps[step].session} */ {steps[step].sql}')} (step {step}; steps count from 0)"


def _where(finding: Finding) -> Iterator[str]:
    if not finding.levels and not finding.elsewhere:
        yield "Other levels and targets were not tried."
    if finding.levels:
        yield inline(f"The same case at every level of {finding.target}:")
        yield table(
            ("level", "found", "detail"), [(one.level, one.found, one.detail) for one in finding.levels]
        )
    if finding.elsewhere:
        yield "The same case on other servers:"
        yield table(("target", "version", "level", "found", "detail"), list(map(_cells, finding.elsewhere)))


def _cells(one: Sighting) -> Sequence[str]:
    return one.target, one.version, one.level, one.found, one.detail


def _known(finding: Finding) -> Iterator[str]:
    if finding.explained_by:
        yield "Everything that was observed is right on a server that has this known behaviour:"
        yield "\n".join(
            f"- {inline(f'{one.id} ({one.status.value}): {one.title}, {one.link}')}"
            for one in finding.explained_by
        )
    else:
        yield "No known behaviour of this server explains it."
    if finding.disagreement:
        yield inline(f"The oracles disagree: {finding.disagreement}. It may be a defect of acidtest.")
    if finding.resembles:
        yield "It resembles, and that is a hint only:"
        yield "\n".join(f"- {inline(f'{name}{_about(name)}')}" for name in finding.resembles)
    elif finding.broken_off:
        yield "It was not compared with known bugs."


def _about(name: str) -> str:
    """Title and links of a corpus bug; nothing if this version of the corpus lacks it."""
    try:
        case = load_case(corpus.find(name))
    except UsageError:
        return ""
    return ", ".join([f": {case.title}", *case.links])


def _provenance(finding: Finding) -> Iterator[str]:
    seed = "" if finding.seed is None else f", seed {finding.seed}"
    yield inline(
        f"Found by acidtest {finding.acidtest} (oracles: {', '.join(finding.oracles) or 'none'}{seed}) "
        f"after {finding.seconds:.0f} s; reduction: {finding.reduction}."
    )
    if finding.broken_off:
        yield inline(f"The investigation was broken off: {finding.broken_off}.")
    yield inline(f"Signature {finding.digest}: {finding.signature}.")
    yield folded(f"The case as it was found{f', {finding.case}' if finding.case else ''}", _original(finding))
    if finding.log:
        yield folded("The end of the server's log", block(finding.log))


def _original(finding: Finding) -> str:
    return block(finding.original, "sql")
