"""The text of a case file and places in it: every complaint names file, line and column."""

from dataclasses import dataclass
from pathlib import Path

from acidtest.errors import UsageError

_FOUND_LENGTH_MAX = 30


@dataclass(frozen=True, slots=True)
class Source:
    """A case file's text: no byte order mark, lines end with a plain newline."""

    name: str
    text: str

    @classmethod
    def of(cls, text: str, name: str) -> "Source":
        """The source of a text as it was read or typed."""
        return cls(name, text.removeprefix("\ufeff").replace("\r\n", "\n"))

    @classmethod
    def read(cls, path: Path) -> "Source":
        """The source in a file; what cannot be read as UTF-8 text is a `UsageError`."""
        try:
            data = path.read_bytes()
        except IsADirectoryError:
            raise _complaint(str(path), "", "a case file", "a directory") from None
        except OSError as problem:
            reason = (problem.strerror or str(problem)).lower()
            raise _complaint(str(path), "", "a case file that can be read", reason) from None
        except ValueError:
            raise _complaint(repr(str(path)), "", "a path", "a NUL character in it") from None
        try:
            return cls.of(data.decode("utf-8"), str(path))
        except UnicodeDecodeError as problem:
            before = data[: problem.start].decode("utf-8").removeprefix("\ufeff")
            found = f"the byte 0x{data[problem.start]:02x}"
            raise _complaint(str(path), before, "text in UTF-8", found) from None

    def beside(self, name: str) -> Path:
        """The path of a file beside this one."""
        return Path(self.name).parent / name

    def error(self, offset: int, expected: str, found: str | None = None) -> UsageError:
        """The error for a place; what stands there is quoted unless `found` says it better."""
        return _complaint(self.name, self.text[:offset], expected, found or self.quote(offset))

    def quote(self, offset: int) -> str:
        """The rest of the line at a place, shortened, for messages."""
        if offset >= len(self.text):
            return "the end of the file"
        line = self.text[offset : self.line_end(offset)].rstrip()
        if not line:
            return "the end of the line"
        shown = line if len(line) <= _FOUND_LENGTH_MAX else line[:_FOUND_LENGTH_MAX] + "..."
        return f"`{printable(shown)}`"

    def line_end(self, offset: int) -> int:
        """Where the line of a place ends."""
        end = self.text.find("\n", offset)
        return len(self.text) if end < 0 else end

    def starts_line(self, offset: int) -> bool:
        """Whether nothing but white space stands before a place on its line."""
        return not self.text[self.text.rfind("\n", 0, offset) + 1 : offset].strip()


def printable(text: str) -> str:
    """The text with characters that a terminal cannot show as escapes."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _complaint(name: str, before: str, expected: str, found: str) -> UsageError:
    line = before.count("\n") + 1
    column = len(before) - (before.rfind("\n") + 1) + 1
    return UsageError(f"{name}:{line}:{column}: expected {expected}, found {found}")
