"""TiDB, built from the sources that the Go module proxy serves, with the toolchain that the release needs.

TiDB's releases are no proper versions of its Go module, so each has a pseudo-version: a date and a commit.
Its parser is a module of its own in the same repository; TiDB's go.mod points to it by a relative path, which
the proxy cannot follow, so the build names the parser's module at the same commit instead.
"""

import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from acidtest.servers.base import InstallFailedError, Progress, Release, Unpacked
from acidtest.servers.cache import remove_tree
from acidtest.servers.sources.go_releases import BUILDS, Build, newest_toolchain
from acidtest.servers.sources.resources import require_disk, require_memory
from acidtest.servers.sources.tools import lacking, run_tool
from acidtest.servers.specs import commit_of

MODULE = "github.com/pingcap/tidb"
PARSERS = (f"{MODULE}/pkg/parser", f"{MODULE}/parser", "github.com/pingcap/parser")
MAINS = ("cmd/tidb-server", "tidb-server")
BINARY = "tidb-server"
REMEDY = "install Go 1.21 or newer, which fetches the toolchain that a release needs"
HINT = f"; {REMEDY}"
FETCHES_TOOLCHAINS = (1, 21)


@dataclass(frozen=True, slots=True)
class Workshop:
    """A folder with a Go module and caches of its own, so that nothing of the user's Go is touched."""

    folder: Path
    toolchain: str

    def go(self, arguments: Sequence[str], purpose: str, on_line: Callable[[str], None] | None = None) -> str:
        """Run the go command of the wanted toolchain here; returns what it prints."""
        environment = {
            **os.environ,
            "GOPATH": str(self.folder / "path"),
            "GOMODCACHE": str(self.folder / "path" / "mod"),
            "GOCACHE": str(self.folder / "cache"),
            "GOTMPDIR": str(self.folder),
            "GOTOOLCHAIN": self.toolchain,
            "GO111MODULE": "on",
            "GOWORK": "off",
            "CGO_ENABLED": "0",  # no C compiler is needed, and the binary runs on any Linux
            "GOFLAGS": "-mod=mod -modcacherw",  # the user's flags may be unknown to an older toolchain
        }
        return run_tool(
            ["go", *arguments],
            purpose,
            folder=self.folder,
            environment=environment,
            on_line=on_line or (lambda _line: None),
            hint=HINT,
        )


class Go:
    """The shipped table of releases, and any commit or pseudo-version that the proxy resolves."""

    name = "go"

    def lacks(self) -> str:
        return lacking(["go"], REMEDY) or _too_old()

    def releases(self) -> Sequence[Release]:
        return [
            Release("tidb", build.version, self.name, f"{MODULE}@{build.pseudo}", size_bytes=build.size_bytes)
            for build in BUILDS
        ]

    def named(self, dbms: str, version: str) -> Release | None:
        """The release that a commit or a pseudo-version names; whether it exists, the proxy will say."""
        if dbms != "tidb" or commit_of(version) is None:
            return None
        return Release(dbms, version, self.name, f"{MODULE}@{version}")

    def refresh(self, progress: Progress) -> None:
        """Nothing to ask: the proxy cannot list pseudo-versions, so the releases are known here."""

    def fetch(self, release: Release, folder: Path, progress: Progress) -> Unpacked:
        build = next((one for one in BUILDS if one.version == release.version), None)
        needs = build or Build("", "", "")
        require_disk(f"building tidb@{release.version}", folder, needs.disk_bytes)
        require_memory(f"building tidb@{release.version}", needs.memory_bytes)
        workshop = folder / "workshop"
        workshop.mkdir()
        try:
            _build(build, release, workshop, folder / BINARY, progress)
        finally:
            remove_tree(workshop)
        return Unpacked()


def _too_old() -> str:
    """Why the machine's go cannot fetch toolchains; empty if it can."""
    environment = {**os.environ, "GOTOOLCHAIN": "local"}
    shown = run_tool(["go", "version"], "asking go for its version", environment=environment)
    version = re.search(r"go(\d+)\.(\d+)", shown)
    if version is None or (int(version[1]), int(version[2])) >= FETCHES_TOOLCHAINS:
        return ""
    return f"the machine's {version[0]} is too old; {REMEDY}"


