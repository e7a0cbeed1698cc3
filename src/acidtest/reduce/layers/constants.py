"""Layer 4: constants toward the small and pretty.

Values that are stored keep what makes them equal or different: a bug may need equal values in several
places, and a write that changes nothing is treated specially by some engines, so that making two values equal
would easily turn one bug into another. Only constants in conditions are simplified one by one.
"""

from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from sqlglot import exp

from acidtest.reduce.layers.edits import replace
from acidtest.reduce.operations import Operation
from acidtest.reduce.script import Draft, Edit, Script

_SMALL_NUMBERS = tuple(str(number) for number in range(10))
_SMALL_TEXTS = tuple(f"'{text}'" for text in ("", *"abcdefgh"))
_SMALL_DATES = tuple(f"'2000-01-0{day}'" for day in range(1, 10))

Values = dict[str, list[tuple[int, exp.Expression]]]


def fresh_numbers(script: Script) -> list[exp.Expression]:
    """Small numbers that do not occur yet, smallest first."""
    used = values_of(script)
    return [exp.Literal.number(text) for text in _SMALL_NUMBERS if text not in used]


def values_of(script: Script) -> Values:
    """Every constant of rows and expressions by its text; a sign belongs to its number."""
    found: Values = {}
    for place, node in script.nodes():
        if isinstance(node, exp.Literal) and not isinstance(node.parent, exp.DataTypeParam | exp.Limit):
            whole = node.parent if isinstance(node.parent, exp.Neg) else node
            found.setdefault(whole.sql(), []).append((place, whole))
    return found


def _renumbered(script: Script) -> Iterator[Edit]:
    """All numbers at once become 0, 1, 2..: as they follow each other by size, or in the text."""
    numbers = {text: number for text in values_of(script) if (number := _number(text)) is not None}
    found = list(dict.fromkeys(numbers.values()))
    for ranked in (sorted(found), found):
        new = {number: exp.Literal.number(rank) for rank, number in enumerate(ranked)}
        yield _mapped(script, {text: new[number] for text, number in numbers.items()})


def _everywhere(script: Script) -> Iterator[Edit]:
    """One value in all its places becomes a smaller one that does not occur yet."""
    values = values_of(script)
    for text in values:
        for small in _smaller(text):
            if small not in values:
                yield _mapped(script, {text: _literal(small)})


def _mapped(script: Script, new: dict[str, exp.Expression]) -> Edit:
    values = values_of(script)

    def edit(draft: Draft) -> None:
        for text, small in new.items():
            for place, node in values[text]:
                draft.replace(place, node, small.copy())

    return edit


def _in_conditions(script: Script) -> Iterator[Edit]:
    """One constant of a condition becomes any smaller one."""
    for text, places in values_of(script).items():
        for place, node in places:
            if node.find_ancestor(exp.Where, exp.Having, exp.Join) is not None:
                yield from (replace(place, node, _literal(small)) for small in _smaller(text))


def _nulls(script: Script) -> Iterator[Edit]:
    """A number that does not occur yet for a NULL in rows and assignments."""
    fresh = fresh_numbers(script)[:1]
    for place, node in script.nodes():
        if isinstance(node, exp.Null) and isinstance(node.parent, exp.Tuple | exp.EQ):
            yield from (replace(place, node, number) for number in fresh)


def _smaller(text: str) -> Iterator[str]:
    """Smaller constants of the same kind."""
    number = _number(text)
    if number is not None:
        odd = number < 0 or number != int(number)
        yield from (small for small in _SMALL_NUMBERS if odd or int(small) < number)
    else:
        yield from _SMALL_NUMBERS[:2]  # a text may stand for a number
        small_ones = _SMALL_DATES if _looks_like_date(text) else _SMALL_TEXTS
        yield from (small for small in small_ones if (len(small), small) < (len(text), text))


def _literal(text: str) -> exp.Expression:
    return exp.Literal.string(text[1:-1]) if text.startswith("'") else exp.Literal.number(text)


def _number(text: str) -> Decimal | None:
    try:
        return Decimal(text.replace(" ", ""))
    except InvalidOperation:
        return None


def _looks_like_date(text: str) -> bool:
    return text.count("-") == 2 and len(text) >= len("'2000-01-01'")


CONSTANTS = (
    Operation("renumbered", _renumbered),
    Operation("value everywhere", _everywhere),
    Operation("value in condition", _in_conditions),
    Operation("null", _nulls),
)
