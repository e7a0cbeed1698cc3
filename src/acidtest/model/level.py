"""Isolation levels by their SQL names."""

from enum import StrEnum

from acidtest.errors import UsageError


class Level(StrEnum):
    """An isolation level as a DBMS names it. What a DBMS promises at it is a claim, not part of the name."""

    READ_UNCOMMITTED = "READ UNCOMMITTED"
    READ_COMMITTED = "READ COMMITTED"
    REPEATABLE_READ = "REPEATABLE READ"
    SNAPSHOT = "SNAPSHOT"
    SERIALIZABLE = "SERIALIZABLE"

    @property
    def short(self) -> str:
        """The two- or three-letter name used in tables: RU, RC, RR, SI, SER."""
        return _SHORT[self]

    @classmethod
    def of_short(cls, name: str) -> "Level | None":
        """The level with that short name, if there is one."""
        return next((level for level in cls if level.short == name), None)

    @classmethod
    def parse(cls, text: str) -> "Level":
        """Read a level by its full or short name, in any case, with spaces, dashes or underscores."""
        wanted = " ".join(text.replace("-", " ").replace("_", " ").upper().split())
        for level in cls:
            if wanted in (level.value, level.short):
                return level
        known = ", ".join(f"{level.value} ({level.short})" for level in cls)
        raise UsageError(f"unknown isolation level {text!r}; use one of: {known}")


_SHORT = {
    Level.READ_UNCOMMITTED: "RU",
    Level.READ_COMMITTED: "RC",
    Level.REPEATABLE_READ: "RR",
    Level.SNAPSHOT: "SI",
    Level.SERIALIZABLE: "SER",
}
