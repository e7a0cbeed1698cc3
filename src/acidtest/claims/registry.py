"""Finds the claim for a server, its settings and a level."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from acidtest.claims.base import Claim
from acidtest.claims.characteristics import Characteristics, in_force, says_something, sets
from acidtest.claims.embedded import DUCKDB, SQLITE
from acidtest.claims.innodb import innodb
from acidtest.claims.postgres import CLAIMS as POSTGRES
from acidtest.claims.seekdb import CLAIMS as SEEKDB
from acidtest.claims.tidb import MODE as TIDB_MODE
from acidtest.claims.tidb import OPTIMISTIC as TIDB_OPTIMISTIC
from acidtest.claims.tidb import tidb
from acidtest.model import History, Level

Settings = Mapping[str, str]


def _mysql(level: Level, _settings: Settings) -> Claim:
    return innodb("mysql", level, snapshot_isolation=False)


def _mariadb(level: Level, settings: Settings) -> Claim:
    return innodb("mariadb", level, snapshot_isolation=settings.get("innodb_snapshot_isolation") == "ON")


def _simulated(level: Level, settings: Settings) -> Claim:
    return _of_engine(settings.get("simulated_engine", "locking"), level)


@lru_cache
def _of_engine(engine: str, level: Level) -> Claim:
    # All engines of the simulated target speak one SQL.
    match engine:
        case "recheck" | "fail" | "ssi":
            claim = replace(POSTGRES[level], writes_unchanged=False, exact_locks=False, table_locks=False)
        case "one-writer":
            claim = SQLITE
        case "refuse":
            claim = DUCKDB
        case "optimistic":
            claim = tidb(level, {TIDB_MODE: TIDB_OPTIMISTIC})
        case _:
            claim = innodb("simulated", level, snapshot_isolation=False)
    return replace(claim, dbms="simulated", grammar="mysql")


_CLAIMS: Mapping[str, Callable[[Level, Settings], Claim | None]] = {
    "mysql": _mysql,
    "mariadb": _mariadb,
    "simulated": _simulated,
    "tidb": tidb,
    "seekdb": lambda level, _settings: SEEKDB[level],
    "postgres": lambda level, _settings: POSTGRES[level],
    "sqlite": lambda _level, _settings: SQLITE,
    # of releases before 2.0 the catalogue is known in part only
    "duckdb": lambda _level, settings: None if settings.get("catalogue") == "partial" else DUCKDB,
}


def claim_for(dbms: str, level: Level, settings: Settings) -> Claim | None:
    """What the DBMS promises; None where nothing is written down."""
    find = _CLAIMS.get(dbms)
    return None if find is None else find(level, settings)


@dataclass(frozen=True, slots=True)
class StepClaim:
    """The claim of the transaction that a step belongs to; `counts`: the step is more than a setting."""

    session: str
    claim: Claim
    counts: bool


class Claims(dict[str, Claim]):
    """The claims of sessions by name, and of each step, whose transaction may run in another way."""

    def __init__(self, claims: Mapping[str, Claim], steps: Mapping[int, StepClaim]) -> None:
        super().__init__(claims)
        self._steps = dict(steps)

    def at(self, session: str, step: int) -> Claim:
        """The claim for a step of a session."""
        found = self._steps.get(step) if self._steps else None
        return self[session] if found is None else found.claim

    def used(self, session: str | None = None) -> list[Claim]:
        """The claims that transactions had, of one session or of all."""
        names = [session] if session is not None else list(self)
        used = [one for one in self._steps.values() if one.counts and one.session in names]
        without = [name for name in names if not any(one.session == name for one in used)]
        return [*(one.claim for one in used), *(self[name] for name in without)]

    def renumbered(self, steps: Sequence[int]) -> "Claims":
        """The same for a run that has only these steps, numbered anew."""
        found = {new: self._steps[old] for new, old in enumerate(steps) if old in self._steps}
        return Claims(self, found)

    def changed(self, change: Callable[[Claim], Claim]) -> "Claims":
        """The same with every claim changed."""
        sessions = {name: change(claim) for name, claim in self.items()}
        steps = {step: replace(one, claim=change(one.claim)) for step, one in self._steps.items()}
        return Claims(sessions, steps)


def claims_of(history: History) -> Claims | None:
    """The claims of a history's sessions and of their transactions, or None if one is missing."""
    sessions: dict[str, Claim] = {}
    steps: dict[int, StepClaim] = {}
    as_usual = not any(says_something(record.sql) for record in history.records)
    for name, level in history.levels.items():
        own = claim_for(history.dbms, level, history.settings)
        if own is None:
            return None
        sessions[name] = own
        for record, how in () if as_usual else in_force(history, name):
            claim = _claim_at(history, own, how)
            if claim is None:
                return None
            steps[record.step] = StepClaim(name, claim, counts=not sets(record.sql))
    return Claims(sessions, steps)


def _claim_at(history: History, own: Claim, how: Characteristics) -> Claim | None:
    """The claim of a transaction that runs like that; `own` is the one of its session."""
    settings = history.settings if how.mode is None else {**history.settings, TIDB_MODE: how.mode}
    plain = how.level in (None, own.level) and how.mode is None
    claim = own if plain or how.level is None else claim_for(history.dbms, how.level, settings)
    if claim is not None and claim.serializable and how.read_only and how.deferrable:
        return replace(claim, late_snapshot=True)
    return claim
