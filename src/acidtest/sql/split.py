"""Splitting SQL text into tokens and statements without parsing it, by the rules of a DBMS's own lexer.

Only what decides where a statement ends is told apart: strings, quoted identifiers, comments, dollar
quotes, words and semicolons. Two sets of rules cover the DBMSs (see `rules_for`):

- MYSQL (mysql, mariadb, tidb, seekdb): backslash escapes in '...' and "...", `#` comments, `--` starts a
  comment only before white space, comments do not nest, `/*! ... */` holds code.
- STANDARD (postgres, sqlite, duckdb): no backslash escapes but in E'...', no `#` comments, `--` always
  starts a comment, comments nest.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto


class TokenKind(Enum):
    """What a piece of SQL text is."""

    SPACE = auto()
    LINE_COMMENT = auto()
    BLOCK_COMMENT = auto()
    QUOTED = auto()  # a string, a quoted identifier or a dollar quote
    WORD = auto()
    SEMICOLON = auto()
    OTHER = auto()


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text, from `start` up to but not including `end`."""

    kind: TokenKind
    start: int
    end: int
    text: str


class UnterminatedError(ValueError):
    """A quote or comment that the text never closes; `offset` is where it opens."""

    def __init__(self, what: str, offset: int, closing: str) -> None:
        super().__init__(f"{what} is never closed with {closing}")
        self.what = what
        self.offset = offset
        self.closing = closing


@dataclass(frozen=True, slots=True)
class Rules:
    """How a family of DBMSs reads SQL text."""

    name: str
    pattern: re.Pattern[str]
    nested_comments: bool
    code_comments: bool


_BACKSLASHED = r"'(?:[^'\\]++|\\.|'')*+'"
_PLAIN = r"'(?:[^']++|'')*+'"
_DOUBLE = r'"(?:[^"]++|"")*+"'
_DOUBLE_BACKSLASHED = r'"(?:[^"\\]++|\\.|"")*+"'
_BACKQUOTED = r"`(?:[^`]++|``)*+`"


def _pattern(line_comment: str, *quoted: str) -> re.Pattern[str]:
    # The order matters: E'...' is a string before E is a word; what begins like a quote or comment and is
    # none of the closed ones falls to OPEN, which is looked at by hand.
    return re.compile(
        rf"(?P<SPACE>\s+)|(?P<LINE_COMMENT>{line_comment})|(?P<QUOTED>{'|'.join(quoted)})"
        r"|(?P<WORD>[^\W\d][\w$]*)|(?P<SEMICOLON>;)"
        r"|(?P<OPEN>/\*|['\"`]|\$(?:[^\W\d]\w*)?\$)|(?P<OTHER>[0-9][\w.]*|\*/|:=|.)",
        re.DOTALL,
    )


MYSQL = Rules(
    name="mysql",
    pattern=_pattern(
        r"--(?=[\s\x00-\x1f]|\Z)[^\n]*|\#[^\n]*", _BACKSLASHED, _DOUBLE_BACKSLASHED, _BACKQUOTED
    ),
    nested_comments=False,
    code_comments=True,
)
STANDARD = Rules(
    name="standard",
    pattern=_pattern(r"--[^\n]*", r"[eE]" + _BACKSLASHED, _PLAIN, _DOUBLE, _BACKQUOTED),
    nested_comments=True,
    code_comments=False,
)

RULES = {
    "mysql": MYSQL,
    "mariadb": MYSQL,
    "tidb": MYSQL,
    "seekdb": MYSQL,
    "postgres": STANDARD,
    "sqlite": STANDARD,
    "duckdb": STANDARD,
    "simulated": MYSQL,
}
"""The rules of each DBMS that a case file may name."""


def rules_for(dbms: Iterable[str]) -> Rules:
    """The rules for text meant for these DBMSs: MYSQL if there are any and all are of that family."""
    named = [RULES.get(name, STANDARD) for name in dbms]
    return MYSQL if named and all(rules is MYSQL for rules in named) else STANDARD


def tokens(text: str, rules: Rules = STANDARD, start: int = 0) -> Iterator[Token]:
    """The tokens of the text from `start` on, without gaps; raises `UnterminatedError`.

    Inside a MySQL `/*! ... */` the code is given as tokens of its own, semicolons there as OTHER.
    """
    position = start
    code_comments: list[int] = []
    while match := rules.pattern.match(text, position):
        kind_name = match.lastgroup or "OTHER"
        end = match.end()
        if kind_name == "OPEN":
            kind, end = _opened(text, position, match[0], rules)
            if kind is TokenKind.OTHER:
                code_comments.append(position)
        else:
            kind = TokenKind[kind_name]
            if kind is TokenKind.SEMICOLON and code_comments:
                kind = TokenKind.OTHER
            elif match[0] == "*/" and code_comments:
                code_comments.pop()
        yield Token(kind, position, end, text[position:end])
        position = end
    if code_comments:
        raise UnterminatedError("the comment", code_comments[-1], "*/")


