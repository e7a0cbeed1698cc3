"""What an exception of the application means, if it came from the DBMS."""

from acidtest.app.gate import LinkError
from acidtest.model import ErrorKind
from acidtest.targets import Guest

_NUMBERED = ("pymysql", "MySQLdb", "django.db")
"""Packages whose exceptions begin with the server's error number."""


def kind_of_error(guest: Guest | None, error: BaseException) -> ErrorKind | None:
    """The meaning of an error of the DBMS; None if it is none."""
    code = code_of(error)
    return None if code is None or guest is None else guest.classify(code)


def code_of(error: BaseException) -> str | None:
    """The errno or SQLSTATE of an exception, or of what caused it."""
    seen: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and one not in seen:
        seen.append(one)
        if (code := _own_code(one)) is not None:
            return code
        original = getattr(one, "orig", None)
        one = original if isinstance(original, BaseException) else one.__cause__
    return None


def _own_code(error: BaseException) -> str | None:
    if isinstance(error, LinkError):
        return error.code
    # The number comes first: some of these drivers tell a SQLSTATE too, which says less.
    numbered = type(error).__module__.startswith(_NUMBERED)
    if numbered and len(error.args) > 1 and isinstance(error.args[0], int):
        return str(error.args[0])
    for name in ("sqlstate", "pgcode"):
        if isinstance(code := getattr(error, name, None), str):
            return code
    return None
