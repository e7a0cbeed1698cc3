-- id: DUCKDB-25300
-- title: COMMIT after a binder error commits the rest of the transaction
-- link: https://github.com/duckdb/duckdb/issues/25300
-- target: duckdb
-- status: documented
-- kind: wrong final state
-- reported: 1.5.5
-- fixed: 2.0.0
-- levels: SI
-- seen: duckdb@0.10.3 SI
-- seen: duckdb@1.1.3 SI
-- seen: duckdb@1.2.0 SI
-- seen: duckdb@1.3.2 SI
-- seen: duckdb@1.4.3 SI
-- seen: duckdb@1.5.0 SI
-- seen: duckdb@1.5.6 SI
-- seen: duckdb@2.0.0 no level
-- Up to 1.5 an error while a statement is bound leaves the transaction as it was, and COMMIT keeps the rest. From 2.0 on
-- any error fails the transaction, which its developers call the intended behaviour.
-- setup
CREATE TABLE t (a INT);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (1);    -- expect: affected 1
/* tx1 */ SELECT nope;                 -- expect: error
/* tx1 */ COMMIT;                      -- expect: error transaction-state
-- final
-- expect t: no rows
