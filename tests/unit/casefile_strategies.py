"""Hypothesis strategies for cases that the case-file format can hold."""

from dataclasses import replace
from datetime import UTC, timedelta, timezone
from decimal import Decimal

from hypothesis import strategies as st

from acidtest.model import (
    Bug,
    BugKind,
    BugStatus,
    Case,
    Condition,
    ErrorKind,
    ExpectAffected,
    Expectation,
    ExpectBlocked,
    ExpectEnd,
    ExpectError,
    ExpectLike,
    ExpectOk,
    ExpectResumed,
    ExpectRows,
    ExpectWarning,
    FinalExpectation,
    Level,
    Sighting,
    Statement,
    TargetConstraint,
    Value,
    interleave,
)

# Pieces that are closed in themselves in every dialect, and that a careless reader trips over.
_COMMON_PIECES = [
    "SELECT 1",
    "UPDATE t SET a = 1",
    "\n  WHERE b = 2",
    "\n\n",
    "'a;b'",
    "'it''s'",
    "'-- no comment'",
    "'/* none */ */'",
    "'# none'",
    "'-- expect: (1)'",
    "'\n-- final\n'",
    "'\n/* tx1 */ BEGIN;\n'",
    '"quoted;""id"',
    "`back;``quoted -- `",
    "/*+ INDEX(t a) */",
    "/*! STRAIGHT_JOIN */",
    "/* a comment; of several words */",
    "-- a comment; of the statement's\n",
    "$$ dollar; 'quote $$",
    "$x$ $$ ; $y$ $x$",
    "a$b$c",
    "é 漢字 😀",
    "E'a\\';'",
    "CASE WHEN a THEN b END",
    "\t",
    "(1, 2)",
    "--\n",
]
_MYSQL_PIECES = [
    r"'it\'s; \\'",
    r'"a\";"',
    "# comment; of MySQL\n",
    "5--3",
    "/* /* not nested */",
    "/*!50000 'x*/;' ; */",
]
_STANDARD_PIECES = [r"'C:\'", "a # b", "/* nested; /* twice */ ; */", "1 --comment; without space\n"]

_LEVELS = st.sampled_from(Level)
_LEVEL_TUPLES = st.lists(_LEVELS, max_size=3, unique=True).map(tuple)
_LINES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=20)
_ONE_LINE = _LINES.map(str.strip).filter(lambda line: bool(line) and not line.startswith("\ufeff"))
_NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,7}", fullmatch=True)


def values() -> st.SearchStrategy[Value]:
    """Values of every type that a DBMS may return, but NaN, which equals nothing."""
    return st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False),
        st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**20), max_value=10**20),
        st.just(Decimal("1.50")),
        st.text(max_size=10),
        st.text(alphabet="a;'\\\n\r\t\x00\u2028é😀", max_size=6),
        st.binary(max_size=5),
        st.dates(),
        st.datetimes(timezones=st.sampled_from([None, UTC, timezone(timedelta(hours=-3, minutes=-30))])),
        st.times(),
        st.timedeltas(),
    )


def rows() -> st.SearchStrategy[tuple[tuple[Value, ...], ...]]:
    """A few rows, of any width."""
    return st.lists(st.lists(values(), max_size=3).map(tuple), max_size=3).map(tuple)


def conditions(sessions: list[str]) -> st.SearchStrategy[Condition]:
    """Every kind of condition."""
    codes = st.from_regex(r"[0-9]{1,5}|[0-9A-Z]{5}|-[0-9]{4}", fullmatch=True)
    blockers = st.lists(st.sampled_from(sessions), max_size=2).map(tuple)
    return st.one_of(
        st.builds(ExpectRows, rows(), st.booleans()),
        st.builds(ExpectAffected, st.integers(0, 10**6)),
        st.just(ExpectOk()),
        st.builds(ExpectError, st.none() | st.sampled_from(ErrorKind), st.none() | codes),
        st.builds(ExpectBlocked, st.just(True), blockers),
        st.just(ExpectBlocked(blocked=False)),
        st.builds(ExpectResumed, st.sampled_from(sessions).map(lambda name: (name,))),
        st.just(ExpectEnd()),
        st.builds(ExpectWarning, st.none() | codes, st.booleans()),
        st.builds(ExpectLike, st.sampled_from(["a", "^it's \\d+$", "(x|y)", "ä"]), st.booleans()),
    )


