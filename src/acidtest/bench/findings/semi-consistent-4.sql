-- id: semi-consistent-4
-- level: READ COMMITTED
-- setup
CREATE TABLE t2 (c1 INT NOT NULL, c2 DOUBLE NOT NULL, PRIMARY KEY (c1, c2));
CREATE TABLE t1 (c1 INT, c2 INT, c3 INT, c4 INT);
CREATE INDEX i1_t1 ON t1 (c4);
INSERT INTO t2 (c1, c2) VALUES (2, 63.5);
INSERT INTO t1 (c1, c2, c3, c4) VALUES (2, NULL, 0, 3), (100, 100, 1, 2), (100, 100, 3, 1), (3, 100, 0, 1), (NULL, 10, 3, NULL), (3, 5, 3, 100);
-- schedule
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t1 SET c1 = c1 + 1, c3 = 3 WHERE NOT c3 BETWEEN 1 AND 1;
/* tx2 */ SELECT * FROM t2 WHERE NOT (c2 BETWEEN -4.5 AND 39.0);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t1 SET c4 = 1 WHERE c1 = 3;
/* tx2 */ SELECT * FROM t2;
/* tx2 */ COMMIT;
/* tx1 */ UPDATE t2 SET c1 = 2 ORDER BY c1 ASC, c2 ASC LIMIT 2;
/* tx1 */ INSERT INTO t1 (c1, c2, c3, c4) SELECT c1, c4, c2, c4 FROM t1 WHERE c4 = 100;
/* tx1 */ SAVEPOINT sp1;
/* tx1 */ DELETE FROM t2 WHERE c1 = 13 AND c2 = 63.5;
/* tx1 */ INSERT INTO t2 (c1, c2) VALUES (13, 63.5);
/* tx1 */ ROLLBACK TO SAVEPOINT sp1;
/* tx1 */ COMMIT;
