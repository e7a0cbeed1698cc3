"""From a spec to its permutations, each a case like any other.

A step is sent as isolationtester sends it, or as statements that come to the same: several statements of one
step are joined where a transaction holds them together anyway, so that oracles see each of them, and stay
one message where PostgreSQL would make one transaction of them. The set-up and teardown of a session are its
first and last statements, so that oracles see the BEGIN that often stands there.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from acidtest.casefile.isolation.spec import PlannedStep, Spec
from acidtest.model import Case, Statement, TargetConstraint, interleave
from acidtest.sql import StatementKind, kind_of, split_script
from acidtest.sql.split import TokenKind, UnterminatedError, tokens

_CHAIN = re.compile(r"\bAND\s+CHAIN\b", re.IGNORECASE)
_PREPARE = re.compile(r"\s*PREPARE\s+TRANSACTION\b", re.IGNORECASE)
_RAISE = re.compile(r"\bRAISE\s+(?:NOTICE|INFO)\b", re.IGNORECASE)
_UNLOCK = re.compile(r"unlock", re.IGNORECASE)
_PLAIN_SET = re.compile(r"\s*SET\s+(?!LOCAL\b|TRANSACTION\b|CONSTRAINTS\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Permutation:
    """One order of a spec's steps as a case. `places` says for each step of the case's schedule which step of
    the order it belongs to; None where it is set-up or teardown of its session."""

    spec: Spec
    number: int
    order: tuple[PlannedStep, ...]
    case: Case
    places: tuple[int | None, ...]

    @property
    def session_names(self) -> tuple[str, ...]:
        """What the sessions of the spec are called in the case, in the order of the spec."""
        return tuple(_session_names(self.spec))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its steps, in order."""
        return tuple(step.name for step in self.order)


def permutations(spec: Spec) -> Iterator[Permutation]:
    """The permutations of a spec in the order in which isolationtester runs them, numbered from 1."""
    orders = spec.orders or _interleavings(spec)
    for number, order in enumerate(orders, 1):
        yield _Builder(spec).permutation(number, order)


def _interleavings(spec: Spec) -> Iterator[tuple[PlannedStep, ...]]:
    """All orders that keep the order within each session; the first session goes first."""

    def pick(taken: Sequence[int], order: tuple[PlannedStep, ...]) -> Iterator[tuple[PlannedStep, ...]]:
        ended = True
        for position, session in enumerate(spec.sessions):
            if taken[position] < len(session.steps):
                ended = False
                step = PlannedStep(session.steps[taken[position]].name)
                more = [count + (index == position) for index, count in enumerate(taken)]
                yield from pick(more, (*order, step))
        if ended:
            yield order

    yield from pick([0] * len(spec.sessions), ())


