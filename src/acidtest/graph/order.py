"""The order of versions in a trace: where a version stands, and which one replaced it."""

from acidtest.model import Trace
from acidtest.model.trace import Fate, ObjectId, TraceVersion

Key = tuple[ObjectId, int, int | None]


def key_of(version: TraceVersion) -> Key:
    """What makes two versions the same. Values do not: an engine may still put columns together at COMMIT."""
    return version.object, version.writer, version.step


def committed(trace: Trace) -> frozenset[int]:
    """The transactions that committed."""
    return frozenset(one.id for one in trace.transactions if one.fate is Fate.COMMITTED)


class VersionOrder:
    """Finds versions in a trace's order without going through it again."""

    def __init__(self, trace: Trace) -> None:
        self._order = trace.order
        self._places = {
            key_of(one): place for versions in trace.order.values() for place, one in enumerate(versions)
        }

    def place(self, version: TraceVersion) -> int | None:
        """Its position among the versions of its object; None if it was never installed."""
        return self._places.get(key_of(version))

    def after(self, version: TraceVersion) -> TraceVersion | None:
        """The version that replaced it, if it was installed and replaced."""
        place = self.place(version)
        later = () if place is None else self._order[version.object][place + 1 : place + 2]
        return later[0] if later else None