def _build(build: Build | None, release: Release, folder: Path, binary: Path, progress: Progress) -> None:
    (folder / "go.mod").write_text("module acidtest.invalid/workshop\n")
    asked = release.package.partition("@")[2]
    progress(f"asking the Go module proxy for {release.package}", 0, None)
    found = _resolve(Workshop(folder, "local"), asked)
    toolchain = build.toolchain if build else newest_toolchain(found.go_mod)
    workshop = Workshop(folder, toolchain)
    progress(f"fetching the toolchain {toolchain}", 0, None)
    _require_toolchain(workshop)
    (folder / "go.mod").write_text(_module_file(found, build.parser if build else ""))
    progress("downloading TiDB and the modules that it needs", 0, None)
    parser = next(path for path in PARSERS if f"{path} " in found.go_mod)
    main = f"{MODULE}/{_main_package(workshop, found.version)}"
    packages = len(workshop.go(["list", "-deps", main], "downloading TiDB's modules").splitlines())
    shown = f"v{build.version}" if build else f"v0.0.0-{found.version.partition('.0.')[2]}"
    flags = f"-s -w -X {parser}/mysql.TiDBReleaseVersion={shown}"
    done = 0

    def count(_line: str) -> None:
        nonlocal done
        done += 1
        progress(f"building tidb-server with {toolchain}", min(done, packages), packages)

    arguments = ["build", "-v", "-trimpath", "-ldflags", flags, "-o", str(binary), main]
    workshop.go(arguments, f"building tidb@{release.version}", count)


@dataclass(frozen=True, slots=True)
class Found:
    """What the proxy knows by a name: the full pseudo-version and its module file."""

    version: str
    go_mod: str


def _resolve(workshop: Workshop, asked: str) -> Found:
    shown = workshop.go(["list", "-m", "-json", f"{MODULE}@{asked}"], f"looking up TiDB {asked}")
    answer = json.loads(shown[shown.index("{") : shown.rindex("}") + 1])
    return Found(answer["Version"], Path(answer["GoMod"]).read_text())


def _require_toolchain(workshop: Workshop) -> None:
    """An old go command knows nothing of toolchains and would build with itself."""
    toolchain = workshop.toolchain
    shown = workshop.go(["version"], f"fetching the Go toolchain {toolchain}")
    if f"{toolchain} " not in shown:
        version = next(iter(re.findall(r"go\d\S*", shown)), "unknown")
        raise InstallFailedError(
            f"the build needs {toolchain}, but the machine's go ({version}) cannot fetch it{HINT}"
        )


def _module_file(found: Found, parser_version: str) -> str:
    """A module that needs TiDB alone, with TiDB's own replacements: those of a dependency do not count."""
    revision = "-".join(found.version.rpartition(".")[2].split("-")[-2:])
    lines = ["module acidtest.invalid/workshop", f"require {MODULE} {found.version}"]
    for keyword in ("go", "toolchain"):
        lines += re.findall(rf"^{keyword} \S+", found.go_mod, re.MULTILINE)
    for keyword in ("replace", "exclude"):
        for entry in _entries(found.go_mod, keyword):
            path, arrow, target = entry.partition("=>")
            if target.strip().startswith("./"):
                target = f" {path.split()[0]} {parser_version or f'v0.0.0-{revision}'}"
            lines.append(f"{keyword} {path}{arrow}{target}")
    return "\n".join(lines) + "\n"


def _entries(go_mod: str, keyword: str) -> list[str]:
    """The entries of a directive, written alone or in a block, without comments."""
    bare = re.sub(r"//.*", "", go_mod)
    blocks = re.findall(rf"^{keyword} \(\n(.*?)^\)", bare, re.MULTILINE | re.DOTALL)
    alone = re.findall(rf"^{keyword} ([^(\n]+)$", bare, re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines()] + alone
    return [line.strip() for line in lines if line.strip()]


def _main_package(workshop: Workshop, version: str) -> str:
    """Where the server's main package lies; it moved in 7.5."""
    shown = workshop.go(["mod", "download", "-json", f"{MODULE}@{version}"], "downloading TiDB")
    folder = Path(json.loads(shown[shown.index("{") : shown.rindex("}") + 1])["Dir"])
    for place in MAINS:
        if (folder / place / "main.go").is_file():
            return place
    raise InstallFailedError(f"TiDB {version} has no tidb-server in any of {', '.join(MAINS)}")
