"""Markdown that shows text as it is: SQL and values come from a DBMS and may look like markup."""

import html
import re
from collections.abc import Iterator, Sequence

from acidtest.casefile import printable
from acidtest.report.document import (
    Block,
    Code,
    CodeBlock,
    Document,
    Folded,
    Grid,
    Heading,
    Items,
    Paragraph,
)

_SPECIAL = re.compile(r"([\\`*_{}\[\]#|~$!])")
_LIST_MARK = re.compile(r"^(\d+(?=[.)](?:\s|$))|(?=[-+=]))")
"""What would begin a list or underline a heading."""
_ADDRESS = re.compile(r"https?://[^\s<>()\[\]{}|`\\\"']*[^\s<>()\[\]{}|`\\\"'.,;:!?]")


def to_markdown(document: Document) -> str:
    """A document as Markdown."""
    return "\n\n".join(map(_block, document.blocks)) + "\n"


def _block(one: Block) -> str:
    match one:
        case Heading():
            return f"{'#' * one.level} {inline(one.text)}"
        case Paragraph():
            return _flow(one)
        case CodeBlock():
            return block(one.text, one.language)
        case Items():
            return "\n".join(f"- {inline(item)}" for item in one.items)
        case Grid():
            return table(one.head, one.rows)
        case Folded():
            return folded(one.title, block(one.content.text, one.content.language))


def _flow(one: Paragraph) -> str:
    """Texts around code keep the blank that stands between them."""
    if len(one.parts) == 1 and isinstance(one.parts[0], str):
        return inline(one.parts[0])
    parts = []
    for part in one.parts:
        if isinstance(part, Code):
            parts.append(code(part.text))
        else:
            before, after = part[:1].isspace(), part[-1:].isspace()
            parts.append(f"{' ' if before else ''}{inline(part)}{' ' if after else ''}")
    return "".join(parts)


def inline(text: str) -> str:
    """The text on one line; addresses become links, everything else is shown literally."""
    text = printable(" ".join(text.split()))
    parts: list[str] = []
    end = 0
    for address in _ADDRESS.finditer(text):
        parts += [_literal(text[end : address.start()]), f"<{address[0]}>"]
        end = address.end()
    line = "".join([*parts, _literal(text[end:])])
    return _LIST_MARK.sub(lambda mark: f"{mark[0]}\\", line)


def _literal(text: str) -> str:
    escaped = _SPECIAL.sub(r"\\\1", text)
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def block(text: str, language: str = "") -> str:
    """The text as a code block, in a fence longer than any run of backticks inside."""
    shown = "".join(char if char in "\n\t" else printable(char) for char in text).rstrip("\n")
    longest = max(map(len, re.findall("`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{shown}\n{fence}"


def code(text: str) -> str:
    """The text as code within a line."""
    shown = printable(re.sub(r"[^\S ]", " ", text).strip())
    longest = max(map(len, re.findall("`+", shown)), default=0)
    ticks = "`" * (longest + 1)
    space = " " if longest or not shown else ""
    return f"{ticks}{space}{shown}{space}{ticks}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of literal texts."""
    return "\n".join(_table_lines(head, rows))


def _table_lines(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(map(inline, head))} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(map(inline, row))} |"


def folded(title: str, content: str) -> str:
    """Content that opens on a click."""
    # The empty lines make GitHub read what is inside as Markdown again.
    return f"<details><summary>{html.escape(printable(title))}</summary>\n\n{content}\n\n</details>"
