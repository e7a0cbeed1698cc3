-- id: PG-15875
-- title: two transactions that touch different keys of one page are refused
-- link: https://postgr.es/m/15875-76bf5472863f6ce3@postgresql.org
-- target: postgres
-- level: SERIALIZABLE
-- status: documented
-- kind: wrong error
-- reported: 10.6
-- levels: SER
-- seen: postgres@9.6.24 SER
-- seen: postgres@10.5 SER
-- seen: postgres@10.6 SER
-- seen: postgres@11.1 SER
-- seen: postgres@11.5 SER
-- seen: postgres@12.3 SER
-- seen: postgres@12.22 SER
-- seen: postgres@13.1 SER
-- seen: postgres@13.22 SER
-- seen: postgres@14.2 SER
-- seen: postgres@15.2 SER
-- seen: postgres@15.18 SER
-- seen: postgres@17.5 SER
-- seen: postgres@18.3 SER
-- seen: postgres@18.4 SER
-- tx1 and tx2 read different keys and insert different keys, and every serial order gives their results. In a small index all
-- keys lie on one page, and PostgreSQL notes what was read by the page. The manual says that such false alarms happen.
-- setup
CREATE TABLE t (id INT PRIMARY KEY);
INSERT INTO t VALUES (44), (33);
-- schedule
/* tx1 */ SET enable_seqscan = off;
/* tx2 */ SET enable_seqscan = off;
/* tx1 */ BEGIN;
/* tx1 */ SELECT id FROM t WHERE id = 44;   -- expect: (44)
/* tx2 */ BEGIN;
/* tx2 */ SELECT id FROM t WHERE id = 33;   -- expect: (33)
/* tx2 */ INSERT INTO t VALUES (1);         -- expect: affected 1
/* tx2 */ COMMIT;
/* tx1 */ INSERT INTO t VALUES (2);         -- expect: affected 1
/* tx1 */ COMMIT;
