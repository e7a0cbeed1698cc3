"""Violations in words. Everything that people read about one is made here, from its typed witness."""

from collections.abc import Iterator, Sequence

from acidtest.casefile import format_outcome, format_row, format_rows
from acidtest.model import (
    Breach,
    ComparisonWitness,
    CountWitness,
    CrashWitness,
    CycleWitness,
    Dependency,
    DependencyKind,
    DifferenceKind,
    ErrorKind,
    ErrorWitness,
    OrdersWitness,
    Outcome,
    Reason,
    RowDifference,
    Rows,
    RowsWitness,
    RunDifference,
    StateWitness,
    UntransactedWitness,
    Violation,
    WaitWitness,
)
from acidtest.model.trace import TraceVersion


def expected(violation: Violation) -> str:
    """What had to happen."""
    match violation.witness:
        case RowsWitness() as witness:
            return f"{'some of ' if witness.partial else ''}{format_rows(witness.expected)}"
        case CountWitness() as witness:
            return f"affected {' or '.join(map(str, sorted(witness.expected)))}"
        case ErrorWitness() as witness:
            return _errors(witness.expected)
        case WaitWitness() as witness:
            return f"blocked by {witness.holder}"
        case StateWitness() as witness:
            return f"{witness.table}: {format_rows(witness.expected)}"
        case CycleWitness():
            name = violation.phenomenon.text if violation.phenomenon else "such a cycle"
            return f"no {name}"
        case OrdersWitness():
            return "the results of some serial order of the committed transactions"
        case CrashWitness():
            return "the server goes on"
        case ComparisonWitness() as witness:
            return f"as on {witness.other.target}: {_side(witness.differences[0], here=False)}"
        case UntransactedWitness() as witness:
            return f"as without transactions: {_outcome_of(witness.table, witness.expected)}"


def observed(violation: Violation) -> str:
    """What happened."""
    match violation.witness:
        case RowsWitness() as witness:
            return format_rows(witness.observed)
        case CountWitness() as witness:
            return f"affected {witness.observed}"
        case ErrorWitness() as witness:
            return _error(witness.observed, witness.code)
        case WaitWitness() as witness:
            return "resumed too early" if witness.early else "not blocked"
        case StateWitness() as witness:
            return f"{witness.table}: {format_rows(witness.observed)}"
        case CycleWitness() as witness:
            return cycle(witness)
        case OrdersWitness():
            return "results that no serial order gives"
        case CrashWitness() as witness:
            died = "the server died" if witness.died else ""
            return "; ".join(part for part in (died, _crash_error(witness)) if part)
        case ComparisonWitness() as witness:
            return _side(witness.differences[0], here=True)
        case UntransactedWitness() as witness:
            return _outcome_of(witness.table, witness.observed)


def _errors(kinds: frozenset[ErrorKind]) -> str:
    return " or ".join(f"error {kind.value}" for kind in sorted(kinds)) or "success"


def _error(kind: ErrorKind | None, code: str) -> str:
    return "success" if kind is None else f"error {kind.value} {code}".rstrip()


def _crash_error(witness: CrashWitness) -> str:
    return "" if witness.error is None else _error(witness.error, witness.code)


def details(violation: Violation) -> Iterator[str]:
    """The evidence, a line each."""
    match violation.witness:
        case RowsWitness() | StateWitness() as witness:
            yield from map(difference, witness.differences)
        case CycleWitness() as witness:
            yield from (dependency(witness, one) for one in witness.dependencies)
        case OrdersWitness() as witness:
            for one in witness.orders:
                yield f"order {', '.join(one.order)}: {one.difference}"
        case UntransactedWitness() as witness:
            yield from _untransacted(witness)
        case CrashWitness() as witness:
            if not witness.transactional:
                yield "it happened when the statements were run again without transactions"
            if witness.message:
                yield witness.message
            if witness.log:
                yield f"the server's log:\n{witness.log}"
        case ComparisonWitness() as witness:
            yield from map(breach, witness.breaches)
            if not witness.breaches:
                yield "neither run is known to break a promise by itself"
            yield from (run_difference(witness.other.target, one) for one in witness.differences)
        case _:
            return


# -- rows


def difference(one: RowDifference) -> str:
    """One row too many or too few, and why."""
    word = "must not be there" if one.extra else "is missing"
    why = _WHY[one.reason].format(
        writer=_who(one.writer, one.step), by=_who(one.by, one.by_step), session=one.writer, step=one.step
    )
    return f"row {format_row(one.row)} {word}{': ' + why if why else ''}"


