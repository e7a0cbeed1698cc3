"""What documentation and literature say of the classical anomalies, for each DBMS and level.

Data to hold against what `acidtest levels` observes. An anomaly that is not named as occurring is prevented.
"""

from dataclasses import dataclass, field

from acidtest.model import Level
from acidtest.model.version import version_numbers

DIRTY = frozenset(
    {
        "p1-dirty-read",
        "g1a-aborted-read",
        "g1b-intermediate-read",
        "g1c-circular-information-flow",
        "otv-observed-transaction-vanishes",
    }
)
"""What reading uncommitted data lets in."""

WRITE_SKEWS = frozenset({"g2-item-write-skew", "g2-anti-dependency-cycle", "g2-read-only-anomaly"})
"""What a snapshot of its own for each transaction lets in."""

CURRENT_WRITES = frozenset(
    {"p4-lost-update", "g-single-read-skew-write-predicate", "p3-phantom-write-predicate"}
)
"""What writes that look past the snapshot let in."""

NEW_SNAPSHOTS = (
    frozenset(
        {
            "p2-fuzzy-read",
            "p3-phantom",
            "pmp-predicate-many-preceders",
            "g-single-read-skew",
            "g-single-read-skew-predicate",
        }
    )
    | CURRENT_WRITES
    | WRITE_SKEWS
)
"""What a new snapshot for each statement lets in."""


@dataclass(frozen=True, slots=True)
class Documented:
    """What a DBMS lets in at a level, why, and who says so. `since`: from this version on."""

    dbms: str
    level: Level
    why: str
    link: str
    occurs: frozenset[str] = field(default_factory=frozenset)
    since: tuple[int, ...] = ()


_MYSQL = "https://dev.mysql.com/doc/refman/8.4/en/innodb-transaction-isolation-levels.html"
_MARIADB = (
    "https://mariadb.com/docs/server/reference/sql-statements/transactions/transactions-isolation-levels"
)
_POSTGRES = "https://www.postgresql.org/docs/current/transaction-iso.html"
_SQLITE = "https://www.sqlite.org/isolation.html"
_DUCKDB = "https://duckdb.org/docs/stable/sql/statements/transactions"


def _innodb(dbms: str, link: str) -> tuple[Documented, ...]:
    return (
        Documented(
            dbms,
            Level.READ_UNCOMMITTED,
            "plain reads take the newest version of a row, committed or not; writes wait for each other",
            link,
            DIRTY | NEW_SNAPSHOTS,
        ),
        Documented(
            dbms,
            Level.READ_COMMITTED,
            "each plain read has a snapshot of its own, and writes see the newest committed version",
            link,
            NEW_SNAPSHOTS,
        ),
        Documented(
            dbms,
            Level.REPEATABLE_READ,
            "plain reads share one snapshot, but UPDATE and DELETE look past it at the newest committed "
            "version: updates are lost and conditions of writes do not fit what was read",
            link,
            CURRENT_WRITES | WRITE_SKEWS | {"pmp-write-predicate"},
        ),
        Documented(
            dbms,
            Level.SERIALIZABLE,
            "plain reads lock the rows and gaps they pass, so conflicts wait or end in a deadlock",
            link,
        ),
    )


DOCUMENTED = (
    *_innodb("mysql", _MYSQL),
    *_innodb("mariadb", _MARIADB),
    Documented(
        "mariadb",
        Level.REPEATABLE_READ,
        "innodb_snapshot_isolation is ON by default from 11.6.2: a write to a row that is newer than the "
        "snapshot fails with error 1020, which makes the level snapshot isolation",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables"
        "#innodb_snapshot_isolation",
        WRITE_SKEWS,
        since=(11, 6, 2),
    ),
    Documented(
        "postgres",
        Level.READ_UNCOMMITTED,
        "it is READ COMMITTED under another name: PostgreSQL never shows uncommitted data",
        _POSTGRES,
        NEW_SNAPSHOTS | {"pmp-write-predicate"},
    ),
    Documented(
        "postgres",
        Level.READ_COMMITTED,
        "each statement has a snapshot of its own; a write that waited tests its condition again on the new "
        "version of the rows it had found, but does not look for others",
        _POSTGRES,
        NEW_SNAPSHOTS | {"pmp-write-predicate"},
    ),
    Documented(
        "postgres",
        Level.REPEATABLE_READ,
        "snapshot isolation: a write to a row that is newer than the snapshot fails with 40001",
        _POSTGRES,
        WRITE_SKEWS,
    ),
    Documented(
        "postgres",
        Level.SERIALIZABLE,
        "serializable snapshot isolation: dangerous patterns of anti-dependencies fail with 40001",
        _POSTGRES,
    ),
    Documented(
        "sqlite",
        Level.SERIALIZABLE,
        "one writer at a time, and a transaction that has read an old state may not write any more",
        _SQLITE,
    ),
    Documented(
        "duckdb",
        Level.SNAPSHOT,
        "snapshot isolation with optimistic writes: who writes a row second gets an error",
        _DUCKDB,
        WRITE_SKEWS,
    ),
)


def documented(dbms: str, version: str, level: Level) -> Documented | None:
    """What is said of that DBMS in that version at that level, or None where we know of nothing."""
    have = version_numbers(version)
    fitting = [one for one in DOCUMENTED if (one.dbms, one.level) == (dbms, level) and one.since <= have]
    return max(fitting, key=lambda one: one.since, default=None)
