"""Known bugs and documented quirks as data: what a claim becomes with them, and which servers have them.

A violation is *explained* by a deviation if a walk under the deviating claim predicts just what was observed
(`oracles/explaining.py`). So nothing is hidden here: a deviation has to account for every row, count, error
and wait of the history.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations

from acidtest.claims.base import Claim
from acidtest.claims.innodb import LEVELS as INNODB_LEVELS
from acidtest.claims.innodb import SNAPSHOT_ISOLATION
from acidtest.claims.tidb import MODE, OPTIMISTIC
from acidtest.model import Known, Level, Status, TargetConstraint
from acidtest.model.version import is_within

_RU, _RC = Level.READ_UNCOMMITTED, Level.READ_COMMITTED
_RR, _SER, _SI = Level.REPEATABLE_READ, Level.SERIALIZABLE, Level.SNAPSHOT
_SNAPSHOT_ISOLATION = "innodb_snapshot_isolation"


@dataclass(frozen=True, slots=True)
class Deviation:
    """A behaviour that differs from the claim. `changes` are the fields of the claim that become something
    else; `servers`, `levels` and `settings` say who has it."""

    known: Known
    servers: tuple[TargetConstraint, ...]
    levels: frozenset[Level]
    changes: Mapping[str, object]
    settings: Mapping[str, str] = field(default_factory=dict)
    without: Mapping[str, str] = field(default_factory=dict)
    """Settings with which it does not occur."""

    def is_had_by(self, dbms: str, version: str, level: Level, settings: Mapping[str, str]) -> bool:
        """Whether a server has it at a level."""
        return (
            level in self.levels
            and any(one.dbms == dbms and is_within(version, one.versions) for one in self.servers)
            and all(settings.get(name) == value for name, value in self.settings.items())
            and not any(settings.get(name) == value for name, value in self.without.items())
        )

    def applied_to(self, claim: Claim) -> Claim:
        """The claim as it is with the deviation."""
        return replace(claim, **self.changes)  # type: ignore[arg-type]


def _on(*names: str) -> tuple[TargetConstraint, ...]:
    """Servers such as `mariadb >=11.6.2 <12`."""
    return tuple(TargetConstraint(name, tuple(bounds)) for name, *bounds in map(str.split, names))


def _turned_on(*fields: str) -> Mapping[str, object]:
    return dict.fromkeys(fields, True)


_SAME_VALUE_ON_MYSQL = Known(
    "MYSQL-100328",
    "an own write that leaves a row as another committed it is not seen (same-value update)",
    Status.DISPUTED,
    "https://bugs.mysql.com/bug.php?id=100328",
)

DEVIATIONS = (
    Deviation(
        Known(
            "MDEV-26643",
            "an UPDATE passes by locked rows that did not match when last committed (semi-consistent read)",
            Status.DOCUMENTED,
            INNODB_LEVELS,
        ),
        _on("mysql", "mariadb"),
        frozenset({_RU, _RC}),
        _turned_on("passes_by_unmatched"),
    ),
    Deviation(
        Known(
            "MDEV-27992",
            "a statement that waited misses a row whose key moved meanwhile",
            Status.CONFIRMED,
            "https://jira.mariadb.org/browse/MDEV-27992",
        ),
        _on("mysql", "mariadb"),
        frozenset({_RU, _RC}),
        _turned_on("moved_is_new_row"),
    ),
    Deviation(
        Known(
            "MDEV-32898",
            "the snapshot still shows a row under its old key after an own write under the new one",
            Status.CONFIRMED,
            "https://jira.mariadb.org/browse/MDEV-32898",
        ),
        _on("mysql", "mariadb"),
        frozenset({_RR}),
        _turned_on("moved_is_new_row"),
        without={_SNAPSHOT_ISOLATION: "ON"},
    ),
    Deviation(
        Known(
            "TIDB-33315",
            "the snapshot still shows a row under its old key after an own write under the new one",
            Status.DISPUTED,
            "https://github.com/pingcap/tidb/issues/33315",
        ),
        _on("tidb"),
        frozenset({_RC, _RR}),
        _turned_on("moved_is_new_row"),
        without={MODE: OPTIMISTIC},
    ),
    Deviation(
        Known(
            "TIDB-46900",
            "the snapshot shows a row that another deleted beside an own new row with the same primary key",
            Status.CONFIRMED,
            "https://github.com/pingcap/tidb/issues/46900",
        ),
        _on("tidb >=5.0"),
        frozenset({_RR}),
        _turned_on("keys_repeat_unless_clustered"),
        without={MODE: OPTIMISTIC},
    ),
    Deviation(
        Known(
            "TIDB-28011",
            "a read over a unique index returns a row twice that the transaction has locked by its key",
            Status.CONFIRMED,
            "https://github.com/pingcap/tidb/issues/28011",
        ),
        # came with pull request 25730, went with 42642
        _on("tidb >=5.0.4 <7.1"),
        frozenset({_RC, _RR}),
        _turned_on("repeats_locked_row"),
    ),
    Deviation(
        Known(
            "MDEV-26642",
            "an own write that leaves a row as another committed it is not seen (same-value update)",
            Status.CONFIRMED,
            "https://jira.mariadb.org/browse/MDEV-26642",
        ),
        _on("mariadb"),
        frozenset({_RR}),
        _turned_on("unchanged_is_unwritten"),
        without={_SNAPSHOT_ISOLATION: "ON"},
    ),
    Deviation(
        Known(
            "TIDB-28212",
            "an own write that leaves a row as another committed it is not seen (same-value update)",
            Status.CONFIRMED,
            "https://github.com/pingcap/tidb/issues/28212",
        ),
        _on("tidb"),
        frozenset({_RR}),
        _turned_on("unchanged_is_unwritten"),
        without={MODE: OPTIMISTIC},
    ),
    Deviation(
        _SAME_VALUE_ON_MYSQL,
        # Without the binary log only where the columns that are set are read as well (measured on 9.7).
        _on("mysql"),
        frozenset({_RR}),
        _turned_on("unchanged_read_is_unwritten"),
        without={"log_bin": "ON"},
    ),
    Deviation(
        _SAME_VALUE_ON_MYSQL,
        _on("mysql"),
        frozenset({_RR}),
        _turned_on("unchanged_is_unwritten"),
        settings={"log_bin": "ON"},
    ),
    Deviation(
        Known(
            "MDEV-33802",
            "a read that waited for an insert which was rolled back returns a row twice",
            Status.CONFIRMED,
            "https://jira.mariadb.org/browse/MDEV-33802",
        ),
        # seen on 10.5.23, not on 10.5.29 or 10.11.18; the report names 10.2 to 11.4
        _on("mariadb >=10.2 <10.5.29"),
        frozenset({_RR, _SER}),
        _turned_on("repeats_row_after_wait"),
    ),
    Deviation(
        Known(
            "MDEV-39874",
            "with innodb_snapshot_isolation an UPDATE passes by rows for what is not committed in them",
            Status.CONFIRMED,
            "https://jira.mariadb.org/browse/MDEV-39874",
        ),
        _on("mariadb >=11.6.2"),
        frozenset({_RU}),
        _turned_on("passes_by_dirty"),
        settings={_SNAPSHOT_ISOLATION: "ON"},
    ),
    Deviation(
        Known(
            "ACIDTEST-1",
            "a shared locking read over an index alone finds rows newer than the snapshot, no error 1020",
            Status.UNCONFIRMED,
            "https://jira.mariadb.org/browse/MDEV-40092",
        ),
        _on("mariadb"),
        frozenset({_RR}),
        _turned_on("misses_conflict_over_index"),
        settings={_SNAPSHOT_ISOLATION: "ON"},
    ),
    Deviation(
        Known(
            "ACIDTEST-5",
            "a statement over a secondary index passes by a row of its snapshot that is gone, no error 1020",
            Status.UNCONFIRMED,
            SNAPSHOT_ISOLATION,
        ),
        _on("mariadb"),
        frozenset({_RR}),
        _turned_on("misses_gone_over_index"),
        settings={_SNAPSHOT_ISOLATION: "ON"},
    ),
    Deviation(
        Known(
            "ACIDTEST-2",
            "ROLLBACK TO a savepoint that was set before the first read ends the transaction in the engine",
            Status.UNCONFIRMED,
            "https://mariadb.com/docs/server/reference/sql-statements/transactions/savepoint",
        ),
        _on("mysql", "mariadb"),
        frozenset({_RR, _SER}),
        _turned_on("savepoint_loses_snapshot"),
    ),
    Deviation(
        Known(
            "DUCKDB-17223",
            "an UPDATE and a DELETE of one row do not conflict, and the update is lost",
            Status.CONFIRMED,
            "https://github.com/duckdb/duckdb/issues/17223",
        ),
        _on("duckdb"),
        frozenset({_SI}),
        _turned_on("updates_and_deletes_agree", "indexed_update_is_new_row"),
    ),
    Deviation(
        Known(
            "ACIDTEST-4",
            "two transactions may update different columns of one row, and both commit",
            Status.UNCONFIRMED,
            "https://duckdb.org/docs/stable/connect/concurrency",
        ),
        _on("duckdb"),
        frozenset({_SI}),
        _turned_on("updates_merge_columns"),
    ),
    Deviation(
        Known(
            "ACIDTEST-3",
            "SERIALIZABLE does not count it as a read that INSERT .. ON CONFLICT came upon an existing row",
            Status.UNCONFIRMED,
            "https://hackorum.dev/topics/139733",
        ),
        _on("postgres"),
        frozenset({_SER}),
        _turned_on("upsert_reads_nothing"),
    ),
)

COMBINED_MAX = 3
"""So many deviations may show in one history."""


def deviations_of(
    dbms: str, version: str, levels: Mapping[str, Level], settings: Mapping[str, str]
) -> tuple[Deviation, ...]:
    """Those that a server has at one of these levels."""
    return tuple(
        one
        for one in DEVIATIONS
        if any(one.is_had_by(dbms, version, level, settings) for level in levels.values())
    )


def combinations_of(deviations: tuple[Deviation, ...]) -> list[tuple[Deviation, ...]]:
    """One alone, then two together, and so on."""
    return [chosen for size in range(1, COMBINED_MAX + 1) for chosen in combinations(deviations, size)]


def with_deviations(claim: Claim, deviations: tuple[Deviation, ...]) -> Claim:
    """The claim of a session with those that its level has."""
    for one in deviations:
        if claim.level in one.levels:
            claim = one.applied_to(claim)
    return claim
