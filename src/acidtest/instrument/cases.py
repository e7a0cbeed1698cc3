"""From a case to an instrumented case, which is a case like any other: it prints, reduces and replays."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from acidtest.claims import Claim, claim_for
from acidtest.instrument.columns import PROBE_BEFORE, is_probe
from acidtest.instrument.errors import NotInstrumentableError
from acidtest.instrument.reads import Reads
from acidtest.instrument.tables import Tables
from acidtest.instrument.writes import Writes
from acidtest.model import Case, Level, Statement, interleave
from acidtest.sql import StatementKind, kind_of
from acidtest.sql.kinds import is_script
from acidtest.sql.shape import Verb, shape_of
from acidtest.sql.split import rules_for
from acidtest.targets import Target
from acidtest.targets.returning import returning_of

__all__ = ["NotInstrumentableError", "Server", "instrument"]

_LEFT_ALONE = frozenset(
    {
        StatementKind.BEGIN,
        StatementKind.COMMIT,
        StatementKind.ROLLBACK,
        StatementKind.SAVEPOINT,
        StatementKind.SESSION,
    }
)


@dataclass(frozen=True, slots=True)
class Server:
    """What an instrumented case has to know of the server that it is for."""

    dbms: str
    version: str
    settings: Mapping[str, str]
    default_level: Level

    @classmethod
    def of(cls, target: Target) -> "Server":
        """The server of a target."""
        return cls(target.dbms, target.version, target.settings(), target.default_level)


def instrument(case: Case, server: Server) -> Case:
    """The case with identities and versions of rows.

    Raises `NotInstrumentableError` where rows would change without a new version, or where the additions
    would change what a statement means.
    """
    made = _Instrumenter(case, server, _claims(case, server))
    steps = [
        (step.session, one) for step in case.steps for one in made.statements(step.session, step.statement)
    ]
    levels = {transaction.name: transaction.level for transaction in case.transactions}
    transactions, schedule = interleave(steps, levels)
    return replace(
        case,
        id=f"{case.id}-versions",
        setup=made.setup,
        transactions=transactions,
        schedule=schedule,
        expect_final=(),
    )


def _claims(case: Case, server: Server) -> Mapping[str, Claim]:
    claims: dict[str, Claim] = {}
    for one in case.transactions:
        claim = claim_for(server.dbms, one.level or server.default_level, server.settings)
        if claim is None:
            raise NotInstrumentableError(f"nothing is written down about what {server.dbms} promises")
        claims[one.name] = claim
    return claims


class _Instrumenter:
    """Goes through a case once; every write gets the next number."""

    def __init__(self, case: Case, server: Server, claims: Mapping[str, Claim]) -> None:
        rules, returning = rules_for([server.dbms]), returning_of(server.dbms, server.version)
        self._grammar, self._claims = next(iter(claims.values())).grammar, claims
        tables = Tables(self._grammar, rules)
        self.setup = tuple(Statement(sql) for sql in tables.of_setup(case.setup, returning.indexed))
        self._reads = Reads(tables, self._grammar, rules)
        self._writes = Writes(tables, self._grammar, rules, returning)
        self._number = 0

    def statements(self, session: str, statement: Statement) -> Sequence[Statement]:
        """What a statement becomes: itself with additions, and the probes that belong to it."""
        sql = statement.sql
        kind = StatementKind.OTHER if is_script(sql) else kind_of(sql)
        if kind in _LEFT_ALONE:
            return (replace(statement, expect=()),)
        shape = shape_of(sql, self._grammar)
        if shape is None:
            raise NotInstrumentableError(f"{sql.split(maxsplit=1)[0].upper()} is not followed")
        if not shape.reads:
            return (replace(statement, expect=()),)
        if shape.verb is Verb.READ:
            texts = self._reads.texts(sql, shape)
        else:
            self._number += 1
            texts = self._writes.texts(sql, shape, self._number, self._claims[session])
        return tuple(_as_one_step(statement, texts))


def _as_one_step(statement: Statement, texts: Sequence[str]) -> Iterator[Statement]:
    """Who is waited for belongs to the last of them, and what may come before the first to that."""
    for place, text in enumerate(texts):
        yield replace(
            statement,
            sql=text,
            expect=(),
            joined=statement.joined or place > 0,
            awaits=statement.awaits if place == len(texts) - 1 else (),
            parameters=None if is_probe(text) and PROBE_BEFORE not in text else statement.parameters,
        )
