"""The releases of TiDB that are known to build, and the toolchain for one that is not in the table."""

import re
from dataclasses import dataclass

GIGABYTE = 1_000_000_000

LAST_PATCH = {
    "1.16": "1.16.15",
    "1.17": "1.17.13",
    "1.18": "1.18.10",
    "1.19": "1.19.13",
    "1.20": "1.20.14",
    "1.21": "1.21.13",
    "1.22": "1.22.12",
    "1.23": "1.23.12",
    "1.24": "1.24.13",
    "1.25": "1.25.8",
}
"""A go.mod names a language version; the last patch of that toolchain builds it best."""


@dataclass(frozen=True, slots=True)
class Build:
    """How one release is built; the figures were measured, with room to spare."""

    version: str
    pseudo: str
    toolchain: str
    parser: str = ""
    """The parser's pseudo-version, where it is not the same commit."""

    size_bytes: int = 130_000_000
    disk_bytes: int = 6 * GIGABYTE
    memory_bytes: int = 3 * GIGABYTE


def _build(version: str, commit: str, go: str, megabytes: int, *, parser: str = "") -> Build:
    old = int(version.partition(".")[0]) < 7
    return Build(
        version,
        f"v1.1.0-beta.0.{commit}",
        f"go{go}",
        parser,
        megabytes * 1_000_000,
        (4 if old else 6) * GIGABYTE,
        (2 if old else 3) * GIGABYTE,
    )


BUILDS = (
    _build(
        "8.5.6",
        "20260413061245-ae18096e0237",
        "1.25.8",
        145,
        parser="v0.0.0-20260331085336-4e0b702f38a8",
    ),
    _build("8.5.4", "20251126154744-e4e814fdc0af", "1.23.12", 133),
    _build("7.5.3", "20240731130721-70bfd90035cc", "1.21.13", 116),
    _build("7.1.1", "20230719095317-cf441574864b", "1.20.14", 108),
    _build("6.5.5", "20230918090611-71bcc44f77a3", "1.19.13", 99),
    _build("6.1.1", "20220825063022-5263a0abda61", "1.18.10", 77),
    _build("5.4.2", "20220627062839-d6be9105e6c4", "1.16.15", 82),
    _build("5.3.0", "20211124132551-4a1b2e9fe5b5", "1.16.15", 80),
    _build("5.2.4", "20220418060002-fe5aa9760b58", "1.16.15", 76),
    _build("5.0.6", "20211223113747-6416f8d60147", "1.16.15", 71),
    _build("4.0.9", "20201219012003-69f05ea55e84", "1.16.15", 61),
)


def newest_toolchain(go_mod: str) -> str:
    """The toolchain for a module file: the one that it names, else the last patch of its language version.

    Releases before modules knew toolchains build with 1.16, the oldest that is worth having."""
    if named := re.search(r"^toolchain (go\S+)", go_mod, re.MULTILINE):
        return named[1]
    language = re.search(r"^go (\d+\.\d+)(\.\d+)?", go_mod, re.MULTILINE)
    if language is None or int(language[1].partition(".")[2]) < 16:
        return f"go{LAST_PATCH['1.16']}"
    if language[2]:
        return f"go{language[1]}{language[2]}"
    return f"go{LAST_PATCH.get(language[1], f'{language[1]}.0')}"
