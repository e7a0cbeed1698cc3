"""Histories told step by step, for DBMSs that are not on the machine: what a right and a wrong one do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from acidtest.casefile import parse_case
from acidtest.model import (
    Affected,
    ErrorKind,
    Event,
    EventKind,
    Failed,
    History,
    Judgement,
    Level,
    Outcome,
    Record,
    Row,
    Rows,
    Schema,
    TransactionState,
    Undone,
    Verdict,
    freeze_state,
)
from acidtest.oracles import solver

Single = int | None | Sequence[Row] | ErrorKind


@dataclass(frozen=True, slots=True, init=False)
class Script:
    """Several statements that were sent as one message, and where they leave the transaction."""

    results: tuple[Single, ...]
    after: TransactionState

    def __init__(self, *results: Single, after: TransactionState = TransactionState.NONE) -> None:
        object.__setattr__(self, "results", results)
        object.__setattr__(self, "after", after)


Result = Single | Script


@dataclass(frozen=True, slots=True)
class After:
    """The statement waited, and came to this when another step was over."""

    step: int
    result: Result


Step = tuple[str, str, Result | After]


@dataclass(frozen=True, slots=True)
class World:
    """What a history stands on."""

    dbms: str
    schema: Schema
    rows: Mapping[str, Sequence[Row]]
    version: str = ""
    settings: Mapping[str, str] | None = None

    def history(
        self, level: Level, steps: Sequence[Step], final: Mapping[str, Sequence[Row]], setup: str = ""
    ) -> History:
        """The history of these steps; tables that `final` leaves out are as they were."""
        written = [(session, sql.replace(";", r"\;")) for session, sql, _ in steps]
        text = "".join(f"/* {session} */ {sql};\n" for session, sql in written)
        case = parse_case(f"-- setup\n{setup or 'CREATE TABLE x (a INT);'}\n-- schedule\n{text}", "told")
        teller = _Teller(self.dbms)
        for number, (session, sql, result) in enumerate(steps):
            teller.tell(number, session, sql, result)
        sessions = dict.fromkeys(session for session, _, _ in steps)
        state = {name: tuple(sorted(rows, key=repr)) for name, rows in self.rows.items()}
        return History(
            origin=case,
            target=self.dbms,
            version=self.version,
            levels=dict.fromkeys(sessions, level),
            schema=self.schema,
            initial=freeze_state({name: tuple(rows) for name, rows in self.rows.items()}),
            events=tuple(teller.events),
            records=tuple(teller.records),
            final=freeze_state({**state, **{name: tuple(rows) for name, rows in final.items()}}),
            dbms=self.dbms,
            settings=self.settings or {},
        )


class _Teller:
    """Makes events and records of steps."""

    def __init__(self, dbms: str) -> None:
        self._fails_whole = dbms == "postgres"
        self.events: list[Event] = []
        self.records: list[Record] = []
        self._standing: dict[str, TransactionState] = {}
        self._late: dict[int, list[tuple[int, str]]] = {}

    def tell(self, number: int, session: str, sql: str, result: Result | After) -> None:
        before = self._standing.get(session, TransactionState.NONE)
        late = isinstance(result, After)
        told = result.result if isinstance(result, After) else result
        singles = told.results if isinstance(told, Script) else (told,)
        outcomes = [self._outcome(one, before) for one in singles]
        outcome = next((one for one in outcomes if isinstance(one, Failed)), outcomes[-1])
        after = told.after if isinstance(told, Script) else self._after(sql, outcome, before)
        self._standing[session] = after
        parts = tuple(outcomes) if len(outcomes) > 1 else ()
        self.records.append(
            Record(number, session, sql, outcome, waited=late, before=before, after=after, parts=parts)
        )
        self.events.append(Event(EventKind.LAUNCHED, number, session))
        if isinstance(result, After):
            self.events.append(Event(EventKind.BLOCKED, number, session))
            self._late.setdefault(result.step, []).append((number, session))
            return
        self.events.append(Event(EventKind.COMPLETED, number, session))
        for step, other in self._late.pop(number, ()):
            self.events.append(Event(EventKind.RESUMED, step, other, cause=number))
            self.events.append(Event(EventKind.COMPLETED, step, other))

    def _outcome(self, result: Single, before: TransactionState) -> Rows | Affected | Failed:
        if isinstance(result, ErrorKind):
            whole = self._fails_whole and before is not TransactionState.NONE
            return Failed(result, "4711", "as told", Undone.TRANSACTION if whole else Undone.STATEMENT)
        if result is None or isinstance(result, int):
            return Affected(result or 0)
        width = len(result[0]) if result else 1
        return Rows(tuple(f"c{i}" for i in range(width)), tuple(result))

    def _after(self, sql: str, outcome: Outcome, before: TransactionState) -> TransactionState:
        word = sql.split(maxsplit=1)[0].upper()
        if word in ("BEGIN", "START"):
            return TransactionState.OPEN
        if "PREPARED" in sql.upper().split():
            return before
        if word in ("COMMIT", "ROLLBACK") and "TO" not in sql.upper().split():
            return TransactionState.NONE
        if sql.upper().startswith("PREPARE TRANSACTION"):
            return TransactionState.NONE
        if isinstance(outcome, Failed) and self._fails_whole and before is TransactionState.OPEN:
            return TransactionState.FAILED
        return TransactionState.OPEN if word == "ROLLBACK" else before


def verdict(history: History) -> Verdict:
    """What `solver` says."""
    return solver.judge(history)


def passes(history: History) -> bool:
    """Whether `solver` finds everything right; that it does not know is an error of the test."""
    found = verdict(history)
    assert found.judgement is not Judgement.UNKNOWN, found.reason
    return found.judgement is Judgement.PASS


def unknown(history: History) -> str:
    """Why `solver` does not know."""
    found = verdict(history)
    assert found.judgement is Judgement.UNKNOWN, found
    return found.reason
