"""A run of an application as a case file of plain SQL, reduced to the tables and statements that matter."""

from collections.abc import Iterable, Iterator

from acidtest.app.access import Reader
from acidtest.app.ground import Ground
from acidtest.app.matching import GENERATORS
from acidtest.app.replay import replay_id
from acidtest.casefile import print_case
from acidtest.model import (
    Case,
    FinalExpectation,
    Level,
    Schema,
    Statement,
    Table,
    TargetConstraint,
    TransactionState,
    interleave,
)
from acidtest.model.application import Call, ForcedRun
from acidtest.sql import StatementKind, kind_of
from acidtest.sql.rendering import insert_rows, quote_name
from acidtest.targets import Guest


class CannotWriteError(Exception):
    """Why there is no case file."""


def case_of(
    run: ForcedRun, ground: Ground, reader: Reader, guest: Guest, level: Level | None, title: str
) -> str:
    """The text of a case file that shows what the run showed."""
    calls = [call for call in sorted(run.calls, key=lambda call: call.turn) if _matters(call, run, reader)]
    named = {table for call in calls for table in reader.access(call.sql).tables}
    tables = [table for table in _parents_first(ground.schema) if table.name in named]
    setup = [*_definitions(tables, guest.dialect), *_rows(tables, ground, run, guest)]
    steps = [*_steps(calls)]
    sessions = {name: level for name, _ in steps}
    transactions, schedule = interleave(steps, dict(sessions))
    written = {table for call in calls for table, _ in reader.access(call.sql).writes}
    final = tuple(
        FinalExpectation(table.name, (run.final[table.name],))
        for table in tables
        if table.name in run.final and table.name in written and not _has_moving_values(table)
    )
    case = Case(
        id=f"app-{replay_id(run.order)}",
        setup=tuple(map(Statement, setup)),
        transactions=transactions,
        schedule=schedule,
        title=f"{title}, found in an application",
        targets=(TargetConstraint(guest.dbms),),
        expect_final=final,
    )
    try:
        return print_case(case)
    except ValueError as problem:
        raise CannotWriteError(str(problem)) from problem


def _has_moving_values(table: Table) -> bool:
    """Whether the DBMS puts in times or tokens, which differ from run to run; numbers begin where they
    began."""
    defaults = ((column.default or "").lower() for column in table.columns)
    return any(word in text for text in defaults for word in GENERATORS if word != "nextval")


def _matters(call: Call, run: ForcedRun, reader: Reader) -> bool:
    """Whether a statement writes, ends a transaction, or reads what an operation writes."""
    if kind_of(call.sql) is not StatementKind.QUERY:
        return kind_of(call.sql) not in (StatementKind.SESSION, StatementKind.SAVEPOINT)
    written = {element for other in run.calls for element in reader.access(other.sql).writes}
    access = reader.access(call.sql)
    return bool(access.reads & written) or not access.sure


def _steps(calls: Iterable[Call]) -> Iterator[tuple[str, Statement]]:
    """The statements with the BEGINs that drivers send by themselves."""
    is_open: dict[str, bool] = {}
    for call in calls:
        kind = kind_of(call.sql)
        begun = is_open.get(call.session, False)
        stays_open = call.after is not TransactionState.NONE
        if kind in (StatementKind.COMMIT, StatementKind.ROLLBACK):
            if begun:
                yield call.session, Statement(call.sql)
            is_open[call.session] = False
            continue
        if (
            not begun
            and (stays_open or call.before is not TransactionState.NONE)
            and kind is not StatementKind.BEGIN
        ):
            yield call.session, Statement("BEGIN")
        is_open[call.session] = stays_open
        yield call.session, Statement(call.sql.strip().rstrip(";"))


def _parents_first(schema: Schema) -> list[Table]:
    ordered: list[Table] = []

    def visit(table: Table, path: tuple[str, ...]) -> None:
        if table in ordered or table.name in path:
            return
        for key in table.foreign_keys:
            for other in schema.tables:
                if other.name == key.table:
                    visit(other, (*path, table.name))
        ordered.append(table)

    for table in schema.tables:
        visit(table, ())
    return ordered


def _definitions(tables: Iterable[Table], dialect: str) -> Iterator[str]:
    """CREATE TABLE with keys and checks; foreign keys to tables that are left out are left out too."""
    names: set[str] = set()
    for table in tables:
        names.add(table.name)
        parts = [*_columns(table, dialect), *_keys(table, dialect)]
        for key in table.foreign_keys:
            if key.table in names:
                own = ", ".join(quote_name(one, dialect) for one in key.columns)
                there = ", ".join(quote_name(one, dialect) for one in key.references)
                parts.append(f"FOREIGN KEY ({own}) REFERENCES {quote_name(key.table, dialect)} ({there})")
        parts += [f"CHECK {_bracketed(check.expression)}" for check in table.checks]
        yield f"CREATE TABLE {quote_name(table.name, dialect)} ({', '.join(parts)})"


def _columns(table: Table, dialect: str) -> Iterator[str]:
    for column in table.columns:
        text = f"{quote_name(column.name, dialect)} {column.type}"
        if column.auto_increment or (column.default or "").startswith("nextval("):
            text += " AUTO_INCREMENT" if dialect == "mysql" else " GENERATED BY DEFAULT AS IDENTITY"
        elif column.generated and column.expression:
            text += f" GENERATED ALWAYS AS ({column.expression}) STORED"
        elif column.default is not None:
            text += f" DEFAULT {column.default}"
        yield text + ("" if column.nullable else " NOT NULL")


def _keys(table: Table, dialect: str) -> Iterator[str]:
    for index in table.indexes:
        simple = {column.name for column in table.columns} >= set(index.columns)
        if not index.unique or index.where or not simple:
            continue
        names = ", ".join(quote_name(one, dialect) for one in index.columns)
        yield f"{'PRIMARY KEY' if index.primary else 'UNIQUE'} ({names})"


def _bracketed(expression: str) -> str:
    return expression if expression.startswith("(") else f"({expression})"


def _rows(tables: Iterable[Table], ground: Ground, run: ForcedRun, guest: Guest) -> Iterator[str]:
    """The rows of before, and counters that give the numbers which the run saw."""
    for table in tables:
        rows = ground.rows_before(table.name)
        if rows:
            yield insert_rows(table, rows, guest.dialect).replace(" OVERRIDING SYSTEM VALUE", "")
        for position, column in enumerate(table.columns):
            if not (column.auto_increment or (column.default or "").startswith("nextval(")):
                continue
            known = {row[position] for row in rows}
            new = [row[position] for row in run.final.get(table.name, ()) if row[position] not in known]
            numbers = [one for one in new if isinstance(one, int)]
            start = min(numbers) if numbers else max((n for n in known if isinstance(n, int)), default=0) + 1
            yield _counter(table.name, column.name, start, guest.dialect)


def _counter(table: str, column: str, start: int, dialect: str) -> str:
    if dialect == "mysql":
        return f"ALTER TABLE {quote_name(table, dialect)} AUTO_INCREMENT = {start}"
    return (
        f"ALTER TABLE {quote_name(table, dialect)} ALTER {quote_name(column, dialect)} RESTART WITH {start}"
    )
