"""The analysis of bugs by level, DBMS, kind, paper and sessions: as text beside the thesis, and as a plot."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from html import escape
from typing import Any

from acidtest.bugs.analysis import (
    ALL,
    FOUR,
    THESIS_DBMS,
    THESIS_SUBSETS,
    WHY_IT_DIFFERS,
    Analysis,
    Profile,
)

FORMAT = "acidtest-bug-analysis/1"

KEYS: Mapping[str, Callable[[Profile], str]] = {
    "DBMS": lambda one: one.dbms,
    "kind": lambda one: one.kind,
    "paper": lambda one: one.paper,
    "sessions": lambda one: str(one.sessions),
}

_BAR, _STEP, _LEFT, _TOP = 24, 34, 60, 20
_PLOT_HEIGHT = 160


def analysis_as_markdown(analysis: Analysis) -> str:
    """Tables of counts, ours beside the thesis'."""
    return "\n".join(_lines(analysis)) + "\n"


def _lines(analysis: Analysis) -> Iterator[str]:
    total = len(analysis.profiles)
    yield f"{total} bugs show on {len(analysis.targets)} targets, {len(analysis.hidden)} on none of them."
    yield ""
    yield "| levels | bugs | thesis |"
    yield "|---|---|---|"
    subsets = analysis.subsets()
    for subset in _subset_order(subsets):
        yield f"| {subset} | {subsets.get(subset, 0)} | {THESIS_SUBSETS.get(subset, 0)} |"
    other = total - sum(subsets.values())
    if other:
        yield f"| (a DBMS with other levels) | {other} | 0 |"
    yield f"| in all | {total} | {sum(THESIS_SUBSETS.values())} |"
    yield ""
    yield WHY_IT_DIFFERS
    for name, key in KEYS.items():
        yield ""
        yield f"| {name} | bugs | at all four levels |" + (" thesis |" if name == "DBMS" else "")
        yield "|---|---|---|" + ("---|" if name == "DBMS" else "")
        everywhere = analysis.at_all_levels_by(key)
        for value, count in sorted(analysis.by(key).items(), key=lambda one: (-one[1], one[0])):
            thesis = f" {THESIS_DBMS.get(value, 0)} |" if name == "DBMS" else ""
            yield f"| {value} | {count} | {everywhere[value]} |{thesis}"


def _subset_order(subsets: Counter[str]) -> list[str]:
    names = {*subsets, *THESIS_SUBSETS}
    return sorted(names, key=lambda one: (-subsets.get(one, 0), -THESIS_SUBSETS.get(one, 0), one))


def analysis_as_svg(analysis: Analysis) -> str:
    """An UpSet plot: a column for every subset of levels, our bar and the thesis', dots for the levels."""
    subsets = analysis.subsets()
    order = _subset_order(subsets)
    highest = max([*subsets.values(), *THESIS_SUBSETS.values(), 1])
    base = _TOP + _PLOT_HEIGHT
    parts = []
    for column, subset in enumerate(order):
        x = _LEFT + column * 2 * _STEP
        ours, theirs = subsets.get(subset, 0), THESIS_SUBSETS.get(subset, 0)
        for offset, count, colour in ((0, ours, "#3367d6"), (_BAR, theirs, "#9aa0a6")):
            height = _PLOT_HEIGHT * count / highest
            parts.append(
                f'<rect x="{x + offset}" y="{base - height:.1f}" width="{_BAR - 2}" height="{height:.1f}"'
                f' fill="{colour}"/><text x="{x + offset + _BAR / 2}" y="{base - height - 4:.1f}"'
                f' text-anchor="middle">{count}</text>'
            )
        for row, level in enumerate(FOUR):
            filled = level.short in subset.split("+")
            y = base + 20 + row * 20
            parts.append(f'<circle cx="{x + _BAR}" cy="{y}" r="6" fill="{"#222" if filled else "#ddd"}"/>')
    for row, level in enumerate(FOUR):
        y = base + 24 + row * 20
        parts.append(f'<text x="{_LEFT - 10}" y="{y}" text-anchor="end">{escape(level.short)}</text>')
    width, height_all = _LEFT + len(order) * 2 * _STEP + 20, base + 130
    parts.append(
        f'<text x="{_LEFT}" y="{base + 115}" fill="#3367d6">acidtest</text>'
        f'<text x="{_LEFT + 80}" y="{base + 115}" fill="#777">thesis (2024)</text>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height_all}" width="{width}"'
        f' font-family="system-ui, sans-serif" font-size="12">\n' + "\n".join(parts) + "\n</svg>\n"
    )


def analysis_to_json(analysis: Analysis) -> dict[str, Any]:
    """Counts and the bugs behind them."""
    return {
        "format": FORMAT,
        "targets": list(analysis.targets),
        "hidden": list(analysis.hidden),
        "at_all_levels": analysis.subsets().get(ALL, 0),
        "subsets": dict(analysis.subsets()),
        "thesis": {"subsets": dict(THESIS_SUBSETS), "dbms": dict(THESIS_DBMS)},
        "by": {name: dict(analysis.by(key)) for name, key in KEYS.items()},
        "bugs": [
            {
                "id": one.id,
                "dbms": one.dbms,
                "levels": [level.short for level in one.levels],
                "kind": one.kind,
                "paper": one.paper,
                "sessions": one.sessions,
            }
            for one in analysis.profiles
        ],
    }
