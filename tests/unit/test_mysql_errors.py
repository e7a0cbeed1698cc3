"""The table of error numbers, and what an error undid."""

import pytest

from acidtest.model import ErrorKind, TransactionState, Undone
from acidtest.targets.mariadb import OWN_NUMBERS, MariaDBTarget
from acidtest.targets.mysql_family.errors import BY_KIND, FAMILY, by_number, what_was_undone
from acidtest.targets.tidb import TiDBSession, TiDBTarget

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
        (1792, ErrorKind.READ_ONLY),
        (1317, ErrorKind.CANCELLED),
        (1927, ErrorKind.CONNECTION_LOST),
        (1032, ErrorKind.INTERNAL),
        (1815, ErrorKind.INTERNAL),
        (3100, ErrorKind.INTERNAL),
        (1397, ErrorKind.TRANSACTION_STATE),
    ],
)
def test_numbers_have_a_meaning(errno: int, kind: ErrorKind) -> None:
    assert FAMILY[errno] is kind


def test_a_dbms_may_give_a_number_another_meaning() -> None:
    assert sum(map(len, OWN_NUMBERS.values())) == len(by_number(OWN_NUMBERS))
    assert MariaDBTarget.kinds[4025] is ErrorKind.CHECK
    assert MariaDBTarget.kinds[1213] is ErrorKind.DEADLOCK
    assert 4025 not in FAMILY


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("runtime error: index out of range [0] with length 0", ErrorKind.INTERNAL),
        ("interface conversion: expression.Expression is nil", ErrorKind.INTERNAL),
        ("pessimistic lock retry limit reached", ErrorKind.LOCK_TIMEOUT),
        ("unsupported something", ErrorKind.OTHER),
    ],
)
def test_tidb_has_one_number_for_a_panic_and_for_the_rest(text: str, kind: ErrorKind) -> None:
    session = TiDBSession.__new__(TiDBSession)
    session._kinds = TiDBTarget.kinds
    session._sql = ""
    assert session.kind_of(1105, text) is kind
    assert session.kind_of(8141, "assertion failed") is ErrorKind.INTERNAL


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
