"""The edits that most operations are made of."""

from sqlglot import exp

from acidtest.reduce.script import Draft, Edit


def pop(place: int, *nodes: exp.Expression) -> Edit:
    """Take nodes away."""

    def edit(draft: Draft) -> None:
        for node in nodes:
            draft.pop(place, node)

    return edit


def replace(place: int, node: exp.Expression, new: exp.Expression) -> Edit:
    """Put another node in the place of one."""
    return lambda draft: draft.replace(place, node, new.copy())


def set_part(place: int, node: exp.Expression, key: str, value: object) -> Edit:
    """Give a node another part."""
    return lambda draft: draft.at(place, node).set(key, value)


def write(place: int, text: str) -> Edit:
    """Put another text in the place of a statement."""
    return lambda draft: draft.write(place, text)
