"""Promises of the user that must hold: SQL that must answer true, or a function that must not say
otherwise."""

from collections.abc import Callable, Iterable, Sequence

from acidtest.errors import UsageError
from acidtest.model.application import Breach
from acidtest.targets import Guest

Invariant = str | Callable[[], object]
"""A query whose first value must be true, or a function that returns nothing or true, and may assert."""


def as_invariants(given: Invariant | Iterable[Invariant] | None) -> tuple[Invariant, ...]:
    """One, several or none, as the user wrote them."""
    if given is None:
        return ()
    if isinstance(given, str) or callable(given):
        return (given,)
    several = tuple(given) if isinstance(given, Iterable) else (given,)
    for one in several:
        if not isinstance(one, str) and not callable(one):
            raise UsageError(f"an invariant is a query or a function, not {one!r}")
    return several


def breaches_of(
    invariants: Sequence[Invariant], guest: Guest | None, after: int | None = None
) -> list[Breach]:
    """The invariants that do not hold in the committed state."""
    found = []
    for one in invariants:
        problem = _asked(one, guest) if isinstance(one, str) else _called(one)
        if problem is not None:
            words = one if isinstance(one, str) else getattr(one, "__name__", "invariant")
            found.append(Breach(words, problem, after))
    return found


def _asked(query: str, guest: Guest | None) -> str | None:
    if guest is None:
        return None
    answers = guest.ask(query)
    if not answers or not answers[-1].rows:
        raise UsageError(
            f"the invariant {query!r} answers no row; write a query whose first value is true or false"
        )
    value = answers[-1].rows[0][0]
    return None if value else f"it answers {value!r}"


def _called(check: Callable[[], object]) -> str | None:
    try:
        answer = check()
    except AssertionError as error:
        return str(error).strip() or "its assertion failed"
    return f"it returned {answer!r}" if answer is not None and not answer else None
