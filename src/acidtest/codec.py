"""One codec for all that is stored: runs, verdicts, findings, settings and statistics as JSON-ready data.

Classes of a union carry their name as `type`. Fields that a later version added are passed by; fields that
are missing have their default, or the data are refused in one sentence.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import partial
from math import isfinite
from typing import Any, TypeVar, get_args, get_origin

from cattrs import Converter, transform_error
from cattrs.errors import BaseValidationError
from cattrs.gen import make_dict_structure_fn
from cattrs.strategies import configure_tagged_union

from acidtest.model import Failed, Outcome, Overran, Row, Rows, Value, Witness
from acidtest.model.expect import Condition
from acidtest.model.outcome import Affected
from acidtest.model.trace import Operation

T = TypeVar("T")

TAG = "type"


class DecodingError(ValueError):
    """Data that are not what they should be; the text says what and where."""


def encode(value: object, as_type: Any = None) -> Any:
    """JSON-ready data of a value."""
    return _CONVERTER.unstructure(value, as_type)


def decode(data: Any, as_type: type[T]) -> T:
    """What was encoded."""
    try:
        return _CONVERTER.structure(data, as_type)
    except (BaseValidationError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise DecodingError(_reason(error)) from error


def register_union(union: Any) -> None:
    """Classes of a union carry their names; for unions of packages that this one may not import."""
    configure_tagged_union(union, _CONVERTER, tag_name=TAG)


def _reason(error: Exception) -> str:
    if isinstance(error, BaseValidationError):
        return "; ".join(transform_error(error, path="it")[:3])
    return f"{type(error).__name__}: {error}"


# -- values of a DBMS


def encode_value(value: Value) -> Any:
    """JSON's own types as they are; others as an object with their type's name."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if isfinite(value) else _typed("double", repr(value))
        case Decimal():
            return _typed("decimal", str(value))
        case bytes():
            return _typed("bytes", value.hex())
        case datetime():
            return _typed("timestamp", value.isoformat(sep=" "))
        case date():
            return _typed("date", value.isoformat())
        case time():
            return _typed("time", value.isoformat())
        case timedelta():
            return _typed("interval", str(value))


def decode_value(data: Any) -> Value:
    """The value that was encoded."""
    if isinstance(data, dict):
        return _READERS[data[TAG]](data["value"])
    if data is None or isinstance(data, bool | int | float | str):
        return data
    raise ValueError(f"{data!r} is no value of a DBMS")


def _read_row(data: Any) -> Row:
    if not isinstance(data, list | tuple):
        raise ValueError("it is no list")
    return tuple(map(decode_value, data))


def _typed(name: str, text: str) -> dict[str, str]:
    return {TAG: name, "value": text}


def _read_interval(text: str) -> timedelta:
    days, _, clock = text.rpartition(", ")
    hours, minutes, seconds = clock.split(":")
    number = int(days.split()[0]) if days else 0
    return timedelta(days=number, hours=int(hours), minutes=int(minutes)) + timedelta(
        microseconds=round(Decimal(seconds) * 1_000_000)
    )


_READERS: Mapping[str, Callable[[str], Value]] = {
    "double": float,
    "decimal": Decimal,
    "bytes": bytes.fromhex,
    "timestamp": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "interval": _read_interval,
}


# -- the converter


def _strict(*kinds: type) -> Callable[[Any, Any], Any]:
    def check(data: Any, kind: Any) -> Any:
        if not isinstance(data, kinds) or (isinstance(data, bool) and bool not in kinds):
            raise ValueError(f"{data!r} is no {' or '.join(one.__name__ for one in kinds)}")
        is_enum = isinstance(kind, type) and issubclass(kind, Enum)
        return kind(data) if is_enum else data

    return check


def _finite(data: Any, _kind: Any) -> float:
    if isinstance(data, bool) or not isinstance(data, int | float) or not isfinite(data):
        raise ValueError(f"{data!r} is no number")
    return data


def _object_reader(converter: Converter, kind: Any) -> Callable[[Any, Any], Any]:
    read = make_dict_structure_fn(kind, converter)

    def check(data: Any, kind: Any) -> Any:
        if not isinstance(data, dict):
            raise ValueError(f"it is no object of the type {kind.__name__}")
        return read(data, kind)

    return check


def _read_list(converter: Converter, data: Any, kind: Any) -> Any:
    """A tuple of one type, or of one for each item, or a set."""
    if not isinstance(data, list | tuple):
        raise ValueError("it is no list")
    types = get_args(kind)
    if get_origin(kind) is tuple and types[-1:] != (...,):
        pairs = list(zip(data, types, strict=True))
    else:
        pairs = [(item, types[0]) for item in data]
    items = (converter.structure(item, one) for item, one in pairs)
    return frozenset(items) if get_origin(kind) is frozenset else tuple(items)


def _sorted(items: Any) -> list[Any]:
    return sorted(items, key=repr)


def _make() -> Converter:
    converter = Converter(unstruct_collection_overrides={frozenset: _sorted, set: _sorted})
    for kind in (int, str, bool):
        converter.register_structure_hook(kind, _strict(kind))
    converter.register_structure_hook(float, _finite)
    converter.register_structure_hook_factory(is_dataclass, partial(_object_reader, converter))
    converter.register_structure_hook_func(
        lambda kind: getattr(kind, "__origin__", None) in (tuple, frozenset), partial(_read_list, converter)
    )
    converter.register_structure_hook_func(lambda kind: kind == Value, lambda data, _kind: decode_value(data))
    converter.register_unstructure_hook_func(lambda kind: kind == Value, encode_value)
    converter.register_structure_hook_func(lambda kind: kind == Row, lambda data, _kind: _read_row(data))
    converter.register_unstructure_hook_func(
        lambda kind: kind == Row, lambda row: [encode_value(value) for value in row]
    )
    converter.register_structure_hook_func(lambda kind: kind == int | str, _strict(int, str))
    converter.register_structure_hook_func(
        lambda kind: getattr(kind, "__origin__", None) is Counter,
        lambda data, _kind: Counter(converter.structure(data, dict[str, int])),
    )
    for tagged in (Outcome, Rows | Affected | Failed, Failed | Overran, Witness, Condition, Operation):
        configure_tagged_union(tagged, converter, tag_name=TAG)
    return converter


_CONVERTER = _make()
