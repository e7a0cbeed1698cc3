-- id: PG-IOS-BITMAP
-- title: a bitmap scan that needs no columns counts rows that were deleted before its snapshot
-- link: https://postgr.es/m/873c33c5-ef9e-41f6-80b2-2f5e11869f1c@garret.ru
-- target: postgres >=12
-- level: READ COMMITTED
-- status: confirmed
-- kind: wrong rows
-- reported: 11 to 13.20, 14.17, 15.12, 16.8, 17.4
-- fixed: 13.21, 14.18, 15.13, 16.9, 17.5, 18.0
-- levels: RC, RR
-- seen: postgres@12.3 RU, RC, RR, SER
-- seen: postgres@12.22 RU, RC, RR, SER
-- seen: postgres@13.1 RU, RC, RR, SER
-- seen: postgres@13.22 no level
-- seen: postgres@14.2 RU, RC, RR, SER
-- seen: postgres@15.2 RU, RC, RR, SER
-- seen: postgres@15.18 no level
-- seen: postgres@17.5 no level
-- seen: postgres@18.3 no level
-- seen: postgres@18.4 no level
-- While tx1's cursor is open, VACUUM removes the deleted rows and marks their pages as all visible. The scan trusts that mark for rows
-- that it had noted before, and counts them.
-- setup
CREATE TABLE t (a INT, b INT, pad CHAR(1024) DEFAULT '') WITH (fillfactor = 10);
INSERT INTO t (a, b) SELECT i, i FROM generate_series(1, 10) g (i);
CREATE INDEX ia ON t (a);
CREATE INDEX ib ON t (b);
-- schedule
/* tx2 */ VACUUM (TRUNCATE false) t;
/* tx2 */ DELETE FROM t WHERE a > 1;                                 -- expect: affected 9
/* tx1 */ SET enable_seqscan = off;
/* tx1 */ BEGIN;
/* tx1 */ DECLARE c NO SCROLL CURSOR FOR SELECT row_number() OVER () FROM t WHERE a > 0 OR b > 0;
/* tx1 */ FETCH FROM c;                                              -- expect: (1)
/* tx2 */ VACUUM (TRUNCATE false) t;
/* tx1 */ FETCH ALL FROM c;                                          -- expect: no rows
/* tx1 */ COMMIT;
