-- id: PG-15677
-- title: an UPDATE of a partitioned table through a writing CTE ends the session after a wait
-- link: https://postgr.es/m/15677-0bf089579b4cd02d@postgresql.org
-- target: postgres >=10
-- level: READ COMMITTED
-- status: confirmed
-- kind: crash
-- reported: 10.7, 11.2
-- fixed: 10.8, 11.3
-- levels: RC
-- seen: postgres@10.5 RU, RC
-- seen: postgres@10.6 RU, RC
-- seen: postgres@11.1 RU, RC
-- seen: postgres@11.5 no level
-- seen: postgres@12.3 no level
-- seen: postgres@12.22 no level
-- seen: postgres@13.1 no level
-- seen: postgres@13.22 no level
-- seen: postgres@14.2 no level
-- seen: postgres@15.2 no level
-- seen: postgres@15.18 no level
-- seen: postgres@17.5 no level
-- seen: postgres@18.3 no level
-- seen: postgres@18.4 no level
-- Both parts of tx2's statement write to the same partition. The test after the wait takes the plan of the outer part for that of the
-- inner one.
-- setup
CREATE TABLE t (a INT) PARTITION BY LIST (a);
CREATE TABLE t1 PARTITION OF t FOR VALUES IN (1);
INSERT INTO t VALUES (1);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET a = a;   -- expect: affected 1
/* tx2 */ WITH u AS (UPDATE t SET a = a RETURNING t.*) UPDATE t SET a = u.a FROM u;
-- expect RU, RC: ok
-- expect RR, SER: error serialization-failure
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
