"""Claims with one field changed, and golden histories that are judged otherwise under them.

    python -m tests.golden.fields [FIELD...]

looks for such a history for every field (or these), every other value of it and every claim, and writes down
the first.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import click

from acidtest.claims import Claim, Lock, OnConflict, Sees, SnapshotAt, claims_of
from acidtest.model import ErrorKind, History, Phenomenon
from acidtest.oracles.graph import judge_walk
from acidtest.oracles.walks import HistoryWalk
from tests.golden.store import Golden, histories_of, servers
from tests.golden.told import TOLD

TABLE = Path(__file__).parent / "claim_fields.txt"

LABELS = {
    "dbms": "a name for people",
    "level": "a name; what the level means is in the other fields",
    "link": "where the promise is written",
}
"""Fields that decide nothing."""

_ENUMS = {
    "plain_read": Sees,
    "locking_read": Sees,
    "write": Sees,
    "insert_select_reads": Sees,
    "snapshot": SnapshotAt,
    "on_conflict": OnConflict,
    "plain_read_lock": Lock,
    "share_lock": Lock,
}
_SETS: dict[str, type[ErrorKind] | type[Phenomenon]] = {
    "may_fail": ErrorKind,
    "conflict_errors": ErrorKind,
    "moved_errors": ErrorKind,
    "excludes": Phenomenon,
}
_GRAMMARS = ("mysql", "postgres", "sqlite", "duckdb")


@dataclass(frozen=True, slots=True)
class Changed:
    """A claim of a server in which a field has another value."""

    field: str
    server: str
    level: str
    value: str


def others(claim: Claim, field: str) -> Iterator[tuple[str, Any]]:
    """Other values that a field may have, each with its name."""
    now = getattr(claim, field)
    if isinstance(now, bool):
        yield str(not now), not now
    elif field in _ENUMS:
        yield from ((one.name, one) for one in _ENUMS[field] if one is not now)
    elif field in _SETS:
        every = frozenset(_SETS[field])
        yield from ((name, one) for name, one in (("none", frozenset()), ("all", every)) if one != now)
    elif field == "grammar":
        yield from ((one, one) for one in _GRAMMARS if one != now)


def value_named(claim: Claim, field: str, name: str) -> Any:
    """The other value of that name; a claim that has it already keeps it."""
    return dict(others(claim, field)).get(name, getattr(claim, field))


def said_under(history: History, field: str, name: str) -> tuple[str, ...]:
    """What the oracles say if every claim has the other value."""
    claims = claims_of(history)
    assert claims is not None
    changed = claims.changed(lambda one: replace(one, **{field: value_named(one, field, name)}))
    return _said(HistoryWalk(history, changed))


def said_now(history: History) -> tuple[str, ...]:
    """What the oracles say under the true claims."""
    return _said(HistoryWalk(history))


def _said(walk: HistoryWalk) -> tuple[str, ...]:
    solver, graph = walk.verdict, judge_walk(walk)
    conflicts = f"{solver.unexplained_conflicts} conflicts without a reason"
    return (solver.judgement, conflicts, "" if graph is None else graph.judgement)


def read_table() -> dict[Changed, str]:
    """The id of a history that tells each changed claim from the true one, where there is one."""
    rows = (line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines())
    return {Changed(*row[:4]): row[4] for row in rows}


def claim_of(history: History) -> Claim | None:
    """The one claim of all its transactions, if there is one."""
    claims = claims_of(history)
    used = [] if claims is None else claims.used()
    return used[0] if used and all(one == used[0] for one in used) else None


def _by_claim() -> dict[Claim, tuple[str, list[Golden]]]:
    """Histories by their claim, with the first server that has it; releases of one DBMS share most."""
    found: dict[Claim, tuple[str, list[Golden]]] = {}
    for server in servers():
        for golden in histories_of(server):
            claim = claim_of(golden.history)
            if claim is not None and found.setdefault(claim, (server, []))[0] == server:
                found[claim][1].append(golden)
    return found


def search(names: Collection[str]) -> Iterator[tuple[Changed, str]]:
    """Every claim with one of these fields changed, and the first history that is judged otherwise."""
    for claim, (server, goldens) in _by_claim().items():
        now = {one.id: said_now(one.history) for one in goldens}
        for field in names:
            for name, _ in others(claim, field):
                telling = (one.id for one in goldens if said_under(one.history, field, name) != now[one.id])
                yield Changed(field, server, claim.level.short, name), next(telling, "")


def write_table(table: dict[Changed, str]) -> None:
    """Keep the table."""
    lines = ("\t".join((one.field, one.server, one.level, one.value, id)) + "\n" for one, id in table.items())
    TABLE.write_text("".join(sorted(lines)), encoding="utf-8")


@click.command()
@click.argument("names", nargs=-1)
def main(names: tuple[str, ...]) -> None:
    """Write the table anew, and show the fields that no history tells."""
    every = [field.name for field in fields(Claim) if field.name not in LABELS]
    kept = {one: id for one, id in read_table().items() if one.field not in names} if names else {}
    table = {**kept, **{one: id for one, id in search(names or every) if id}}
    write_table(table)
    told = {one.field for one in table} | {one.field for one in TOLD}
    for name in every:
        if name not in told:
            click.echo(f"{name}: no history tells it")


if __name__ == "__main__":
    main()
