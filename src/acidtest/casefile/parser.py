"""From the text of a case file to a Case; docs/case-files.md describes the format."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from acidtest.casefile.expectations import DIRECTIVE, ExpectationReader
from acidtest.casefile.front import SECTIONS, Front, read_front, section_name
from acidtest.casefile.source import Source
from acidtest.model import Case, Expectation, FinalExpectation, Level, Statement, interleave
from acidtest.sql.split import (
    MYSQL,
    Rules,
    Terminator,
    Token,
    TokenKind,
    UnterminatedError,
    rules_for,
    starts_statement,
    tokens,
)

_SESSION_MARK = re.compile(r"/\*\s*([A-Za-z_][A-Za-z0-9_]*)([+&]?)\s*\*/")
_INCLUDE = re.compile(r"--\s*include\s+(\S.*?)\s*")
_AWAIT = re.compile(r"--\s*await(?=\s|$)[ \t]*(.*?)\s*")
_ESCAPED_QUOTE = re.compile(r"\\['\"]")


def load_case(path: Path) -> Case:
    """The case in a file; a `UsageError` names the place of what is wrong with it."""
    return _parse(Source.read(path))


def parse_case(text: str, name: str) -> Case:
    """The case in a text; `name` is the file's for messages, and its stem the id if the text has none."""
    return _parse(Source.of(text, name))


def _parse(source: Source) -> Case:
    front = read_front(source)
    body = _BodyReader(source, front.body, rules_for(target.dbms for target in front.targets)).read()
    levels = _session_levels(source, front, [name for name, _ in body.steps])
    transactions, schedule = interleave(body.steps, levels)
    return Case(
        id=front.id or Path(source.name).stem,
        setup=tuple(Statement(sql) for sql in body.setup),
        transactions=transactions,
        schedule=schedule,
        title=front.title,
        links=tuple(front.links),
        story=tuple(front.story),
        targets=tuple(front.targets),
        expect_final=tuple(body.final),
        teardown=tuple(Statement(sql) for sql in body.teardown),
        strict=front.strict,
        server=tuple(front.server),
        repeat=front.repeat,
        compared=front.compared,
        bug=front.bug,
    )


def _session_levels(source: Source, front: Front, sessions: list[str]) -> dict[str, Level | None]:
    levels: dict[str, Level | None] = dict.fromkeys(sessions, front.level)
    for name, (level, place) in front.session_levels.items():
        if name not in levels:
            known = ", ".join(levels)
            raise source.error(place, f"a level for a session of the schedule ({known})", f"`{name}`")
        levels[name] = level
    return levels


@dataclass(slots=True)
class _Body:
    """What the sections say. Expectations are read last, when all sessions are known."""

    setup: list[str] = field(default_factory=list)
    steps: list[tuple[str, Statement]] = field(default_factory=list)
    final: list[FinalExpectation] = field(default_factory=list)
    teardown: list[str] = field(default_factory=list)


