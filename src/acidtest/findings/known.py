"""Which known bugs show on a target, by signature. The server itself is asked, so nothing can be outdated."""

from collections import defaultdict
from functools import cached_property

from acidtest import corpus
from acidtest.casefile import runs_on
from acidtest.errors import UsageError
from acidtest.examine import Examiner
from acidtest.model import Case
from acidtest.signatures import Signature, signature_of


class KnownBugs:
    """The corpus bugs of one target; run when first asked for, at the levels they were reported at."""

    def __init__(self, examiner: Examiner) -> None:
        self._examiner = examiner

    def named(self, signature: Signature) -> tuple[str, ...]:
        """The ids of the known bugs that have this signature here, or have it but for the accident that one
        more of their updates was of a key."""
        return self._signatures.get(signature) or tuple(
            name
            for known, names in self._signatures.items()
            if known.is_but_for_a_key(signature)
            for name in names
        )

    @cached_property
    def _signatures(self) -> dict[Signature, tuple[str, ...]]:
        found: dict[Signature, tuple[str, ...]] = defaultdict(tuple)
        target = self._examiner.target
        for case in corpus.bugs():
            if runs_on(case, target.dbms, target.version):
                signature = self._signature(case)
                if signature is not None:
                    found[signature] += (case.id,)
        return dict(found)

    def _signature(self, case: Case) -> Signature | None:
        try:
            examined = self._examiner.examine(case, fresh=True)
        except UsageError:
            return None  # this server lacks the level, or refuses the tables
        verdict = examined.violation
        return None if verdict is None else signature_of(examined.history, verdict)
