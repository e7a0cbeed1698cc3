"""Expectations as text, `-- expect RC, RU: (1,'a') or error deadlock; blocked by tx1`: read and written."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from acidtest.casefile.literals import LITERAL, format_rows, format_value, read_literal
from acidtest.casefile.source import Source
from acidtest.errors import UsageError
from acidtest.model import (
    Condition,
    ErrorKind,
    ExpectAffected,
    Expectation,
    ExpectBlocked,
    ExpectEnd,
    ExpectError,
    ExpectLike,
    ExpectOk,
    ExpectResumed,
    ExpectRows,
    ExpectWarning,
    FinalExpectation,
    Level,
    Row,
    Value,
)

T = TypeVar("T")

DIRECTIVE = re.compile(r"--\s*expect(?=[\s:]|$)")
_SPACE = re.compile(r"\s*")
_WORD = re.compile(r"\w+")
_SESSION = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LEVEL = re.compile(r"[^,:]+")
_COUNT = re.compile(r"[0-9]+(?!\w)")
_ERROR_WORD = re.compile(r"(?!or\b)[\w.-]+")
_CODE = re.compile(r"[A-Za-z0-9_.-]*[A-Z0-9][A-Za-z0-9_.-]*", re.ASCII)
_BARE_TABLE = re.compile(r"[\w$.]+")
_QUOTED_TABLE = re.compile(r'"((?:[^"\n]++|"")++)"')
_CONDITIONS = (
    "rows such as (1,'a'), `no rows`, `ordered`, `affected`, `ok`, `error`, `blocked`, `not blocked`, "
    "`resumed by`, `ends`, `warning`, `no warning`, `like` or `unlike`"
)


class ExpectationReader:
    """Reads one line's expectation from just after the word `expect`; every complaint has its place."""

    def __init__(self, source: Source, start: int, sessions: "set[str]") -> None:
        self._source = source
        self._at = start
        self._end = source.line_end(start)
        self._sessions = sessions

    def statement(self) -> Expectation:
        """The expectation on a statement, up to the end of the line."""
        levels = () if self._take(":") else self._levels()
        return Expectation(self._whole(self._alternatives(self._conjunction)), levels)

    def final(self) -> FinalExpectation:
        """The expectation on a table's final rows, up to the end of the line."""
        table = self._table()
        levels: tuple[Level, ...] = ()
        if not self._take(":"):
            if not self._take_word("at"):
                raise self._wrong("`:` or `at LEVEL:` after the table")
            levels = self._levels()
        return FinalExpectation(table, self._whole(self._alternatives(self._final_rows)), levels)

    def _levels(self) -> tuple[Level, ...]:
        """Levels by name, separated by commas, and the colon behind them."""
        levels = [self._level()]
        while self._take(","):
            levels.append(self._level())
        if not self._take(":"):
            raise self._wrong("`:` after `expect` or after the levels it is for")
        return tuple(levels)

    def _level(self) -> Level:
        self._skip()
        start = self._at
        name = self._match(_LEVEL)
        try:
            return Level.parse(name[0] if name else "")
        except UsageError:
            self._at = start
            known = ", ".join(level.short for level in Level)
            raise self._wrong(f"`:` or an isolation level ({known})") from None

    def _table(self) -> str:
        if quoted := self._match(_QUOTED_TABLE):
            return quoted[1].replace('""', '"')
        if bare := self._match(_BARE_TABLE):
            return bare[0]
        raise self._wrong("the table whose final rows are expected")

    def _alternatives(self, one: Callable[[], T]) -> tuple[T, ...]:
        found = [one()]
        while self._take_word("or"):
            found.append(one())
        return tuple(found)

    def _conjunction(self) -> tuple[Condition, ...]:
        found = [self._condition()]
        while self._take(";"):
            found.append(self._condition())
        return tuple(found)

    def _condition(self) -> Condition:
        self._skip()
        if self._source.text.startswith("(", self._at):
            return ExpectRows(self._rows())
        start = self._at
        word = self._match(_WORD)
        readers: dict[str, Callable[[], Condition]] = {
            "no": self._none,
            "ordered": self._ordered,
            "affected": self._affected,
            "ok": ExpectOk,
            "error": self._error,
            "blocked": self._blocked,
            "not": self._not_blocked,
            "resumed": self._resumed,
            "ends": ExpectEnd,
            "warning": self._warning,
            "like": self._like,
            "unlike": lambda: replace(self._like(), present=False),
        }
        if word is None or word[0] not in readers:
            self._at = start
            raise self._wrong(_CONDITIONS)
        return readers[word[0]]()

    def _none(self) -> ExpectRows | ExpectWarning:
        return replace(self._warning(), present=False) if self._take_word("warning") else self._no_rows()

    def _warning(self) -> ExpectWarning:
        start = self._at
        code = self._match(_ERROR_WORD)
        if code is not None and not _CODE.fullmatch(code[0]):
            self._at = start
            raise self._wrong("a code, `or`, `;` or the end of the line after `warning`")
        return ExpectWarning(code[0] if code else None)

    def _like(self) -> ExpectLike:
        self._skip()
        start = self._at
        text = self._value()
        try:
            if isinstance(text, str):
                re.compile(text)
                return ExpectLike(text)
            reason = "a value of another type"
        except re.error as problem:
            reason = str(problem)
        self._at = start
        raise self._wrong("a regular expression in quotes", reason)

    def _resumed(self) -> ExpectResumed:
        self._need_word("by", "`resumed`")
        return ExpectResumed(self._session_names())

    def _no_rows(self) -> ExpectRows:
        self._need_word("rows", "`no`")
        return ExpectRows(())

    def _ordered(self) -> ExpectRows:
        return ExpectRows(self._final_rows(), ordered=True)

    def _affected(self) -> ExpectAffected:
        self._skip()
        count = self._match(_COUNT)
        if count is None:
            raise self._wrong("the number of rows after `affected`")
        try:
            return ExpectAffected(int(count[0]))
        except ValueError:
            self._at = count.start()
            raise self._wrong("a number of rows", f"one of {len(count[0])} digits") from None

    def _error(self) -> ExpectError:
        kind: ErrorKind | None = None
        code: str | None = None
        while code is None and (word := self._match(_ERROR_WORD)):
            if kind is None and word[0] in set(ErrorKind):
                kind = ErrorKind(word[0])
            elif _CODE.fullmatch(word[0]):
                code = word[0]
            else:
                self._at = word.start()
                raise self._wrong(f"an error code or kind ({', '.join(ErrorKind)})")
        return ExpectError(kind, code)

    def _blocked(self) -> ExpectBlocked:
        return ExpectBlocked(by=self._session_names()) if self._take_word("by") else ExpectBlocked()

    def _session_names(self) -> tuple[str, ...]:
        names = [self._session()]
        while self._take(","):
            names.append(self._session())
        return tuple(names)

    def _not_blocked(self) -> ExpectBlocked:
        self._need_word("blocked", "`not`")
        return ExpectBlocked(blocked=False)

    def _session(self) -> str:
        self._skip()
        start = self._at
        name = self._match(_SESSION)
        if name is None or name[0] not in self._sessions:
            self._at = start
            raise self._wrong(f"a session of the schedule ({', '.join(sorted(self._sessions))})")
        return name[0]

    def _final_rows(self) -> tuple[Row, ...]:
        if self._take_word("no"):
            return self._no_rows().rows
        self._skip()
        if not self._source.text.startswith("(", self._at):
            raise self._wrong("rows such as (1,'a') or `no rows`")
        return self._rows()

    def _rows(self) -> tuple[Row, ...]:
        rows = []
        while self._take("("):
            rows.append(self._row())
        return tuple(rows)

    def _row(self) -> Row:
        if self._take(")"):
            return ()
        values = [self._value()]
        while self._take(","):
            values.append(self._value())
        if not self._take(")"):
            raise self._wrong("`,` or `)` in the row")
        return tuple(values)

    def _value(self) -> Value:
        self._skip()
        match = self._match(LITERAL)
        if match is None:
            raise self._wrong("a value such as 1, 1.5, 'text', NULL, TRUE, x'00ff' or DATE '2020-01-02'")
        try:
            return read_literal(match)
        except ValueError as problem:
            self._at = match.start()
            raise self._wrong("a value", str(problem)) from None

    def _whole(self, result: T) -> T:
        self._skip()
        if self._at < self._end:
            raise self._wrong("`or`, `;` or the end of the line")
        return result

    def _skip(self) -> None:
        space = _SPACE.match(self._source.text, self._at, self._end)
        self._at = space.end() if space else self._at

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        self._skip()
        match = pattern.match(self._source.text, self._at, self._end)
        if match:
            self._at = match.end()
        return match

    def _take(self, sign: str) -> bool:
        self._skip()
        if not self._source.text.startswith(sign, self._at, self._end):
            return False
        self._at += len(sign)
        return True

    def _take_word(self, word: str) -> bool:
        start = self._at
        match = self._match(_WORD)
        if match is not None and match[0] == word:
            return True
        self._at = start
        return False

    def _need_word(self, word: str, after: str) -> None:
        if not self._take_word(word):
            raise self._wrong(f"`{word}` after {after}")

    def _wrong(self, expected: str, found: str | None = None) -> UsageError:
        self._skip()
        return self._source.error(self._at, expected, found)


