"""A violation told in words: one sentence for lists, paragraphs for reports."""

from collections.abc import Iterator

from acidtest.claims import Claim, claims_of
from acidtest.model import Event, EventKind, History, Verdict, Violation
from acidtest.report import words
from acidtest.report.observed import brief


def level_of(history: History) -> str:
    """The short name of the level of all transactions, or `mixed`."""
    levels = {level.short for level in history.levels.values()}
    return levels.pop() if len(levels) == 1 else "mixed"


def summary(history: History, verdict: Verdict) -> str:
    """One sentence: where, what is there, what should be."""
    where = "the final state" if verdict.step is None else brief(history, verdict.step)
    violation = _violation(verdict)
    named = f"{violation.phenomenon.text}: " if violation.phenomenon else ""
    observed, expected = words.observed(violation), words.expected(violation)
    return f"{named}{verdict.kind} at {where}: {observed} instead of {expected}"


def _violation(verdict: Verdict) -> Violation:
    assert verdict.violation is not None
    return verdict.violation


def explanation(history: History, verdict: Verdict) -> Iterator[str]:
    """Why it is wrong, a paragraph each."""
    violation = _violation(verdict)
    observed, expected = words.observed(violation), words.expected(violation)
    yield f"{_what(history, verdict)} Expected: {expected}. Observed: {observed}."
    if violation.because:
        yield _sentence(violation.because)
    yield from map(_sentence, words.details(violation))
    if (claim := _claim(history, verdict)) is not None:
        yield _promise(claim)
    if (together := released_together(history)) is not None:
        yield together
    for known in violation.explained_by:
        yield f"It is {known.status.value}: {known.id}, {known.title} explains it: {known.link}"


def released_together(history: History) -> str | None:
    """That which of several waiting sessions goes on first was up to the server; None if it never was."""
    released: dict[int, list[Event]] = {}
    for event in history.events:
        if event.kind is EventKind.RESUMED and event.cause is not None:
            released.setdefault(event.cause, []).append(event)
    for cause, events in released.items():
        sessions = list(dict.fromkeys(event.session for event in events))
        if len(sessions) > 1:
            steps = {event.step for event in events}
            first = next((step for step in history.observed_order if step in steps), None)
            winner = "" if first is None else f"; it shows when {history.records[first].session} wins"
            names = f"{len(sessions)} sessions ({', '.join(sessions)})"
            return f"{names} were released together by {brief(history, cause)}{winner}."
    return None


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def _what(history: History, verdict: Verdict) -> str:
    if verdict.step is None:
        return f"After all transactions have ended the state is not what it has to be ({verdict.kind})."
    record = history.records[verdict.step]
    waited = " It had waited" if record.waited else ""
    if waited and record.blocked_by:
        waited += f" for {', '.join(record.blocked_by)}"
    level = history.levels[record.session].value
    return (
        f"Step {verdict.step}, {brief(history, verdict.step)}, at {level}: {verdict.kind}."
        f"{waited + '.' if waited else ''}"
    )


def _claim(history: History, verdict: Verdict) -> Claim | None:
    claims = claims_of(history)
    if claims is None:
        return None
    if verdict.step is None:
        return claims[next(iter(claims))]
    return claims.at(history.records[verdict.step].session, verdict.step)


def _promise(claim: Claim) -> str:
    return (
        f"What {claim.dbms} documents for {claim.level.value}: a plain read sees {claim.plain_read.value} "
        f"(the snapshot is taken {claim.snapshot.value}); a write works on {claim.write.value}, and when it "
        f"meets a row that another transaction wrote, it {claim.on_conflict.value}. See {claim.link}"
    )
