-- id: txcheck-11
-- title: a statement that waited is torn from the probe before it (TxCheck, Figure 11)
-- link: https://www.usenix.org/conference/osdi23/presentation/jiang
-- level: REPEATABLE READ
-- setup
CREATE TABLE t0 (pkey INT PRIMARY KEY, vkey INT);
INSERT INTO t0 VALUES (0, 0);
-- schedule
/* tx0 */ BEGIN;
/* tx0 */ UPDATE t0 SET vkey = 1;
/* tx1 */ BEGIN;
/* tx1 */ DELETE FROM t0 WHERE vkey = 0;
/* tx0 */ COMMIT;
/* tx1 */ COMMIT;
