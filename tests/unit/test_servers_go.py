"""TiDB from the Go module proxy, with a stand-in for go: nothing is downloaded or built here."""

import os
import signal
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import pytest

from acidtest.servers import InstallFailedError, api
from acidtest.servers.base import Release, no_progress
from acidtest.servers.sources import resources
from acidtest.servers.sources.go import MODULE, Found, Go, _entries, _module_file
from acidtest.servers.sources.go_releases import BUILDS, newest_toolchain
from tests.unit.standins import hide, stand_in

PSEUDO = "v1.1.0-beta.0.20220627062839-d6be9105e6c4"
GO_MOD = f"""\
module {MODULE}

go 1.16

require (
	github.com/pingcap/tidb/parser v0.0.0-20211011031125-9b13dc409c5e
)

// a comment
replace example.com/grpc => example.com/grpc v1.29.1

replace {MODULE}/parser => ./parser

exclude (
	example.com/a v1.0.0 // why
)
"""

GO = f"""\
echo "$GOTOOLCHAIN $*" >> "$LOG"
case "$1 $2" in
"list -m")
  mkdir -p "$GOMODCACHE"; cat > "$GOMODCACHE/tidb.mod" <<'END'
{GO_MOD}END
  printf '{{"Version": "{PSEUDO}", "GoMod": "%s"}}' "$GOMODCACHE/tidb.mod";;
"mod download")
  mkdir -p "$GOMODCACHE/tidb/tidb-server" && touch "$GOMODCACHE/tidb/tidb-server/main.go"
  chmod 500 "$GOMODCACHE/tidb/tidb-server"
  printf '{{"Dir": "%s"}}' "$GOMODCACHE/tidb";;
"list -deps") printf 'a\\nb\\n';;
"version "*) echo "go version $GOTOOLCHAIN linux/amd64";;
"build -v")
  echo a; echo b
  cp go.mod "$(dirname "$LOG")/go.mod"
  while [ "$1" != -o ]; do shift; done
  echo built > "$2";;
esac"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "tree"
    made.mkdir()
    return made


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACIDTEST_CACHE", str(tmp_path / "cache"))


def release(version: str = "5.4.2") -> Release:
    return next(one for one in Go().releases() if one.version == version)


def test_a_release_is_built_with_its_toolchain_and_only_the_binary_stays(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = stand_in(monkeypatch, tmp_path / "bin", "go", GO)
    seen: list[tuple[str, int, int | None]] = []
    Go().fetch(release(), folder, lambda *what: seen.append(what))
    assert [entry.name for entry in folder.iterdir()] == ["tidb-server"]
    lines = log.read_text().splitlines()
    assert lines[0] == f"local list -m -json {MODULE}@{PSEUDO}"
    assert all(line.startswith("go1.16.15 ") for line in lines[1:])
    assert f"-X {MODULE}/parser/mysql.TiDBReleaseVersion=v5.4.2" in lines[-1]
    assert lines[-1].endswith(f"{MODULE}/tidb-server")
    assert ("building tidb-server with go1.16.15", 2, 2) in seen


def test_the_parser_is_taken_at_the_same_commit(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(monkeypatch, tmp_path / "bin", "go", GO)
    Go().fetch(release(), folder, no_progress)
    lines = (tmp_path / "bin" / "go.mod").read_text().splitlines()
    assert f"require {MODULE} {PSEUDO}" in lines
    assert f"replace {MODULE}/parser => {MODULE}/parser v0.0.0-20220627062839-d6be9105e6c4" in lines
    assert "replace example.com/grpc => example.com/grpc v1.29.1" in lines
    assert "exclude example.com/a v1.0.0" in lines
    assert "go 1.16" in lines


def test_a_parser_at_another_commit_is_named() -> None:
    text = _module_file(Found(PSEUDO, GO_MOD), "v0.0.0-20260331085336-4e0b702f38a8")
    assert f"replace {MODULE}/parser => {MODULE}/parser v0.0.0-20260331085336-4e0b702f38a8" in text


def test_entries_alone_and_in_blocks_are_read() -> None:
    assert _entries("replace a => b v1\nreplace (\n\tc => d v2 // x\n)\n", "replace") == [
        "c => d v2",
        "a => b v1",
    ]


@pytest.mark.parametrize(
    ("go_mod", "toolchain"),
    [
        ("go 1.13\n", "go1.16.15"),
        ("module x\n", "go1.16.15"),
        ("go 1.21\n", "go1.21.13"),
        ("go 1.25.5\n", "go1.25.5"),
        ("go 1.23\ntoolchain go1.23.4\n", "go1.23.4"),
    ],
)
def test_the_toolchain_of_a_release_that_is_not_in_the_table(go_mod: str, toolchain: str) -> None:
    assert newest_toolchain(go_mod) == toolchain


def test_a_commit_is_resolved_by_the_proxy(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = stand_in(monkeypatch, tmp_path / "bin", "go", GO)
    found = Go().named("tidb", "d6be9105e6c4")
    assert found is not None
    Go().fetch(found, folder, no_progress)
    lines = log.read_text().splitlines()
    assert lines[0].endswith(f"{MODULE}@d6be9105e6c4")
    assert "TiDBReleaseVersion=v0.0.0-20220627062839-d6be9105e6c4" in lines[-1]
    assert Go().named("tidb", "99.1") is None
    assert Go().named("mysql", "d6be9105e6c4") is None


def test_without_go_one_sentence_says_what_to_install(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(monkeypatch, tmp_path / "bin")
    with pytest.raises(InstallFailedError, match=r"needs the program 'go'.*install Go 1\.21 or newer"):
        Go().fetch(release(), folder, no_progress)


def test_a_go_that_cannot_fetch_toolchains_is_refused(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = GO.replace("go version $GOTOOLCHAIN linux", "go version go1.19.8 linux")
    stand_in(monkeypatch, tmp_path / "bin", "go", old)
    with pytest.raises(InstallFailedError, match=r"needs go1\.16\.15, but the machine's go \(go1\.19\.8\)"):
        Go().fetch(release(), folder, no_progress)


def test_a_toolchain_that_cannot_be_had_is_told(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing = f'if [ "$1" = version ]; then echo "go: download go1.16.15: not available"; exit 1; fi\n{GO}'
    stand_in(monkeypatch, tmp_path / "bin", "go", refusing)
    with pytest.raises(InstallFailedError, match=r"toolchain go1\.16\.15 failed: download .*: not av"):
        Go().fetch(release(), folder, no_progress)
    assert list(folder.iterdir()) == []


def test_a_proxy_that_answers_no_is_told(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(
        monkeypatch, tmp_path / "bin", "go", 'echo "go: downloading x"; echo "go: unknown revision"; exit 1'
    )
    with pytest.raises(InstallFailedError, match=r"failed: unknown revision"):
        Go().fetch(release(), folder, no_progress)


def test_too_little_disk_is_said_before_anything_is_done(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = stand_in(monkeypatch, tmp_path / "bin", "go", GO)
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage(10, 9, 1_500_000_000))
    with pytest.raises(InstallFailedError, match=r"tidb@8\.5\.4 needs about 6 GB of disk, but only 1\.5 GB"):
        Go().fetch(release("8.5.4"), folder, no_progress)
    assert log.read_text() == ""


def test_too_little_memory_is_said_before_anything_is_done(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = stand_in(monkeypatch, tmp_path / "bin", "go", GO)
    memory = tmp_path / "meminfo"
    memory.write_text("MemTotal: 4000000 kB\nMemAvailable:    500000 kB\n")
    monkeypatch.setattr(resources, "MEMORY", memory)
    with pytest.raises(InstallFailedError, match=r"needs about 3 GB of memory, but only 0\.5 GB"):
        Go().fetch(release("8.5.4"), folder, no_progress)
    assert log.read_text() == ""


def test_a_failed_build_leaves_nothing_and_the_next_try_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = GO.replace('echo built > "$2"', 'echo "go: signal: killed"; exit 1')
    log = stand_in(monkeypatch, tmp_path / "bin", "go", failing)
    for _ in range(2):
        with pytest.raises(InstallFailedError, match=r"building tidb@5\.4\.2 failed: signal: killed"):
            api.install("tidb@5.4.2")
    assert api.find_installed("tidb@5.4.2") is None
    assert list((tmp_path / "cache" / "servers" / "tidb").iterdir()) == []
    assert log.read_text().count("build -v") == 2


def test_an_interrupted_build_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fifo = tmp_path / "building"
    os.mkfifo(fifo)
    hanging = GO.replace('echo built > "$2"', f"echo now > {fifo}; exec sleep 600")
    stand_in(monkeypatch, tmp_path / "bin", "go", hanging)
    command = [sys.executable, "-m", "acidtest", "server", "install", "tidb@5.4.2"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        fifo.read_text()  # waits until the build is under way
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in complaint
    assert list((tmp_path / "cache" / "servers" / "tidb").iterdir()) == []


def test_every_release_of_the_table_has_a_pseudo_version_and_a_toolchain() -> None:
    assert len({build.version for build in BUILDS}) == len(BUILDS)
    for build in BUILDS:
        assert build.pseudo.startswith("v1.1.0-beta.0.20")
        assert build.toolchain.startswith("go1.")
