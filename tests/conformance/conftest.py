"""Opens each target once; `pytest tests/conformance --target SPEC` picks, an address works as well."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from acidtest.errors import UsageError
from acidtest.targets import Target
from acidtest.targets.resolve import DBMSS, check_spec, open_target
from tests.conformance.driver import Driver
from tests.conformance.profiles import PROFILES, SETUP, Profile
from tests.conftest import provide

SPECS = ("postgres", "mariadb@10.11", "mysql@9.7", "mysql@5.6", "seekdb", "sqlite", "duckdb", "tidb@5.4.2")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "spec" in metafunc.fixturenames:
        specs = metafunc.config.getoption("--target") or SPECS
        metafunc.parametrize("spec", specs, scope="session")


@pytest.fixture(scope="session")
def target(spec: str) -> Iterator[Target]:
    """The target under test, opened once for all tests."""
    _need_server(spec)
    try:
        opened = open_target(spec)
    except UsageError as error:
        if "pip install" in str(error):
            pytest.skip(str(error))
        raise
    with opened:
        yield opened


def _need_server(spec: str) -> None:
    """Skip visibly where a server is missing, or install it, as ACIDTEST_PROVIDE says."""
    name, address = check_spec(spec)
    if address is None and DBMSS[name].port is not None:
        provide(spec.partition("?")[0])


@pytest.fixture
def profile(target: Target) -> Profile:
    """How this DBMS differs, in this version."""
    own = PROFILES[target.dbms]
    return replace(
        own,
        names_blockers=own.names_blockers and own.has("names_blockers", target),
        read_only_begin=own.read_only_begin if own.has("read_only_begin", target) else None,
    )


@pytest.fixture
def driver(target: Target) -> Iterator[Driver]:
    """The target with the common tables freshly built, and sessions that are dropped after the test."""
    target.rebuild(SETUP)
    driver = Driver(target)
    yield driver
    driver.close()


@pytest.fixture
def need(target: Target, profile: Profile) -> Callable[[object, str], None]:
    """Skips a test that asks for what this DBMS lacks: `need(profile.nowait, "nowait")`."""

    def check(wanted: object, feature: str) -> None:
        if not wanted or not profile.has(feature, target):
            pytest.skip(f"{target.label} has no {feature}")

    return check
