"""A finding: a violation that was re-run, reduced, named and compared, with the run that shows it."""

from dataclasses import dataclass
from typing import Any

from acidtest.codec import decode, encode, register_union
from acidtest.examine import Examined
from acidtest.findings.parts import Part
from acidtest.findings.signature import Signature
from acidtest.model import Known

FORMAT = "acidtest-finding/2"
FIRST_FORMAT = "acidtest-finding/1"

register_union(Part)


@dataclass(frozen=True, slots=True)
class Sighting:
    """What became of the minimal case somewhere else: at another level, or on another target."""

    target: str
    version: str
    level: str
    found: str
    """`shows` (with the same signature), `another violation`, `does not show`, `undecided` or `not run`."""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """Everything that a report tells. Texts are case files; `verdicts` are as docs/json.md describes them."""

    signature: str
    """In words; `digest` is its short name and the end of the folder's name."""
    digest: str
    kind: str
    target: str
    dbms: str
    version: str
    settings: dict[str, str]
    level: str
    """The short name, or `mixed`."""
    oracles: tuple[str, ...]
    """Those that call the minimal case a violation."""
    summary: str
    """One sentence: what is wrong."""
    minimal: str
    observed: str
    """The minimal case as it really ran, with results and verdicts as comments."""
    original: str
    verdicts: tuple[dict[str, Any], ...]
    explanation: tuple[str, ...]
    """Prose, a paragraph each."""
    shown: int
    runs: int
    """Of so many runs of the minimal case, so many showed it; fewer than all: flaky."""
    reduction: str
    """How it was reduced, or why not, in a few words."""
    identity: Signature | None = None
    """The signature as data; None if an older version stored the finding."""
    run: Examined | None = None
    """The run of the minimal case with all verdicts; None if an older version stored the finding, or if the
    run is lost."""
    explained_by: tuple[Known, ...] = ()
    """Known deviations under which everything that was observed is right."""
    resembles: tuple[str, ...] = ()
    """Ids of deviations that come near, and of corpus bugs that look alike on this target: a hint, it is new
    all the same."""
    disagreement: str = ""
    """Which oracles contradict each other; then it may be a defect of ours."""
    levels: tuple[Sighting, ...] = ()
    elsewhere: tuple[Sighting, ...] = ()
    seed: int | None = None
    case: str = ""
    """The id of the original case in its campaign."""
    seconds: float = 0.0
    """From the beginning of the campaign until it was found."""
    broken_off: str = ""
    """Why the investigation came to no end; what it lacks was not tried."""
    log: str = ""
    """The end of the server's log, where the server died."""
    acidtest: str = ""

    @property
    def is_flaky(self) -> bool:
        return self.shown < self.runs

    @property
    def is_explained(self) -> bool:
        """Whether it is known: nothing else counts as that."""
        return bool(self.explained_by)

    def to_json(self) -> dict[str, Any]:
        """JSON-ready data."""
        return {"format": FORMAT, **encode(self)}


def finding_from_json(data: Any) -> Finding:
    """The finding that this version or an older one stored; raises `ValueError` if it cannot have been."""
    if not isinstance(data, dict) or data.get("format") not in (FORMAT, FIRST_FORMAT):
        raise ValueError(f"it is not of the format {FORMAT}")
    return decode(data if data["format"] == FORMAT else _upgraded(data), Finding)


def _upgraded(data: dict[str, Any]) -> dict[str, Any]:
    """What the first version called known was only alike."""
    alike = [*data.get("known", ()), *filter(None, [data.get("behaviour", "")])]
    return {name: value for name, value in data.items() if name != "parts"} | {"resembles": alike}
