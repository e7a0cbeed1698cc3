-- id: semi-consistent-2
-- level: READ COMMITTED
-- setup
CREATE TABLE t (c1 INT NOT NULL, c2 DATE, PRIMARY KEY (c1));
INSERT INTO t (c1, c2) VALUES (5, '2024-11-27'), (3, '2024-07-18');
-- schedule
/* tx2 */ BEGIN;
/* tx2 */ INSERT INTO t (c1, c2) VALUES (4, '2024-11-27');
/* tx2 */ UPDATE t SET c2 = '2024-07-18', c1 = 1 WHERE (NOT (c2 > '2024-07-18')) OR (c1 BETWEEN 3 AND 1);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET c1 = 3 WHERE NOT (c2 > '2024-07-18');
/* tx2 */ UPDATE t SET c2 = '2024-11-27' WHERE c1 BETWEEN 3 AND 1;
/* tx2 */ COMMIT;
/* tx1 */ SELECT * FROM t;
/* tx1 */ ROLLBACK;
