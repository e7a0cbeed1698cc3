"""Servers from container images, with a stand-in for the engine: no image is pulled here."""

import io
import tarfile
from pathlib import Path

import pytest

from acidtest.servers import InstallFailedError, api
from acidtest.servers.base import no_progress
from acidtest.servers.sources.container import Container
from tests.unit.standins import hide, stand_in

ENGINE = """\
echo "$@" >> "$LOG"
case "$1" in
  info) exit 0;;
  images) echo '{"Repository": "docker.invalid/library/mysql", "Tag": "8.4.3"}'; echo '{"Repository": "x"}';;
  create) echo 0123456789ab;;
  export) cp "%s" "$3";;
esac"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACIDTEST_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return stand_in(monkeypatch, tmp_path / "bin", "podman", ENGINE % _image(tmp_path / "image.tar"))


def _image(path: Path) -> Path:
    with tarfile.open(path, "w") as archive:
        for name in ("usr/sbin/mysqld", "usr/lib64/ld-linux-x86-64.so.2", "usr/lib64/mysql/private/liba.so"):
            member = tarfile.TarInfo(name)
            member.size, member.mode = 4, 0o755
            archive.addfile(member, io.BytesIO(b"\x7fELF"))
        for name, target in (("lib64", "/usr/lib64"), ("usr/bin/mysqld", "../sbin/mysqld")):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, target
            archive.addfile(link)
        archive.addfile(tarfile.TarInfo("dev/null"))
    return path


def test_an_image_is_unpacked_with_its_loader_and_libraries(log: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tree"
    folder.mkdir()
    release = Container().named("mysql", "8.4.3")
    assert release is not None
    unpacked = Container().fetch(release, folder, no_progress)
    assert unpacked.loader == "image/usr/lib64/ld-linux-x86-64.so.2"
    assert "image/usr/lib64/mysql/private" in unpacked.libraries
    assert (folder / "image/lib64").resolve() == (folder / "image/usr/lib64").resolve()
    assert not (folder / "image/dev").exists()
    assert [line.split()[0] for line in log.read_text().splitlines()][-4:] == [
        "pull",
        "create",
        "export",
        "rm",
    ]


@pytest.mark.usefixtures("log")
def test_any_version_may_be_in_an_image_and_pulled_ones_are_listed() -> None:
    assert ("mysql", "8.4.3") in [(one.dbms, one.version) for one in Container().releases()]
    chosen = api._choose(api.parse_spec("mysql@8.3.0"))
    assert (chosen.source, chosen.package) == ("container", "mysql:8.3.0")
    tidb = Container().named("tidb", "7.5.0")
    assert tidb is not None
    assert tidb.package == "pingcap/tidb:v7.5.0"


def test_an_engine_that_does_not_answer_counts_as_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(monkeypatch, tmp_path / "bin", "podman", "exit 1")
    stand_in(monkeypatch, tmp_path / "bin", "docker", "exit 1")
    assert Container().releases() == ()
    assert Container().named("mysql", "8.3.0") is None


@pytest.mark.usefixtures("log")
def test_an_engine_that_went_away_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = Container().named("mysql", "8.4.3")
    assert release is not None
    hide(monkeypatch, tmp_path / "empty")
    with pytest.raises(InstallFailedError, match="start podman or docker first"):
        Container().fetch(release, tmp_path, no_progress)


def test_an_image_that_cannot_be_pulled_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = 'case "$1" in info) exit 0;; *) echo "Error: manifest unknown"; exit 1;; esac'
    stand_in(monkeypatch, tmp_path / "bin", "podman", script)
    release = Container().named("mysql", "8.4.99")
    assert release is not None
    with pytest.raises(
        InstallFailedError, match=r"pulling mysql:8\.4\.99 with podman failed: .*manifest unknown"
    ):
        Container().fetch(release, tmp_path, no_progress)
