"""What a campaign shows of itself at a moment; made by the coordinator, drawn by `status.py`."""

from dataclasses import dataclass, field

from acidtest.campaign.statistics import Statistics


@dataclass(frozen=True, slots=True)
class FoundLine:
    """A finding in one line."""

    number: int
    digest: str
    target: str
    level: str
    summary: str
    known: str
    """Ids of the deviations that explain it; empty for a new one."""
    flaky: str
    """`3 of 10` for one that does not always show, else empty."""
    seconds: float
    folder: str
    status: str = ""
    """`explained by X`, `resembles X`, `NEW` or `oracles disagree`."""


@dataclass(frozen=True, slots=True)
class WorkerLine:
    """A worker in one line."""

    number: int
    doing: str
    """e.g. `mariadb@10.11 RR, case 1,240` or `reducing 5 statements`, `starting mariadb@10.11`."""
    cases: int


@dataclass(frozen=True, slots=True)
class View:
    """A moment of a campaign."""

    targets: tuple[str, ...]
    """With the versions that the servers gave."""
    levels: tuple[str, ...]
    oracles: tuple[str, ...]
    profile: str
    seed: int
    folder: str
    elapsed_s: float
    session_s: float
    """Since this process began; a resumed campaign has a longer `elapsed_s`."""
    session_cases: int
    limit_cases: int | None
    limit_s: float | None
    statistics: Statistics
    found: tuple[FoundLine, ...]
    new: int
    known: int
    duplicates: int
    """Violations whose finding was already there."""
    unreduced: int
    """Violations that looked like findings already there, so that nobody reduced them."""
    workers: tuple[WorkerLine, ...]
    replaced: int = 0
    """Workers that died and were replaced."""
    crashes: int = 0
    """Servers that died and were started again."""
    notes: tuple[str, ...] = field(default=())
    """Warnings, the last ones."""

    @property
    def cases_per_minute(self) -> float:
        return 60 * self.session_cases / self.session_s if self.session_s > 0 else 0.0
