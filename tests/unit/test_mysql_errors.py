"""The table of error numbers, and what an error undid."""

import pytest

from acidtest.model import ErrorKind, TransactionState, Undone
from acidtest.targets.mysql_family.errors import BY_KIND, FAMILY, what_was_undone

NONE, OPEN, FAILED = TransactionState.NONE, TransactionState.OPEN, TransactionState.FAILED


def test_no_number_stands_in_the_table_twice() -> None:
    assert sum(map(len, BY_KIND.values())) == len(FAMILY)


@pytest.mark.parametrize(
    ("errno", "kind"),
    [
        (1213, ErrorKind.DEADLOCK),
        (1205, ErrorKind.LOCK_TIMEOUT),
        (3572, ErrorKind.LOCK_NOT_AVAILABLE),
        (1020, ErrorKind.RECORD_CHANGED),
        (1062, ErrorKind.DUPLICATE_KEY),
        (1452, ErrorKind.FOREIGN_KEY),
        (3819, ErrorKind.CHECK),
        (4025, ErrorKind.CHECK),
        (1792, ErrorKind.READ_ONLY),
        (1317, ErrorKind.CANCELLED),
        (1927, ErrorKind.CONNECTION_LOST),
    ],
)
def test_numbers_have_a_meaning(errno: int, kind: ErrorKind) -> None:
    assert FAMILY[errno] is kind


@pytest.mark.parametrize(
    ("kind", "before", "after", "undone"),
    [
        (ErrorKind.DEADLOCK, OPEN, NONE, Undone.TRANSACTION),
        (ErrorKind.DEADLOCK, OPEN, FAILED, Undone.TRANSACTION),
        (ErrorKind.LOCK_TIMEOUT, OPEN, OPEN, Undone.STATEMENT),
        (ErrorKind.LOCK_TIMEOUT, OPEN, NONE, Undone.TRANSACTION),  # innodb_rollback_on_timeout
        (ErrorKind.LOCK_TIMEOUT, NONE, NONE, Undone.STATEMENT),
        (ErrorKind.RECORD_CHANGED, OPEN, NONE, Undone.TRANSACTION),
        (ErrorKind.DUPLICATE_KEY, OPEN, OPEN, Undone.STATEMENT),
        (
            ErrorKind.OBJECT_EXISTS,
            OPEN,
            NONE,
            Undone.STATEMENT,
        ),  # the DDL statement committed before it failed
        (ErrorKind.CONNECTION_LOST, OPEN, NONE, Undone.CONNECTION),
    ],
)
def test_what_an_error_undid_follows_from_its_meaning_and_the_server_s_word(
    kind: ErrorKind, before: TransactionState, after: TransactionState, undone: Undone
) -> None:
    assert what_was_undone(kind, before, after) is undone
