-- id: same-value-1
-- level: REPEATABLE READ
-- setup
CREATE TABLE t (c1 INT NOT NULL, c2 DATE NOT NULL, PRIMARY KEY (c1, c2));
INSERT INTO t (c1, c2) VALUES (5, '2024-05-23');
-- schedule
/* tx1 */ BEGIN;
/* tx3 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx3 */ SELECT * FROM t;
/* tx1 */ SELECT * FROM t WHERE c1 = 0;
/* tx3 */ UPDATE t SET c2 = '2024-09-04' WHERE c1 = -1 AND c2 = '2024-10-07';
/* tx3 */ UPDATE t SET c1 = 100 WHERE (c2 = '2024-10-07') OR (c1 BETWEEN 5 AND 0);
/* tx1 */ DELETE FROM t WHERE c1 = -1 AND c2 = '2024-10-07';
/* tx3 */ SELECT * FROM t WHERE c1 BETWEEN 5 AND 0;
/* tx1 */ INSERT INTO t (c1, c2) VALUES (-1, '2024-10-07');
/* tx2 */ BEGIN;
/* tx2 */ SELECT * FROM t;
/* tx2 */ INSERT IGNORE INTO t (c1, c2) VALUES (5, '2024-12-24');
/* tx3 */ COMMIT;
/* tx2 */ UPDATE t SET c2 = '2024-10-07' WHERE c2 = '2024-10-07';
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;
/* tx2 */ ROLLBACK;