def format_condition(condition: Condition) -> str:
    """A condition as the reader reads it; a ValueError if it cannot be written."""
    match condition:
        case ExpectRows(rows, ordered):
            return ("ordered " if ordered else "") + format_rows(rows)
        case ExpectAffected(count):
            return f"affected {count}"
        case ExpectOk():
            return "ok"
        case ExpectError(kind, code):
            return " ".join(["error", *filter(None, (kind, code))])
        case ExpectBlocked(True, by):
            return f"blocked by {', '.join(by)}" if by else "blocked"
        case ExpectBlocked(False, ()):
            return "not blocked"
        case ExpectResumed(by):
            return f"resumed by {', '.join(by)}"
        case ExpectEnd():
            return "ends"
        case ExpectWarning(code, present):
            return " ".join(["warning" if present else "no warning", *filter(None, (code,))])
        case ExpectLike(pattern, present):
            return f"{'like' if present else 'unlike'} {format_value(pattern)}"
    raise ValueError("`not blocked` cannot name sessions")


def format_alternatives(expectation: Expectation | FinalExpectation) -> str:
    """What is expected, without the levels it is for."""
    if isinstance(expectation, FinalExpectation):
        return " or ".join(map(format_rows, expectation.alternatives))
    return " or ".join(
        "; ".join(map(format_condition, conjunction)) for conjunction in expectation.alternatives
    )


def format_expectation(expectation: Expectation | FinalExpectation) -> str:
    """The whole comment, from `-- expect` on."""
    words = ["-- expect"]
    levels = _format_levels(expectation.levels)
    if isinstance(expectation, FinalExpectation):
        words.append(_format_table(expectation.table))
        words.extend(["at", levels] if levels else [])
    elif levels:
        words.append(levels)
    return f"{' '.join(words)}: {format_alternatives(expectation)}"


def _format_levels(levels: Iterable[Level]) -> str:
    return ", ".join(level.short for level in levels)


def _format_table(table: str) -> str:
    return table if _BARE_TABLE.fullmatch(table) else '"' + table.replace('"', '""') + '"'
