"""The protocol of a run, on a scripted target (tests/unit/scripted.py)."""

from collections.abc import Callable, Collection
from dataclasses import replace
from threading import Timer

import pytest

from acidtest.errors import TargetFailedError
from acidtest.execute import DiedLaterError, Executor, Feed, Limits, inquiry
from acidtest.execute.inquiry import FIRST_QUESTION_S, PATIENCE, Inquiry
from acidtest.execute.listener import Listener
from acidtest.model import (
    Affected,
    Blocked,
    Case,
    ErrorKind,
    EventKind,
    Failed,
    History,
    Indeterminate,
    Omitted,
    Overran,
    Record,
    Reply,
    Statement,
    Step,
    Transaction,
    Undone,
    interleave,
)
from acidtest.targets import Waits
from tests.unit.scripted import NONE, OPEN, ScriptedSession, ScriptedTarget, ScriptedWatch, error, ok


def case_of(*steps: str, setup: tuple[str, ...] = (), strict: bool = False) -> Case:
    """`tx1 COMMIT` stands for the statement COMMIT of session tx1, `tx1+ COMMIT` for a joined one; behind
    ` -- await` stand the sessions it awaits."""
    parsed = [(name, *sql.partition(" -- await ")) for name, sql in (step.split(" ", 1) for step in steps)]
    statements = [
        (name.rstrip("+"), Statement(sql, joined=name.endswith("+"), awaits=tuple(awaits.split())))
        for name, sql, _, awaits in parsed
    ]
    transactions, schedule = interleave(statements, {})
    return Case("case", tuple(map(Statement, setup)), transactions, schedule, strict=strict)


def events(history: History) -> list[str]:
    """Events as short words: `launched tx1 0`, with blockers and causes."""
    return [
        f"{e.kind} {e.session} {e.step}"
        + (f" by {','.join(e.by)}" if e.by else "")
        + (f" cause {e.cause}" if e.cause is not None else "")
        for e in history.events
    ]


class Locks:
    """One exclusive lock: UPDATE takes it or waits, COMMIT hands it to the next."""

    def __init__(self) -> None:
        self.holder: ScriptedSession | None = None
        self.queue: list[ScriptedSession] = []
        self.target = ScriptedTarget(self.launch, self.question)
        self.released_answers_first = False

    def launch(self, session: ScriptedSession, sql: str) -> None:
        if sql == "UPDATE":
            if self.holder in (None, session):
                self.holder = session
                session.answer(ok(1))
            else:
                self.queue.append(session)
        elif sql == "COMMIT":
            released = self.release(session)
            replies: list[Callable[[], None]] = [lambda: session.answer(ok(0, NONE))]
            if released is not None:
                replies.append(lambda: released.answer(ok(1)))
            for reply in reversed(replies) if self.released_answers_first else replies:
                reply()
        else:
            session.answer(ok())

    def release(self, session: ScriptedSession) -> ScriptedSession | None:
        if self.holder is not session:
            return None
        self.holder = self.queue.pop(0) if self.queue else None
        return self.holder

    def question(self) -> Waits:
        assert self.holder is not None
        return {session: frozenset({self.holder}) for session in self.queue}


def run(target: ScriptedTarget, case: Case, limits: Limits | None = None) -> History:
    with Executor(target, limits) as executor:
        return executor.run(case)


def test_a_run_without_waits_asks_nothing() -> None:
    target = ScriptedTarget(lambda session, sql: session.answer(ok(1)))
    history = run(target, case_of("tx1 UPDATE", "tx2 UPDATE", "tx1 COMMIT"))
    assert history.observed_order == (0, 1, 2)
    assert target.questions == 0


def test_an_engine_that_never_waits_needs_no_watch() -> None:
    target = ScriptedTarget(lambda session, sql: session.answer(ok(1)), waits=False)
    assert run(target, case_of("tx1 UPDATE", "tx2 UPDATE")).observed_order == (0, 1)


def test_a_waiting_session_keeps_its_later_statements_until_it_is_resumed() -> None:
    locks = Locks()
    history = run(locks.target, case_of("tx1 UPDATE", "tx2 UPDATE", "tx2 COMMIT", "tx1 SELECT", "tx1 COMMIT"))
    assert events(history) == [
        "launched tx1 0",
        "completed tx1 0",
        "launched tx2 1",
        "blocked tx2 1 by tx1",
        "launched tx1 3",
        "completed tx1 3",
        "launched tx1 4",
        "completed tx1 4",
        "resumed tx2 1 cause 4",
        "completed tx2 1",
        "launched tx2 2",
        "completed tx2 2",
    ]
    blocked = history.records[1]
    assert (blocked.waited, blocked.blocked_by, blocked.resumed_by) == (True, ("tx1",), 4)


