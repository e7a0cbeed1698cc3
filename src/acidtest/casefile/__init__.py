"""Case files: plain SQL with named sessions, read, written, and checked against what happened."""

from acidtest.casefile.check import Unmet, check, format_outcome, format_record
from acidtest.casefile.constraints import describe_constraints, runs_on, satisfies
from acidtest.casefile.expectations import format_expectation
from acidtest.casefile.literals import format_row, format_rows, format_value
from acidtest.casefile.parser import load_case, parse_case
from acidtest.casefile.printer import await_lines, front_lines, print_case, session_mark, terminated
from acidtest.casefile.source import printable

__all__ = [
    "Unmet",
    "await_lines",
    "check",
    "describe_constraints",
    "format_expectation",
    "format_outcome",
    "format_record",
    "format_row",
    "format_rows",
    "format_value",
    "front_lines",
    "load_case",
    "parse_case",
    "print_case",
    "printable",
    "runs_on",
    "satisfies",
    "session_mark",
    "terminated",
]
