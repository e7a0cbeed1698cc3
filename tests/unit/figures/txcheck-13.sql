-- id: txcheck-13
-- title: a snapshot misses what was committed before it (the kind of TxCheck's Figure 13, which is a picture)
-- link: https://www.usenix.org/conference/osdi23/presentation/jiang
-- level: REPEATABLE READ
-- setup
CREATE TABLE t (pkey INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx0 */ BEGIN;
/* tx0 */ UPDATE t SET v = 11 WHERE pkey = 1;
/* tx0 */ COMMIT;
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE pkey = 1;
/* tx1 */ COMMIT;
