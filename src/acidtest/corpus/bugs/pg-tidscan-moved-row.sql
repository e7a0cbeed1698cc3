-- id: PG-TIDSCAN
-- title: an UPDATE by ctid that waited changes a row whose ctid is another by now
-- link: https://git.postgresql.org/gitweb/?p=postgresql.git;a=commit;h=dee21ea6d61
-- target: postgres
-- level: READ COMMITTED
-- status: confirmed
-- kind: wrong final state
-- reported: all up to 13.22, 14.19, 15.14, 16.10, 17.6
-- fixed: 13.23, 14.20, 15.15, 16.11, 17.7, 18.0
-- levels: RC
-- seen: postgres@9.6.24 RU, RC
-- seen: postgres@10.5 RU, RC
-- seen: postgres@10.6 RU, RC
-- seen: postgres@11.1 RU, RC
-- seen: postgres@11.5 RU, RC
-- seen: postgres@12.3 RU, RC
-- seen: postgres@12.22 RU, RC
-- seen: postgres@13.1 RU, RC
-- seen: postgres@13.22 RU, RC
-- seen: postgres@14.2 RU, RC
-- seen: postgres@15.2 RU, RC
-- seen: postgres@15.18 no level
-- seen: postgres@17.5 RU, RC
-- seen: postgres@18.3 no level
-- seen: postgres@18.4 no level
-- After tx1's update the row lies elsewhere, so tx2's condition does not hold any more. PostgreSQL tests conditions again after a
-- wait, but not this one.
-- setup
CREATE TABLE t (a TEXT PRIMARY KEY, b INT);
INSERT INTO t VALUES ('c', 600), ('s', 600);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET b = b + 100 WHERE ctid = '(0,1)';   -- expect: affected 1
/* tx2 */ UPDATE t SET b = b + 200 WHERE ctid = '(0,1)';
-- expect RU, RC: affected 0; blocked by tx1
-- expect RR, SER: error serialization-failure; blocked by tx1
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
-- final
-- expect t: ('c',700) ('s',600)
