"""What isolationtester printed when a spec was run, read from its `.out` file."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from acidtest.casefile.isolation.permutations import Permutation
from acidtest.casefile.isolation.spec import Spec
from acidtest.casefile.source import Source
from acidtest.errors import UsageError
from acidtest.sql import split_script

_START = "starting permutation:"
_WAITING = " <waiting ...>"
_COMPLETED = "<... completed>"
_RULE = re.compile(r"-+(?:\+-+)*")
_COUNT = re.compile(r"\((\d+) rows?\)")
_QUERY = re.compile(r"\s*(?:SELECT|WITH|VALUES|TABLE|SHOW|EXPLAIN)\b", re.IGNORECASE)
_NOTICE = re.compile(
    r"^([^\s:]+: (?:(?:NOTICE|WARNING|INFO|LOG|DEBUG):  .*|NOTIFY \".*?\" with payload \".*\"(?= from )))",
    re.MULTILINE,
)
_ERROR = re.compile(r"(?:ERROR|FATAL|PANIC):  (.*)")


@dataclass(frozen=True, slots=True)
class Table:
    """A result set as it is printed: cells without the space around them."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """What came of one step. `ended_at` is the place of the step after whose launch it was reported as
    completed; its own, if it did not wait."""

    waited: bool
    ended_at: int | None
    tables: tuple[Table, ...]
    errors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecordedPermutation:
    """The output of a permutation: its steps, and what its sessions were told beside results: notices, and
    notifications without their sender."""

    steps: tuple[RecordedStep, ...]
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recorded:
    """The output of a spec."""

    name: str
    permutations: tuple[RecordedPermutation, ...]


def recorded_files(path: Path) -> tuple[Path, ...]:
    """The file and its alternatives (`x.out`, `x_1.out`, ...): PostgreSQL accepts any of them."""
    others = (path.with_name(f"{path.stem}_{number}{path.suffix}") for number in range(10))
    return tuple(one for one in (path, *others) if one.is_file())


def load_recorded(path: Path, spec: Spec, orders: Sequence[Permutation]) -> Recorded:
    """The recorded output of a spec; a `UsageError` says where it is not one."""
    return _Reader(Source.read(path), spec, orders).read()


@dataclass(slots=True)
class _Open:
    """A step while its lines are read."""

    waited: bool
    ended_at: int | None = None
    tables: list[Table] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


class _Reader:
    def __init__(self, source: Source, spec: Spec, orders: Sequence[Permutation]) -> None:
        self._source = source
        self._spec = spec
        self._orders = orders
        self._at = 0

    def read(self) -> Recorded:
        found: list[RecordedPermutation] = []
        text = self._source.text
        while (start := self._line_that_starts(_START)) is not None:
            self._at = start
            names = self._line()[len(_START) :].strip()
            wanted = " ".join(self._orders[len(found)].names) if len(found) < len(self._orders) else None
            if names != wanted:
                expected = f"permutation {len(found) + 1}: {wanted}" if wanted else "no further permutation"
                raise self._source.error(start, f"the output of {self._spec.name}, {expected}")
            begins = self._at
            steps = self._permutation(self._orders[len(found)])
            notices = tuple(_NOTICE.findall(text[begins : self._at]))
            found.append(RecordedPermutation(steps, notices))
        if len(found) < len(self._orders):
            missing = " ".join(self._orders[len(found)].names)
            raise self._source.error(len(text), f"permutation {len(found) + 1}: {missing}")
        return Recorded(Path(self._source.name).name, tuple(found))

    def _permutation(self, permutation: Permutation) -> tuple[RecordedStep, ...]:
        steps: list[_Open] = []
        current: _Open | None = None
        while self._at < len(self._source.text) and not self._source.text.startswith(_START, self._at):
            if (place := self._completed(permutation, steps)) is not None:
                current = steps[place]
                current.ended_at = len(steps) - 1
            elif self._launched(permutation, steps):
                current = steps[-1]
            elif current is None:
                self._line()  # what the set-up printed
            elif (table := self._table()) is not None:
                current.tables.append(table)
            elif error := _ERROR.fullmatch(self._line()):
                current.errors.append(error[1])
        if current is not None and (printed := _printed_by_teardown(self._spec)):
            del current.tables[-printed:]
        if len(steps) < len(permutation.order):
            step = permutation.order[len(steps)].name
            raise self._source.error(self._at, f"the step {step} as the spec has it")
        return tuple(
            RecordedStep(one.waited, one.ended_at, tuple(one.tables), tuple(one.errors)) for one in steps
        )

    def _launched(self, permutation: Permutation, steps: list[_Open]) -> bool:
        """Read `step NAME: SQL`, which may be of several lines, if it stands here."""
        if len(steps) == len(permutation.order):
            return False
        step = self._spec.step(permutation.order[len(steps)].name)
        printed = f"step {step.name}: {step.sql}"
        if not self._source.text.startswith(printed, self._at):
            return False
        self._at += len(printed)
        waited = self._line().startswith(_WAITING)
        steps.append(_Open(waited, None if waited else len(steps)))
        return True

    def _completed(self, permutation: Permutation, steps: list[_Open]) -> int | None:
        """Read `step NAME: <... completed>`, if it stands here; the step's place."""
        waiting = [place for place, step in enumerate(steps) if step.ended_at is None]
        for place in waiting:
            printed = f"step {permutation.order[place].name}: {_COMPLETED}\n"
            if self._source.text.startswith(printed, self._at):
                self._at += len(printed)
                return place
        return None

    def _table(self) -> Table | None:
        """Read a result set, if one stands here."""
        start = self._at
        header, rule = self._line(), self._line()
        if not _RULE.fullmatch(rule):
            self._at = start
            return None
        lines = []
        while not (count := _COUNT.fullmatch(line := self._line())):
            lines.append(line)
            if self._at >= len(self._source.text):
                raise self._source.error(start, "the number of rows after a result", "the end of the file")
        edges = _edges(rule)
        rows = tuple(_cells(line, edges) for line in lines[: int(count[1])])
        return Table(_cells(header, edges), rows)

    def _line(self) -> str:
        """The rest of the line; the next one begins behind it."""
        end = self._source.line_end(self._at)
        line, self._at = self._source.text[self._at : end], end + 1
        return line

    def _line_that_starts(self, words: str) -> int | None:
        if self._source.text.startswith(words, self._at):
            return self._at
        found = self._source.text.find(f"\n{words}", max(self._at - 1, 0))
        return None if found < 0 else found + 1


