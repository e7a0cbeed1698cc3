"""PostgreSQL without a server: errors by SQLSTATE, values by OID, connections that fail."""

from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path

import pytest

from acidtest.errors import TargetFailedError
from acidtest.model import ErrorKind, TransactionState, Undone, Value
from acidtest.servers.base import Endpoint
from acidtest.targets.postgres.errors import classify, undone
from acidtest.targets.postgres.target import PostgresTarget
from acidtest.targets.postgres.values import decoder

NONE, OPEN, FAILED = TransactionState.NONE, TransactionState.OPEN, TransactionState.FAILED


@pytest.mark.parametrize(
    ("sqlstate", "kind"),
    [
        ("40001", ErrorKind.SERIALIZATION_FAILURE),
        ("40P01", ErrorKind.DEADLOCK),
        ("55P03", ErrorKind.LOCK_NOT_AVAILABLE),
        ("23505", ErrorKind.DUPLICATE_KEY),
        ("23P01", ErrorKind.CONSTRAINT),
        ("22P02", ErrorKind.BAD_VALUE),
        ("22003", ErrorKind.OUT_OF_RANGE),
        ("42601", ErrorKind.SYNTAX),
        ("42803", ErrorKind.SYNTAX),
        ("42P01", ErrorKind.NO_SUCH_OBJECT),
        ("42P07", ErrorKind.OBJECT_EXISTS),
        ("25006", ErrorKind.READ_ONLY),
        ("25P02", ErrorKind.TRANSACTION_STATE),
        ("57014", ErrorKind.CANCELLED),
        ("57P01", ErrorKind.CONNECTION_LOST),
        ("53300", ErrorKind.RESOURCES),
        ("28P01", ErrorKind.ACCESS),
        ("XX001", ErrorKind.INTERNAL),
        ("P0001", ErrorKind.CONSTRAINT),
        ("ZZ000", ErrorKind.OTHER),
        ("XX000", ErrorKind.INTERNAL),
    ],
)
def test_a_code_has_a_kind_of_its_own_or_its_class_s(sqlstate: str, kind: ErrorKind) -> None:
    assert classify(sqlstate) is kind


def test_a_lock_timeout_is_told_from_nowait_by_where_it_was_raised() -> None:
    assert classify("55P03", "ProcessInterrupts") is ErrorKind.LOCK_TIMEOUT
    assert classify("55P03", "heapam_tuple_lock") is ErrorKind.LOCK_NOT_AVAILABLE


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        (NONE, NONE, Undone.STATEMENT),
        (OPEN, FAILED, Undone.TRANSACTION),
        (OPEN, NONE, Undone.TRANSACTION),  # COMMIT that failed
        (FAILED, FAILED, Undone.NOTHING),
        (FAILED, NONE, Undone.TRANSACTION),  # COMMIT that answered ROLLBACK
    ],
)
def test_what_an_error_undid_follows_from_the_states(
    before: TransactionState, after: TransactionState, what: Undone
) -> None:
    assert undone(before, after) is what


@pytest.mark.parametrize(
    ("oid", "raw", "value"),
    [
        (16, b"t", True),
        (16, b"f", False),
        (20, b"-9223372036854775808", -(2**63)),
        (1700, b"1.50", Decimal("1.50")),
        (1700, b"NaN", "NaN"),
        (701, b"Infinity", float("inf")),
        (701, b"NaN", "NaN"),
        (17, b"\\x00ff", b"\x00\xff"),
        (1082, b"2024-02-29", date(2024, 2, 29)),
        (1082, b"0044-03-15 BC", "0044-03-15 BC"),
        (1114, b"2024-02-29 01:02:03.5", datetime(2024, 2, 29, 1, 2, 3, 500000)),
        (1114, b"infinity", "infinity"),
        (1083, b"24:00:00", "24:00:00"),
        (1083, b"01:02:03", time(1, 2, 3)),
        (25, "ž".encode(), "ž"),
        (99999, b"(1,2)", "(1,2)"),
    ],
)
def test_text_becomes_the_value_of_its_type(oid: int, raw: bytes, value: Value) -> None:
    decoded = decoder(oid)(raw)
    assert (type(decoded), decoded) == (type(value), value)


def test_a_server_that_is_not_there_is_one_sentence_without_the_password(tmp_path: Path) -> None:
    endpoint = Endpoint("postgres", str(tmp_path), "", 5432, "somebody", password="hunter2 it's")
    with pytest.raises(TargetFailedError) as caught:
        PostgresTarget(endpoint, "postgres")
    message = str(caught.value)
    assert "somebody" in message
    assert str(tmp_path) in message
    assert "hunter2" not in message
    assert "\n" not in message
