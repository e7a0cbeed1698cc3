"""What an isolation spec says, as data."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Marker:
    """Delays the report of a step: `*` (no step) until the next one was launched, `other` until that step has
    completed, `other notices N` until its session has sent N notices."""

    step: str | None = None
    notices: int | None = None


@dataclass(frozen=True, slots=True)
class SpecStep:
    """SQL with a name that is unique in the spec."""

    name: str
    sql: str


@dataclass(frozen=True, slots=True)
class SpecSession:
    """One connection with its steps, and what it runs before and after every permutation."""

    name: str
    setup: str | None
    steps: tuple[SpecStep, ...]
    teardown: str | None


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A step as a permutation names it."""

    name: str
    markers: tuple[Marker, ...] = ()


@dataclass(frozen=True, slots=True)
class Spec:
    """A whole spec; without `orders`, every interleaving of the sessions' steps is meant."""

    name: str
    setups: tuple[str, ...]
    teardown: str | None
    sessions: tuple[SpecSession, ...]
    orders: tuple[tuple[PlannedStep, ...], ...]

    def session_of(self, step: str) -> SpecSession:
        """The session that has a step; a KeyError is a bug of the caller."""
        for session in self.sessions:
            if any(one.name == step for one in session.steps):
                return session
        raise KeyError(step)

    def step(self, name: str) -> SpecStep:
        """The step of that name."""
        return next(one for one in self.session_of(name).steps if one.name == name)

    @property
    def texts(self) -> tuple[str, ...]:
        """All SQL of the spec."""
        blocks = [*self.setups, self.teardown]
        for session in self.sessions:
            blocks += [session.setup, session.teardown, *(step.sql for step in session.steps)]
        return tuple(block for block in blocks if block)
