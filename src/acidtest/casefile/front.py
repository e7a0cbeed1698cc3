"""The front block of a case file: keys, and the story that everything else is."""

import re
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeVar

from acidtest.casefile.constraints import BOUND
from acidtest.casefile.source import Source
from acidtest.errors import UsageError
from acidtest.model import Bug, BugKind, BugStatus, Level, Sighting, TargetConstraint
from acidtest.sql.split import RULES

K = TypeVar("K", bound=StrEnum)

SECTIONS = ("setup", "schedule", "final", "teardown")
_KEYS = (
    "id",
    "title",
    "link",
    "target",
    "level",
    "order",
    "server",
    "repeat",
    "compare",
    "status",
    "kind",
    "reported",
    "fixed",
    "paper",
    "levels",
    "seen",
)
_SEVERAL = ("link", "target", "server", "seen")
WITHOUT_TRANSACTIONS = "without transactions"
NOWHERE = "no level"
_SECTION_LINE = re.compile(r"--\s*(\w+)\s*")
_KEY_LINE = re.compile(r"--\s*(?:([a-z][a-z_-]*)|(level)\s+(\S+?))\s*:(?=(\s|$)?)\s*(.*?)\s*")
_EXPECT_LINE = re.compile(r"--\s*expect[\s:]")


def section_name(comment: str) -> str | None:
    """The section that a comment opens, if it does."""
    match = _SECTION_LINE.fullmatch(comment)
    return match[1] if match and match[1] in SECTIONS else None


@dataclass(slots=True)
class Front:
    """What the front block says; `body` is where the first section opens."""

    id: str = ""
    title: str = ""
    links: list[str] = field(default_factory=list)
    targets: list[TargetConstraint] = field(default_factory=list)
    story: list[str] = field(default_factory=list)
    level: Level | None = None
    session_levels: dict[str, tuple[Level, int]] = field(default_factory=dict)
    strict: bool = False
    server: list[str] = field(default_factory=list)
    repeat: int = 1
    compared: bool = False
    bug: Bug | None = None
    body: int = 0


def read_front(source: Source) -> Front:
    """The front block, which ends at the first section."""
    return _FrontReader(source).read()


class _FrontReader:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._front = Front()
        self._seen: set[str] = set()

    def read(self) -> Front:
        offset = 0
        while offset < len(self._source.text):
            end = self._source.line_end(offset)
            line = self._source.text[offset:end]
            start = offset + len(line) - len(line.lstrip())
            if section_name(line.strip()):
                self._front.body = start
                return self._front
            if line.strip():
                self._line(start, end)
            offset = end + 1
        raise self._source.error(len(self._source.text), "a line `-- setup` or `-- schedule`")

    def _line(self, start: int, end: int) -> None:
        comment = self._source.text[start:end]
        if not comment.startswith("--"):
            raise self._source.error(start, "a `-- key: value` line, a comment, `-- setup` or `-- schedule`")
        if _EXPECT_LINE.match(comment):
            raise self._source.error(start, "the section `-- setup` or `-- schedule` before any expectation")
        match = _KEY_LINE.fullmatch(comment)
        # `-- https://...` and the like are story: only a known key may do without the space.
        if match and (match[4] is not None or (match[1] or match[2]) in _KEYS):
            self._key(match[1] or match[2], match[3], start, match)
        else:
            self._front.story.append(comment[2:].removeprefix(" ").rstrip())

    def _key(self, key: str, session: str | None, start: int, match: re.Match[str]) -> None:
        value, place = match[5], start + match.start(5)
        if key not in _KEYS:
            known = ", ".join(_KEYS)
            raise self._source.error(
                start,
                f"one of the keys {known} (a story line that begins like a key needs a capital letter)",
                f"the key `{key}`",
            )
        name = f"{key} {session}" if session else key
        if name in self._seen and key not in _SEVERAL:
            raise self._source.error(start, f"only one `{name}` line", "a second one")
        if not value:
            raise self._source.error(place, f"a value after `{name}:`")
        self._seen.add(name)
        self._store(key, session, value, start, place)

    def _store(self, key: str, session: str | None, value: str, start: int, place: int) -> None:
        front = self._front
        if key == "id":
            front.id = value
        elif key == "title":
            front.title = value
        elif key == "link":
            front.links.append(value)
        elif key == "target":
            front.targets.append(self._target(value, place))
        elif key == "order":
            if value != "strict":
                raise self._source.error(place, "`strict`")
            front.strict = True
        elif key in ("server", "repeat", "compare"):
            self._store_run(key, value, place)
        elif key != "level":
            front.bug = self._bug(front.bug or Bug(), key, value, place)
        elif session:
            front.session_levels[session] = (self._level(value, place), start)
        else:
            front.level = self._level(value, place)

    def _store_run(self, key: str, value: str, place: int) -> None:
        """How the case wants to be run."""
        if key == "server":
            if not value.startswith("-"):
                raise self._source.error(place, "an option of the server such as --query-cache-type=1")
            self._front.server.append(value)
        elif key == "compare":
            if value != WITHOUT_TRANSACTIONS:
                raise self._source.error(place, f"`{WITHOUT_TRANSACTIONS}`")
            self._front.compared = True
        else:
            if not re.fullmatch(r"[1-9][0-9]{0,6}", value):
                raise self._source.error(place, "how often to run it, a number from 1 on")
            self._front.repeat = int(value)

    def _bug(self, bug: Bug, key: str, value: str, place: int) -> Bug:
        """What is known of the bug, with one line more."""
        if key == "status":
            return replace(bug, status=self._one_of(BugStatus, value, place))
        if key == "kind":
            return replace(bug, kind=self._one_of(BugKind, value, place))
        if key == "levels":
            return replace(bug, levels=self._several_levels(value, place))
        if key == "seen":
            target, _, levels = value.partition(" ")
            where = () if levels.strip() == NOWHERE else self._several_levels(levels, place + len(target) + 1)
            return replace(bug, seen=(*bug.seen, Sighting(target, where)))
        if key == "reported":
            return replace(bug, reported=value)
        return replace(bug, fixed=value) if key == "fixed" else replace(bug, paper=value)

    def _one_of(self, kinds: type[K], value: str, place: int) -> K:
        try:
            return kinds(value)
        except ValueError:
            raise self._source.error(place, f"one of: {', '.join(kinds)}") from None

    def _several_levels(self, value: str, place: int) -> tuple[Level, ...]:
        return tuple(self._level(one.strip(), place) for one in value.split(","))

    def _level(self, value: str, place: int) -> Level:
        try:
            return Level.parse(value)
        except UsageError:
            known = ", ".join(f"{level.value} ({level.short})" for level in Level)
            raise self._source.error(place, f"an isolation level: {known}") from None

    def _target(self, value: str, place: int) -> TargetConstraint:
        dbms, *bounds = re.finditer(r"\S+", value)
        if dbms[0] not in RULES:
            raise self._source.error(place, f"a target: {', '.join(RULES)}")
        for bound in bounds:
            if not BOUND.fullmatch(bound[0]):
                raise self._source.error(place + bound.start(), "a version bound such as >=10.5, <11 or 8.0")
        return TargetConstraint(dbms[0], tuple(bound[0] for bound in bounds))
