"""Which bugs of the corpus look like a violation on this target. A hint: only a deviation explains."""

from dataclasses import replace
from functools import cached_property

from acidtest import corpus
from acidtest.casefile import runs_on
from acidtest.errors import UsageError
from acidtest.examine import Examiner
from acidtest.findings.signature import Signature, signature_of
from acidtest.model import Case


class KnownBugs:
    """The corpus bugs of one target; run when first asked for, at the levels they were reported at."""

    def __init__(self, examiner: Examiner) -> None:
        self._examiner = examiner

    def resembled_by(self, signature: Signature) -> tuple[str, ...]:
        """The ids of the known bugs in which the same goes wrong after the same, or after a part of it."""
        bare = replace(signature, explained_by=())
        return tuple(
            name for name, known in self._signatures if bare.may_become(known) or known.may_become(bare)
        )

    @cached_property
    def _signatures(self) -> list[tuple[str, Signature]]:
        target = self._examiner.target
        cases = [case for case in corpus.bugs() if runs_on(case, target.dbms, target.version)]
        found = [(case.id, self._signature(case)) for case in cases]
        return [(name, one) for name, one in found if one is not None]

    def _signature(self, case: Case) -> Signature | None:
        try:
            examined = self._examiner.examine(case, fresh=True)
        except UsageError:
            return None  # this server lacks the level, or refuses the tables
        verdict = examined.violation
        return None if verdict is None else replace(signature_of(examined.history, verdict), explained_by=())
