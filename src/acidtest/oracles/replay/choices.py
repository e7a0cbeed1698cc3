"""Where a history leaves open what happened, a walk takes one way, and further walks take the others."""

WAYS_MAX = 16
"""So many ways are walked; of more nothing is said."""


class Choices:
    """The ways that a walk takes where several fit what was observed. `advance` goes on to the next ones."""

    def __init__(self) -> None:
        self._taken: list[int] = []
        self._options: list[int] = []
        self._depth = 0

    def pick(self, options: int) -> int:
        """Which of so many ways to take here."""
        if self._depth == len(self._taken):
            self._taken.append(0)
            self._options.append(options)
        chosen = self._taken[self._depth]
        self._depth += 1
        return chosen

    def advance(self) -> bool:
        """Prepare another walk; False if all ways have been taken."""
        self._depth = 0
        while self._taken:
            if self._taken[-1] + 1 < self._options[-1]:
                self._taken[-1] += 1
                return True
            self._taken.pop()
            self._options.pop()
        return False
