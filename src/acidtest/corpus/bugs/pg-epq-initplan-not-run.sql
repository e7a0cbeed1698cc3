-- id: PG-EPQ-INITPLAN
-- title: a sub-select that is first needed after a wait is not evaluated
-- link: https://git.postgresql.org/gitweb/?p=postgresql.git;a=commit;h=1f4a920b730
-- target: postgres
-- level: READ COMMITTED
-- status: confirmed
-- kind: crash
-- reported: up to 10.5, 9.6.10
-- fixed: 9.6.11, 10.6, 11.0
-- levels: RC
-- seen: postgres@9.6.24 no level
-- seen: postgres@10.5 RU, RC
-- seen: postgres@10.6 no level
-- seen: postgres@11.1 no level
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
-- When tx2 first looked at the row, v was not NULL and the sub-select was not needed. After the wait it is, but the test of the changed
-- row starts without it.
-- setup
CREATE TABLE t (id INT, v TEXT);
INSERT INTO t VALUES (1, 'x');
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET v = NULL WHERE id = 1;   -- expect: affected 1
/* tx2 */ UPDATE t SET v = COALESCE(v, (SELECT TEXT 'n')) WHERE id = 1;
-- expect RU, RC: affected 1; blocked by tx1
-- expect RR, SER: error serialization-failure; blocked by tx1
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
-- final
-- expect t: (1,'n')
-- expect t at RR, SER: (1,NULL)
