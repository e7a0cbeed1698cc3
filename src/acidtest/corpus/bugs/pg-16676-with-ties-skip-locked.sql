-- id: PG-16676
-- title: FETCH FIRST WITH TIES .. FOR UPDATE SKIP LOCKED locks a row that it does not return
-- link: https://postgr.es/m/16676-fd62c3c835880da6@postgresql.org
-- target: postgres >=13
-- level: READ COMMITTED
-- status: confirmed
-- kind: wrong rows
-- reported: 13.0
-- fixed: 14.0 (the combination is refused)
-- levels: RC
-- seen: postgres@13.1 RU, RC, RR, SER
-- seen: postgres@13.22 no level
-- seen: postgres@14.2 no level
-- seen: postgres@15.2 no level
-- seen: postgres@15.18 no level
-- seen: postgres@17.5 no level
-- seen: postgres@18.3 no level
-- seen: postgres@18.4 no level
-- To know where the ties end, the statement looks at one row more, and locks it. So the next session skips the row 3 although
-- nobody was given it. From 14 on the combination is refused.
-- setup
CREATE TABLE t (id INT PRIMARY KEY, b INT);
INSERT INTO t VALUES (1, 1), (2, 1), (3, 2), (4, 3);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t ORDER BY b FETCH FIRST ROW WITH TIES FOR UPDATE SKIP LOCKED;
-- expect: (1,1) (2,1) or error
/* tx2 */ SELECT * FROM t ORDER BY b FETCH FIRST ROW WITH TIES FOR UPDATE SKIP LOCKED;
-- expect: (3,2) or error
/* tx1 */ ROLLBACK;
