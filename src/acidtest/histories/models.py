"""Consistency models as data: what each excludes, and which weaker ones it implies.

The table follows Adya's thesis and Elle's consistency models. `read-atomic`, `causal` and
`session-read-committed` are Biswas and Enea's definitions (OOPSLA 2019), which take the order of each session
into account: what AWDIT, Plume and DBCop call RA, CC (TCC) and RC.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from acidtest.errors import UsageError
from acidtest.histories.anomalies import BASES, Anomaly, Basis, Flaw
from acidtest.model import Phenomenon

Exclusion = tuple[Phenomenon | Flaw, Basis]


class Standing(StrEnum):
    """What a history says about a model."""

    HOLDS = "holds"
    VIOLATED = "violated"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Model:
    """A consistency model. `excludes` is what it adds to the models that it implies."""

    name: str
    title: str
    excludes: frozenset[Exclusion]
    implies: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    basis: Basis = Basis.DATA


def _of(*names: Phenomenon | Flaw, basis: Basis = Basis.DATA) -> frozenset[Exclusion]:
    return frozenset((name, basis) for name in names)


_P = Phenomenon
_S, _R = Basis.SESSION, Basis.REALTIME
_NO_HISTORY = (Flaw.DUPLICATE_ELEMENTS, Flaw.CYCLIC_VERSIONS)
_G1 = (
    _P.G1A,
    _P.G1B,
    _P.G1C,
    Flaw.THIN_AIR_READ,
    Flaw.INCOMPATIBLE_ORDER,
    Flaw.DIRTY_UPDATE,
    Flaw.FUTURE_READ,
)
_OWN = (Flaw.NOT_MY_OWN_WRITE, Flaw.NOT_MY_LAST_WRITE)

MODELS: tuple[Model, ...] = (
    Model("read-uncommitted", "read uncommitted (PL-1)", _of(_P.G0, *_NO_HISTORY), (), ("pl-1", "ru")),
    Model("read-committed", "read committed (PL-2)", _of(*_G1), ("read-uncommitted",), ("pl-2",)),
    Model(
        "cursor-stability",
        "cursor stability (PL-CS)",
        _of(_P.G_CURSOR, _P.P4),
        ("read-committed",),
        ("pl-cs",),
    ),
    Model(
        "monotonic-view",
        "monotonic view (PL-2L)",
        _of(_P.G_MONOTONIC, Flaw.NON_MONOTONIC_READ),
        ("read-committed",),
        ("pl-2l",),
    ),
    Model(
        "consistent-view",
        "consistent view (PL-2+)",
        _of(_P.G_SINGLE, Flaw.FRACTURED_READ, Flaw.CAUSALITY),
        ("cursor-stability", "monotonic-view"),
        ("pl-2+",),
    ),
    Model(
        "repeatable-read",
        "repeatable read (PL-2.99)",
        _of(_P.G2_ITEM, _P.G_NONADJACENT, _P.G_SINGLE, _P.P4),
        ("cursor-stability",),
        ("pl-2.99", "rr"),
    ),
    Model(
        "snapshot-isolation",
        "snapshot isolation (PL-SI)",
        _of(_P.INTERNAL, *_OWN, _P.G_SINGLE, _P.G_NONADJACENT, _P.P4, _P.G_SIA, _P.G_SIB),
        ("consistent-view",),
        ("si", "pl-si"),
    ),
    Model(
        "serializable",
        "serializability (PL-3)",
        _of(_P.G2, _P.G2_ITEM),
        ("repeatable-read", "snapshot-isolation"),
        ("ser", "pl-3"),
    ),
    Model(
        "strong-session-read-uncommitted",
        "strong session read uncommitted",
        _of(_P.G0, basis=_S),
        ("read-uncommitted",),
        ("strong-session-pl-1",),
        _S,
    ),
    Model(
        "strong-session-read-committed",
        "strong session read committed",
        _of(_P.G1C, basis=_S),
        ("read-committed", "strong-session-read-uncommitted"),
        ("strong-session-pl-2",),
        _S,
    ),
    Model(
        "session-read-committed",
        "read committed with sessions (Biswas and Enea; RC of AWDIT and Plume)",
        _of(*_OWN) | _of(Flaw.NON_MONOTONIC_READ, basis=_S),
        ("strong-session-read-committed",),
        ("rc", "awdit-rc"),
        _S,
    ),
    Model(
        "read-atomic",
        "read atomic (Biswas and Enea; RA of AWDIT and Plume)",
        _of(_P.INTERNAL) | _of(Flaw.FRACTURED_READ, basis=_S),
        ("session-read-committed",),
        ("ra", "awdit-ra"),
        _S,
    ),
    Model(
        "causal",
        "causal consistency (Biswas and Enea; CC of AWDIT, TCC of Plume)",
        _of(Flaw.CAUSALITY, basis=_S),
        ("read-atomic",),
        ("cc", "tcc", "awdit-cc"),
        _S,
    ),
    Model(
        "strong-session-snapshot-isolation",
        "strong session snapshot isolation",
        _of(_P.G1C, _P.G_SINGLE, _P.G_NONADJACENT, basis=_S),
        ("snapshot-isolation", "causal"),
        ("strong-session-si",),
        _S,
    ),
    Model(
        "strong-session-serializable",
        "strong session serializability",
        _of(_P.G2, _P.G2_ITEM, basis=_S),
        ("serializable", "strong-session-snapshot-isolation"),
        ("strong-session-ser",),
        _S,
    ),
    Model(
        "strong-read-uncommitted",
        "strong read uncommitted",
        _of(_P.G0, basis=_R),
        ("strong-session-read-uncommitted",),
        ("strong-pl-1",),
        _R,
    ),
    Model(
        "strong-read-committed",
        "strong read committed",
        _of(_P.G1C, basis=_R),
        ("strong-session-read-committed", "strong-read-uncommitted"),
        ("strong-pl-2",),
        _R,
    ),
    Model(
        "strong-snapshot-isolation",
        "strong snapshot isolation",
        _of(_P.G1C, _P.G_SINGLE, _P.G_NONADJACENT, basis=_R),
        ("strong-session-snapshot-isolation", "strong-read-committed"),
        ("strong-si",),
        _R,
    ),
    Model(
        "strict-serializable",
        "strict serializability (PL-SS)",
        _of(_P.G2, _P.G2_ITEM, basis=_R),
        ("strong-session-serializable", "strong-snapshot-isolation"),
        ("strong-serializable", "pl-ss", "strict"),
        _R,
    ),
)
"""From the weakest to the strongest: what a model implies stands before it."""

BY_NAME: Mapping[str, Model] = {name: model for model in MODELS for name in (model.name, *model.aliases)}


def find_model(name: str) -> Model:
    """The model of a name or an alias in any case."""
    found = BY_NAME.get(name.strip().lower().replace(" ", "-").replace("_", "-"))
    if found is None:
        known = ", ".join(model.name for model in MODELS)
        raise UsageError(f"there is no model {name!r}; known are {known}")
    return found


def implied(model: Model) -> frozenset[str]:
    """The model and all weaker ones, by name."""
    names = {model.name}
    for weaker in model.implies:
        names |= implied(BY_NAME[weaker])
    return frozenset(names)


IMPLIED: Mapping[str, frozenset[str]] = {model.name: implied(model) for model in MODELS}


def excluded(model: Model) -> frozenset[Exclusion]:
    """All that a model excludes, what the weaker ones exclude included."""
    return frozenset().union(*(BY_NAME[name].excludes for name in IMPLIED[model.name]))


def implications(one: Exclusion) -> frozenset[Exclusion]:
    """An anomaly and those that it is a special case of."""
    name, basis = one
    names: set[Phenomenon | Flaw] = {name, *_SPECIAL.get(name, ())}
    later = BASES[BASES.index(basis) :] if name in _CYCLES else (basis,)
    return frozenset((each, place) for each in names for place in later)


_CYCLES = {
    *(_P.G0, _P.G1C, _P.G_SINGLE, _P.G_NONADJACENT, _P.G2_ITEM, _P.G2),
    *(Flaw.NON_MONOTONIC_READ, Flaw.FRACTURED_READ, Flaw.CAUSALITY),
}
_SPECIAL: Mapping[Phenomenon | Flaw, tuple[Phenomenon | Flaw, ...]] = {
    _P.G0: (_P.G1C,),
    _P.G_SINGLE: (_P.G_NONADJACENT, _P.G2_ITEM, _P.G2),
    _P.G_NONADJACENT: (_P.G2_ITEM, _P.G2),
    _P.G2_ITEM: (_P.G2,),
    Flaw.INCOMPATIBLE_ORDER: (_P.G1A,),
    Flaw.DIRTY_UPDATE: (_P.G1A,),
    Flaw.FUTURE_READ: (_P.G1C,),
    Flaw.NOT_MY_OWN_WRITE: (_P.INTERNAL,),
    Flaw.NOT_MY_LAST_WRITE: (_P.INTERNAL,),
}


def violated(model: Model, anomalies: Iterable[Anomaly]) -> list[Anomaly]:
    """The anomalies that a model excludes."""
    forbidden = excluded(model)
    return [one for one in anomalies if implications((one.name, one.basis)) & forbidden]


def standings(anomalies: Iterable[Anomaly], undecided: Iterable[str]) -> dict[str, Standing]:
    """What is known of every model. `undecided` are models that nothing was found against, and that the
    history cannot prove either; what implies one of them is undecided too."""
    seen = list(anomalies)
    open_ = set(undecided)
    result = {}
    for model in MODELS:
        if violated(model, seen):
            result[model.name] = Standing.VIOLATED
        elif IMPLIED[model.name] & open_:
            result[model.name] = Standing.UNKNOWN
        else:
            result[model.name] = Standing.HOLDS
    return result


def strongest(known: Mapping[str, Standing]) -> tuple[Model, ...]:
    """The models that hold, without those that another of them implies."""
    held = [model for model in MODELS if known[model.name] is Standing.HOLDS]
    return tuple(
        one for one in held if not any(one.name in IMPLIED[other.name] for other in held if other is not one)
    )


def weakest(known: Mapping[str, Standing]) -> tuple[Model, ...]:
    """The models that are violated, without those that imply another of them."""
    broken = [model for model in MODELS if known[model.name] is Standing.VIOLATED]
    return tuple(
        one
        for one in broken
        if not any(other.name in IMPLIED[one.name] for other in broken if other is not one)
    )
