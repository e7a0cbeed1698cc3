-- id: PG-LOCK-UPGRADE
-- title: sessions that share a row lock deadlock when one upgrades it while another waits
-- link: https://git.postgresql.org/gitweb/?p=postgresql.git;a=commit;h=de87a084c0a
-- target: postgres
-- level: READ COMMITTED
-- status: confirmed
-- kind: deadlock
-- reported: up to 9.6.13, 10.8, 11.3
-- fixed: 9.6.14, 10.9, 11.4
-- levels: RC
-- seen: postgres@9.6.24 no level
-- seen: postgres@10.5 RU, RC, RR, SER
-- seen: postgres@10.6 RU, RC, RR, SER
-- seen: postgres@11.1 RU, RC, RR, SER
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
-- tx3 shares the lock with tx1 and wants more, behind tx2 who waits. tx3 takes its place in the queue behind tx2 although it holds
-- the lock that tx2 waits for: a deadlock that need not be.
-- setup
CREATE TABLE t (id INT PRIMARY KEY, s TEXT);
INSERT INTO t VALUES (1, 'a');
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx3 */ BEGIN;
/* tx1 */ SELECT id FROM t WHERE id = 1 FOR SHARE;    -- expect: (1)
/* tx2 */ SELECT id FROM t WHERE id = 1 FOR UPDATE;   -- expect: (1); blocked
/* tx3 */ SELECT id FROM t WHERE id = 1 FOR SHARE;    -- expect: (1); not blocked
/* tx3 */ SELECT id FROM t WHERE id = 1 FOR UPDATE;   -- expect: (1); blocked
/* tx1 */ ROLLBACK;
/* tx3 */ ROLLBACK;
/* tx2 */ ROLLBACK;
