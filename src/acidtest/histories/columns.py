"""What a reader hands on: transactions in batches, column by column.

An operation is a list `[kind, key, value]`. In a history of lists a write appends `value`, and the value of a
read is a list (None: empty). In a history of registers the value of a read is one value.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

READ, WRITE = 0, 1
COMMITTED, ABORTED, INDETERMINATE = 0, 1, 2
NEVER = 1 << 60
"""When a transaction ended whose end nobody saw."""

Operations = list[list[Any]]
Progress = Callable[[int], object]
"""Is told how many transactions were read so far."""


class Workload(StrEnum):
    """What the keys hold."""

    LISTS = "list-append"
    REGISTERS = "rw-register"


@dataclass(slots=True)
class Batch:
    """Some transactions, in the order in which they ended. `began` and `ended` count lines or events."""

    fates: list[int] = field(default_factory=list)
    sessions: list[int] = field(default_factory=list)
    began: list[int] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    operations: list[Operations] = field(default_factory=list)

    def add(self, fate: int, session: int, began: int, ended: int, line: int, operations: Operations) -> None:
        """One more transaction."""
        self.fates.append(fate)
        self.sessions.append(session)
        self.began.append(began)
        self.ended.append(ended)
        self.lines.append(line)
        self.operations.append(operations)


@dataclass(frozen=True, slots=True)
class Source:
    """An opened history. `initial`: the value that every key has at first, besides None.

    `timed`: whether the order of the file is that of time. `by_line`: whether places are lines.
    """

    path: Path
    format: str
    workload: Workload
    batches: Callable[[], Iterator[Batch]]
    timed: bool = False
    by_line: bool = True
    initial: int | None = None
