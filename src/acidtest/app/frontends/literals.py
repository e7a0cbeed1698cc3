"""Statements with numbered placeholders, and values that go beside them, as one text."""

import json
from collections.abc import Sequence
from typing import Any

from acidtest.model import Value
from acidtest.sql.rendering import literal
from acidtest.sql.split import TokenKind, UnterminatedError, tokens


def inlined(sql: str, values: Sequence[Any]) -> str:
    """The text with its values in place of $1, $2 and so on; as it is where it cannot be read."""
    text = sql.strip().rstrip(";")
    if not values:
        return text
    try:
        parts = list(tokens(text))
    except UnterminatedError:
        return text
    out: list[str] = []
    position = 0
    while position < len(parts):
        one = parts[position]
        number = _number(parts, position)
        if number is None:
            out.append(one.text)
            position += 1
            continue
        digits, used = number
        out.append(_literal(values[digits - 1]) if 0 < digits <= len(values) else f"${digits}")
        position += used
    return "".join(out)


def _number(parts: Sequence[Any], position: int) -> tuple[int, int] | None:
    text = parts[position].text
    if parts[position].kind is TokenKind.QUOTED:
        return None
    if text.startswith("$") and text[1:].isdigit():
        return int(text[1:]), 1
    following = parts[position + 1].text if position + 1 < len(parts) else ""
    return (int(following), 2) if text == "$" and following.isdigit() else None


def _literal(value: Any) -> str:
    if value is None or isinstance(value, Value):
        return literal(value, "postgres")
    if isinstance(value, list | tuple):
        return f"ARRAY[{', '.join(map(_literal, value))}]"
    if isinstance(value, dict):
        return literal(json.dumps(value), "postgres")
    return literal(str(value), "postgres")
