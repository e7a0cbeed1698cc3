"""`acidtest server` as a user types it, and installing into an empty cache."""

import json
import os
import pty
import select
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from acidtest import servers
from acidtest.cli.server import server as command
from acidtest.servers import Installation, InstallFailedError, Progress, Release, api, store
from acidtest.servers.base import Unpacked

pytestmark = pytest.mark.live("postgres@18")
RELEASE = Release("postgres", "18", "copy", "copied", "")


class CopySource:
    """Delivers an installation that is there already, without the network; breaks off when told to."""

    name = "copy"

    def __init__(self, original: Installation) -> None:
        self.original = original
        self.breaks = False

    def releases(self) -> Sequence[Release]:
        return [RELEASE]

    def refresh(self, progress: Progress) -> None: ...

    def fetch(self, _release: Release, folder: Path, _progress: Progress) -> Unpacked:
        shutil.copytree(self.original.root, folder, symlinks=True, dirs_exist_ok=True)
        if self.breaks:
            raise InstallFailedError("the connection broke; try again")
        return Unpacked("", self.original.loader, tuple(self.original.libraries))


@pytest.fixture
def empty_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[CopySource]:
    original = servers.find_installed("postgres@18")
    assert original is not None
    source = CopySource(original)
    monkeypatch.setattr(api, "SOURCES", (source,))
    monkeypatch.setenv("ACIDTEST_CACHE", str(tmp_path / "cache"))
    yield source
    invoke("stop", "all")


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments, catch_exceptions=True)


def start_in_another_process() -> str:
    """Start a detached server by a command that then ends, as a user does; returns what it printed."""
    script = "from acidtest.cli.server import server; server(['start', 'postgres@18'])"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return done.stdout


def test_broken_download_can_be_repeated(empty_cache: CopySource) -> None:
    empty_cache.breaks = True
    with pytest.raises(InstallFailedError, match="broke"):
        servers.install("postgres@18")
    assert store.stored() == []
    empty_cache.breaks = False
    made = servers.install("postgres@18")
    assert [one.spec for one in store.stored()] == [made.spec]
    with servers.start("postgres@18") as server:
        assert server.alive()


@pytest.mark.usefixtures("empty_cache")
def test_install_list_start_stop_remove() -> None:
    assert "is installed" in invoke("install", "postgres@18").output
    assert "socket:" in start_in_another_process()
    rows = json.loads(invoke("list", "--json").stdout)
    assert {"running", "installed"} <= {row["state"] for row in rows if row["dbms"] == "postgres"}
    refused = invoke("remove", "postgres@18")
    assert "is running" in str(refused.exception)
    assert "is stopped" in invoke("stop", "postgres").output
    assert "running" not in invoke("list").output
    assert "is removed" in invoke("remove", "postgres@18").output
    assert store.stored() == []


@pytest.mark.usefixtures("empty_cache")
def test_detached_server_outlives_the_command_and_is_found_by_the_next() -> None:
    servers.install("postgres@18")
    start_in_another_process()
    rows = json.loads(invoke("list", "--json").stdout)
    (pid,) = [int(row["note"].split()[1]) for row in rows if row["state"] == "running"]
    assert Path(f"/proc/{pid}").exists()
    shown = subprocess.run(
        [sys.executable, "-c", "from acidtest.cli.server import server; server(['shell', 'postgres'])"],
        input="SELECT 6 * 7 AS answer;",
        capture_output=True,
        text=True,
        check=True,
    )
    assert "42" in shown.stdout
    with servers.start("postgres@18"):  # sweeps, but not the detached one
        assert invoke("stop", "postgres").exit_code == 0
    assert json.loads(invoke("list", "--json").stdout)[0]["state"] != "running"


@pytest.mark.usefixtures("empty_cache")
def test_state_of_a_server_that_died_is_forgotten() -> None:
    servers.install("postgres@18")
    start_in_another_process()
    (state,) = Path(os.environ["ACIDTEST_CACHE"], "run").glob("*.json")
    content = json.loads(state.read_text())
    state.write_text(json.dumps({**content, "born": "1"}))  # as if the process id had been used again
    assert "running" not in invoke("list").output
    assert not state.exists()
    state.write_text(json.dumps(content))
    assert "is stopped" in invoke("stop", "postgres").output


@pytest.mark.usefixtures("empty_cache")
def test_two_processes_install_the_same_version_at_once() -> None:
    script = (
        "import sys\n"
        "from acidtest import servers\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "from test_servers_commands import CopySource\n"
        "from acidtest.servers import api\n"
        "import os\n"
        "cache = os.environ.pop('ACIDTEST_CACHE')\n"
        "source = CopySource(servers.find_installed('postgres@18'))\n"
        "os.environ['ACIDTEST_CACHE'] = cache\n"
        "api.SOURCES = (source,)\n"
        "print(servers.install('postgres@18').home)\n"
    )
    both = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(Path(__file__).parent)], stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    answers = {process.communicate()[0] for process in both}
    assert [process.returncode for process in both] == [0, 0]
    assert len(answers) == 1
    assert len(store.stored()) == 1


def shell_in_a_terminal(count: int) -> tuple[subprocess.Popen[bytes], int]:
    """`acidtest server shell` on a terminal of its own, and the other end of that terminal."""
    ours, theirs = pty.openpty()
    script = f"from acidtest.cli.server import server; server(['shell', 'postgres@18', '--count', '{count}'])"
    # a session leader gets the terminal as its own, which tmux and psql insist on
    leader = f"import fcntl, os, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n{script}"
    environment = {**os.environ, "TERM": "xterm"}
    process = subprocess.Popen(
        [sys.executable, "-c", leader], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    return process, ours


def read_until(terminal: int, wanted: bytes, times: int = 1) -> None:
    seen = b""
    while seen.count(wanted) < times:
        ready, _, _ = select.select([terminal], [], [], 60)
        assert ready, f"the terminal shows only {seen!r}"
        seen += os.read(terminal, 4096)


def read_to_the_end(terminal: int) -> None:
    """Take what is still shown, so that nobody waits for room on the terminal. Its end is an error."""
    with suppress(OSError):
        while os.read(terminal, 4096):
            pass
    os.close(terminal)


RUNS = b"DO $$ BEGIN RAISE NOTICE 'it runs'; PERFORM pg_sleep(600); END $$;\n"


def test_interrupt_cancels_the_statement_and_not_the_shell() -> None:
    process, terminal = shell_in_a_terminal(1)
    with process:
        read_until(terminal, b"postgres=#")
        os.write(terminal, RUNS)
        read_until(terminal, b"NOTICE:  it runs")
        os.write(terminal, b"\x03")
        read_until(terminal, b"canceling statement")
        os.write(terminal, b"\\q\n")
        read_to_the_end(terminal)
    assert process.returncode == 0


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed; apt-get install tmux")
def test_several_clients_are_shown_side_by_side() -> None:
    process, terminal = shell_in_a_terminal(2)
    tmux = ["tmux", "-L", f"acidtest-{process.pid}"]
    with process:
        read_until(terminal, b"postgres=#", times=2)
        panes = subprocess.run([*tmux, "list-panes"], check=True, capture_output=True, text=True).stdout
        subprocess.run([*tmux, "kill-server"], check=True)
        read_to_the_end(terminal)
    assert len(panes.splitlines()) == 2


def test_several_clients_without_tmux_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    have = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "tmux" else have(name))
    assert "need tmux" in str(invoke("shell", "postgres@18", "--count", "2").exception)
