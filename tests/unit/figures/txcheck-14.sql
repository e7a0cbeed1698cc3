-- id: txcheck-14
-- title: a transaction that rolls back must have no effect on an update (TxCheck, Figure 14)
-- link: https://www.usenix.org/conference/osdi23/presentation/jiang
-- level: READ COMMITTED
-- The figure leaves out most of the condition; this is its shape.
-- setup
CREATE TABLE t0 (pkey INT PRIMARY KEY, vkey INT, c5 INT);
INSERT INTO t0 VALUES (1, 0, 5), (2, 0, 6);
-- schedule
/* tx0 */ BEGIN;
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t0 VALUES (141, 210000, 74);
/* tx1 */ ROLLBACK;
/* tx0 */ UPDATE t0 SET vkey = 116 WHERE c5 NOT IN (SELECT s.c5 FROM t0 AS s WHERE s.c5 < 80);
/* tx0 */ COMMIT;
