-- id: TIDB-28092
-- title: an UPDATE fails with a truncation error only after an earlier UPDATE in the same transaction
-- link: https://github.com/pingcap/tidb/issues/28092
-- target: tidb
-- seen: tidb@5.4.2 RC, RR
-- seen: tidb@5.4.2?mode=optimistic RR
-- The condition `WHERE c1` turns a blob into a number. Alone the UPDATE succeeds; behind another UPDATE of
-- the transaction TiDB evaluates it itself instead of in the store, and reports a truncation error.
-- One transaction is enough, at every level (Troc, listing 4, for TiDB 5.2). MySQL and MariaDB refuse the
-- statement in either place under a strict sql_mode, so the case is not for them.
-- setup
CREATE TABLE t (c1 BLOB NOT NULL, c2 TEXT);
INSERT IGNORE INTO t VALUES (NULL, NULL);
INSERT INTO t VALUES (0x32, 'aaa');
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET c2 = 'abc';               -- expect: affected 2
/* tx1 */ UPDATE t SET c2 = 'xyz' WHERE c1;      -- expect: affected 1
/* tx1 */ COMMIT;
