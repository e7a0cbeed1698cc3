"""app.toml, and what can be wrong in it."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from acidtest.app.config import read_configuration
from acidtest.cli import cli
from acidtest.errors import UsageError

GOOD = """
[[operation]]
call = "os.path:join"
arguments = ["a", "b"]
[options]
seconds = 3
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "app.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_operations_and_options_are_read(tmp_path: Path) -> None:
    found = read_configuration(written(tmp_path, GOOD), runs=7)
    assert [one.title for one in found.operations] == ["join", "join"]
    assert found.operations[0].call() == str(Path("a") / "b")
    assert (found.options.seconds, found.options.runs) == (3, 7)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nonsense", "app.toml: "),
        ("target = 1", "unknown key 'target'"),
        ("path = '.'", "there is no \\[\\[operation\\]\\]"),
        ("[[operation]]\nname = 'x'", "unknown key 'name' of an operation"),
        ("[[operation]]\narguments = []", "has no call"),
        ("[[operation]]\ncall = 'os.path'", "write module:function"),
        ("[[operation]]\ncall = 'os.path:nothing'", "has no function nothing"),
        ("[[operation]]\ncall = 'no_such_module:x'", "cannot be imported"),
        ("[[operation]]\ncommand = 'ls'", "cannot be tested yet"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_configuration(written(tmp_path, text))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not there"):
        read_configuration(tmp_path / "app.toml")


def test_the_commands_explain_themselves() -> None:
    done = CliRunner().invoke(cli, ["app", "--help"])
    assert done.exit_code == 0
    assert all(command in done.output for command in ("record", "analyse", "test", "replay"))
