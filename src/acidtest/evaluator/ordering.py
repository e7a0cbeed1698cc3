"""ORDER BY, DISTINCT and LIMIT over rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from acidtest.evaluator.code import Code, Convert, Fn, JoinedRow
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.errors import Unknown
from acidtest.model import Row


@dataclass(frozen=True, slots=True)
class OrderItem:
    """One key of an order."""

    value: Fn
    key: Convert
    descending: bool
    nulls_first: bool

    def sort_key(self, row: JoinedRow) -> tuple[int, Any]:
        """Comparable with the keys of other rows, NULLs included; equal keys are ties."""
        value = self.value(row)
        if value is None:
            return (2 if self.nulls_first == self.descending else 0, 0)
        return (1, self.key(value))


def order_item(compiler: Compiler, node: exp.Ordered, code: Code) -> OrderItem:
    """An item of an ORDER BY clause whose expression was compiled."""
    if node.args.get("with_fill"):
        raise Unknown("WITH FILL")
    descending = bool(node.args.get("desc"))
    # sqlglot spells out the dialect's default place of NULLs.
    nulls_first = bool(node.args.get("nulls_first"))
    return OrderItem(code.fn, compiler.dialect.key(code.type, ordering=True), descending, nulls_first)


def in_order(
    items: Sequence[OrderItem], entries: Sequence[tuple[JoinedRow, Any]]
) -> list[tuple[tuple[Any, ...], list[Any]]]:
    """Entries (a row to order by, and what it stands for) as groups of ties, in order."""
    keyed = [(tuple(item.sort_key(row) for item in items), what) for row, what in entries]
    for at in range(len(items) - 1, -1, -1):
        keyed.sort(key=lambda entry: entry[0][at], reverse=items[at].descending)
    groups: list[tuple[tuple[Any, ...], list[Any]]] = []
    for key, what in keyed:
        if groups and groups[-1][0] == key:
            groups[-1][1].append(what)
        else:
            groups.append((key, [what]))
    return groups


RowKey = Callable[[Sequence[Any]], tuple[Any, ...]]


def row_key(keys: Sequence[Convert]) -> RowKey:
    """The key under which rows of these types are duplicates of each other; NULLs are."""

    def key(row: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(
            None if value is None else (convert(value),) for value, convert in zip(row, keys, strict=True)
        )

    return key


def distinct(rows: Sequence[tuple[Row, Any]], key: RowKey) -> list[tuple[Row, Any]]:
    """The first of each set of duplicates; `Unknown` if duplicates look different."""
    found: dict[tuple[Any, ...], tuple[Row, Any]] = {}
    for row, extra in rows:
        first = found.setdefault(key(row), (row, extra))
        if first[0] != row or repr(first[0]) != repr(row):
            raise Unknown("which of several equal values stands for all of them")
    return list(found.values())


def constant_count(compiler: Compiler, node: exp.Expression | None) -> int | None:
    """The number in a LIMIT or OFFSET clause."""
    if node is None:
        return None
    if not isinstance(node, exp.Limit | exp.Offset) or node.args.get("expressions"):
        raise Unknown("FETCH and LIMIT BY")
    code = compiler.compile(node.expression)
    value = code.fn(()) if code.constant else None
    if not isinstance(value, int) or value < 0:
        raise Unknown("a LIMIT that is no plain number")
    return value
