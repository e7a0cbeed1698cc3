"""Random queries and updates, compared as wholes."""

from random import Random
from typing import Any

from acidtest.evaluator import (
    EvaluationError,
    Result,
    Unknown,
    compile_assignment,
    compile_predicate,
    compile_query,
)
from acidtest.model import Failed, Row, Rows
from acidtest.sql.trees import parse
from tests.evaluator.expressions import Expressions
from tests.evaluator.server import Server
from tests.evaluator.tally import Tally


def random_query(server: Server, random: Random) -> str:
    """A query of one of several shapes."""
    shapes = [_plain, _joined, _grouped, _with_subquery, _set_operation, _derived, _windowed]
    return random.choice(shapes)(server, random)


def _columns(server: Server, prefix: str = "") -> list[str]:
    return [f"{prefix}{name}" for name in ("pk", *server.kinds)]


def _where(maker: Expressions, random: Random) -> str:
    return f" WHERE {maker.of('bool', random.choice([1, 2]))}" if random.random() < 0.7 else ""


def _tail(random: Random, width: int) -> str:
    if random.random() < 0.4:
        return ""
    keys = random.sample(range(1, width + 1), min(width, 2))
    order = ", ".join(f"{key}{random.choice(['', ' DESC'])}" for key in keys)
    limit = random.choice(["", "", " LIMIT 3", " LIMIT 4 OFFSET 2", " LIMIT 0"])
    return f" ORDER BY {order}{limit}"


def _plain(server: Server, random: Random) -> str:
    maker = server.expressions(random)
    items = [random.choice(_columns(server)), maker.any(1)]
    distinct = random.choice(["", "", "DISTINCT "])
    return f"SELECT {distinct}{', '.join(items)} FROM t{_where(maker, random)}{_tail(random, 2)}"


def _joined(server: Server, random: Random) -> str:
    left, right = server.expressions(random, "x."), server.expressions(random, "y.")
    kinds = ["JOIN", "LEFT JOIN", "RIGHT JOIN"] + (["FULL JOIN"] if server.target.dbms == "postgres" else [])
    kind = random.choice(kinds)
    family = random.choice(["int", "decimal", "text"])
    join = f"{left.leaf(family)} {random.choice(['=', '=', '<', '>='])} {right.leaf(family)}"
    if kind == "FULL JOIN":
        join = f"x.{'i'} = y.{'j'}"
    condition = f" WHERE {right.of('bool', 1)} OR {left.of('bool', 1)}" if random.random() < 0.5 else ""
    return f"SELECT x.pk, y.pk, {left.any(1)} FROM u x {kind} t y ON {join}{condition}{_tail(random, 2)}"


def _grouped(server: Server, random: Random) -> str:
    maker = server.expressions(random)
    key = random.choice(["j", "sm", "d", "w", "j % 3", "dt"])
    number = random.choice(["i", "j", "sm", "b", "d", "e", "f"])
    aggregates = [f"{name}({number})" for name in ("SUM", "AVG", "MIN", "MAX", "COUNT", "COUNT(DISTINCT ")]
    aggregates = [text.replace("(DISTINCT (", "(DISTINCT ") for text in aggregates]
    chosen = random.sample([*aggregates, "COUNT(*)", "MAX(dt)", "MIN(w)", f"SUM(DISTINCT {number})"], 2)
    having = random.choice(["", "", " HAVING COUNT(*) > 1", f" HAVING MAX({number}) > 3"])
    if random.random() < 0.25:
        return f"SELECT {', '.join(chosen)} FROM t{_where(maker, random)}{having}"
    head = f"SELECT {key} AS k, {', '.join(chosen)} FROM t{_where(maker, random)}"
    return f"{head} GROUP BY {key}{having}{_tail(random, 1)}"


