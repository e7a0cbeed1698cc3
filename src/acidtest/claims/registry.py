"""Finds the claim for a server, its settings and a level."""

import re
from collections.abc import Callable, Mapping

from acidtest.claims.base import Claim
from acidtest.claims.embedded import DUCKDB, SQLITE
from acidtest.claims.innodb import innodb
from acidtest.claims.postgres import CLAIMS as POSTGRES
from acidtest.claims.seekdb import CLAIMS as SEEKDB
from acidtest.claims.tidb import MODE as TIDB_MODE
from acidtest.claims.tidb import tidb
from acidtest.model import History, Level

Settings = Mapping[str, str]
_BEGIN = re.compile(r"\s*(?:BEGIN|START\s+TRANSACTION)\b\s*(PESSIMISTIC|OPTIMISTIC)?", re.IGNORECASE)


def _mysql(level: Level, _settings: Settings) -> Claim:
    return innodb("mysql", level, snapshot_isolation=False)


def _mariadb(level: Level, settings: Settings) -> Claim:
    return innodb("mariadb", level, snapshot_isolation=settings.get("innodb_snapshot_isolation") == "ON")


def _simulated(level: Level, _settings: Settings) -> Claim:
    return innodb("simulated", level, snapshot_isolation=False)


_CLAIMS: Mapping[str, Callable[[Level, Settings], Claim]] = {
    "mysql": _mysql,
    "mariadb": _mariadb,
    "simulated": _simulated,
    "tidb": tidb,
    "seekdb": lambda level, _settings: SEEKDB[level],
    "postgres": lambda level, _settings: POSTGRES[level],
    "sqlite": lambda _level, _settings: SQLITE,
    "duckdb": lambda _level, _settings: DUCKDB,
}


def claim_for(dbms: str, level: Level, settings: Settings) -> Claim | None:
    """What the DBMS promises; None where nothing is written down."""
    find = _CLAIMS.get(dbms)
    return None if find is None else find(level, settings)


def claims_of(history: History) -> dict[str, Claim] | None:
    """The claim for every session of a history, or None if one is missing."""
    claims = {
        name: claim_for(history.dbms, level, settings)
        for name, level in history.levels.items()
        if (settings := _settings_of(history, name)) is not None
    }
    found = {name: claim for name, claim in claims.items() if claim is not None}
    return found if len(found) == len(history.levels) else None


def _settings_of(history: History, session: str) -> Settings | None:
    """The server's settings as far as the session's own BEGINs do not say otherwise; None if they differ."""
    begins = [_BEGIN.match(record.sql) for record in history.records if record.session == session]
    modes = {
        (begin[1] or history.settings.get(TIDB_MODE, "")).lower() for begin in begins if begin is not None
    }
    if len(modes) > 1:
        return None
    return {**history.settings, TIDB_MODE: modes.pop()} if any(modes) else history.settings