class _BodyReader:
    """Reads the sections token by token; between statements, comments are directives or ignored."""

    def __init__(self, source: Source, start: int, rules: Rules) -> None:
        self._source = source
        self._rules = rules
        self._tokens = self._checked(tokens(source.text, rules, start))
        self._section = ""
        self._seen: list[str] = []
        self._body = _Body()
        self._expects: list[tuple[int, int]] = []  # step, where the text after `expect` begins
        self._finals: list[int] = []
        self._awaits: list[tuple[int, int, str]] = []  # step, where the sessions are named, the names

    def read(self) -> _Body:
        for token in self._tokens:
            if token.kind is TokenKind.LINE_COMMENT:
                self._comment(token)
            elif self._section == "schedule":
                self._in_schedule(token)
            elif self._section == "setup" and starts_statement(token):
                self._body.setup.append(self._statement(token, token.start))
            elif self._section == "teardown" and starts_statement(token):
                self._body.teardown.append(self._statement(token, token.start))
            elif self._section == "final" and starts_statement(token):
                raise self._source.error(token.start, "only `-- expect TABLE: ROWS` lines in `-- final`")
        self._finish()
        return self._body

    def _finish(self) -> None:
        end = len(self._source.text)
        if "schedule" not in self._seen:
            raise self._source.error(end, "a line `-- schedule`")
        if not self._body.steps:
            raise self._source.error(end, "a statement after `-- schedule`")
        sessions = {name for name, _ in self._body.steps}
        for step, start, names in self._awaits:
            name, statement = self._body.steps[step]
            awaits = self._awaited(start, names, sessions) if names else [name]
            self._body.steps[step] = (name, replace(statement, awaits=(*statement.awaits, *awaits)))
        for step, start in self._expects:
            name, statement = self._body.steps[step]
            expectation = ExpectationReader(self._source, start, sessions).statement()
            self._body.steps[step] = (name, _expecting(statement, expectation))
        for start in self._finals:
            self._body.final.append(ExpectationReader(self._source, start, sessions).final())

    def _awaited(self, start: int, names: str, sessions: set[str]) -> list[str]:
        awaited = [name.strip() for name in names.split(",")]
        if not sessions.issuperset(awaited):
            known = ", ".join(sorted(sessions))
            raise self._source.error(start, f"sessions of the schedule ({known}) after `await`")
        return awaited

    def _comment(self, token: Token) -> None:
        section = section_name(token.text)
        if section and self._source.starts_line(token.start):
            self._enter(section, token.start)
        elif self._section == "setup" and (include := _INCLUDE.fullmatch(token.text)):
            self._include(include[1], token.start)
        elif self._section == "schedule" and (await_ := _AWAIT.fullmatch(token.text)):
            if not self._body.steps:
                raise self._source.error(token.start, "a statement before `await`")
            self._awaits.append((len(self._body.steps) - 1, token.start + await_.start(1), await_[1]))
        elif directive := DIRECTIVE.match(token.text):
            self._directive(token.start, token.start + directive.end())

    def _include(self, name: str, place: int) -> None:
        """The statements of a file beside this one, as if they stood here."""
        path = self._source.beside(name)
        if not path.is_file():
            raise self._source.error(place, f"a file {name} beside this one")
        self._body.setup.extend(_BodyReader(Source.read(path), 0, self._rules).statements())

    def statements(self) -> Iterator[str]:
        """All statements of a text that is nothing but a set-up."""
        for token in self._tokens:
            if starts_statement(token):
                yield self._statement(token, token.start)

    def _enter(self, section: str, place: int) -> None:
        if section in self._seen:
            raise self._source.error(place, f"only one section `-- {section}`", "a second one")
        if self._seen and SECTIONS.index(section) < SECTIONS.index(self._seen[-1]):
            raise self._source.error(place, f"`-- {section}` before `-- {self._seen[-1]}`", "it after")
        if section in ("final", "teardown") and not self._body.steps:
            raise self._source.error(place, f"a `-- schedule` with a statement before `-- {section}`")
        self._section = section
        self._seen.append(section)

    def _directive(self, place: int, start: int) -> None:
        if self._section == "final":
            self._finals.append(start)
        elif self._section in ("setup", "teardown"):
            raise self._source.error(
                place, "expectations only after statements of the schedule and in `-- final`"
            )
        elif not self._body.steps:
            raise self._source.error(place, "a statement before its expectation")
        else:
            self._expects.append((len(self._body.steps) - 1, start))

    def _in_schedule(self, token: Token) -> None:
        mark = _SESSION_MARK.fullmatch(token.text) if token.kind is TokenKind.BLOCK_COMMENT else None
        if mark:
            if mark[2] == "+" and [name for name, _ in self._body.steps[-1:]] != [mark[1]]:
                raise self._source.error(
                    token.start, f"a statement of {mark[1]} right before `/* {mark[1]}+ */`"
                )
            first = self._next_solid(token)
            sql = self._statement(first, first.start)
            self._body.steps.append((mark[1], Statement(sql, joined=mark[2] == "+", parallel=mark[2] == "&")))
        elif starts_statement(token) or token.kind is TokenKind.SEMICOLON:
            expected = f"`/* session */` before the statement{self._backslash_hint()}"
            raise self._source.error(token.start, expected)

    def _next_solid(self, mark: Token) -> Token:
        """The first token of the statement behind a session's mark."""
        for token in self._tokens:
            if token.kind is not TokenKind.SPACE:
                return token
        raise self._source.error(len(self._source.text), f"a statement after `{mark.text}`")

    def _statement(self, first: Token, start: int) -> str:
        """The text of the statement that begins with `first`, without its semicolon.

        A semicolon behind a backslash, as psql has it, is one inside a script.
        """
        terminator = Terminator()
        token: Token | None = first
        empty = True
        script = ""
        while token is not None:
            self._refuse_next_item(token)
            if terminator.ends_with(token):
                if empty:
                    raise self._source.error(token.start, "a statement before `;`")
                text = self._source.text[start : token.start]
                if not text.endswith("\\"):
                    return (script + text).strip()
                script += text[:-1] + ";"
                start, terminator = token.end, Terminator()
            empty = empty and token.kind in _EMPTY
            token = next(self._tokens, None)
        raise self._source.error(len(self._source.text), "`;` at the end of the statement")

    def _refuse_next_item(self, token: Token) -> None:
        """A directive, section or session's mark inside a statement: its semicolon was forgotten."""
        if token.kind is TokenKind.LINE_COMMENT:
            section = section_name(token.text) and self._source.starts_line(token.start)
            if section or DIRECTIVE.match(token.text) or _AWAIT.fullmatch(token.text):
                raise self._source.error(token.start, "`;` at the end of the statement")
        elif (
            token.kind is TokenKind.BLOCK_COMMENT
            and _SESSION_MARK.fullmatch(token.text)
            and self._source.starts_line(token.start)
        ):
            raise self._source.error(token.start, "`;` at the end of the statement")

    def _backslash_hint(self) -> str:
        """What to try where a backslash before a quote may have been meant to escape it."""
        if self._rules is MYSQL or not _ESCAPED_QUOTE.search(self._source.text):
            return ""
        return " (backslash escapes need `-- target:` lines of the MySQL family only)"

    def _checked(self, stream: Iterator[Token]) -> Iterator[Token]:
        """The tokens, with what is never closed as an error at the place where it opens."""
        try:
            yield from stream
        except UnterminatedError as problem:
            expected = f"`{problem.closing}` to close {problem.what}{self._backslash_hint()}"
            found = f"only {self._source.quote(problem.offset)}"
            raise self._source.error(problem.offset, expected, found) from None


_EMPTY = (TokenKind.SPACE, TokenKind.LINE_COMMENT, TokenKind.BLOCK_COMMENT)


def _expecting(statement: Statement, expectation: Expectation) -> Statement:
    return replace(statement, expect=(*statement.expect, expectation))
