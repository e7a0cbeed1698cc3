"""Installations in the cache: a folder appears there complete, by one rename, or not at all.

CACHE/servers/DBMS/VERSION-SOURCE/manifest.json   what it is and how its programs are run
                                 /tree/           the unpacked files
                                 /pristine/       a fresh data directory, copied for every start
                                 /in-use          locked by the servers that run from here
"""

import fcntl
import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

from acidtest.servers.base import Installation, InstallFailedError, Progress, Release, Source, Unpacked
from acidtest.servers.cache import cache_root, explained, remove_tree, scratch_folder
from acidtest.servers.flavours import FLAVOURS
from acidtest.servers.specs import Spec

MANIFEST = "manifest.json"
IN_USE = "in-use"
VERSION_SECONDS_MAX = 60


def stored() -> list[Installation]:
    """All complete installations of the cache."""
    return [_load(manifest) for manifest in sorted(cache_root().glob(f"servers/*/*/{MANIFEST}"))]


def install(release: Release, source: Source, progress: Progress) -> Installation:
    """Fetch a release into the store. The caller holds the lock of this DBMS's installations."""
    scratch = scratch_folder("servers", release.dbms)
    try:
        with explained():
            tree = scratch / "tree"
            tree.mkdir()
            unpacked = source.fetch(release, tree, progress)
            made = _describe(release, scratch, unpacked)
            _require(release, made)
            _open_up(scratch)
            _save(made)
            return _publish(made)
    finally:
        remove_tree(scratch)


def remove(installation: Installation) -> None:
    """Delete an installation: first out of sight by a rename, so that nobody sees half of it."""
    trash = scratch_folder("servers", installation.dbms)
    with explained():
        installation.home.rename(trash / "removed")
    shutil.rmtree(trash)


def hold_in_use(installation: Installation) -> int:
    """A descriptor with a shared lock that says: a server runs from this installation."""
    descriptor = os.open(installation.home / IN_USE, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    return descriptor


def is_in_use(installation: Installation) -> bool:
    """Whether a server of any process runs from it."""
    with (installation.home / IN_USE).open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def size_bytes(installation: Installation) -> int | None:
    """The disk space that an installation of ours takes; None for the machine's own."""
    if not (installation.home / MANIFEST).is_file():
        return None
    files = (Path(path, name) for path, _, names in os.walk(installation.home) for name in names)
    return sum(file.lstat().st_blocks * 512 for file in files)


def ask_version(installation: Installation) -> str | None:
    """What the server says about itself; None if it is another DBMS. Also shows that it runs here at all."""
    flavour = FLAVOURS[installation.dbms]
    shown = subprocess.run(
        [*installation.command("server"), flavour.version_option],
        env=installation.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=VERSION_SECONDS_MAX,
        check=False,
    )
    version = flavour.version_of(shown.stdout + shown.stderr)
    if version is None and shown.returncode != 0:
        words = (shown.stderr or shown.stdout).strip().splitlines() or [f"exit code {shown.returncode}"]
        raise InstallFailedError(f"{installation.path('server')} does not run on this machine: {words[-1]}")
    return version


def _describe(release: Release, home: Path, unpacked: Unpacked) -> Installation:
    root = home / "tree"
    base = root / unpacked.tree
    located = FLAVOURS[release.dbms].locate(base)
    parts = {name: str((base / path).relative_to(root)) for name, path in located.items()}
    if "server" not in parts:
        raise InstallFailedError(f"{release.package} holds no {release.dbms} server")
    draft = Installation(
        dbms=release.dbms,
        version=release.version,
        source=release.source,
        root=root,
        home=home,
        parts=parts,
        loader=unpacked.loader,
        libraries=unpacked.libraries,
    )
    version = ask_version(draft)
    if version is None:
        raise InstallFailedError(f"{release.package} holds no {release.dbms} but another server")
    return replace(draft, version=version)


def _require(release: Release, made: Installation) -> None:
    """A source that knows a series only may have another release of it than the one that was asked for."""
    wanted = Spec(release.dbms, release.version)
    if not wanted.accepts(made.dbms, made.version):
        has = f"{release.source} has {made.version}; nothing was installed"
        raise InstallFailedError(f"{wanted} cannot be had: {has} (acidtest server list shows what there is)")


def _publish(made: Installation) -> Installation:
    """Rename into place; what is there complete already, in the very version that came, is kept."""
    target = cache_root() / "servers" / made.dbms / f"{made.version}-{made.source}"
    if not (target / MANIFEST).is_file():
        shutil.rmtree(target, ignore_errors=True)
        made.home.rename(target)
    return _load(target / MANIFEST)


def _open_up(home: Path) -> None:
    """Let a server that drops its privileges read its own files; the cache's root keeps others out."""
    home.chmod(0o755)
    for folder, _, names in os.walk(home):
        Path(folder).chmod(0o755)
        for file in (Path(folder, name) for name in names):
            if not file.is_symlink():
                file.chmod(0o755 if file.stat().st_mode & 0o100 else 0o644)


def _save(made: Installation) -> None:
    content = {
        "dbms": made.dbms,
        "version": made.version,
        "source": made.source,
        "parts": dict(made.parts),
        "loader": made.loader,
        "libraries": list(made.libraries),
    }
    (made.home / IN_USE).touch()
    (made.home / MANIFEST).write_text(json.dumps(content, indent=2) + "\n")


def _load(manifest: Path) -> Installation:
    content = json.loads(manifest.read_text())
    return Installation(
        dbms=content["dbms"],
        version=content["version"],
        source=content["source"],
        root=manifest.parent / "tree",
        home=manifest.parent,
        parts=content["parts"],
        loader=content["loader"],
        libraries=tuple(content["libraries"]),
    )


def sweep(dbms: str) -> None:
    """Delete what killed installations left; the caller holds the lock of this DBMS's installations."""
    for folder in cache_root().glob(f"servers/{dbms}/.partial-*"):
        remove_tree(folder)
