"""What operations return and raise, in a form that can be compared, stored and shown."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any
from uuid import UUID

from acidtest.model import Value

DEEPEST = 6


def comparable(value: Any, depth: int = 0) -> object:
    """Plain data for a result. Of an object that is not understood only its class counts."""
    if value is None or isinstance(value, Value | UUID):
        return value
    if depth > DEEPEST:
        return f"<{type(value).__name__}>"
    if isinstance(value, Mapping):
        return {str(key): comparable(one, depth + 1) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [comparable(one, depth + 1) for one in value]
    if isinstance(value, set | frozenset):
        return sorted((comparable(one, depth + 1) for one in value), key=repr)
    if is_dataclass(value) and not isinstance(value, type):
        own = {one.name: comparable(getattr(value, one.name), depth + 1) for one in fields(value)}
        return {"<class>": type(value).__name__, **own}
    return _of_model(value, depth) or f"<{type(value).__name__}>"


def _of_model(value: Any, depth: int) -> dict[str, object] | None:
    """An object of an ORM, by its columns as far as they are loaded."""
    meta = getattr(value, "_meta", None)
    if meta is not None and hasattr(meta, "concrete_fields"):  # Django
        names = [one.attname for one in meta.concrete_fields]
    elif hasattr(type(value), "__mapper__"):  # SQLAlchemy
        names = [one.key for one in type(value).__mapper__.column_attrs]
    elif hasattr(value, "status_code"):  # a response of a web framework
        return {"<class>": "response", "status": value.status_code}
    else:
        return None
    loaded = vars(value)
    own = {name: comparable(loaded[name], depth + 1) for name in names if name in loaded}
    return {"<class>": type(value).__name__, **own}
