"""Acts: what a schedule does to clients and server beside sending SQL, written as psql writes commands."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

from acidtest.targets import Session


class Act(StrEnum):
    """An act, as a case file writes it."""

    CLOSE = "\\close"
    """The session's client hangs up. Its next statement comes from a new connection."""
    KILL = "\\kill"
    """The server is killed and started again on its data. Every session connects anew."""
    RESTART = "\\restart"
    """The server is shut down in order and started again; a database file is closed and opened again."""


def act_of(sql: str) -> Act | None:
    """The act that a statement's text means, if it is no SQL; an unknown one is the DBMS's to refuse."""
    if not sql.startswith("\\"):
        return None
    return next((act for act in Act if act == sql.lower()), None)


class Backstage(Protocol):
    """What a run asks of whoever holds the sessions and the watch."""

    def revive(self) -> bool:
        """Replace a watch whose connection was lost; False if the server is gone."""

    def hang_up(self, name: str) -> Session:
        """Close a session, wait until the server has let go of it, and open another in its place."""

    def reboot(self, kill: bool) -> Mapping[str, Session]:
        """Start the server again on its data, after a crash or in order; all sessions anew."""
