"""Servers inside container images, where podman or docker is there and works.

No container is ever run: the image is unpacked, and the server runs from there through the image's own
loader, like one from a Debian suite. So it has a private directory and a socket as all others, and ends with
acidtest. Any tag of the official images can be asked for; the engine verifies the digests of what it pulls.
"""

import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path, PurePosixPath

from acidtest.servers.base import InstallFailedError, Progress, Release, Unpacked
from acidtest.servers.sources.archives import DAMAGED, inside
from acidtest.servers.sources.tools import run_tool
from acidtest.servers.specs import NUMBER

ENGINES = ("podman", "docker")
IMAGES = {"mysql": "mysql", "mariadb": "mariadb", "postgres": "postgres", "tidb": "pingcap/tidb"}
TAG_PREFIXES = {"tidb": "v"}
ANSWER_SECONDS_MAX = 20
LOADERS = ("ld-linux-*.so.*", "ld-musl-*.so.*")
LIBRARY_FOLDERS = ("lib", "lib64", "usr/lib", "usr/lib64", "usr/local/lib")


class Container:
    """Images of the official names; the engine's own settings say which registry they come from."""

    name = "container"

    def lacks(self) -> str:
        if engine(os.environ.get("PATH", "")) is not None:
            return ""
        return f"no container engine answers; install and start {' or '.join(ENGINES)}"

    def releases(self) -> Sequence[Release]:
        """What the engine has pulled already."""
        program = engine(os.environ.get("PATH", ""))
        return _local(program) if program else ()

    def named(self, dbms: str, version: str) -> Release | None:
        """Any exact version, if an engine is there to ask for it."""
        if dbms not in IMAGES or not NUMBER.fullmatch(version) or not engine(os.environ.get("PATH", "")):
            return None
        return Release(dbms, version, self.name, f"{IMAGES[dbms]}:{TAG_PREFIXES.get(dbms, '')}{version}")

    def refresh(self, progress: Progress) -> None:
        """Nothing to ask: registries cannot be listed in one way for all."""

    def fetch(self, release: Release, folder: Path, progress: Progress) -> Unpacked:
        program = engine(os.environ.get("PATH", ""))
        if program is None:
            raise InstallFailedError(f"{release.package} is a container image; start podman or docker first")
        progress(f"pulling {release.package}", 0, None)
        run_tool([program, "pull", release.package], f"pulling {release.package} with {program}")
        made = run_tool([program, "create", release.package], f"opening {release.package} with {program}")
        container = made.split()[-1]
        archive = folder / "image.tar"
        try:
            progress(f"unpacking {release.package}", 0, None)
            run_tool([program, "export", "-o", str(archive), container], f"unpacking {release.package}")
        finally:
            run_tool([program, "rm", container], f"closing {release.package}")
        unpack_image(archive, folder / "image")
        archive.unlink()
        return _layout(folder)


@cache
def engine(_search_path: str) -> str | None:
    """The first engine that answers; a client without its service does not."""
    for program in ENGINES:
        if shutil.which(program) and _ask(program, "info") is not None:
            return program
    return None


def _ask(program: str, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            [program, *arguments],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=ANSWER_SECONDS_MAX,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):  # it is not usable, whatever the reason
        return None
    return done.stdout if done.returncode == 0 else None


def _local(program: str) -> tuple[Release, ...]:
    listed = _ask(program, "images", "--format", "{{json .}}") or ""
    found = []
    for line in filter(str.strip, listed.splitlines()):
        image = json.loads(line)
        for dbms, name in IMAGES.items():
            tag = str(image.get("Tag") or image.get("tag") or "").removeprefix(TAG_PREFIXES.get(dbms, ""))
            repository = str(image.get("Repository") or image.get("repository") or "")
            if NUMBER.fullmatch(tag) and (repository == name or repository.endswith(f"/{name}")):
                found.append(Release(dbms, tag, Container.name, f"{repository}:{image.get('Tag', tag)}"))
    return tuple(found)


def unpack_image(archive: Path, folder: Path) -> None:
    """Unpack programs, libraries and what they read; links that begin at the root begin at the folder."""
    try:
        with tarfile.open(archive) as content:
            for member in content:
                if PurePosixPath(member.name).parts[:1] and not member.name.startswith(("dev/", "proc/")):
                    _unpack(content, member, folder)
    except DAMAGED as error:
        raise InstallFailedError(f"the image's archive is damaged ({error}); try again") from error


def _unpack(content: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    target = folder / member.name
    if member.isdir() or not (member.isfile() or member.issym() or member.islnk()):
        return
    inside(folder, Path(member.name).parent)
    target.parent.mkdir(parents=True, exist_ok=True)
    if member.issym():
        link = member.linkname
        if link.startswith("/"):
            link = os.path.relpath(link.lstrip("/"), os.path.dirname(member.name) or ".")
        target.symlink_to(link)
        return
    data = content.extractfile(member)
    assert data is not None  # a file, or a second name of one
    with data, target.open("wb") as output:
        shutil.copyfileobj(data, output)
    target.chmod(0o755 if member.mode & 0o100 else 0o644)


def _layout(folder: Path) -> Unpacked:
    """The image's loader and all its folders of libraries; a static binary needs neither."""
    image = folder / "image"
    loaders = sorted(
        file
        for pattern in LOADERS
        for file in image.rglob(pattern)
        if file.is_file() and not file.is_symlink()
    )
    folders = [image / name for name in LIBRARY_FOLDERS if (image / name).is_dir()]
    folders += [one for name in folders for one in sorted(name.glob("*-linux-*")) if one.is_dir()]
    folders += sorted(image.glob("usr/lib*/*/private"))
    libraries = tuple(str(one.relative_to(folder)) for one in folders)
    return Unpacked(
        "image", str(loaders[0].relative_to(folder)) if loaders else "", libraries if loaders else ()
    )
