"""A case as places with trees, and drafts of it that edits may change.

A place is a position in all statements: those of the set-up, then the schedule in its order. Every change
that the reducer knows is an edit of a draft, so any two of them can be made together.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import cast

from sqlglot import Dialect, exp
from sqlglot.generator import Generator

from acidtest.model import Case, Statement, interleave
from acidtest.reduce.order import texts_of
from acidtest.sql.trees import parse

Edit = Callable[["Draft"], None]

_NOT_IS_NULL = re.compile(r"\bNOT (\w+(?:\.\w+)?) IS NULL\b")
"""How sqlglot writes IS NOT NULL, of names and constants."""

_INTEGER = re.compile(r"\bINTEGER\b", re.IGNORECASE)

_EDITABLE = (exp.Query, exp.Insert, exp.Update, exp.Delete, exp.Create)
"""Trees that sqlglot reads in full; SAVEPOINT and the like stay text."""

_NEVER_EMPTY = (exp.Select, exp.Update, exp.Values, exp.Tuple, exp.Schema)
_GONE_WHEN_EMPTY = (exp.Group, exp.Order, exp.With, exp.Properties)


class ImpossibleEditError(Exception):
    """An edit that cannot be made, for instance because another one took its node away."""


class Script:
    """A case with the tree of every statement that can be read. Trees are shared: look, do not change."""

    def __init__(self, case: Case, dialect: str) -> None:
        self.case = case
        self.dialect = dialect
        self.texts = texts_of(case)
        self.trees = tuple(read(text, dialect) for text in self.texts)

    @property
    def setup_places(self) -> range:
        return range(len(self.case.setup))

    @property
    def schedule_places(self) -> range:
        return range(len(self.case.setup), len(self.texts))

    def session(self, place: int) -> str:
        """The session of a place of the schedule."""
        return self.case.schedule[place - len(self.case.setup)]

    def places_of(self, session: str) -> list[int]:
        """Where a session's statements are."""
        return [place for place in self.schedule_places if self.session(place) == session]

    def nodes(self) -> Iterator[tuple[int, exp.Expression]]:
        """Every node of every tree with its place."""
        for place, tree in enumerate(self.trees):
            if tree is not None:
                yield from ((place, node) for node in walk(tree))

    @cached_property
    def tables(self) -> dict[str, tuple[int, list[str]]]:
        """The tables that the set-up creates: their place and their columns in order."""
        return {
            tree.this.this.name: (place, [column.name for column in tree.this.find_all(exp.ColumnDef)])
            for place, tree in enumerate(self.trees)
            if tree is not None and is_table_definition(tree)
        }


class Draft:
    """A changeable copy of a script; made for one candidate, and thrown away."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._roots: dict[int, exp.Expression] = {}
        self._copies: dict[int, dict[int, exp.Expression]] = {}
        self._texts: dict[int, str] = {}
        self._dropped: set[int] = set()
        self._set_up: list[int] = []
        self._unmarked: set[int] = set()
        self._strict = script.case.strict
        self._teardown = script.case.teardown
        self.sessions = list(script.case.schedule)
        self.order = list(script.schedule_places)

    def drop(self, place: int) -> None:
        """Leave a statement out."""
        self._dropped.add(place)

    def set_up(self, place: int) -> None:
        """Move a statement of the schedule to the end of the set-up."""
        self._set_up.append(place)

    def write(self, place: int, text: str) -> None:
        """Put another text in the place of a statement."""
        self._texts[place] = text

    def unmark(self, place: int) -> None:
        """Let a statement of the schedule be a step by itself that awaits nobody."""
        self._unmarked.add(place)

    def let_overtake(self) -> None:
        """Give up a strict order."""
        self._strict = False

    def leave_standing(self) -> None:
        """Leave the teardown out."""
        self._teardown = ()

    def at(self, place: int, node: exp.Expression) -> exp.Expression:
        """The draft's own copy of a node of the script."""
        tree = self._script.trees[place]
        assert tree is not None, "only nodes of trees are edited"
        if place not in self._copies:
            copy = tree.copy()
            self._roots[place] = copy
            pairs = zip(walk(tree), walk(copy), strict=True)
            self._copies[place] = {id(shared): own for shared, own in pairs}
        own = self._copies[place][id(node)]
        if own.root() is not self._roots[place]:
            raise ImpossibleEditError
        return own

    def replace(self, place: int, node: exp.Expression, new: exp.Expression) -> None:
        """Put a new node in the place of a node of the script."""
        own = self.at(place, node)
        if own is self._roots[place]:
            self._roots[place] = new
        else:
            own.replace(new)

    def pop(self, place: int, node: exp.Expression) -> None:
        """Take a node of the script away."""
        self.at(place, node).pop()

    def case(self) -> Case | None:
        """The edited case, or None if it is no case or no SQL any more."""
        script = self._script
        texts = list(script.texts)
        for place, root in self._roots.items():
            if place not in self._dropped:
                text = _written(root, script.texts[place], script.dialect)
                if text is None:
                    return None
                texts[place] = text
        for place, text in self._texts.items():
            texts[place] = text
        early = [*script.setup_places, *self._set_up]
        setup = [Statement(texts[place]) for place in early if place not in self._dropped]
        first = len(script.case.setup)
        steps = [
            (self.sessions[place - first], self._statement(place, texts[place]))
            for place in self.order
            if place not in self._dropped and place not in self._set_up
        ]
        case = replace(script.case, strict=self._strict, teardown=self._teardown)
        return rebuilt(case, setup, steps, self.sessions) if steps else None

    def _statement(self, place: int, text: str) -> Statement:
        """A statement of the schedule with that text."""
        step = self._script.case.steps[place - len(self._script.case.setup)]
        return Statement(text) if place in self._unmarked else replace(step.statement, sql=text)