def test_a_released_session_that_answers_before_the_commit_still_comes_after_it() -> None:
    locks = Locks()
    locks.released_answers_first = True
    history = run(locks.target, case_of("tx1 UPDATE", "tx2 UPDATE", "tx1 COMMIT"))
    assert history.observed_order == (0, 2, 1)
    assert history.records[1].resumed_by == 2


def test_three_sessions_resume_in_the_order_of_the_server() -> None:
    locks = Locks()
    history = run(
        locks.target,
        case_of("tx1 UPDATE", "tx3 UPDATE", "tx2 UPDATE", "tx1 COMMIT", "tx2 COMMIT", "tx3 COMMIT"),
    )
    assert history.observed_order == (0, 3, 1, 5, 2, 4)
    assert history.records[2].blocked_by == ("tx1",)
    assert history.records[2].resumed_by == 5, "tx2 was released by the COMMIT of tx3, which went first"


def test_who_overtakes_another_waiter_was_released_by_whom_that_one_waited_for() -> None:
    """PostgreSQL queues the third behind the second, yet may let it pass when the first commits."""
    sessions: dict[str, ScriptedSession] = {}
    waits: dict[str, str] = {}

    def launch(session: ScriptedSession, sql: str) -> None:
        sessions[sql] = session
        if sql in ("second", "third"):
            waits[sql] = "first" if sql == "second" else "second"
            return
        if sql == "COMMIT" and waits == {"second": "first", "third": "second"}:
            waits.clear()
            waits["second"] = "third"
            session.answer(ok(0, NONE))
            sessions["third"].answer(ok(1))
            return
        if sql == "COMMIT" and waits:
            waits.clear()
            sessions["second"].answer(ok(1))
        session.answer(ok())

    def question() -> Waits:
        return {sessions[one]: frozenset({sessions[other]}) for one, other in waits.items()}

    target = ScriptedTarget(launch, question)
    history = run(
        target,
        case_of("tx2 BEGIN", "tx1 first", "tx2 second", "tx3 third", "tx1 COMMIT", "tx3 COMMIT"),
    )
    assert [history.records[step].resumed_by for step in (2, 3)] == [5, 4]
    assert [history.records[step].blocked_by for step in (2, 3)] == [("tx1",), ("tx2",)]


def test_a_statement_that_waits_for_good_is_cancelled_and_its_successors_are_omitted() -> None:
    locks = Locks()
    history = run(locks.target, case_of("tx1 UPDATE", "tx2 UPDATE", "tx2 COMMIT"))
    assert history.records[1].outcome == Blocked(("tx1",))
    assert isinstance(history.records[2].outcome, Omitted)
    assert locks.target.sessions[1].cancelled


def test_a_visible_cycle_is_not_quiescence() -> None:
    """The DBMS shows a cycle for a while, then chooses the first waiter as its victim."""
    questions_with_cycle = 5
    first: list[ScriptedSession] = []
    launched: list[tuple[ScriptedSession, str]] = []

    def launch(session: ScriptedSession, sql: str) -> None:
        launched.append((session, sql))
        if sql == "COMMIT":
            session.answer(ok(0, NONE))
        elif sql == "WAIT":
            first.append(session)

    def question() -> Waits:
        nonlocal questions_with_cycle
        if len(first) == 1:
            return {first[0]: frozenset({target.sessions[1]})}
        questions_with_cycle -= 1
        if questions_with_cycle == 0:
            first[0].answer(error(ErrorKind.DEADLOCK, Undone.TRANSACTION, NONE))
            first[1].answer(ok(1))
        return {first[0]: frozenset({first[1]}), first[1]: frozenset({first[0]})}

    target = ScriptedTarget(launch, question)
    case = case_of("tx1 BEGIN1", "tx1 WAIT", "tx2 WAIT", "tx2 COMMIT")
    target.on_launch = lambda s, sql: s.answer(ok()) if sql == "BEGIN1" else launch(s, sql)
    history = run(target, case)
    assert [sql for _, sql in launched] == ["WAIT", "WAIT", "COMMIT"]
    outcome = history.records[1].outcome
    assert isinstance(outcome, Failed)
    assert outcome.kind is ErrorKind.DEADLOCK
    assert history.records[2].outcome == Affected(1)
    assert history.records[1].resumed_by is None, "a victim is not resumed by anyone"
    assert EventKind.ABORTED in {event.kind for event in history.events}


