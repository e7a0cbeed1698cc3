"""From the text of an isolation spec to a Spec; every complaint names file, line and column.

spec:        setup* [teardown] session+ permutation*
session:     "session" NAME [setup] step+ [teardown]
setup, teardown, step: "setup" {SQL}, "teardown" {SQL}, "step" NAME {SQL}
permutation: "permutation" (NAME ["(" marker ("," marker)* ")"])+
marker:      "*" | NAME | NAME "notices" NUMBER
"""

import re
from dataclasses import dataclass
from pathlib import Path

from acidtest.casefile.isolation.spec import Marker, PlannedStep, Spec, SpecSession, SpecStep
from acidtest.casefile.source import Source
from acidtest.errors import UsageError

_TOKEN = re.compile(
    r"(?P<blank>(?:\s|\#[^\n]*)+)"
    r"|(?P<word>[A-Za-z_\u0080-\U0010ffff][A-Za-z_0-9$\u0080-\U0010ffff]*)"
    r'|(?P<quoted>"(?:[^"\n]|"")*")'
    r"|(?P<block>\{[^}]*\})"
    r"|(?P<number>[0-9]+)"
    r"|(?P<sign>[,()*])"
)
_KEYWORDS = frozenset({"notices", "permutation", "session", "setup", "step", "teardown"})
_SPACE = " \t\r\f"


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str  # word, keyword, block, number, sign or end
    text: str
    start: int


def load_spec(path: Path) -> Spec:
    """The spec in a file; a `UsageError` names the place of what is wrong with it."""
    return _Reader(Source.read(path)).spec()


def parse_spec(text: str, name: str) -> Spec:
    """The spec in a text; `name` is the file's, for messages."""
    return _Reader(Source.of(text, name)).spec()


class _Reader:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._tokens = _tokens(source)
        self._at = 0
        self._steps: dict[str, str] = {}  # step -> its session

    def spec(self) -> Spec:
        setups = []
        while self._takes("setup"):
            setups.append(self._block("setup"))
        teardown = self._optional("teardown")
        sessions = []
        while self._takes("session"):
            sessions.append(self._session())
        if not sessions:
            raise self._wrong("`setup`, `teardown` or `session`")
        orders = []
        while self._takes("permutation"):
            orders.append(self._order())
        if self._token.kind != "end":
            wanted = "`permutation`" if orders else "`step`, `teardown`, `session` or `permutation`"
            raise self._wrong(f"{wanted} or the end of the file")
        return Spec(Path(self._source.name).stem, tuple(setups), teardown, tuple(sessions), tuple(orders))

    def _session(self) -> SpecSession:
        name = self._name("the name of the session")
        setup = self._optional("setup")
        steps = []
        while self._takes("step"):
            place = self._token.start
            step = SpecStep(self._name("the name of the step"), self._block("step"))
            if step.name in self._steps:
                raise self._source.error(place, "a name that no other step has", f"`{step.name}` again")
            self._steps[step.name] = name
            steps.append(step)
        if not steps:
            raise self._wrong(f"`step` in the session {name}")
        return SpecSession(name, setup, tuple(steps), self._optional("teardown"))

    def _order(self) -> tuple[PlannedStep, ...]:
        start = self._at
        planned = [self._planned()]
        while self._token.kind == "word":
            planned.append(self._planned())
        names = {step.name for step in planned}
        for step in planned:
            for marker in step.markers:
                self._check_marker(step, marker, names, start)
        return tuple(planned)

    def _planned(self) -> PlannedStep:
        place = self._token.start
        name = self._name("the name of a step")
        if name not in self._steps:
            raise self._source.error(place, "the name of a step that is defined above", f"`{name}`")
        markers = []
        if self._takes_sign("("):
            markers.append(self._marker())
            while self._takes_sign(","):
                markers.append(self._marker())
            if not self._takes_sign(")"):
                raise self._wrong("`,` or `)` after the marker")
        return PlannedStep(name, tuple(markers))

    def _marker(self) -> Marker:
        if self._takes_sign("*"):
            return Marker()
        name = self._name("`*` or the name of a step in the marker")
        if not self._takes("notices"):
            return Marker(name)
        if self._token.kind != "number":
            raise self._wrong("a number after `notices`")
        self._at += 1
        return Marker(name, int(self._tokens[self._at - 1].text))

    def _check_marker(self, step: PlannedStep, marker: Marker, names: set[str], start: int) -> None:
        """A marker names a step of the same permutation and of another session."""
        if marker.step is None:
            return
        own = self._steps[step.name]
        if marker.step not in names:
            problem = f"{step.name} ({marker.step}), but the permutation has no {marker.step}"
        elif self._steps[marker.step] == own:
            problem = f"{step.name} ({marker.step}), and both belong to {own}"
        else:
            return
        expected = "markers with steps of other sessions in the same permutation"
        raise self._source.error(self._tokens[start].start, expected, problem)

    # -- tokens

    @property
    def _token(self) -> _Token:
        return self._tokens[self._at]

    def _takes(self, keyword: str) -> bool:
        return self._takes_token("keyword", keyword)

    def _takes_sign(self, sign: str) -> bool:
        return self._takes_token("sign", sign)

    def _takes_token(self, kind: str, text: str) -> bool:
        found = self._token.kind == kind and self._token.text == text
        self._at += found
        return found

    def _name(self, what: str) -> str:
        if self._token.kind != "word":
            hint = " (a keyword as a name needs double quotes)" if self._token.kind == "keyword" else ""
            raise self._wrong(what + hint)
        self._at += 1
        return self._tokens[self._at - 1].text

    def _optional(self, keyword: str) -> str | None:
        return self._block(keyword) if self._takes(keyword) else None

    def _block(self, keyword: str) -> str:
        if self._token.kind != "block":
            raise self._wrong(f"`{{ SQL }}` after `{keyword}`")
        self._at += 1
        return self._tokens[self._at - 1].text[1:-1].lstrip(_SPACE).rstrip(_SPACE)

    def _wrong(self, expected: str) -> UsageError:
        return self._source.error(self._token.start, expected)


def _tokens(source: Source) -> list[_Token]:
    found = []
    position = 0
    while position < len(source.text):
        match = _TOKEN.match(source.text, position)
        if match is None:
            raise _unreadable(source, position)
        kind, text = match.lastgroup or "", match[0]
        if kind == "quoted":
            kind, text = "word", text[1:-1].replace('""', '"')
        elif kind == "word" and text in _KEYWORDS:
            kind = "keyword"
        if kind != "blank":
            found.append(_Token(kind, text, position))
        position = match.end()
    found.append(_Token("end", "", position))
    return found


def _unreadable(source: Source, position: int) -> UsageError:
    closing = {"{": "`}` at the end of the SQL block", '"': '`"` at the end of the name'}
    expected = closing.get(source.text[position], "a keyword, a name or `{ SQL }`")
    return source.error(position, expected, f"only {source.quote(position)}")
