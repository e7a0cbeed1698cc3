"""A checked history told in words, and as JSON."""

from collections.abc import Iterator, Mapping
from typing import Any

from acidtest.histories import (
    MODELS,
    Anomaly,
    Checked,
    Flaw,
    Link,
    Model,
    Observation,
    Relation,
    Standing,
    against,
    strongest,
    weakest,
)
from acidtest.histories.columns import Workload
from acidtest.model import Phenomenon

FORMAT = "acidtest-check/1"
_ITEMS_MAX = 12


def print_checked(checked: Checked, model: Model | None) -> str:
    """The whole verdict, for people."""
    return "\n".join(_lines(checked, model)) + "\n"


def _lines(checked: Checked, model: Model | None) -> Iterator[str]:
    yield (
        f"{checked.path}: {checked.format}, {checked.workload.value}, {checked.transactions:,} transactions, "
        f"{checked.committed:,} committed"
    )
    for anomaly in checked.anomalies:
        yield title(anomaly)
        yield from (f"  {sentence}" for sentence in Teller(checked).sentences(anomaly))
    if not checked.anomalies:
        yield "no anomalies"
    if model is not None:
        yield f"{model.title}: {checked.models[model.name].value}{_because(checked, model)}"
    else:
        yield f"strongest that hold: {_names(strongest(checked.models))}"
        yield f"weakest that are violated: {_names(weakest(checked.models))}"
        unknown = [one for one in MODELS if checked.models[one.name] is Standing.UNKNOWN]
        if unknown:
            yield f"unknown: {_names(unknown)}"
    told = model is None or checked.models[model.name] is Standing.UNKNOWN
    yield from (f"not decided: {gap}" for gap in checked.gaps if told)


def _because(checked: Checked, model: Model) -> str:
    names = list(dict.fromkeys(one.label for one in against(checked, model)))
    return f" ({', '.join(names)})" if names else ""


def _names(models: Any) -> str:
    return ", ".join(model.name for model in models) or "none"


def title(anomaly: Anomaly) -> str:
    """One line that names an anomaly."""
    often = f", {anomaly.count:,} times" if anomaly.count > 1 else ""
    also = f", {anomaly.words}" if isinstance(anomaly.name, Phenomenon) else ""
    return f"{anomaly.label}{also}{often}"


class Teller:
    """Tells anomalies in sentences; a transaction is named with its place where it first occurs."""

    def __init__(self, checked: Checked) -> None:
        self._checked = checked
        self._named: set[int] = set()
        self._lists = checked.workload is Workload.LISTS

    def sentences(self, anomaly: Anomaly) -> Iterator[str]:
        """What happened, a sentence for each step."""
        for link in anomaly.cycle:
            yield self._link(link)
        if anomaly.observation is not None:
            yield self._observation(anomaly.name, anomaly.observation)

    def _name(self, number: int) -> str:
        if number < 0:
            return "the initial state"
        name = f"T{number + 1}"
        if number in self._named or number not in self._checked.lines:
            return name
        self._named.add(number)
        return f"{name} ({'line' if self._checked.by_line else 'transaction'} {self._checked.lines[number]})"

    def _link(self, link: Link) -> str:
        source, target = self._name(link.source), self._name(link.target)
        key, value, successor = _shown(link.key), _shown(link.value), _shown(link.successor)
        match link.relation:
            case Relation.WW if self._lists:
                return f"{target} appended {successor} to {key} after {source}'s {value}"
            case Relation.WW:
                return f"{target} wrote {key} = {successor} over {source}'s {value}"
            case Relation.WR if self._lists:
                return f"{target} read {source}'s append of {value} to {key}"
            case Relation.WR:
                return f"{target} read {key} = {value}, which {source} wrote"
            case Relation.RW if self._lists:
                return f"{source} read {key} before {target}'s append of {successor}"
            case Relation.RW if link.value is None:
                return f"{source} read {key} as it was at first, before {target} wrote {successor}"
            case Relation.RW:
                return f"{source} read {key} = {value} before {target} wrote {successor} over it"
            case Relation.SESSION:
                return f"{target} came after {source} in the same session"
            case Relation.REALTIME:
                return f"{target} began after {source} had ended"
            case Relation.COMMIT:
                return self._commit(link, source, target, key)
        raise AssertionError(link.relation)

    def _commit(self, link: Link, source: str, target: str, key: str) -> str:
        reader = self._name(-1 if link.reader is None else link.reader)
        if link.target < 0:
            return f"{reader} sees {source}, which wrote {key}, and yet read {key} as it was at first"
        return f"{reader} sees {source}, which wrote {key}, and yet read {target}'s: {source} must be older"

    def _observation(self, name: Phenomenon | Flaw, seen: Observation) -> str:
        reader, key, value = self._name(seen.transaction), _shown(seen.key), _shown(seen.value)
        writer = "nobody" if seen.writer is None else self._name(seen.writer)
        other = "another" if seen.other is None else self._name(seen.other)
        expected = _shown(seen.expected)
        match name:
            case Phenomenon.G1A:
                return f"{reader} read {value} of {key}, which {writer} wrote and which was rolled back"
            case Phenomenon.G1B:
                return f"{reader} read {value} of {key}, which {writer} itself replaced later on"
            case Phenomenon.INTERNAL | Flaw.NOT_MY_OWN_WRITE | Flaw.NOT_MY_LAST_WRITE:
                return f"{reader} read {key} = {value} where its own reads and writes before give {expected}"
            case Phenomenon.P4:
                return (
                    f"{reader} and {other} both read {key} = {value} and both wrote {key}: one update is lost"
                )
            case Phenomenon.G_CURSOR:
                return (
                    f"{reader} read {key} before {other} wrote {expected}, and then wrote {value} over that"
                )
            case Flaw.THIN_AIR_READ:
                return f"{reader} read {value} of {key}, and nobody wrote that"
            case Flaw.INCOMPATIBLE_ORDER:
                return f"{reader} read {key} as {value}, and {other} read it as {expected}"
            case Flaw.DUPLICATE_ELEMENTS:
                return f"{reader} read {key} as {value}"
            case Flaw.DIRTY_UPDATE:
                return (
                    f"{reader} wrote {value} to {key} on top of a version of {writer}, which was rolled back"
                )
            case Flaw.FUTURE_READ:
                return f"{reader} read {key} = {value} before it wrote {expected} itself"
            case Flaw.CYCLIC_VERSIONS:
                return f"the versions {value} of {key} would each come before the others"
        return f"{reader} read {key} = {value}"


