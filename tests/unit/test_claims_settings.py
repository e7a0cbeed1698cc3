"""Which variables of sessions change nothing that is judged."""

import pytest

from acidtest.claims.settings import changes_nothing


@pytest.mark.parametrize(
    ("dbms", "name", "harmless"),
    [
        ("postgres", "lock_timeout", True),
        ("postgres", "Enable_SeqScan", True),
        ("postgres", "search_path", False),
        ("postgres", "default_transaction_isolation", False),
        ("postgres", "innodb_lock_wait_timeout", False),
        ("mariadb", "innodb_lock_wait_timeout", True),
        ("mariadb", "innodb_snapshot_isolation", False),
        ("mysql", "sql_mode", False),
        ("mysql", "foreign_key_checks", False),
        ("mysql", "autocommit", False),
        ("tidb", "tidb_txn_mode", False),
        ("sqlite", "busy_timeout", True),
        ("sqlite", "foreign_keys", False),
        ("oracle", "lock_timeout", False),
    ],
)
def test_only_what_decides_no_result_is_harmless(dbms: str, name: str, harmless: bool) -> None:
    assert changes_nothing(dbms, name) is harmless
