-- id: moved-key-3
-- level: REPEATABLE READ
-- setup
CREATE TABLE t (c1 DOUBLE NOT NULL, c2 DOUBLE NOT NULL, c3 BIGINT, PRIMARY KEY (c1, c2));
CREATE INDEX i2_t ON t (c3, c2);
INSERT INTO t (c1, c2, c3) VALUES (6.25, 46.25, 1), (-2.75, 59.75, 0);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET c2 = c1 WHERE NOT (c3 IS NULL);
/* tx1 */ SELECT * FROM t;
/* tx1 */ INSERT INTO t (c1, c2, c3) VALUES (-2.75, -1.75, 2);
/* tx2 */ COMMIT;
/* tx1 */ DELETE FROM t WHERE c1 = -2.75;
/* tx1 */ DELETE FROM t WHERE c1 = -2.75;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