def test_a_circle_that_the_dbms_does_not_see_yet_is_left_to_the_session_that_can_end_it() -> None:
    """tx1 and tx2 wait for each other, but tx1 also for tx3, which is free: the schedule must go on."""
    waiting: dict[str, ScriptedSession] = {}

    def launch(session: ScriptedSession, sql: str) -> None:
        if sql.startswith("WAIT"):
            waiting[sql] = session
        else:
            session.answer(ok())
            if sql == "COMMIT":
                for name in ("WAIT1", "WAIT2"):
                    waiting.pop(name).answer(ok(1))

    def question() -> Waits:
        one, two, three = target.sessions
        blockers = {"WAIT1": frozenset({two, three}), "WAIT2": frozenset({one})}
        return {session: blockers[name] for name, session in waiting.items()}

    target = ScriptedTarget(launch, question)
    history = run(target, case_of("tx1 WAIT1", "tx2 WAIT2", "tx3 SELECT", "tx3 COMMIT"))
    assert history.observed_order[:2] == (2, 3)
    assert history.records[0].resumed_by == 3


def test_an_answer_from_before_the_last_change_is_not_believed() -> None:
    """tx2 waits; a stale answer that still names it must not end the step after tx1's COMMIT."""
    locks = Locks()
    stale: list[Waits] = []

    def question() -> Waits:
        truth = locks.question() if locks.queue else {}
        stale.append(truth)
        return truth

    locks.target.on_question = question
    history = run(locks.target, case_of("tx1 UPDATE", "tx2 UPDATE", "tx1 COMMIT", "tx2 SELECT"))
    assert history.observed_order == (0, 2, 1, 3)


def test_waiters_without_known_blockers_are_confirmed() -> None:
    waiting: list[ScriptedSession] = []

    def launch(session: ScriptedSession, sql: str) -> None:
        if sql == "WAIT":
            waiting.append(session)
        else:
            session.answer(ok())

    target = ScriptedTarget(launch, lambda: {session: frozenset() for session in waiting})
    history = run(target, case_of("tx1 WAIT", "tx2 WAIT", "tx3 SELECT"))
    assert history.records[0].waited
    assert history.records[0].blocked_by == ()
    assert history.observed_order == (2,)
    assert target.questions >= 4


def test_a_statement_over_the_limit_is_cancelled_and_ends_its_session() -> None:
    target = ScriptedTarget(lambda s, sql: None if sql == "SPIN" else s.answer(ok()))
    history = run(target, case_of("tx1 SPIN", "tx1 COMMIT", "tx2 SELECT"), Limits(0.05, 0.05))
    assert history.records[0].outcome == Overran(0.05)
    assert isinstance(history.records[1].outcome, Omitted)
    assert history.records[2].outcome == Affected(0)


def test_a_session_that_ignores_the_cancel_is_dropped_and_replaced() -> None:
    target = ScriptedTarget(lambda s, sql: None if sql == "SPIN" else s.answer(ok()))
    target.cancel_answers = False
    with Executor(target, Limits(0.05, 0.05)) as executor:
        executor.run(case_of("tx1 SPIN"))
        assert not target.sessions[0].alive
        assert executor.run(case_of("tx1 SELECT")).records[0].outcome == Affected(0)
    assert len(target.sessions) == 2


def test_a_lost_connection_omits_the_rest_of_its_session_only() -> None:
    lost = error(ErrorKind.CONNECTION_LOST, Undone.CONNECTION, NONE)
    target = ScriptedTarget(lambda s, sql: s.answer(lost if sql == "SELECT die" else ok()))
    history = run(target, case_of("tx1 BEGIN", "tx1 SELECT die", "tx1 COMMIT", "tx2 SELECT"))
    assert isinstance(history.records[2].outcome, Omitted)
    assert history.records[3].outcome == Affected(0)
    assert not history.server_died
    assert "aborted tx1 1" in events(history)