def _with_subquery(server: Server, random: Random) -> str:
    inner, outer = server.expressions(random, "y."), server.expressions(random, "x.")
    family = random.choice(["int", "decimal", "text"])
    value, other = outer.leaf(family), inner.leaf(family)
    where = f" WHERE {inner.of('bool', 1)}"
    correlated = f" WHERE y.{random.choice(['j', 'sm'])} = x.{random.choice(['j', 'sm'])}"
    quantified = ["= ANY", "<> ANY", "< ANY", "= ALL", "<> ALL", "> ALL"]
    aggregates = ["MAX", "MIN", "SUM", "AVG", "COUNT"]
    test = random.choice(
        [
            f"{value} {random.choice(['', 'NOT '])}IN (SELECT {other} FROM u y{where})",
            f"{random.choice(['', 'NOT '])}EXISTS (SELECT 1 FROM u y{correlated})",
            f"{value} {random.choice(quantified)} (SELECT {other} FROM u y{where})",
            f"x.j > (SELECT {random.choice(aggregates)}(y.j) FROM u y{correlated})",
            f"x.j = (SELECT y.j FROM u y{correlated} LIMIT 1)",
            "x.j = (SELECT y.sm FROM u y WHERE y.pk = x.pk)",
        ]
    )
    scalar = random.choice(
        ["x.j", f"(SELECT COUNT(*) FROM u y{correlated})", "(SELECT y.w FROM u y WHERE y.pk = x.pk)"]
    )
    return f"SELECT x.pk, {scalar} FROM t x WHERE {test}"


def _set_operation(server: Server, random: Random) -> str:
    one, two = server.expressions(random), server.expressions(random)
    family = random.choice(["int", "decimal", "text", "double"])
    operators = ["UNION", "UNION ALL", "INTERSECT", "EXCEPT"]
    left = f"SELECT {one.of(family, 1)} AS k FROM t{_where(one, random)}"
    right = f"SELECT {two.of(family, 1)} FROM u{_where(two, random)}"
    return f"{left} {random.choice(operators)} {right}{_tail(random, 1)}"


def _derived(server: Server, random: Random) -> str:
    maker = server.expressions(random)
    family = random.choice(["int", "text", "decimal"])
    inner = f"SELECT pk AS k, {maker.of(family, 1)} AS z FROM t{_where(maker, random)}"
    condition = random.choice(["", " WHERE d1.z IS NOT NULL", " WHERE d1.k > 5"])
    if random.random() < 0.5:
        return f"WITH d1 AS ({inner}) SELECT d1.k, d1.z FROM d1{condition}{_tail(random, 2)}"
    return f"SELECT d1.k, d1.z, u.j FROM ({inner}) d1 JOIN u ON u.pk = d1.k{condition}{_tail(random, 2)}"


def _windowed(_server: Server, random: Random) -> str:
    order = random.choice(["pk", "j, pk", "d DESC, pk", "w, pk", "j"])
    partition = random.choice(["", "PARTITION BY j ", "PARTITION BY sm "])
    function = random.choice(
        [
            "ROW_NUMBER()",
            "RANK()",
            "DENSE_RANK()",
            "SUM(j)",
            "COUNT(*)",
            "MAX(d)",
            "MIN(i)",
            "LAG(j)",
            "LEAD(w, 2)",
            "AVG(d)",
        ]
    )
    return f"SELECT pk, {function} OVER ({partition}ORDER BY {order}) FROM t"


def compare_query(server: Server, random: Random, tally: Tally) -> None:
    """One random query."""
    check_query(server, random_query(server, random), tally)


