"""What a comparison with a server came to."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Tally:
    """What was compared."""

    cells: int = 0
    errors: int = 0
    unknown: Counter[str] = field(default_factory=Counter)
    disagreements: list[str] = field(default_factory=list)

    @property
    def unknown_share(self) -> float:
        """Unknown cells among all."""
        lost = sum(self.unknown.values())
        return lost / (self.cells + lost) if self.cells + lost else 0.0

    def report(self) -> str:
        """Everything as text."""
        reasons = "\n".join(f"    {count:8d}  {reason}" for reason, count in self.unknown.most_common(25))
        wrong = "\n".join(self.disagreements)
        return (
            f"cells compared: {self.cells} ({self.errors} of them errors)\n"
            f"unknown: {sum(self.unknown.values())} ({self.unknown_share:.1%})\n{reasons}\n"
            f"disagreements: {len(self.disagreements)}\n{wrong}"
        )
