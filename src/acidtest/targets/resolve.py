"""From what the user wrote (`mariadb@10.11`, `sqlite`, `mysql://root@127.0.0.1:3306/`) to an open target.

One line per DBMS; drivers are imported when their target is opened. A DBMS that lives in another package
registers by an entry point of the group `acidtest.targets`: its name is the DBMS's, and it names a `Dbms`.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import cast
from urllib.parse import SplitResult, parse_qs, parse_qsl, unquote, urlsplit, urlunsplit

from acidtest import servers
from acidtest.errors import TargetFailedError, UnreachableError, UsageError
from acidtest.model import Level
from acidtest.servers import Endpoint, embedded
from acidtest.targets.base import Guest, Target


@dataclass(frozen=True, slots=True)
class Dbms:
    """Where the target class of a DBMS is, and how its address is written."""

    target: str  # module:class
    dialect: str  # of sqlglot, the same that the class says
    schemes: tuple[str, ...]
    port: int | None = None  # None: in process, reached by a path
    user: str = "root"
    driver: str | None = None  # a module that an extra installs
    versioned: bool = False  # NAME@VERSION makes sense although it runs in process
    apart: str = ""  # module:class for NAME@VERSION of a DBMS that runs in process
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """What may follow a `?` in a specification: by option and value, the variant of the target."""
    guest: str | None = None
    """Where the class is that looks into an application's own database, module:class; None: there is none."""
    server_options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The same for how a server of our own is started: by option, the values that it takes."""


_OWN = "acidtest.targets"
_BINARY_LOG = {"log_bin": ("off", "on")}
_FAMILY_GUEST = f"{_OWN}.mysql_family.guest:FamilyGuest"
DBMSS = {
    "postgres": Dbms(
        f"{_OWN}.postgres.target:PostgresTarget",
        "postgres",
        ("postgresql", "postgres"),
        5432,
        "postgres",
        guest=f"{_OWN}.postgres.guest:PostgresGuest",
        options={"fault": {"weaker-level": f"{_OWN}.postgres.target:WeakenedPostgresTarget"}},
    ),
    "mariadb": Dbms(
        f"{_OWN}.mariadb:MariaDBTarget",
        "mysql",
        ("mariadb",),
        3306,
        guest=_FAMILY_GUEST,
        server_options=_BINARY_LOG,
    ),
    "mysql": Dbms(
        f"{_OWN}.mysql:MySQLTarget",
        "mysql",
        ("mysql",),
        3306,
        guest=_FAMILY_GUEST,
        server_options=_BINARY_LOG,
    ),
    "seekdb": Dbms(f"{_OWN}.seekdb:SeekDBTarget", "mysql", ("seekdb",), 2881),
    "tidb": Dbms(
        f"{_OWN}.tidb:TiDBTarget",
        "mysql",
        ("tidb",),
        4000,
        options={
            "mode": {
                "pessimistic": f"{_OWN}.tidb:TiDBTarget",
                "optimistic": f"{_OWN}.tidb:OptimisticTiDBTarget",
            }
        },
    ),
    "sqlite": Dbms(f"{_OWN}.sqlite:SQLiteTarget", "sqlite", ("sqlite",), apart=f"{_OWN}.apart:SQLiteApart"),
    "duckdb": Dbms(
        f"{_OWN}.duckdb:DuckDBTarget",
        "duckdb",
        ("duckdb",),
        driver="duckdb",
        apart=f"{_OWN}.apart:DuckDBApart",
    ),
    # Not a DBMS but our own engine; its versions are planted faults.
    "simulated": Dbms(
        f"{_OWN}.simulated:SimulatedTarget",
        "mysql",
        (),
        versioned=True,
        options={
            "engine": {
                "locking": f"{_OWN}.simulated:SimulatedTarget",
                "recheck": f"{_OWN}.simulated:RecheckingTarget",
                "fail": f"{_OWN}.simulated:FailingTarget",
                "ssi": f"{_OWN}.simulated:SerializableTarget",
                "one-writer": f"{_OWN}.simulated:OneWriterTarget",
                "refuse": f"{_OWN}.simulated:RefusingTarget",
                "optimistic": f"{_OWN}.simulated:OptimisticTarget",
            }
        },
    ),
}

GROUP = "acidtest.targets"
"""The group of entry points by which other packages offer a DBMS."""

UNUSABLE: dict[str, str] = {}
"""Why a DBMS that another package offers cannot be used, by its name."""


def register_others() -> None:
    """Take in what other packages offer. Names of acidtest's own stay acidtest's."""
    for offered in entry_points(group=GROUP):
        if offered.name in DBMSS:
            continue
        try:
            found = offered.load()
        except Exception as error:  # whatever is wrong with it concerns only who asks for it
            UNUSABLE[offered.name] = f"{offered.value} cannot be loaded: {error}"
            continue
        if isinstance(found, Dbms):
            DBMSS[offered.name] = found
        else:
            UNUSABLE[offered.name] = f"{offered.value} is no acidtest.targets.resolve.Dbms"


register_others()


def dialect_of(dbms: str) -> str:
    """The sqlglot dialect of a DBMS by its name, without opening it."""
    return DBMSS[dbms].dialect


def open_target(spec: str) -> Target:
    """The target of that name, version or address, with a private database in it.

    A server named by version is started for it, and stopped when the target is closed.
    """
    name, address = check_spec(spec)
    dbms = _variant(name, spec)
    if address is not None:
        return _open_at(dbms, name, address)
    if dbms.port is None:
        version = spec.partition("?")[0].partition("@")[2]
        return make_target(dbms)(None, spec, version) if version else make_target(dbms)(None, spec)
    plain, _, options = spec.partition("?")
    chosen = {option: value for option, value in parse_qsl(options) if option in dbms.server_options}
    server = servers.start(plain, options=chosen)
    try:
        return make_target(dbms)(server.endpoint, spec, server)
    except BaseException:
        server.stop()
        raise


def open_guest(endpoint: Endpoint) -> Guest:
    """A guest in an application's own database; a DBMS that takes none is a `UsageError`."""
    where = DBMSS[endpoint.dbms].guest if endpoint.dbms in DBMSS else None
    if where is None:
        known = ", ".join(name for name, dbms in DBMSS.items() if dbms.guest)
        raise UsageError(
            f"an application on {endpoint.dbms} cannot be tested: acidtest has to ask the server who waits; "
            f"it can on {known}"
        )
    module, _, name = where.partition(":")
    label = f"{endpoint.dbms}://{endpoint.user}@{endpoint.socket or f'{endpoint.host}:{endpoint.port}'}"
    make = cast(Callable[[Endpoint, str], Guest], getattr(import_module(module), name))
    return make(endpoint, f"{label}/{endpoint.database}")


