"""A private apt: another suite's package index and packages, without touching the machine's own apt.

Lists, cache and state live in a folder of ours; mirrors, keys, proxies and credentials are the machine's.
apt itself verifies signatures and checksums. Hooks of the machine's configuration are left out.
"""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from acidtest.servers.sources.apt_sources import Mirror
from acidtest.servers.sources.tools import run_tool

NO_APT = " (it comes with Debian and its relatives)"


@dataclass(frozen=True, slots=True)
class PrivateApt:
    """apt for one suite, in a folder of its own."""

    suite: str
    folder: Path
    mirrors: Sequence[Mirror] = field(default=())

    def update(self) -> None:
        """Fetch the suite's signed package index."""
        self._write_configuration()
        self._run(["apt-get", "update"], f"reading the package index of Debian {self.suite}")

    def versions(self, package: str) -> list[tuple[str, int]]:
        """The versions of a package in the index with their download sizes, newest first as apt sees it."""
        shown = self._run(["apt-cache", "show", package], f"looking up {package} in Debian {self.suite}")
        found = re.findall(r"^Version: (\S+)$(?:.*\n)*?^Size: (\d+)$", shown, re.MULTILINE)
        return [(version, int(size)) for version, size in found]

    def library_closure(self, packages: Sequence[str]) -> list[str]:
        """These packages and every library they need, directly or not; no other programs."""
        listing = self._run(
            ["apt-cache", "depends", "--recurse", "--important", *packages],
            f"resolving the libraries of {packages[0]}",
        )
        names = [package.partition("=")[0] for package in packages]
        return [*packages, *_libraries(_dependencies(listing), names)]

    def download(self, packages: Sequence[str], into: Path, on_package: Callable[[], None]) -> list[Path]:
        """Fetch packages, checked by apt against the signed index."""

        def count(line: str) -> None:
            if line.startswith(("Get:", "Hit:")):
                on_package()

        self._run(["apt-get", "download", *packages], f"downloading from Debian {self.suite}", into, count)
        return sorted(into.glob("*.deb"))

    def _run(
        self,
        command: Sequence[str],
        purpose: str,
        folder: Path | None = None,
        on_line: Callable[[str], None] = lambda _line: None,
    ) -> str:
        environment = {**os.environ, "APT_CONFIG": str(self.folder / "apt.conf"), "LC_ALL": "C"}
        return run_tool(
            command,
            purpose,
            folder=folder or self.folder,
            environment=environment,
            on_line=on_line,
            hint=NO_APT,
        )

    def _dump(self) -> str:
        return run_tool(["apt-config", "dump"], "reading apt's settings", hint=NO_APT)

    def _write_configuration(self) -> None:
        for part in ("parts", "lists/partial", "archives/partial", "state", "empty"):
            (self.folder / part).mkdir(parents=True, exist_ok=True)
        (self.folder / "state" / "status").touch()
        (self.folder / "parts" / "debian.sources").write_text("\n".join(self._stanzas()))
        (self.folder / "apt.conf").write_text("\n".join(self._settings()) + "\n")

    def _stanzas(self) -> Iterable[str]:
        for mirror in self.mirrors:
            if not mirror.security:
                yield mirror.stanza(self.suite)
            elif self.suite != "sid":  # fixes go straight into sid
                yield mirror.stanza(f"{self.suite}-security")

    def _settings(self) -> Iterable[str]:
        """Where everything lies, and how the machine transports files (proxies, time-outs, certificates)."""
        for line in self._dump().splitlines():
            if line.startswith("Acquire::") and "IndexTargets" not in line:
                yield line
        yield 'Acquire::Languages "none";'
        yield 'APT::Update::Error-Mode "any";'
        yield f'APT::Sandbox::User "{"root" if os.geteuid() == 0 else ""}";'
        for name, place in (
            ("Dir::Etc::SourceList", "/dev/null"),
            ("Dir::Etc::SourceParts", f"{self.folder}/parts"),
            ("Dir::Etc::Main", "/dev/null"),
            ("Dir::Etc::Parts", f"{self.folder}/empty"),
            ("Dir::Etc::Preferences", "/dev/null"),
            ("Dir::Etc::PreferencesParts", f"{self.folder}/empty"),
            ("Dir::State", f"{self.folder}/state"),
            ("Dir::State::Lists", f"{self.folder}/lists"),
            ("Dir::State::Status", f"{self.folder}/state/status"),
            ("Dir::Cache", str(self.folder)),
            ("Dir::Cache::Archives", f"{self.folder}/archives"),
        ):
            yield f'{name} "{place}";'


def unpack(archives: Sequence[Path], tree: Path) -> None:
    """Unpack package files into one tree and delete them. Maintainer scripts are not run."""
    for archive in archives:
        run_tool(["dpkg-deb", "-x", str(archive), str(tree)], f"unpacking {archive.name}")
        archive.unlink()


def _dependencies(listing: str) -> dict[str, list[str]]:
    """The first choice for every dependency, by package, from what `apt-cache depends --recurse` prints."""
    graph: dict[str, list[str]] = {}
    package = ""
    alternative = virtual = False
    for line in listing.splitlines():
        if not line.startswith((" ", "|")):
            package = line.split(":")[0].strip()
            graph.setdefault(package, [])
            continue
        match = re.match(r"\s*(\|?)(?:Pre)?Depends: (<?)([^\s:>]+)", line)
        if match:
            if not alternative and not match[2]:
                graph[package].append(match[3])
            # a line marked with | is followed by its alternatives, of which the first is enough
            alternative, virtual = bool(match[1]), bool(match[2])
        elif virtual:
            graph[package].append(line.strip().split(":")[0])
            virtual = False
    return graph


def _libraries(graph: dict[str, list[str]], packages: Sequence[str]) -> list[str]:
    needed: list[str] = []
    pending = list(packages)
    while pending:
        for name in graph.get(pending.pop(), []):
            if name.startswith(("lib", "zlib")) and name not in needed:
                needed.append(name)
                pending.append(name)
    return needed
