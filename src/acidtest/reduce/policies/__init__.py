"""How the next operation is chosen; a new policy is a class and a line here."""

from collections.abc import Mapping

from acidtest.errors import UsageError
from acidtest.reduce.policies.base import Policy, PolicyMaker
from acidtest.reduce.policies.ddmin import Ddmin
from acidtest.reduce.policies.greedy import Greedy
from acidtest.reduce.policies.table import ProbabilityTable
from acidtest.reduce.policies.uniform import Uniform

POLICIES: Mapping[str, PolicyMaker] = {
    "random": Uniform,
    "table": ProbabilityTable,
    "greedy": Greedy,
    "ddmin": Ddmin,
}

DEFAULT_POLICY = "ddmin"
"""The best of `acidtest bench reduce`; docs/reducer.md has the figures."""


def policy_of(name: str) -> PolicyMaker:
    """The policy of that name."""
    if name not in POLICIES:
        raise UsageError(f"unknown reduction policy {name!r}; known are {', '.join(POLICIES)}")
    return POLICIES[name]


__all__ = ["DEFAULT_POLICY", "POLICIES", "Policy", "policy_of"]
