"""What a case file expects of a statement or of the final state; optional, the oracles judge without it."""

from dataclasses import dataclass

from acidtest.model.level import Level
from acidtest.model.outcome import ErrorKind
from acidtest.model.value import Row


@dataclass(frozen=True, slots=True)
class ExpectRows:
    """These rows, as a multiset unless `ordered`."""

    rows: tuple[Row, ...]
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class ExpectAffected:
    """Success with this affected count."""

    count: int


@dataclass(frozen=True, slots=True)
class ExpectOk:
    """Any success."""


@dataclass(frozen=True, slots=True)
class ExpectError:
    """A DBMS error: any, of a kind, or with a code."""

    kind: ErrorKind | None = None
    code: str | None = None


@dataclass(frozen=True, slots=True)
class ExpectBlocked:
    """It had to wait (for one of `by`, if any are named), or with `blocked` False: it had not to."""

    blocked: bool = True
    by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExpectResumed:
    """It waited, and a statement of one of these sessions released it, as far as that is known."""

    by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExpectEnd:
    """It was answered, whatever the answer: it neither hangs nor waits for good."""


@dataclass(frozen=True, slots=True)
class ExpectWarning:
    """The DBMS warned (with this code, if one is named), or with `present` False: it did not."""

    code: str | None = None
    present: bool = True


@dataclass(frozen=True, slots=True)
class ExpectLike:
    """A regular expression is found in a row, an error or a warning, as acidtest prints them; with `present`
    False in none of them."""

    pattern: str
    present: bool = True


Condition = (
    ExpectRows
    | ExpectAffected
    | ExpectOk
    | ExpectError
    | ExpectBlocked
    | ExpectResumed
    | ExpectEnd
    | ExpectWarning
    | ExpectLike
)


@dataclass(frozen=True, slots=True)
class Expectation:
    """Alternatives, each a conjunction; holds at `levels`, or at every level where none is named.

    An expectation that names the level of the run replaces those that name none.
    """

    alternatives: tuple[tuple[Condition, ...], ...]
    levels: tuple[Level, ...] = ()


@dataclass(frozen=True, slots=True)
class FinalExpectation:
    """The rows of a table after the case, by alternatives."""

    table: str
    alternatives: tuple[tuple[Row, ...], ...]
    levels: tuple[Level, ...] = ()