def rebuilt(
    case: Case, setup: list[Statement], steps: list[tuple[str, Statement]], sessions: list[str]
) -> Case:
    """The case with other statements; `sessions` says what each step's session is called now."""
    renamed = dict(zip(case.schedule, sessions, strict=True))
    levels = {new: case.transaction(old).level for old, new in renamed.items()}
    transactions, schedule = interleave(_awaiting(steps, renamed), levels)
    return replace(case, setup=tuple(setup), transactions=transactions, schedule=schedule)


def _awaiting(steps: list[tuple[str, Statement]], renamed: dict[str, str]) -> Iterator[tuple[str, Statement]]:
    """The steps with the new names of the sessions they await, as far as these still take part."""
    present = {session for session, _ in steps}
    for session, statement in steps:
        awaits = tuple(renamed[name] for name in statement.awaits if renamed.get(name) in present)
        yield session, replace(statement, awaits=awaits) if statement.awaits else statement


def apply(script: Script, edits: list[Edit]) -> Case | None:
    """The case with all these edits made, or None if they cannot be."""
    draft = Draft(script)
    try:
        for edit in edits:
            edit(draft)
        return draft.case()
    except Exception:  # impossible, or a tree of a shape that an edit did not expect: it costs this candidate
        return None


def read(sql: str, dialect: str) -> exp.Expression | None:
    """The tree of a statement that can be edited, or None. REPLACE reads as the INSERT it looks like."""
    words = sql.split(None, 1)
    if len(words) == 2 and words[0].upper() == "REPLACE":
        sql = f"INSERT {words[1]}"
    tree = parse(sql, dialect)
    return tree if isinstance(tree, _EDITABLE) else None


def render(tree: exp.Expression, like: str, dialect: str) -> str:
    """A tree as text, with what sqlglot cannot tell apart spelled as in `like`. Comments are lost."""
    text: str = _generator(dialect).generate(tree)
    if like[:7].upper() == "REPLACE":
        text = text.replace("INSERT", "REPLACE", 1)
    if "LOCK IN SHARE MODE" in like.upper():
        text = text.replace("FOR SHARE", "LOCK IN SHARE MODE")
    if dialect == "sqlite" and not _INTEGER.search(like):
        text = _INTEGER.sub(
            "INT", text
        )  # sqlglot's word for both, but to SQLite a primary key of another kind
    return _NOT_IS_NULL.sub(r"\1 IS NOT NULL", text)


def same_name(one: str, other: str) -> bool:
    """Whether two names mean the same. A DBMS that tells cases apart refuses what comes of a mistake."""
    return one.lower() == other.lower()


def walk(tree: exp.Expression) -> Iterator[exp.Expression]:
    """The nodes of a tree, each before what it holds."""
    return cast(Iterator[exp.Expression], tree.walk())


def is_table_definition(tree: exp.Expression) -> bool:
    """Whether it is a CREATE TABLE with columns."""
    return isinstance(tree, exp.Create) and tree.kind == "TABLE" and isinstance(tree.this, exp.Schema)


@lru_cache(maxsize=8)
def _generator(dialect: str) -> Generator:
    return Dialect.get_or_raise(dialect).generator(comments=False, normalize_functions=False)


def _written(root: exp.Expression, like: str, dialect: str) -> str | None:
    for node in list(root.find_all(*_GONE_WHEN_EMPTY)):
        if not node.expressions:
            node.pop()
    if any(not node.expressions for node in root.find_all(*_NEVER_EMPTY)):
        return None
    if any(not node.expressions and not node.args.get("query") for node in root.find_all(exp.In)):
        return None
    text = render(root, like, dialect)
    return text if read(text, dialect) is not None else None
