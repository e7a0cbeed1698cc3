"""Additions to the text of a statement, which leave all the rest of it as it was written."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from acidtest.sql.split import Rules, TokenKind, tokens

_SKIPPED = (TokenKind.SPACE, TokenKind.LINE_COMMENT, TokenKind.BLOCK_COMMENT, TokenKind.SEMICOLON)


@dataclass(frozen=True, slots=True)
class Piece:
    """A token of a statement, with how many parentheses are open around it."""

    text: str
    start: int
    end: int
    depth: int

    @property
    def word(self) -> str:
        return self.text.upper()


@dataclass(slots=True)
class Editor:
    """Finds places in a statement and puts text there."""

    sql: str
    pieces: list[Piece]
    _added: list[tuple[int, str]] = field(default_factory=list)

    @classmethod
    def of(cls, sql: str, rules: Rules) -> "Editor":
        """An editor of a statement."""
        pieces, depth = [], 0
        for token in tokens(sql, rules):
            if token.kind in _SKIPPED:
                continue
            depth -= token.text == ")"
            pieces.append(Piece(token.text, token.start, token.end, depth))
            depth += token.text == "("
        return cls(sql, pieces)

    def find(self, *words: str, start: int = 0, depth: int = 0) -> int | None:
        """The place of the first of these words outside of parentheses, from a place on."""
        for place in range(start, len(self.pieces)):
            piece = self.pieces[place]
            if piece.depth == depth and piece.word in words:
                return place
        return None

    def groups(self, start: int, end: int | None = None) -> list[tuple[int, int]]:
        """The places of the outermost parentheses from one place up to another."""
        found, opened = [], None
        for place in range(start, len(self.pieces) if end is None else end):
            piece = self.pieces[place]
            if piece.depth == 0 and piece.text == "(":
                opened = place
            elif piece.depth == 0 and piece.text == ")" and opened is not None:
                found.append((opened, place))
        return found

    def before(self, place: int, text: str) -> None:
        """Put text in front of a token."""
        self._added.append((self.pieces[place].start, text))

    def after(self, place: int, text: str) -> None:
        """Put text behind a token."""
        self._added.append((self.pieces[place].end, text))

    def append(self, text: str) -> None:
        """Put text behind all."""
        self._added.append((self.pieces[-1].end, text))

    def text(self) -> str:
        """The statement with all that was added."""
        parts, last = [], 0
        for at, text in sorted(self._added, key=lambda one: one[0]):
            parts += [self.sql[last:at], text]
            last = at
        return "".join([*parts, self.sql[last:]])


def joined(parts: Iterable[str]) -> str:
    """A list as it goes on behind what is there."""
    return "".join(f", {part}" for part in parts)
