-- id: PG-MERGE-RR
-- title: MERGE at REPEATABLE READ changes a row that is newer than its snapshot
-- link: https://git.postgresql.org/gitweb/?p=postgresql.git;a=commit;h=177037341a4
-- target: postgres >=15
-- level: REPEATABLE READ
-- status: confirmed
-- kind: wrong final state
-- reported: 15.0 to 15.17, 16.13, 17.9, 18.3
-- fixed: 15.18, 16.14, 17.10, 18.4
-- levels: RR, SER
-- seen: postgres@15.2 RR
-- seen: postgres@15.18 no level
-- seen: postgres@17.5 RR
-- seen: postgres@18.3 RR
-- seen: postgres@18.4 no level
-- tx2 has changed the key of the row since tx1's snapshot, so tx1 has to be refused. Instead MERGE took the row for one that
-- matches no more and went on with its NOT MATCHED branch.
-- setup
CREATE TABLE t (k INT PRIMARY KEY, s TEXT);
INSERT INTO t VALUES (1, 'x');
-- schedule
/* tx2 */ BEGIN;
/* tx2 */ MERGE INTO t USING (SELECT 1 AS k, 'b' AS s) q ON q.k = t.k
          WHEN NOT MATCHED THEN INSERT VALUES (q.k, q.s)
          WHEN MATCHED THEN UPDATE SET k = t.k + 1, s = t.s || q.s;   -- expect: affected 1
/* tx1 */ BEGIN;
/* tx1 */ MERGE INTO t USING (SELECT 1 AS k, 'a' AS s) q ON q.k = t.k
          WHEN NOT MATCHED THEN INSERT VALUES (q.k, q.s)
          WHEN MATCHED THEN UPDATE SET k = t.k + 1, s = t.s || q.s;
-- expect RU, RC: affected 1; blocked by tx2
-- expect RR, SER: error serialization-failure; blocked by tx2
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
-- final
-- expect t: (1,'a') (2,'xb')
-- expect t at RR, SER: (2,'xb')
