-- id: PG-MATVIEW-SSI
-- title: REFRESH MATERIALIZED VIEW CONCURRENTLY takes no part in predicate locking
-- link: https://git.postgresql.org/gitweb/?p=postgresql.git;a=commit;h=43351557d0d
-- target: postgres
-- level: SERIALIZABLE
-- status: confirmed
-- kind: wrong final state
-- reported: up to 15
-- fixed: 16.0
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
-- seen: postgres@17.5 no level
-- seen: postgres@18.3 no level
-- seen: postgres@18.4 no level
-- tx1 refreshes the view from the table, tx2 reads the old view and then writes to the table. No serial order gives that, but
-- neither is refused: REFRESH wrote its rows without looking for readers.
-- setup
CREATE TABLE t (d DATE, i TEXT, n INT);
INSERT INTO t VALUES ('2022-04-01', 'apple', 10), ('2022-04-01', 'pear', 20);
CREATE MATERIALIZED VIEW v AS SELECT d, i, SUM(n) AS s FROM t GROUP BY d, i;
CREATE UNIQUE INDEX i ON v (d, i);
INSERT INTO t VALUES ('2022-04-02', 'apple', 30);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ SELECT 1;
/* tx2 */ BEGIN;
/* tx2 */ SELECT 1;
/* tx1 */ REFRESH MATERIALIZED VIEW CONCURRENTLY v;
/* tx2 */ SELECT MAX(d) FROM v;
/* tx2 */ INSERT INTO t VALUES ('2022-04-02', 'pear', 40);
/* tx1 */ COMMIT;                                           -- expect: ok
/* tx2 */ COMMIT;
-- expect: ok
-- expect SER: error serialization-failure
