-- id: PG-18103
-- title: MERGE that waited works on the wrong rows of its source
-- link: https://postgr.es/m/18103-c4386baab8e355e3@postgresql.org
-- target: postgres >=15
-- level: READ COMMITTED
-- status: confirmed
-- kind: wrong final state
-- reported: 15.0 to 15.4, 16.0
-- fixed: 15.5, 16.1
-- levels: RC
-- seen: postgres@15.2 RU, RC, RR
-- seen: postgres@15.18 no level
-- seen: postgres@17.5 RR
-- seen: postgres@18.3 RR
-- seen: postgres@18.4 no level
-- Both sessions merge the same source. tx2 waits for tx1, and then tests its rows again. The source rows were not kept for
-- that test, so with a hash join every target row is joined with whatever source row is at hand.
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 1), (2, 2), (3, 3);
CREATE TABLE u (id INT PRIMARY KEY, v INT);
INSERT INTO u VALUES (1, 10), (2, 20), (3, 30);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN UPDATE SET v = u.v
          WHEN NOT MATCHED THEN INSERT VALUES (u.id, u.v);   -- expect: affected 3
/* tx2 */ SET LOCAL enable_mergejoin = off;
/* tx2 */ SET LOCAL enable_nestloop = off;
/* tx2 */ MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN UPDATE SET v = u.v
          WHEN NOT MATCHED THEN INSERT VALUES (u.id, u.v);
-- expect RU, RC: affected 3; blocked by tx1
-- expect RR, SER: error serialization-failure; blocked by tx1
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
-- final
-- expect t: (1,10) (2,20) (3,30)
