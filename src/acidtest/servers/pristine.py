"""Data directories: made once by the server's own initialisation, then copied for every start."""

import os
import secrets
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from acidtest.errors import UsageError
from acidtest.servers.base import Flavour, Installation, Launch, Place, ServerFailedError
from acidtest.servers.cache import explained, locked
from acidtest.servers.logs import last_words, new_log
from acidtest.servers.places import make_place, remove_place
from acidtest.servers.process import run_to_end
from acidtest.servers.store import IN_USE


def fill(installation: Installation, flavour: Flavour, place: Place) -> str:
    """Put a fresh data directory into the place; returns the password of its loopback account."""
    pristine = _pristine(installation, flavour)
    try:
        # times and owners of the pristine files do not matter
        shutil.copytree(pristine / "data", place.data, symlinks=True, copy_function=shutil.copy)
        hand_over(place.data, place.owner)
        return (pristine / "password").read_text()
    except OSError as error:
        reason = error.strerror or str(error)
        remedy = "free it up or set TMPDIR to another folder"
        raise UsageError(f"cannot fill the server's directory {place.folder}: {reason}; {remedy}") from error


def hand_over(folder: Path, owner: int | None) -> None:
    """Give a tree to the server's user and to nobody else."""
    folder.chmod(0o700)
    if owner is not None:
        for path, folders, names in os.walk(folder):
            for entry in (path, *(os.path.join(path, name) for name in (*folders, *names))):
                os.chown(entry, owner, owner, follow_symlinks=False)


def reachable(installation: Installation, place: Place) -> Installation:
    """The installation as the place's user can reach it: linked into the place if the cache is closed.

    PostgreSQL refuses to run as root, and the user it then runs as cannot enter root's home."""
    if place.owner is None or all(folder.stat().st_mode & 0o001 for folder in installation.root.parents):
        return installation
    linked = place.folder / "server"
    if not linked.exists():
        shutil.copytree(installation.root, linked, symlinks=True, copy_function=_link)
    return replace(installation, root=linked)


def _link(source: str, target: str) -> None:
    """A second name for the file; a copy where the two are on different disks."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _pristine(installation: Installation, flavour: Flavour) -> Path:
    pristine = installation.home / "pristine"
    if (pristine / "password").is_file():
        return pristine
    with locked(f"pristine-{installation.spec}-{installation.source}"):
        if not (pristine / "password").is_file():
            _initialise(installation, flavour, pristine)
    return pristine


def _initialise(installation: Installation, flavour: Flavour, pristine: Path) -> None:
    place, lock = make_place(flavour.refuses_root)
    log = new_log(f"{installation.spec}-initialise")
    password = secrets.token_hex(16)
    try:
        launch = Launch(reachable(installation, place), place, 0, password)

        def run(command: Sequence[str], text: str) -> None:
            code = run_to_end(
                command,
                text,
                environment={**launch.installation.environment(), **flavour.environment(launch)},
                folder=place.folder,
                log=log,
                owner=place.owner,
            )
            if code != 0:
                raise ServerFailedError(f"{installation.spec} could not be initialised; {last_words(log)}")

        flavour.initialise(launch, run)
        _keep(place, pristine, password)
    finally:
        remove_place(place)
        os.close(lock)


def _keep(place: Place, pristine: Path, password: str) -> None:
    with explained():
        pristine.parent.mkdir(parents=True, exist_ok=True)
        (pristine.parent / IN_USE).touch()
        scratch = pristine.with_name(".partial-pristine")
        shutil.rmtree(scratch, ignore_errors=True)
        shutil.rmtree(pristine, ignore_errors=True)
        scratch.mkdir(mode=0o700)
        place.data.mkdir(exist_ok=True)
        shutil.copytree(place.data, scratch / "data", symlinks=True)
        secret = scratch / "password"
        secret.touch(mode=0o600)
        secret.write_text(password)
        scratch.rename(pristine)
