"""What a campaign counts. Counts add up, so workers send differences and the store sums them."""

from collections import Counter
from dataclasses import dataclass, field, fields
from typing import Any, Self

from acidtest.codec import DecodingError, decode, encode
from acidtest.examine import Examined
from acidtest.instrument import is_instrumented, probes_of
from acidtest.model import ErrorKind, Failed, Judgement
from acidtest.pipeline import Trial
from acidtest.report import disagreement

REJECTED = frozenset({ErrorKind.SYNTAX, ErrorKind.NO_SUCH_OBJECT, ErrorKind.UNSUPPORTED, ErrorKind.OTHER})
"""Errors that say that a statement was no valid SQL for the DBMS."""

SET_UP_REFUSED = "the DBMS refused the set-up"
NO_SAY = "none of the oracles has a say at this level"
ENDED_PROCESS = "it ended the process that it ran in"
DEFECT = "a defect of acidtest, see errors.log"
CRASH = "crash"
DIFFERENTIAL = "differential"


@dataclass(slots=True)
class Statistics:
    """Sums over cases. `judged` are cases that some oracle decided; the others are undecided, with the reason
    of the first oracle that had one."""

    cases: int = 0
    judged: int = 0
    undecided: Counter[str] = field(default_factory=Counter)
    conflicting: int = 0
    """Cases whose transactions were made to meet."""
    blocked: int = 0
    """Cases in which a statement waited."""
    deadlocks: int = 0
    statements: int = 0
    rejected: int = 0
    violations: int = 0
    """Cases that some oracle calls a violation."""
    oracles: Counter[str] = field(default_factory=Counter)
    """By `oracle judgement`."""
    seconds: dict[str, float] = field(default_factory=dict)
    """By stage: generate, execute, judge, reduce."""
    disagreements: int = 0
    """Cases that one oracle calls a violation and another one, which would see it, does not."""
    disagreeing: Counter[str] = field(default_factory=Counter)
    """The same by who says what."""
    abstained: Counter[str] = field(default_factory=Counter)
    """By `oracle: reason`, whether others decided the case or not."""
    allowed_differences: Counter[str] = field(default_factory=Counter)
    """Cases that another target runs in another way, by what both promises say of that."""
    oracle_defects: int = 0
    """Cases on which an oracle failed; others may have decided them all the same."""
    unexplained_conflicts: int = 0
    """Errors of a lost conflict for which no oracle saw a reason; they are allowed, and told."""
    instrumented: int = 0
    """Cases whose rows carry versions."""
    probes: int = 0
    torn_probes: int = 0
    """Probes that another session came between and the statement that they belong to."""

    def count(self, trial: Trial) -> None:
        """Count a case that went through the pipeline."""
        for stage, spent in trial.seconds.items():
            self.seconds[stage] = self.seconds.get(stage, 0.0) + spent
        if trial.examined is None:
            self.cases += 1
            self.undecided[SET_UP_REFUSED] += 1
        else:
            self._count(trial.examined, trial.conflicting)

    def count_deadly(self) -> None:
        """Count a case that ended the process it ran in, which is a violation."""
        self.cases += 1
        self.violations += 1
        self.oracles[f"{CRASH} {Judgement.VIOLATION.value}"] += 1
        self.undecided[ENDED_PROCESS] += 1

    def count_defect(self) -> None:
        """Count a case that acidtest could not cope with."""
        self.cases += 1
        self.undecided[DEFECT] += 1

    @property
    def defects(self) -> int:
        """Cases that acidtest could not cope with, or not with all of its oracles."""
        return self.undecided[DEFECT] + self.oracle_defects

    def _count(self, examined: Examined, conflicting: bool) -> None:
        history, verdicts = examined.history, examined.verdicts
        errors = [one.outcome.kind for one in history.records if isinstance(one.outcome, Failed)]
        self.cases += 1
        self.conflicting += conflicting
        self.blocked += any(record.waited for record in history.records)
        self.deadlocks += ErrorKind.DEADLOCK in errors
        self.statements += len(history.records)
        self.rejected += sum(kind in REJECTED for kind in errors)
        self.oracles.update(f"{verdict.oracle} {verdict.judgement.value}" for verdict in verdicts)
        self.violations += examined.judgement is Judgement.VIOLATION
        self.unexplained_conflicts += max((one.unexplained_conflicts for one in verdicts), default=0)
        if (sentence := disagreement(verdicts)) is not None:
            self.disagreements += 1
            self.disagreeing[sentence] += 1
        unknown = (one for one in verdicts if one.judgement is Judgement.UNKNOWN)
        self.abstained.update(f"{one.oracle}: {one.reason}" for one in unknown)
        self.allowed_differences.update(known.title for one in verdicts for known in one.differences)
        self.oracle_defects += any(verdict.defect for verdict in verdicts)
        if is_instrumented(history.schema):
            probes = probes_of(history)
            self.instrumented += 1
            self.probes += probes.count
            self.torn_probes += len(probes.torn)
        if examined.judgement is Judgement.UNKNOWN:
            self.undecided[examined.undecided_because or NO_SAY] += 1
        else:
            self.judged += 1

    def add(self, other: "Statistics") -> None:
        """Add what another one counted."""
        for one in fields(self):
            mine, theirs = getattr(self, one.name), getattr(other, one.name)
            if isinstance(mine, dict):
                for name, count in theirs.items():
                    mine[name] = mine.get(name, 0) + count
            else:
                setattr(self, one.name, mine + theirs)

    def to_json(self) -> dict[str, Any]:
        """JSON-ready data."""
        data: dict[str, Any] = encode(self)
        return data

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """What was stored; raises `ValueError` if that cannot have been statistics."""
        try:
            return decode(data, cls)
        except DecodingError as problem:
            raise ValueError(f"the statistics do not fit: {problem}") from problem
