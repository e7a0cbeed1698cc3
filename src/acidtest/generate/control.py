"""How transactions begin."""

from acidtest.generate.flavour import Can
from acidtest.generate.grammar import Context, production


@production("begin", "plain", weight=12)
def _begin(_context: Context) -> str:
    return "BEGIN"


@production("begin", "snapshot", weight=1, tag="rich", needs=Can.CONSISTENT_SNAPSHOT)
def _begin_with_snapshot(_context: Context) -> str:
    return "START TRANSACTION WITH CONSISTENT SNAPSHOT"
