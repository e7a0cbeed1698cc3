"""Server processes, with ordinary programs in place of servers: whose life they share, what they inherit."""

import json
import os
import pwd
import select
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from acidtest.servers.launcher import CANNOT_RUN
from acidtest.servers.process import ServerProcess, run_to_end

END_SECONDS_MAX = 30.0
OWNER = """
import os, shutil, signal, sys
from pathlib import Path
from acidtest.servers.process import ServerProcess
folder = Path(sys.argv[1])
death_signal = signal.Signals(int(sys.argv[2])) if sys.argv[2] != "0" else None
started = ServerProcess.start(
    [shutil.which("sleep"), "600"], environment=dict(os.environ), folder=folder, log=folder / "log",
    owner=None, death_signal=death_signal, keep=[],
)
print(started.pid, flush=True)
signal.pause()
"""
TELL = """
import json, os, sys
told = {
    "environment": dict(os.environ), "user": os.geteuid(), "session": os.getsid(0) == os.getpid(),
    "input": sys.stdin.read(),
}
print(json.dumps(told))
"""


def program(name: str, *arguments: str) -> list[str]:
    """The command of a program of the machine."""
    path = shutil.which(name)
    assert path is not None
    return [path, *arguments]


def run(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str] | None = None,
    owner: int | None = None,
    text: str = "",
) -> tuple[int, str]:
    """Exit code and output of a helper program."""
    log = folder / "log"
    environment = dict(os.environ) if environment is None else environment
    code = run_to_end(command, text, environment=environment, folder=folder, log=log, owner=owner)
    return code, log.read_text()


@pytest.fixture
def killed_owner(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[int]:
    """The pidfd of a process whose owner was killed after it had started it."""
    arguments = [sys.executable, "-c", OWNER, str(tmp_path), str(int(request.param))]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        started = os.pidfd_open(pid)
        owner.kill()
    yield started
    if not ended(started, 0.0):
        signal.pidfd_send_signal(started, signal.SIGKILL)
    os.close(started)


def ended(process: int, seconds: float) -> bool:
    poller = select.poll()
    poller.register(process, select.POLLIN)
    return bool(poller.poll(1000 * seconds))


@pytest.mark.parametrize("killed_owner", [signal.SIGKILL, signal.SIGQUIT], indirect=True)
def test_a_server_dies_with_the_acidtest_that_started_it(killed_owner: int) -> None:
    assert ended(killed_owner, END_SECONDS_MAX)


@pytest.mark.parametrize("killed_owner", [0], indirect=True)
def test_a_detached_server_lives_on(killed_owner: int) -> None:
    assert not ended(killed_owner, 0.0)


def test_a_program_gets_its_own_environment_and_a_session_of_its_own(tmp_path: Path) -> None:
    environment = {"LD_LIBRARY_PATH": "/nonexistent", "WORD": "ünï"}
    code, output = run([sys.executable, "-I", "-c", TELL], tmp_path, environment, text="typed in")
    assert code == 0, output
    told = json.loads(output)
    assert told["environment"].items() >= environment.items()
    assert "HOME" not in told["environment"]
    assert told["session"]
    assert told["input"] == "typed in"
    assert told["user"] == os.geteuid()


def test_signals_that_python_ignores_are_not_ignored_by_a_server(tmp_path: Path) -> None:
    _, output = run(program("grep", "SigIgn", "/proc/self/status"), tmp_path)
    ignored = int(output.split()[1], 16)
    assert not ignored & (1 << signal.SIGPIPE - 1 | 1 << signal.SIGXFSZ - 1)


def test_only_the_kept_descriptors_reach_a_server(tmp_path: Path) -> None:
    kept = os.open(tmp_path, os.O_RDONLY)
    other = os.dup(kept)
    try:
        started = ServerProcess.start(
            program("ls", "/proc/self/fd"),
            environment=dict(os.environ),
            folder=tmp_path,
            log=tmp_path / "log",
            owner=None,
            death_signal=signal.SIGKILL,
            keep=[kept],
        )
        assert started.ended_within(END_SECONDS_MAX)
        started.close()
    finally:
        os.close(kept)
        os.close(other)
    shown = set(map(int, (tmp_path / "log").read_text().split()))
    assert {0, 1, 2, kept} <= shown
    assert len(shown) == 5, "besides there is the folder that ls reads"


def test_a_command_that_is_not_there_is_told_in_the_log(tmp_path: Path) -> None:
    code, output = run(["/nonexistent/mysqld"], tmp_path)
    assert (code, output) == (CANNOT_RUN, "cannot run /nonexistent/mysqld: No such file or directory\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_root_is_dropped_for_good(tmp_path: Path) -> None:
    nobody = pwd.getpwnam("nobody").pw_uid
    grep = program("grep", "-E", "^(Uid|Gid|Groups|CapEff):", "/proc/self/status")
    _, output = run(grep, tmp_path, owner=nobody)
    told = {line.partition(":")[0]: line.split()[1:] for line in output.splitlines()}
    assert told == {"Uid": [str(nobody)] * 4, "Gid": [str(nobody)] * 4, "Groups": [], "CapEff": ["0" * 16]}


def test_programs_can_be_started_from_many_threads_at_once(tmp_path: Path) -> None:
    codes: list[int] = []

    def start(number: int) -> None:
        folder = tmp_path / str(number)
        folder.mkdir()
        codes.append(run(program("true"), folder)[0])

    threads = [threading.Thread(target=start, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [0] * 8
