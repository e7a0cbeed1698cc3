"""The errors a user may meet, each with its exit code.

Errors of a DBMS are data (`model.Failed`), not exceptions; what is raised here ends a command with one
clear sentence and no traceback. Any other exception is a bug of acidtest.
"""

DEFECT_EXIT_CODE = 70
"""Of a command that met a bug of acidtest: EX_SOFTWARE of sysexits.h."""


class AcidtestError(Exception):
    """One sentence for the user: what is wrong, where, and what to do about it."""

    exit_code = 2


class UsageError(AcidtestError):
    """Bad input or configuration: nothing was changed."""

    exit_code = 2


class UnreachableError(UsageError):
    """No server of that kind answers at the address that the user gave."""


class TargetFailedError(AcidtestError):
    """The DBMS under test could not be reached, died, or broke its protocol."""

    exit_code = 3
