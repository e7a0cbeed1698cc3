"""Which bugs and which targets a command means."""

import re
from collections.abc import Sequence
from pathlib import Path

from acidtest import corpus, servers
from acidtest.casefile import load_case, runs_on
from acidtest.errors import UsageError
from acidtest.model import Case
from acidtest.servers import embedded
from acidtest.targets.resolve import available_specs, check_spec, dbms_of, expand_spec, is_embedded


def choose_cases(patterns: Sequence[str]) -> list[Case]:
    """The bugs that the patterns find, or the case files they name; without any, all bugs."""
    if not patterns:
        return list(corpus.bugs())
    chosen: dict[str, Case] = {}
    for pattern in patterns:
        found = [load_case(Path(pattern))] if Path(pattern).is_file() else _found(pattern)
        chosen |= {case.id: case for case in found}
    return list(chosen.values())


def _found(pattern: str) -> list[Case]:
    try:
        wanted = re.compile(pattern, re.IGNORECASE)
    except re.error as problem:
        raise UsageError(f"{pattern!r} is no regular expression: {problem}") from None
    found = [
        case
        for case in corpus.bugs()
        if any(map(wanted.search, (*corpus.names(case), case.title, *_dbmss(case))))
    ]
    if not found:
        found = [case for case in corpus.anomalies() if case.id == pattern]
    if not found:
        raise UsageError(f"no known bug matches {pattern!r}; acidtest bugs list shows all")
    exact = [case for case in found if pattern.casefold() in map(str.casefold, corpus.names(case))]
    return exact or found  # MDEV-2664 is not meant by who names MDEV-26642, but the other way round


def _dbmss(case: Case) -> list[str]:
    return [target.dbms for target in case.targets]


def with_expectations(cases: Sequence[Case]) -> Sequence[Case]:
    """The same cases; one that expects nothing is refused, because nothing can show in it."""
    for case in cases:
        judged = case.expect_final or any(step.statement.expect for step in case.steps) or case.compared
        if not judged and not (case.bug is not None and case.bug.kind == "crash"):
            raise UsageError(f"{case.id} expects nothing, so nothing can show; add `-- expect:` to its file")
    return cases


def choose_targets(specs: Sequence[str], cases: Sequence[Case]) -> list[str]:
    """The targets that are meant; without any, everything that is installed and that a case is for."""
    if specs:
        chosen = list(dict.fromkeys(one for spec in specs for one in expand_spec(spec)))
        for spec in chosen:
            check_spec(spec)
        return chosen
    own = [one.spec for one in reversed(servers.installed())]
    in_process = [spec for spec in available_specs() if is_embedded(spec)]
    own += [one.spec for one in embedded.installed()]
    wanted = [spec for spec in dict.fromkeys([*own, *in_process]) if _is_wanted(spec, cases)]
    if not wanted:
        raise UsageError(
            "no server is installed that these bugs are for;"
            " run: acidtest server install mariadb@10.11 mysql@9.7"
        )
    return wanted


def _is_wanted(spec: str, cases: Sequence[Case]) -> bool:
    version = spec.partition("@")[2]
    return any(runs_on(case, dbms_of(spec), version or "999") for case in cases)