def check_spec(spec: str) -> tuple[str, SplitResult | None]:
    """The DBMS that a specification names, and its address if it is one; refuses what cannot be meant."""
    if "://" in spec:
        address = _address(spec)
        for name, dbms in DBMSS.items():
            if address.scheme in dbms.schemes:
                _variant(name, spec)
                return name, address
        schemes = ", ".join(f"{scheme}://" for dbms in DBMSS.values() for scheme in dbms.schemes)
        raise UsageError(f"unknown kind of address {address.scheme}://; known are {schemes}")
    name, at, _version = spec.partition("?")[0].partition("@")
    if name in UNUSABLE:
        raise UsageError(f"the target {name} is offered by another package, but {UNUSABLE[name]}")
    if name not in DBMSS:
        raise UsageError(
            f"unknown target {spec!r}; known are {', '.join(DBMSS)}, each as NAME or NAME@VERSION"
        )
    if at and DBMSS[name].port is None and not DBMSS[name].versioned and not DBMSS[name].apart:
        raise UsageError(
            f"{name} runs inside acidtest in the one version that is installed; write just {name!r}"
        )
    _variant(name, spec)
    return name, None


def without_password(spec: str) -> str:
    """The specification as it may be shown and stored."""
    address = _address(spec)
    if "://" not in spec or address.password is None:
        return spec
    user, _, place = address.netloc.rpartition("@")
    return urlunsplit(address._replace(netloc=f"{user.partition(':')[0]}@{place}"))


def require_target(spec: str) -> None:
    """Refuse a server that is not installed, or does not answer, and what cannot be opened inside this
    process, before anything else is made for it."""
    if "://" in spec or is_embedded(spec):
        open_target(spec).close()
    else:
        servers.require(spec.partition("?")[0])


def is_embedded(spec: str) -> bool:
    """Whether it runs inside this process."""
    return DBMSS[dbms_of(spec)].port is None


def is_own_file(spec: str) -> bool:
    """Whether it names a file, which one process at a time can have."""
    return "://" in spec and is_embedded(spec)


def dbms_of(spec: str) -> str:
    """The name of the DBMS that a specification means."""
    return check_spec(spec)[0]


def levels_of(spec: str) -> tuple[Level, ...]:
    """The levels that a target has, without opening it."""
    name, _address = check_spec(spec)
    return cast(type[Target], make_target(_variant(name, spec))).levels


