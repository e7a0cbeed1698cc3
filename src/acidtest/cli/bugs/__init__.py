"""`acidtest bugs`: known bugs over versions and isolation levels."""

import click

from acidtest.cli.bugs.analyse import analyse
from acidtest.cli.bugs.bisect import bisect
from acidtest.cli.bugs.listing import list_bugs, show
from acidtest.cli.bugs.matrix import matrix
from acidtest.cli.bugs.run import run


@click.group()
def bugs() -> None:
    """Known bugs of DBMSs: list them, run them, see which show on which version at which level.

    Bugs are chosen by regular expressions, which are searched in ids, in the names that other trackers gave
    the same bug, and in titles. A path of a case file is taken as that file.

    \b
    Examples:
      acidtest bugs list mariadb                            what is known of MariaDB
      acidtest bugs show MDEV-26642                         its story and its case
      acidtest bugs run -t mysql@9.7                        which of all bugs show there, at every level
      acidtest bugs matrix MDEV- -t 'mariadb@*'             versions side by side
      acidtest bugs bisect MDEV-33802 -t mariadb            between which releases it was fixed
      acidtest bugs analyse                                 at which levels bugs show, as the thesis asked
    """


for command in (list_bugs, show, run, matrix, analyse, bisect):
    bugs.add_command(command)