def _shown(value: object) -> str:
    if isinstance(value, list):
        items = [_shown(one) for one in value]
        if len(items) > _ITEMS_MAX:
            items = ["...", *items[-_ITEMS_MAX:]]
        return f"[{' '.join(items)}]"
    return "nothing" if value is None else str(value)


def checked_to_json(checked: Checked, model: Model | None) -> Mapping[str, Any]:
    """The whole verdict, for programs (docs/json.md)."""
    return {
        "format": FORMAT,
        "history": str(checked.path),
        "history_format": checked.format,
        "workload": checked.workload.value,
        "transactions": checked.transactions,
        "committed": checked.committed,
        "anomalies": [_anomaly_to_json(checked, one) for one in checked.anomalies],
        "models": {name: standing.value for name, standing in checked.models.items()},
        "strongest": [one.name for one in strongest(checked.models)],
        "weakest_violated": [one.name for one in weakest(checked.models)],
        "model": None if model is None else model.name,
        "verdict": None if model is None else checked.models[model.name].value,
        "gaps": list(checked.gaps),
    }


def _anomaly_to_json(checked: Checked, anomaly: Anomaly) -> dict[str, Any]:
    seen = anomaly.observation
    return {
        "name": anomaly.label,
        "words": anomaly.words,
        "count": anomaly.count,
        "cycle": [_link_to_json(checked, link) for link in anomaly.cycle],
        "observation": None
        if seen is None
        else {
            "transaction": _place(checked, seen.transaction),
            "key": seen.key,
            "value": seen.value,
            "writer": _place(checked, seen.writer),
            "other": _place(checked, seen.other),
            "expected": seen.expected,
        },
        "sentences": list(Teller(checked).sentences(anomaly)),
    }


def _link_to_json(checked: Checked, link: Link) -> dict[str, Any]:
    return {
        "relation": link.relation.value,
        "source": _place(checked, link.source),
        "target": _place(checked, link.target),
        "key": link.key,
        "value": link.value,
        "successor": link.successor,
        "reader": _place(checked, link.reader),
    }


def _place(checked: Checked, number: int | None) -> dict[str, int] | None:
    """A transaction: its number, its session's, and its place in the file; None is the initial state."""
    if number is None or number < 0:
        return None
    return {
        "transaction": number + 1,
        "session": checked.sessions[number],
        "line" if checked.by_line else "position": checked.lines[number],
    }