def default_level_of(spec: str) -> Level:
    """The level that a target has by default, without opening it."""
    name, _address = check_spec(spec)
    return cast(type[Target], make_target(_variant(name, spec))).default_level


def embedded_version(spec: str) -> str:
    """The version of what runs inside this process, which has to be opened to tell."""
    with open_target(spec) as opened:
        return opened.version


def expand_spec(spec: str) -> list[str]:
    """The targets that a specification means: all installed ones for `NAME@*` and ranges, else itself."""
    name, address = check_spec(spec)
    plain, mark, options = spec.partition("?")
    if address is None and DBMSS[name].apart and plain.endswith("@*"):
        return [f"{one.spec}{mark}{options}" for one in embedded.installed() if one.dbms == name]
    if address is not None or DBMSS[name].port is None or not servers.parse_spec(plain).means_several:
        return [spec]
    return [f"{one.spec}{mark}{options}" for one in servers.installed_for(plain)]


def _variant(name: str, spec: str) -> Dbms:
    """The DBMS as the options behind the `?` want it; refuses options that it does not have."""
    dbms = DBMSS[name]
    own = {"socket"} if "://" in spec else set()
    for option, values in parse_qs(spec.partition("?")[2], keep_blank_values=True).items():
        if option in own:
            continue
        choices: Collection[str] | None = dbms.options.get(option)
        if choices is None and "://" not in spec:
            choices = dbms.server_options.get(option)
        if choices is None:
            served = () if "://" in spec else dbms.server_options
            known = ", ".join([*dbms.options, *served, *own]) or "none"
            raise UsageError(f"{name} has no option {option!r} (in {spec!r}); known are: {known}")
        if values[-1] not in choices:
            raise UsageError(f"{option} of {name} is one of {', '.join(choices)}, not {values[-1]!r}")
        if option in dbms.options:
            dbms = replace(dbms, target=dbms.options[option][values[-1]])
    if dbms.apart and "://" not in spec and "@" in spec.partition("?")[0]:
        dbms = replace(dbms, target=dbms.apart)
    return dbms


def known_specs() -> list[str]:
    """What could be written for a target without asking the network: names, and versions installed."""
    installed = [f"{one.dbms}@{one.version}" for one in servers.installed()]
    installed += [one.spec for one in embedded.installed()]
    return sorted({*DBMSS, *installed})


def _open_at(dbms: Dbms, name: str, address: SplitResult) -> Target:
    if dbms.port is None:
        path = unquote(address.path)
        if not path.strip("/"):
            raise UsageError(f"{address.geturl()} names no file; write {name}:///path/to/file")
        return make_target(dbms)(Path(path), f"{name}://{path}")
    endpoint = Endpoint(
        dbms=name,
        socket=next(iter(parse_qs(address.query).get("socket", [])), None),
        host=address.hostname or "127.0.0.1",
        port=_port(address, dbms.port),
        user=unquote(address.username or dbms.user),
        password=unquote(address.password or ""),
        database=address.path.strip("/"),
    )
    try:
        # The label goes into reports and replay commands.
        return make_target(dbms)(endpoint, without_password(address.geturl()), None)
    except TargetFailedError as error:
        raise UnreachableError(str(error)) from error


def _address(spec: str) -> SplitResult:
    try:
        return urlsplit(spec)
    except ValueError as error:  # its text may hold the password
        scheme = spec.partition("://")[0]
        raise UsageError(f"the host of the address {scheme}://... is malformed") from error


def _port(address: SplitResult, default: int) -> int:
    try:
        return address.port or default
    except ValueError as error:
        raise UsageError(
            f"the port in {address.scheme}://{address.hostname}:... is not a number from 0 to 65535"
        ) from error


def make_target(dbms: Dbms) -> Callable[..., Target]:
    """The class of a DBMS's target, its module imported now."""
    module, _, name = dbms.target.partition(":")
    return cast(Callable[..., Target], getattr(import_module(module), name))


def available_specs() -> list[str]:
    """Targets that can be opened without installing anything but the embedded PostgreSQL."""
    in_process = [
        name for name, dbms in DBMSS.items() if dbms.port is None and dbms.schemes and _driver_is_there(dbms)
    ]
    others = [spec for spec in known_specs() if "@" in spec and not spec.startswith("postgres@")]
    return ["postgres", *in_process, *others]


def _driver_is_there(dbms: Dbms) -> bool:
    return dbms.driver is None or find_spec(dbms.driver) is not None
