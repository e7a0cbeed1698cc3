-- id: PG-15946
-- title: ANALYZE of one table twice fails within a transaction
-- link: https://postgr.es/m/15946-5c7570a2884a26cf@postgresql.org
-- target: postgres >=11
-- level: READ COMMITTED
-- status: confirmed
-- kind: wrong error
-- reported: 11.5
-- fixed: 11.6, 12.0
-- levels: RC
-- seen: postgres@11.1 RU, RC, RR, SER
-- seen: postgres@11.5 RU, RC, RR, SER
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
-- The second ANALYZE does not see what the first has written about the table and inserts it again.
-- setup
CREATE TABLE t (a INT);
INSERT INTO t SELECT i FROM generate_series(1, 10) g (i);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ ANALYZE t, t;   -- expect: ok
/* tx1 */ COMMIT;
