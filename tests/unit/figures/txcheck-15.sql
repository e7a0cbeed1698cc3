-- id: txcheck-15
-- title: one transaction updates and counts (TxCheck, Figure 15)
-- link: https://www.usenix.org/conference/osdi23/presentation/jiang
-- level: REPEATABLE READ
-- setup
CREATE TABLE t0 (pkey INT PRIMARY KEY, c0 INT, c2 INT);
INSERT INTO t0 VALUES (1, 1, 1), (2, 2, NULL);
-- schedule
/* tx0 */ BEGIN;
/* tx0 */ UPDATE t0 SET c0 = 7;
/* tx0 */ SELECT COUNT(c2) FROM t0;
/* tx0 */ COMMIT;
