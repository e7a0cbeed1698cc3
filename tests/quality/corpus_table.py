"""Prints the table of docs/corpus.md from the case files.

.venv/bin/python -m tests.quality.corpus_table
"""

from itertools import groupby

from acidtest import corpus
from acidtest.model import Case


def table() -> str:
    """A row for every bug of the corpus."""
    lines = ["| bug | DBMS | kind | shows on | what happens |", "|---|---|---|---|---|"]
    for case in corpus.bugs():
        kind = str(case.bug.kind or "") if case.bug is not None else ""
        dbms = ", ".join(dict.fromkeys(one.dbms for one in case.targets))
        lines.append(
            f"| {', '.join(corpus.names(case))} | {dbms} | {kind} | {_shows_on(case)} | {case.title} |"
        )
    return "\n".join(lines)


def _shows_on(case: Case) -> str:
    """The releases on which it was seen, by DBMS."""
    seen = [one.target for one in case.bug.seen if one.levels] if case.bug is not None else []
    parts = []
    for dbms, targets in groupby(seen, key=lambda one: one.partition("@")[0]):
        parts.append(f"{dbms} {', '.join(one.partition('@')[2] for one in targets)}")
    return "; ".join(parts) or "not seen here"


if __name__ == "__main__":
    print(table())  # noqa: T201
