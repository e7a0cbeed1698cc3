-- id: PG-MERGE-TWICE
-- title: MERGE tests the wrong version of a row that was updated twice
-- link: https://git.postgresql.org/gitweb/?p=postgresql.git;a=commit;h=6ede13d1b5f
-- target: postgres >=15
-- level: READ COMMITTED
-- status: confirmed
-- kind: wrong final state
-- reported: 15.0 to 15.14, 16.10, 17.6
-- fixed: 15.15, 16.11, 17.7, 18.0
-- levels: RC
-- seen: postgres@15.2 RR, SER
-- seen: postgres@15.18 no level
-- seen: postgres@17.5 RU, RC, RR, SER
-- seen: postgres@18.3 RR, SER
-- seen: postgres@18.4 no level
-- tx2 changes the balance from 160 to 170 and then to 70. tx1's MERGE waited for it and has to decide by 70. It followed the chain
-- of versions by one step only and decided by 170.
-- setup
CREATE TABLE t (k INT PRIMARY KEY, b INT, s TEXT);
INSERT INTO t VALUES (1, 160, 'x');
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET b = b + 10 WHERE k = 1;    -- expect: affected 1
/* tx2 */ UPDATE t SET b = b - 100 WHERE k = 1;   -- expect: affected 1
/* tx1 */ MERGE INTO t USING (SELECT 1 AS k) s ON s.k = t.k
          WHEN MATCHED AND b < 100 THEN UPDATE SET b = b * 2
          WHEN MATCHED AND b < 200 THEN UPDATE SET b = b * 4
          WHEN MATCHED AND b < 300 THEN UPDATE SET b = b * 8;
-- expect RU, RC: affected 1; blocked by tx2
-- expect RR, SER: error serialization-failure; blocked by tx2
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
-- final
-- expect t: (1,140,'x')
-- expect t at RR, SER: (1,70,'x')
