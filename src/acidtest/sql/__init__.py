"""Reading SQL: what kind of statement a text is, and how a script splits into statements."""

from acidtest.sql.kinds import StatementKind, kind_of

__all__ = ["StatementKind", "kind_of"]
