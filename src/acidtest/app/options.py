"""Options of an exploration as the user writes them."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from acidtest.app.bench import Options
from acidtest.app.invariants import as_invariants
from acidtest.app.rest import Limits
from acidtest.errors import UsageError
from acidtest.model import Level

_OWN = {"limits"}


def read_options(given: Mapping[str, Any]) -> Options:
    """Options from keyword arguments; what is none, or has the wrong kind, is a `UsageError`."""
    known = {one.name for one in fields(Options)} - _OWN | {"hang_s"}
    if unknown := sorted(set(given) - known):
        raise UsageError(f"interleave has no option {unknown[0]!r}; it has {', '.join(sorted(known))}")
    values = dict(given)
    hang_s = values.pop("hang_s", None)
    for name in ("always", "at_end"):
        values[name] = as_invariants(values.get(name))
    if "level" in values and values["level"] is not None:
        values["level"] = _level(values["level"])
    if "levels" in values:
        levels = values["levels"]
        values["levels"] = tuple(map(_level, [levels] if isinstance(levels, str) else levels or ()))
    if "accept" in values:
        values["accept"] = tuple(
            map(str, [values["accept"]] if isinstance(values["accept"], str) else values["accept"])
        )
    for name in ("seconds", "runs"):
        if name in values and not values[name] > 0:
            raise UsageError(f"{name}={values[name]} leaves no room for a run; give a number above 0")
    if hang_s is not None:
        values["limits"] = Limits(float(hang_s))
    return Options(**values)


def _level(value: Any) -> Level:
    return value if isinstance(value, Level) else Level.parse(str(value))