def test_a_server_that_dies_is_part_of_the_history_and_restarted_for_the_next_case() -> None:
    def launch(session: ScriptedSession, sql: str) -> None:
        if sql == "CRASH":
            target.dead = True
        lost: Reply = error(ErrorKind.CONNECTION_LOST, Undone.CONNECTION, NONE)
        session.answer(lost if target.dead else ok())

    target = ScriptedTarget(launch)
    with Executor(target) as executor:
        history = executor.run(case_of("tx1 CRASH", "tx2 SELECT"))
        assert history.server_died
        assert history.final is None
        again = executor.run(case_of("tx1 SELECT"))
    assert target.restarted == 1
    assert again.records[0].outcome == Affected(0)


def test_a_server_that_dies_when_its_tables_are_dropped_dies_of_that_run() -> None:
    def die() -> None:
        if target.rebuilt:
            target.dead = True
            raise TargetFailedError("gone")

    target = ScriptedTarget(lambda s, sql: s.answer(ok()))
    target.on_clear = die
    with Executor(target) as executor:
        history = executor.run(case_of("tx1 SELECT"), fresh=True)
        assert history.server_died
        assert history.final == target.state_now  # it had been read by then
        target.on_clear = lambda: None
        assert not executor.run(case_of("tx1 SELECT"), fresh=True).server_died
    assert target.restarted == 1


def test_a_server_that_dies_between_two_runs_died_of_the_first() -> None:
    target = ScriptedTarget(lambda s, sql: s.answer(ok()))
    case = case_of("tx1 SELECT", setup=("CREATE TABLE t (a INT)",))
    with Executor(target) as executor:
        first = executor.run(case)
        assert not first.server_died
        target.dead = True
        with pytest.raises(DiedLaterError) as late:
            executor.run(case)
        assert late.value.history == replace(first, died=True)
        assert late.value.history.server_died
        assert not executor.run(case).server_died
    assert target.restarted == 1


def test_a_death_is_told_once() -> None:
    def refuse() -> None:
        raise TargetFailedError("refused")

    target = ScriptedTarget(lambda s, sql: s.answer(ok()))
    with Executor(target) as executor:
        executor.run(case_of("tx1 SELECT"))
        target.dead = True
        with pytest.raises(DiedLaterError):
            executor.run(case_of("tx1 SELECT"))
        target.dead = False
        target.on_clear = refuse
        with pytest.raises(TargetFailedError) as refused:
            executor.run(case_of("tx1 SELECT"))
        assert not isinstance(refused.value, DiedLaterError)


def test_a_final_state_that_a_living_server_does_not_tell_is_no_death() -> None:
    target = ScriptedTarget(lambda s, sql: s.answer(ok()))
    case = case_of("tx1 ALTER TABLE t ADD b INT")
    with Executor(target) as executor:
        target.unreadable = True
        history = executor.run(case)
        assert history.final is None
        assert not history.server_died
        target.unreadable = False
        assert executor.run(case).final == target.state_now
    assert target.renewed == 1  # what could not be read is not trusted


def test_a_session_that_cannot_be_cleaned_is_replaced() -> None:
    target = ScriptedTarget(lambda s, sql: s.answer(ok()))
    target.uncleanable = True
    with Executor(target) as executor:
        assert executor.run(case_of("tx1 SELECT", "tx2 SELECT")).final == target.state_now
        assert not any(session.alive for session in target.sessions)
        target.uncleanable = False
        assert not executor.run(case_of("tx1 SELECT")).server_died
    assert len(target.sessions) == 3


def test_a_database_in_which_the_dbms_met_an_error_of_its_own_is_made_anew() -> None:
    target = ScriptedTarget(lambda s, sql: s.answer(error(ErrorKind.INTERNAL) if sql == "BREAK" else ok()))
    with Executor(target) as executor:
        executor.run(case_of("tx1 SELECT"))
        assert target.renewed == 0
        executor.run(case_of("tx1 BREAK"))
        assert target.renewed == 1
        executor.run(case_of("tx1 SELECT"))
    assert target.renewed == 1


def test_sessions_are_cleaned_thoroughly_only_if_a_statement_may_leave_traces() -> None:
    target = ScriptedTarget(lambda s, sql: s.answer(ok()))
    run(target, case_of("tx1 UPDATE t SET a = 1", "tx2 SET @x = 1"))
    assert [thorough for _, thorough in target.cleaned] == [False, True]


