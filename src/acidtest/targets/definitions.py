"""Reads the CREATE TABLE and CREATE INDEX that a DBMS keeps, where its catalogue tells less than they do."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from acidtest.model import Check
from acidtest.sql.split import TokenKind, tokens

_SKIPPED = (TokenKind.SPACE, TokenKind.LINE_COMMENT, TokenKind.BLOCK_COMMENT, TokenKind.SEMICOLON)
_TABLE_CONSTRAINTS = ("CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN")
_CONFLICT_CLAUSE = re.compile(r"\bON\s+CONFLICT\b", re.IGNORECASE)
_DEFERRABLE = re.compile(r"(?<!\bNOT\s)\bDEFERRABLE\s+INITIALLY\s+DEFERRED\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TableText:
    """What a CREATE TABLE says of its columns, by their names, and of the table."""

    collations: dict[str, str]
    generated: dict[str, str]
    checks: tuple[Check, ...]
    options: tuple[str, ...]
    """The words behind the list of columns, such as STRICT."""
    has_conflict_clause: bool
    """A constraint says itself what becomes of a row that breaks it."""
    is_deferred: bool
    """A foreign key is checked at COMMIT."""


@dataclass(frozen=True, slots=True)
class IndexText:
    """What a CREATE INDEX says: each key in its own words, and the condition of a partial index."""

    keys: tuple[str, ...]
    where: str | None


@dataclass(frozen=True, slots=True)
class _Piece:
    """A token, or a group in parentheses by its inner text."""

    text: str
    start: int
    end: int
    is_group: bool = False

    @property
    def word(self) -> str:
        return "" if self.is_group else self.text.upper()


@lru_cache(maxsize=1024)
def read_table(sql: str) -> TableText:
    """Take a CREATE TABLE apart."""
    pieces = list(_pieces(sql))
    at = next((i for i, piece in enumerate(pieces) if piece.is_group), None)
    if at is None:  # a virtual table without arguments
        return TableText({}, {}, (), (), has_conflict_clause=False, is_deferred=False)
    collations, generated, checks = {}, {}, []
    for item in _split(pieces[at].text):
        column = None if item[0].word in _TABLE_CONSTRAINTS else _name(item)
        constraint = ""
        for one, following in pairwise(item):
            if one.word == "CONSTRAINT":
                constraint = unquote(following.text)
            elif one.word == "CHECK" and following.is_group:
                checks.append(Check(constraint, following.text))
            elif column is not None and one.word == "AS" and following.is_group:
                generated[column] = following.text
            elif column is not None and one.word == "COLLATE":
                collations[column] = unquote(following.text)
    return TableText(
        collations=collations,
        generated=generated,
        checks=tuple(checks),
        options=tuple(piece.word for piece in pieces[at + 1 :]),
        has_conflict_clause=_CONFLICT_CLAUSE.search(sql) is not None,
        is_deferred=_DEFERRABLE.search(sql) is not None,
    )


@lru_cache(maxsize=1024)
def read_index(sql: str) -> IndexText:
    """Take a CREATE INDEX apart."""
    pieces = list(_pieces(sql))
    at = next((i for i, piece in enumerate(pieces) if piece.is_group), None)
    if at is None:
        return IndexText((), None)
    body = pieces[at].text
    keys = tuple(body[item[0].start : item[-1].end] for item in _split(body))
    rest = pieces[at + 1 :]
    where = next((i for i, piece in enumerate(rest) if piece.word == "WHERE"), None)
    return IndexText(keys, None if where is None else sql[rest[where].end :].strip().rstrip(";"))


def unquote(name: str) -> str:
    """An identifier without its quotes."""
    if len(name) > 1 and name[0] == name[-1] and name[0] in "\"`'":
        return name[1:-1].replace(name[0] * 2, name[0])
    return name


def _name(item: list[_Piece]) -> str:
    """The name that an item begins with; SQLite also takes one in square brackets."""
    if item[0].text != "[":
        return unquote(item[0].text)
    end = next((i for i, piece in enumerate(item) if piece.text == "]"), len(item))
    return " ".join(piece.text for piece in item[1:end])


def _split(body: str) -> Iterator[list[_Piece]]:
    """The items between the commas of a list."""
    item: list[_Piece] = []
    for piece in _pieces(body):
        if piece.word == ",":
            yield item
            item = []
        else:
            item.append(piece)
    if item:
        yield item


def _pieces(text: str) -> Iterator[_Piece]:
    """The outermost tokens; what stands in parentheses is one piece."""
    depth = opened = 0
    for token in tokens(text):
        if token.text == "(":
            depth += 1
            if depth == 1:
                opened = token.end
        elif token.text == ")":
            depth -= 1
            if depth == 0:
                yield _Piece(text[opened : token.start], opened - 1, token.end, is_group=True)
        elif depth == 0 and token.kind not in _SKIPPED:
            yield _Piece(token.text, token.start, token.end)
