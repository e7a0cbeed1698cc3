"""What a campaign says while it runs: the screen fits its terminal, the plain lines are few and prompt."""

import io
from collections import Counter
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from acidtest.campaign.screen import Moment, draw
from acidtest.campaign.status import DRAW_EVERY_S, PLAIN_EVERY_S, Plain, Screen, make_status
from acidtest.campaign.view import View, WorkerLine
from acidtest.campaign.wording import clock, share, split_target
from tests.unit.campaign_views import first, found, middle

ENTER_SCREEN, LEAVE_SCREEN = "\x1b[?1049h", "\x1b[?1049l"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(view: View, width: int, height: int, notes: tuple[str, ...] = ()) -> list[str]:
    console = Console(record=True, file=io.StringIO(), width=width, height=height, force_terminal=True)
    console.print(draw(Moment(view, 9_000.0, notes), width, height))
    return console.export_text(styles=False).splitlines()


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40)])
def test_the_screen_fits_and_says_it_all(width: int, height: int) -> None:
    lines = shown(middle(), width, height, ("worker 2 died",))
    assert len(lines) == height
    assert {cell_len(line) for line in lines} == {width}
    text = "\n".join(lines)
    for part in (
        "mariadb@10.11 10.11.19-MariaDB",
        "levels RC RR  profile simple  seed 4711  into out",
        "run time : 00:01:10",
        "remaining : 00:08:50 of 00:10:00",
        "last new find : 00:00:30 ago",
        "cases : 12,345",
        "cases/min : 9,000, average 10,581",
        "violations : 19",
        "judged : 12,270 (99.4%)",
        "undecided : 75 (0.6%)",
        "20 foreign keys",
        "blocked : 41%",
        "conflicting : 89%",
        "rejected : 0.2% of statements",
        "deadlocks : 120 (1.0%)",
        "solver : 12,250 / 19 / 76",
        "views : 0 / 0 / 0",
        "gen 5 exec 75 judge 20 %",
        "1: mariadb@10.11 RR, case 1,240",
        "2: reducing",
        "findings: 1 new, 1 known, 16 duplicate",
        "1 00:00:10 MDEV-26642 RR: ",
        "2 00:00:40 NEW flaky 3 of 10 RR: ",
        "worker 2 died",
    ):
        assert part in text


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_what_a_case_says_is_never_markup(size: tuple[int, int]) -> None:
    text = "\n".join(shown(middle(), *size, ("[blink]note[/blink]",)))
    assert "[bold red]wrong[/bold red] rows at SELECT '[/]'" in text
    assert "[blink]note[/blink]" in text
    assert "\x1b" not in text


def test_the_most_frequent_reasons_come_first() -> None:
    lines = shown(middle(), 120, 40)
    places = [
        next(at for at, line in enumerate(lines) if part in line) for part in ("50 the", "20 for", "5 SET")
    ]
    assert places == sorted(places)


def test_the_newest_findings_come_first_where_there_is_no_room_for_all() -> None:
    view = replace(middle(), found=tuple(found(number) for number in range(1, 60)))
    text = "\n".join(shown(view, 80, 24))
    assert " 59 00:00:41 NEW" in text
    assert "  1 00:00:41 NEW" not in text


def test_the_first_moment_divides_by_nothing() -> None:
    text = "\n".join(shown(first(), 80, 24))
    for part in ("judged : 0 (-)", "blocked : -", "nothing done yet", "none yet", "100 of 100 cases"):
        assert part in text


@pytest.mark.parametrize(("width", "height"), [(40, 8), (20, 3), (60, 16), (79, 23), (300, 100), (110, 24)])
def test_any_size_is_respected(width: int, height: int) -> None:
    many = replace(
        middle(),
        workers=tuple(WorkerLine(number, "mariadb@10.11 RR", 1) for number in range(64)),
        statistics=replace(middle().statistics, undecided=Counter({f"reason {n}": n for n in range(1, 99)})),
    )
    lines = draw(Moment(many, 0.0, ("one", "two", "three")), width, height).plain.split("\n")
    assert len(lines) <= height
    assert {cell_len(line) for line in lines} == {max(width, 40)}


