"""Reports: what they say, and that SQL and values of a DBMS stay text, read by a Markdown parser."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from acidtest.casefile import parse_case, printable
from acidtest.execute import Executor
from acidtest.findings import Finding, Sighting
from acidtest.findings.parts import Crash
from acidtest.findings.signature import Signature
from acidtest.model import Known, Level, Status, ViolationKind
from acidtest.report.findings import replay_command, report, status_of
from acidtest.report.markdown import block, code, folded, inline, table
from acidtest.report.prose import released_together
from acidtest.report.timeline import Entry, EntryKind, as_grid, timeline
from acidtest.report.titles import title
from acidtest.targets.resolve import open_target
from tests.unit.found import planted

NASTY = "```\n</details><script>alert(1)</script> | *b* _i_ [x](y) ~~~ # &amp; \\ $a$"


@pytest.fixture(scope="module")
def finding() -> Finding:
    return planted("own-write-unseen")


def parse(markdown: str) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(markdown)


def flat(tokens: list[Token]) -> list[Token]:
    return [one for token in tokens for one in (token, *flat(token.children or []))]


def text_of(markdown: str) -> str:
    """What a reader sees of one paragraph."""
    opened, content, closed = parse(markdown)
    assert (opened.type, closed.type) == ("paragraph_open", "paragraph_close")
    assert {one.type for one in content.children or []} <= {"text", "text_special", "code_inline"}
    return "".join(one.content for one in content.children or [])


def seen_on_one_line(text: str) -> str:
    return printable(" ".join(text.split()))


# -- markup

markup_like = st.text(st.sampled_from("`*_{}[]()<>#|~$!&;\\-+=.:/ \n1ab'\"") | st.characters(), min_size=1)


@given(markup_like.filter(lambda text: text.strip() and "://" not in text))
def test_inline_text_is_shown_as_it_is(text: str) -> None:
    assert text_of(inline(text)) == seen_on_one_line(text)


@given(markup_like.filter(lambda text: text.strip()))
def test_code_is_shown_as_it_is(text: str) -> None:
    assert " ".join(text_of(code(text)).split()) == seen_on_one_line(text)


def test_a_command_is_shown_to_the_letter() -> None:
    assert code("acidtest run 'two  spaces.sql'") == "`acidtest run 'two  spaces.sql'`"


def test_what_opens_on_a_click_has_a_title_without_markup() -> None:
    assert "<summary>0_1 #3! &lt;b&gt;</summary>" in folded("0_1 #3! <b>", "x")


@given(markup_like)
def test_a_block_holds_all_of_its_text(text: str) -> None:
    (token,) = parse(block(text, "sql"))
    assert token.type == "fence"
    shown = "".join(char if char in "\n\t" else printable(char) for char in text)
    assert token.content.rstrip("\n") == shown.rstrip("\n")


@given(st.lists(st.tuples(markup_like, markup_like), max_size=3))
def test_a_table_keeps_its_cells(rows: list[tuple[str, str]]) -> None:
    tokens = parse(table(("a", "b"), rows))
    cells = [tokens[i + 1] for i, token in enumerate(tokens) if token.type == "td_open"]
    assert len(cells) == 2 * len(rows)
    assert not [one for one in flat(tokens) if one.type.startswith(("html", "image", "em_", "strong_"))]


def test_addresses_become_links_and_keep_their_underscores() -> None:
    told = inline("See https://example.org/a_b_c.html?x=1&y=*. Or (https://example.org/d).")
    (links,) = [
        [child.attrs["href"] for child in one.children or [] if child.type == "link_open"]
        for one in parse(told)
        if one.type == "inline"
    ]
    assert links == ["https://example.org/a_b_c.html?x=1&y=*", "https://example.org/d"]


# -- titles


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("own-write-unseen", "REPEATABLE READ: a transaction does not see its own UPDATE"),
        ("dirty-read", "READ COMMITTED: a SELECT shows what is not committed"),
        (
            "update-without-lock",
            "SERIALIZABLE: an UPDATE does not wait for a lock that another transaction holds",
        ),
        ("lost-update", "REPEATABLE READ: tables end with wrong rows"),
        ("locking-read-of-snapshot", "REPEATABLE READ: a SELECT FOR UPDATE returns wrong rows"),
        ("resumed-keeps-old-matches", "SERIALIZABLE: a DELETE that waited reports a wrong affected count"),
        ("resumed-insert-unchecked", "SERIALIZABLE: an INSERT that waited succeeds where it has to fail"),
    ],
)
def test_the_title_names_the_anomaly(fault: str, words: str) -> None:
    assert title(planted(fault)) == words


def test_the_title_of_a_crash_and_of_what_an_older_version_stored(finding: Finding) -> None:
    signature = Signature(ViolationKind.CRASH, Crash(died=True))
    crash = replace(finding, kind="crash", level="mixed", verdicts=(), identity=signature)
    assert title(crash) == "mixed levels: the server fails"
    assert title(replace(crash, identity=None, summary="it is odd")) == "mixed levels: it is odd"


# -- reports


def test_a_report_has_all_that_a_tracker_wants(finding: Finding) -> None:
    full = replace(
        finding,
        resembles=("MDEV-26642", "GONE-1"),
        explained_by=(Known("X-1", "same-value update", Status.DISPUTED, "https://example.org/x"),),
        disagreement="solver found a violation, views did not",
        levels=(Sighting(finding.target, "1.0", "RC", "does not show"),),
        elsewhere=(Sighting("mysql@9.7", "9.7.4", "RR", "not run", "refuses | all"),),
        settings={"sql_mode": "STRICT"},
    )
    told = report(full)
    assert told.startswith("# REPEATABLE READ: a transaction does not see its own UPDATE\n")
    headings = [line for line in told.splitlines() if line.startswith("## ")]
    assert headings == [
        "## Summary",
        "## How to repeat",
        "## Timeline",
        "## Expected and observed",
        "## Why it is wrong",
        "## Where it shows",
        "## Known as",
        "## How it was found",
    ]
    assert "| setting sql\\_mode | STRICT |" in told
    assert "expected: (1,11) (2,20)\nobserved: (1,10) (2,20)" in told
    assert "| RC | does not show |  |" in told
    assert "| mysql@9.7 | 9.7.4 | RR | not run | refuses \\| all |" in told
    assert "<https://jira.mariadb.org/browse/MDEV-26642>" in told
    assert "- GONE-1\n" in told
    assert "- X-1 (disputed): same-value update, <https://example.org/x>" in told
    assert "The oracles disagree: solver found a violation, views did not." in told
    assert "10 of 10 runs" in told
    assert "oracles: solver, views, replay, seed 7" in told
    assert "`acidtest run minimal.sql --target simulated@own-write-unseen --level RR`" in told


def test_the_run_stands_in_the_report_without_front_and_verdicts(finding: Finding) -> None:
    fences = [token.content for token in parse(report(finding)) if token.type == "fence"]
    assert fences[0].startswith("-- setup\nCREATE TABLE t")
    assert "/* tx1 */ SELECT * FROM t;                   -- (1,10) (2,20)\n" in fences[0]
    assert fences[0].endswith("-- t: (1,11) (2,20)\n")
    assert fences[-1] == finding.original


def test_a_flaky_finding_says_so(finding: Finding) -> None:
    assert "It does not always show" not in report(finding)
    assert "It does not always show: seen in 3 of 10 runs." in report(replace(finding, shown=3))


def test_mixed_levels_are_named_by_session() -> None:
    mixed = planted("own-write-unseen", Level.REPEATABLE_READ)
    mixed = replace(mixed, level="mixed")
    told = report(mixed)
    assert "Isolation levels: tx1 REPEATABLE READ" in told
    assert "--level" not in replay_command(mixed)


def test_a_new_finding_says_that_nothing_is_known_of_it(finding: Finding) -> None:
    assert "No known behaviour of this server explains it." in report(finding)
    assert status_of(finding) == "NEW"
    assert status_of(replace(finding, resembles=("A-1",))) == "NEW, resembles A-1"
    assert status_of(replace(finding, disagreement="x", resembles=("A-1",))) == "oracles disagree"
    known = Known("X-1", "x", Status.DOCUMENTED, "https://example.org")
    assert status_of(replace(finding, explained_by=(known,))) == "explained by X-1 (documented)"


def test_hostile_texts_stay_text(finding: Finding) -> None:
    run = f"-- setup\nCREATE TABLE t (a TEXT);\n-- schedule\n/* tx1 */ SELECT '{NASTY}';\n"
    hostile = replace(
        finding,
        minimal=run,
        observed=run,
        original=run,
        summary=NASTY,
        explanation=(NASTY,),
        target=NASTY,
        version=NASTY,
        settings={NASTY: NASTY},
        signature=NASTY,
        resembles=(NASTY,),
        explained_by=(Known(NASTY, NASTY, Status.CONFIRMED, NASTY),),
        reduction=NASTY,
        case=NASTY,
        log=NASTY,
        verdicts=({**finding.verdicts[0], "expected": NASTY, "observed": NASTY, "statement": 0},),
        levels=(Sighting(NASTY, NASTY, NASTY, NASTY, NASTY),),
        elsewhere=(Sighting(NASTY, NASTY, NASTY, NASTY, NASTY),),
    )
    tokens = flat(parse(report(hostile)))
    raw = [one.content.split(">")[0] for one in tokens if one.type in ("html_block", "html_inline")]
    assert raw == ["<details", "</details", "<details", "</details"]
    assert not [one for one in tokens if one.type in ("em_open", "strong_open", "link_open", "image")]
    fences = [one.content for one in tokens if one.type == "fence"]
    assert [fence.rstrip("\n") for fence in fences] == [
        run.rstrip("\n"),
        f"expected: {NASTY}\nobserved: {NASTY}",
        run.rstrip("\n"),
        NASTY,
    ]


def test_the_replay_line_is_safe_for_a_shell(finding: Finding) -> None:
    line = replay_command(replace(finding, target="tidb@8.5.4?mode=optimistic"), "a folder/minimal.sql")
    assert line == "acidtest run 'a folder/minimal.sql' --target 'tidb@8.5.4?mode=optimistic' --level RR"


# -- timelines


QUEUE = """-- setup
CREATE TABLE t (a INT PRIMARY KEY);
INSERT INTO t VALUES (1), (2);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = a + 10;
/* tx2 */ DELETE FROM t WHERE a = 1;
/* tx3 */ DELETE FROM t WHERE a = 2;
/* tx1 */ ROLLBACK;
"""


def test_a_timeline_has_a_lane_for_each_session() -> None:
    with open_target("simulated") as target, Executor(target) as executor:
        history = executor.run(parse_case(QUEUE, "queue").at_level(Level.READ_COMMITTED))
    line = timeline(history)
    assert line.sessions == ("tx1", "tx2", "tx3")
    assert Entry("tx2", 2, EntryKind.WAITS, "waits for tx1") in line.entries
    lanes = as_grid(line)
    assert lanes.head == line.sessions
    assert all(sum(map(bool, row)) == 1 for row in lanes.rows)
    assert ("", "DELETE FROM t WHERE a = 1; waits for tx1", "") in lanes.rows
    together = released_together(history)
    assert together is not None
    assert together.startswith(
        "2 sessions (tx2, tx3) were released together by tx1 ROLLBACK; it shows when tx"
    )


def test_sessions_that_were_not_released_together_are_not_told(finding: Finding) -> None:
    assert finding.run is not None
    assert released_together(finding.run.history) is None
