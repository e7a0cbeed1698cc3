"""Layer 6: names that a reader expects: tables t, t2.., columns a, b.., aliases x, y.., sessions tx1.."""

import re
from collections.abc import Iterator
from string import ascii_lowercase

from sqlglot import exp

from acidtest.reduce.operations import Operation
from acidtest.reduce.script import Draft, Edit, Script

_ALIASES = "xyzw"
_RESERVED = frozenset({"t", "i", *_ALIASES})
"""Letters that are not for columns."""


def _sessions(script: Script) -> Iterator[Edit]:
    """Sessions by their first appearance."""
    names = list(dict.fromkeys(script.case.schedule))
    wanted = [f"tx{number}" for number in range(1, len(names) + 1)]
    if names != wanted:
        new = dict(zip(names, wanted, strict=True))

        def edit(draft: Draft) -> None:
            draft.sessions = [new[name] for name in draft.sessions]

        yield edit


def _all_names(script: Script) -> Iterator[Edit]:
    """All tables, columns, indexes and aliases at once; then those of each kind alone."""
    kinds = [_new_columns(script), _new_tables(script), _new_indexes(script), _new_aliases(script)]
    folded = [{old.lower(): new for old, new in kind.items()} for kind in kinds]
    whole = {old: new for kind in folded for old, new in kind.items()}
    for new in (whole, *folded):
        if _is_safe(script, new):
            yield _renamed(script, new)


def _new_tables(script: Script) -> dict[str, str]:
    names = ["t", *(f"t{number}" for number in range(2, len(script.tables) + 1))]
    return dict(zip(script.tables, names, strict=False))


def _new_columns(script: Script) -> dict[str, str]:
    columns = dict.fromkeys(column for _, own in script.tables.values() for column in own)
    letters = [letter for letter in ascii_lowercase if letter not in _RESERVED]
    return dict(zip(columns, letters, strict=False))


def _new_indexes(script: Script) -> dict[str, str]:
    found = [
        tree.this.name
        for tree in script.trees
        if isinstance(tree, exp.Create) and isinstance(tree.this, exp.Index) and tree.this.name
    ]
    return {name: f"i{number if number > 1 else ''}" for number, name in enumerate(dict.fromkeys(found), 1)}


def _new_aliases(script: Script) -> dict[str, str]:
    tables = {name.lower() for name in script.tables}
    found = dict.fromkeys(
        node.name
        for _, node in script.nodes()
        if isinstance(node, exp.TableAlias) and node.name.lower() not in tables
    )
    return dict(zip(found, _ALIASES, strict=False))


def _is_safe(script: Script, new: dict[str, str]) -> bool:
    """Whether something changes, no two names become one, and no statement that stays text mentions one."""
    identifiers = [node for _, node in script.nodes() if isinstance(node, exp.Identifier)]
    changed = {
        one.name.lower()
        for one in identifiers
        if new.get(one.name.lower(), one.name) != one.name or one.quoted
    } & set(new)
    others = {one.name.lower() for one in identifiers} - set(new)
    texts = [text for text, tree in zip(script.texts, script.trees, strict=True) if tree is None]
    words = {word.lower() for text in texts for word in re.findall(r"\w+", text)}
    return bool(changed) and not changed & words and not others & set(new.values())


def _renamed(script: Script, new: dict[str, str]) -> Edit:
    """Plain names, without the quotes that the old ones may have needed."""

    def edit(draft: Draft) -> None:
        for place, node in script.nodes():
            if isinstance(node, exp.Identifier) and node.name.lower() in new:
                draft.at(place, node).set("this", new[node.name.lower()])
                draft.at(place, node).set("quoted", False)
            elif isinstance(node, exp.Anonymous) and node.name.lower() in new:
                draft.at(place, node).set("this", new[node.name.lower()])  # a prefix in an index: c(2)

    return edit


NAMES = (
    Operation("sessions", _sessions),
    Operation("names", _all_names),
)
