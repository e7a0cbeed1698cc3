-- id: moved-while-waiting-1
-- level: READ COMMITTED
-- setup
CREATE TABLE t (c1 INT NOT NULL, c2 INT, c3 BIGINT UNSIGNED, c4 INT, PRIMARY KEY (c1));
CREATE INDEX i2_t ON t (c3);
INSERT INTO t (c1, c2, c3, c4) VALUES (100, 0, 0, NULL), (2, 0, 10, 56);
-- schedule
/* tx2 */ BEGIN;
/* tx2 */ SELECT * FROM t WHERE c3 <=> 10 FOR UPDATE;
/* tx1 */ START TRANSACTION WITH CONSISTENT SNAPSHOT;
/* tx1 */ UPDATE t SET c1 = 4 WHERE NOT (c1 = 87);
/* tx3 */ BEGIN;
/* tx3 */ SELECT a.c3 AS x0, a.c2 AS x1 FROM t AS a JOIN t AS b ON b.c3 = 0 FOR UPDATE;
/* tx2 */ INSERT INTO t (c1, c2, c3, c4) SELECT 87, 1, c3, 56 FROM t WHERE c3 IN (0, 0);
/* tx2 */ SELECT * FROM t;
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
/* tx3 */ UPDATE t SET c1 = -5 WHERE c1 < 100;
/* tx3 */ INSERT INTO t (c1, c2, c3, c4) VALUES (100, 1, 10, 3) ON DUPLICATE KEY UPDATE c3 = 10;
/* tx3 */ SELECT * FROM t WHERE (c3 <=> 10) OR (c1 BETWEEN 87 AND -1);
/* tx3 */ COMMIT;
