-- id: moved-key-1
-- level: REPEATABLE READ
-- setup
CREATE TABLE t (c1 DOUBLE NOT NULL, c2 INT NOT NULL, c3 VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL, PRIMARY KEY (c1));
CREATE UNIQUE INDEX i2_t ON t (c3, c2);
INSERT INTO t (c1, c2, c3) VALUES (38.5, 6, '');
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx1 */ UPDATE t SET c3 = 'B', c1 = 90.25 WHERE c3 IN ('', 'zz');
/* tx2 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET c1 = c1 + 100 WHERE c3 IN ('', 'zz');
/* tx1 */ SELECT c2, c3 FROM t;
/* tx1 */ UPDATE t SET c1 = -8.0 WHERE c3 LIKE 'ab';
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
/* tx2 */ SELECT c3 FROM t WHERE c1 = c1 FOR UPDATE;
/* tx2 */ REPLACE INTO t (c1, c2, c3) VALUES (82.0, 4, 'abc'), (90.25, 6, 'B');
/* tx2 */ SELECT * FROM t;
/* tx2 */ ROLLBACK;
