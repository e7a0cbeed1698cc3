-- id: TIDB-28095
-- title: an UPDATE with CAST fails only after an earlier UPDATE in the same transaction
-- link: https://github.com/pingcap/tidb/issues/28095
-- target: tidb
-- level: REPEATABLE READ
-- seen: tidb@5.4.2 RC, RR
-- seen: tidb@5.4.2?mode=optimistic RR
-- The same UPDATE is harmless alone (tx1) and fails in a transaction that wrote the table before (tx2).
-- One transaction is enough, at every level (Troc, section IV-C, names it without a listing; the steps follow
-- the report, reduced).
-- setup
CREATE TABLE t (a VARCHAR(20));
INSERT INTO t VALUES ('abc'), ('def');
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 'test' WHERE CAST(a AS DECIMAL);    -- expect: affected 0
/* tx1 */ ROLLBACK;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET a = 'xyz';                              -- expect: affected 2
/* tx2 */ UPDATE t SET a = 'test' WHERE CAST(a AS DECIMAL);    -- expect: affected 0
/* tx2 */ COMMIT;
-- final
-- expect t: ('xyz') ('xyz')
