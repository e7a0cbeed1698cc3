"""Why two right runs of one case differ: promises that differ, what no promise lays down, and documented
incompatibilities of two DBMSs, each with a link.

These are names. That both runs are right has been found before, by a walk along each under its own claim.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields

from acidtest.claims.base import Claim
from acidtest.model import DifferenceKind, ErrorKind, Failed, Known, RunDifference, Status

_LOCKS = ("plain_read_lock", "share_lock", "predicate_locks", "key_locks", "table_locks", "alone_locks")
_SIGHT = ("plain_read", "snapshot", "locking_read", "insert_select_reads")
_REST = ("rows_are_keys", "begin_commits", "savepoints_stack")

_TELLING: Mapping[DifferenceKind, tuple[str, ...]] = {
    DifferenceKind.WAIT: ("on_conflict", "one_writer", *_LOCKS, "write", *_SIGHT, *_REST),
    DifferenceKind.ERROR: (
        *("on_conflict", "one_writer", "upserts_in_snapshot", *_LOCKS, "write", *_SIGHT),
        *("conflict_errors", "may_fail", *_REST),
    ),
    DifferenceKind.ROWS: (*_SIGHT, "write", "on_conflict", "numbers_from_sequence", *_REST),
    DifferenceKind.COUNT: ("on_conflict", "write", *_SIGHT, *_REST),
    DifferenceKind.STATE: ("on_conflict", "write", *_SIGHT, "numbers_from_sequence", *_REST),
}
"""The fields of a claim that can be the reason for a difference of a kind, the most telling first."""

_WORDS: Mapping[str, str] = {
    "plain_read": "what a plain read sees",
    "snapshot": "when the snapshot is taken",
    "write": "what a write sees",
    "locking_read": "what a locking read sees",
    "on_conflict": "what a write does that meets another's",
    "insert_select_reads": "what subqueries of a write read",
    "one_writer": "how many transactions write at a time",
    "plain_read_lock": "what a plain read locks",
    "share_lock": "what a share-locking read locks",
    "predicate_locks": "whether conditions are locked",
    "key_locks": "how strong the lock of an update is",
    "table_locks": "whether statements lock their tables",
    "alone_locks": "whether a statement that commits by itself waits",
    "rows_are_keys": "whether a key that is used again is the same row",
    "upserts_in_snapshot": "whether an upsert fails at rows newer than its snapshot",
    "may_fail": "errors that may break off a transaction",
    "conflict_errors": "errors of a lost conflict",
    "begin_commits": "what BEGIN does inside a transaction",
    "savepoints_stack": "what becomes of a savepoint whose name is used again",
    "numbers_from_sequence": "where automatic numbers come from",
}


@dataclass(frozen=True, slots=True)
class Incompatibility:
    """A documented difference between two groups of DBMSs that has nothing to do with transactions."""

    known: Known
    some: frozenset[str]
    others: frozenset[str]
    shows_as: frozenset[DifferenceKind]

    def is_between(self, one: str, other: str) -> bool:
        """Whether one DBMS is of the first group and the other of the second, or the other way round."""
        return (one in self.some and other in self.others) or (other in self.some and one in self.others)


_RESULTS = frozenset(DifferenceKind) - {DifferenceKind.WAIT}
_MYSQLS = frozenset({"mysql", "mariadb", "tidb", "seekdb"})
_STANDARD = frozenset({"postgres", "duckdb", "sqlite"})

INCOMPATIBILITIES = (
    Incompatibility(
        Known(
            "counts-changed-rows",
            "MySQL and its kin count the rows that a write changed, others those that it found",
            Status.DOCUMENTED,
            "https://dev.mysql.com/doc/refman/8.4/en/mysql-affected-rows.html",
        ),
        _MYSQLS,
        _STANDARD,
        frozenset({DifferenceKind.COUNT}),
    ),
    Incompatibility(
        Known(
            "assigns-left-to-right",
            "an UPDATE of MySQL and its kin assigns from left to right, others all at once",
            Status.DOCUMENTED,
            "https://dev.mysql.com/doc/refman/8.4/en/update.html",
        ),
        _MYSQLS,
        _STANDARD,
        frozenset({DifferenceKind.ROWS, DifferenceKind.STATE}),
    ),
    Incompatibility(
        Known(
            "converts-types",
            "MySQL and SQLite convert values of other types by themselves, PostgreSQL and DuckDB refuse",
            Status.DOCUMENTED,
            "https://dev.mysql.com/doc/refman/8.4/en/type-conversion.html",
        ),
        _MYSQLS | {"sqlite"},
        frozenset({"postgres", "duckdb"}),
        _RESULTS,
    ),
    Incompatibility(
        Known(
            "typed-by-value",
            "SQLite stores a value of any type in any column",
            Status.DOCUMENTED,
            "https://www.sqlite.org/datatype3.html",
        ),
        frozenset({"sqlite"}),
        _MYSQLS,
        _RESULTS,
    ),
)

_OPEN = {
    DifferenceKind.WAIT: Known(
        "more-locks",
        "nothing lays down how much more a server may lock than it has to",
        Status.DOCUMENTED,
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-locks-set.html",
    ),
    DifferenceKind.ERROR: Known(
        "may-break-off",
        "both may break off a transaction, and did so at different places",
        Status.DOCUMENTED,
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-deadlocks-handling.html",
    ),
}
_VICTIM = Known(
    "deadlock-victim",
    "nothing lays down which transaction a deadlock costs, or whether one arises at all",
    Status.DOCUMENTED,
    "https://dev.mysql.com/doc/refman/8.4/en/innodb-deadlock-detection.html",
)
_SEVERAL_ANSWERS = Known(
    "several-answers",
    "several answers are right: the order of rows, LIMIT without an order, and what ran at the same time",
    Status.DOCUMENTED,
    "https://dev.mysql.com/doc/refman/8.4/en/limit-optimization.html",
)


def names_of(difference: RunDifference, here: Claim, there: Claim) -> tuple[Known, ...]:
    """Why two runs may differ in this, the most telling name first; never empty."""
    outcomes = (difference.here, difference.there)
    if any(isinstance(one, Failed) and one.kind is ErrorKind.DEADLOCK for one in outcomes):
        return (_VICTIM,)
    names = [*_promises(difference.kind, here, there), *_documented(difference.kind, here.dbms, there.dbms)]
    return tuple(names[:1]) or (_OPEN.get(difference.kind, _SEVERAL_ANSWERS),)


def same_promise(here: Claim, there: Claim) -> bool:
    """Whether two claims say the same, whoever makes them and wherever they are written down."""
    return all(getattr(here, one) == getattr(there, one) for one in _SUBSTANCE)


_SUBSTANCE = tuple(one.name for one in fields(Claim) if one.name not in ("dbms", "link", "grammar"))


def _promises(kind: DifferenceKind, here: Claim, there: Claim) -> Iterator[Known]:
    for name in _TELLING[kind]:
        if getattr(here, name) != getattr(there, name):
            title = f"the promises differ in {_WORDS[name]}"
            yield Known(f"promise:{name}", title, Status.DOCUMENTED, there.link)


def _documented(kind: DifferenceKind, here: str, there: str) -> Iterator[Known]:
    for one in INCOMPATIBILITIES:
        if kind in one.shows_as and one.is_between(here, there):
            yield one.known
