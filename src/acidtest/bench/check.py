"""How fast histories are checked: generated ones of growing size, each in a process of its own."""

import resource
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from acidtest.histories import Options, check_file, find_model
from acidtest.histories.columns import Workload
from acidtest.histories.fast import AVAILABLE
from acidtest.histories.generate import Isolation, Shape, simulate
from acidtest.histories.writing import to_edn, to_plume

Say = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check. `seconds` is processor time, and `memory_mb` the most that the process held."""

    history: str
    isolation: str
    path: str
    model: str
    transactions: int
    anomalies: int
    megabytes: float
    seconds: float
    memory_mb: float

    @property
    def transactions_per_second(self) -> float:
        return self.transactions / self.seconds


@dataclass(frozen=True, slots=True)
class _Kind:
    name: str
    suffix: str
    workload: Workload
    model: str | None


_KINDS = (
    _Kind("list-append, EDN", "edn", Workload.LISTS, None),
    _Kind("rw-register, Plume's text", "txt", Workload.REGISTERS, "read-atomic"),
)


def bench_check(sizes: Sequence[int], isolation: Isolation, seed: int, say: Say) -> Iterator[CheckResult]:
    """Each kind of history in each size: by the plain path, and by arrays where the extra is installed."""
    for kind in _KINDS:
        for size in sizes:
            with TemporaryDirectory() as folder:
                file = Path(folder) / f"history.{kind.suffix}"
                say(f"writing {kind.name}, {size:,} transactions")
                _write(file, kind, size, isolation, seed)
                for fast in (False, True) if AVAILABLE else (False,):
                    say(f"checking it {'by arrays' if fast else 'by the plain path'}")
                    yield _measure(file, kind, size, isolation, fast)


def _write(file: Path, kind: _Kind, size: int, isolation: Isolation, seed: int) -> None:
    shape = Shape(size, unknown_share=0)
    events = simulate(isolation, kind.workload, shape, seed)
    lines = to_edn(events, kind.workload) if kind.suffix == "edn" else to_plume(events)
    with file.open("w", encoding="utf-8") as out:
        out.writelines(lines)


def _measure(file: Path, kind: _Kind, size: int, isolation: Isolation, fast: bool) -> CheckResult:
    # A fresh process, because memory that was used once is not given back.
    with get_context("spawn").Pool(1) as pool:
        seconds, memory_mb, anomalies = pool.apply(_check, (file, kind.model, fast))
    return CheckResult(
        kind.name,
        isolation.value,
        "arrays" if fast else "plain",
        kind.model or "all",
        size,
        anomalies,
        file.stat().st_size / 1e6,
        seconds,
        memory_mb,
    )


def _check(file: Path, model: str | None, fast: bool) -> tuple[float, float, int]:
    options = Options(None if model is None else find_model(model), fast=fast)
    before = time.process_time()
    checked = check_file(file, options, lambda _: None)
    seconds = time.process_time() - before
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, len(checked.anomalies)
