"""Why a case stays as it is."""


class NotInstrumentableError(Exception):
    """The case cannot carry versions, and the reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
