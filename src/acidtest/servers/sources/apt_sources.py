"""The machine's own apt sources: which Debian mirrors it trusts, in both notations, to reach other suites."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

SUITES = ("bullseye", "bookworm", "trixie", "forky", "duke", "sid")
ALIASES = ("oldoldstable", "oldstable", "stable", "testing", "unstable")

ONE_LINE = re.compile(r"deb\s+(?:\[(?P<options>[^]]*)\]\s+)?(?P<uri>\S+)\s+(?P<suite>\S+)\s")


@dataclass(frozen=True, slots=True)
class Mirror:
    """Where a Debian archive is, and who must have signed it.

    `signed_by` is a key file or the key itself; empty: any key that the machine's apt trusts."""

    uri: str
    signed_by: str = ""
    security: bool = False

    def stanza(self, suites: str) -> str:
        """The same mirror for other suites, in apt's deb822 notation."""
        lines = ["Types: deb", f"URIs: {self.uri}", f"Suites: {suites}", "Components: main"]
        if self.signed_by:
            lines.append(f"Signed-By: {self.signed_by}")
        return "\n".join(lines) + "\n"


def debian_mirrors(etc: Path) -> list[Mirror]:
    """The Debian mirrors of an apt configuration folder: at most one of each kind, the first one named."""
    found: dict[bool, Mirror] = {}
    for mirror in (*_from_deb822(etc), *_from_lines(etc)):
        found.setdefault(mirror.security, mirror)
    return list(found.values())


def _mirrors(uris: str, suites: str, signed_by: str) -> Iterator[Mirror]:
    for suite in suites.split():
        base, _, part = suite.replace("/", "-", 1).partition("-")
        if base in (*SUITES, *ALIASES) and part in ("", "updates", "security", "security-updates"):
            # before bullseye the security suite was called SUITE/updates, on a mirror of its own
            security = "security" in part or suite.endswith("/updates")
            for uri in uris.split():
                yield Mirror(uri, signed_by, security)


def _from_deb822(etc: Path) -> Iterator[Mirror]:
    for file in sorted((etc / "sources.list.d").glob("*.sources")):
        for stanza in re.split(r"\n\s*\n", file.read_text("utf-8", errors="replace")):
            fields = _fields(stanza)
            if "deb" in fields.get("types", "").split() and fields.get("enabled", "yes").lower() != "no":
                signed_by = fields.get("signed-by", "")
                yield from _mirrors(fields.get("uris", ""), fields.get("suites", ""), signed_by)


def _fields(stanza: str) -> Mapping[str, str]:
    """The fields of a stanza; a continuation keeps its indentation, which an inline key needs."""
    fields: dict[str, str] = {}
    name = ""
    for line in stanza.splitlines():
        if line.startswith("#"):
            continue
        if line[:1].isspace() and name:
            fields[name] += "\n" + line.rstrip()
        elif ":" in line:
            key, _, value = line.partition(":")
            name = key.strip().lower()
            fields[name] = value.strip()
    return fields


def _from_lines(etc: Path) -> Iterator[Mirror]:
    for file in (etc / "sources.list", *sorted((etc / "sources.list.d").glob("*.list"))):
        if not file.is_file():
            continue
        for line in file.read_text("utf-8", errors="replace").splitlines():
            if match := ONE_LINE.match(line.strip() + " "):
                signed = re.search(r"signed-by=(\S+)", match["options"] or "")
                yield from _mirrors(match["uri"], match["suite"], signed[1] if signed else "")
