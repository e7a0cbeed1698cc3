"""`acidtest doctor` on machines that are made up: what it misses, what it says about it, when it is ready."""

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from acidtest import doctor
from acidtest.cli import cli
from acidtest.doctor import Check, Lookups, examine, is_ready
from acidtest.servers.base import Installation, Progress, Release, Unpacked
from acidtest.servers.sources import SOURCES
from acidtest.servers.sources.go import Go
from tests.unit.standins import hide, stand_in

HUGE = 1 << 40


class FakeSource:
    """Has releases of some DBMSs, and may lack something."""

    def __init__(self, name: str, dbmss: Sequence[str], lack: str = "") -> None:
        self.name = name
        self._dbmss = dbmss
        self._lack = lack

    def lacks(self) -> str:
        return self._lack

    def releases(self) -> Sequence[Release]:
        return [Release(dbms, "1", self.name, "package") for dbms in self._dbmss]

    def refresh(self, progress: Progress) -> None:
        raise AssertionError("the network is not asked")

    def fetch(self, release: Release, folder: Path, progress: Progress) -> Unpacked:
        raise AssertionError("nothing is installed")


def installation(dbms: str, source: str = "pypi") -> Installation:
    return Installation(dbms, "1.2.3", source, Path("/srv"), Path("/srv"), {})


FULL = Lookups(
    python=(3, 11, 7),
    is_root=False,
    sources=[FakeSource("pypi", ["postgres", "seekdb"]), FakeSource("go", ["tidb"])],
    which=lambda name: f"/usr/bin/{name}",
    import_problem=lambda module: "",
    version_of=lambda distribution: "1.0",
    cache_problem=lambda: "",
    user_problem=lambda: "",
    free_bytes=lambda folder: HUGE,
    used_bytes=lambda folder: 5_000_000,
    installed=lambda: [installation("postgres")],
    server_problem=lambda one: "",
)
NO_PIP = [FakeSource("pypi", ["postgres"], "this Python has no pip; run: python -m ensurepip")]


def missing(lookups: Lookups) -> dict[str, str]:
    """The remedies, by the names of what is missing."""
    return {check.name: check.remedy for check in examine(lookups) if not check.fine}


def test_nothing_is_missing_on_a_full_machine() -> None:
    assert missing(FULL) == {}
    assert is_ready(examine(FULL))


def test_nothing_at_all_is_told_with_a_remedy_each() -> None:
    bare = Lookups(
        python=(3, 9, 2),
        is_root=True,
        sources=NO_PIP,
        which=lambda name: None,
        import_problem=lambda module: f"No module named {module!r}",
        version_of=lambda distribution: "",
        cache_problem=lambda: "cannot write the cache",
        user_problem=lambda: "Operation not permitted",
        free_bytes=lambda folder: 0,
        used_bytes=lambda folder: 0,
        installed=lambda: [installation("mariadb")],
        server_problem=lambda one: "libaio.so.1 is not there",
    )
    checks = examine(bare)
    assert not any(check.fine for check in checks)
    for check in checks:
        assert check.remedy, check.name
        assert "\n" not in check.remedy
    assert {check.name for check in checks if check.needed} == {
        "Python",
        "psycopg",
        "cache",
        "user",
        "postgres (default)",
    }


@pytest.mark.parametrize(
    ("lookups", "name", "words"),
    [
        (replace(FULL, python=(3, 10, 1)), "Python", "install Python 3.11 or newer"),
        (replace(FULL, import_problem=lambda module: "no pq wrapper"), "psycopg", "no pq wrapper; run: pip"),
        (replace(FULL, cache_problem=lambda: "it is read-only"), "cache", "it is read-only"),
        (replace(FULL, user_problem=lambda: "setuid: no"), "user", "cannot run as this user: setuid: no"),
        (replace(FULL, installed=list, sources=NO_PIP), "postgres (default)", "ensurepip"),
    ],
)
def test_without_what_is_needed_it_is_not_ready(lookups: Lookups, name: str, words: str) -> None:
    assert words in missing(lookups)[name]
    assert not is_ready(examine(lookups))


@pytest.mark.parametrize(
    ("lookups", "names"),
    [
        (replace(FULL, which=lambda name: None), {"tmux", "gcc", "chromium", "chromedriver"}),
        (replace(FULL, version_of=lambda name: "" if name == "sqlglotc" else "1"), {"sqlglotc"}),
        (replace(FULL, version_of=lambda name: "" if name == "duckdb" else "1"), {"duckdb"}),
        (replace(FULL, free_bytes=lambda folder: 1000), {"disk", "shared memory"}),
        (replace(FULL, sources=NO_PIP), {"pypi"}),
        (replace(FULL, sources=[*FULL.sources, FakeSource("npm", ["mysql"], "no npm")]), {"npm"}),
    ],
)
def test_what_is_not_needed_is_told_and_no_hindrance(lookups: Lookups, names: set[str]) -> None:
    assert missing(lookups).keys() == names
    assert is_ready(examine(lookups))