@pytest.mark.parametrize(("width", "side_by_side"), [(71, 1), (72, 2), (109, 2), (110, 3)])
def test_panels_stand_side_by_side_where_there_is_room(width: int, side_by_side: int) -> None:
    lines = draw(Moment(middle(), 0.0), width, 60).plain.split("\n")
    top = next(line for line in lines if "process timing" in line)
    assert top.count("╭") == side_by_side
    assert any("last new find : 00:00:30 ago" in line for line in lines)


def test_a_narrow_terminal_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "39")
    assert isinstance(make_status(Terminal()), Plain)
    monkeypatch.setenv("COLUMNS", "40")
    assert isinstance(make_status(Terminal()), Screen)


class Broken(Terminal):
    """A stream whose reader goes away, or that is closed."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self._error = error
        self.fails = False

    def write(self, text: str) -> int:
        if self.fails:
            raise self._error
        return super().write(text)


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("error", [BrokenPipeError(), OSError(28, "full"), ValueError("closed file")])
def test_a_status_that_cannot_be_written_goes_mute(error: Exception, plain: bool) -> None:
    stream = Broken(error)
    with make_status(stream, plain) as status:
        status.update(first())
        stream.fails = True
        status.note("nobody reads this")
        status.update(middle())
        stream.fails = False
        status.note("nor this")
    assert "read" not in stream.getvalue()
    assert "nor this" not in stream.getvalue()


def test_without_a_stream_nothing_is_shown() -> None:
    with make_status(None) as status:
        status.update(first())
        status.note("nobody reads this")


def test_a_small_terminal_still_shows_the_newest_finding() -> None:
    text = draw(Moment(middle(), 0.0), 80, 12).plain
    assert "2 00:00:40 NEW" in text
    assert "time by stage" not in text


def test_wide_characters_do_not_break_the_boxes() -> None:
    wide = replace(middle(), folder="試験" * 40, workers=(WorkerLine(1, "日本語" * 30, 1),))
    assert {cell_len(line) for line in draw(Moment(wide, 0.0), 80, 24).plain.split("\n")} == {80}


def test_ascii_terminals_get_ascii_boxes() -> None:
    text = draw(Moment(first(), 0.0), 80, 24, ascii_only=True).plain
    assert text.isascii()
    assert "+- process timing -" in text


def test_too_many_rejected_statements_are_marked() -> None:
    def styles(rejected: int) -> set[str]:
        view = replace(middle(), statistics=replace(middle().statistics, rejected=rejected))
        drawn = draw(Moment(view, 0.0), 80, 24)
        at = drawn.plain.index("rejected :")
        return {str(span.style) for span in drawn.spans if span.start <= at < span.end}

    assert "yellow" not in styles(300)
    assert "yellow" in styles(30_000)


def test_a_terminal_gets_the_screen_and_gets_it_back_with_the_notes() -> None:
    terminal = Terminal()
    with make_status(terminal, plain=False) as status:
        assert isinstance(status, Screen)
        status.update(middle())
        status.note("the disk is [b]nearly[/b] full :bug:")
        assert "the disk is [b]nearly[/b] full" in terminal.getvalue()
        status.update(replace(middle(), notes=("the disk is [b]nearly[/b] full :bug:", "worker 2 died")))
    before, after = terminal.getvalue().split(LEAVE_SCREEN)
    assert ENTER_SCREEN in before
    assert "process timing" in before
    assert after.count("note: the disk is [b]nearly[/b] full :bug:") == 1
    assert after.count("note: worker 2 died") == 1


def test_the_terminal_is_given_back_when_something_fails() -> None:
    terminal = Terminal()

    def interrupted() -> None:
        with make_status(terminal, plain=False) as status:
            status.update(first())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert terminal.getvalue().count(ENTER_SCREEN) == terminal.getvalue().count(LEAVE_SCREEN) == 1


def test_the_screen_is_drawn_at_most_every_half_second() -> None:
    terminal = Terminal()
    with make_status(terminal, plain=False) as status:
        status.update(replace(middle(), session_s=10.0))
        drawn = len(terminal.getvalue())
        status.update(replace(middle(), session_s=10.0 + DRAW_EVERY_S / 2))
        assert len(terminal.getvalue()) == drawn
        status.update(replace(middle(), session_s=10.0 + DRAW_EVERY_S))
        assert len(terminal.getvalue()) > drawn


@pytest.mark.parametrize(
    ("stream", "term", "plain"),
    [
        (io.StringIO(), "xterm", True),
        (Terminal(), "dumb", True),
        (Terminal(), None, True),
        (Terminal(), "xterm-256color", False),
    ],
)
def test_who_gets_plain_lines(
    stream: io.StringIO, term: str | None, plain: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TERM", raising=False)
    if term is not None:
        monkeypatch.setenv("TERM", term)
    assert isinstance(make_status(stream), Plain) is plain


def test_plain_lines_come_every_ten_seconds() -> None:
    out = io.StringIO()
    with make_status(out, plain=True) as status:
        quiet = replace(middle(), found=())
        for tenth in range(251):
            seconds = tenth / 10
            status.update(replace(quiet, elapsed_s=seconds, session_s=seconds, session_cases=tenth * 10))
    lines = out.getvalue().splitlines()
    assert lines[0] == (
        "fuzzing mariadb@10.11 10.11.19-MariaDB at RC, RR; oracles solver, views, crash;"
        " profile simple; seed 4711; into out"
    )
    expected = "  12,345 cases  6,000/min  judged 99.4%  blocked 41%  findings 1 new, 1 known, 16 duplicate"
    assert lines[1:] == [f"00:00:{int(n * PLAIN_EVERY_S)}{expected}" for n in (1, 2)]


def test_plain_speed_is_that_of_the_last_seconds() -> None:
    out = io.StringIO()
    with make_status(out, plain=True) as status:
        for second in range(101):
            cases = 100 * min(second, 50)  # it stops halfway
            status.update(replace(first(), elapsed_s=second, session_s=second, session_cases=cases))
    speeds = [line.split("  ")[2] for line in out.getvalue().splitlines()[1:]]
    assert speeds[:5] == ["6,000/min"] * 5
    assert speeds[-1] == "0/min"


def test_findings_are_told_at_once_and_once() -> None:
    out = io.StringIO()
    with make_status(out, plain=True) as status:
        status.update(first())
        for _ in range(3):
            status.update(replace(middle(), elapsed_s=1.0, session_s=1.0))
    lines = out.getvalue().splitlines()[1:]
    what = "[bold red]wrong[/bold red] rows at SELECT '[/]' \\x1b[31mFROM t\\nWHERE a"
    assert lines == [
        f"finding 1 after 10 s: mariadb@10.11 RR: {what} (MDEV-26642) -> out/findings/1",
        f"finding 2 after 40 s: mariadb@10.11 RR: {what} (NEW, flaky, shows 3 of 10) -> out/findings/2",
    ]


def test_a_resumed_campaign_does_not_tell_its_old_findings_again() -> None:
    out = io.StringIO()
    with make_status(out, plain=True) as status:
        status.update(
            replace(middle(), session_s=35.0)
        )  # it began at 35 s; findings came at 10 s and at 40 s
    assert [line.split(" after")[0] for line in out.getvalue().splitlines()[1:]] == ["finding 2"]


def test_notes_are_told_once_also_when_they_repeat_and_when_old_ones_go() -> None:
    out = io.StringIO()
    with make_status(out, plain=True) as status:
        status.note("a")
        for notes in ((), ("a",), ("a", "b"), ("a", "b"), ("b", "b"), ("b", "c\x1b[2J")):
            status.update(replace(first(), notes=notes))
    lines = [line for line in out.getvalue().splitlines() if line.startswith("note: ")]
    assert lines == ["note: a", "note: b", "note: b", "note: c\\x1b[2J"]


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 0, "-"),
        (0, 7, "0%"),
        (7, 7, "100%"),
        (1, 100_000, "0.1%"),
        (99_999, 100_000, "99.9%"),
        (41, 100, "41%"),
        (9, 1_000, "0.9%"),
    ],
)
def test_shares_never_round_to_all_or_nothing(part: int, whole: int, text: str) -> None:
    assert share(part, whole) == text


def test_clock_and_targets() -> None:
    assert [clock(seconds) for seconds in (-1, 59.9, 3_600, 400_000)] == [
        "00:00:00",
        "00:00:59",
        "01:00:00",
        "111:06:40",
    ]
    assert split_target("postgres 16.4 (Debian 16.4-1)") == ("postgres", "16.4 (Debian 16.4-1)")
    assert split_target("sqlite:///my 2 files/x 3.45.1") == ("sqlite:///my 2 files/x", "3.45.1")
    assert split_target("sqlite") == ("sqlite", None)
