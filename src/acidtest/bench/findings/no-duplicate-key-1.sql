-- id: no-duplicate-key-1
-- level: READ UNCOMMITTED
-- setup
CREATE TABLE t (c1 INT, c2 INT DEFAULT 10);
CREATE UNIQUE INDEX i1_t ON t (c1);
INSERT INTO t (c1, c2) VALUES (5, NULL), (2, 10);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET c2 = 10 WHERE NOT (ABS(COALESCE(c1, 6)) <> c1);
/* tx1 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET c1 = 4 WHERE NOT c2 IS NULL;
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;
/* tx2 */ COMMIT;
