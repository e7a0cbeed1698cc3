-- id: PG-MERGE-DUP
-- title: MERGE that waited changes a row once although two source rows match it
-- link: https://git.postgresql.org/gitweb/?p=postgresql.git;a=commit;h=29ef1dd19b4
-- target: postgres >=15
-- level: READ COMMITTED
-- status: confirmed
-- kind: wrong error
-- reported: 15.0 to 15.6, 16.2
-- fixed: 15.7, 16.3
-- levels: RC
-- seen: postgres@15.2 RU, RC, RR
-- seen: postgres@15.18 no level
-- seen: postgres@17.5 RR
-- seen: postgres@18.3 RR
-- seen: postgres@18.4 no level
-- A MERGE may not change one row for two rows of its source. tx2 waited for tx1, and after that the second source row is passed
-- by without a word.
-- setup
CREATE TABLE t (k INT, s TEXT) PARTITION BY LIST (k);
CREATE TABLE t1 PARTITION OF t FOR VALUES IN (1);
INSERT INTO t VALUES (1, 'i');
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ MERGE INTO t USING (SELECT 1 AS k) q ON q.k = t.k WHEN MATCHED THEN UPDATE SET s = s || 'a';
/* tx2 */ MERGE INTO t USING (VALUES (1), (1)) v (k) ON t.k = v.k WHEN MATCHED THEN UPDATE SET s = s || 'b';
-- expect: error 21000; blocked by tx1
-- expect RR, SER: error serialization-failure; blocked by tx1
/* tx1 */ COMMIT;
/* tx2 */ ROLLBACK;
