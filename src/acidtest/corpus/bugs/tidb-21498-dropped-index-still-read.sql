-- id: TIDB-21498
-- title: a READ COMMITTED transaction reads through an index that was dropped meanwhile
-- link: https://github.com/pingcap/tidb/issues/21498
-- target: tidb <6.3
-- level: READ COMMITTED
-- seen: tidb@5.4.2 no level
-- seen: tidb@5.4.2?mode=optimistic no level
-- tx1 keeps the schema of its start but reads newest data: the dropped index is no longer maintained, so
-- the row is found under the value it no longer has. An error about the changed schema would be right too.
-- Reported at READ COMMITTED (thesis, figure 4.12, for a build of December 2020, with TiKV); table and rows
-- after the report. From 6.3 on a metadata lock can make the ALTER wait for tx1.
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT, INDEX iv (v));
INSERT INTO t VALUES (1, 10), (2, 20), (3, 30), (4, 40);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE v = 10;         -- expect: (1,10)
/* tx2 */ ALTER TABLE t DROP INDEX iv;
/* tx2 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx1 */ SELECT * FROM t WHERE v = 10;         -- expect: no rows or error
-- expect RR: (1,10) or error
/* tx1 */ SELECT * FROM t WHERE id = 1;         -- expect: (1,11) or error
-- expect RR: (1,10) or error
/* tx1 */ COMMIT;
