-- id: TIDB-28011
-- title: a row that the transaction has locked by its key is read twice
-- link: https://github.com/pingcap/tidb/issues/28011
-- target: tidb
-- level: REPEATABLE READ
-- seen: tidb@5.4.2 RC, RR
-- seen: tidb@5.4.2?mode=optimistic RR
-- tx1 locks a row by its primary key, which the table is not kept by, and leaves the row as it is. TiDB notes the
-- index entry among the transaction's own writes, and a read over that index finds it there and in the snapshot.
-- Found by acidtest fuzz on TiDB 5.4.2; it came with pull request 25730 and went with 42642.
-- setup
CREATE TABLE t (a VARCHAR(20), b INT, PRIMARY KEY (a) NONCLUSTERED);
INSERT INTO t VALUES ('x', 10), ('y', 20);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ SELECT b FROM t WHERE a = 'x' FOR UPDATE;  -- expect: (10)
/* tx1 */ SELECT a FROM t;                            -- expect: ('x') ('y')
/* tx1 */ COMMIT;
-- final
-- expect t: ('x',10) ('y',20)
