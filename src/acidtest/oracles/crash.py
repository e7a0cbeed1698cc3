"""`crash`: the server died, cut a connection, broke its protocol or met an error inside itself."""

import re
from collections.abc import Iterator

from acidtest.model import (
    CrashWitness,
    ErrorKind,
    Failed,
    History,
    Indeterminate,
    Record,
    Undone,
    Verdict,
    Violation,
    ViolationKind,
    passed,
    violated,
)
from acidtest.oracles.walks import Walks
from acidtest.targets import Target

NAME = "crash"
LOG_LINES = 20

_ALARM = re.compile(
    r"signal \d+|got signal|assert|\bPANIC\b|\bFATAL\b|terminated by|stack trace", re.IGNORECASE
)
_ASKS_FOR_IT = re.compile(
    r"\b(KILL|SHUTDOWN|pg_terminate_backend|wait_timeout|interactive_timeout|idle\w*_timeout"
    r"|transaction_timeout)\b",
    re.IGNORECASE,
)
"""A case that says one of these may have its connections cut."""


class CrashOracle:
    """Judges by what happened alone; the server's log is read only when there is something to show."""

    name = NAME

    def __init__(self, target: Target, _walks: Walks | None = None) -> None:
        self._target = target

    def judge(self, history: History) -> Verdict:
        """Judge a history, with the end of the server's log as it is now."""
        return judge(history, self._target.log_tail() if _is_broken(history) else "")

    def close(self) -> None:
        """Nothing is held."""


def judge(history: History, log_tail: str) -> Verdict:
    """Judge a history; `log_tail` is the end of the server's log."""
    if not _is_broken(history):
        return passed(NAME)
    record, failure = next(_failures(history), (None, None))
    witness = CrashWitness(
        died=history.server_died,
        error=failure.kind if failure else None,
        code=failure.code if failure else "",
        message=failure.message if failure else "",
        log=_excerpt(log_tail),
    )
    step = record.step if record else None
    because = "the server has to go on, whatever it is asked"
    return violated(NAME, Violation(ViolationKind.CRASH, step, witness, because))


def _is_broken(history: History) -> bool:
    return history.server_died or next(_failures(history), None) is not None


def _failures(history: History) -> Iterator[tuple[Record, Failed]]:
    """Statements that ended as none should; a broken protocol shows as a lost connection, too."""
    excused = any(_ASKS_FOR_IT.search(record.sql) for record in history.records)
    for record in history.records:
        outcome = record.outcome
        if isinstance(outcome, Indeterminate):
            lost = ErrorKind.CONNECTION_LOST
            outcome = Failed(lost, outcome.code, outcome.message, Undone.CONNECTION)
        if isinstance(outcome, Failed) and (
            outcome.kind is ErrorKind.INTERNAL or (outcome.kind is ErrorKind.CONNECTION_LOST and not excused)
        ):
            yield record, outcome


def _excerpt(log_tail: str) -> str:
    """The lines from the first alarm on, or else the last ones."""
    lines = log_tail.splitlines()
    first = next((i for i, line in enumerate(lines) if _ALARM.search(line)), max(0, len(lines) - LOG_LINES))
    return "\n".join(lines[first : first + LOG_LINES])