def _printed_by_teardown(spec: Spec) -> int:
    """How many results stand behind the last step although they are none of it."""
    blocks = [spec.teardown, *(session.teardown for session in spec.sessions)]
    last = [split_script(block)[-1:] for block in blocks if block]
    return sum(_QUERY.match(statement) is not None for (statement,) in filter(None, last))


def _edges(rule: str) -> list[int]:
    """Where the columns part, from the line under their names."""
    return [position for position, sign in enumerate(rule) if sign == "+"]


def _cells(line: str, edges: Iterable[int]) -> tuple[str, ...]:
    cells, start = [], 0
    for edge in edges:
        cells.append(line[start:edge].strip())
        start = edge + 1
    return (*cells, line[start:].strip())


def find_recorded(spec: Path, where: Path | None) -> tuple[Path, ...]:
    """The recorded outputs of a spec: a file and its alternatives, those in a folder, or, if nothing is said,
    those that lie where PostgreSQL's sources keep them, in `expected` beside the spec's own folder."""
    if where is None:
        return recorded_files(spec.absolute().parent.parent / "expected" / f"{spec.stem}.out")
    found = recorded_files(where / f"{spec.stem}.out" if where.is_dir() else where)
    if not found:
        wanted = f"{spec.stem}.out in {where}" if where.is_dir() else str(where)
        raise UsageError(f"there is no recorded output {wanted}")
    return found
