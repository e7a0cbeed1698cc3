-- id: PG-ATTACH-DEFAULT
-- title: a row stays in the default partition although a concurrent ATTACH claims it
-- link: https://git.postgresql.org/gitweb/?p=postgresql.git;a=commit;h=f481d282329
-- target: postgres >=11
-- level: READ COMMITTED
-- status: confirmed
-- kind: wrong final state
-- reported: 11 to 12.4
-- fixed: 12.5, 13.0
-- levels: RC
-- seen: postgres@11.1 RU, RC, RR, SER
-- seen: postgres@11.5 RU, RC, RR, SER
-- seen: postgres@12.3 RU, RC, RR, SER
-- seen: postgres@12.22 no level
-- seen: postgres@13.1 no level
-- seen: postgres@13.22 no level
-- seen: postgres@14.2 no level
-- seen: postgres@15.2 no level
-- seen: postgres@15.18 no level
-- seen: postgres@17.5 no level
-- seen: postgres@18.3 no level
-- seen: postgres@18.4 no level
-- tx2 waits for tx1's ATTACH. It had already chosen the default partition, and did not look whether its row still belongs there.
-- setup
CREATE TABLE t (i INT, j TEXT) PARTITION BY RANGE (i);
CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (100);
CREATE TABLE d (i INT, j TEXT) PARTITION BY LIST (j);
CREATE TABLE d1 PARTITION OF d DEFAULT;
ALTER TABLE t ATTACH PARTITION d DEFAULT;
CREATE TABLE n (i INT, j TEXT);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ ALTER TABLE t ATTACH PARTITION n FOR VALUES FROM (100) TO (200);
/* tx2 */ INSERT INTO t VALUES (110, 'x');   -- expect: error 23514; blocked by tx1
/* tx1 */ COMMIT;
-- final
-- expect t: no rows