def test_an_interrupt_leaves_no_session_behind() -> None:
    def launch(session: ScriptedSession, sql: str) -> None:
        raise KeyboardInterrupt

    target = ScriptedTarget(launch)
    with Executor(target) as executor:
        with pytest.raises(KeyboardInterrupt):
            executor.run(case_of("tx1 SELECT"))
        assert not any(session.alive for session in target.sessions)


def test_tables_are_refilled_while_the_schema_stays() -> None:
    target = ScriptedTarget(lambda s, sql: s.answer(ok()))
    one = case_of("tx1 SELECT", setup=("CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1)"))
    two = case_of("tx1 SELECT", setup=("CREATE TABLE t (a INT)", "INSERT INTO t VALUES (2)"))
    other = case_of("tx1 SELECT", setup=("CREATE TABLE t (b INT)",))
    ddl = case_of("tx1 ALTER TABLE t ADD b INT", setup=("CREATE TABLE t (a INT)", "INSERT INTO t VALUES (2)"))
    with Executor(target) as executor:
        for case, expected in [
            (one, (1, 0)),
            (two, (1, 1)),
            (other, (2, 1)),
            (one, (3, 1)),
            (ddl, (3, 2)),
            (one, (4, 2)),
        ]:
            executor.run(case)
            assert (target.rebuilt, target.refilled) == expected
        executor.run(one, fresh=True)
        assert (target.rebuilt, target.refilled) == (5, 2)


def test_a_counter_that_outlives_its_rows_forbids_refilling() -> None:
    target = ScriptedTarget(lambda s, sql: s.answer(ok()))
    target.auto_increment = True
    case = case_of("tx1 SELECT", setup=("CREATE TABLE t (a INT AUTO_INCREMENT PRIMARY KEY)",))
    with Executor(target) as executor:
        executor.run(case)
        executor.run(case)
    assert (target.rebuilt, target.refilled) == (2, 0)


def test_transaction_states_are_recorded() -> None:
    target = ScriptedTarget(lambda s, sql: s.answer(ok(0, NONE if sql == "COMMIT" else OPEN)))
    history = run(target, case_of("tx1 BEGIN", "tx1 COMMIT"))
    assert [(r.before, r.after) for r in history.records] == [(NONE, OPEN), (OPEN, NONE)]


def silent_target() -> ScriptedTarget:
    return ScriptedTarget(lambda _session, _sql: None)


@pytest.mark.parametrize(
    ("answer_s", "pause_s"),
    [(0.00001, FIRST_QUESTION_S[0]), (0.0002, 0.0002 * PATIENCE), (0.5, FIRST_QUESTION_S[1])],
    ids=["quick", "usual", "slow"],
)
def test_the_first_question_waits_for_as_long_as_answers_take(
    monkeypatch: pytest.MonkeyPatch, answer_s: float, pause_s: float
) -> None:
    clock = [0.0]
    monkeypatch.setattr(inquiry, "perf_counter", lambda: clock[0])
    asking = Inquiry(ScriptedWatch(silent_target()))
    for _ in range(200):
        asking.launched()
        clock[0] += answer_s
        asking.changed()
    asking.launched()
    assert asking.pause_s() == pytest.approx(pause_s, rel=0.01)


