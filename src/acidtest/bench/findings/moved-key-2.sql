-- id: moved-key-2
-- level: REPEATABLE READ
-- setup
CREATE TABLE t (c1 DATE NOT NULL, c2 INT, c3 INT NOT NULL, PRIMARY KEY (c1));
INSERT INTO t (c1, c2, c3) VALUES ('2024-04-22', 2, 0), ('2024-02-08', 8, 10), ('2024-01-06', 1, 10);
-- schedule
/* tx2 */ BEGIN;
/* tx2 */ SELECT * FROM t;
/* tx2 */ SELECT * FROM t WHERE (c3 <> 0) OR (c2 <= 1);
/* tx2 */ SELECT c1, c2 FROM t WHERE (c3 <> 0) OR (c2 <= 1);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET c1 = '2024-08-08', c3 = c3 + 10 WHERE NOT (c2 >= 2);
/* tx1 */ SELECT c2, c3, COALESCE(c3, 2) % 2 AS x FROM t WHERE c2 >= 2;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
/* tx2 */ UPDATE t SET c3 = 0 WHERE (c3 <> 0) OR (c2 <= 1);
/* tx2 */ SELECT * FROM t;
/* tx2 */ COMMIT;