def bugs() -> st.SearchStrategy[Bug]:
    """What is known of a bug."""
    sightings = st.builds(Sighting, st.sampled_from(["mariadb@10.11.19", "tidb@5.4.2"]), _LEVEL_TUPLES)
    words = st.just("") | st.sampled_from(["10.5.9", "5.7, 8.0", "before 4.0.9"])
    return st.builds(
        Bug,
        st.sampled_from(BugStatus),
        st.none() | st.sampled_from(BugKind),
        words,
        words,
        st.just("") | st.just("Troc"),
        _LEVEL_TUPLES,
        st.lists(sightings, max_size=2).map(tuple),
    )


def expectations(sessions: list[str]) -> st.SearchStrategy[Expectation]:
    """Alternatives of conjunctions, for some or all levels."""
    conjunctions = st.lists(conditions(sessions), min_size=1, max_size=3).map(tuple)
    return st.builds(Expectation, st.lists(conjunctions, min_size=1, max_size=3).map(tuple), _LEVEL_TUPLES)


def finals() -> st.SearchStrategy[FinalExpectation]:
    """Final rows of a table with any name."""
    tables = _ONE_LINE | st.sampled_from(["t", "at", "a.b", "my table", 'say "x": y'])
    return st.builds(
        FinalExpectation, tables, st.lists(rows(), min_size=1, max_size=2).map(tuple), _LEVEL_TUPLES
    )


def statements(pieces: list[str]) -> st.SearchStrategy[str]:
    """SQL-like text with everything that a reader must not trip over."""
    bodies = st.lists(st.sampled_from(pieces) | st.sampled_from(pieces[:3]), min_size=1, max_size=6)
    return bodies.map(lambda body: ("SELECT " + " ".join(body)).strip())


def _maybe_parallel(statement: Statement) -> st.SearchStrategy[Statement]:
    """A joined statement cannot run beside the next."""
    choice = st.just(False) if statement.joined else st.booleans()
    return choice.map(lambda parallel: replace(statement, parallel=parallel))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Cases that the format can hold."""
    mysql = draw(st.booleans())
    dbms = ["mysql", "mariadb", "tidb", "seekdb"] if mysql else ["postgres", "sqlite", "duckdb"]
    bounds = st.from_regex(r"(>=|<=|>|<|=|)[0-9]{1,2}(\.[0-9]{1,2}){0,2}", fullmatch=True)
    targets = draw(
        st.lists(
            st.builds(TargetConstraint, st.sampled_from(dbms), st.lists(bounds, max_size=2).map(tuple)),
            min_size=1 if mysql else 0,
            max_size=2,
        )
    )
    sql = statements(_COMMON_PIECES + (_MYSQL_PIECES if mysql else _STANDARD_PIECES))
    sessions = draw(st.lists(_NAMES, min_size=1, max_size=4, unique=True))
    step = st.tuples(
        st.sampled_from(sessions),
        st.builds(
            Statement,
            sql | st.lists(sql, min_size=2, max_size=3).map("\n;".join),
            st.lists(expectations(sessions), max_size=2).map(tuple),
            st.booleans(),
            awaits=st.lists(st.sampled_from(sessions), max_size=2).map(tuple),
        ).flatmap(_maybe_parallel),
    )
    # Every session takes part, so that it may be named as a blocker.
    steps = [(name, Statement("BEGIN")) for name in sessions] + draw(st.lists(step, max_size=5))
    levels = draw(st.fixed_dictionaries({name: st.none() | _LEVELS for name in sessions}))
    if draw(st.booleans()):
        levels = dict.fromkeys(sessions, draw(_LEVELS))
    transactions, schedule = interleave(steps, levels)
    return Case(
        id=draw(_ONE_LINE),
        setup=tuple(map(Statement, draw(st.lists(sql, max_size=3)))),
        transactions=transactions,
        schedule=schedule,
        title=draw(st.just("") | _ONE_LINE),
        links=tuple(draw(st.lists(_ONE_LINE, max_size=2))),
        story=tuple(draw(st.lists(_LINES.map(lambda line: ("A" + line).rstrip()) | st.just(""), max_size=3))),
        targets=tuple(targets),
        expect_final=tuple(draw(st.lists(finals(), max_size=2))),
        teardown=tuple(map(Statement, draw(st.lists(sql, max_size=2)))),
        strict=draw(st.booleans()),
        server=tuple(draw(st.lists(st.sampled_from(["--log-bin=on", "-c work_mem=64kB"]), max_size=2))),
        repeat=draw(st.integers(1, 1000)),
        compared=draw(st.booleans()),
        bug=draw(st.none() | bugs()),
    )
