"""Makes random cases: conflicting transactions over small random tables, in the SQL of one DBMS.

    cases = generate_cases(random.Random(1), SIMPLE, "mariadb", (Level.REPEATABLE_READ,))
    case = next(cases)

See docs/generator.md.
"""

from acidtest.generate import control, queries, statements  # noqa: F401 - they register their productions
from acidtest.generate.cases import Generator, TransactionSet, generate_case, generate_cases
from acidtest.generate.conflicts import Conflict, Strategy
from acidtest.generate.flavour import Flavour, flavour_of
from acidtest.generate.grammar import GRAMMAR, Production, productions_of
from acidtest.generate.profile import KEYS, MIXED, PROFILES, RICH, SIMPLE, Conflicts, Profile, profile_of

__all__ = [
    "GRAMMAR",
    "KEYS",
    "MIXED",
    "PROFILES",
    "RICH",
    "SIMPLE",
    "Conflict",
    "Conflicts",
    "Flavour",
    "Generator",
    "Production",
    "Profile",
    "Strategy",
    "TransactionSet",
    "flavour_of",
    "generate_case",
    "generate_cases",
    "productions_of",
    "profile_of",
]
