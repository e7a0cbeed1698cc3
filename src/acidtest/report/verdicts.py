"""Verdicts told as comments of a case file, and as JSON."""

from collections.abc import Iterator, Sequence
from typing import Any

from acidtest.casefile import format_row, printable
from acidtest.model import History, Judgement, Verdict
from acidtest.report.observed import brief


def print_verdicts(history: History, verdicts: Sequence[Verdict], occurred: Sequence[str]) -> str:
    """What each oracle says, where they disagree, and what occurred that the levels allow."""
    lines = ["-- verdicts"]
    for verdict in verdicts:
        lines.extend(f"-- {one}" for line in _lines(history, verdict) for one in _on_lines(line))
    if (sentence := disagreement(verdicts)) is not None:
        lines.append(f"-- DISAGREE: {sentence}")
    if occurred:
        lines.append(f"-- occurred, as the level allows: {'; '.join(occurred)}")
    return "\n".join(lines) + "\n"


def _lines(history: History, verdict: Verdict) -> Iterator[str]:
    if verdict.judgement is not Judgement.VIOLATION:
        reason = f": {verdict.explanation}" if verdict.explanation else ""
        yield f"{verdict.oracle}: {verdict.judgement.value}{reason}"
        return
    where = (
        "the final state" if verdict.step is None else f"step {verdict.step}, {brief(history, verdict.step)}"
    )
    anomaly = f" [{verdict.anomaly}]" if verdict.anomaly else ""
    yield f"{verdict.oracle}: VIOLATION, {verdict.kind}{anomaly} at {where}"
    yield f"  expected {verdict.expected}"
    yield f"  observed {verdict.observed}"
    yield f"  because {verdict.explanation}"
    for difference in verdict.differences:
        word = "must not be there" if difference.extra else "is missing"
        why = f": {difference.why}" if difference.why else ""
        yield f"  row {format_row(difference.row)} {word}{why}"
    if verdict.known is not None:
        yield f"  known as: {verdict.known.name} ({verdict.known.link})"


def _on_lines(text: str) -> Iterator[str]:
    """A text of several lines, the later ones indented, with escapes for what cannot be shown."""
    first, *rest = text.split("\n")
    yield printable(first)
    yield from (f"    {printable(line)}" for line in rest)


def disagreement(verdicts: Sequence[Verdict]) -> str | None:
    """Oracles that err in different ways and say different things are worth a look."""
    broken = [verdict.oracle for verdict in verdicts if verdict.judgement is Judgement.VIOLATION]
    kept = [
        verdict.oracle
        for verdict in verdicts
        if verdict.judgement is Judgement.PASS and verdict.oracle != "crash"
    ]
    if broken and kept and broken != ["crash"]:
        return f"{', '.join(broken)} found a violation, {', '.join(kept)} did not"
    return None


def verdict_to_json(verdict: Verdict) -> dict[str, Any]:
    """One verdict as JSON-ready data."""
    return {
        "oracle": verdict.oracle,
        "verdict": verdict.judgement.value,
        "kind": None if verdict.kind is None else verdict.kind.value,
        "anomaly": verdict.anomaly or None,
        "statement": verdict.step,
        "expected": verdict.expected or None,
        "observed": verdict.observed or None,
        "explanation": verdict.explanation or None,
        "differences": [
            {
                "table": one.table,
                "row": format_row(one.row),
                "difference": "extra" if one.extra else "missing",
                "why": one.why,
            }
            for one in verdict.differences
        ],
        "known": None if verdict.known is None else {"name": verdict.known.name, "link": verdict.known.link},
    }
