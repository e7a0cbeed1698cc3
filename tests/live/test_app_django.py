"""Django applications and libraries, tried as a user would: plain pytest in a project of its own."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from acidtest import servers
from acidtest.servers.base import Endpoint

ROOT = Path(__file__).parents[2]
LIBRARIES = Path(__file__).parent / "django_libraries"
SHOP = ROOT / "examples" / "app" / "django_shop"


@pytest.fixture(scope="module")
def postgres() -> Iterator[Endpoint]:
    with servers.start("postgres@18") as server:
        assert server.tcp_endpoint is not None
        yield server.tcp_endpoint


@pytest.fixture(scope="module")
def mariadb() -> Iterator[Endpoint]:
    with servers.start("mariadb@10.11") as server:
        assert server.tcp_endpoint is not None
        yield server.tcp_endpoint


def run_pytest(
    folder: Path, prefix: str, place: Endpoint, *arguments: str
) -> subprocess.CompletedProcess[str]:
    engine = "postgresql" if place.dbms == "postgres" else "mysql"
    given = {
        "ENGINE": engine,
        "HOST": place.host,
        "PORT": str(place.port),
        "USER": place.user,
        "PASSWORD": place.password,
    }
    environment = {**os.environ, **{f"{prefix}_{name}": value for name, value in given.items()}}
    command = [sys.executable, "-m", "pytest", "-p", "acidtest.app.plugin", "-q", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.live("postgres@18")
def test_libraries_on_postgres(postgres: Endpoint) -> None:
    done = run_pytest(LIBRARIES, "APP", postgres)
    assert done.returncode == 0, done.stdout
    assert "5 passed" in done.stdout


@pytest.mark.live("mariadb@10.11")
def test_libraries_on_mariadb(mariadb: Endpoint) -> None:
    done = run_pytest(LIBRARIES, "APP", mariadb)
    assert done.returncode == 0, done.stdout
    assert "5 passed" in done.stdout


@pytest.mark.live("postgres@18")
def test_the_shop_sells_its_last_item_twice(postgres: Endpoint, tmp_path: Path) -> None:
    done = run_pytest(SHOP, "SHOP", postgres, f"--acidtest-findings={tmp_path}")
    assert "1 failed, 2 passed" in done.stdout
    for told in (
        "What went wrong: no serial order leaves these rows.",
        "shop/orders.py:15 in place_order: stock = Stock.objects.get(product=product)",
        "A then B: A returned Order(",
        "Phenomenon: lost update (P4)",
        "Nature: scope",
        "SERIALIZABLE: goes wrong",
        "held: each operation as one transaction, with FOR UPDATE on the deciding read",
        "Replay: pytest --acidtest-replay A1-B-A",
    ):
        assert told in done.stdout, done.stdout
    (folder,) = tmp_path.iterdir()
    assert "lost update" in (folder / "report.md").read_text(encoding="utf-8")
