-- id: PG-TIDRANGE
-- title: an UPDATE by a range of ctid that waited changes a row that left the range
-- link: https://git.postgresql.org/gitweb/?p=postgresql.git;a=commit;h=ac06ea8f7b6
-- target: postgres >=14
-- level: READ COMMITTED
-- status: confirmed
-- kind: wrong final state
-- reported: 14.0 to 14.19, 15.14, 16.10, 17.6
-- fixed: 14.20, 15.15, 16.11, 17.7, 18.0
-- levels: RC
-- seen: postgres@14.2 RU, RC
-- seen: postgres@15.2 RU, RC
-- seen: postgres@15.18 no level
-- seen: postgres@17.5 RU, RC
-- seen: postgres@18.3 no level
-- seen: postgres@18.4 no level
-- As PG-TIDSCAN, with a range: another part of the server scans by ranges, and it had the same gap.
-- setup
CREATE TABLE t (a TEXT PRIMARY KEY, b INT);
INSERT INTO t VALUES ('c', 600), ('s', 600);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET b = b + 100 WHERE ctid BETWEEN '(0,1)' AND '(0,1)';   -- expect: affected 1
/* tx2 */ UPDATE t SET b = b + 200 WHERE ctid BETWEEN '(0,1)' AND '(0,1)';
-- expect RU, RC: affected 0; blocked by tx1
-- expect RR, SER: error serialization-failure; blocked by tx1
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
-- final
-- expect t: ('c',700) ('s',600)
