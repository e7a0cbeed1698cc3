"""The status screen: panels in the spirit of AFL++, laid out for the terminal as it is now.

Every line is a rich Text that is made of plain strings, so nothing that a case or a DBMS says is markup. The
lines are composed here and not by rich's Layout, which costs several times as much.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.box import ASCII, ROUNDED
from rich.text import Text

from acidtest.campaign.view import FoundLine, View
from acidtest.campaign.wording import (
    NEW,
    clock,
    found_counts,
    share,
    stage_shares,
    top_reasons,
    verdict_counts,
)
from acidtest.casefile import printable

REJECTED_SHARE_MAX = 0.03
"""More rejected statements than this say that the generator does not fit the DBMS."""

ALARM, WARNING, QUIET = "bold red", "yellow", "dim"

WIDTH_MIN = 40
_TWO_COLUMNS, _THREE_COLUMNS = 72, 110
"""Terminals that have room for so many panels side by side."""

_NOTES_MAX = 2
_FOUND_MIN = 2
"""Lines for findings that a small terminal still has."""


@dataclass(frozen=True, slots=True)
class Moment:
    """What is drawn: a view, and what it does not tell: the speed of the last seconds, and all notes."""

    view: View
    now_per_minute: float
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Panel:
    """A box: at least `least` lines high, and with lines worth showing up to `most`."""

    title: str
    lines: Callable[[Moment, int], list[Text]]
    least: int
    most: int


def draw(moment: Moment, width: int, height: int, *, ascii_only: bool = False) -> Text:
    """The whole screen, not larger than asked for."""
    view, width = moment.view, max(width, WIDTH_MIN)
    head = _head(view)
    notes = [_text(note, WARNING) for note in moment.notes[-_NOTES_MAX:]] if height >= 20 else []
    rows = _rows(view, 1 + (width >= _TWO_COLUMNS) + (width >= _THREE_COLUMNS))
    room = height - len(head) - len(notes) - 2
    while rows and sum(_heights(rows, 0)) + 2 * len(rows) >= room:
        rows.pop()  # too small a terminal; what is new matters most
    heights = _heights(rows, room - _FOUND_MIN)
    lines = [*head]
    for row, inner in zip(rows, heights, strict=True):
        lines += _side_by_side(row, moment, width, inner, ascii_only)
    room = max(height - len(lines) - len(notes) - 2, 1)
    title = f"findings: {found_counts(view)}"
    lines += _box(title, _findings(view, room), width, room, ascii_only, ALARM if view.new else "not dim")
    return Text("\n").join(_fitted(line, width) for line in [*lines, *notes][:height])


def _rows(view: View, columns: int) -> list[tuple[Panel, ...]]:
    oracles, reasons = len(verdict_counts(view.statistics, view.oracles)), len(view.statistics.undecided)
    panels = (
        Panel("process timing", _timing, 3, 3),
        Panel("overall", _overall, 3, 3),
        Panel("judged", _judged, 4, 2 + min(reasons, 8)),
        Panel("cases", _cases, 4, 4),
        Panel("oracles: pass/violation/unknown", _oracles, 4, oracles),
        Panel("time by stage, and workers", _workers, 4, 1 + min(len(view.workers), 16)),
    )
    return [panels[start : start + columns] for start in range(0, len(panels), columns)]


def _heights(rows: Sequence[tuple[Panel, ...]], room: int) -> list[int]:
    """Lines inside the boxes of each row. What is left goes to those that have more to say, half of it at
    most: the other half is for the findings."""
    heights = [max(panel.least for panel in row) for row in rows]
    spare = max(room - sum(heights) - 2 * len(rows), 0) // 2
    for place, row in enumerate(rows):
        more = min(max(max(panel.most for panel in row) - heights[place], 0), spare)
        heights[place] += more
        spare -= more
    return heights


def _head(view: View) -> list[Text]:
    return [
        _text("acidtest fuzz  " + ", ".join(view.targets), "bold"),
        _text(
            f"levels {' '.join(view.levels)}  profile {view.profile}  seed {view.seed}  into {view.folder}",
        ),
    ]


def _timing(moment: Moment, _room: int) -> list[Text]:
    view = moment.view
    limit = "no limit"
    if view.limit_s is not None:
        limit = f"{clock(view.limit_s - view.elapsed_s)} of {clock(view.limit_s)}"
    elif view.limit_cases is not None:
        limit = f"{max(view.limit_cases - view.statistics.cases, 0):,} of {view.limit_cases:,} cases"
    last = max((found.seconds for found in view.found if not found.known), default=None)
    ago = "none yet" if last is None else f"{clock(view.elapsed_s - last)} ago"
    return _pairs(("run time", clock(view.elapsed_s)), ("remaining", limit), ("last new find", ago))


def _overall(moment: Moment, _room: int) -> list[Text]:
    view = moment.view
    return _pairs(
        ("cases", f"{view.statistics.cases:,}"),
        ("cases/min", f"{moment.now_per_minute:,.0f}, average {view.cases_per_minute:,.0f}"),
        ("violations", f"{view.statistics.violations:,} cases"),
    )


def _judged(moment: Moment, room: int) -> list[Text]:
    counted = moment.view.statistics
    undecided = sum(counted.undecided.values())
    lines = _pairs(
        ("judged", f"{counted.judged:,} ({share(counted.judged, counted.cases)})"),
        ("undecided", f"{undecided:,} ({share(undecided, counted.cases)})"),
    )
    reasons = top_reasons(counted.undecided, max(room - len(lines), 0))
    return lines + [_text(f"  {number:,} {reason}", QUIET) for reason, number in reasons]


def _cases(moment: Moment, _room: int) -> list[Text]:
    counted = moment.view.statistics
    too_many = counted.rejected > REJECTED_SHARE_MAX * counted.statements
    lines = _pairs(
        ("blocked", share(counted.blocked, counted.cases)),
        ("conflicting", share(counted.conflicting, counted.cases)),
        ("rejected", f"{share(counted.rejected, counted.statements)} of statements"),
        ("deadlocks", f"{counted.deadlocks:,} ({share(counted.deadlocks, counted.cases)})"),
    )
    if too_many:
        lines[2].stylize(WARNING)
    return lines


def _oracles(moment: Moment, room: int) -> list[Text]:
    view = moment.view
    counts = verdict_counts(view.statistics, view.oracles)
    said = {name: " / ".join(f"{number:,}" for number in one.values()) for name, one in counts.items()}
    return _pairs(*said.items())[:room]


def _workers(moment: Moment, room: int) -> list[Text]:
    view = moment.view
    stages = _text(stage_shares(view.statistics.seconds))
    troubles = [
        f"{what}: {number:,}"
        for what, number in (
            ("workers lost", view.replaced),
            ("servers crashed", view.crashes),
            ("defects of acidtest", view.statistics.defects),
        )
        if number
    ]
    lines = [stages] + ([_text(", ".join(troubles), ALARM)] if troubles else [])
    left = room - len(lines)
    shown = view.workers if len(view.workers) <= left else view.workers[: max(left - 1, 0)]
    lines += [_text(f"{worker.number}: {worker.doing}") for worker in shown]
    if len(shown) < len(view.workers):
        lines.append(_text(f"and {len(view.workers) - len(shown)} workers more", QUIET))
    return lines[:room]


def _findings(view: View, room: int) -> list[Text]:
    """The last findings, the newest first."""
    if not view.found:
        return [_text("none yet", QUIET)]
    latest = sorted(view.found, key=lambda found: -found.number)
    return [_finding(found, several=len(view.targets) > 1) for found in latest[:room]]


def _finding(found: FoundLine, *, several: bool) -> Text:
    line = _text(f"{found.number:>3} {clock(found.seconds)} ")
    line.append(printable(found.status or found.known or NEW), style="" if found.known else ALARM)
    if found.flaky:
        line.append(printable(f" flaky {found.flaky}"), style=WARNING)
    where = f"{found.target} {found.level}" if several else found.level
    line.append(printable(f" {where}: {found.summary}"))
    return line


def _side_by_side(
    row: Sequence[Panel], moment: Moment, width: int, inner: int, ascii_only: bool
) -> list[Text]:
    """The boxes of a row; the last one takes the columns that do not divide."""
    part = width // len(row)
    widths = [part] * (len(row) - 1) + [width - part * (len(row) - 1)]
    boxes = [
        _box(panel.title, panel.lines(moment, inner), own, inner, ascii_only)
        for panel, own in zip(row, widths, strict=True)
    ]
    return [Text().join(pieces) for pieces in zip(*boxes, strict=True)]


def _box(
    title: str, lines: Sequence[Text], width: int, inner: int, ascii_only: bool, style: str = "not dim"
) -> list[Text]:
    box, title = ASCII if ascii_only else ROUNDED, title[: width - 6]
    filling = box.top * (width - 5 - len(title))
    top = _text(f"{box.top_left}{box.top} {title} {filling}{box.top_right}", QUIET)
    top.stylize(style, 3, 3 + len(title))
    left, right = _text(f"{box.mid_left} ", QUIET), _text(f" {box.mid_right}", QUIET)
    padded = [*lines[:inner], *(Text() for _ in range(inner - len(lines)))]
    content = [Text().join((left, _fitted(line, width - 4), right)) for line in padded]
    return [top, *content, _text(f"{box.bottom_left}{box.bottom * (width - 2)}{box.bottom_right}", QUIET)]


def _text(content: str, style: str = "") -> Text:
    return Text(printable(content), style=style, no_wrap=True, end="")


def _pairs(*pairs: tuple[str, str]) -> list[Text]:
    """Names and values in two columns."""
    widest = max((len(name) for name, _ in pairs), default=0)
    return [_text(f"{name:>{widest}} : {value}") for name, value in pairs]


def _fitted(line: Text, width: int) -> Text:
    """The line with exactly that many columns; a long one ends with dots."""
    line.truncate(width, overflow="ellipsis", pad=True)
    return line