class _Builder:
    """Collects the schedule of one permutation, and keeps track of who is in a transaction."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._sessions = dict(zip((one.name for one in spec.sessions), _session_names(spec), strict=True))
        self._steps: list[tuple[str, Statement]] = []
        self._places: list[int | None] = []
        self._open: set[str] = set()
        # Whoever reads there what others run sees it as isolationtester sent it, with its last semicolon.
        self._verbatim = any("pg_stat_activity" in text for text in spec.texts)

    def permutation(self, number: int, order: tuple[PlannedStep, ...]) -> Permutation:
        spec = self._spec
        self._set_up_sessions()
        for place, planned in enumerate(order):
            self._step(place, planned, [step.name for step in order[:place]])
        if any(session.teardown for session in spec.sessions):
            self._await(self._sessions)  # a teardown must not release what still waits
        for session in spec.sessions:
            if session.teardown:
                self._script(session.name, session.teardown, None, together=False)
        transactions, schedule = interleave(self._steps, {})
        case = Case(
            id=f"{spec.name}-{number}",
            setup=tuple(Statement(sql) for block in spec.setups for sql in _split(block)),
            transactions=transactions,
            schedule=schedule,
            title=f"permutation {number} of {spec.name}: {' '.join(step.name for step in order)}",
            targets=(TargetConstraint("postgres"),),
            teardown=tuple(map(Statement, _split(spec.teardown or ""))),
            strict=True,
        )
        return Permutation(spec, number, order, case, tuple(self._places))

    def _set_up_sessions(self) -> None:
        named = any("application_name" in text for text in self._spec.texts)
        told = any(_RAISE.search(text) for text in self._spec.texts)
        for session in self._spec.sessions:
            if told:  # acidtest's sessions hear warnings only
                self._add(session.name, "SET client_min_messages = notice", None)
            if named:  # isolationtester names its sessions so, and steps may look for them
                self._add(
                    session.name, f"SET application_name = 'isolation/{self._spec.name}/{session.name}'", None
                )
            if session.setup:
                self._script(session.name, session.setup, None, together=False)

    def _step(self, place: int, planned: PlannedStep, before: Sequence[str]) -> None:
        session = self._spec.session_of(planned.name).name
        sql = self._spec.step(planned.name).sql
        awaited = [
            self._spec.session_of(marker.step).name
            for marker in planned.markers
            if marker.step is not None and marker.step in before and marker.notices is None
        ]
        if _split(sql):
            self._script(session, sql, place, together=True)
        else:
            awaited.append(session)  # an empty step only holds up what follows until its session is free
        if awaited and self._steps:
            self._await(awaited)

    def _await(self, sessions: Iterable[str]) -> None:
        owner, last = self._steps[-1]
        names = (*last.awaits, *(self._sessions[name] for name in sessions))
        self._steps[-1] = (owner, replace(last, awaits=tuple(dict.fromkeys(names))))

    def _script(self, session: str, sql: str, place: int | None, *, together: bool) -> None:
        """Add a block; `together` if others may meet it, so that it matters what one transaction holds."""
        statements = _split(sql)
        if len(statements) == 1:
            self._add(session, sql if self._verbatim and together else statements[0], place)
        elif self._is_separable(session, statements, together):
            for position, statement in enumerate(statements):
                self._add(session, statement, place, joined=position > 0)
        else:
            self._add(session, _message(sql), place)
            for statement in statements:
                self._follow(session, statement)

    def _add(self, session: str, sql: str, place: int | None, joined: bool = False) -> None:
        self._steps.append((self._sessions[session], Statement(sql, joined=joined)))
        self._places.append(place)
        self._follow(session, sql)

    def _is_separable(self, session: str, statements: Sequence[str], together: bool) -> bool:
        """Whether one message and a message for each statement come to the same.

        Statements of a message that stand outside a transaction block share one transaction, and a BEGIN
        behind them takes them into its own. What follows a COMMIT in a message does not wait for those whom
        the COMMIT released.
        """
        is_open = session in self._open
        outside = False
        for position, sql in enumerate(statements):
            begins = kind_of(sql) is StatementKind.BEGIN
            if begins and outside:
                return False
            is_free = not is_open and not begins and not _PLAIN_SET.match(sql)
            if together and (is_free or _may_release(sql)) and position < len(statements) - 1:
                return False
            outside = outside or is_free
            is_open = _is_open_after(sql, is_open)
        return True

    def _follow(self, session: str, sql: str) -> None:
        if _is_open_after(sql, session in self._open):
            self._open.add(session)
        else:
            self._open.discard(session)


def _is_open_after(sql: str, was_open: bool) -> bool:
    kind = kind_of(sql)
    if kind is StatementKind.BEGIN:
        return True
    if kind in (StatementKind.COMMIT, StatementKind.ROLLBACK):
        return was_open and _CHAIN.search(sql) is not None
    return was_open and not _PREPARE.match(sql)


def _may_release(sql: str) -> bool:
    ends = (StatementKind.COMMIT, StatementKind.ROLLBACK, StatementKind.SAVEPOINT)
    return kind_of(sql) in ends or _UNLOCK.search(sql) is not None or _PREPARE.match(sql) is not None


def _split(block: str) -> tuple[str, ...]:
    """The statements of a block; a block that cannot be read is sent as it is, and refused."""
    try:
        return split_script(block)
    except UnterminatedError:
        return (block.strip(),)


def _message(block: str) -> str:
    """A block as one message, without the semicolon at its end."""
    solid = [token for token in tokens(block) if token.kind is not TokenKind.SPACE]
    end = solid[-1].start if solid[-1].kind is TokenKind.SEMICOLON else solid[-1].end
    return block[solid[0].start : end].strip()


def _session_names(spec: Spec) -> list[str]:
    """Names that a case file can hold, in the order of the sessions."""
    names: list[str] = []
    for session in spec.sessions:
        name = re.sub(r"[^A-Za-z0-9_]", "_", session.name)
        if not re.match(r"[A-Za-z_]", name):
            name = f"s_{name}"
        while name in names:
            name += "_"
        names.append(name)
    return names
