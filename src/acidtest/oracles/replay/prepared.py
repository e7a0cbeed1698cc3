"""Prepared statements: EXECUTE stands for the statement that PREPARE named, with its parameters filled in."""

import re
from collections.abc import Collection
from dataclasses import replace

from sqlglot import exp

from acidtest.model import Failed, History, Record
from acidtest.sql.trees import parse

_EXECUTE = re.compile(
    r"\s*EXECUTE\s+([A-Za-z_]\w*)\s*(?:\((.*)\)|USING\s+(.+))?\s*", re.IGNORECASE | re.DOTALL
)
_PREPARE_AS = re.compile(
    r"\s*PREPARE\s+([A-Za-z_]\w*)\s*(?:\(([\w\s,]*)\))?\s*AS\s+(.+)", re.IGNORECASE | re.DOTALL
)
_PREPARE_FROM = re.compile(
    r"\s*PREPARE\s+([A-Za-z_]\w*)\s+FROM\s+(?:'((?:[^'\\]|'')*)'|\"([^\"\\]*)\")\s*",
    re.IGNORECASE | re.DOTALL,
)
_VARIABLE = re.compile(r"\s*SET\s+(@\w+)\s*:?=\s*(.+?)\s*", re.IGNORECASE | re.DOTALL)
_CONSTANT = re.compile(r"-?\d+|'[^'\\]*'|NULL", re.IGNORECASE)
_INTEGER = re.compile(r"-?\d+")
_NUMBERED = re.compile(r"\$(\d+)")


def spelled_out(history: History, grammars: Collection[str]) -> History:
    """The history with the statements that were executed in the place of EXECUTE, as far as they are known.

    An EXECUTE that cannot be spelled out stays as it is, and nobody knows what it does.
    """
    if len(grammars) != 1 or not any(_EXECUTE.fullmatch(record.sql) for record in history.records):
        return history
    (grammar,) = grammars
    sessions: dict[str, _Prepared] = {}
    records = [
        sessions.setdefault(record.session, _Prepared(grammar)).record(record) for record in history.records
    ]
    return replace(history, records=tuple(records))


class _Prepared:
    """What one session has prepared, and its variables, in the order of its statements."""

    def __init__(self, grammar: str) -> None:
        self._grammar = grammar
        self._statements: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._variables: dict[str, str] = {}

    def record(self, record: Record) -> Record:
        """The record with what an EXECUTE stands for; other statements are noted."""
        sql = record.sql
        if match := _EXECUTE.fullmatch(sql):
            found = self._executed(match[1].lower(), match[2], match[3])
            return record if found is None else replace(record, sql=found)
        if isinstance(record.outcome, Failed):
            return record
        if match := _PREPARE_AS.fullmatch(sql):
            types = tuple(one.strip() for one in (match[2] or "").split(",") if one.strip())
            self._statements.setdefault(match[1].lower(), (match[3], types))
        elif match := _PREPARE_FROM.fullmatch(sql):
            text = match[2].replace("''", "'") if match[2] is not None else match[3]
            self._statements[match[1].lower()] = (text, ())
        elif match := _VARIABLE.fullmatch(sql):
            self._variables[match[1].lower()] = match[2]
        elif sql.lstrip()[:10].upper() in ("DEALLOCATE", "DROP PREPA") or "DISCARD" in sql.upper():
            self._statements.clear()
        return record

    def _executed(self, name: str, given: str | None, variables: str | None) -> str | None:
        if name not in self._statements:
            return None
        text, types = self._statements[name]
        if variables is not None:
            names = [one.strip().lower() for one in variables.split(",")]
            values = [self._variables.get(one, "") for one in names]
        else:
            values = [one.strip() for one in (given or "").split(",") if one.strip()]
        if not all(_CONSTANT.fullmatch(value) for value in values):
            return None
        return self._filled(text, values, types)

    def _filled(self, text: str, values: list[str], types: tuple[str, ...]) -> str | None:
        """The text with its parameters. A parameter whose type was not said takes the one that its place asks
        for, as a quoted constant does; what is rounded on that way is not known here."""
        tree = parse(text, self._grammar)
        if tree is None:
            return None
        marks = list(tree.find_all(exp.Placeholder, exp.Parameter))
        if not marks:
            return None if values else text
        if any(isinstance(mark, exp.Parameter) for mark in marks):
            return _with_numbered(text, values, types)
        return _with_marks(text, values)


def _with_numbered(text: str, values: list[str], types: tuple[str, ...]) -> str | None:
    numbers = {int(one) for one in _NUMBERED.findall(text)}
    if "'" in text or numbers != set(range(1, len(values) + 1)) or len(types) > len(values):
        return None
    filled = []
    for at, value in enumerate(values):
        if at < len(types):
            filled.append(f"CAST({value} AS {types[at]})")
        elif _INTEGER.fullmatch(value):
            filled.append(f"'{value}'")
        else:
            filled.append(value)
    return _NUMBERED.sub(lambda match: filled[int(match[1]) - 1], text)


def _with_marks(text: str, values: list[str]) -> str | None:
    if "'" in text or '"' in text or text.count("?") != len(values):
        return None
    pieces = text.split("?")
    return "".join(piece + value for piece, value in zip(pieces, [*values, ""], strict=True))
