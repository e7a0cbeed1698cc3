"""How an evaluation ends when it ends without a value."""

from acidtest.model import ErrorKind


class EvaluationError(Exception):
    """The DBMS answers with an error of this kind: data for the caller, not a bug."""

    def __init__(self, kind: ErrorKind, detail: str = "") -> None:
        super().__init__(f"{kind.value}: {detail}" if detail else kind.value)
        self.kind = kind
        self.detail = detail


class Unknown(Exception):
    """The evaluator does not know what the DBMS answers, and says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