_WHY = {
    Reason.NEVER_WRITTEN: "no transaction has ever written it",
    Reason.UNCOMMITTED: "{writer} wrote it and has not committed",
    Reason.ROLLED_BACK: "{writer} wrote it and was rolled back",
    Reason.LATER: "{writer} committed it after the snapshot",
    Reason.REPLACED: "an old version by {writer}; {by} has replaced it",
    Reason.OWN_REPLACED: "an old version that {writer} itself has replaced",
    Reason.DELETED: "{by} has deleted it",
    Reason.REPEATED: "it was returned more often than it is there",
    Reason.OWN: "{session} wrote it itself (step {step})",
    Reason.INITIAL: "it was there from the start, and nobody that counts has changed it",
    Reason.COMMITTED: "{writer} committed it in time",
    Reason.DIRTY_COUNTS: "{writer} wrote it, and what is not committed counts at this level",
    Reason.UNTRACED: "",
}


def _who(session: str, step: int | None) -> str:
    if not session:
        return "the set-up"
    return session if step is None else f"{session} (step {step})"


# -- cycles


def cycle(witness: CycleWitness) -> str:
    """The dependencies in one line: tx1 -rw-> tx2 -rw-> tx1."""
    edges = witness.dependencies
    parts = [witness.session(edges[0].source)]
    for edge in edges:
        parts += [f"-{edge.kind.value}->", witness.session(edge.target)]
    return " ".join(parts)


def dependency(witness: CycleWitness, one: Dependency) -> str:
    """One dependency with its evidence."""
    source, target = witness.session(one.source), witness.session(one.target)
    what = "" if one.version is None else _version(one.version)
    first = source if one.source_step is None else f"{source} (step {one.source_step})"
    second = target if one.target_step is None else f"{target} (step {one.target_step})"
    return _EVIDENCE[one.kind].format(first=first, second=second, what=what)


def _version(version: TraceVersion) -> str:
    table = version.object.table
    if version.values:
        return f"row {format_row(version.values)} of {table}"
    return f"the deletion of row {version.object.row} of {table}"


_EVIDENCE = {
    DependencyKind.WW: "{second} replaced what {first} had written: {what}",
    DependencyKind.WR: "{second} saw {what} by {first}",
    DependencyKind.RW: "{first} read what {second} then replaced: {what}",
    DependencyKind.WR_PREDICATE: "{second} did not find a row that {first} had taken away: {what}",
    DependencyKind.RW_PREDICATE: "{first} did not see what {second} brought under its condition: {what}",
    DependencyKind.SESSION: "{second} came after {first} in the same session",
    DependencyKind.REAL_TIME: "{second} began when {first} had ended",
}


# -- two runs


def breach(one: Breach) -> str:
    """A run that is wrong by itself."""
    where = "in the final state" if one.step is None else f"at step {one.step}"
    return f"{one.target} breaks its own promise: {one.kind.value} {where}"


def run_difference(other: str, one: RunDifference) -> str:
    """A difference between the judged run and that on another target."""
    where = f"final {one.table}" if one.step is None else f"step {one.step}"
    return f"{where} differs in {one.kind.value}: {_side(one, here=True)}; {other}: {_side(one, here=False)}"


def _side(one: RunDifference, here: bool) -> str:
    outcome, waited = (one.here, one.here_waited) if here else (one.there, one.there_waited)
    wait = ("waits, " if waited else "does not wait, ") if one.kind is DifferenceKind.WAIT else ""
    return f"{wait}{_outcome_of(one.table, outcome)}"


def _outcome_of(table: str, outcome: Outcome) -> str:
    """What a step came to, or the rows of a table."""
    if table and isinstance(outcome, Rows):
        return f"{table}: {format_rows(outcome.rows)}"
    return format_outcome(outcome)


def _untransacted(witness: UntransactedWitness) -> Iterator[str]:
    yield f"steps in the order in which they ran without transactions: {_steps(witness.order)}"
    if witness.removed:
        yield f"left out of both runs, because they depend on each other: {_steps(witness.removed)}"
    if witness.transactional is False:
        yield "not transactional: the run with transactions is right, the one without is not"


def _steps(steps: Sequence[int]) -> str:
    return ", ".join(map(str, steps))
