"""What the rest of acidtest calls: install, start and list servers by their specification."""

from collections.abc import Mapping

from acidtest.errors import UsageError
from acidtest.servers import store
from acidtest.servers.base import (
    Installation,
    Progress,
    Release,
    ReleaseGoneError,
    no_progress,
)
from acidtest.servers.cache import locked
from acidtest.servers.flavours import FLAVOURS
from acidtest.servers.running import RunningServer
from acidtest.servers.sources import OPEN_SOURCES, SOURCES, machine
from acidtest.servers.specs import Spec, nearest_first, version_key
from acidtest.servers.specs import parse_spec as parse_any_spec

CHOICES_MAX = 12
EMBEDDED = "postgres"
"""Installed when it is asked for and missing: the default target."""


def parse_spec(text: str) -> Spec:
    """`NAME[@VERSION]` of a server that acidtest can run."""
    return parse_any_spec(text, FLAVOURS)


def available() -> list[Release]:
    """What can be installed as far as is known without asking the network, newest first within a DBMS."""
    releases = [release for source in SOURCES for release in source.releases()]
    by_version = sorted(releases, key=lambda release: version_key(release.version), reverse=True)
    return sorted(by_version, key=lambda release: release.dbms)


def refresh(progress: Progress = no_progress) -> None:
    """Ask all sources what they have now."""
    for source in SOURCES:
        source.refresh(progress)


def installed() -> list[Installation]:
    """What can be started at once: the store and the machine's own servers, newest first within a DBMS."""
    found = [*store.stored(), *machine.on_machine()]
    by_version = sorted(found, key=lambda one: version_key(one.version), reverse=True)
    return sorted(by_version, key=lambda one: one.dbms)


def find_installed(wish: str | Spec) -> Installation | None:
    """The newest installed server that satisfies the wish."""
    spec = parse_spec(wish) if isinstance(wish, str) else wish
    return next((one for one in installed() if spec.accepts(one.dbms, one.version)), None)


def matching(wish: str) -> list[str]:
    """The releases that a wish means, by exact name: all that fit for `*` and ranges, oldest first, the wish
    itself otherwise."""
    spec = parse_spec(wish)
    if not spec.means_several:
        return [wish]
    fitting = {one.version for one in available() if spec.accepts(one.dbms, one.version)}
    if not fitting:
        raise UsageError(f"{spec} cannot be had; {_choice(spec)}")
    return [f"{spec.dbms}@{version}" for version in sorted(fitting, key=version_key)]


def installed_for(wish: str) -> list[Installation]:
    """The installed servers that a wish means: all that fit for `*` and ranges, oldest first."""
    spec = parse_spec(wish)
    if not spec.means_several:
        return [require(wish)]
    fitting = {one.version: one for one in reversed(installed()) if spec.accepts(one.dbms, one.version)}
    if not fitting:
        matching(wish)
        raise UsageError(f"no {spec} is installed; run: acidtest server install '{spec}'")
    return sorted(fitting.values(), key=lambda one: version_key(one.version))


def install(wish: str, progress: Progress = no_progress) -> Installation:
    """Install the newest release that satisfies the wish; one that is in the store already is kept."""
    spec = parse_spec(wish)
    if spec.version and (found := find_installed(spec)):
        return found
    _choose(spec)
    with locked(f"install-{spec.dbms}"):
        for one in store.stored():
            if spec.accepts(one.dbms, one.version):
                return one
        store.sweep(spec.dbms)
        try:
            return _install(_choose(spec), progress)
        except ReleaseGoneError:  # we knew an old list; by now the source has renewed it
            return _install(_choose(spec), progress)


def _install(release: Release, progress: Progress) -> Installation:
    source = next(source for source in SOURCES if source.name == release.source)
    return store.install(release, source, progress)


def remove(wish: str) -> Installation:
    """Remove the installation that the wish names; it must name exactly one."""
    spec = parse_spec(wish)
    kept = [one for one in store.stored() if spec.accepts(one.dbms, one.version)]
    if not kept:
        raise UsageError(f"{spec} is not installed by acidtest; `acidtest server list` shows what is")
    if len(kept) > 1:
        choice = ", ".join(one.spec for one in kept)
        raise UsageError(f"{spec} could be any of {choice}; say which one to remove")
    with locked(f"install-{spec.dbms}"):
        if store.is_in_use(kept[0]):
            raise UsageError(f"{kept[0].spec} is running; stop it first: acidtest server stop {kept[0].spec}")
        store.remove(kept[0])
    return kept[0]


def require(wish: str, progress: Progress = no_progress) -> Installation:
    """The installation to start for this wish. Only the embedded default is installed without being asked."""
    spec = parse_spec(wish)
    found = find_installed(spec)
    if spec == Spec(EMBEDDED) and (found is None or found.source == machine.NAME):
        # the machine's own server may be any version: the same command shall give the same results everywhere
        return install(wish, progress)
    if found is None:
        _choose(spec)
        raise UsageError(f"{spec} is not installed; run: acidtest server install {spec}")
    return found


def start(
    wish: str,
    *,
    port: int | None = None,
    detached: bool = False,
    options: Mapping[str, str] | None = None,
) -> RunningServer:
    """Start a private, fresh server for `NAME[@VERSION]`; it ends with this process unless detached.
    `options` are those that its flavour knows (docs/servers.md)."""
    return RunningServer.start(require(wish), port=port, detached=detached, options=options)


def _choose(spec: Spec) -> Release:
    """The newest release that may satisfy the wish, or a sentence that lists what there is."""
    candidates = [one for one in available() if spec.may_accept(one.dbms, one.version)]
    unlisted = (source.named(spec.dbms, spec.version) for source in OPEN_SOURCES if spec.version)
    if not candidates:
        candidates = [release for release in unlisted if release is not None]
    if not candidates:
        raise UsageError(f"{spec} cannot be had; {_choice(spec)}")
    exact = [one for one in candidates if spec.accepts(one.dbms, one.version)]
    chosen = (exact or candidates)[0]
    if chosen.version == spec.version or spec.accepts(chosen.dbms, chosen.version):
        return chosen
    # an exact wish from a series: the source has to find it
    return Release(chosen.dbms, spec.version, chosen.source, chosen.package, chosen.origin, chosen.size_bytes)


def _choice(spec: Spec) -> str:
    to_have = [one.version for one in available() if one.dbms == spec.dbms]
    at_hand = [one.version for one in installed() if one.dbms == spec.dbms]
    ordered = [f"{spec.dbms}@{version}" for version in nearest_first(spec.version, to_have + at_hand)]
    more = ["and more (acidtest server list)"] if len(ordered) > CHOICES_MAX else []
    return f"nearest first, there is: {', '.join([*ordered[:CHOICES_MAX], *more])}"
