"""What `simpler` means: one explicit total order of cases, the same for every layer and policy."""

import re

from acidtest.model import Case

_TOKEN = re.compile(r"\w+|[^\w\s]")

Rank = tuple[int, int, int, int, int, int, int, int, tuple[str, ...]]


def order(case: Case) -> Rank:
    """The rank of a case; of two cases the one with the smaller rank is simpler.

    Fewer transactions, then fewer statements, fewer of them in the schedule, fewer marks and statements of
    the teardown, then fewer tokens, characters, switches between sessions and sessions that are not called
    tx1, tx2..; what is left are names and values, where the text decides: `a` before `b`, `0` before `1`.
    """
    texts = texts_of(case)
    return (
        len(case.transactions),
        len(texts),
        len(case.schedule),
        marks(case),
        sum(len(_TOKEN.findall(text)) for text in texts),
        characters(case),
        switches(case),
        sum(tx.name != f"tx{number}" for number, tx in enumerate(case.transactions, start=1)),
        (*texts, *case.schedule),
    )


def marks(case: Case) -> int:
    """What the case says beside its statements."""
    marked = sum(step.statement.joined + len(step.statement.awaits) for step in case.steps)
    return marked + case.strict + len(case.teardown)


def texts_of(case: Case) -> tuple[str, ...]:
    """All statements: the set-up, then the schedule in its order."""
    return tuple(statement.sql for statement in case.setup) + tuple(step.sql for step in case.steps)


def characters(case: Case) -> int:
    """The length of the SQL, which Fucci's reduction rate is about."""
    return sum(map(len, texts_of(case)))


def switches(case: Case) -> int:
    """How often the schedule goes from one session to another."""
    pairs = zip(case.schedule, case.schedule[1:], strict=False)
    return sum(one != other for one, other in pairs)
