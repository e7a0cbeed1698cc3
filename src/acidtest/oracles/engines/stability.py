"""Whether two right answers to one query may differ, and whether an answer is one of the right ones."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from unicodedata import combining, normalize

from sqlglot import exp

from acidtest.model import Row, Value
from acidtest.sql.shape import Shape

_OF_THE_MOMENT = (
    exp.Rand,
    exp.Uuid,
    exp.CurrentTimestamp,
    exp.CurrentDate,
    exp.CurrentTime,
    exp.CurrentDatetime,
    exp.CurrentUser,
    exp.Parameter,
    exp.SessionParameter,
)
_MOMENT_NAMES = frozenset(
    [
        *("CONNECTION_ID", "LAST_INSERT_ID", "ROW_COUNT", "FOUND_ROWS", "SYSDATE", "UUID", "UUID_SHORT"),
        *("GEN_RANDOM_UUID", "RANDOM", "NEXTVAL", "CURRVAL", "LASTVAL", "TXID_CURRENT", "PG_BACKEND_PID"),
        *("PG_CURRENT_XACT_ID", "CLOCK_TIMESTAMP", "STATEMENT_TIMESTAMP", "CHANGES", "TOTAL_CHANGES"),
        *("LAST_INSERT_ROWID", "DATABASE", "SCHEMA", "GET_LOCK", "NOW", "CURDATE", "CURTIME", "LOCALTIME"),
        *("LOCALTIMESTAMP", "UTC_DATE", "UTC_TIME", "UTC_TIMESTAMP", "UNIX_TIMESTAMP", "TIMEOFDAY"),
    ]
)
_OF_THE_SERVER = ("PG_", "TXID_", "INET_", "CURRENT_SETTING", "SET_CONFIG", "HAS_")
"""How names of functions begin that ask the server about itself, or act on it."""
_SYSTEM_COLUMNS = frozenset(["ctid", "xmin", "xmax", "cmin", "cmax", "tableoid", "oid", "rowid", "_rowid_"])
_OF_THE_ORDER = (
    exp.GroupConcat,
    exp.ArrayAgg,
    exp.JSONArrayAgg,
    exp.AnyValue,
    exp.First,
    exp.Last,
    exp.Window,
)
_ORDER_NAMES = frozenset(
    ["JSON_ARRAYAGG", "JSON_OBJECTAGG", "JSON_AGG", "JSONB_AGG", "STRING_AGG", "XMLAGG", "LISTAGG"]
)


@lru_cache(maxsize=2048)
def why_unstable(shape: Shape) -> str:
    """Why the DBMS may give another right answer on the same rows; empty if it may not."""
    tree = shape.tree
    for node in tree.walk():
        name = str(node.this).upper() if isinstance(node, exp.Anonymous) else ""
        if isinstance(node, _OF_THE_MOMENT) or name in _MOMENT_NAMES or name.startswith(_OF_THE_SERVER):
            return "a value that depends on the moment or the session"
        if isinstance(node, exp.Column) and node.name.lower() in _SYSTEM_COLUMNS:
            return "a system column"
        if isinstance(node, _OF_THE_ORDER) or name in _ORDER_NAMES:
            return "a result that depends on the order in which rows are visited"
        if isinstance(node, exp.Limit | exp.Fetch | exp.Offset) and node.parent is not tree:
            return "LIMIT within a statement"
        if isinstance(node, exp.Distinct) and node.args.get("on"):
            return "DISTINCT ON"
        if isinstance(node, exp.Select) and _picks_freely(node):
            return "columns that are neither grouped nor aggregated"
    return ""


def _picks_freely(select: exp.Select) -> bool:
    """A grouping that leaves open from which row of a group a value comes (MariaDB allows that)."""
    group = select.args.get("group")
    grouped = {one.sql() for one in group.expressions} if group else set()
    aggregates = any(one.find(exp.AggFunc) for one in select.expressions)
    if group is None and not aggregates:
        return False
    for position, one in enumerate(select.expressions, 1):
        bare = one.unalias()
        if bare.sql() in grouped or one.alias_or_name in grouped or str(position) in grouped:
            continue
        if any(column.find_ancestor(exp.AggFunc) is None for column in bare.find_all(exp.Column, exp.Star)):
            return True
    return False


def same_answer(tree: exp.Expression, expected: Sequence[Row], observed: Sequence[Row]) -> bool:
    """The same rows; with ORDER BY in the same order too, as far as the rows themselves tell it."""
    rounding = tree.find(exp.AggFunc) is not None
    if _counted(expected, rounding) != _counted(observed, rounding):
        return False
    keys = order_keys(tree)
    return keys is None or _key_sequence(expected, keys) == _key_sequence(observed, keys)


def may_stand_for_equals(tree: exp.Expression, expected: Sequence[Row], observed: Sequence[Row]) -> bool:
    """Whether two answers differ only in which of several texts, equal in their collation, stands for all of
    them: DISTINCT, UNION, GROUP BY, MIN and MAX keep any one."""
    merges = tree.find(exp.Distinct, exp.Group, exp.SetOperation, exp.Min, exp.Max) is not None
    return merges and _folded(expected) == _folded(observed)


def _folded(rows: Sequence[Row]) -> Counter[Row]:
    return Counter(tuple(_without_case(one) if isinstance(one, str) else one for one in row) for row in rows)


def _without_case(text: str) -> str:
    """A text as the widest collation compares it: without case, accents and spaces at its end."""
    letters = (one for one in normalize("NFKD", text) if not combining(one))
    return "".join(letters).casefold().rstrip()


def order_keys(tree: exp.Expression) -> Sequence[int] | None:
    """Positions of the columns that the rows are ordered by; None if there is no order to be seen in them."""
    order = tree.args.get("order")
    if order is None or not isinstance(tree, exp.Select) or any(one.is_star for one in tree.expressions):
        return None
    names = [one.alias_or_name for one in tree.expressions]
    positions = []
    for ordered in order.expressions:
        key = ordered.this
        if isinstance(key, exp.Literal) and key.is_int:
            positions.append(int(key.this) - 1)
        elif isinstance(key, exp.Column) and names.count(key.name) == 1:
            positions.append(names.index(key.name))
        else:
            return None
    return positions if all(0 <= position < len(names) for position in positions) else None


def _key_sequence(rows: Sequence[Row], keys: Sequence[int]) -> list[tuple[Value, ...]]:
    # Texts that differ may still be equal in their collation, so from the first text on anything goes.
    cut = next((i for i, key in enumerate(keys) if any(isinstance(row[key], str) for row in rows)), len(keys))
    return [tuple(row[key] for key in keys[:cut]) for row in rows]


def _counted(rows: Sequence[Row], rounding: bool) -> Counter[tuple[tuple[bool, Value], ...]]:
    return Counter(tuple((isinstance(v, bool), _rounded(v) if rounding else v) for v in row) for row in rows)


def _rounded(value: Value) -> Value:
    # The sum of floats depends on their order in the last digits.
    return float(f"{value:.11g}") if isinstance(value, float) else value


def is_part_of(rows: Sequence[Row], whole: Sequence[Row]) -> bool:
    """Whether these are some of the rows of the whole."""
    return not _counted(rows, False) - _counted(whole, False)


def is_ordered_part_of(tree: exp.Expression, observed: Sequence[Row], expected: Sequence[Row]) -> bool | None:
    """Whether LIMIT may have cut these rows instead of the expected ones; None if that cannot be told."""
    if tree.args.get("order") is None:
        return True
    keys = order_keys(tree)
    if keys is None or any(isinstance(row[key], str) for row in expected for key in keys):
        return None
    return _key_sequence(observed, keys) == _key_sequence(expected, keys)
