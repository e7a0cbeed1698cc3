"""What an oracle says of a history: pass, violation with its witness, or unknown with the reason."""

from dataclasses import dataclass
from enum import StrEnum

from acidtest.model.history import History
from acidtest.model.outcome import ErrorKind, Outcome
from acidtest.model.phenomenon import Phenomenon
from acidtest.model.trace import Dependency
from acidtest.model.value import Row


class Judgement(StrEnum):
    """Unknown is never hidden in pass."""

    PASS = "pass"
    VIOLATION = "violation"
    UNKNOWN = "unknown"


class ViolationKind(StrEnum):
    """What is wrong, as a DBMS developer would put it."""

    MISSING_BLOCK = "missing block"  # it had to wait (or be refused) and was not
    WRONG_ROWS = "wrong rows"
    WRONG_AFFECTED_COUNT = "wrong affected count"
    WRONG_ERROR = "wrong error"  # an error that must not be, or one that must be and is not
    WRONG_FINAL_STATE = "wrong final state"
    FORBIDDEN_PHENOMENON = "forbidden phenomenon"
    NOT_SERIALIZABLE = "not serializable"
    DIFFERENT_RUN = "different run"  # another DBMS or version does something else, and no claim says why
    UNTRANSACTED = "differs without transactions"  # one by one the same statements come to something else
    CRASH = "crash"


class Reason(StrEnum):
    """Why a row is wrongly there, or why it must be there and is not."""

    # rows too many
    NEVER_WRITTEN = "never written"
    UNCOMMITTED = "not committed"
    ROLLED_BACK = "rolled back"
    LATER = "committed after the snapshot"
    REPLACED = "replaced by a newer version"
    OWN_REPLACED = "replaced by the transaction itself"
    DELETED = "deleted"
    REPEATED = "returned too often"
    # rows too few
    OWN = "written by the transaction itself"
    INITIAL = "there from the start"
    COMMITTED = "committed in time"
    DIRTY_COUNTS = "not committed, which counts at this level"
    # either
    UNTRACED = "not traced to a version"


@dataclass(frozen=True, slots=True)
class RowDifference:
    """A row that is there and should not be (`extra`), or should be and is not.

    `writer` and `step` say who wrote the version that the row is, `by` and `by_step` who has replaced or
    deleted it since; sessions by name, empty for the set-up and for nobody.
    """

    row: Row
    extra: bool
    reason: Reason
    table: str = ""
    writer: str = ""
    step: int | None = None
    by: str = ""
    by_step: int | None = None


@dataclass(frozen=True, slots=True)
class RowsWitness:
    """Wrong rows of a statement. `partial`: of the expected rows any part would do (SKIP LOCKED)."""

    expected: tuple[Row, ...]
    observed: tuple[Row, ...]
    differences: tuple[RowDifference, ...] = ()
    partial: bool = False


@dataclass(frozen=True, slots=True)
class CountWitness:
    """A wrong affected count; each of `expected` would do."""

    expected: frozenset[int]
    observed: int


@dataclass(frozen=True, slots=True)
class ErrorWitness:
    """One of the `expected` errors had to come (none: success), and `observed` came (None: success)."""

    expected: frozenset[ErrorKind]
    observed: ErrorKind | None
    code: str = ""


class Hold(StrEnum):
    """What somebody else holds that a statement had to wait for."""

    WRITTEN_ROW = "a row that it has written"
    LOCKED_ROW = "a row that it has locked"
    KEY = "a unique key"
    CONDITION = "the condition of a statement"
    TABLE = "a table"
    ADVISORY = "an advisory lock"


@dataclass(frozen=True, slots=True)
class WaitWitness:
    """The statement had to wait for `holder`, who holds something; `early`: it went on too soon."""

    holder: str
    hold: Hold
    what: str
    since: int | None = None
    early: bool = False


@dataclass(frozen=True, slots=True)
class StateWitness:
    """The committed transactions leave other rows in a table."""

    table: str
    expected: tuple[Row, ...]
    observed: tuple[Row, ...]
    differences: tuple[RowDifference, ...] = ()


@dataclass(frozen=True, slots=True)
class CycleWitness:
    """Dependencies that form a cycle, or the one read that is the phenomenon; sessions by transaction."""

    dependencies: tuple[Dependency, ...]
    sessions: tuple[tuple[int, str], ...]

    def session(self, transaction: int) -> str:
        """The session that ran a transaction."""
        return dict(self.sessions).get(transaction, "the set-up")


@dataclass(frozen=True, slots=True)
class FailedOrder:
    """A serial order, and where it goes another way than the history (None: in the final state)."""

    order: tuple[str, ...]
    step: int | None
    difference: str


@dataclass(frozen=True, slots=True)
class OrdersWitness:
    """No serial order of the committed transactions gives what was observed."""

    orders: tuple[FailedOrder, ...]


