-- id: DUCKDB-19002
-- title: a foreign key is left dangling while an older transaction keeps the deleted parent
-- link: https://github.com/duckdb/duckdb/issues/19002
-- target: duckdb
-- status: confirmed
-- kind: wrong final state
-- reported: 1.3
-- fixed: 1.5.0
-- levels: SI
-- seen: duckdb@0.10.3 no level
-- seen: duckdb@1.1.3 no level
-- seen: duckdb@1.2.0 SI
-- seen: duckdb@1.3.2 SI
-- seen: duckdb@1.4.3 SI
-- seen: duckdb@1.5.0 no level
-- seen: duckdb@1.5.6 no level
-- seen: duckdb@2.0.0 no level
-- tx2 has deleted the parent and committed. tx1 still sees it in its older snapshot, so the index still has the key,
-- and the child that tx3 inserts is accepted.
-- setup
CREATE TABLE t (a INT PRIMARY KEY);
INSERT INTO t VALUES (1);
CREATE TABLE u (b INT, FOREIGN KEY (b) REFERENCES t (a));
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ SELECT a FROM t;            -- expect: (1)
/* tx2 */ DELETE FROM t WHERE a = 1;  -- expect: affected 1
/* tx3 */ INSERT INTO u VALUES (1);   -- expect: error foreign-key
/* tx1 */ COMMIT;
-- final
-- expect u: no rows