def test_any_of_several_browsers_will_do() -> None:
    only_chrome = replace(FULL, which=lambda name: f"/opt/{name}" if name == "google-chrome" else None)
    assert missing(only_chrome).keys() == {"tmux", "gcc", "chromedriver"}


def test_a_server_that_does_not_run_is_told_with_how_to_renew_it() -> None:
    broken = replace(FULL, server_problem=lambda one: "it needs libaio")
    assert missing(broken) == {
        "postgres@1.2.3": "it needs libaio; run: acidtest server remove postgres@1.2.3 && "
        "acidtest server install postgres@1.2.3"
    }
    assert is_ready(examine(broken)), "another can be installed"
    assert not is_ready(examine(replace(broken, sources=NO_PIP)))


def test_a_server_of_the_machine_is_not_the_default() -> None:
    own = replace(FULL, installed=lambda: [installation("postgres", "machine")], sources=NO_PIP)
    assert "postgres (default)" in missing(own)


# -- how the real machine is asked


def test_this_machine_is_asked_without_the_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACIDTEST_CACHE", str(tmp_path / "cache"))
    checks = {check.name: check for check in examine(Lookups(installed=list))}
    assert checks["Python"].found == ".".join(map(str, sys.version_info[:3]))
    assert checks["PyMySQL"].fine
    assert checks["cache"].fine
    assert str(tmp_path / "cache") in checks["cache"].found
    assert checks["user"].fine
    assert list((tmp_path / "cache").iterdir()) == [], "nothing is left there"


def test_a_cache_that_cannot_be_made_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ACIDTEST_CACHE", str(tmp_path / "file" / "cache"))
    assert "cannot write the cache" in doctor.cache_problem()
    assert doctor.free_bytes(tmp_path / "not" / "there") > 0


def test_a_program_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    gone = replace(installation("postgres"), root=tmp_path, parts={"server": "bin/postgres"})
    assert "No such file" in doctor.program_problem(gone)
    assert doctor.import_problem("acidtest_nonsense") == "No module named 'acidtest_nonsense'"
    assert doctor.version_of("acidtest-nonsense") == ""


@pytest.mark.parametrize("source", ["debian", "npm", "maven", "go", "container"])
def test_a_source_says_which_of_its_programs_is_missing(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    hide(monkeypatch, tmp_path / "bin")
    lack = next(one for one in SOURCES if one.name == source).lacks()
    sentences = {
        "debian": "apt-get and apt-cache and apt-config and dpkg-deb are not on this machine; they come with",
        "npm": "npm is not on this machine; install Node.js",
        "maven": "mvn and java are not on this machine; install Maven",
        "go": "go is not on this machine; install Go 1.21 or newer",
        "container": "no container engine answers; install and start podman or docker",
    }
    assert lack.startswith(sentences[source])


@pytest.mark.parametrize(
    ("version", "lack"),
    [("go1.19.8", "the machine's go1.19 is too old; install Go 1.21"), ("go1.21.0", ""), ("go2.0", "")],
)
def test_a_go_that_cannot_fetch_toolchains_is_as_good_as_none(
    version: str, lack: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(monkeypatch, tmp_path / "bin", "go", f"echo go version {version} linux/amd64")
    assert Go().lacks().startswith(lack)
    assert bool(Go().lacks()) is bool(lack)


# -- the command


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[Check]:
    checks = [
        Check("python", "Python", True, "3.11.7", needed=True),
        Check("sources", "npm", False, "mysql", "npm is not on this machine; install Node.js"),
    ]
    monkeypatch.setattr(sys.modules["acidtest.cli.doctor"], "examine", lambda lookups: checks)
    return checks


def test_the_command_tells_each_thing_in_a_line(
    given: list[Check], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli(["doctor"], standalone_mode=False) == 0
    assert [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()] == [
        "python",
        "ok Python 3.11.7",
        "sources",
        "missing npm npm is not on this machine; install Node.js",
        "",
        "This machine can test the default server; 1 of 2 things are missing.",
    ]


def test_what_is_needed_and_missing_is_exit_code_3(
    given: list[Check], capsys: pytest.CaptureFixture[str]
) -> None:
    given[0] = replace(given[0], fine=False, remedy="install Python 3.11")
    assert cli(["doctor", "--json"], standalone_mode=False) == 3
    told = json.loads(capsys.readouterr().out)
    assert (told["format"], told["ready"]) == ("acidtest-doctor/1", False)
    assert told["checks"][0] == {
        "area": "python",
        "name": "Python",
        "fine": False,
        "found": "3.11.7",
        "remedy": "install Python 3.11",
        "needed": True,
    }