@dataclass(frozen=True, slots=True)
class CrashWitness:
    """The server died, or a statement ended with an error that none should; `log` is an excerpt."""

    died: bool
    error: ErrorKind | None = None
    code: str = ""
    message: str = ""
    log: str = ""
    transactional: bool = True
    """False: it happened when the statements were run again without transactions."""


class DifferenceKind(StrEnum):
    """In what two runs of one case differ."""

    WAIT = "a wait"
    ERROR = "an error"
    ROWS = "rows"
    COUNT = "an affected count"
    STATE = "the final state"


@dataclass(frozen=True, slots=True)
class RunDifference:
    """A step (None: the final state of `table`) that came to something else `here` than `there`."""

    kind: DifferenceKind
    step: int | None
    here: Outcome
    there: Outcome
    here_waited: bool = False
    there_waited: bool = False
    table: str = ""


@dataclass(frozen=True, slots=True)
class Breach:
    """A run that breaks what its own DBMS promises."""

    target: str
    kind: ViolationKind
    step: int | None


@dataclass(frozen=True, slots=True)
class ComparisonWitness:
    """The run of the same case on another target, where it differs (the first difference comes first), and
    which of the two runs is wrong by itself, as far as that is known."""

    other: History
    differences: tuple[RunDifference, ...]
    breaches: tuple[Breach, ...] = ()


@dataclass(frozen=True, slots=True)
class UntransactedWitness:
    """Statements of the committed transactions, run one by one without transactions in an `order` that keeps
    every dependency: there a step (or a table of the final state) comes to what is `expected`.

    `removed` are steps that were left out of both runs, because they depend on each other in a circle.
    """

    order: tuple[int, ...]
    expected: Outcome
    observed: Outcome
    table: str = ""
    removed: tuple[int, ...] = ()
    transactional: bool | None = None
    """Whether the run with transactions is the wrong one; None: that is not known."""


Witness = (
    RowsWitness
    | CountWitness
    | ErrorWitness
    | WaitWitness
    | StateWitness
    | CycleWitness
    | OrdersWitness
    | CrashWitness
    | ComparisonWitness
    | UntransactedWitness
)


class Status(StrEnum):
    """What is said of a behaviour that is known."""

    DOCUMENTED = "documented"  # the vendor describes it and means it
    CONFIRMED = "confirmed"  # the vendor calls it a bug
    DISPUTED = "disputed"  # reported, and the vendor does not call it a bug
    UNCONFIRMED = "unconfirmed"  # seen, and no vendor has said anything about it


@dataclass(frozen=True, slots=True)
class Known:
    """A known behaviour by name, with what is said of it and where."""

    id: str
    title: str
    status: Status
    link: str


@dataclass(frozen=True, slots=True)
class Violation:
    """What is wrong at a step (None: in the final state, or with the run as a whole), and its witness.

    `explained_by`: deviations of the claim under which everything that was observed is right.
    """

    kind: ViolationKind
    step: int | None
    witness: Witness
    because: str = ""
    """The rule that was broken, in a sentence for people; nothing is decided by it."""
    phenomenon: Phenomenon | None = None
    explained_by: tuple[Known, ...] = ()
    resembles: tuple[Known, ...] = ()
    """Deviations under which nothing is wrong as far as can be judged: a hint, no explanation."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement of one oracle on one history. `reason` says why it is unknown, or what a pass leaves out;
    `defect` that an oracle failed on the way, which is a bug of ours."""

    oracle: str
    judgement: Judgement
    violation: Violation | None = None
    reason: str = ""
    defect: bool = False
    occurred: tuple[Phenomenon, ...] = ()
    """Phenomena that were looked for, found, and that the claim allows."""
    differences: tuple[Known, ...] = ()
    """What another run of the case did in another way, and what both promises say of it."""
    unexplained_conflicts: int = 0
    """Statements that failed with a conflict for which no reason is seen: allowed, but worth a look."""

    @property
    def kind(self) -> ViolationKind | None:
        return None if self.violation is None else self.violation.kind

    @property
    def step(self) -> int | None:
        return None if self.violation is None else self.violation.step

    @property
    def is_violation(self) -> bool:
        return self.judgement is Judgement.VIOLATION

    @property
    def is_explained(self) -> bool:
        """Whether a known deviation predicts exactly what was observed."""
        return self.violation is not None and bool(self.violation.explained_by)


def passed(oracle: str, occurred: tuple[Phenomenon, ...] = ()) -> Verdict:
    """Nothing is wrong."""
    return Verdict(oracle, Judgement.PASS, occurred=occurred)


def unknown(oracle: str, reason: str, *, defect: bool = False) -> Verdict:
    """No judgement, and why."""
    return Verdict(oracle, Judgement.UNKNOWN, reason=reason, defect=defect)


def violated(oracle: str, violation: Violation) -> Verdict:
    """A broken promise."""
    return Verdict(oracle, Judgement.VIOLATION, violation)
