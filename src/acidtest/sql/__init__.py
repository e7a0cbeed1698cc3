"""Reading SQL: what kind of statement a text is, and how a script splits into statements."""

from acidtest.sql.kinds import (
    StatementKind,
    is_ddl,
    kind_of,
    may_change_schema,
    may_leave_session_traces,
)
from acidtest.sql.split import split_script

__all__ = [
    "StatementKind",
    "is_ddl",
    "kind_of",
    "may_change_schema",
    "may_leave_session_traces",
    "split_script",
]
