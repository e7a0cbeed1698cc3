-- id: PG-JEPSEN-12.3
-- title: write skew commits at SERIALIZABLE when a third transaction updates the row that one of the two inserted
-- link: https://jepsen.io/analyses/postgresql-12.3
-- target: postgres
-- status: confirmed
-- kind: wrong final state
-- reported: 12.3
-- fixed: 12.4
-- level: SERIALIZABLE
-- seen: postgres@9.6.24 no level
-- seen: postgres@10.5 SER
-- seen: postgres@10.6 SER
-- seen: postgres@11.1 SER
-- seen: postgres@11.5 SER
-- seen: postgres@12.2 SER
-- seen: postgres@12.3 SER
-- seen: postgres@12.22 no level
-- seen: postgres@13.1 no level
-- seen: postgres@13.22 no level
-- seen: postgres@14.2 no level
-- seen: postgres@15.2 no level
-- seen: postgres@15.18 no level
-- seen: postgres@17.5 no level
-- seen: postgres@18.3 no level
-- seen: postgres@18.4 no level
-- tx1 and tx2 each look for the row that the other one inserts, and find nothing: no serial order gives that. Before
-- tx2 looks, tx3 updates tx1's row. Neither version of the row is visible to tx2, so PostgreSQL had to note a conflict with the
-- writer of each of them. It asked both versions for the transaction that updated the row, found tx3 twice, and missed tx1.
-- Jepsen found it under load (G2-item). Fixed in August 2020: 12.4, 11.9, 10.14, 9.6.19, 9.5.23.
-- setup
CREATE TABLE a (id INT PRIMARY KEY, v INT);
CREATE TABLE b (id INT PRIMARY KEY, v INT);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx3 */ BEGIN;
/* tx1 */ SELECT * FROM a WHERE id = 1;        -- expect: no rows
/* tx2 */ INSERT INTO a VALUES (1, 10);        -- expect: affected 1
/* tx1 */ INSERT INTO b VALUES (1, 20);        -- expect: affected 1
/* tx1 */ COMMIT;                              -- expect: ok
/* tx3 */ UPDATE b SET v = 21 WHERE id = 1;    -- expect: affected 1
/* tx2 */ SELECT * FROM b WHERE id = 1;        -- expect: (1,20)
-- expect RR: no rows
-- expect SER: error serialization-failure
/* tx2 */ COMMIT;                              -- expect: ok
-- expect SER: error transaction-state
/* tx3 */ ROLLBACK;                            -- expect: ok
-- final
-- expect a: (1,10)
-- expect a at SER: no rows
-- expect b: (1,20)
