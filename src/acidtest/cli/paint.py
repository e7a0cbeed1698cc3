"""Colours, on a terminal only."""

import re
import sys

import click

from acidtest.casefile import printable

_STYLES = (
    (re.compile(r"-- (?:UNMET|error|the server died).*"), {"fg": "red"}),
    (re.compile(r"-- (?:blocked|overran|omitted|aborted).*"), {"fg": "yellow"}),
    (re.compile(r"-- (?:resumed|launched).*"), {"fg": "cyan"}),
    (re.compile(r"-- .*"), {"dim": True}),
)


def paint(text: str) -> str:
    """Colour the comments of an observed run, and show what would steer the terminal as escapes. Elsewhere
    the text stays what it is, so that it can be run again."""
    if not sys.stdout.isatty():
        return text
    return "\n".join(_paint_line(_harmless(line)) for line in text.split("\n"))


def _harmless(line: str) -> str:
    return "\t".join(map(printable, line.split("\t")))


def _paint_line(line: str) -> str:
    for pattern, style in _STYLES:
        if (match := pattern.search(line)) is not None:
            return line[: match.start()] + click.style(match[0], **style)
    return line
