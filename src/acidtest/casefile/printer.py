"""From a Case to the text of a case file, which reads back as the same Case."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import zip_longest

from acidtest.casefile.expectations import format_expectation
from acidtest.casefile.front import NOWHERE, WITHOUT_TRANSACTIONS
from acidtest.casefile.parser import parse_case
from acidtest.errors import UsageError
from acidtest.model import Bug, Case, Level, Statement, Step, Transaction
from acidtest.sql.split import (
    RULES,
    STANDARD,
    Rules,
    Terminator,
    TokenKind,
    UnterminatedError,
    rules_for,
    tokens,
)

_LINE_LENGTH_MAX = 100
_EXPECT_COLUMN = 40


def print_case(case: Case) -> str:
    """The case as the text of a case file; a ValueError says why it cannot be written as one."""
    _refuse_unwritable(case)
    rules = rules_for(target.dbms for target in case.targets)
    lines = [*front_lines(case)]
    if case.setup:
        lines.append("-- setup")
        lines.extend(terminated(statement.sql, rules) for statement in case.setup)
    lines.append("-- schedule")
    width = max(len(session_mark(step)) for step in case.steps)
    for step in case.steps:
        lines.extend(_step_lines(step, width, rules))
    if case.expect_final:
        lines.append("-- final")
        lines.extend(map(format_expectation, case.expect_final))
    if case.teardown:
        lines.append("-- teardown")
        lines.extend(terminated(statement.sql, rules) for statement in case.teardown)
    text = "\n".join(lines) + "\n"
    _verify(case, text)
    return text


def _refuse_unwritable(case: Case) -> None:
    """Refuse what has no place in the format, with the reason; `_verify` finds what is left."""
    if not case.schedule:
        raise ValueError("a case without statements cannot be written")
    if any(statement != Statement(statement.sql) for statement in (*case.setup, *case.teardown)):
        raise ValueError("an expectation or mark on a set-up or teardown statement cannot be written")
    if tuple(dict.fromkeys(case.schedule)) != tuple(tx.name for tx in case.transactions):
        raise ValueError("transactions that are not in the order of their first statements cannot be written")
    unknown = [target.dbms for target in case.targets if target.dbms not in RULES]
    if unknown:
        raise ValueError(f"the unknown target {unknown[0]!r} cannot be written")


def front_lines(case: Case) -> Iterator[str]:
    """The front block of a case file."""
    yield f"-- id: {case.id}"
    if case.title:
        yield f"-- title: {case.title}"
    yield from (f"-- link: {link}" for link in case.links)
    yield from ("-- target: " + " ".join([target.dbms, *target.versions]) for target in case.targets)
    yield from _levels(case.transactions)
    if case.strict:
        yield "-- order: strict"
    yield from (f"-- server: {option}" for option in case.server)
    if case.repeat > 1:
        yield f"-- repeat: {case.repeat}"
    if case.compared:
        yield f"-- compare: {WITHOUT_TRANSACTIONS}"
    if case.bug is not None:
        yield from bug_lines(case.bug)
    yield from (f"-- {line}".rstrip() for line in case.story)


def bug_lines(bug: Bug) -> Iterator[str]:
    """The lines of the front block that tell what is known of a bug."""
    yield f"-- status: {bug.status}"
    if bug.kind is not None:
        yield f"-- kind: {bug.kind}"
    for key, text in (("reported", bug.reported), ("fixed", bug.fixed), ("paper", bug.paper)):
        if text:
            yield f"-- {key}: {text}"
    if bug.levels:
        yield f"-- levels: {short_names(bug.levels)}"
    yield from (f"-- seen: {one.target} {short_names(one.levels) or NOWHERE}" for one in bug.seen)


def short_names(levels: Iterable[Level]) -> str:
    """Levels by their short names."""
    return ", ".join(level.short for level in levels)


def _levels(transactions: tuple[Transaction, ...]) -> Iterator[str]:
    """One line for all where they agree, else the most common level and the exceptions."""
    common, count = Counter(tx.level for tx in transactions).most_common(1)[0]
    general: Level | None = None
    if all(tx.level for tx in transactions) and (count > 1 or len(transactions) == 1):
        general = common
        yield f"-- level: {common}"
    for tx in transactions:
        if tx.level and tx.level is not general:
            yield f"-- level {tx.name}: {tx.level}"


def _step_lines(step: Step, width: int, rules: Rules) -> Iterator[str]:
    statement = f"{session_mark(step).ljust(width)} {terminated(step.sql, rules)}"
    expectations = [*await_lines(step), *map(format_expectation, step.statement.expect)]
    if len(expectations) == 1:
        # Only the last line of a statement counts for the place of what follows it.
        head, newline, last = statement.rpartition("\n")
        joined = f"{last.ljust(_EXPECT_COLUMN)} {expectations[0]}"
        if len(joined) <= _LINE_LENGTH_MAX:
            yield head + newline + joined
            return
    yield statement
    yield from expectations


def session_mark(step: Step) -> str:
    """The comment that names a step's session."""
    mark = "+" if step.statement.joined else "&" if step.statement.parallel else ""
    return f"/* {step.session}{mark} */"


def await_lines(step: Step) -> Iterator[str]:
    """The line that says whom a step awaits, if it does."""
    awaits = step.statement.awaits
    if awaits:
        yield "-- await" if awaits == (step.session,) else f"-- await {', '.join(awaits)}"


def terminated(sql: str, rules: Rules = STANDARD) -> str:
    """The statement with its semicolon, on a line of its own where a comment would swallow it. Semicolons
    inside a script stand behind a backslash."""
    text = ""
    terminator = Terminator()
    kind = TokenKind.SPACE
    try:
        for token in tokens(sql, rules):
            kind = token.kind
            if terminator.ends_with(token):
                text += "\\"
                terminator = Terminator()
            text += token.text
    except UnterminatedError as problem:
        raise ValueError(f"a statement cannot be written, {problem}: {sql}") from None
    return text + ("\n;" if kind is TokenKind.LINE_COMMENT else ";")


def _verify(case: Case, text: str) -> None:
    """Whatever would read back differently (a semicolon inside a statement, a newline in a title, a story
    line that looks like a key) is refused rather than written wrongly."""
    try:
        text.encode("utf-8")
        again = parse_case(text, "case")
    except UnicodeEncodeError:
        raise ValueError("a character that UTF-8 cannot hold cannot be written") from None
    except UsageError as problem:
        raise ValueError(f"the case cannot be written, it would not be read: {problem}") from None
    if again != case:
        raise ValueError(f"the case cannot be written, {_difference(case, again)}")


_FIELDS = (
    "id",
    "title",
    "links",
    "story",
    "targets",
    "strict",
    "server",
    "repeat",
    "compared",
    "bug",
    "setup",
    "schedule",
    "transactions",
    "expect_final",
    "teardown",
)


def _difference(case: Case, again: Case) -> str:
    for name in _FIELDS:
        meant, read = _parts(getattr(case, name)), _parts(getattr(again, name))
        for one, other in zip_longest(meant, read):
            if one != other:
                return f"its {name} would be read differently: {one!r} as {other!r}"
    return "it would be read differently"


def _parts(value: object) -> list[object]:
    """The parts of a field, to name the first that differs."""
    if isinstance(value, Transaction):
        return [value.name, value.level, *value.statements]
    return [part for item in value for part in _parts(item)] if isinstance(value, tuple) else [value]
