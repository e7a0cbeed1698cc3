"""Whether data that were read can be what a dataclass was stored as: every field there, and of its type."""

from dataclasses import MISSING, fields, is_dataclass
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints


def misfit(data: dict[str, Any], kind: type) -> str | None:
    """What is wrong with data for a dataclass, in a few words; None if they fit."""
    hints = get_type_hints(kind)
    for one in fields(kind):
        if one.name not in data:
            if one.default is MISSING and one.default_factory is MISSING:
                return f"`{one.name}` is missing"
        elif not _fits(data[one.name], hints[one.name]):
            return f"`{one.name}` has a value of a wrong type"
    return None


def _fits(value: object, hint: Any) -> bool:
    """Whether a value of JSON is what a field of this type is stored as."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin is UnionType:
        return any(_fits(value, part) for part in parts)
    if origin in (tuple, frozenset):
        return isinstance(value, list) and all(_fits(item, parts[0]) for item in value)
    if origin is dict:
        return isinstance(value, dict) and all(_fits(item, parts[1]) for item in value.values())
    if is_dataclass(hint):
        assert isinstance(hint, type)
        return isinstance(value, dict) and misfit(value, hint) is None
    if isinstance(value, bool):
        return hint is bool
    return isinstance(value, (int, float) if hint is float else hint)
