"""How a campaign's numbers are put into words, the same on the screen, in plain lines and in the summary."""

import re
from collections import Counter
from collections.abc import Mapping

from acidtest.campaign.statistics import Statistics
from acidtest.campaign.view import FoundLine, View
from acidtest.casefile import printable
from acidtest.model import Judgement

NEW = "NEW"

STAGES = ("generate", "execute", "judge", "reduce")
_SHORT = {"generate": "gen", "execute": "exec"}


def clock(seconds: float) -> str:
    """`01:02:03`; the hours of a long campaign may have more digits."""
    whole = max(0, int(seconds))
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"


def share(part: float, whole: float) -> str:
    """A percentage; of nothing there is none. Only what is all of it is called 100%, only nothing 0%."""
    if whole <= 0:
        return "-"
    percent = 100 * part / whole
    if 0 < part < whole:
        percent = min(max(percent, 0.1), 99.9)
    return f"{percent:.0f}%" if part in (0, whole) or 10 <= percent < 90 else f"{percent:.1f}%"


def found_counts(view: View) -> str:
    """`2 new, 3 known, 14 duplicate`. What looked like one, so that nobody reduced it, is a duplicate."""
    return f"{view.new:,} new, {view.known:,} known, {view.duplicates + view.unreduced:,} duplicate"


def plain_line(view: View, cases_per_minute: float) -> str:
    """The state of a campaign in one line."""
    counted = view.statistics
    return "  ".join(
        (
            clock(view.elapsed_s),
            f"{counted.cases:,} cases",
            f"{cases_per_minute:,.0f}/min",
            f"judged {share(counted.judged, counted.cases)}",
            f"blocked {share(counted.blocked, counted.cases)}",
            f"findings {found_counts(view)}",
        )
    )


def headline(view: View) -> str:
    """What a campaign is about; it names the seed, so that an aborted run can be repeated."""
    return printable(
        f"fuzzing {', '.join(view.targets)} at {', '.join(view.levels)}; oracles {', '.join(view.oracles)};"
        f" profile {view.profile}; seed {view.seed}; into {view.folder}"
    )


def finding_line(found: FoundLine) -> str:
    """A finding in one line, with the folder to look into."""
    remarks = [found.status or found.known or NEW] + ([f"flaky, shows {found.flaky}"] if found.flaky else [])
    return printable(
        f"finding {found.number} after {found.seconds:.0f} s: {found.target} {found.level}: {found.summary}"
        f" ({', '.join(remarks)}) -> {found.folder}"
    )


def top_reasons(undecided: Counter[str], most: int) -> list[tuple[str, int]]:
    """The most frequent reasons, in a fixed order where they are equally frequent."""
    return sorted(undecided.items(), key=lambda item: (-item[1], item[0]))[:most]


def verdict_counts(statistics: Statistics, oracles: tuple[str, ...]) -> dict[str, dict[str, int]]:
    """How often each oracle said what; an oracle that has said nothing yet is there with zeros."""
    counts = {oracle: {one.value: 0 for one in Judgement} for oracle in oracles}
    for key, number in statistics.oracles.items():
        oracle, _, judgement = key.rpartition(" ")
        counts.setdefault(oracle, {one.value: 0 for one in Judgement})[judgement] = number
    return counts


def stage_shares(seconds: Mapping[str, float]) -> str:
    """`gen 20 exec 60 judge 20 %`, in the order of the pipeline and short enough for half a terminal."""
    names = sorted(seconds, key=lambda name: (STAGES.index(name) if name in STAGES else len(STAGES), name))
    total = sum(seconds.values())
    if total <= 0:
        return "nothing done yet"
    return " ".join(f"{_SHORT.get(name, name)} {100 * seconds[name] / total:.0f}" for name in names) + " %"


def split_target(text: str) -> tuple[str, str | None]:
    """Specification and version of `mariadb@10.11 10.11.19`; no version before the server has given one. Both
    may have blanks in them: the path of a file, and `16.4 (Debian 16.4-1)`."""
    match = re.fullmatch(r"(.*?) (v?\d\S*(?: \(.*\))?)", text)
    return (match[1], match[2]) if match else (text, None)
