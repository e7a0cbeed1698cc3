"""app.toml: the operations of an application, and what to ask about them."""

import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from acidtest.app.bench import Options
from acidtest.app.operation import Operation, operations_of
from acidtest.app.options import read_options
from acidtest.errors import UsageError

_KEYS = {"path", "setup", "operation", "options"}
_OPERATION_KEYS = {"call", "arguments"}


@dataclass(frozen=True, slots=True)
class Configuration:
    """What app.toml says."""

    operations: tuple[Operation, ...]
    options: Options


def read_configuration(file: Path, **more: Any) -> Configuration:
    """Read app.toml, and import what it names; whatever is wrong is a `UsageError` with its place."""
    data = _load(file)
    if unknown := sorted(set(data) - _KEYS):
        raise UsageError(f"{file}: unknown key {unknown[0]!r}; known are {', '.join(sorted(_KEYS))}")
    sys.path.insert(0, str((file.parent / data.get("path", ".")).resolve()))
    if "setup" in data:
        _found(file, data["setup"])()
    given = data.get("operation", [])
    if not given:
        raise UsageError(
            f"{file}: there is no [[operation]]; name one or more, each with call = 'module:function'"
        )
    operations = operations_of([_call(file, one) for one in given])
    return Configuration(operations, read_options({**data.get("options", {}), **more}))


def _load(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"{file} is not there; docs/app.md shows one") from None
    except (OSError, UnicodeDecodeError) as problem:
        raise UsageError(f"{file} cannot be read: {problem}") from None
    except tomllib.TOMLDecodeError as problem:
        raise UsageError(f"{file}: {problem}") from None


def _call(file: Path, one: dict[str, Any]) -> Callable[[], Any]:
    if "command" in one or "http" in one:
        raise UsageError(
            f"{file}: commands and HTTP requests cannot be tested yet; name a Python function by call"
        )
    if unknown := sorted(set(one) - _OPERATION_KEYS):
        raise UsageError(f"{file}: unknown key {unknown[0]!r} of an operation; known are call and arguments")
    if "call" not in one:
        raise UsageError(f"{file}: an operation has no call = 'module:function'")
    return partial(_found(file, one["call"]), *one.get("arguments", []))


def _found(file: Path, name: str) -> Callable[..., Any]:
    module, colon, function = str(name).partition(":")
    if not colon:
        raise UsageError(f"{file}: {name!r} is no place of a function; write module:function")
    try:
        found = getattr(import_module(module), function, None)
    except ImportError as problem:
        raise UsageError(f"{file}: {module} cannot be imported: {problem}") from None
    if not callable(found):
        raise UsageError(f"{file}: {module} has no function {function}")
    return found  # type: ignore[no-any-return]
