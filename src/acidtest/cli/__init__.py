"""The command line: one file per command, errors told in one sentence, exit codes that scripts can use."""

import sys

import click

from acidtest import __version__
from acidtest.cli.bench import bench
from acidtest.cli.completion import completion
from acidtest.cli.corpus import corpus
from acidtest.cli.demo import demo
from acidtest.cli.findings import findings
from acidtest.cli.fuzz import fuzz
from acidtest.cli.levels import levels
from acidtest.cli.matrix import matrix
from acidtest.cli.reduce import reduce
from acidtest.cli.run import run
from acidtest.cli.selftest import selftest
from acidtest.cli.server import server
from acidtest.errors import AcidtestError

INTERRUPTED = 130
"""What shells report for a program that Ctrl-C ended."""


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
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
      acidtest run MDEV-26642 -t mariadb@10.11 -l all

    Exit codes: 0 clean, 1 findings, 2 usage or configuration, 3 the target failed.
    """


for command in (
    fuzz,
    findings,
    reduce,
    run,
    levels,
    matrix,
    corpus,
    selftest,
    server,
    bench,
    demo,
    completion,
):
    cli.add_command(command)


def main() -> None:
    """Entry point of the `acidtest` command."""
    try:
        code = cli(prog_name="acidtest", standalone_mode=False)
    except AcidtestError as error:
        _fail(str(error), error.exit_code)
    except click.exceptions.Abort:
        _fail("interrupted", INTERRUPTED)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()  # the reader went away (`| head`): nothing is wrong
        sys.exit(0)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(sentence: str, code: int) -> None:
    click.echo(f"acidtest: error: {sentence}", err=True)
    sys.exit(code)
