"""What targets need of SQL as plain text: names that are safe to paste, and texts that cannot be sent."""

from acidtest.model import ErrorKind, Failed, Undone


def unsendable(sql: str) -> Failed | None:
    """What becomes of a text that no driver can hand over: it never reaches the DBMS."""
    if "\0" in sql:
        return Failed(ErrorKind.SYNTAX, "", "the statement contains a NUL character", Undone.NOTHING)
    try:
        sql.encode()
    except UnicodeEncodeError as error:
        return Failed(ErrorKind.SYNTAX, "", f"the statement is not Unicode text: {error}", Undone.NOTHING)
    return None


def quote(name: str) -> str:
    """An identifier that means just this name."""
    return '"' + name.replace('"', '""') + '"'