def check_query(server: Server, sql: str, tally: Tally) -> None:
    """A query on the server and by the evaluator."""
    verdict = _answer(server, sql)
    if isinstance(verdict, Unknown):
        tally.unknown[f"query: {verdict.reason}"] += 10
        return
    outcome = server.ask(sql)
    if isinstance(verdict, EvaluationError):
        tally.cells += 1
        tally.errors += 1
        if not isinstance(outcome, Failed) or outcome.kind is not verdict.kind:
            _disagree(sql, verdict, outcome, tally)
    elif isinstance(outcome, Rows):
        tally.cells += max(sum(len(row) for row in outcome.rows), 1)
        if not _exactly(verdict, outcome.rows):
            _disagree(sql, [(block.rows, block.take) for block in verdict.blocks], outcome.rows, tally)
    else:
        _disagree(sql, verdict.rows, outcome, tally)


def _answer(server: Server, sql: str) -> Result | EvaluationError | Unknown:
    tree = parse(sql, server.target.dbms)
    if tree is None:
        return Unknown("text that sqlglot does not read")
    try:
        return compile_query(tree, server.schema, server.dialect).run(server.views)
    except (EvaluationError, Unknown) as verdict:
        return verdict


def _exactly(result: Result, rows: tuple[Row, ...]) -> bool:
    """The result admits the rows down to the type and digits of each cell."""
    typed = Result(
        result.columns, tuple(type(block)(_spelled(block.rows), block.take) for block in result.blocks)
    )
    return typed.admits(_spelled(rows))


def _spelled(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    return tuple(tuple(repr(value) for value in row) for row in rows)


def _disagree(sql: str, ours: Any, theirs: Any, tally: Tally) -> None:
    answer = f"{theirs.kind} {theirs.code} {theirs.message}" if isinstance(theirs, Failed) else repr(theirs)
    tally.disagreements.append(f"  {sql}\n    ours {ours!r}\n    server {answer}")


def compare_update(server: Server, random: Random, tally: Tally) -> None:
    """UPDATE t SET column = expression WHERE condition, taken back afterwards."""
    maker = server.expressions(random)
    name = random.choice(list(server.kinds))
    family = {"datetime": "date"}.get(server.kinds[name].family, server.kinds[name].family)
    value = maker.of(family, random.choice([0, 1, 1, 2]))
    condition = maker.of("bool", 1)
    sql = f"UPDATE t SET {name} = {value} WHERE {condition}"
    verdict = _updated(server, name, value, condition)
    if isinstance(verdict, Unknown):
        tally.unknown[f"update: {verdict.reason}"] += 10
        return
    server.must("BEGIN")
    outcome = server.ask(sql)
    if not isinstance(outcome, Failed):
        outcome = server.must("SELECT * FROM t ORDER BY pk")
    server.must("ROLLBACK")
    if isinstance(verdict, EvaluationError):
        tally.cells += 1
        tally.errors += 1
        if not isinstance(outcome, Failed) or outcome.kind is not verdict.kind:
            _disagree(sql, verdict, outcome, tally)
    elif isinstance(outcome, Rows):
        tally.cells += len(verdict)
        if _spelled(outcome.rows) != _spelled(tuple(verdict)):
            wrong = [
                (a, b) for a, b in zip(verdict, outcome.rows, strict=True) if _spelled((a,)) != _spelled((b,))
            ]
            _disagree(sql, wrong[0][0], wrong[0][1], tally)
    else:
        _disagree(sql, "no error", outcome, tally)


def _updated(server: Server, name: str, value: str, condition: str) -> list[Row] | EvaluationError | Unknown:
    table = server.schema.table("t")
    at = [column.name for column in table.columns].index(name)
    trees = [parse(f"SELECT {text}", server.target.dbms) for text in (value, condition)]
    if None in trees:
        return Unknown("text that sqlglot does not read")
    expression, test = (tree.expressions[0] for tree in trees if tree is not None)
    try:
        holds = compile_predicate(test, table, server.dialect, writes=True).bind()
        assign = compile_assignment(table.columns[at], expression, table, server.dialect).bind()
        return [
            (*row[:at], assign(row), *row[at + 1 :]) if holds(row) is True else row
            for row in server.views["t"]
        ]
    except (EvaluationError, Unknown) as verdict:
        return verdict
