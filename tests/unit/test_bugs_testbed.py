"""The testbed around the cells: choosing, the cache, the analysis and the bisection."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from acidtest.bugs.analysis import ALL, analyse
from acidtest.bugs.bisecting import Bisection, Change
from acidtest.bugs.cache import CellCache
from acidtest.bugs.cells import Cell, Found
from acidtest.casefile import parse_case
from acidtest.cli.bugs import bugs
from acidtest.errors import UsageError
from acidtest.report.analysis import analysis_as_markdown, analysis_as_svg

CASE = "-- id: one\n-- title: it\n-- kind: wrong rows\n-- schedule\n/* tx1 */ SELECT 1; -- expect: ({})\n"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACIDTEST_CACHE", str(tmp_path / "cache"))


def call(*words: str) -> Result:
    return CliRunner().invoke(bugs, words, standalone_mode=False)


def test_bugs_are_chosen_by_regular_expression_and_by_the_names_of_other_trackers() -> None:
    listed = json.loads(call("list", "mdev-2664[23]", "--json").stdout)["bugs"]
    assert [one["id"] for one in listed] == ["MDEV-26642", "MDEV-26643"]
    assert json.loads(call("list", "TIDB-28212", "--json").stdout)["bugs"][0]["id"] == "MDEV-26642"
    assert "-- id: MDEV-26642" in call("show", "MDEV-26642").stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("list", "("), "is no regular expression"),
        (("list", "no-such-bug"), "no known bug matches 'no-such-bug'"),
        (("show",), "which bug?"),
        (("matrix", "MDEV-26642", "--json", "--markdown"), "exclude each other"),
        (("bisect", "MDEV-"), "name one"),
        (("bisect", "MDEV-26642", "-t", "sqlite"), "0 releases of sqlite are installed"),
        (("bisect", "MDEV-26642", "-t", "simulated"), "no releases"),
        (("bisect", "MDEV-26642", "-l", "all"), "one level"),
        (("analyse", "--plot", "x.png"), "SVG"),
    ],
)
def test_mistakes_are_one_sentence(words: tuple[str, ...], sentence: str) -> None:
    error = call(*words).exception
    assert isinstance(error, UsageError)
    assert sentence in str(error)


def test_run_exits_with_1_if_a_bug_shows(tmp_path: Path) -> None:
    path = tmp_path / "one.sql"
    for value, code, words in ((2, 1, "one on sqlite: shows at SER"), (1, 0, "one on sqlite: does not show")):
        path.write_text(CASE.format(value))
        result = call("run", str(path), "-t", "sqlite")
        assert result.return_value == code
        assert words in result.stdout


def test_a_cell_is_kept_until_the_case_changes(tmp_path: Path) -> None:
    case = parse_case(CASE.format(2), "one.sql")
    cell = Cell("one", "SER", "sqlite", "3", Found.SHOWS, "made up")
    CellCache("sqlite").put(case, None, cell)
    assert CellCache("sqlite").get(case, None) == cell
    assert CellCache("sqlite").get(parse_case(CASE.format(3), "one.sql"), None) is None
    assert CellCache("duckdb").get(case, None) is None
    path = tmp_path / "one.sql"
    path.write_text(CASE.format(2))
    assert "made up" in call("matrix", str(path), "-t", "sqlite", "--json").stdout
    assert "made up" not in call("matrix", str(path), "-t", "sqlite", "--json", "--fresh").stdout
    assert "made up" not in call("matrix", str(path), "-t", "sqlite", "--json").stdout


def test_a_change_of_our_code_makes_kept_cells_worthless(monkeypatch: pytest.MonkeyPatch) -> None:
    case = parse_case(CASE.format(2), "one.sql")
    CellCache("sqlite").put(case, None, Cell("one", "SER", "sqlite", "3", Found.SHOWS))
    monkeypatch.setattr("acidtest.bugs.cache.code_digest", lambda: "another")
    assert CellCache("sqlite").get(case, None) is None


def test_what_is_unknown_and_what_an_address_says_is_not_kept() -> None:
    case = parse_case(CASE.format(2), "one.sql")
    CellCache("sqlite").put(case, None, Cell("one", "SER", "sqlite", "3", Found.UNKNOWN))
    assert CellCache("sqlite").get(case, None) is None
    away = CellCache("mysql://root@127.0.0.1:1/")
    away.put(case, None, Cell("one", "SER", "mysql://root@127.0.0.1:1/", "3", Found.SHOWS))
    assert away.get(case, None) is None


def test_a_page_is_written(tmp_path: Path) -> None:
    path = tmp_path / "one.sql"
    path.write_text(CASE.format(2))
    assert call("matrix", str(path), "-t", "sqlite", "--html", str(tmp_path / "m.html")).exception is None
    assert '<td class="shows"' in (tmp_path / "m.html").read_text()


VERSIONS = [f"mariadb@{number}" for number in range(10)]


def bisected(shows: str, silent: str = "", hints: tuple[str, ...] = ()) -> tuple[list[Change], int]:
    """The changes, and how many versions were tried; versions are digits."""
    tried: list[str] = []

    def look(spec: str) -> Cell | None:
        tried.append(spec)
        number = spec.partition("@")[2]
        if number in silent:
            return None
        return Cell("b", "RR", spec, number, Found.SHOWS if number in shows else Found.HIDDEN)

    return list(Bisection(VERSIONS, look).run(hints).changes), len(tried)


def test_bisection_names_the_two_versions_with_few_tries() -> None:
    changes, tries = bisected("6789")
    assert changes == [Change("mariadb@5", "mariadb@6", True)]
    assert tries <= 6
    assert bisected("0123")[0] == [Change("mariadb@3", "mariadb@4", False)]


def test_bisection_passes_by_versions_that_say_nothing() -> None:
    assert bisected("6789", silent="0459")[0] == [Change("mariadb@3", "mariadb@6", True)]
    assert bisected("", silent="0123456789") == ([], 10)


def test_a_version_where_it_was_seen_shows_both_changes() -> None:
    assert bisected("345")[0] == []
    assert bisected("345", hints=("mariadb@4", "mariadb@77"))[0] == [
        Change("mariadb@2", "mariadb@3", True),
        Change("mariadb@5", "mariadb@6", False),
    ]


def test_the_analysis_counts_bugs_by_the_levels_at_which_they_show() -> None:
    first = parse_case("-- id: a\n-- target: mysql\n-- kind: crash\n-- schedule\n/* tx1 */ SELECT 1;\n", "a")
    second = parse_case("-- id: b\n-- schedule\n/* tx1 */ SELECT 1;\n/* tx2 */ SELECT 1;\n", "b")
    third = parse_case("-- id: c\n-- schedule\n/* tx1 */ SELECT 1;\n", "c")
    cells = [Cell("a", level, "mysql@9", "9", Found.SHOWS) for level in ("RU", "RC", "RR", "SER")]
    cells += [Cell("b", "RR", "mysql@9", "9", Found.SHOWS), Cell("b", "RC", "mysql@8", "8", Found.SHOWS)]
    cells += [Cell("c", "RR", "mysql@9", "9", Found.HIDDEN)]
    analysis = analyse([first, second, third], cells, lambda spec: spec.partition("@")[0])
    assert analysis.subsets() == {ALL: 1, "RC+RR": 1}
    assert analysis.hidden == ("c",)
    assert analysis.by(lambda one: one.kind) == {"crash": 1, "unknown": 1}
    assert analysis.by(lambda one: str(one.sessions)) == {"1": 1, "2": 1}
    text = analysis_as_markdown(analysis)
    assert "| RU+RC+RR+SER | 1 | 100 |" in text
    assert "| RC+RR | 1 | 5 |" in text
    assert analysis_as_svg(analysis).count("<rect") == 2 * 7
