"""What a campaign says while it runs: a screen on a terminal, plain lines elsewhere."""

import io
import os
from abc import ABC, abstractmethod
from collections import Counter, deque
from types import TracebackType
from typing import Any, Self, TextIO, cast

from rich.console import Console
from rich.live import Live
from rich.text import Text

from acidtest.campaign.screen import WIDTH_MIN, Moment, draw
from acidtest.campaign.view import FoundLine, View
from acidtest.campaign.wording import finding_line, headline, plain_line
from acidtest.casefile import printable

PLAIN_EVERY_S = 10.0
DRAW_EVERY_S = 0.5
"""A terminal is drawn more rarely than the coordinator has news: the cores are for the workers."""

SPEED_OVER_S = 10.0
"""`Now` is the mean of so many seconds."""


class Status(ABC):
    """A status that is told of every moment, and decides itself what of it is worth showing."""

    @abstractmethod
    def update(self, view: View) -> None:
        """Show how things stand; cheap enough to be called several times a second."""

    @abstractmethod
    def note(self, text: str) -> None:
        """Show a warning that stays."""

    @abstractmethod
    def close(self) -> None:
        """Show no more, and give the terminal back."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def make_status(stream: TextIO | None, plain: bool | None = None) -> Status:
    """A screen on a terminal that can have one, plain lines elsewhere; `plain` decides otherwise. Without a
    stream nothing is shown, and no more when it fails: a campaign does not end because nobody looks."""
    careful = cast(TextIO, _Careful(stream or io.StringIO()))
    console = Console(file=careful, force_terminal=True)
    if plain is None:
        dumb = os.environ.get("TERM", "dumb").lower() in ("dumb", "unknown")
        plain = dumb or not careful.isatty() or console.width < WIDTH_MIN
    return Plain(careful) if plain else Screen(console)


class _Careful:
    """A stream that is written to until that fails, and never again."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._failed = False

    def write(self, text: str) -> int:
        if not self._failed:
            try:
                self._stream.write(text)
            except (OSError, ValueError):
                self._failed = True
        return len(text)

    def flush(self) -> None:
        if not self._failed:
            try:
                self._stream.flush()
            except (OSError, ValueError):
                self._failed = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Speed:
    """Cases a minute over the last seconds."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def now(self, view: View) -> float:
        """The speed after this view was seen as well; the average while there is too little to tell."""
        self._seen.append((view.session_s, view.session_cases))
        while len(self._seen) > 2 and view.session_s - self._seen[1][0] >= SPEED_OVER_S:
            self._seen.popleft()
        since_s, since_cases = self._seen[0]
        seconds = view.session_s - since_s
        return 60 * (view.session_cases - since_cases) / seconds if seconds >= 1 else view.cases_per_minute


class News:
    """What of a view has not been told yet."""

    def __init__(self) -> None:
        self._numbers: set[int] = set()
        self._notes: tuple[str, ...] = ()
        self._ahead: Counter[str] = Counter()

    def findings(self, view: View) -> list[FoundLine]:
        """Findings of this session that are new here; a resumed campaign does not tell its old ones again."""
        began_s = view.elapsed_s - view.session_s
        unseen = [found for found in view.found if found.number not in self._numbers]
        self._numbers.update(found.number for found in unseen)
        return [found for found in unseen if found.seconds >= began_s]

    def notes(self, view: View) -> list[str]:
        """Notes that came in. A view holds the last ones only: the end of the old ones is its beginning."""
        known = len(self._notes)
        while self._notes[len(self._notes) - known :] != view.notes[:known]:
            known -= 1
        self._notes = view.notes
        return [text for text in view.notes[known:] if not self._was_told(text)]

    def told(self, text: str) -> None:
        """This note was shown at once, before it came with a view."""
        self._ahead[text] += 1

    def _was_told(self, text: str) -> bool:
        was_told = self._ahead[text] > 0
        self._ahead[text] -= was_told
        return was_told


class Plain(Status):
    """Lines for logs and pipes: one every ten seconds, and findings and notes as they come."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._speed, self._news = Speed(), News()
        self._last_s: float | None = None

    def update(self, view: View) -> None:
        speed = self._speed.now(view)
        if self._last_s is None:
            self._write(headline(view))
            self._last_s = view.session_s
        for text in self._news.notes(view):
            self._write(f"note: {printable(text)}")
        for found in self._news.findings(view):
            self._write(finding_line(found))
        if view.session_s - self._last_s >= PLAIN_EVERY_S:
            self._write(plain_line(view, speed))
            self._last_s = view.session_s

    def note(self, text: str) -> None:
        self._news.told(text)
        self._write(f"note: {printable(text)}")

    def close(self) -> None:
        self._stream.flush()

    def _write(self, line: str) -> None:
        self._stream.write(line + "\n")
        self._stream.flush()


class Screen(Status):
    """The full screen of a terminal, given back at the end; notes are then printed, so that they stay."""

    def __init__(self, console: Console) -> None:
        self._console = console
        # Redirection is off: standard output may be a file that waits for the summary.
        self._live = Live(
            console=console, screen=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
        )
        self._speed, self._news = Speed(), News()
        self._notes: list[str] = []
        self._last: tuple[View, float] | None = None
        self._drawn_s: float | None = None

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def update(self, view: View) -> None:
        self._notes += self._news.notes(view)
        self._last = view, self._speed.now(view)
        if self._drawn_s is None or view.session_s - self._drawn_s >= DRAW_EVERY_S:
            self._draw(*self._last)
            self._drawn_s = view.session_s

    def note(self, text: str) -> None:
        self._news.told(text)
        self._notes.append(text)
        if self._last is not None:  # no view may come for a while
            self._draw(*self._last)

    def close(self) -> None:
        self._live.stop()
        for text in self._notes:
            self._console.print(Text(f"note: {printable(text)}", style="yellow"))

    def _draw(self, view: View, speed: float) -> None:
        size = self._console.size
        ascii_only = self._console.options.ascii_only
        moment = Moment(view, speed, tuple(self._notes))
        self._live.update(draw(moment, size.width, size.height, ascii_only=ascii_only), refresh=True)
