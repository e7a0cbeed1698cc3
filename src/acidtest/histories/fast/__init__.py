"""Clean histories at the speed of arrays, with numpy and scipy (the extra `acidtest[check]`).

This path only ever says that nothing is wrong. As soon as something is odd, it steps aside and the plain path
does all of the work: a read that cannot be traced, a cycle, a form of the file that it does not know. So
every witness comes from one place, and the two paths can disagree only about whether there is one.
"""

from collections.abc import Callable

from acidtest.histories.columns import Source, Workload
from acidtest.histories.models import Model

try:
    from acidtest.histories.fast.lists import clean_lists
    from acidtest.histories.fast.registers import clean_registers
except ImportError:  # the extra is not installed
    AVAILABLE = False
else:
    AVAILABLE = True


def clean(source: Source, model: Model | None, say: Callable[[str], object]) -> tuple[int, int] | None:
    """The number of transactions and of committed ones of a history without any anomaly that matters to the
    model; None if that could not be shown."""
    if not AVAILABLE:
        return None
    if source.workload is Workload.LISTS:
        return clean_lists(source, say)
    return None if model is None else clean_registers(source, model, say)
