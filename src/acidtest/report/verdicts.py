"""Verdicts as comments of a case file, and as JSON."""

from collections.abc import Iterator, Sequence
from typing import Any

from acidtest.casefile import format_row, printable
from acidtest.model import (
    ComparisonWitness,
    History,
    Judgement,
    Known,
    Phenomenon,
    RowsWitness,
    StateWitness,
    Verdict,
    Violation,
    ViolationKind,
)
from acidtest.report import words
from acidtest.report.as_json import run_to_json
from acidtest.report.observed import brief
from acidtest.report.side_by_side import as_lines, compared_runs


def print_verdicts(history: History, verdicts: Sequence[Verdict]) -> str:
    """What each oracle says, where they disagree, and which phenomena occurred that the levels allow."""
    lines = ["-- verdicts"]
    for verdict in verdicts:
        lines.extend(f"-- {one}" for line in _lines(history, verdict) for one in _on_lines(line))
    if (sentence := disagreement(verdicts)) is not None:
        lines.append(f"-- DISAGREE: {sentence}")
    if occurred := allowed_phenomena(verdicts):
        lines.append(f"-- occurred, as the level allows: {'; '.join(one.text for one in occurred)}")
    return "\n".join(lines) + "\n"


def allowed_phenomena(verdicts: Sequence[Verdict]) -> tuple[Phenomenon, ...]:
    """What an oracle looked for, found, and held against the claim."""
    return tuple(dict.fromkeys(one for verdict in verdicts for one in verdict.occurred))


def _lines(history: History, verdict: Verdict) -> Iterator[str]:
    violation = verdict.violation
    if violation is None:
        reason = f": {verdict.reason}" if verdict.reason else ""
        yield f"{verdict.oracle}: {verdict.judgement.value}{reason}"
        for known in verdict.differences:
            yield f"  the other run differs, and both are right: {known.title} ({known.link})"
        return
    name = f" [{violation.phenomenon.text}]" if violation.phenomenon else ""
    yield f"{verdict.oracle}: VIOLATION, {violation.kind}{name} at {place(history, violation)}"
    yield f"  expected {words.expected(violation)}"
    yield f"  observed {words.observed(violation)}"
    if violation.because:
        yield f"  because {violation.because}"
    for line in words.details(violation):
        yield f"  {line}"
    for known in violation.explained_by:
        yield f"  {known.status.value}, explained by {known.id}, {known.title} ({known.link})"
    for known in violation.resembles:
        yield f"  NEW, but resembles {known.id}, {known.title} ({known.link})"
    if (runs := compared_runs(history, verdict)) is not None:
        yield from (f"  {line}".rstrip() for line in as_lines(runs))


def place(history: History, violation: Violation) -> str:
    """Where it shows."""
    if violation.step is None:
        return "the final state"
    return f"step {violation.step}, {brief(history, violation.step)}"


def _on_lines(text: str) -> Iterator[str]:
    """A text of several lines, the later ones indented, with escapes for what cannot be shown."""
    first, *rest = text.split("\n")
    yield printable(first)
    yield from (f"    {printable(line)}" for line in rest)


def disagreement(verdicts: Sequence[Verdict]) -> str | None:
    """Oracles that err in different ways and say different things are worth a look."""
    judges = [one for one in verdicts if one.oracle != "crash"]
    broken = [one for one in judges if one.is_violation]
    kept = [one for one in judges if one.judgement is Judgement.PASS and _could_see(one, broken)]
    if broken and kept:
        names = ", ".join(one.oracle for one in broken)
        return f"{names} found a violation, {', '.join(one.oracle for one in kept)} did not"
    return None


_SEES = {
    "graph": frozenset({"graph", "serial"}),
    "serial": frozenset({"graph", "serial"}),
    "solver": frozenset({"solver", "views", "serial"}),
    "views": frozenset({"solver", "views"}),
    "differential": frozenset({"solver", "views"}),
    "replay": frozenset({"solver", "views"}),
}
"""Who would have seen the violation of an oracle too: `solver` and `views` do not look for cycles, and wrong
rows or waits may still fit a serial order."""

_RESULTS = frozenset(
    {ViolationKind.WRONG_ROWS, ViolationKind.WRONG_AFFECTED_COUNT, ViolationKind.WRONG_FINAL_STATE}
)
"""What a run without transactions shows, too, if no statement had to be left out of it."""


def _could_see(one: Verdict, broken: Sequence[Verdict]) -> bool:
    if one.oracle == "replay":
        results = [
            other for other in broken if other.kind in _RESULTS and other.oracle in ("solver", "views")
        ]
        return not one.reason and bool(results)
    return any(one.oracle in _SEES.get(other.oracle, frozenset()) for other in broken)


def verdict_to_json(verdict: Verdict) -> dict[str, Any]:
    """One verdict as JSON-ready data."""
    violation = verdict.violation
    return {
        "oracle": verdict.oracle,
        "verdict": verdict.judgement.value,
        "kind": None if violation is None else violation.kind.value,
        "phenomenon": None
        if violation is None or violation.phenomenon is None
        else violation.phenomenon.value,
        "statement": verdict.step,
        "expected": None if violation is None else words.expected(violation),
        "observed": None if violation is None else words.observed(violation),
        "explanation": verdict.reason or (None if violation is None else violation.because),
        "evidence": [] if violation is None else list(words.details(violation)),
        "differences": [] if violation is None else _differences(violation),
        "known": [] if violation is None else [_known(one) for one in violation.explained_by[:1]],
        "allowed_differences": [_known(one) for one in verdict.differences],
        "other_run": _other_run(violation),
        "occurred": [one.value for one in verdict.occurred],
        "defect": verdict.defect,
    }


def _differences(violation: Violation) -> list[dict[str, Any]]:
    witness = violation.witness
    if not isinstance(witness, RowsWitness | StateWitness):
        return []
    return [
        {
            "table": one.table,
            "row": format_row(one.row),
            "difference": "extra" if one.extra else "missing",
            "reason": one.reason.name.lower(),
            "why": words.difference(one),
        }
        for one in witness.differences
    ]


def _other_run(violation: Violation | None) -> dict[str, Any] | None:
    witness = None if violation is None else violation.witness
    return run_to_json(witness.other) if isinstance(witness, ComparisonWitness) else None


def _known(known: Known) -> dict[str, str]:
    return {"id": known.id, "title": known.title, "status": known.status.value, "link": known.link}
