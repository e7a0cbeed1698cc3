-- id: same-value-2
-- level: REPEATABLE READ
-- setup
CREATE TABLE t (c1 VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, c2 BIGINT DEFAULT 1, c3 VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL);
INSERT INTO t (c1, c2, c3) VALUES ('', 0, 'ab'), ('', NULL, 'ab'), ('x1', 2, 'b'), ('10', 2, '10');
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET c3 = 'ab' WHERE CASE WHEN c3 < c1 THEN c2 ELSE 1 END = c2;
/* tx1 */ SELECT c3, c2, c1, '' AS x FROM t WHERE (NOT c2 IS NULL) OR (c3 BETWEEN 'ab' AND 'ab');
/* tx2 */ BEGIN;
/* tx2 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET c2 = c2 + 10, c1 = '10' WHERE c1 IS NULL;
/* tx1 */ COMMIT;
/* tx2 */ UPDATE t SET c2 = c2 WHERE CASE WHEN c3 = 'ab' THEN (c3 LIKE '%') ELSE (c1 LIKE '%1%') END OR (c3 <> c1);
/* tx2 */ SELECT * FROM t;
/* tx2 */ COMMIT;
