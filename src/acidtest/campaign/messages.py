"""What workers and the coordinator tell each other over a pipe."""

from dataclasses import dataclass
from enum import Enum, auto

from acidtest.campaign.plan import Chunk
from acidtest.campaign.statistics import Statistics
from acidtest.findings.finding import Finding
from acidtest.findings.signature import Signature


@dataclass(frozen=True, slots=True)
class Opened:
    """A target is open; `version` is what the server says of itself."""

    target: str
    version: str


@dataclass(frozen=True, slots=True)
class Doing:
    """What a worker is at, for the status."""

    text: str


@dataclass(frozen=True, slots=True)
class Advanced:
    """Cases of a chunk have been examined up to `position`; `statistics` counts those since the last one."""

    chunk: Chunk
    position: int
    statistics: Statistics


@dataclass(frozen=True, slots=True)
class Suspected:
    """A case breaks a promise. The coordinator answers whether it is worth an investigation."""

    target: str
    level: str
    case: str
    signature: Signature
    text: str = ""
    """The case itself."""


@dataclass(frozen=True, slots=True)
class Sighted:
    """A violation of a finding that is there, where it was not seen before, has been run again."""

    suspect: Suspected
    again: bool
    """Whether it showed again."""


@dataclass(frozen=True, slots=True)
class Found:
    """An investigation has ended."""

    finding: Finding
    suspect: Suspected


@dataclass(frozen=True, slots=True)
class Finished:
    """A chunk has been examined to its end; the worker wants another one."""

    chunk: Chunk


@dataclass(frozen=True, slots=True)
class Stopped:
    """The worker has stopped as it was told."""


@dataclass(frozen=True, slots=True)
class TargetLost:
    """A target cannot be had, or died and could not be started again."""

    target: str
    why: str
    may_return: bool
    """False if it would be the user's turn to change something."""
    chunk: Chunk | None = None


@dataclass(frozen=True, slots=True)
class Defect:
    """acidtest could not cope with a case, or not open a target: an exception that nobody foresaw."""

    where: str
    what: str
    """Type and text of the exception."""
    place: str
    """File and line that raised it."""
    trace: str


@dataclass(frozen=True, slots=True)
class Note:
    """A warning for the user."""

    text: str


class Decision(Enum):
    """What to do about a suspect."""

    INVESTIGATE = auto()
    CONFIRM = auto()  # it is a known finding at a new place: run it once more
    PASS_BY = auto()  # it is counted, and that is all
    LEAVE = auto()  # the campaign is about to stop: examine it when it goes on


@dataclass(frozen=True, slots=True)
class Answer:
    """To `Suspected`."""

    decision: Decision


@dataclass(frozen=True, slots=True)
class Stop:
    """Stop after the case at hand. `at_once`: break off an investigation, too."""

    at_once: bool = False


FromWorker = (
    Opened | Doing | Advanced | Suspected | Sighted | Found | Finished | Stopped | TargetLost | Defect | Note
)
ToWorker = Chunk | Answer | Stop
