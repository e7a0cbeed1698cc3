"""The archives that `make dist` builds: nothing is missing in them, and the wheel works once installed."""

import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
pytestmark = pytest.mark.timeout(900)


def run(command: Sequence[str | Path], folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run a command far from this repository, without a path to its sources."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> None:
    """pip can fetch packages. Asked by itself, so that a build that fails for another reason is no skip."""
    folder = tmp_path_factory.mktemp("network")
    asked = run(
        [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", folder, "setuptools"], folder
    )
    if asked.returncode != 0:
        pytest.skip(f"pip can fetch nothing here: {asked.stdout.strip().splitlines()[-1]}")


@pytest.fixture(scope="module")
def built(network: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder with both archives, and what the build printed."""
    if find_spec("build") is None:
        pytest.skip("the package `build` is not installed; pip install '.[dev]'")
    folder = tmp_path_factory.mktemp("dist")
    ran = run([sys.executable, "-m", "build", "--outdir", folder, ROOT], folder)
    assert ran.returncode == 0, ran.stdout
    return folder, ran.stdout


@pytest.fixture(scope="module")
def wheel(built: tuple[Path, str]) -> Path:
    (found,) = built[0].glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a new virtual environment with nothing in it but the wheel and what that needs."""
    folder = tmp_path_factory.mktemp("clean") / "venv"
    made = run([sys.executable, "-m", "venv", folder], folder.parent)
    assert made.returncode == 0, made.stdout
    ran = run([folder / "bin" / "python", "-m", "pip", "install", "--quiet", wheel], folder.parent)
    assert ran.returncode == 0, ran.stdout
    return folder / "bin"


def sources() -> set[str]:
    """All files of the package, code and data, by their names in a wheel."""
    files = (path for path in (SOURCE / "acidtest").rglob("*") if path.is_file())
    return {str(path.relative_to(SOURCE)) for path in files if "__pycache__" not in path.parts}


def test_the_build_prints_no_warning(built: tuple[Path, str]) -> None:
    lines = [
        line for line in built[1].splitlines() if "warning" in line.lower() or "deprecat" in line.lower()
    ]
    # a pattern of MANIFEST.in that excludes nothing, because nothing has been compiled yet
    assert [line for line in lines if "no previously-included files" not in line] == []


def test_all_code_and_data_are_in_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.startswith("acidtest/")}
    assert packed == sources(), "new kinds of data have to be named in pyproject.toml, package-data"
    for example in ("py.typed", "corpus/bugs/", "corpus/anomalies/", "simulated/cases/", "bench/findings/"):
        assert any(name.startswith(f"acidtest/{example}") for name in packed)


def test_the_source_archive_holds_what_it_takes_to_work_on_it(built: tuple[Path, str]) -> None:
    (found,) = built[0].glob("*.tar.gz")
    with tarfile.open(found) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"src/{name}" for name in sources()} <= packed
    assert {"LICENSE", "README.md", "Makefile", "docs/ARCHITECTURE.md", "tests/conftest.py"} <= packed


def test_the_installed_wheel_says_its_version(installed: Path, tmp_path: Path) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    ran = run([installed / "acidtest", "--version"], tmp_path)
    assert (ran.returncode, ran.stdout) == (0, f"acidtest, version {version}\n")


def test_the_installed_wheel_knows_the_corpus(installed: Path, tmp_path: Path) -> None:
    ran = run([installed / "acidtest", "bugs", "list"], tmp_path)
    assert ran.returncode == 0, ran.stdout
    assert "MDEV-26642" in ran.stdout
    assert "p1-dirty-read" in run([installed / "acidtest", "bugs", "show", "p1-dirty-read"], tmp_path).stdout


@pytest.mark.parametrize(("case", "code"), [("p1-dirty-read", 0), ("p4-lost-update", 1)])
def test_the_installed_wheel_runs_an_anomaly(installed: Path, tmp_path: Path, case: str, code: int) -> None:
    """SQLite excludes both. It refuses the late write of the second, whose final state is another."""
    ran = run([installed / "acidtest", "run", case, "--target", "sqlite"], tmp_path)
    assert ran.returncode == code, ran.stdout
    assert "solver: pass" in ran.stdout