_CODE_COMMENT = re.compile(r"/\*M?![0-9]*")


def _opened(text: str, start: int, opening: str, rules: Rules) -> tuple[TokenKind, int]:
    """Kind and end of what opens here and was not matched whole; OTHER is a code comment's opening."""
    if opening == "/*":
        code = _CODE_COMMENT.match(text, start) if rules.code_comments else None
        if code:
            return TokenKind.OTHER, code.end()
        return TokenKind.BLOCK_COMMENT, _comment_end(text, start, rules.nested_comments)
    if opening.startswith("$"):
        closing = text.find(opening, start + len(opening))
        if closing < 0:
            raise UnterminatedError("the dollar quote", start, opening)
        return TokenKind.QUOTED, closing + len(opening)
    what = "the quoted identifier" if opening == "`" else "the string"
    raise UnterminatedError(what, start, opening)


_COMMENT_EDGE = re.compile(r"/\*|\*/")


def _comment_end(text: str, start: int, nested: bool) -> int:
    depth = 1
    for edge in _COMMENT_EDGE.finditer(text, start + 2):
        if edge[0] == "*/":
            depth -= 1
        elif nested:
            depth += 1
        if depth == 0:
            return edge.end()
    raise UnterminatedError("the comment", start, "*/")


_ROUTINES = frozenset({"TRIGGER", "PROCEDURE", "FUNCTION", "EVENT"})
_OTHER_OBJECTS = frozenset(
    {"TABLE", "INDEX", "VIEW", "DATABASE", "SCHEMA", "SEQUENCE", "TYPE", "USER", "ROLE"}
)
_LOOPS = frozenset({"IF", "LOOP", "WHILE", "REPEAT", "FOR"})


class Terminator:
    """Tells which semicolon ends a statement: feed it the statement's tokens from the first on.

    In CREATE TRIGGER, PROCEDURE, FUNCTION and EVENT the semicolons between BEGIN and END do not.
    """

    def __init__(self) -> None:
        self._first = ""
        self._object = ""
        self._last_word = ""
        self._depth = 0

    def ends_with(self, token: Token) -> bool:
        """Whether the statement ends with this token."""
        if token.kind is TokenKind.SEMICOLON:
            self._last_word = ""
            return self._depth <= 0
        if token.kind is TokenKind.WORD:
            self._word(token.text.upper())
        return False

    def _word(self, word: str) -> None:
        if not self._first:
            self._first = word
        elif self._first == "CREATE" and not self._object and word in _ROUTINES | _OTHER_OBJECTS:
            self._object = word
        elif self._object in _ROUTINES:
            self._depth += self._opens(word)
        self._last_word = word

    def _opens(self, word: str) -> int:
        if word in ("BEGIN", "CASE") and self._last_word != "END":
            return 1
        if word == "END":
            return -1
        # END IF, END LOOP... close what was never counted: take the END back.
        return 1 if word in _LOOPS and self._last_word == "END" else 0


_IGNORED = (TokenKind.SPACE, TokenKind.LINE_COMMENT, TokenKind.BLOCK_COMMENT)


def starts_statement(token: Token) -> bool:
    """Whether a token before any statement begins one: anything but space, comments and semicolons.

    A hint or code comment (`/*+`, `/*!`) is sent with the statement, so it begins one.
    """
    if token.kind is TokenKind.BLOCK_COMMENT:
        return token.text.startswith(("/*+", "/*!", "/*M!"))
    return token.kind not in _IGNORED and token.kind is not TokenKind.SEMICOLON


def split_script(text: str, rules: Rules = STANDARD) -> tuple[str, ...]:
    """The statements of a script, without semicolons and without the comments around them.

    The last one needs no semicolon. Raises `UnterminatedError`.
    """
    statements: list[str] = []
    start: int | None = None
    terminator = Terminator()
    for token in tokens(text, rules):
        if start is None:
            if not starts_statement(token):
                continue
            start, terminator = token.start, Terminator()
        if terminator.ends_with(token):
            statements.append(text[start : token.start].strip())
            start = None
    if start is not None:
        statements.append(text[start:].strip())
    return tuple(statements)
