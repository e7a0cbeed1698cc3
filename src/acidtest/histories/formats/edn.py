"""A small reader of EDN: what Jepsen's histories are made of, and no more.

Keywords become strings with their colon, symbols strings, tags are skipped. It is slow beside `json`; the
Jepsen reader takes it for what is not of the usual form.
"""

import re
from typing import Any

from acidtest.errors import UsageError

_TOKEN = re.compile(
    rb"""[\s,]+ | ;[^\n]* | (?P<open>\#?[\[\(\{]) | (?P<close>[\]\)\}])
    | (?P<string>"(?:[^"\\]|\\.)*") | (?P<discard>\#_) | (?P<tag>\#[A-Za-z][^\s,\[\](){}"]*)
    | (?P<char>\\(?:[a-z]+|.)) | (?P<atom>[^\s,\[\](){}"\#;\\]+)""",
    re.VERBOSE | re.DOTALL,
)
_INTEGER = re.compile(rb"[+-]?\d+N?")
_FLOAT = re.compile(rb"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?M?")
_ESCAPE = re.compile(r'\\(u[0-9a-fA-F]{4}|["\\/bfnrt])')
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_CONSTANTS: dict[bytes, Any] = {b"nil": None, b"true": True, b"false": False}
_CLOSES = {b"[": b"]", b"(": b")", b"{": b"}"}
_DEPTH_MAX = 200


class EdnReader:
    """Reads one form after the other from bytes; knows the line it is at."""

    def __init__(self, data: bytes, where: str, line: int = 1) -> None:
        self._data = data
        self._where = where
        self._first_line = line
        self.position = 0

    @property
    def line(self) -> int:
        """The line of the next form."""
        return self._first_line + self._data.count(b"\n", 0, self.position)

    def at_end(self) -> bool:
        """Whether nothing but space is left."""
        while (match := _TOKEN.match(self._data, self.position)) is not None and match.lastgroup is None:
            self.position = match.end()
        return self.position >= len(self._data)

    def enter(self) -> bool:
        """Step into a vector or list that holds everything; False if there is none."""
        if not self.at_end() and self._data[self.position : self.position + 1] in (b"[", b"("):
            self.position += 1
            return True
        return False

    def leave(self) -> bool:
        """Step out of it, if this is where it closes."""
        if not self.at_end() and self._data[self.position : self.position + 1] in (b"]", b")"):
            self.position += 1
            return True
        return False

    def form(self, depth: int = 0) -> Any:
        """The next form."""
        if depth > _DEPTH_MAX:
            raise self.error("brackets are nested too deeply")
        kind, text = self._token()
        match kind:
            case "open":
                return self._collection(text.lstrip(b"#"), depth)
            case "string":
                return self._string(text)
            case "tag":
                return self.form(depth + 1)
            case "discard":
                self.form(depth + 1)
                return self.form(depth + 1)
            case "char":
                return text[1:].decode("utf-8", "replace")
            case "close":
                raise self.error(f"a {text.decode()} closes nothing")
        return self._atom(text)

    def error(self, what: str) -> UsageError:
        """What is wrong, with its line."""
        return UsageError(f"{self._where}, line {self.line}: {what}; is the file cut off, or not EDN?")

    def _token(self) -> tuple[str, bytes]:
        if self.at_end():
            raise self.error("the text ends in the middle of a form")
        match = _TOKEN.match(self._data, self.position)
        if match is None or match.lastgroup is None:
            shown = self._data[self.position : self.position + 20].decode("utf-8", "replace")
            raise self.error(f"cannot read {shown!r}")
        self.position = match.end()
        return match.lastgroup, match[0]

    def _collection(self, opening: bytes, depth: int) -> Any:
        closing = _CLOSES[opening]
        items: list[Any] = []
        while True:
            if self.at_end():
                raise self.error(f"a {closing.decode()} is missing at the end")
            next_one = self._data[self.position : self.position + 1]
            if next_one == closing:
                self.position += 1
                break
            items.append(self.form(depth + 1))
        if opening != b"{":
            return items
        if len(items) % 2:
            return items  # a set
        try:
            return dict(zip(items[::2], items[1::2], strict=True))
        except TypeError:
            return items  # keys that are no names: nothing that is looked for

    def _string(self, text: bytes) -> str:
        try:
            decoded = text[1:-1].decode("utf-8")
        except UnicodeDecodeError as error:
            raise self.error("a string is not UTF-8 (convert the file with iconv)") from error
        return _ESCAPE.sub(_unescape, decoded)

    def _atom(self, text: bytes) -> Any:
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        if _INTEGER.fullmatch(text):
            return int(text.rstrip(b"N"))
        if _FLOAT.fullmatch(text):
            return float(text.rstrip(b"M"))
        try:
            return text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise self.error("a name is not UTF-8 (convert the file with iconv)") from error


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) == 5 else _ESCAPES.get(code, code)
