"""The command line: one file per command, errors told in one sentence, exit codes that scripts can use."""

import sys
import traceback
from contextlib import suppress

import click

from acidtest import __version__
from acidtest.__main__ import INTERRUPTED
from acidtest.cli.app import app
from acidtest.cli.bench import bench
from acidtest.cli.bugs import bugs
from acidtest.cli.check import check
from acidtest.cli.completion import completion
from acidtest.cli.demo import demo
from acidtest.cli.doctor import doctor
from acidtest.cli.evaluate import evaluate
from acidtest.cli.findings import findings
from acidtest.cli.fuzz import fuzz
from acidtest.cli.levels import levels
from acidtest.cli.output import let_go, occupy_standard_files, reader_is_gone, say
from acidtest.cli.reduce import reduce
from acidtest.cli.run import run
from acidtest.cli.selftest import selftest
from acidtest.cli.server import server
from acidtest.errors import DEFECT_EXIT_CODE, AcidtestError


class _Commands(click.Group):
    """All commands."""

    def invoke(self, ctx: click.Context) -> object:
        """Run one. That the reader of its output went away is nothing wrong; another pipe should be whole."""
        try:
            return super().invoke(ctx)
        except SystemExit:
            return 0  # no command of ours: rich ends the program so
        except BrokenPipeError as error:
            if reader_is_gone():
                return 0
            raise RuntimeError("a connection broke unnoticed") from error


@click.group(
    cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}
)
@click.version_option(__version__, prog_name="acidtest")
def cli() -> None:
    """Put database transactions to the acid test: run concurrent transactions on real DBMSs and see exactly
    what happened.

    \b
    Start here:
      acidtest demo                                  fuzz a real MariaDB for a minute
      acidtest fuzz mariadb@10.11 --for 10m          find bugs; acidtest findings shows them
      acidtest levels postgres                       anomalies x isolation levels, embedded PostgreSQL
      acidtest server install mariadb@10.11          a real server, no container, no root
      acidtest bugs run -t mariadb@10.11             which known bugs show there
      acidtest run MDEV-26642 -t mariadb@10.11 -l all

    Exit codes: 0 clean, 1 findings, 2 usage or configuration, 3 the target failed, 70 a defect of
    acidtest.
    """


for command in (
    fuzz,
    findings,
    reduce,
    run,
    app,
    levels,
    bugs,
    check,
    selftest,
    evaluate,
    server,
    doctor,
    bench,
    demo,
    completion,
):
    cli.add_command(command)


def main() -> None:
    """Run a command, tell what went wrong, and exit."""
    occupy_standard_files()
    code = _run()
    let_go()
    sys.exit(code)


def _run() -> int:
    """The exit code of the command."""
    try:
        code = cli(prog_name="acidtest", standalone_mode=False)
    except AcidtestError as error:
        return _failed(str(error), error.exit_code)
    except click.exceptions.Abort:
        return _failed("interrupted", INTERRUPTED)
    except click.ClickException as error:
        with suppress(OSError, ValueError):
            error.show()
        return error.exit_code
    except Exception:
        say(traceback.format_exc())
        return DEFECT_EXIT_CODE
    return code if isinstance(code, int) else 0


def _failed(sentence: str, code: int) -> int:
    say(f"acidtest: error: {sentence}")
    return code
