"""Known means explained: a second judgement under deviating claims has to find everything right."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from acidtest.claims import Claims, claims_of
from acidtest.claims.deviations import combinations_of, deviations_of, with_deviations
from acidtest.model import History, Judgement, Known, Verdict

Rejudge = Callable[[Claims], Verdict | None]
"""What the oracle says of the same history under other claims."""


def explained(history: History, verdict: Verdict, rejudge: Rejudge) -> Verdict:
    """The verdict, with the fewest known deviations of this server that account for all that was observed."""
    violation = verdict.violation
    if violation is None:
        return verdict
    claims = claims_of(history)
    if claims is None:
        return verdict
    had = deviations_of(history.dbms, history.version, history.levels, history.settings)
    hint: tuple[Known, ...] = ()
    for chosen in combinations_of(had):
        deviating = claims.changed(partial(with_deviations, deviations=chosen))
        second = rejudge(deviating)
        known = tuple(one.known for one in chosen)
        if second is not None and second.judgement is Judgement.PASS:
            return replace(verdict, violation=replace(violation, explained_by=known))
        if second is not None and second.judgement is Judgement.UNKNOWN and not hint:
            hint = known
    return replace(verdict, violation=replace(violation, resembles=hint)) if hint else verdict
