"""One target, its executor and its oracles: run a case and judge what happened."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from acidtest.claims import claims_of
from acidtest.execute import Executor, Limits
from acidtest.model import Case, History, Judgement, Verdict, unknown
from acidtest.oracles.registry import DEFAULT, IF_UNDECIDED, ORACLES, Oracle, check_names
from acidtest.oracles.walks import Walks
from acidtest.targets import Target


@dataclass(frozen=True)
class Examined:
    """A history and what the oracles say of it."""

    history: History
    verdicts: tuple[Verdict, ...]

    @cached_property
    def judgement(self) -> Judgement:
        """What they say together: one violation is enough, and what nobody decided is unknown."""
        return judgement_of(self.history, self.verdicts)

    @property
    def violation(self) -> Verdict | None:
        """The verdict that names what is wrong."""
        return first_violation(self.verdicts)

    @property
    def undecided_because(self) -> str:
        """The reason of the first oracle that could not decide; empty if there is none."""
        return next((one.reason for one in self.verdicts if one.judgement is Judgement.UNKNOWN), "")


OnDefect = Callable[[History, str, Exception], None]
"""Told of a history, the oracle that failed on it, and how."""


class Examiner:
    """Holds an executor and oracles for one target; close it, the target stays open."""

    def __init__(
        self,
        target: Target,
        oracles: Iterable[str] = DEFAULT,
        *,
        limits: Limits | None = None,
        on_defect: OnDefect | None = None,
        against: Target | None = None,
    ) -> None:
        self.target, self._against = target, against
        self.oracles = tuple(check_names(oracles))
        self._on_defect = on_defect
        names = {name.removesuffix(IF_UNDECIDED) for name in self.oracles}
        self._walks = Walks(traces=any(ORACLES[name].reads_trace for name in names))
        self._made: dict[str, Oracle] = {}
        with ExitStack() as stack:
            self.executor = stack.enter_context(Executor(target, limits))
            self._stack = stack.pop_all()

    def examine(self, case: Case, *, fresh: bool = False) -> Examined:
        """Run a case and judge it."""
        history = self.executor.run(case, fresh=fresh)
        return Examined(history, self.judge(history))

    def judge(self, history: History, oracles: Iterable[str] | None = None) -> tuple[Verdict, ...]:
        """The verdicts of those that have a say, in the order named."""
        verdicts: list[Verdict] = []
        for name in self.oracles if oracles is None else check_names(oracles):
            if name.endswith(IF_UNDECIDED) and judgement_of(history, verdicts) is not Judgement.UNKNOWN:
                continue
            verdict = self._safely(name.removesuffix(IF_UNDECIDED), history)
            if verdict is not None:
                verdicts.append(verdict)
        return tuple(verdicts)

    def _safely(self, name: str, history: History) -> Verdict | None:
        """A defect of an oracle must not end a run: it is unknown, and counted as ours."""
        try:
            return self._oracle(name).judge(history)
        except Exception as error:
            if self._on_defect is not None:
                self._on_defect(history, name, error)
            return unknown(name, f"a defect of ours: {type(error).__name__}: {error}", defect=True)

    def _oracle(self, name: str) -> Oracle:
        if name not in self._made:
            oracle = ORACLES[name].make(self.target, self._walks, self._against)
            self._stack.callback(oracle.close)
            self._made[name] = oracle
        return self._made[name]

    def close(self) -> None:
        """Give back sessions and scratch tables."""
        self._made.clear()
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def judgement_of(history: History, verdicts: Iterable[Verdict]) -> Judgement:
    """A violation by one is a violation. To pass, somebody must have judged the statements, and where the
    level promises serializability, somebody must have judged that too."""
    given = list(verdicts)
    if any(one.is_violation for one in given):
        return Judgement.VIOLATION
    judges = [one for one in given if ORACLES[one.oracle].judges_isolation]
    passing = {one.oracle for one in judges if one.judgement is Judgement.PASS}
    whole = {one.oracle for one in judges if one.judgement is Judgement.PASS and not one.reason}
    statements = {"solver", "views", "replay"} & whole  # a pass with a reason leaves statements out
    asked = {one.oracle for one in judges}
    if _promises_serializability(history) and {"graph", "serial"} & asked:
        decided = bool({"serial", "graph"} & passing) and (bool(statements) or "serial" in passing)
    else:
        decided = bool(statements) or (not {"solver", "views"} & asked and bool(passing))
    return Judgement.PASS if decided else Judgement.UNKNOWN


def _promises_serializability(history: History) -> bool:
    claims = claims_of(history)
    return claims is not None and all(claim.serializable for claim in claims.used())


def first_violation(verdicts: Iterable[Verdict]) -> Verdict | None:
    """The verdict that names a finding. Of a server that died nothing else can be said."""
    violations: Iterator[Verdict] = (one for one in verdicts if one.is_violation)
    return min(violations, key=lambda one: one.oracle != "crash", default=None)
