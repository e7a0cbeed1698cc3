"""What a CASE argument means: a case file, a corpus id, an isolation spec, or a permutation of one."""

import re
from pathlib import Path

from acidtest.casefile import load_case
from acidtest.cli.options import case_file
from acidtest.errors import UsageError
from acidtest.model import Case
from acidtest.specs import SUFFIX, SpecCase, load_spec_cases

_ONE_PERMUTATION = re.compile(rf"(.+{re.escape(SUFFIX)})#([0-9]+)")


def load_cases(name: str, compare: Path | None = None) -> tuple[Case | SpecCase, ...]:
    """The cases that an argument means; `compare` says where recorded outputs of specs are."""
    if chosen := _ONE_PERMUTATION.fullmatch(name):
        cases = load_spec_cases(case_file(chosen[1]), compare)
        number = int(chosen[2])
        if not 1 <= number <= len(cases):
            raise UsageError(f"{chosen[1]} has permutations 1 to {len(cases)}, and no {number}")
        return (cases[number - 1],)
    path = case_file(name)
    if path.suffix == SUFFIX:
        return load_spec_cases(path, compare)
    if compare is not None:
        raise UsageError(f"--compare is for isolation specs (*{SUFFIX}), and {path} is none")
    return (load_case(path),)


def load_one(name: str) -> Case:
    """The one case that an argument means."""
    found = load_cases(name)
    if len(found) > 1:
        raise UsageError(f"{name} has {len(found)} permutations; name one, for instance {name}#1")
    return found[0].case if isinstance(found[0], SpecCase) else found[0]
