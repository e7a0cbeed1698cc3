"""A finding: a violation that was re-run, reduced, named and compared, as plain data that can be stored."""

from dataclasses import asdict, dataclass, fields
from typing import Any, Self

FORMAT = "acidtest-finding/1"


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
    parts: dict[str, Any]
    """The signature as data."""
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
    known: tuple[str, ...] = ()
    """Ids of corpus bugs with the same signature on this target."""
    behaviour: str = ""
    behaviour_link: str = ""
    """The documented behaviour whose shape it has."""
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
    def is_known(self) -> bool:
        return bool(self.known or self.behaviour)

    def to_json(self) -> dict[str, Any]:
        """JSON-ready data."""
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """The finding that was stored; fields of later versions are passed by."""
        own = _own(cls, data)
        for name in ("levels", "elsewhere"):
            own[name] = tuple(Sighting(**_own(Sighting, one)) for one in own.get(name, ()))
        for name in ("oracles", "verdicts", "explanation", "known"):
            own[name] = tuple(own.get(name, ()))
        return cls(**own)


def _own(kind: type[Any], data: dict[str, Any]) -> dict[str, Any]:
    """The fields that this version knows."""
    return {one.name: data[one.name] for one in fields(kind) if one.name in data}
