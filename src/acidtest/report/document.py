"""A document as data: what a report says, before it is text, Markdown or anything else."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Heading:
    """A title; level 1 is that of the whole document."""

    text: str
    level: int = 2


@dataclass(frozen=True, slots=True)
class Code:
    """Text within a paragraph that is shown letter by letter."""

    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Literal texts and code in one flow; addresses in it become links."""

    parts: tuple[str | Code, ...]


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Lines that are shown letter by letter."""

    text: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class Items:
    """A list of short texts."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of texts."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Folded:
    """What a reader opens if it is wanted."""

    title: str
    content: CodeBlock


Block = Heading | Paragraph | CodeBlock | Items | Grid | Folded


@dataclass(frozen=True, slots=True)
class Document:
    """Blocks in the order in which they are read."""

    blocks: tuple[Block, ...]


def paragraph(*parts: str | Code) -> Paragraph:
    """A paragraph of these parts."""
    return Paragraph(parts)


def grid(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Grid:
    """A table."""
    return Grid(tuple(head), tuple(tuple(row) for row in rows))