def test_a_wait_says_nothing_of_how_long_answers_take(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(inquiry, "perf_counter", lambda: clock[0])
    target = silent_target()
    session = target.open_session()
    target.on_question = lambda: {session: frozenset()}
    asking = Inquiry(ScriptedWatch(target))
    for _ in range(200):
        asking.launched()
        asking.ask([session], had_news=False)
        assert asking.answer() == {session: frozenset()}
        clock[0] += 60
        asking.changed()
    asking.launched()
    assert asking.pause_s() == FIRST_QUESTION_S[0]


@pytest.mark.parametrize("limit_s", [0.0002, 0.002])
def test_news_come_in_the_order_of_arrival(limit_s: float) -> None:
    target, listener = silent_target(), Listener()
    one, two = ScriptedSession(target), ScriptedSession(target)
    listener.listen_to(one)
    listener.listen_to(two)
    assert not listener.news(limit_s)
    two.answer(ok())
    one.answer(ok())
    assert list(listener.news(limit_s)) == [two, one]
    listener.close()


def test_who_was_cut_off_and_came_back_is_heard_through_the_new_descriptor() -> None:
    target, listener = silent_target(), Listener()
    one, two = ScriptedSession(target), ScriptedSession(target)
    listener.listen_to(one)
    before = one.fileno()
    one.close()
    three = ScriptedSession(target)
    assert three.fileno() == before  # the system gives the number to the next that asks
    listener.listen_to(three)
    listener.forget(one)
    listener.listen_to(two)
    three.answer(ok())
    assert list(listener.news(0.01)) == [three]
    listener.forget(three)
    assert not listener.news(0)
    listener.close()


def launches(history: History) -> list[str]:
    return [
        f"{event.session} {history.records[event.step].sql}"
        for event in history.events
        if event.kind is EventKind.LAUNCHED
    ]


def test_the_rest_of_a_step_goes_before_anybody_else_once_it_is_released() -> None:
    case = case_of(
        "tx1 UPDATE", "tx2 UPDATE", "tx2+ SELECT", "tx1 SELECT", "tx1 COMMIT", "tx3 SELECT", "tx2 COMMIT"
    )
    for strict in (False, True):
        history = run(Locks().target, replace(case, strict=strict))
        assert launches(history) == [
            "tx1 UPDATE",
            "tx2 UPDATE",
            "tx1 SELECT",
            "tx1 COMMIT",
            "tx2 SELECT",
            "tx3 SELECT",
            "tx2 COMMIT",
        ]


def test_the_rest_of_a_step_that_failed_is_omitted() -> None:
    def launch(session: ScriptedSession, sql: str) -> None:
        session.answer(error(ErrorKind.DUPLICATE_KEY) if sql == "INSERT" else ok())

    target = ScriptedTarget(launch)
    history = run(target, case_of("tx1 INSERT", "tx1+ SELECT", "tx1+ DELETE", "tx1 COMMIT"))
    assert launches(history) == ["tx1 INSERT", "tx1 COMMIT"]
    why = Omitted("an earlier statement of its step failed")
    assert [history.records[step].outcome for step in (1, 2)] == [why, why]


def test_the_commit_of_a_failed_transaction_does_not_cut_its_step_short() -> None:
    def launch(session: ScriptedSession, sql: str) -> None:
        session.answer(error(ErrorKind.TRANSACTION_STATE) if sql == "COMMIT" else ok())

    history = run(ScriptedTarget(launch), case_of("tx1 COMMIT", "tx1+ SELECT"))
    assert launches(history) == ["tx1 COMMIT", "tx1 SELECT"]


class TimingOut(Locks):
    """A statement that waits fails with a time-out a little later."""

    def launch(self, session: ScriptedSession, sql: str) -> None:
        super().launch(session, sql)
        if session in self.queue:
            Timer(0.1, self._give_up, [session]).start()

    def _give_up(self, session: ScriptedSession) -> None:
        self.queue.remove(session)
        session.answer(error(ErrorKind.LOCK_TIMEOUT))


def test_what_is_awaited_ends_before_the_schedule_goes_on() -> None:
    case = case_of("tx1 UPDATE", "tx2 UPDATE -- await tx2", "tx1 COMMIT")
    history = run(TimingOut().target, case)
    assert events(history)[2:] == [
        "launched tx2 1",
        "blocked tx2 1 by tx1",
        "completed tx2 1",
        "launched tx1 2",
        "completed tx1 2",
    ]


def test_what_is_awaited_in_vain_holds_nobody_up_for_ever() -> None:
    case = case_of("tx1 UPDATE", "tx2 UPDATE -- await tx2", "tx1 COMMIT")
    history = run(Locks().target, case, Limits(statement_s=0.05))
    assert history.records[1].outcome == Affected(1)


def test_in_a_strict_order_a_waiting_session_holds_up_the_others() -> None:
    steps = ("tx1 UPDATE", "tx2 UPDATE", "tx2 SELECT", "tx3 SELECT", "tx1 COMMIT")
    strict = run(TimingOut().target, case_of(*steps, strict=True))
    assert [step.split()[0] for step in launches(strict)] == ["tx1", "tx2", "tx2", "tx3", "tx1"]


def test_a_strict_order_that_cannot_be_kept_is_given_up() -> None:
    case = case_of("tx1 UPDATE", "tx2 UPDATE", "tx2 SELECT", "tx1 COMMIT", strict=True)
    history = run(Locks().target, case, Limits(statement_s=0.05))
    assert launches(history) == ["tx1 UPDATE", "tx2 UPDATE", "tx1 COMMIT", "tx2 SELECT"]


def test_the_teardown_runs_last_and_its_errors_are_only_told() -> None:
    sent: list[str] = []

    def launch(session: ScriptedSession, sql: str) -> None:
        sent.append(sql)
        session.answer(error(ErrorKind.NO_SUCH_OBJECT) if sql == "DROP ROLE r" else ok())

    case = replace(case_of("tx1 SELECT"), teardown=(Statement("DROP ROLE r"), Statement("DROP TABLE t")))
    target = ScriptedTarget(launch)
    with Executor(target) as executor:
        history = executor.run(case)
        assert sent == ["SELECT", "DROP ROLE r", "DROP TABLE t"]
        ((sql, failure),) = history.teardown_failures
        assert sql == "DROP ROLE r"
        assert isinstance(failure, Failed)
        assert history.final == {"t": ((1,),)}
        executor.run(case)
        assert target.rebuilt == 2, "after a teardown nothing can be refilled"


@pytest.mark.parametrize(
    "statements",
    [("BEGIN", "UPDATE t SET a = 1", "COMMIT"), ("UPDATE t SET a = 1",), ("BEGIN", "DROP TABLE t")],
    ids=["commit", "autocommit", "implicit"],
)
def test_what_may_have_committed_when_its_connection_was_lost_is_indeterminate(
    statements: tuple[str, ...],
) -> None:
    lost = error(ErrorKind.CONNECTION_LOST, Undone.CONNECTION, NONE)
    target = ScriptedTarget(lambda s, sql: s.answer(lost if sql == statements[-1] else ok()))
    history = run(target, case_of(*(f"tx1 {sql}" for sql in statements)))
    assert history.records[-1].outcome == Indeterminate("0", "connection-lost")
    assert history.indeterminate == (history.records[-1],)
    assert not any(event.kind is EventKind.ABORTED for event in history.events)


@pytest.mark.parametrize(
    "statements",
    [("BEGIN", "UPDATE t SET a = 1"), ("SELECT 1",), ("BEGIN", "UPDATE t SET a = 1", "ROLLBACK")],
    ids=["inside", "query", "rollback"],
)
def test_what_cannot_have_committed_has_failed(statements: tuple[str, ...]) -> None:
    lost = error(ErrorKind.CONNECTION_LOST, Undone.CONNECTION, NONE)
    target = ScriptedTarget(lambda s, sql: s.answer(lost if sql == statements[-1] else ok()))
    history = run(target, case_of(*(f"tx1 {sql}" for sql in statements)))
    assert isinstance(history.records[-1].outcome, Failed)
    assert history.indeterminate == ()


def test_a_statement_that_was_never_sent_has_failed() -> None:
    unsent = error(ErrorKind.CONNECTION_LOST, Undone.NOTHING, NONE)
    target = ScriptedTarget(lambda s, sql: s.answer(unsent))
    assert run(target, case_of("tx1 UPDATE t SET a = 1")).indeterminate == ()


class Countdown:
    """A client that sends as many more statements as the last answer counted."""

    def __init__(self) -> None:
        self._given = 0
        self._left = 1
        self.answers: list[object] = []

    def next(self, free: Collection[str]) -> Step | None:
        if "tx1" not in free or self._left == 0:
            return None
        self._given += 1
        return Step(self._given - 1, "tx1", Statement(f"UPDATE {self._left}"))

    def replied(self, step: Step, record: Record) -> None:
        self.answers.append(record.outcome)
        assert isinstance(record.outcome, Affected)
        self._left = record.outcome.count

    @property
    def is_held_up(self) -> bool:
        return False

    def let_overtake(self) -> None:
        pass

    def rest(self) -> tuple[Step, ...]:
        return ()


def test_a_feed_may_go_on_from_what_it_is_answered() -> None:
    counts = iter((2, 1, 0))
    target = ScriptedTarget(lambda s, sql: s.answer(ok(next(counts))))
    feed: Feed = Countdown()
    sessions = replace(case_of("tx1 SELECT"), schedule=(), transactions=(Transaction("tx1", None, ()),))
    with Executor(target) as executor:
        history = executor.run_feed(sessions, feed)
    assert [step.sql for step in history.case.steps] == ["UPDATE 1", "UPDATE 2", "UPDATE 1"]
    assert [record.outcome for record in history.records] == [Affected(2), Affected(1), Affected(0)]
    assert history.final == target.state_now
