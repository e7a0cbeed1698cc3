"""Automatic numbers of new rows."""

from dataclasses import dataclass, field

from acidtest.model import Value


@dataclass(slots=True)
class Numbers:
    """Automatic numbers as InnoDB gives them: with the first one that is asked for, a statement reserves as
    many as it has rows, a query 1, then 2, then 4; those that it does not use are lost. Measured; see
    https://dev.mysql.com/doc/refman/8.4/en/innodb-auto-increment-handling.html"""

    first: int
    rows: int | None
    counter: int = field(init=False)
    _next: int = 0
    _until: int = 0
    _rows_left: int = 0
    _reservations: int = 0

    def __post_init__(self) -> None:
        self.counter = self.first

    @property
    def taken(self) -> int:
        return self.counter - self.first

    def take(self) -> int:
        """The next number."""
        if self._next >= self._until:
            if self._rows_left == 0:
                whole = self.rows is not None and self._reservations == 0
                self._rows_left = self.rows or 1 if whole else 1 << self._reservations
            self._reservations += 1
            self._next = self.counter
            self._until = self.counter = self.counter + self._rows_left
        self._next += 1
        return self._next - 1

    def may_pass(self, own: Value) -> bool:
        """Whether a number of its own that a row brought may count although the row failed. Measured: MySQL
        9.7 counts it if it is the next after that of the row before, MariaDB 10.11 does not."""
        return self.taken > 0 and isinstance(own, int) and own >= self.counter

    def row_done(self, number: int | None, stored: Value) -> None:
        """A row took a number or brought its own; `stored` is what is in the table now, if it is there."""
        self._rows_left = max(self._rows_left - 1, 0)
        if not isinstance(stored, int):
            self._next = self._next if number is None else number  # a row that was not added gives it back
        elif number is None:
            self.counter = max(self.counter, stored + 1)
            self._next = max(self._next, stored + 1)
